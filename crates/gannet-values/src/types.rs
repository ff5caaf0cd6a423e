//! The types of values, with the codes that stand on flash, and values themselves.

use std::borrow::Cow;
use std::fmt;

use crate::address::Address;
use crate::dates::format::format_date;
use crate::dates::parse::parse_date;
use crate::keys;
use crate::number::Number;

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueType {
    /// `true` or `false`.
    Boolean,
    /// UTC milliseconds since 1970.
    Date,
    /// A finite 64-bit float.
    Double,
    /// An internet address. It stands in its column as a keyword does, as the string of its digits.
    Ip,
    /// A string that is compared as a whole; its key is a number that the index gave it.
    Keyword,
    /// A signed whole number of 64 bits.
    Long,
}

impl ValueType {
    /// All types, in the order of their codes.
    pub const ALL: [ValueType; 6] = [
        ValueType::Boolean,
        ValueType::Date,
        ValueType::Double,
        ValueType::Keyword,
        ValueType::Long,
        ValueType::Ip,
    ];

    /// Returns the code that stands on flash. It never changes.
    pub fn code(self) -> u8 {
        match self {
            ValueType::Boolean => 1,
            ValueType::Date => 2,
            ValueType::Double => 3,
            ValueType::Keyword => 4,
            ValueType::Long => 5,
            ValueType::Ip => 6,
        }
    }

    /// Returns the type of a code, none if no type has it.
    pub fn from_code(code: u8) -> Option<ValueType> {
        ValueType::ALL.into_iter().find(|own| own.code() == code)
    }

    /// Returns the name that users write.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Boolean => "boolean",
            ValueType::Date => "date",
            ValueType::Double => "double",
            ValueType::Ip => "ip",
            ValueType::Keyword => "keyword",
            ValueType::Long => "long",
        }
    }

    /// Returns the type of a name, none if no type has it.
    pub fn from_name(name: &str) -> Option<ValueType> {
        ValueType::ALL.into_iter().find(|own| own.name() == name)
    }

    /// Returns true if its columns have strings, whose keys are numbers that the index gave them.
    pub fn has_strings(self) -> bool {
        matches!(self, ValueType::Ip | ValueType::Keyword)
    }

    /// Returns the value that a string of a column of this type stands for; none if it is none, or
    /// if the columns have no strings.
    pub fn value_of_string(self, string: Vec<u8>) -> Option<Value<'static>> {
        match self {
            ValueType::Ip => Address::of_column_string(&string).map(Value::Ip),
            ValueType::Keyword => String::from_utf8(string)
                .ok()
                .map(|text| Value::Keyword(text.into())),
            _ => None,
        }
    }

    /// Returns the string that a column of this type has for a text; none if the text is no value
    /// of it, or if the columns have no strings.
    pub fn string_of_text(self, text: &str) -> Option<Cow<'_, str>> {
        match self {
            ValueType::Ip => Address::parse(text).map(|own| own.to_column_string().into()),
            ValueType::Keyword => Some(text.into()),
            _ => None,
        }
    }

    /// Returns a string of a column of this type as it is shown.
    pub fn shown_string(self, string: &str) -> Cow<'_, str> {
        let address = Address::of_column_string(string.as_bytes());
        match address.filter(|_| self == ValueType::Ip) {
            Some(address) => address.to_string().into(),
            None => string.into(),
        }
    }

    /// Reads a value from its text form, none if the text is no value of this type. A long may be
    /// spelled as a fraction that is whole, such as `5.0`. A date is its first millisecond.
    pub fn parse(self, text: &str) -> Option<Value<'_>> {
        match self {
            ValueType::Boolean => text.parse().ok().map(Value::Boolean),
            ValueType::Date => parse_date(text).map(|range| Value::Date(range.first_ms)),
            ValueType::Double => Number::parse(text).map(|own| Value::Double(own.nearest_double())),
            ValueType::Ip => Address::parse(text).map(Value::Ip),
            ValueType::Keyword => Some(Value::Keyword(Cow::Borrowed(text))),
            ValueType::Long => Number::parse(text)?.exact_long().map(Value::Long),
        }
    }

    /// Returns the number that a key of this type stands for: 0 or 1 of a boolean, the milliseconds
    /// of a date, none of a string.
    pub fn number_of_key(self, key: u64) -> Option<Number> {
        match self {
            ValueType::Boolean => Some(Number::Long(i64::from(keys::boolean_of_key(key)))),
            ValueType::Date | ValueType::Long => Some(Number::Long(keys::long_of_key(key))),
            ValueType::Double => Some(Number::Double(keys::double_of_key(key))),
            ValueType::Ip | ValueType::Keyword => None,
        }
    }

    /// Returns the value that a key of this type stands for, none of a string.
    pub fn value_of_key(self, key: u64) -> Option<Value<'static>> {
        match self {
            ValueType::Boolean => Some(Value::Boolean(keys::boolean_of_key(key))),
            ValueType::Date => Some(Value::Date(keys::date_of_key(key))),
            ValueType::Double => Some(Value::Double(keys::double_of_key(key))),
            ValueType::Long => Some(Value::Long(keys::long_of_key(key))),
            ValueType::Ip | ValueType::Keyword => None,
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A value of a long column.
    Long(i64),
    /// A value of a double column; never NaN.
    Double(f64),
    /// A value of a boolean column.
    Boolean(bool),
    /// A value of a date column, in UTC milliseconds since 1970.
    Date(i64),
    /// A value of a column of addresses.
    Ip(Address),
    /// A value of a keyword column.
    Keyword(Cow<'a, str>),
}

impl Value<'_> {
    /// Returns the type of the columns that have such values.
    pub fn value_type(&self) -> ValueType {
        match self {
            Value::Long(_) => ValueType::Long,
            Value::Double(_) => ValueType::Double,
            Value::Boolean(_) => ValueType::Boolean,
            Value::Date(_) => ValueType::Date,
            Value::Ip(_) => ValueType::Ip,
            Value::Keyword(_) => ValueType::Keyword,
        }
    }

    /// Returns the same value with text of its own.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Long(value) => Value::Long(value),
            Value::Double(value) => Value::Double(value),
            Value::Boolean(value) => Value::Boolean(value),
            Value::Date(value) => Value::Date(value),
            Value::Ip(value) => Value::Ip(value),
            Value::Keyword(text) => Value::Keyword(text.into_owned().into()),
        }
    }

    /// Returns the key, none of a string, whose key the index knows, and of NaN.
    pub fn key(&self) -> Option<u64> {
        match self {
            Value::Long(value) => Some(keys::key_of_long(*value)),
            Value::Double(value) => keys::key_of_double(*value),
            Value::Boolean(value) => Some(keys::key_of_boolean(*value)),
            Value::Date(value) => Some(keys::key_of_date(*value)),
            Value::Ip(_) | Value::Keyword(_) => None,
        }
    }
}

/// The text form: numbers as in JSON, dates in ISO 8601, addresses in their
/// canonical form, keywords as they are.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Long(value) => write!(f, "{value}"),
            Value::Double(value) => write!(f, "{value:?}"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Date(value) => f.write_str(&format_date(*value)),
            Value::Ip(value) => value.fmt(f),
            Value::Keyword(value) => f.write_str(value),
        }
    }
}
