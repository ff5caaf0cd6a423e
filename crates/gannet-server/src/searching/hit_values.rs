//! Values of hits, as their columns have them.

use gannet::aggregations::{DateFormat, Zone};
use gannet::values::Value as ColumnValue;
use serde_json::{Map, Value, json};

use super::docvalues::ValueField;
use super::run::SearchedIndex;
use crate::fault::Outcome;

/// Memory of a value in an answer, beside its text.
const VALUE_BYTES: usize = 64;

/// The member `fields` of each hit of an index, in their order.
pub type HitFields = Vec<Map<String, Value>>;

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
        ColumnValue::Ip(address) => json!(address.to_string()),
        ColumnValue::Keyword(text) => json!(text),
        ColumnValue::Date(ms) => json!(format.print(*ms, &Zone::utc())),
    }
}
