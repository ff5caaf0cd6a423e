//! Dynamic templates: how fields are mapped that documents bring and no mapping has.

use gannet::Value as DocumentValue;
use serde_json::{Value, json};

use super::field::FieldMapping;
use super::types::as_mapping;
use crate::fault::{Fault, Outcome};
use crate::json::{Members, fits};

/// Templates of one mapping.
const TEMPLATES_MAX: usize = 100;

/// The types of values by which templates choose.
const VALUE_TYPES: [&str; 7] = ["*", "string", "long", "double", "boolean", "date", "object"];

/// A template for fields that documents bring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicTemplate {
    /// The template as it was written, with its name around it.
    written: Value,
    /// The type of the values; any if there is none.
    value_type: Option<String>,
    /// Patterns of names, and of those that are left out: of the last part, and of the whole.
    names: [Vec<String>; 2],
    paths: [Vec<String>; 2],
    field: FieldMapping,
}

impl DynamicTemplate {
    /// Reads the list `dynamic_templates` of a mapping.
    pub fn parse_all(value: &Value) -> Outcome<Vec<DynamicTemplate>> {
        let Value::Array(list) = value else {
            return Err(Fault::mapping(
                "Dynamic template syntax error. An array of named objects is expected.",
            ));
        };
        if list.len() > TEMPLATES_MAX {
            return Err(Fault::mapping(format!(
                "[dynamic_templates] has {} templates, at most {TEMPLATES_MAX} are kept",
                list.len()
            )));
        }
        let read = |template: &Value| DynamicTemplate::parse(template).map_err(as_mapping);
        list.iter().map(read).collect()
    }

    fn parse(written: &Value) -> Outcome<DynamicTemplate> {
        let (name, template) = Members::of("dynamic_templates", written)?.only()?;
        let members = Members::of(name, template)?;
        let known = [
            "match_mapping_type",
            "match",
            "unmatch",
            "path_match",
            "path_unmatch",
            "match_pattern",
            "mapping",
        ];
        members.check(&known, &["unmatch_mapping_type", "runtime"])?;
        if members
            .text("match_pattern")?
            .is_some_and(|how| how != "simple")
        {
            return Err(Fault::not_there("[match_pattern] of [regex]"));
        }
        let value_type = members.text("match_mapping_type")?;
        if let Some(unknown) = value_type.filter(|written| !VALUE_TYPES.contains(written)) {
            return Err(Fault::mapping(format!(
                "No field type matched on [{unknown}], possible values are [object, string, long, double, boolean, date, *]"
            )));
        }
        let patterns = |name: &str| -> Outcome<Vec<String>> {
            let texts = members.texts(name)?.unwrap_or_default();
            Ok(texts.into_iter().map(str::to_owned).collect())
        };
        let mapping = members
            .get("mapping")
            .ok_or_else(|| Fault::mapping(format!("template [{name}] must have [mapping] set")))?;
        let mut mapping = mapping.clone();
        if mapping.get("type").is_none() {
            mapping["type"] = json!(default_type(value_type));
        }
        let field = FieldMapping::parse(name, &mapping)?;
        Ok(DynamicTemplate {
            written: written.clone(),
            value_type: value_type
                .filter(|written| *written != "*")
                .map(str::to_owned),
            names: [patterns("match")?, patterns("unmatch")?],
            paths: [patterns("path_match")?, patterns("path_unmatch")?],
            field,
        })
    }

    /// The templates as they were written.
    pub fn json_of(templates: &[DynamicTemplate]) -> Value {
        templates
            .iter()
            .map(|template| template.written.clone())
            .collect()
    }

    /// The mapping of a field that a document brings, if the template is for it.
    pub fn field(&self, path: &str, value: &DocumentValue) -> Option<FieldMapping> {
        let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
        let is_of_type = self
            .value_type
            .as_deref()
            .is_none_or(|wanted| wanted == value_type(value));
        let is_meant = is_of_type && allows(&self.names, name) && allows(&self.paths, path);
        is_meant.then(|| self.field.clone())
    }
}

/// Returns true if a name fits one of some patterns, if there are any, and none of others.
fn allows([wanted, unwanted]: &[Vec<String>; 2], name: &str) -> bool {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, name));
    (wanted.is_empty() || any(wanted)) && !any(unwanted)
}

/// The type of a value as templates name it.
fn value_type(value: &DocumentValue) -> &'static str {
    match value {
        DocumentValue::Text(_) => "string",
        DocumentValue::Exact(text) if matches!(text.as_str(), "true" | "false") => "boolean",
        DocumentValue::Exact(text) if text.parse::<i64>().is_ok() => "long",
        DocumentValue::Exact(_) => "double",
    }
}

/// The type of a field whose template names none.
fn default_type(value_type: Option<&str>) -> &'static str {
    match value_type {
        Some("long") => "long",
        Some("double") => "float",
        Some("boolean") => "boolean",
        _ => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_that_fits_gives_the_mapping() {
        let templates = json!([
            { "ids": { "match": ["*_id", "id"], "unmatch": "raw_*", "mapping": { "type": "keyword" } } },
            { "numbers": { "match_mapping_type": "long", "mapping": { "type": "double" } } },
            { "deep": { "path_match": "a.*", "match_mapping_type": "string", "mapping": { "analyzer": "english" } } },
        ]);
        let templates = DynamicTemplate::parse_all(&templates).unwrap();
        let text = DocumentValue::Text("x".to_owned());
        let number = DocumentValue::Exact("7".to_owned());
        let kind = |path: &str, value: &DocumentValue| {
            let found = templates.iter().find_map(|one| one.field(path, value));
            found.map(|field| field.kind.name())
        };
        assert_eq!(kind("user.user_id", &text), Some("keyword"));
        assert_eq!(kind("raw_id", &text), None);
        assert_eq!(kind("raw_id", &number), Some("double"));
        assert_eq!(kind("a.b", &text), Some("text"));
        assert_eq!(kind("b.a", &text), None);
        for wrong in [
            json!({}),
            json!([{ "a": {} }]),
            json!([{ "a": { "match_mapping_type": "text", "mapping": {} } }]),
            json!([{ "a": { "match_pattern": "regex", "mapping": {} } }]),
            json!([{ "a": { "mapping": { "type": "geo_point" } } }]),
            json!([{ "a": { "mapping": { "type": "{dynamic_type}" } } }]),
        ] {
            let fault = DynamicTemplate::parse_all(&wrong).unwrap_err();
            assert_eq!(fault.kind, "mapper_parsing_exception", "{wrong}");
        }
    }
}
