//! The value of a field, and how numbers are spelled.

use crate::analysis::NullValue;

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text, to be analysed.
    Text(String),
    /// A number or a boolean, matched exactly as one term; a number as `exact_number` spells it.
    Exact(String),
}

impl Value {
    /// Returns the value that a null counts as.
    pub(crate) fn of_null(null: &NullValue) -> Value {
        let text = null.text.clone();
        if null.is_exact {
            Value::Exact(text)
        } else {
            Value::Text(text)
        }
    }

    /// Returns its text to index.
    pub(super) fn text(&self) -> &str {
        match self {
            Value::Text(text) | Value::Exact(text) => text,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Exact(value.to_string())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Exact(value.to_string())
    }
}

impl From<f64> for Value {
    /// An infinite or undefined number has no spelling in JSON;
    /// [`Document::new`](crate::Document::new) rejects it.
    fn from(value: f64) -> Value {
        Value::Exact(spell(value))
    }
}

/// The one spelling under which a JSON number is matched, so that `1`, `1.0` and `1e0` are the same
/// term; nothing if `text` is no JSON number.
///
/// Integers are spelled in digits, as are whole numbers below 2^64 that are written with a point or
/// an exponent; all others by the shortest decimal that reads as the same 64-bit float. A longer
/// integer that is such a decimal, as 10^30, is spelled like the float, so that different integers
/// are different terms.
pub fn exact_number(text: &str) -> Option<String> {
    let starts_well = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if !starts_well || !text.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number: serde_json::Number = serde_json::from_str(text).ok()?;
    match number.as_f64() {
        Some(value) if number.is_f64() && is_integer(text) => Some(spell_integer(text, value)),
        Some(value) if number.is_f64() => Some(spell(value)),
        _ => Some(number.to_string()),
    }
}

/// Returns true if a JSON number is written without a point and an exponent.
pub(super) fn is_integer(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}

/// Spells an integer of more than 64 bits, which reads as the float `value`.
pub(super) fn spell_integer(digits: &str, value: f64) -> String {
    // Displayed, a float is its shortest decimal without an exponent.
    if value.to_string() == digits {
        spell(value)
    } else {
        digits.to_owned()
    }
}

/// Spells a float as `exact_number` says. Terms are stored, so this must never change.
pub(super) fn spell(value: f64) -> String {
    if value == value.trunc() && value.abs() < u64::MAX as f64 {
        return (value as i128).to_string();
    }
    match value.abs() {
        1e-5..1e21 => value.to_string(),
        _ => format!("{value:e}"),
    }
}
