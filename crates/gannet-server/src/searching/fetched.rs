//! `fields`: the values of mapped fields as the source of a hit has them, always in lists.

use gannet::aggregations::{DateFormat, Zone};
use serde_json::{Map, Value, json};

use super::docvalues::ValueField;
use crate::fault::{Fault, Outcome};
use crate::indexes::{FieldMapping, Mapping};
use crate::json::fits;

/// Returns the values of a source by the fields of a mapping that a request wants.
pub fn fetched(
    mapping: &Mapping,
    source: &[u8],
    wanted: &[ValueField],
) -> Outcome<Map<String, Value>> {
    let source: Value = serde_json::from_slice(source)
        .map_err(|error| Fault::internal(format!("a stored source is no JSON: {error}")))?;
    let mut found = Map::new();
    for (name, mapped) in mapping.all() {
        // Of several that fit, the last one counts.
        let mut fitting = wanted.iter().rev();
        let Some(field) = fitting.find(|field| fits(&field.name, &name)) else {
            continue;
        };
        // A multi-field has the values of the field that it is of.
        let path = match name.rsplit_once('.') {
            Some((of, _)) if !mapping.fields.contains_key(&name) => of,
            _ => name.as_str(),
        };
        let values = values_at(&source, path);
        if !values.is_empty() {
            let shown = values.into_iter().map(|value| shown(value, mapped, field));
            found.insert(name, Value::Array(shown.collect()));
        }
    }
    Ok(found)
}

/// Returns the values at a path of a source, in which dots stand between objects or in names.
pub fn values_at<'s>(source: &'s Value, path: &str) -> Vec<&'s Value> {
    let mut values = Vec::new();
    take(source, path, &mut values);
    values
}

/// Takes the values at a path, in which dots stand between objects or in names.
fn take<'s>(source: &'s Value, path: &str, values: &mut Vec<&'s Value>) {
    match source {
        Value::Array(list) => list.iter().for_each(|one| take(one, path, values)),
        Value::Object(members) => {
            for (name, value) in members {
                if name == path {
                    leaves(value, values);
                } else if let Some(rest) = path.strip_prefix(name.as_str())
                    && let Some(rest) = rest.strip_prefix('.')
                {
                    take(value, rest, values);
                }
            }
        }
        _ => {}
    }
}

fn leaves<'s>(value: &'s Value, values: &mut Vec<&'s Value>) {
    match value {
        Value::Null | Value::Object(_) => {}
        Value::Array(list) => list.iter().for_each(|one| leaves(one, values)),
        one => values.push(one),
    }
}

/// A value as an answer has it: dates in the format of the request, or of the mapping.
fn shown(value: &Value, mapped: &FieldMapping, field: &ValueField) -> Value {
    let Some(formats) = &mapped.date_formats else {
        return value.clone();
    };
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let Some(date) = formats.read(&text) else {
        return value.clone();
    };
    let format = field.format.clone();
    let format = format.or_else(|| DateFormat::of(formats.text()));
    let format = format.unwrap_or(DateFormat::Iso);
    json!(format.print(date.first_ms, &Zone::utc()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_below_objects_and_names_with_dots() {
        let source = json!({
            "a": { "b": [1, { "c": 2 }, null] },
            "a.b": 3,
            "l": [{ "m": "x" }, { "m": ["y", "z"] }],
        });
        let of = |path: &str| {
            let mut values = Vec::new();
            take(&source, path, &mut values);
            values.into_iter().cloned().collect::<Vec<Value>>()
        };
        assert_eq!(of("a.b"), [json!(1), json!(3)]);
        assert_eq!(of("a.b.c"), [json!(2)]);
        assert_eq!(of("l.m"), [json!("x"), json!("y"), json!("z")]);
        assert!(of("none").is_empty());
    }
}
