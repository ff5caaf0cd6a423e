//! `docvalue_fields`: values of hits, as their columns have them.

use gannet::aggregations::{DateFormat, Zone};
use gannet::values::Value as ColumnValue;
use serde_json::{Map, Value, json};

use super::run::SearchedIndex;
use crate::fault::{Fault, Outcome};
use crate::json::{Members, kind_of};

/// Fields of one request, as in Elasticsearch.
const FIELDS_MAX: usize = 100;

/// Memory of a value in an answer, beside its text.
const VALUE_BYTES: usize = 64;

/// A field whose values are wanted of each hit.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueField {
    name: String,
    /// The format of dates, if it is not that of the mapping.
    format: Option<DateFormat>,
}

/// The member `fields` of each hit of an index, in their order.
pub type HitFields = Vec<Map<String, Value>>;

impl ValueField {
    /// Reads a list of names, and of objects with `field` and `format`.
    pub fn parse_all(value: &Value) -> Outcome<Vec<ValueField>> {
        let Value::Array(list) = value else {
            return Err(Fault::parsing(format!(
                "[docvalue_fields] expected a list of fields, found {}",
                kind_of(value)
            )));
        };
        if list.len() > FIELDS_MAX {
            return Err(Fault::illegal(format!(
                "Trying to retrieve too many docvalue_fields. Must be less than or equal to: [{FIELDS_MAX}] but was [{}].",
                list.len()
            )));
        }
        list.iter().map(ValueField::parse).collect()
    }

    fn parse(value: &Value) -> Outcome<ValueField> {
        let (name, format) = match value {
            Value::String(name) => (name.as_str(), None),
            other => {
                let members = Members::of("docvalue_fields", other)?;
                members.check(&["field", "format"], &[])?;
                let name = members
                    .text("field")?
                    .ok_or_else(|| Fault::parsing("[docvalue_fields] needs a [field]"))?;
                (name, members.text("format")?)
            }
        };
        if name.contains('*') {
            return Err(Fault::query_not_there(&format!(
                "a pattern of names in [docvalue_fields], as [{name}],"
            )));
        }
        let format = format.filter(|format| *format != "use_field_mapping");
        Ok(ValueField {
            name: name.to_owned(),
            format: format.map(date_format).transpose()?,
        })
    }
}

/// Reads the format in which dates are printed.
pub fn date_format(text: &str) -> Outcome<DateFormat> {
    DateFormat::of(text).ok_or_else(|| {
        Fault::query_not_there(&format!(
            "the format [{text}] of dates in answers, with other letters than y, M, d, H, m, s, S and X,"
        ))
    })
}

/// The values of hits by fields that an index has, and the bytes that they take.
pub fn values_of(
    searched: &SearchedIndex,
    ids: &[&str],
    fields: &[ValueField],
) -> Outcome<(HitFields, usize)> {
    let mut found: HitFields = ids.iter().map(|_| Map::new()).collect();
    let mut bytes = 0;
    for field in fields {
        let Some(mapped) = searched.metadata().mapping.field(&field.name) else {
            continue;
        };
        if searched.snapshot().schema().named(&field.name).is_none() && !mapped.is_found {
            // No document has it yet.
            continue;
        }
        let declared = mapped.date_formats.as_ref();
        let declared = declared.and_then(|formats| DateFormat::of(formats.text()));
        let format = field.format.clone().or(declared).unwrap_or(DateFormat::Iso);
        let values = searched.snapshot().values(ids, &field.name)?;
        for (members, values) in found.iter_mut().zip(values) {
            if values.is_empty() {
                continue;
            }
            let shown: Vec<Value> = values.iter().map(|value| shown(value, &format)).collect();
            let texts = shown.iter().filter_map(Value::as_str).map(str::len);
            bytes += field.name.len() + shown.len() * VALUE_BYTES + texts.sum::<usize>();
            members.insert(field.name.clone(), Value::Array(shown));
        }
    }
    Ok((found, bytes))
}

fn shown(value: &ColumnValue<'_>, format: &DateFormat) -> Value {
    match value {
        ColumnValue::Long(value) => json!(value),
        ColumnValue::Double(value) => json!(value),
        ColumnValue::Boolean(value) => json!(value),
        ColumnValue::Keyword(text) => json!(text),
        ColumnValue::Date(ms) => json!(format.print(*ms, &Zone::utc())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_names_or_objects() {
        let read = ValueField::parse_all(&json!([
            "a",
            { "field": "b", "format": "epoch_millis" },
            { "field": "c", "format": "use_field_mapping" },
        ]));
        let read = read.unwrap();
        let shown: Vec<(&str, bool)> = read
            .iter()
            .map(|field| (field.name.as_str(), field.format.is_some()))
            .collect();
        assert_eq!(shown, [("a", false), ("b", true), ("c", false)]);
        for wrong in [
            json!("a"),
            json!([7]),
            json!([{ "format": "epoch_millis" }]),
            json!([{ "field": "a", "format": "QQQ" }]),
            json!(["a*"]),
            json!(vec!["a"; 101]),
        ] {
            assert!(ValueField::parse_all(&wrong).is_err(), "{wrong}");
        }
    }
}
