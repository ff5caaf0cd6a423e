//! Reads declarations of fields from JSON, such as `{"price": "double", "note": {"type": "text"}}`.
//!
//! Members have the names and meanings of Elasticsearch. What would change what is found and is not
//! supported is an error that names the member and the field, and says what to do.

use std::sync::Arc;

use gannet_values::{DateFormats, ValueType};
use serde_json::Value as Json;

use super::mapping::{DeclaredField, FieldMapping, FieldType};
use crate::analysis::{Analyzer, MAX_FIELDS, NullValue, in_nfc};
use crate::base::{Error, Result};
use crate::documents::{ObjectMembers, exact_number};

/// Objects that stand in each other, at most.
const DEPTH_MAX: usize = 32;

/// The member with the fields of an object.
const PROPERTIES: &str = "properties";

/// The member with the multi-fields of a field.
const FIELDS: &str = "fields";

/// The member with the value that a null counts as.
const NULL_VALUE: &str = "null_value";

impl FieldMapping {
    /// Reads declarations: an object with a member for each field. Its value is the name of a type,
    /// or an object with `type` and what else is declared:
    ///
    /// - `analyzer`: of a `text`, the analyzer of its words.
    /// - `fields`: multi-fields, which take the values of the field in other ways, each by its name
    ///   as a field is declared. That of a field `title` with the name `raw` is called `title.raw`.
    /// - `ignore_above`: of a `keyword`, longer strings are left out; counted in characters.
    /// - `null_value`: the value that a null counts as.
    /// - `format`: of a `date`, the formats in which it is written, with `||` between them, such as
    ///   `yyyy-MM-dd||epoch_second`.
    /// - `ignore_malformed`: values that do not fit are left out, and the document is taken.
    /// - `column`: of a `text`, its whole strings of up to 256 bytes are kept for orders and
    ///   counts; of others false if no values are kept for orders, counts and ranges.
    /// - `terms`: false if values are found by the column alone: by ranges, and whole values.
    /// - `properties`: in place of a type, the fields of an object.
    ///
    /// All fields may stand in `properties`, as Elasticsearch has them.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] names the field and the member that is wrong or not supported.
    pub fn from_json(json: &str) -> Result<FieldMapping> {
        let members = members_of(json, "the mapping")?;
        let mut mapping = FieldMapping::new();
        match members.as_slice() {
            [(name, fields)] if name == PROPERTIES && is_object_of_fields(fields) => {
                read_fields(&members_of(fields, "the mapping")?, "", 1, &mut mapping)?;
            }
            _ => read_fields(&members, "", 1, &mut mapping)?,
        }
        Ok(mapping)
    }
}

/// Returns true if the member `properties` has fields, and is not one of this name itself.
fn is_object_of_fields(json: &str) -> bool {
    let members = members_of(json, "");
    let has_type = |(name, value): &(String, &str)| name == "type" && value.starts_with('"');
    members.is_ok_and(|members| !members.iter().any(has_type))
}

fn read_fields(
    members: &[(String, &str)],
    above: &str,
    depth: usize,
    mapping: &mut FieldMapping,
) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(Error::invalid(format!(
            "the mapping has objects more than {DEPTH_MAX} deep in each other"
        )));
    }
    for (name, value) in members {
        let name = format!("{above}{name}");
        if name.is_empty() {
            return Err(Error::invalid(
                "the mapping has a field without a name: give it one",
            ));
        }
        read_field(&name, value, depth, mapping)?;
    }
    Ok(())
}

fn read_field(name: &str, json: &str, depth: usize, mapping: &mut FieldMapping) -> Result<()> {
    let value: Json = serde_json::from_str(json).map_err(|error| no_json(&error))?;
    let declared = match &value {
        Json::String(type_name) => DeclaredField::of(name, named(name, type_name)?),
        Json::Object(_) => {
            let members = members_of(json, &format!("the field {name:?} of the mapping"))?;
            if let Some(fields) = properties(name, &members)? {
                let above = format!("{name}.");
                let what = format!("\"{PROPERTIES}\" of the field {name:?}");
                return read_fields(&members_of(fields, &what)?, &above, depth + 1, mapping);
            }
            let declared = read_members(name, &members)?;
            read_multi_fields(name, &members, mapping)?;
            declared
        }
        other => return Err(no_type(name, other)),
    };
    add(declared, mapping)
}

/// Adds a declared field.
fn add(declared: DeclaredField, mapping: &mut FieldMapping) -> Result<()> {
    let name = &declared.name;
    if mapping.of(name).is_some() {
        return Err(Error::invalid(format!(
            "the mapping has the field {name:?} twice: leave one out"
        )));
    }
    if mapping.fields().len() >= MAX_FIELDS {
        return Err(Error::invalid(format!(
            "the mapping has more than the {MAX_FIELDS} fields that an index can have"
        )));
    }
    *mapping = std::mem::take(mapping).with(declared);
    Ok(())
}

/// Reads the multi-fields of a field.
fn read_multi_fields(
    source: &str,
    members: &[(String, &str)],
    mapping: &mut FieldMapping,
) -> Result<()> {
    let Some((_, fields)) = members.iter().find(|(member, _)| member == FIELDS) else {
        return Ok(());
    };
    for (own, json) in members_of(fields, &format!("\"{FIELDS}\" of the field {source:?}"))? {
        let name = format!("{source}.{own}");
        if own.is_empty() || own.contains('.') {
            return Err(Error::invalid(format!(
                "the multi-field {name:?} needs a name without dots"
            )));
        }
        let value: Json = serde_json::from_str(json).map_err(|error| no_json(&error))?;
        let declared = match &value {
            Json::String(type_name) => DeclaredField::of(&name, named(&name, type_name)?),
            Json::Object(_) => {
                let members =
                    members_of(json, &format!("the multi-field {name:?} of the mapping"))?;
                let mut own = members.iter().map(|(member, _)| member.as_str());
                if let Some(member) = own.find(|member| [FIELDS, PROPERTIES].contains(member)) {
                    let advice = "a multi-field has no fields of its own";
                    return Err(not_supported(member, &name, advice));
                }
                read_members(&name, &members)?
            }
            other => return Err(no_type(&name, other)),
        };
        let declared = DeclaredField {
            source: Some(in_nfc(source).into_owned()),
            ..declared
        };
        add(declared, mapping)?;
    }
    Ok(())
}

/// The fields of an object, if that is what stands in a field of this name.
fn properties<'m>(name: &str, members: &[(String, &'m str)]) -> Result<Option<&'m str>> {
    let of_name = |wanted: &str| members.iter().find(|(other, _)| other == wanted);
    let Some((_, fields)) = of_name(PROPERTIES) else {
        return Ok(None);
    };
    match of_name("type") {
        None | Some((_, "\"object\"")) => {}
        Some((_, other)) => {
            return Err(Error::invalid(format!(
                "the field {name:?} has \"{PROPERTIES}\" and the type {other}: an object has no type"
            )));
        }
    }
    let is_known = |other: &str| other == PROPERTIES || other == "type";
    match members.iter().find(|(other, _)| !is_known(other)) {
        None => Ok(Some(*fields)),
        Some((other, _)) => Err(not_supported(
            other,
            name,
            "leave it out, and declare the fields of the object",
        )),
    }
}

fn no_type(name: &str, found: &Json) -> Error {
    Error::invalid(format!(
        "the field {name:?} of the mapping is {found}: write the name of its type, as \"long\", or an object with \"type\""
    ))
}

fn named(name: &str, type_name: &str) -> Result<FieldType> {
    FieldType::named(type_name)
        .map_err(|error| Error::invalid(format!("the field {name:?} of the mapping: {error}")))
}

fn read_members(name: &str, members: &[(String, &str)]) -> Result<DeclaredField> {
    let written = members.iter().find(|(member, _)| member == "type");
    let Some((_, written)) = written else {
        return Err(Error::invalid(format!(
            "the field {name:?} of the mapping has no \"type\": give one of text, keyword, long, double, boolean, date and ip"
        )));
    };
    let type_name: String = serde_json::from_str(written)
        .map_err(|_| wrong("type", name, "the name of a type, as \"long\"", written))?;
    let mut declared = DeclaredField::of(name, named(name, &type_name)?);
    for (member, value) in members {
        read_member(member, value, name, &mut declared)?;
    }
    // It must fit what the others say.
    if let Some((_, value)) = members.iter().find(|(member, _)| member == NULL_VALUE) {
        declared.null_value = null_value(value, name, &declared)?;
    }
    Ok(declared)
}

fn read_member(member: &str, value: &str, name: &str, declared: &mut DeclaredField) -> Result<()> {
    let is_text = declared.field_type == FieldType::Text;
    match member {
        "type" => {}
        "analyzer" => declared.analyzer = analyzer(value, name, declared.field_type)?,
        "ignore_malformed" => {
            let ignores = boolean(member, value, name)?;
            if ignores && is_text {
                return Err(not_supported(member, name, "any value fits a text"));
            }
            declared.lenient = ignores;
        }
        "column" => {
            let has_column = boolean(member, value, name)?;
            declared.keeps_strings = has_column && is_text;
            declared.without_column = !has_column && !is_text;
        }
        "terms" => {
            let has_terms = boolean(member, value, name)?;
            if !has_terms && declared.field_type == FieldType::Column(ValueType::Ip) {
                let advice = "addresses are found by their terms";
                return Err(not_supported(member, name, advice));
            }
            declared.without_terms = !has_terms;
        }
        "ignore_above" => {
            if declared.field_type != FieldType::Column(ValueType::Keyword) {
                let advice = "only a keyword leaves long strings out";
                return Err(not_supported(member, name, advice));
            }
            let most = serde_json::from_str(value);
            let most = most.map_err(|_| wrong(member, name, "a number of characters", value))?;
            declared.ignore_above = Some(most);
        }
        "format" => declared.date_formats = Some(date_formats(value, name, declared)?),
        // These are read beside it.
        FIELDS | NULL_VALUE => {}
        _ => {
            let advice = "use type, analyzer, fields, format, ignore_above, null_value, ignore_malformed, column and terms";
            return Err(not_supported(member, name, advice));
        }
    }
    Ok(())
}

/// The analyzer of a field. Keywords have theirs, other values none.
fn analyzer(value: &str, name: &str, field_type: FieldType) -> Result<Option<Analyzer>> {
    let analyzer: String = serde_json::from_str(value)
        .map_err(|_| wrong("analyzer", name, "the name of an analyzer", value))?;
    let found = Analyzer::named(&analyzer)
        .map_err(|error| Error::invalid(format!("the field {name:?} of the mapping: {error}")))?;
    match field_type {
        FieldType::Text => Ok(Some(found)),
        FieldType::Column(ValueType::Keyword) if found == Analyzer::KEYWORD => Ok(None),
        FieldType::Column(_) => Err(not_supported(
            "analyzer",
            name,
            "only a text has words; declare the type text",
        )),
    }
}

fn date_formats(value: &str, name: &str, declared: &DeclaredField) -> Result<Arc<DateFormats>> {
    if declared.field_type != FieldType::Column(ValueType::Date) {
        return Err(not_supported("format", name, "only a date has one"));
    }
    let text: String = serde_json::from_str(value)
        .map_err(|_| wrong("format", name, "formats such as \"yyyy-MM-dd\"", value))?;
    match DateFormats::of(&text) {
        Ok(formats) => Ok(Arc::new(formats)),
        Err(error) => Err(Error::invalid(format!(
            "\"format\" of the field {name:?} in the mapping: {error}"
        ))),
    }
}

/// The value that a null counts as; nothing if that is nothing.
fn null_value(value: &str, name: &str, declared: &DeclaredField) -> Result<Option<NullValue>> {
    let member = NULL_VALUE;
    if declared.field_type == FieldType::Text {
        let advice = "a text has words, and a null has none; declare the type keyword";
        return Err(not_supported(member, name, advice));
    }
    let read: Json = serde_json::from_str(value).map_err(|error| no_json(&error))?;
    let (text, is_exact) = match read {
        Json::Null => return Ok(None),
        Json::String(text) => (Some(text), false),
        Json::Bool(value) => (Some(value.to_string()), true),
        Json::Number(_) => (exact_number(value), true),
        Json::Array(_) | Json::Object(_) => (None, false),
    };
    let null = text.map(|text| NullValue { text, is_exact });
    match null.filter(|null| declared.fits_null(null)) {
        Some(null) => Ok(Some(null)),
        None => {
            let expected = format!("a value of type {}", declared.field_type.name());
            Err(wrong(member, name, &expected, value))
        }
    }
}

fn boolean(member: &str, value: &str, name: &str) -> Result<bool> {
    serde_json::from_str(value).map_err(|_| wrong(member, name, "true or false", value))
}

/// The members of an object, each of another name.
fn members_of<'j>(json: &'j str, what: &str) -> Result<Vec<(String, &'j str)>> {
    let members: ObjectMembers<'j> = serde_json::from_str(json).map_err(|error| {
        if error.is_data() {
            Error::invalid(format!("{what} must be a JSON object of fields"))
        } else {
            no_json(&error)
        }
    })?;
    let mut names: Vec<&str> = members.0.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|two| two[0] == two[1]) {
        None => Ok(members.0),
        Some(two) => Err(Error::invalid(format!(
            "{what} has the member {:?} twice: leave one out",
            two[0]
        ))),
    }
}

fn no_json(error: &serde_json::Error) -> Error {
    Error::invalid(format!("the mapping is not JSON: {error}"))
}

fn wrong(member: &str, name: &str, expected: &str, found: &str) -> Error {
    Error::invalid(format!(
        "\"{member}\" of the field {name:?} in the mapping is {found}: expected {expected}"
    ))
}

fn not_supported(member: &str, name: &str, advice: &str) -> Error {
    Error::invalid(format!(
        "\"{member}\" of the field {name:?} in the mapping is not supported: {advice}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(json: &str) -> Vec<(String, &'static str)> {
        let mapping = FieldMapping::from_json(json).unwrap();
        let fields = mapping.fields().iter();
        fields
            .map(|field| (field.name.clone(), field.field_type.name()))
            .collect()
    }

    #[test]
    fn fields_have_types_by_name_or_with_more() {
        let json = r#"{"price": "double", "title": {"type": "text", "analyzer": "english", "column": true},
            "n": {"type": "long", "ignore_malformed": true, "terms": true, "column": true},
            "by": {"properties": {"name": {"type": "keyword"}, "at": {"type": "object", "properties": {"day": "date"}}}}}"#;
        let wanted = [
            ("by.at.day", "date"),
            ("by.name", "keyword"),
            ("n", "long"),
            ("price", "double"),
            ("title", "text"),
        ];
        let wanted = wanted.map(|(name, own)| (name.to_owned(), own));
        assert_eq!(types(json), wanted);
        assert_eq!(types(&format!("{{\"properties\": {json}}}")), wanted);
        let mapping = FieldMapping::from_json(json).unwrap();
        assert!(mapping.of("n").unwrap().lenient && !mapping.of("price").unwrap().lenient);
        let title = mapping.of("title").unwrap();
        assert!(title.keeps_strings && title.analyzer == Analyzer::named("english").ok());
        // A field may be called as the member that has all of them.
        let own = [("properties".to_owned(), "long")];
        assert_eq!(types(r#"{"properties": {"type": "long"}}"#), own);
        assert_eq!(types(r#"{"properties": "long"}"#), own);
        assert!(types("{}").is_empty());
    }

    #[test]
    fn multi_fields_and_rules_for_values_are_read() {
        let json = r#"{"a": {"type": "text", "fields": {
            "raw": {"type": "keyword", "ignore_above": 8, "null_value": "none"}, "n": "long"}},
            "b": {"type": "double", "null_value": 1e1}, "c": {"type": "keyword", "null_value": null}}"#;
        let wanted = [
            ("a", "text"),
            ("a.n", "long"),
            ("a.raw", "keyword"),
            ("b", "double"),
            ("c", "keyword"),
        ];
        assert_eq!(
            types(json),
            wanted.map(|(name, own)| (name.to_owned(), own))
        );
        let mapping = FieldMapping::from_json(json).unwrap();
        assert_eq!(mapping.multi_fields("a"), ["a.raw", "a.n"]);
        let raw = mapping.of("a.raw").unwrap();
        assert_eq!(
            (raw.source.as_deref(), raw.ignore_above),
            (Some("a"), Some(8))
        );
        let null = |name: &str| mapping.of(name).unwrap().null_value.clone();
        assert_eq!(null("b").map(|null| null.text).as_deref(), Some("10"));
        assert!(null("c").is_none() && mapping.takes_null("a") && !mapping.takes_null("c"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_field_and_member() {
        for (json, parts) in [
            ("[1]", ["JSON object", "mapping"]),
            ("{\"a\": ", ["not JSON", "EOF"]),
            (r#"{"a": 1}"#, ["\"a\"", "name of its type"]),
            (r#"{"a": "integer"}"#, ["\"a\"", "use text, keyword, long"]),
            (r#"{"a": {}}"#, ["\"a\"", "no \"type\""]),
            (r#"{"a": {"type": 7}}"#, ["\"a\"", "\"type\""]),
            (r#"{"a": "long", "a": "date"}"#, ["\"a\"", "twice"]),
            (
                r#"{"a": {"type": "long", "type": "date"}}"#,
                ["\"a\"", "twice"],
            ),
            (
                r#"{"a.b": "long", "a": {"properties": {"b": "long"}}}"#,
                ["\"a.b\"", "twice"],
            ),
            (
                r#"{"a": {"type": "long", "null_value": "none"}}"#,
                ["\"null_value\"", "type long"],
            ),
            (
                r#"{"a": {"type": "date", "format": "week_date"}}"#,
                ["\"a\"", "no format of dates"],
            ),
            (
                r#"{"a": {"type": "long", "format": "yyyy"}}"#,
                ["\"format\"", "only a date"],
            ),
            (
                r#"{"a": {"null_value": "2020-01-01", "type": "date", "format": "yyyy"}}"#,
                ["\"null_value\"", "type date"],
            ),
            (
                r#"{"a": {"type": "text", "null_value": "none"}}"#,
                ["\"null_value\"", "keyword"],
            ),
            (
                r#"{"a": {"type": "keyword", "ignore_above": -5}}"#,
                ["\"ignore_above\"", "number of characters"],
            ),
            (
                r#"{"a": {"type": "text", "ignore_above": 5}}"#,
                ["\"ignore_above\"", "only a keyword"],
            ),
            (
                r#"{"a": {"type": "text", "fields": {"b": {"type": "text", "fields": {}}}}}"#,
                ["\"fields\"", "\"a.b\""],
            ),
            (
                r#"{"a": {"type": "text", "fields": {"b.c": "long"}}}"#,
                ["\"a.b.c\"", "without dots"],
            ),
            (
                r#"{"a": {"type": "text", "fields": {"b": "long"}}, "a.b": "long"}"#,
                ["\"a.b\"", "twice"],
            ),
            (
                r#"{"a": {"type": "text", "fields": {"b": 7}}}"#,
                ["\"a.b\"", "name of its type"],
            ),
            (
                r#"{"a": {"type": "long", "column": 7}}"#,
                ["\"column\"", "\"a\""],
            ),
            (
                r#"{"a": {"type": "long", "terms": "no"}}"#,
                ["\"terms\"", "\"a\""],
            ),
            (
                r#"{"a": {"type": "text", "ignore_malformed": true}}"#,
                ["\"ignore_malformed\"", "\"a\""],
            ),
            (
                r#"{"a": {"type": "date", "analyzer": "english"}}"#,
                ["\"analyzer\"", "\"a\""],
            ),
            (
                r#"{"a": {"type": "text", "analyzer": "klingon"}}"#,
                ["klingon", "\"a\""],
            ),
            (
                r#"{"a": {"type": "long", "fielddata": true}}"#,
                ["\"fielddata\"", "\"a\""],
            ),
            (
                r#"{"a": {"properties": {"b": "long"}, "dynamic": false}}"#,
                ["\"dynamic\"", "\"a\""],
            ),
            (
                r#"{"a": {"type": "long", "ignore_malformed": "yes"}}"#,
                ["\"ignore_malformed\"", "true or false"],
            ),
        ] {
            let error = FieldMapping::from_json(json).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
        let deep = format!(
            "{}{}",
            "{\"a\":{\"properties\":".repeat(40),
            "{}".to_owned() + &"}}".repeat(40)
        );
        let error = FieldMapping::from_json(&deep).unwrap_err().to_string();
        assert!(error.contains("deep"), "{error}");
    }
}
