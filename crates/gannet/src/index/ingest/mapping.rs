//! Declared types of fields.
//!
//! A declaration counts from the first document on that has the field, and then for good: a root
//! keeps it with the column.

use gannet_values::{Number, ValueType, parse_date};

use crate::analysis::{Analyzer, Schema, in_nfc};
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
    /// In the order of their names.
    fields: Vec<DeclaredField>,
}

/// A field of a mapping, with all that was declared of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredField {
    /// The name in NFC.
    pub(crate) name: String,
    pub(crate) field_type: FieldType,
    /// Set if values that do not fit are left out.
    pub(crate) lenient: bool,
    /// The analyzer of a field of text, if that was declared too.
    pub(crate) analyzer: Option<Analyzer>,
    /// Set if the whole strings of a field of text stand in a column.
    pub(crate) keeps_strings: bool,
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
        self.with(DeclaredField::of(&name.into(), field_type))
    }

    /// Declares the type of a field whose values are left out where they do not fit: the document
    /// is taken, and the column lacks them.
    #[must_use]
    pub fn lenient_field(self, name: impl Into<String>, field_type: FieldType) -> FieldMapping {
        self.with(DeclaredField {
            lenient: true,
            ..DeclaredField::of(&name.into(), field_type)
        })
    }

    /// Declares a field of text with the analyzer of its words.
    #[must_use]
    pub fn text_field(self, name: impl Into<String>, analyzer: Analyzer) -> FieldMapping {
        self.with(DeclaredField {
            analyzer: Some(analyzer),
            ..DeclaredField::of(&name.into(), FieldType::Text)
        })
    }

    pub(super) fn with(mut self, declared: DeclaredField) -> FieldMapping {
        match self.place(&declared.name) {
            Ok(at) => self.fields[at] = declared,
            Err(at) => self.fields.insert(at, declared),
        }
        self
    }

    fn place(&self, name: &str) -> std::result::Result<usize, usize> {
        let of = |field: &DeclaredField| field.name.as_str().cmp(name);
        self.fields.binary_search_by(of)
    }

    /// The same with what an index had declared before.
    pub(crate) fn and_known(self, schema: &Schema, columns: &Columns) -> FieldMapping {
        let mut all = FieldMapping::new();
        for column in columns.all().iter().filter(|column| column.declared) {
            let Some(field) = schema.field(column.field) else {
                continue;
            };
            let field_type = if column.beside_text {
                FieldType::Text
            } else {
                FieldType::Column(column.value_type)
            };
            all = all.with(DeclaredField {
                lenient: column.lenient,
                keeps_strings: column.beside_text && !column.closed,
                ..DeclaredField::of(&field.name, field_type)
            });
        }
        self.fields.into_iter().fold(all, FieldMapping::with)
    }

    /// Returns true if nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn fields(&self) -> &[DeclaredField] {
        &self.fields
    }

    pub(crate) fn of(&self, name: &str) -> Option<&DeclaredField> {
        let at = self.place(&in_nfc(name)).ok()?;
        self.fields.get(at)
    }

    /// Returns the names of all fields that are declared, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Returns the declared type of a field.
    pub fn type_of(&self, name: &str) -> Option<FieldType> {
        self.of(name).map(|field| field.field_type)
    }

    /// Returns the declared analyzer of a field of text.
    pub fn analyzer_of(&self, name: &str) -> Option<Analyzer> {
        self.of(name).and_then(|field| field.analyzer)
    }

    /// Rejects a document with a value that does not fit.
    pub(super) fn check(&self, document: &Document) -> Result<()> {
        if self.fields.is_empty() {
            return Ok(());
        }
        for (name, value) in &document.fields {
            if let Some((declared, value_type)) = self.strict(name)
                && !fits(value_type, value)
            {
                return Err(misfit(&declared.name, value_type, value));
            }
        }
        if document.fields.len() > VALUES_MAX {
            self.check_counts(document)?;
        }
        Ok(())
    }

    /// Rejects a document with more values of a field than a column takes.
    #[cold]
    fn check_counts(&self, document: &Document) -> Result<()> {
        let mut counts = vec![0; self.fields.len()];
        for (name, _) in &document.fields {
            let Ok(at) = self.place(&in_nfc(name)) else {
                continue;
            };
            counts[at] += 1;
        }
        for (declared, count) in self.fields.iter().zip(counts) {
            if let Some((_, value_type)) = self.strict(&declared.name)
                && count > VALUES_MAX
            {
                return Err(Error::invalid(format!(
                    "the field {:?} has {count} values, and at most {VALUES_MAX} fit a column of type {}: \
                     declare it as text, or cut the list",
                    declared.name,
                    value_type.name()
                )));
            }
        }
        Ok(())
    }

    /// The field of this name, if it has a column whose values must fit.
    fn strict(&self, name: &str) -> Option<(&DeclaredField, ValueType)> {
        let declared = self.of(name).filter(|declared| !declared.lenient)?;
        match declared.field_type {
            FieldType::Column(value_type) => Some((declared, value_type)),
            FieldType::Text => None,
        }
    }
}

impl DeclaredField {
    /// A field of which its type is declared, and nothing else.
    pub(super) fn of(name: &str, field_type: FieldType) -> DeclaredField {
        DeclaredField {
            name: in_nfc(name).into_owned(),
            field_type,
            lenient: false,
            analyzer: None,
            keeps_strings: false,
        }
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
