//! Mappings: the types of fields, as clients declare them or as documents bring them.
//!
//! A type is taken only if what the engine does with its values is right. Numbers and booleans
//! match exactly; ranges over them, sorting and aggregations are errors elsewhere. Everything else
//! is rejected by name.

use std::collections::BTreeMap;

use gannet::Analyzer;
use serde_json::{Map, Value, json};

use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The most fields of a mapping, as of an index.
const FIELDS_MAX: usize = 1_000;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Text, searched by its words.
    Text,
    /// A string that is matched as a whole.
    Keyword,
    /// A whole number between two bounds, matched exactly.
    Whole(&'static str, i64, i64),
    /// A number, matched exactly.
    Fraction(&'static str),
    /// True or false.
    Boolean,
}

/// A whole number as documents bring it.
pub const LONG: FieldType = FieldType::Whole("long", i64::MIN, i64::MAX);

/// A fraction as documents bring it.
pub const DOUBLE: FieldType = FieldType::Fraction("float");

/// The types that there are. Dates, vectors and others join here once the engine has columns.
const TYPES: [FieldType; 10] = [
    FieldType::Text,
    FieldType::Keyword,
    LONG,
    FieldType::Whole("integer", i32::MIN as i64, i32::MAX as i64),
    FieldType::Whole("short", i16::MIN as i64, i16::MAX as i64),
    FieldType::Whole("byte", i8::MIN as i64, i8::MAX as i64),
    DOUBLE,
    FieldType::Fraction("double"),
    FieldType::Fraction("half_float"),
    FieldType::Boolean,
];

/// Types of Elasticsearch that are not there.
const TYPES_NOT_THERE: [&str; 37] = [
    "alias",
    "binary",
    "completion",
    "constant_keyword",
    "counted_keyword",
    "date",
    "date_nanos",
    "date_range",
    "dense_vector",
    "double_range",
    "flattened",
    "float_range",
    "geo_point",
    "geo_shape",
    "histogram",
    "integer_range",
    "ip",
    "ip_range",
    "join",
    "long_range",
    "match_only_text",
    "murmur3",
    "nested",
    "passthrough",
    "percolator",
    "point",
    "rank_feature",
    "rank_features",
    "rank_vectors",
    "scaled_float",
    "search_as_you_type",
    "semantic_text",
    "shape",
    "sparse_vector",
    "unsigned_long",
    "version",
    "wildcard",
];

/// Parameters of fields that are not there.
const PARAMETERS_NOT_THERE: [&str; 21] = [
    "boost",
    "coerce",
    "copy_to",
    "doc_values",
    "dynamic",
    "eager_global_ordinals",
    "enabled",
    "fielddata",
    "fields",
    "ignore_above",
    "ignore_malformed",
    "index",
    "index_options",
    "index_phrases",
    "index_prefixes",
    "normalizer",
    "norms",
    "null_value",
    "similarity",
    "store",
    "term_vector",
];

/// A field of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMapping {
    /// Its type.
    pub kind: FieldType,
    /// The analyzer of a text field, unless it is the default one of the index.
    pub analyzer: Option<String>,
    /// Set if a document brought it, so that a whole number may become a fraction.
    pub is_found: bool,
}

/// The fields of an index by their names, in which dots stand between objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The fields.
    pub fields: BTreeMap<String, FieldMapping>,
    /// Set if documents may not bring others.
    pub is_strict: bool,
}

/// The names of the types that there are.
pub fn type_names() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|kind| kind.name())
}

impl FieldType {
    /// The name that Elasticsearch gives it.
    pub fn name(self) -> &'static str {
        match self {
            FieldType::Text => "text",
            FieldType::Keyword => "keyword",
            FieldType::Whole(name, ..) | FieldType::Fraction(name) => name,
            FieldType::Boolean => "boolean",
        }
    }

    /// Returns the type of a name.
    pub fn named(name: &str) -> Option<FieldType> {
        TYPES.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns true if its values are strings.
    pub fn is_string(self) -> bool {
        matches!(self, FieldType::Text | FieldType::Keyword)
    }
}

impl FieldMapping {
    /// A field of a type that a document brought.
    pub fn found(kind: FieldType) -> FieldMapping {
        FieldMapping {
            kind,
            analyzer: None,
            is_found: true,
        }
    }

    /// The analyzer by which its text is indexed; nothing for what is no string.
    pub fn analyzer(&self, default: Analyzer) -> Option<Analyzer> {
        match (self.kind, &self.analyzer) {
            (FieldType::Keyword, _) => Some(Analyzer::KEYWORD),
            (FieldType::Text, None) => Some(default),
            (FieldType::Text, Some(name)) => Some(Analyzer::named(name).unwrap_or(default)),
            _ => None,
        }
    }

    fn json(&self) -> Value {
        match &self.analyzer {
            None => json!({ "type": self.kind.name() }),
            Some(analyzer) => json!({ "type": self.kind.name(), "analyzer": analyzer }),
        }
    }

    fn parse(name: &str, value: &Value) -> Outcome<FieldMapping> {
        let members = Members::of(name, value)?;
        let written = members
            .text("type")?
            .ok_or_else(|| Fault::mapping(format!("No type specified for field [{name}]")))?;
        let kind = FieldType::named(written).ok_or_else(|| unknown_type(written, name))?;
        members
            .check(
                &["type", "analyzer", "search_analyzer"],
                &PARAMETERS_NOT_THERE,
            )
            .map_err(as_mapping)?;
        let analyzer = members.text("analyzer")?;
        let at_search = members.text("search_analyzer")?;
        if kind != FieldType::Text && (analyzer.is_some() || at_search.is_some()) {
            return Err(Fault::mapping(format!(
                "unknown parameter [analyzer] on mapper [{name}] of type [{written}]"
            )));
        }
        if at_search.is_some_and(|other| Some(other) != analyzer) {
            return Err(as_mapping(Fault::not_there(&format!(
                "a [search_analyzer] other than the [analyzer], as of field [{name}],"
            ))));
        }
        if let Some(analyzer) = analyzer {
            check_analyzer(analyzer, name)?;
        }
        Ok(FieldMapping {
            kind,
            analyzer: analyzer.map(str::to_owned),
            is_found: false,
        })
    }
}

fn as_mapping(fault: Fault) -> Fault {
    Fault::mapping(fault.reason)
}

fn unknown_type(written: &str, field: &str) -> Fault {
    if TYPES_NOT_THERE.contains(&written) {
        return as_mapping(Fault::not_there(&format!(
            "the type [{written}] of field [{field}]"
        )));
    }
    Fault::mapping(format!(
        "No handler for type [{written}] declared on field [{field}]"
    ))
}

fn check_analyzer(analyzer: &str, field: &str) -> Outcome<()> {
    match Analyzer::named(analyzer) {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::mapping(format!(
            "analyzer [{analyzer}] has not been configured in mappings, as field [{field}] wants it: {error}"
        ))),
    }
}

impl Mapping {
    /// Reads the object `mappings` of a request.
    pub fn parse(value: &Value) -> Outcome<Mapping> {
        let members = Members::of("_doc", value).map_err(as_mapping)?;
        let not_there = [
            "_meta",
            "_routing",
            "runtime",
            "dynamic_templates",
            "dynamic_date_formats",
        ];
        members
            .check(
                &[
                    "properties",
                    "dynamic",
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
        self.check_size()
    }

    /// The object `mappings` of an answer.
    pub fn json(&self) -> Value {
        let mut mappings = Map::new();
        if self.is_strict {
            mappings.insert("dynamic".to_owned(), json!("strict"));
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
        json!({ "strict": self.is_strict, "fields": fields })
    }

    /// Reads what [`Mapping::kept`] gave.
    pub fn from_kept(value: &Value) -> Option<Mapping> {
        let mut mapping = Mapping {
            is_strict: value.get("strict")?.as_bool()?,
            ..Mapping::default()
        };
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
        let given = json!({ "dynamic": "strict", "properties": {
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
