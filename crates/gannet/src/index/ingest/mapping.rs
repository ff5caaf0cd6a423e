//! Declared types of fields.
//!
//! A declaration counts from the first document on that has the field, and then for good: a root
//! keeps it with the column and, what concerns single values, with the field.

use std::collections::BTreeMap;
use std::sync::Arc;

use gannet_values::{Address, DateFormats, Number, ValueType, parse_date};

use crate::analysis::{
    Analyzer, FieldId, NullValue, Schema, ValueRules, has_more_characters, in_nfc,
};
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
    /// The names of the multi-fields of each field that has any.
    multi_fields: BTreeMap<String, Vec<String>>,
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
    /// The name of the field whose values it takes, if it is a multi-field.
    pub(crate) source: Option<String>,
    /// The most characters of a string that is taken.
    pub(crate) ignore_above: Option<u32>,
    /// The value that a null counts as.
    pub(crate) null_value: Option<NullValue>,
    /// The formats of its dates, if others than ISO 8601 and milliseconds.
    pub(crate) date_formats: Option<Arc<DateFormats>>,
    /// Set if its values stand in no column, though it is no text.
    pub(crate) without_column: bool,
    /// Set if its values are found by no terms.
    pub(crate) without_terms: bool,
}

impl FieldType {
    /// The type with a name: `text`, `keyword`, `long`, `double`, `boolean`, `date` or `ip`.
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
                "{name:?} is no type of a field: use text, keyword, long, double, boolean, date or ip"
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
        if let Some(source) = &declared.source {
            let names = self.multi_fields.entry(source.clone()).or_default();
            if !names.contains(&declared.name) {
                names.push(declared.name.clone());
            }
        }
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
                source: field
                    .rules
                    .source
                    .and_then(|source| schema.field(source))
                    .map(|source| in_nfc(&source.name).into_owned()),
                ignore_above: field.rules.ignore_above,
                null_value: field.rules.null_value.clone(),
                date_formats: field.rules.date_formats.clone(),
                without_column: column.closed && !column.beside_text,
                without_terms: field.rules.without_terms,
                ..DeclaredField::of(&field.name, field_type)
            });
        }
        all.and(self)
    }

    /// The same with further declarations; the last one for a name counts.
    #[must_use]
    pub(crate) fn and(self, more: FieldMapping) -> FieldMapping {
        more.fields.into_iter().fold(self, FieldMapping::with)
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

    /// The names of the multi-fields of a field.
    pub(crate) fn multi_fields(&self, name: &str) -> &[String] {
        if self.multi_fields.is_empty() {
            return &[];
        }
        let names = self.multi_fields.get(in_nfc(name).as_ref());
        names.map_or(&[], Vec::as_slice)
    }

    /// The declared fields that take the values which documents have under a name.
    pub(super) fn takers(&self, name: &str) -> impl Iterator<Item = &DeclaredField> {
        let multi_fields = self.multi_fields(name).iter();
        let multi_fields = multi_fields.filter_map(|name| self.of(name));
        self.of(name).into_iter().chain(multi_fields)
    }

    /// Returns true if a null of a field of this name counts as a value.
    pub(super) fn takes_null(&self, name: &str) -> bool {
        self.takers(name).any(|field| field.null_value.is_some())
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
            self.check_value(name, value)?;
        }
        for (name, _) in &document.nulls {
            if let Some(declared) = self.of(name).filter(|field| field.source.is_some()) {
                return Err(own_value(declared));
            }
        }
        if document.fields.len() > VALUES_MAX {
            self.check_counts(document)?;
        }
        Ok(())
    }

    fn check_value(&self, name: &str, value: &Value) -> Result<()> {
        let (Value::Text(text) | Value::Exact(text)) = value;
        for declared in self.takers(name) {
            if declared.source.is_some() && *declared.name == *in_nfc(name) {
                return Err(own_value(declared));
            }
            if let Some(value_type) = declared.strict_type()
                && !declared.leaves_out(text)
                && !declared.fits(value_type, value)
            {
                return Err(misfit(declared, value_type, value));
            }
        }
        Ok(())
    }

    /// Rejects a document with more values of a field than a column takes.
    #[cold]
    fn check_counts(&self, document: &Document) -> Result<()> {
        let mut counts = vec![0; self.fields.len()];
        for (name, _) in &document.fields {
            for declared in self.takers(name) {
                if let Ok(at) = self.place(&declared.name) {
                    counts[at] += 1;
                }
            }
        }
        for (declared, count) in self.fields.iter().zip(counts) {
            if let Some(value_type) = declared.strict_type()
                && !declared.without_column
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
            source: None,
            ignore_above: None,
            null_value: None,
            date_formats: None,
            without_column: false,
            without_terms: false,
        }
    }

    /// The type that its values must fit, if it has a column and rejects others.
    fn strict_type(&self) -> Option<ValueType> {
        match self.field_type {
            FieldType::Column(value_type) if !self.lenient => Some(value_type),
            FieldType::Column(_) | FieldType::Text => None,
        }
    }

    fn fits(&self, value_type: ValueType, value: &Value) -> bool {
        let (Value::Text(text) | Value::Exact(text)) = value;
        match &self.date_formats {
            Some(formats) => formats.read(text).is_some(),
            None => fits(value_type, value),
        }
    }

    /// Returns true if a string is longer than those that are taken.
    fn leaves_out(&self, text: &str) -> bool {
        self.ignore_above
            .is_some_and(|most| has_more_characters(text, most))
    }

    /// The rules for its values, where `source` is the number of the field whose values it takes.
    pub(crate) fn rules(&self, source: Option<FieldId>) -> ValueRules {
        ValueRules {
            source,
            ignore_above: self.ignore_above,
            null_value: self.null_value.clone(),
            date_formats: self.date_formats.clone(),
            without_terms: self.without_terms,
        }
    }

    /// Returns true if the value that a null counts as fits the type.
    pub(super) fn fits_null(&self, null: &NullValue) -> bool {
        match self.field_type {
            FieldType::Column(value_type) => self.fits(value_type, &Value::of_null(null)),
            FieldType::Text => false,
        }
    }
}

fn own_value(declared: &DeclaredField) -> Error {
    Error::invalid(format!(
        "the document has a field {:?}, which is declared as a multi-field and takes the values of {:?}: use another name",
        declared.name,
        declared.source.as_deref().unwrap_or_default()
    ))
}

fn misfit(declared: &DeclaredField, value_type: ValueType, value: &Value) -> Error {
    let name = &declared.name;
    let (Value::Text(text) | Value::Exact(text)) = value;
    let mut shown: String = text.chars().take(80).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    let type_name = value_type.name();
    let wanted = match value_type {
        ValueType::Boolean => "true or false".to_owned(),
        ValueType::Date => match &declared.date_formats {
            Some(formats) => format!("a date in the format {formats}"),
            None => "a date such as 2020-01-31 or 2020-01-31T10:15:00Z".to_owned(),
        },
        ValueType::Double => "a number".to_owned(),
        ValueType::Long => "a whole number of 64 bits".to_owned(),
        ValueType::Ip => "an address such as 10.0.0.1 or 2001:db8::1".to_owned(),
        ValueType::Keyword => format!(
            "a string of at most {KEYWORD_BYTES_MAX} bytes, unless \"ignore_above\" leaves longer ones out"
        ),
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
        ValueType::Ip => Address::parse(text).is_some(),
        ValueType::Keyword => text.len() <= KEYWORD_BYTES_MAX,
        ValueType::Date => match value {
            Value::Exact(_) => text.parse::<i64>().is_ok(),
            Value::Text(_) => parse_date(text).is_some(),
        },
    }
}
