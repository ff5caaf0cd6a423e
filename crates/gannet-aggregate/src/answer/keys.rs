//! Keys of buckets as JSON.

use gannet_values::{Number, ValueType};
use serde_json::{Map, Value, json};

use crate::dates::format::DateFormat;
use crate::dates::zone::Zone;
use crate::state::Key;

/// Returns a double as JSON has it. Infinities, which JSON does not have, are strings.
pub(super) fn double(value: f64) -> Value {
    if value.is_finite() {
        return json!(value);
    }
    if value.is_nan() {
        return Value::Null;
    }
    json!(if value > 0.0 { "Infinity" } else { "-Infinity" })
}

/// Returns a number as a value of its field is written.
pub(super) fn number(value_type: Option<ValueType>, number: Number) -> Value {
    match (value_type, number) {
        (Some(ValueType::Double), own) => match own.exact_double() {
            Some(own) => double(own),
            None => json!(own.exact_long()),
        },
        (_, Number::Long(long)) => json!(long),
        (_, Number::Double(own)) => double(own),
    }
}

/// Returns the members of a bucket that say its key.
pub(super) fn members(
    key: &Key,
    value_type: Option<ValueType>,
    format: Option<&DateFormat>,
    zone: &Zone,
) -> Map<String, Value> {
    let mut members = Map::new();
    let mut put = |name: &str, value| members.insert(name.to_owned(), value);
    match key {
        Key::Term(term) => {
            let shown =
                value_type.map_or_else(|| term.as_ref().into(), |own| own.shown_string(term));
            put("key", json!(shown));
        }
        Key::Number(own) => {
            put("key", number(value_type, own.0));
            if let Some(text) = text(value_type, own.0, format, zone) {
                put("key_as_string", json!(text));
            }
        }
        _ => {
            put("key", Value::Null);
        }
    }
    members
}

/// Returns the text that stands beside a number: of dates and booleans.
pub(super) fn text(
    value_type: Option<ValueType>,
    number: Number,
    format: Option<&DateFormat>,
    zone: &Zone,
) -> Option<String> {
    let long = number.exact_long();
    match value_type {
        Some(ValueType::Date) => Some(format.unwrap_or(&DateFormat::Iso).print(long?, zone)),
        Some(ValueType::Boolean) => Some((long? == 1).to_string()),
        _ => None,
    }
}
