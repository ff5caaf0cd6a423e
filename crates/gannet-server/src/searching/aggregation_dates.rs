//! Dates in `aggs`: printed in the format of their mapping where the request gives none, and ends
//! of ranges that the format of the request reads.

use gannet::aggregations::DateFormat;
use gannet::values::DateFormats;
use serde_json::{Map, Value, json};

use crate::fault::{Fault, Outcome};
use crate::indexes::Mapping;

/// Kinds that print dates.
const PRINTING: [&str; 10] = [
    "date_histogram",
    "date_range",
    "rare_terms",
    "terms",
    "min",
    "max",
    "avg",
    "sum",
    "stats",
    "extended_stats",
];

/// Returns aggregations with the formats of the dates of a mapping.
pub fn with_formats(aggs: &Value, mapping: &Mapping) -> Outcome<Value> {
    let Value::Object(aggs) = aggs else {
        return Ok(aggs.clone());
    };
    let each = aggs.iter().map(|(name, value)| {
        let value = match value {
            Value::Object(members) => one(members, mapping)?,
            other => other.clone(),
        };
        Ok((name.clone(), value))
    });
    each.collect::<Outcome<Map<String, Value>>>()
        .map(Value::Object)
}

fn one(members: &Map<String, Value>, mapping: &Mapping) -> Outcome<Value> {
    let each = members.iter().map(|(kind, value)| {
        let value = match kind.as_str() {
            "aggs" | "aggregations" => with_formats(value, mapping)?,
            kind if PRINTING.contains(&kind) => formatted(kind, value, mapping)?,
            _ => value.clone(),
        };
        Ok((kind.clone(), value))
    });
    each.collect::<Outcome<Map<String, Value>>>()
        .map(Value::Object)
}

fn formatted(kind: &str, value: &Value, mapping: &Mapping) -> Outcome<Value> {
    let mut value = value.clone();
    if let Some(format) = value.get("format").and_then(Value::as_str) {
        if kind == "date_range" {
            check_ends(&value, format)?;
        }
        return Ok(value);
    }
    let field = value.get("field").and_then(Value::as_str);
    let declared = field.and_then(|field| mapping.field(field)?.date_formats.as_ref());
    let format = declared.and_then(|formats| DateFormat::of(formats.text()));
    if let (Some(members), Some(format)) = (value.as_object_mut(), format)
        && format != DateFormat::Iso
    {
        members.insert("format".to_owned(), json!(format.name()));
    }
    Ok(value)
}

/// Fails at ends of ranges that a format does not read.
fn check_ends(value: &Value, format: &str) -> Outcome<()> {
    let Ok(formats) = DateFormats::of(format) else {
        // The format is told to be wrong where it is read.
        return Ok(());
    };
    let ranges = value.get("ranges").and_then(Value::as_array);
    let ends = ranges.into_iter().flatten();
    let ends = ends.flat_map(|range| ["from", "to"].map(|name| range.get(name)));
    for text in ends.flatten().filter_map(Value::as_str) {
        let date = text.split("||").next().unwrap_or(text);
        if !date.starts_with("now") && formats.read(date).is_none() {
            return Err(Fault::date(format!(
                "failed to parse date field [{date}] with format [{format}] of [date_range]"
            ))
            .of_shard());
        }
    }
    Ok(())
}
