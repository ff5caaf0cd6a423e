//! Mappings: the fields of an index, as clients declare them or as documents bring them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::dynamic::DynamicTemplate;
use super::field::FieldMapping;
use super::types::{FieldType, PARAMETERS_NOT_THERE, as_mapping};
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
}

impl Mapping {
    /// Reads the object `mappings` of a request.
    pub fn parse(value: &Value) -> Outcome<Mapping> {
        let members = Members::of("_doc", value).map_err(as_mapping)?;
        let not_there = ["_meta", "_routing", "runtime", "dynamic_date_formats"];
        members
            .check(
                &[
                    "properties",
                    "dynamic",
                    "dynamic_templates",
                    "_source",
                    "date_detection",
                    "numeric_detection",
                ],
                &not_there,
            )
            .map_err(as_mapping)?;
        let mut mapping = Mapping {
            is_strict: is_strict(&members)?,
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

    /// Fails if there are more fields than an index can have.
    pub fn check_size(&self) -> Outcome<()> {
        if self.fields.len() <= FIELDS_MAX {
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
            if own.kind != field.kind {
                return Err(Fault::illegal(format!(
                    "mapper [{name}] cannot be changed from type [{}] to [{}]",
                    own.kind.name(),
                    field.kind.name()
                )));
            }
            if own.analyzer != field.analyzer {
                let shown = |field: &FieldMapping| {
                    field
                        .analyzer
                        .clone()
                        .unwrap_or_else(|| "default".to_owned())
                };
                return Err(Fault::illegal(format!(
                    "Mapper for [{name}] conflicts with existing mapper:\n\tCannot update parameter [analyzer] from [{}] to [{}]",
                    shown(own),
                    shown(field)
                )));
            }
            own.is_found &= field.is_found;
        }
        self.is_strict |= other.is_strict;
        if !other.templates.is_empty() {
            self.templates.clone_from(&other.templates);
        }
        self.check_size()
    }

    /// The object `mappings` of an answer.
    pub fn json(&self) -> Value {
        let mut mappings = Map::new();
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
            let mut json = field.json();
            json["found"] = json!(field.is_found);
            fields.insert(name.clone(), json);
        }
        let templates = DynamicTemplate::json_of(&self.templates);
        json!({ "strict": self.is_strict, "fields": fields, "templates": templates })
    }

    /// Reads what [`Mapping::kept`] gave.
    pub fn from_kept(value: &Value) -> Option<Mapping> {
        let mut mapping = Mapping {
            is_strict: value.get("strict")?.as_bool()?,
            ..Mapping::default()
        };
        if let Some(templates) = value.get("templates") {
            mapping.templates = DynamicTemplate::parse_all(templates).ok()?;
        }
        for (name, field) in value.get("fields")?.as_object()? {
            let analyzer = field.get("analyzer").and_then(Value::as_str);
            let field = FieldMapping {
                kind: FieldType::named(field.get("type")?.as_str()?)?,
                analyzer: analyzer.map(str::to_owned),
                is_found: field.get("found")?.as_bool()?,
            };
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
        let given = json!({ "dynamic": "strict", "dynamic_templates": [{ "k": keywords }], "properties": {
            "author": { "properties": { "name": { "type": "keyword" } } },
            "body": { "type": "text", "analyzer": "english" },
            "n": { "type": "long" },
        }});
        let mapping = parse(given.clone()).unwrap();
        assert_eq!(mapping.json(), given);
        assert_eq!(Mapping::from_kept(&mapping.kept()), Some(mapping));
    }

    #[test]
    fn what_is_not_there_is_rejected_by_its_name() {
        for (field, part) in [
            (json!({ "type": "date" }), "[date]"),
            (json!({ "type": "nested" }), "[nested]"),
            (
                json!({ "type": "keyword", "ignore_above": 256 }),
                "[ignore_above]",
            ),
            (json!({ "type": "text", "fields": {} }), "[fields]"),
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
        for other in [
            json!({ "type": "keyword" }),
            json!({ "type": "text", "analyzer": "english" }),
        ] {
            let other = parse(json!({ "properties": { "f": other } })).unwrap();
            assert!(mapping.merge(&other).unwrap_err().reason.contains("[f]"));
        }
    }
}
