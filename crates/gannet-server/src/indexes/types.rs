//! The types of fields.
//!
//! A type is taken only if what the engine does with its values is right. Everything else is
//! rejected by name.

use gannet::Value;
use gannet::values::Address;

use crate::fault::Fault;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Text, searched by its words.
    Text,
    /// A string that is matched as a whole.
    Keyword,
    /// A whole number between two bounds, matched exactly.
    Whole(&'static str, i64, i64),
    /// A number, matched exactly.
    Fraction(&'static str),
    /// True or false.
    Boolean,
    /// A date, in the formats of its field.
    Date,
    /// An internet address.
    Ip,
}

/// A whole number as documents bring it.
pub const LONG: FieldType = FieldType::Whole("long", i64::MIN, i64::MAX);

/// A fraction as documents bring it.
pub const DOUBLE: FieldType = FieldType::Fraction("float");

/// The types that there are.
const TYPES: [FieldType; 12] = [
    FieldType::Text,
    FieldType::Keyword,
    LONG,
    FieldType::Whole("integer", i32::MIN as i64, i32::MAX as i64),
    FieldType::Whole("short", i16::MIN as i64, i16::MAX as i64),
    FieldType::Whole("byte", i8::MIN as i64, i8::MAX as i64),
    DOUBLE,
    FieldType::Fraction("double"),
    FieldType::Fraction("half_float"),
    FieldType::Boolean,
    FieldType::Date,
    FieldType::Ip,
];

/// Types of Elasticsearch that are not there.
const TYPES_NOT_THERE: [&str; 35] = [
    "alias",
    "binary",
    "completion",
    "constant_keyword",
    "counted_keyword",
    "date_nanos",
    "date_range",
    "dense_vector",
    "double_range",
    "flattened",
    "float_range",
    "geo_point",
    "geo_shape",
    "histogram",
    "integer_range",
    "ip_range",
    "join",
    "long_range",
    "match_only_text",
    "murmur3",
    "nested",
    "passthrough",
    "percolator",
    "point",
    "rank_feature",
    "rank_features",
    "rank_vectors",
    "scaled_float",
    "search_as_you_type",
    "semantic_text",
    "shape",
    "sparse_vector",
    "unsigned_long",
    "version",
    "wildcard",
];

/// Parameters of fields that are not there.
pub const PARAMETERS_NOT_THERE: [&str; 14] = [
    "boost",
    "coerce",
    "copy_to",
    "dynamic",
    "eager_global_ordinals",
    "enabled",
    "fielddata",
    "index_options",
    "index_phrases",
    "index_prefixes",
    "normalizer",
    "norms",
    "store",
    "term_vector",
];

/// The names of the types that there are.
pub fn type_names() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|kind| kind.name())
}

impl FieldType {
    /// The name that Elasticsearch gives it.
    pub fn name(self) -> &'static str {
        match self {
            FieldType::Text => "text",
            FieldType::Keyword => "keyword",
            FieldType::Whole(name, ..) | FieldType::Fraction(name) => name,
            FieldType::Boolean => "boolean",
            FieldType::Date => "date",
            FieldType::Ip => "ip",
        }
    }

    /// The type that the engine gives its values.
    pub fn column_type(self) -> &'static str {
        match self {
            FieldType::Text => "text",
            FieldType::Keyword => "keyword",
            FieldType::Whole(..) => "long",
            FieldType::Fraction(_) => "double",
            FieldType::Boolean => "boolean",
            FieldType::Date => "date",
            FieldType::Ip => "ip",
        }
    }

    /// Returns the type of a name.
    pub fn named(name: &str) -> Option<FieldType> {
        TYPES.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns true if a field of this type, which is no date, takes a value, so that what matches
    /// it is what should.
    pub fn takes(self, value: &Value) -> bool {
        match (self, value) {
            (FieldType::Text | FieldType::Keyword, _) => true,
            (FieldType::Ip, Value::Text(text)) => Address::parse(text).is_some(),
            (FieldType::Date | FieldType::Ip, _) | (_, Value::Text(_)) => false,
            (FieldType::Boolean, Value::Exact(text)) => is_boolean(text),
            (FieldType::Fraction(_), Value::Exact(text)) => !is_boolean(text),
            (FieldType::Whole(_, least, most), Value::Exact(text)) => text
                .parse::<i64>()
                .is_ok_and(|number| (least..=most).contains(&number)),
        }
    }

    /// Returns true if its values are strings.
    pub fn is_string(self) -> bool {
        matches!(self, FieldType::Text | FieldType::Keyword)
    }
}

/// Returns true if a value as it is spelled is a boolean.
pub fn is_boolean(text: &str) -> bool {
    matches!(text, "true" | "false")
}

/// The error for a type that is not there.
pub fn unknown_type(written: &str, field: &str) -> Fault {
    if TYPES_NOT_THERE.contains(&written) {
        return as_mapping(Fault::not_there(&format!(
            "the type [{written}] of field [{field}]"
        )));
    }
    Fault::mapping(format!(
        "No handler for type [{written}] declared on field [{field}]"
    ))
}

/// The same error about a mapping.
pub fn as_mapping(fault: Fault) -> Fault {
    Fault::mapping(fault.reason)
}
