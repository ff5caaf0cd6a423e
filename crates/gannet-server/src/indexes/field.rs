//! A field of a mapping.

use std::collections::BTreeMap;
use std::sync::Arc;

use gannet::values::DateFormats;
use gannet::{Analyzer, Value as DocumentValue};
use serde_json::{Map, Value, json};

use super::types::{FieldType, PARAMETERS_NOT_THERE, as_mapping, unknown_type};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The multi-field of a text that a document brought, and its longest string in characters.
const KEYWORD: &str = "keyword";
const FOUND_CHARACTERS_MAX: u32 = 256;

/// Parameters that may stand in the mapping of a field, beside its type.
const PARAMETERS: [&str; 11] = [
    "type",
    "analyzer",
    "search_analyzer",
    "doc_values",
    "fields",
    "format",
    "ignore_above",
    "ignore_malformed",
    "index",
    "null_value",
    "similarity",
];

/// The formats of a date whose mapping names none.
const DATE_FORMATS: &str = "strict_date_optional_time||epoch_millis";

/// A field of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMapping {
    /// Its type.
    pub kind: FieldType,
    /// The analyzer of a text field, unless it is the default one of the index.
    pub analyzer: Option<String>,
    /// The most characters of a keyword that is taken.
    pub ignore_above: Option<u32>,
    /// The value that a null counts as.
    pub null_value: Option<Value>,
    /// The formats of a date.
    pub date_formats: Option<Arc<DateFormats>>,
    /// Set if a value that does not fit is left out, and its document taken.
    pub ignore_malformed: bool,
    /// Set if its values are found by terms.
    pub is_indexed: bool,
    /// Set if its values have an order and can be counted; of a text they never have.
    pub has_values: bool,
    /// Its multi-fields by their own names.
    pub fields: BTreeMap<String, FieldMapping>,
    /// Set if a document brought it, so that a whole number may become a fraction.
    pub is_found: bool,
}

impl FieldMapping {
    fn of(kind: FieldType) -> FieldMapping {
        FieldMapping {
            kind,
            analyzer: None,
            ignore_above: None,
            null_value: None,
            date_formats: match kind {
                FieldType::Date => DateFormats::of(DATE_FORMATS).ok().map(Arc::new),
                _ => None,
            },
            ignore_malformed: false,
            is_indexed: true,
            has_values: true,
            fields: BTreeMap::new(),
            is_found: false,
        }
    }

    /// A field of a type that a document brought. A text has a multi-field for its whole strings.
    pub fn found(kind: FieldType) -> FieldMapping {
        let mut field = FieldMapping {
            is_found: true,
            ..FieldMapping::of(kind)
        };
        if kind == FieldType::Text {
            let whole = FieldMapping {
                ignore_above: Some(FOUND_CHARACTERS_MAX),
                is_found: true,
                ..FieldMapping::of(FieldType::Keyword)
            };
            field.fields.insert(KEYWORD.to_owned(), whole);
        }
        field
    }

    /// Returns true if the field takes a value.
    pub fn takes(&self, value: &DocumentValue) -> bool {
        let (DocumentValue::Text(text) | DocumentValue::Exact(text)) = value;
        match &self.date_formats {
            Some(formats) => formats.read(text).is_some(),
            None => self.kind.takes(value),
        }
    }

    /// The multi-fields that were declared.
    pub fn declared_fields(&self) -> impl Iterator<Item = (&String, &FieldMapping)> {
        self.fields.iter().filter(|(_, field)| !field.is_found)
    }

    /// The analyzer by which its text is indexed; nothing for what is no string.
    pub fn analyzer(&self, default: Analyzer) -> Option<Analyzer> {
        match (self.kind, &self.analyzer) {
            (FieldType::Ip, _) => Some(Analyzer::IP),
            (FieldType::Keyword, _) => Some(Analyzer::KEYWORD),
            (FieldType::Text, None) => Some(default),
            (FieldType::Text, Some(name)) => Some(Analyzer::named(name).unwrap_or(default)),
            _ => None,
        }
    }

    /// Its object in a mapping.
    pub fn json(&self) -> Value {
        let mut json = self.parameters(self.kind.name());
        if !self.has_values {
            json.insert("doc_values".to_owned(), json!(false));
        }
        if !self.is_indexed {
            json.insert("index".to_owned(), json!(false));
        }
        if let Some(analyzer) = &self.analyzer {
            json.insert("analyzer".to_owned(), json!(analyzer));
        }
        let formats = self.date_formats.as_ref().map(|formats| formats.text());
        if let Some(formats) = formats.filter(|formats| *formats != DATE_FORMATS) {
            json.insert("format".to_owned(), json!(formats));
        }
        with_fields(json, self.fields.iter(), FieldMapping::json)
    }

    /// The same as it is kept in a file.
    pub fn kept(&self) -> Value {
        let Value::Object(json) = self.json() else {
            return Value::Null;
        };
        let mut kept = with_fields(json, self.fields.iter(), FieldMapping::kept);
        kept["found"] = json!(self.is_found);
        kept
    }

    /// Its object in a mapping of the engine.
    pub fn declaration(&self, default: Analyzer) -> Value {
        let mut json = self.parameters(self.kind.column_type());
        if !self.has_values {
            json.insert("column".to_owned(), json!(false));
        }
        if !self.is_indexed {
            json.insert("terms".to_owned(), json!(false));
        }
        if let (FieldType::Text, Some(analyzer)) = (self.kind, self.analyzer(default)) {
            json.insert("analyzer".to_owned(), json!(analyzer.name()));
        }
        if let Some(formats) = &self.date_formats {
            json.insert("format".to_owned(), json!(formats.text()));
        }
        with_fields(json, self.declared_fields(), |field| {
            field.declaration(default)
        })
    }

    fn parameters(&self, type_name: &str) -> Map<String, Value> {
        let mut json = Map::from_iter([("type".to_owned(), json!(type_name))]);
        if let Some(most) = self.ignore_above {
            json.insert("ignore_above".to_owned(), json!(most));
        }
        if self.ignore_malformed {
            json.insert("ignore_malformed".to_owned(), json!(true));
        }
        if let Some(value) = &self.null_value {
            json.insert("null_value".to_owned(), value.clone());
        }
        json
    }

    /// Reads what [`FieldMapping::kept`] gave.
    pub fn from_kept(name: &str, kept: &Value) -> Option<FieldMapping> {
        let mut plain = kept.clone();
        let is_found = plain.as_object_mut()?.remove("found")?.as_bool()?;
        let mut fields = BTreeMap::new();
        if let Some(Value::Object(inner)) = plain.as_object_mut()?.remove("fields") {
            for (own, kept) in &inner {
                fields.insert(own.clone(), FieldMapping::from_kept(own, kept)?);
            }
        }
        Some(FieldMapping {
            fields,
            is_found,
            ..FieldMapping::parse(name, &plain).ok()?
        })
    }

    /// Reads its object in a mapping.
    pub fn parse(name: &str, value: &Value) -> Outcome<FieldMapping> {
        let members = Members::of(name, value)?;
        let written = members
            .text("type")?
            .ok_or_else(|| Fault::mapping(format!("No type specified for field [{name}]")))?;
        let kind = FieldType::named(written).ok_or_else(|| unknown_type(written, name))?;
        members
            .check(&PARAMETERS, &PARAMETERS_NOT_THERE)
            .map_err(as_mapping)?;
        let mut field = FieldMapping {
            analyzer: analyzer(name, kind, &members)?,
            ignore_malformed: members.flag("ignore_malformed")? == Some(true),
            null_value: members
                .get("null_value")
                .filter(|null| !null.is_null())
                .cloned(),
            ignore_above: ignore_above(name, kind, &members)?,
            is_indexed: members.flag("index")? != Some(false),
            has_values: members.flag("doc_values")? != Some(false),
            ..FieldMapping::of(kind)
        };
        // Settings define no other similarities than BM25 as it is here.
        if members.text("similarity")? == Some("boolean") {
            return Err(as_mapping(Fault::not_there("[similarity] of [boolean]")));
        }
        if kind == FieldType::Text && members.get("doc_values").is_some() {
            return Err(unknown_parameter("doc_values", name, kind));
        }
        if kind == FieldType::Ip && !field.is_indexed {
            return Err(as_mapping(Fault::not_there(&format!(
                "[index] false of field [{name}] of type [ip]"
            ))));
        }
        if field.ignore_malformed && kind.is_string() {
            return Err(unknown_parameter("ignore_malformed", name, kind));
        }
        if let Some(formats) = members.text("format")? {
            if kind != FieldType::Date {
                return Err(unknown_parameter("format", name, kind));
            }
            let formats = DateFormats::of(formats);
            let formats = formats.map_err(|error| Fault::mapping(error.to_string()))?;
            field.date_formats = Some(Arc::new(formats));
        }
        if let Some(null) = &field.null_value {
            check_null(null, name, &field)?;
        }
        if let Some(inner) = members.get("fields") {
            field.fields = multi_fields(name, inner)?;
        }
        Ok(field)
    }

    /// Takes what another mapping of the same field says.
    ///
    /// # Errors
    ///
    /// For what cannot change.
    pub fn merge(&mut self, other: &FieldMapping, name: &str) -> Outcome<()> {
        if self.kind != other.kind {
            return Err(Fault::illegal(format!(
                "mapper [{name}] cannot be changed from type [{}] to [{}]",
                self.kind.name(),
                other.kind.name()
            )));
        }
        let shown = |value: Option<String>| value.unwrap_or_else(|| "default".to_owned());
        let number = |most: Option<u32>| shown(most.map(|most| most.to_string()));
        let json = |value: &Option<Value>| shown(value.as_ref().map(Value::to_string));
        let formats = |field: &FieldMapping| {
            let formats = field.date_formats.as_ref();
            formats.map_or_else(String::new, |formats| formats.text().to_owned())
        };
        let parameters = [
            (
                "analyzer",
                shown(self.analyzer.clone()),
                shown(other.analyzer.clone()),
            ),
            (
                "ignore_above",
                number(self.ignore_above),
                number(other.ignore_above),
            ),
            (
                "ignore_malformed",
                self.ignore_malformed.to_string(),
                other.ignore_malformed.to_string(),
            ),
            (
                "null_value",
                json(&self.null_value),
                json(&other.null_value),
            ),
            ("format", formats(self), formats(other)),
            (
                "index",
                self.is_indexed.to_string(),
                other.is_indexed.to_string(),
            ),
            (
                "doc_values",
                self.has_values.to_string(),
                other.has_values.to_string(),
            ),
        ];
        if let Some((parameter, own, wanted)) =
            parameters.iter().find(|(_, own, other)| own != other)
        {
            return Err(Fault::illegal(format!(
                "Mapper for [{name}] conflicts with existing mapper:\n\tCannot update parameter [{parameter}] from [{own}] to [{wanted}]"
            )));
        }
        for (own, field) in &other.fields {
            match self.fields.get_mut(own) {
                Some(known) => known.merge_multi_field(field, &format!("{name}.{own}"))?,
                None => {
                    self.fields.insert(own.clone(), field.clone());
                }
            }
        }
        self.is_found &= other.is_found;
        Ok(())
    }

    /// The same of a multi-field: one that was found stays so, since it is indexed so.
    fn merge_multi_field(&mut self, other: &FieldMapping, name: &str) -> Outcome<()> {
        let is_found = self.is_found;
        self.merge(other, name)?;
        self.is_found = is_found;
        Ok(())
    }
}

/// The object of a field with those of its multi-fields.
fn with_fields<'f>(
    mut json: Map<String, Value>,
    fields: impl Iterator<Item = (&'f String, &'f FieldMapping)>,
    told: impl Fn(&FieldMapping) -> Value,
) -> Value {
    let fields: Map<String, Value> = fields
        .map(|(name, field)| (name.clone(), told(field)))
        .collect();
    if !fields.is_empty() {
        json.insert("fields".to_owned(), Value::Object(fields));
    }
    Value::Object(json)
}

fn analyzer(name: &str, kind: FieldType, members: &Members<'_>) -> Outcome<Option<String>> {
    let analyzer = members.text("analyzer")?;
    let at_search = members.text("search_analyzer")?;
    if kind != FieldType::Text && (analyzer.is_some() || at_search.is_some()) {
        return Err(unknown_parameter("analyzer", name, kind));
    }
    if at_search.is_some_and(|other| Some(other) != analyzer) {
        return Err(as_mapping(Fault::not_there(&format!(
            "a [search_analyzer] other than the [analyzer], as of field [{name}],"
        ))));
    }
    if let Some(analyzer) = analyzer {
        check_analyzer(analyzer, name)?;
    }
    Ok(analyzer.map(str::to_owned))
}

fn ignore_above(name: &str, kind: FieldType, members: &Members<'_>) -> Outcome<Option<u32>> {
    let Some(most) = members.count("ignore_above")? else {
        return Ok(None);
    };
    if kind != FieldType::Keyword {
        return Err(unknown_parameter("ignore_above", name, kind));
    }
    Ok(Some(u32::try_from(most).unwrap_or(u32::MAX)))
}

fn check_null(null: &Value, name: &str, field: &FieldMapping) -> Outcome<()> {
    let kind = field.kind;
    if kind == FieldType::Text {
        return Err(unknown_parameter("null_value", name, kind));
    }
    let value = match null {
        Value::String(text) => Some(DocumentValue::Text(text.clone())),
        Value::Number(_) | Value::Bool(_) => Some(DocumentValue::Exact(null.to_string())),
        _ => None,
    };
    if value.is_some_and(|value| field.takes(&value)) {
        return Ok(());
    }
    Err(Fault::mapping(format!(
        "failed to parse [null_value] {null} of field [{name}] of type [{}]",
        kind.name()
    )))
}

fn multi_fields(name: &str, inner: &Value) -> Outcome<BTreeMap<String, FieldMapping>> {
    let inner = Members::of("fields", inner).map_err(as_mapping)?;
    let mut fields = BTreeMap::new();
    for (own, value) in inner.iter() {
        let path = format!("{name}.{own}");
        if own.trim().is_empty() || own.contains('.') {
            return Err(Fault::mapping(format!(
                "Field name [{own}] which is a multi field of [{name}] cannot be empty or contain '.'"
            )));
        }
        let field = FieldMapping::parse(&path, value)?;
        if !field.fields.is_empty() {
            return Err(as_mapping(Fault::not_there(&format!(
                "[fields] of a multi-field, as of [{path}],"
            ))));
        }
        fields.insert(own.to_owned(), field);
    }
    Ok(fields)
}

fn unknown_parameter(parameter: &str, name: &str, kind: FieldType) -> Fault {
    Fault::mapping(format!(
        "unknown parameter [{parameter}] on mapper [{name}] of type [{}]",
        kind.name()
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
