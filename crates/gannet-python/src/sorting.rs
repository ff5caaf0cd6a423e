//! The order of hits by values: its keys as they are given, and the values of hits.

use gannet::values::Value;
use gannet::{SortKey, SortValue};
use pyo3::prelude::*;

use crate::errors::Raise;

/// One key, or several.
#[derive(FromPyObject)]
pub enum Keys {
    /// One.
    One(String),
    /// Several, the first one first.
    Several(Vec<String>),
}

/// A value of a hit by a key of its order. Dates are text in ISO 8601.
#[derive(Clone, Debug, FromPyObject, IntoPyObject)]
pub enum KeyValue {
    /// A boolean; before numbers, since one is a number in Python.
    Boolean(bool),
    /// A whole number.
    Whole(i64),
    /// A fraction, or a score.
    Fraction(f64),
    /// A string, or a date.
    Text(String),
}

/// The keys of an order.
pub fn keys(given: Option<Keys>) -> PyResult<Vec<SortKey>> {
    let names = match given {
        None => Vec::new(),
        Some(Keys::One(name)) => vec![name],
        Some(Keys::Several(names)) => names,
    };
    let keys = names.iter().map(|name| SortKey::parse(name));
    keys.collect::<gannet::Result<_>>().or_raise()
}

/// The values behind which hits begin.
pub fn after(given: Option<Vec<Option<KeyValue>>>) -> Option<Vec<SortValue>> {
    let value = |value: KeyValue| match value {
        KeyValue::Boolean(value) => Value::Boolean(value),
        KeyValue::Whole(value) => Value::Long(value),
        KeyValue::Fraction(value) => Value::Double(value),
        KeyValue::Text(text) => Value::Keyword(text.into()),
    };
    let values = given?.into_iter().map(|one| one.map(value));
    Some(values.collect())
}

/// The values of a hit for Python.
pub fn shown(values: &[SortValue]) -> Vec<Option<KeyValue>> {
    values.iter().map(shown_value).collect()
}

/// A value for Python.
pub fn shown_value(value: &SortValue) -> Option<KeyValue> {
    value.as_ref().map(|value| match value {
        Value::Boolean(value) => KeyValue::Boolean(*value),
        Value::Long(value) => KeyValue::Whole(*value),
        Value::Double(value) => KeyValue::Fraction(*value),
        other => KeyValue::Text(other.to_string()),
    })
}
