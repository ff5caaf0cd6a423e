//! Mappings: the fields of an index, as clients declare them or as documents bring them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::dynamic::DynamicTemplate;
use super::field::FieldMapping;
use super::types::{PARAMETERS_NOT_THERE, as_mapping};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The most fields of a mapping, as of an index.
const FIELDS_MAX: usize = 1_000;

/// The fields of an index by their names, in which dots stand between objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The fields.
    pub fields: BTreeMap<String, FieldMapping>,
    /// Set if documents may not bring others.
    pub is_strict: bool,
    /// Templates for the fields that documents bring; the first that fits counts.
    pub templates: Vec<DynamicTemplate>,
    /// Notes of its author.
    pub meta: Option<Value>,
}

impl Mapping {
    /// Reads the object `mappings` of a request.
    pub fn parse(value: &Value) -> Outcome<Mapping> {
        let members = Members::of("_doc", value).map_err(as_mapping)?;
        let not_there = ["_routing", "runtime", "dynamic_date_formats"];
        members
            .check(
                &[
                    "properties",
                    "dynamic",
                    "dynamic_templates",
                    "_source",
                    "_meta",
                    "date_detection",
                    "numeric_detection",
                ],
                &not_there,
            )
            .map_err(as_mapping)?;
        let mut mapping = Mapping {
            is_strict: is_strict(&members)?,
            meta: members.get("_meta").cloned(),
            ..Mapping::default()
        };
        if let Some(templates) = members.get("dynamic_templates") {
            mapping.templates = DynamicTemplate::parse_all(templates)?;
        }
        check_source(&members)?;
        for name in ["date_detection", "numeric_detection"] {
            if members.flag(name)? == Some(true) {
                return Err(as_mapping(Fault::not_there(&format!("[{name}]"))));
            }
        }
        if let Some(properties) = members.get("properties") {
            mapping.add_properties("", properties)?;
        }
        Ok(mapping)
    }

    fn add_properties(&mut self, prefix: &str, value: &Value) -> Outcome<()> {
        let properties = Members::of("properties", value).map_err(as_mapping)?;
        for (name, value) in properties.iter() {
            if name.trim().is_empty() {
                return Err(Fault::mapping("field name cannot be an empty string"));
            }
            let path = format!("{prefix}{name}");
            let members = Members::of(&path, value).map_err(as_mapping)?;
            let is_object = match members.text("type")? {
                None => members.get("properties").is_some(),
                Some(kind) => kind == "object",
            };
            if is_object {
                members
                    .check(&["type", "properties"], &PARAMETERS_NOT_THERE)
                    .map_err(as_mapping)?;
                if let Some(inner) = members.get("properties") {
                    self.add_properties(&format!("{path}."), inner)?;
                }
                continue;
            }
            let field = FieldMapping::parse(&path, value)?;
            self.fields.insert(path, field);
            self.check_size()?;
        }
        Ok(())
    }

    /// The field of a name, which may be a multi-field of another.
    pub fn field(&self, name: &str) -> Option<&FieldMapping> {
        let multi_field = || {
            let (source, own) = name.rsplit_once('.')?;
            self.fields.get(source)?.fields.get(own)
        };
        self.fields.get(name).or_else(multi_field)
    }

    /// All fields with their names, the multi-fields of each behind it.
    pub fn all(&self) -> impl Iterator<Item = (String, &FieldMapping)> {
        self.fields.iter().flat_map(|(name, field)| {
            let multi_fields = field.fields.iter();
            let multi_fields =
                multi_fields.map(move |(own, field)| (format!("{name}.{own}"), field));
            std::iter::once((name.clone(), field)).chain(multi_fields)
        })
    }

    /// Fails if there are more fields than an index can have.
    pub fn check_size(&self) -> Outcome<()> {
        let multi_fields = self.fields.values();
        let multi_fields = multi_fields.map(|field| field.declared_fields().count());
        if self.fields.len() + multi_fields.sum::<usize>() <= FIELDS_MAX {
            return Ok(());
        }
        Err(Fault::illegal(format!(
            "Limit of total fields [{FIELDS_MAX}] has been exceeded"
        )))
    }

    /// Adds the fields of another mapping, which must agree where both have one.
    pub fn merge(&mut self, other: &Mapping) -> Outcome<()> {
        for (name, field) in &other.fields {
            let Some(own) = self.fields.get_mut(name) else {
                self.fields.insert(name.clone(), field.clone());
                continue;
            };
            own.merge(field, name)?;
        }
        self.is_strict |= other.is_strict;
        if other.meta.is_some() {
            self.meta.clone_from(&other.meta);
        }
        if !other.templates.is_empty() {
            self.templates.clone_from(&other.templates);
        }
        self.check_size()
    }

    /// The object `mappings` of an answer.
    pub fn json(&self) -> Value {
        let mut mappings = Map::new();
        if let Some(meta) = &self.meta {
            mappings.insert("_meta".to_owned(), meta.clone());
        }
        if self.is_strict {
            mappings.insert("dynamic".to_owned(), json!("strict"));
        }
        if !self.templates.is_empty() {
            let templates = DynamicTemplate::json_of(&self.templates);
            mappings.insert("dynamic_templates".to_owned(), templates);
        }
        if self.fields.is_empty() {
            return Value::Object(mappings);
        }
        let mut properties = Map::new();
        for (name, field) in &self.fields {
            put_nested(&mut properties, name, field.json());
        }
        mappings.insert("properties".to_owned(), Value::Object(properties));
        Value::Object(mappings)
    }

    /// The fields as they are kept in a file.
    pub fn kept(&self) -> Value {
        let mut fields = Map::new();
        for (name, field) in &self.fields {
            fields.insert(name.clone(), field.kept());
        }
        let templates = DynamicTemplate::json_of(&self.templates);
        let mut kept =
            json!({ "strict": self.is_strict, "fields": fields, "templates": templates });
        if let Some(meta) = &self.meta {
            kept["meta"] = meta.clone();
        }
        kept
    }

    /// Reads what [`Mapping::kept`] gave.
    pub fn from_kept(value: &Value) -> Option<Mapping> {
        let mut mapping = Mapping {
            is_strict: value.get("strict")?.as_bool()?,
            meta: value.get("meta").cloned(),
            ..Mapping::default()
        };
        if let Some(templates) = value.get("templates") {
            mapping.templates = DynamicTemplate::parse_all(templates).ok()?;
        }
        for (name, field) in value.get("fields")?.as_object()? {
            let field = FieldMapping::from_kept(name, field)?;
            mapping.fields.insert(name.clone(), field);
        }
        Some(mapping)
    }
}

/// Puts a field below the objects that the dots of its name stand for.
fn put_nested(properties: &mut Map<String, Value>, name: &str, field: Value) {
    let Some((outer, inner)) = name.split_once('.') else {
        properties.insert(name.to_owned(), field);
        return;
    };
    let place = properties
        .entry(outer)
        .or_insert_with(|| json!({ "properties": {} }));
    match place.get_mut("properties") {
        Some(Value::Object(below)) => put_nested(below, inner, field),
        // The name is that of a field too.
        _ => {
            properties.insert(name.to_owned(), field);
        }
    }
}

fn is_strict(members: &Members<'_>) -> Outcome<bool> {
    match members.get("dynamic") {
        None | Some(Value::Bool(true)) => Ok(false),
        Some(Value::String(text)) if text == "true" => Ok(false),
        Some(Value::String(text)) if text == "strict" => Ok(true),
        Some(other) => Err(as_mapping(Fault::not_there(&format!(
            "[dynamic] of {other}, beside true and strict,"
        )))),
    }
}

fn check_source(members: &Members<'_>) -> Outcome<()> {
    let Some(source) = members.get("_source") else {
        return Ok(());
    };
    let source = Members::of("_source", source).map_err(as_mapping)?;
    source
        .check(&["enabled"], &["includes", "excludes", "mode"])
        .map_err(as_mapping)?;
    match source.flag("enabled")? {
        Some(false) => Err(as_mapping(Fault::not_there("an index without [_source]"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: Value) -> Outcome<Mapping> {
        Mapping::parse(&value)
    }

    #[test]
    fn a_mapping_comes_back_as_it_was_given_and_as_it_was_kept() {
        let keywords = json!({ "match_mapping_type": "string", "mapping": { "type": "keyword" } });
        let given = json!({ "_meta": { "by": "x" }, "dynamic": "strict", "dynamic_templates": [{ "k": keywords }], "properties": {
            "author": { "properties": { "name": { "type": "keyword" } } },
            "body": { "type": "text", "analyzer": "english", "fields": {
                "raw": { "type": "keyword", "ignore_above": 9, "null_value": "none" },
            } },
            "at": { "type": "date", "format": "yyyy||epoch_second" },
            "n": { "type": "long", "ignore_malformed": true, "null_value": -1 },
        }});
        let mapping = parse(given.clone()).unwrap();
        assert_eq!(mapping.json(), given);
        assert_eq!(Mapping::from_kept(&mapping.kept()), Some(mapping));
    }

    #[test]
    fn what_is_not_there_is_rejected_by_its_name() {
        for (field, part) in [
            (json!({ "type": "date_nanos" }), "[date_nanos]"),
            (
                json!({ "type": "date", "format": "week_date" }),
                "no format of dates",
            ),
            (
                json!({ "type": "keyword", "format": "yyyy" }),
                "unknown parameter [format]",
            ),
            (json!({ "type": "nested" }), "[nested]"),
            (
                json!({ "type": "text", "ignore_above": 256 }),
                "unknown parameter [ignore_above]",
            ),
            (
                json!({ "type": "keyword", "ignore_malformed": true }),
                "unknown parameter [ignore_malformed]",
            ),
            (
                json!({ "type": "long", "null_value": "none" }),
                "[null_value] \"none\"",
            ),
            (
                json!({ "type": "text", "fields": { "a.b": { "type": "long" } } }),
                "[a.b]",
            ),
            (
                json!({ "type": "text", "fields": { "a": { "type": "text", "fields": { "b": { "type": "text" } } } } }),
                "[fields] of a multi-field",
            ),
            (json!({ "type": "text", "copy_to": "x" }), "[copy_to]"),
            (json!({ "type": "texst" }), "No handler for type [texst]"),
            (
                json!({ "type": "text", "analyser": "english" }),
                "did you mean [analyzer]",
            ),
            (
                json!({ "type": "text", "analyzer": "klingon" }),
                "[klingon]",
            ),
            (json!({}), "No type specified"),
        ] {
            let fault = parse(json!({ "properties": { "f": field } })).unwrap_err();
            assert_eq!(
                (fault.status, fault.kind),
                (400, "mapper_parsing_exception")
            );
            assert!(fault.reason.contains(part), "{}", fault.reason);
        }
    }

    #[test]
    fn types_do_not_change() {
        let mut mapping = parse(json!({ "properties": { "f": { "type": "text" } } })).unwrap();
        let same = mapping.clone();
        mapping.merge(&same).unwrap();
        let raw = json!({ "type": "text", "fields": { "raw": { "type": "keyword" } } });
        let more = parse(json!({ "properties": { "f": raw } })).unwrap();
        mapping.merge(&more).unwrap();
        assert!(mapping.field("f.raw").is_some() && mapping.field("f.other").is_none());
        for other in [
            json!({ "type": "keyword" }),
            json!({ "type": "text", "analyzer": "english" }),
            json!({ "type": "text", "fields": { "raw": { "type": "long" } } }),
            json!({ "type": "text", "fields": { "raw": { "type": "keyword", "ignore_above": 9 } } }),
        ] {
            let other = parse(json!({ "properties": { "f": other } })).unwrap();
            assert!(mapping.merge(&other).unwrap_err().reason.contains("[f"));
        }
    }
}
