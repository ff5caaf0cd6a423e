//! Holds a document against a mapping: whether its values are what their fields take, and which
//! fields are new.

use gannet::{Document, Value};

use super::field::FieldMapping;
use super::mapping::Mapping;
use super::types::{DOUBLE, FieldType, LONG, is_boolean};
use crate::fault::{Fault, Outcome};

/// Members that a document cannot have, since they name what belongs to it.
const OF_ELASTICSEARCH: [&str; 10] = [
    "_doc_count",
    "_field_names",
    "_id",
    "_ignored",
    "_index",
    "_nested_path",
    "_routing",
    "_seq_no",
    "_source",
    "_version",
];

impl Mapping {
    /// Takes a document in, and adds the fields that it brings.
    ///
    /// # Errors
    ///
    /// For a value that its field does not take; the mapping is as it was then.
    pub fn admit(&mut self, id: &str, document: &Document) -> Outcome<bool> {
        let mut found: Vec<(&str, FieldMapping)> = Vec::new();
        for (name, value) in document.fields() {
            check_name(name, id)?;
            let new = found.iter_mut().find(|(other, _)| other == name);
            let known = match new {
                Some((_, field)) => Some(field.clone()),
                None => self.fields.get(name).cloned(),
            };
            let Some(field) = known else {
                self.check_multi_field(name, id)?;
                self.check_object(name, value, id)?;
                self.check_new(name, id)?;
                let field = self.mapped_as(name, value);
                if !field.ignore_malformed && !field.takes(value) {
                    return Err(misfit(name, field.kind, value, id));
                }
                found.push((name, field));
                continue;
            };
            if field.ignore_malformed || field.takes(value) {
                continue;
            }
            if !(field.is_found && field.kind == LONG && DOUBLE.takes(value)) {
                return Err(misfit(name, field.kind, value, id));
            }
            let wider = FieldMapping::found(DOUBLE);
            match found.iter_mut().find(|(other, _)| other == name) {
                Some((_, field)) => *field = wider,
                None => found.push((name, wider)),
            }
        }
        let is_changed = !found.is_empty();
        let before = is_changed.then(|| self.fields.clone());
        for (name, field) in found {
            self.fields.insert(name.to_owned(), field);
        }
        match (self.check_size(), before) {
            (Err(fault), Some(before)) => {
                self.fields = before;
                Err(fault)
            }
            (done, _) => done.map(|()| is_changed),
        }
    }

    /// The mapping of a field that a document brings.
    fn mapped_as(&self, name: &str, value: &Value) -> FieldMapping {
        let mut templates = self.templates.iter();
        let found = templates.find_map(|template| template.field(name, value));
        found.unwrap_or_else(|| FieldMapping::found(type_of(value)))
    }

    /// Fails at a value of its own for a field that takes those of another.
    fn check_multi_field(&self, name: &str, id: &str) -> Outcome<()> {
        match self.field(name) {
            Some(field) if !field.is_found => Err(Fault::document(format!(
                "Cannot write to the multi-field [{name}], which takes the values of the field above it, in document with id '{id}'"
            ))),
            _ => Ok(()),
        }
    }

    /// Fails at an object for a field that has values, and at a value for an object.
    fn check_object(&self, name: &str, value: &Value, id: &str) -> Outcome<()> {
        let mut dots = name.match_indices('.');
        let above = dots.find_map(|(at, _)| self.fields.get_key_value(&name[..at]));
        if let Some((above, field)) = above {
            return Err(Fault::document(format!(
                "failed to parse field [{above}] of type [{}] in document with id '{id}': it has values, and the document has \
                 an object with [{name}]",
                field.kind.name()
            )));
        }
        let below = format!("{name}.");
        let first = self.fields.range(below.clone()..).next();
        if first.is_some_and(|(other, _)| other.starts_with(&below)) {
            let (Value::Text(text) | Value::Exact(text)) = value;
            let preview: String = text.chars().take(80).collect();
            return Err(Fault::document(format!(
                "object mapping for [{name}] tried to parse field [{name}] as object, but found the value '{preview}', in \
                 document with id '{id}'"
            )));
        }
        Ok(())
    }

    fn check_new(&self, name: &str, id: &str) -> Outcome<()> {
        if !self.is_strict {
            return Ok(());
        }
        Err(Fault::new(
            400,
            "strict_dynamic_mapping_exception",
            format!(
                "mapping set to strict, dynamic introduction of [{name}] within [_doc] is not allowed, in document with id '{id}'"
            ),
        ))
    }
}

fn check_name(name: &str, id: &str) -> Outcome<()> {
    let outer = name.split('.').next().unwrap_or_default();
    if !OF_ELASTICSEARCH.contains(&outer) {
        return Ok(());
    }
    Err(Fault::document(format!(
        "Field [{outer}] is a metadata field and cannot be added inside a document, in document with id '{id}'. Use the index \
         API request parameters."
    )))
}

fn type_of(value: &Value) -> FieldType {
    match value {
        Value::Text(_) => FieldType::Text,
        Value::Exact(text) if is_boolean(text) => FieldType::Boolean,
        Value::Exact(text) if text.parse::<i64>().is_ok() => LONG,
        Value::Exact(_) => DOUBLE,
    }
}

fn misfit(name: &str, kind: FieldType, value: &Value, id: &str) -> Fault {
    let (Value::Text(text) | Value::Exact(text)) = value;
    let preview: String = text.chars().take(80).collect();
    Fault::document(format!(
        "failed to parse field [{name}] of type [{}] in document with id '{id}'. Preview of field's value: '{preview}'",
        kind.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(json: &str) -> Document {
        Document::parse_as(Some("1".to_owned()), json.as_bytes()).unwrap()
    }

    #[test]
    fn fields_are_found_and_whole_numbers_become_fractions() {
        let mut mapping = Mapping::default();
        let first = document(r#"{"a":{"b":"x"},"n":1,"f":true,"l":[1,2.5]}"#);
        assert!(mapping.admit("1", &first).unwrap());
        assert!(!mapping.admit("1", &first).unwrap());
        let types = |mapping: &Mapping| {
            let fields = mapping.fields.iter();
            let fields = fields.map(|(name, field)| format!("{name}:{}", field.kind.name()));
            fields.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(types(&mapping), "a.b:text f:boolean l:float n:long");
        assert!(mapping.admit("1", &document(r#"{"n":2.5}"#)).unwrap());
        assert_eq!(types(&mapping), "a.b:text f:boolean l:float n:float");
        for (json, part) in [
            (r#"{"n":"x"}"#, "[n] of type [float]"),
            (r#"{"f":1}"#, "[f] of type [boolean]"),
            (r#"{"_id":"1"}"#, "[_id] is a metadata field"),
        ] {
            let fault = mapping.admit("7", &document(json)).unwrap_err();
            assert!(
                fault.reason.contains(part) && fault.reason.contains("'7'"),
                "{fault}"
            );
        }
    }

    #[test]
    fn a_field_has_values_or_is_an_object() {
        let mut mapping = Mapping::default();
        mapping
            .admit("1", &document(r#"{"n":1,"o":{"p":{"q":"x"}}}"#))
            .unwrap();
        for (json, part) in [
            (r#"{"n":{"a":1}}"#, "[n] of type [long]"),
            (r#"{"n":{"a":{"b":1}}}"#, "[n] of type [long]"),
            (r#"{"o":1}"#, "[o] as object"),
            (r#"{"o":{"p":"x"}}"#, "[o.p] as object"),
        ] {
            let fault = mapping.admit("7", &document(json)).unwrap_err();
            assert!(fault.reason.contains(part), "{fault}");
        }
        assert!(mapping.admit("8", &document(r#"{"o":{"r":1}}"#)).unwrap());
    }

    #[test]
    fn declared_types_hold_what_they_can() {
        let declared = json!({ "dynamic": "strict", "properties": {
            "b": { "type": "byte" }, "k": { "type": "keyword" }, "n": { "type": "long" },
        }});
        let mut mapping = Mapping::parse(&declared).unwrap();
        assert!(
            !mapping
                .admit("1", &document(r#"{"b":-128,"k":17,"n":1.0}"#))
                .unwrap()
        );
        for json in [r#"{"b":128}"#, r#"{"n":1.5}"#, r#"{"other":1}"#] {
            assert!(mapping.admit("1", &document(json)).is_err(), "{json}");
        }
        assert_eq!(mapping, Mapping::parse(&declared).unwrap());
    }
}
