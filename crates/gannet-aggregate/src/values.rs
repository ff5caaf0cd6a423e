//! Values of a field in one space of keys, though some of its pieces are long and others double.

use std::borrow::Cow;

use gannet_values::{Number, ValueType, key_of_boolean, key_of_double, key_of_long};

use crate::dates::fixed::date_of;
use crate::tree::Scalar;

/// The key of a value. Class 0 has the keys of the field's type. Class 1 has values that no key of
/// it is: longs of a double field that no double equals, fractions of a long field.
/// Class 2 is a missing value.
pub(crate) type ClassKey = (u32, u64);

/// The key of a missing value of a composite.
pub(crate) const MISSING: ClassKey = (2, 0);

/// The key that a keyword has which the caller has no number for. Numbers have 32 bits.
pub(crate) const NO_NUMBER: u64 = 1 << 32;

/// Returns the key of a value of a piece in the space of its field.
pub(crate) fn class_key(field: ValueType, piece: ValueType, key: u64) -> ClassKey {
    if field == piece {
        return (0, key);
    }
    match piece.number_of_key(key) {
        Some(number) => number_key(field, number),
        None => (0, key),
    }
}

/// Returns the key of a number in the space of a field.
pub(crate) fn number_key(field: ValueType, number: Number) -> ClassKey {
    let exact = match field {
        ValueType::Double => number.exact_double().and_then(key_of_double),
        _ => number.exact_long().map(key_of_long),
    };
    let other = || match (field, number) {
        (ValueType::Double, Number::Long(long)) => key_of_long(long),
        (_, number) => key_of_double(number.nearest_double()).unwrap_or_default(),
    };
    exact.map_or_else(|| (1, other()), |key| (0, key))
}

/// Returns the number of a key in the space of a field, none of keywords and of missing ones.
pub(crate) fn number_of(field: ValueType, (class, key): ClassKey) -> Option<Number> {
    let own = match (class, field) {
        (0, field) => field,
        (1, ValueType::Double) => ValueType::Long,
        (1, _) => ValueType::Double,
        _ => return None,
    };
    own.number_of_key(key)
}

/// Returns the number that a written value is of a field, none if it is none.
pub(crate) fn scalar_number(field: ValueType, scalar: &Scalar) -> Option<Number> {
    match (field, scalar) {
        (ValueType::Ip | ValueType::Keyword, _) => None,
        (ValueType::Boolean, Scalar::Text(text)) => {
            let boolean: bool = text.parse().ok()?;
            Some(Number::Long(i64::from(boolean)))
        }
        (ValueType::Date, Scalar::Text(text)) => date_of(text).map(Number::Long),
        (_, Scalar::Text(text)) => Number::parse(text),
        (_, Scalar::Number(number)) => Some(*number),
    }
}

/// Returns the key of a written value of a field of numbers, none if it is none.
pub(crate) fn scalar_key(field: ValueType, scalar: &Scalar) -> Option<ClassKey> {
    let number = scalar_number(field, scalar)?;
    match field {
        ValueType::Boolean => {
            let boolean = number.exact_long().filter(|long| matches!(long, 0 | 1))?;
            Some((0, key_of_boolean(boolean == 1)))
        }
        field => Some(number_key(field, number)),
    }
}

/// Returns the string of a column that a written value stands for, none if it stands for none.
pub(crate) fn scalar_string(field: ValueType, scalar: &Scalar) -> Option<String> {
    let text = scalar_text(scalar);
    field.string_of_text(&text).map(Cow::into_owned)
}

/// Returns a written value as text, as a keyword has it.
pub(crate) fn scalar_text(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Text(text) => text.clone(),
        Scalar::Number(number) => number.to_string(),
    }
}
