//! Declared types of fields.

use gannet_values::{Number, ValueType, parse_date};

use crate::analysis::Schema;
use crate::base::{Error, Result};
use crate::columns::{Columns, KEYWORD_BYTES_MAX, VALUES_MAX};
use crate::documents::{Document, Value};

/// The declared type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Words. It has no column.
    Text,
    /// Values of a type, in a column. A field of keywords is also searched by whole strings.
    Column(ValueType),
}

/// The types of fields that are known beforehand. Others are found.
///
/// A document with a value that does not fit a declared type is rejected, unless the field is to
/// leave such values out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMapping {
    fields: Vec<DeclaredField>,
}

/// A field of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredField {
    pub(crate) name: String,
    pub(crate) field_type: FieldType,
    /// Set if values that do not fit are left out.
    pub(crate) lenient: bool,
}

impl FieldType {
    /// The type with a name: `text`, `keyword`, `long`, `double`, `boolean` or `date`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with all names.
    pub fn named(name: &str) -> Result<FieldType> {
        if name == "text" {
            return Ok(FieldType::Text);
        }
        let found = ValueType::from_name(name).map(FieldType::Column);
        found.ok_or_else(|| {
            Error::invalid(format!(
                "{name:?} is no type of a field: use text, keyword, long, double, boolean or date"
            ))
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            FieldType::Text => "text",
            FieldType::Column(value_type) => value_type.name(),
        }
    }
}

impl FieldMapping {
    /// No field is declared.
    pub fn new() -> FieldMapping {
        FieldMapping::default()
    }

    /// Declares the type of a field; the last one for a name counts.
    #[must_use]
    pub fn field(self, name: impl Into<String>, field_type: FieldType) -> FieldMapping {
        self.with(name.into(), field_type, false)
    }

    /// Declares the type of a field whose values are left out where they do not fit: the document
    /// is taken, and the column lacks them.
    #[must_use]
    pub fn lenient_field(self, name: impl Into<String>, field_type: FieldType) -> FieldMapping {
        self.with(name.into(), field_type, true)
    }

    fn with(mut self, name: String, field_type: FieldType, lenient: bool) -> FieldMapping {
        self.fields.retain(|field| field.name != name);
        self.fields.push(DeclaredField {
            name,
            field_type,
            lenient,
        });
        self
    }

    /// The same with what an index had declared before.
    pub(crate) fn and_known(self, schema: &Schema, columns: &Columns) -> FieldMapping {
        let mut all = FieldMapping::new();
        for column in columns.all().iter().filter(|column| column.declared) {
            let Some(field) = schema.field(column.field) else {
                continue;
            };
            let field_type = if column.closed {
                FieldType::Text
            } else {
                FieldType::Column(column.value_type)
            };
            all = all.with(field.name.clone(), field_type, column.lenient);
        }
        for declared in self.fields {
            all = all.with(declared.name, declared.field_type, declared.lenient);
        }
        all
    }

    /// Returns true if nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn fields(&self) -> &[DeclaredField] {
        &self.fields
    }

    pub(crate) fn of(&self, name: &str) -> Option<&DeclaredField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Rejects a document with a value that does not fit.
    pub(super) fn check(&self, document: &Document) -> Result<()> {
        for declared in self.fields.iter().filter(|declared| !declared.lenient) {
            let FieldType::Column(value_type) = declared.field_type else {
                continue;
            };
            let name = &declared.name;
            let values = document.fields.iter().filter(|(field, _)| field == name);
            let mut count = 0;
            for (_, value) in values {
                count += 1;
                if !fits(value_type, value) {
                    return Err(misfit(name, value_type, value));
                }
            }
            if count > VALUES_MAX {
                return Err(Error::invalid(format!(
                    "the field {name:?} has {count} values, and at most {VALUES_MAX} fit a column of type {}: \
                     declare it as text, or cut the list",
                    value_type.name()
                )));
            }
        }
        Ok(())
    }
}

fn misfit(name: &str, value_type: ValueType, value: &Value) -> Error {
    let (Value::Text(text) | Value::Exact(text)) = value;
    let mut shown: String = text.chars().take(80).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    let type_name = value_type.name();
    let wanted = match value_type {
        ValueType::Boolean => "true or false".to_owned(),
        ValueType::Date => "a date such as 2020-01-31 or 2020-01-31T10:15:00Z".to_owned(),
        ValueType::Double => "a number".to_owned(),
        ValueType::Long => "a whole number of 64 bits".to_owned(),
        ValueType::Keyword => format!("a string of at most {KEYWORD_BYTES_MAX} bytes"),
    };
    Error::invalid(format!(
        "the field {name:?} is declared as {type_name}, and {shown:?} does not fit: expected {wanted}"
    ))
}

/// Returns true if a value fits a declared type.
fn fits(value_type: ValueType, value: &Value) -> bool {
    let (Value::Text(text) | Value::Exact(text)) = value;
    let is_boolean = matches!(text.as_str(), "true" | "false");
    match value_type {
        ValueType::Boolean => is_boolean,
        ValueType::Double => Number::parse(text).is_some(),
        ValueType::Long => Number::parse(text).is_some_and(|n| n.exact_long().is_some()),
        ValueType::Keyword => text.len() <= KEYWORD_BYTES_MAX,
        ValueType::Date => match value {
            Value::Exact(_) => text.parse::<i64>().is_ok(),
            Value::Text(_) => parse_date(text).is_some(),
        },
    }
}
