//! The fields that documents are prepared with: those of the index, and those that documents under
//! way bring.
//!
//! A new field gets its number when a document that has it is prepared, since the keys of its terms
//! begin with the number. So fields of documents that are never written stand among the others for
//! a while. Invariants:
//!
//! 1. What readers see and what roots and log name are the fields up to the last that a written
//!    document has.
//! 2. Those behind them are given up when no prepared batch may have them any more, and their
//!    numbers are given again.

use std::sync::{Arc, RwLock, RwLockWriteGuard};

use rustc_hash::{FxHashMap, FxHashSet};

use super::mapping::{DeclaredField, FieldMapping, FieldType};
use crate::analysis::{Analyzer, Field, FieldId, FieldKind, Schema, SchemaOptions};
use crate::base::{Error, Result};
use crate::documents::{Document, Value};

/// The fields of an index and of the documents that are under way to it.
pub(crate) struct Fields {
    known: RwLock<KnownField>,
    options: SchemaOptions,
    /// Fields that are text whatever their first value is, with their analyzers.
    declared: RwLock<FxHashMap<String, Analyzer>>,
    /// The declared types of fields.
    mapping: RwLock<Arc<FieldMapping>>,
}

struct KnownField {
    all: Arc<Schema>,
    /// The same up to the last field of a written document.
    written: Arc<Schema>,
    users: Arc<()>,
}

/// Held by whoever may have numbers of fields that are not written.
#[derive(Clone, Default)]
pub(crate) struct FieldsInUse(#[expect(dead_code, reason = "it is counted")] Arc<()>);

impl Fields {
    pub(crate) fn new(schema: Arc<Schema>, options: SchemaOptions) -> Fields {
        let known = KnownField {
            written: Arc::clone(&schema),
            all: schema,
            users: Arc::default(),
        };
        Fields {
            known: RwLock::new(known),
            options,
            declared: RwLock::default(),
            mapping: RwLock::default(),
        }
    }

    /// Declares a field of text, which need not be there yet.
    pub(crate) fn declare_text(&self, name: &str, analyzer: Analyzer) -> Result<()> {
        // Whoever adds fields waits meanwhile.
        let known = self.write();
        if let Some(field) = known.all.named(name) {
            return check_declared(field, analyzer);
        }
        let mut declared = self.declared.write().unwrap_or_else(|e| e.into_inner());
        let other = declared.insert(name.to_owned(), analyzer);
        match other.filter(|other| *other != analyzer) {
            None => Ok(()),
            Some(other) => {
                declared.insert(name.to_owned(), other);
                Err(is_other(name, other, analyzer))
            }
        }
    }

    /// Declares types of fields.
    pub(crate) fn declare(&self, mapping: Arc<FieldMapping>) {
        *self.mapping.write().unwrap_or_else(|e| e.into_inner()) = mapping;
    }

    /// The declared types of fields.
    pub(crate) fn mapping(&self) -> Arc<FieldMapping> {
        Arc::clone(&self.mapping.read().unwrap_or_else(|e| e.into_inner()))
    }

    /// Fields of all documents that are written or under way.
    pub(crate) fn all(&self) -> Arc<Schema> {
        Arc::clone(&self.known.read().unwrap_or_else(|e| e.into_inner()).all)
    }

    /// Fields up to the last of a written document.
    pub(crate) fn written(&self) -> Arc<Schema> {
        Arc::clone(&self.known.read().unwrap_or_else(|e| e.into_inner()).written)
    }

    /// Takes the fields that a replayed record names.
    pub(crate) fn replace(&self, schema: Arc<Schema>) {
        let mut known = self.write();
        (known.all, known.written) = (Arc::clone(&schema), schema);
    }

    /// Notes that a batch that was prepared with these fields is written.
    pub(crate) fn note_written(&self, schema: &Arc<Schema>) {
        let mut known = self.write();
        if schema.fields().len() > known.written.fields().len() {
            known.written = Arc::clone(schema);
        }
    }

    /// Numbers of fields may be had as long as what is given lives. Gives up fields of documents
    /// that were not written, if nobody else may have their numbers.
    pub(crate) fn begin_use(&self) -> FieldsInUse {
        let mut known = self.write();
        let new = known.all.fields().len() > known.written.fields().len();
        if new && Arc::strong_count(&known.users) == 1 {
            known.all = Arc::clone(&known.written);
        }
        FieldsInUse(Arc::clone(&known.users))
    }

    /// The fields with those of a document. A document that brings too many is rejected, and none
    /// of its fields stays.
    pub(crate) fn with_those_of(&self, document: &Document) -> Result<Arc<Schema>> {
        let schema = Arc::clone(&self.known.read().unwrap_or_else(|e| e.into_inner()).all);
        let mapping = self.mapping();
        let nulls = document.nulls.iter().map(|(name, _)| name.as_str());
        let nulls: Vec<&str> = nulls.filter(|name| mapping.takes_null(name)).collect();
        let values = document.fields.iter().map(|(name, _)| name.as_str());
        let mut names = values.clone().chain(nulls.iter().copied());
        if names.all(|name| schema.named(name).is_some()) {
            return Ok(schema);
        }
        let mut known = self.write();
        let names = values.chain(nulls.iter().copied());
        let new: FxHashSet<&str> = names
            .filter(|name| known.all.named(name).is_none())
            .collect();
        let multi_fields = new.iter().map(|name| mapping.multi_fields(name).len());
        known
            .all
            .check_new_fields(new.len() + multi_fields.sum::<usize>())?;
        let mut grown = Schema::clone(&known.all);
        for (name, value) in &document.fields {
            self.ensure(&mut grown, name, kind_of(value), &mapping)?;
        }
        for name in nulls {
            let value = mapping.of(name).and_then(|field| field.null_value.as_ref());
            let is_exact = value.is_some_and(|null| null.is_exact);
            let kind = if is_exact {
                FieldKind::Exact
            } else {
                FieldKind::Text
            };
            self.ensure(&mut grown, name, kind, &mapping)?;
        }
        known.all = Arc::new(grown);
        Ok(Arc::clone(&known.all))
    }

    /// Adds a field with its multi-fields, unless it is there. Its first value has this kind.
    fn ensure(
        &self,
        schema: &mut Schema,
        name: &str,
        kind: FieldKind,
        mapping: &FieldMapping,
    ) -> Result<()> {
        if schema.named(name).is_some() {
            return Ok(());
        }
        let declared = self.declared.read().unwrap_or_else(|e| e.into_inner());
        let id = match (mapping.of(name), declared.get(name)) {
            (Some(field), _) => add_declared(schema, name, field, None, &self.options)?,
            (None, Some(analyzer)) => schema.ensure_text(name, *analyzer, &self.options)?,
            (None, None) => schema.ensure(name, kind, &self.options)?,
        };
        for name in mapping.multi_fields(name) {
            if let Some(field) = mapping.of(name) {
                add_declared(schema, name, field, Some(id), &self.options)?;
            }
        }
        Ok(())
    }

    fn write(&self) -> RwLockWriteGuard<'_, KnownField> {
        self.known.write().unwrap_or_else(|e| e.into_inner())
    }
}

/// The kind of a field of which this is the first value.
fn kind_of(value: &Value) -> FieldKind {
    match value {
        Value::Text(_) => FieldKind::Text,
        Value::Exact(_) => FieldKind::Exact,
    }
}

/// Adds a declared field; as a multi-field if it takes the values of `source`. Whole strings stand
/// for dates and keywords.
fn add_declared(
    schema: &mut Schema,
    name: &str,
    declared: &DeclaredField,
    source: Option<FieldId>,
    options: &SchemaOptions,
) -> Result<FieldId> {
    use gannet_values::ValueType::{Boolean, Date, Double, Ip, Keyword, Long};
    if schema.named(name).is_some() {
        return Err(Error::invalid(format!(
            "the multi-field {name:?} cannot be added, since documents have a field of this name: use another one"
        )));
    }
    let id = match (declared.field_type, declared.analyzer) {
        (FieldType::Text, Some(analyzer)) => schema.ensure_text(name, analyzer, options),
        (FieldType::Text, None) => schema.ensure(name, FieldKind::Text, options),
        (FieldType::Column(Boolean | Double | Long), _) => {
            schema.ensure(name, FieldKind::Exact, options)
        }
        (FieldType::Column(Ip), _) => schema.ensure_text(name, Analyzer::IP, options),
        (FieldType::Column(Date | Keyword), _) => {
            schema.ensure_text(name, Analyzer::KEYWORD, options)
        }
    }?;
    schema.set_rules(id, declared.rules(source));
    Ok(id)
}

/// Fails if a field that is there is not what is declared.
fn check_declared(field: &Field, analyzer: Analyzer) -> Result<()> {
    match field.kind {
        FieldKind::Text if field.analyzer == analyzer => Ok(()),
        FieldKind::Text => Err(is_other(&field.name, field.analyzer, analyzer)),
        FieldKind::Exact => Err(Error::invalid(format!(
            "the field {:?} is matched as a whole, since its first value was a number or a boolean, and cannot become text: \
             use another name, or index the documents again",
            field.name
        ))),
    }
}

fn is_other(name: &str, has: Analyzer, wanted: Analyzer) -> Error {
    Error::invalid(format!(
        "the field {name:?} has the analyzer {}, which cannot become {}: use another name, or index the documents again",
        has.name(),
        wanted.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(fields: std::ops::Range<u32>) -> Document {
        let fields: Vec<(String, String)> =
            fields.map(|n| (format!("f{n}"), "x".to_owned())).collect();
        Document::new(
            "id",
            fields
                .iter()
                .map(|(name, text)| (name.as_str(), text.as_str())),
        )
        .unwrap()
    }

    #[test]
    fn a_document_takes_half_of_what_is_left_at_most_and_none_when_it_is_rejected() {
        let fields = Fields::new(Arc::default(), SchemaOptions::default());
        let error = fields
            .with_those_of(&document(0..501))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("501 fields") && error.contains("add 500"),
            "{error}"
        );
        assert_eq!(
            fields
                .with_those_of(&document(0..500))
                .unwrap()
                .fields()
                .len(),
            500
        );
        assert!(fields.with_those_of(&document(400..751)).is_err());
        assert_eq!(
            fields
                .with_those_of(&document(400..750))
                .unwrap()
                .fields()
                .len(),
            750
        );
        // However many documents take what they can, the next brings one.
        let mut next = 750;
        while fields.with_those_of(&document(next..next + 1)).is_ok() {
            next += 1;
        }
        assert_eq!(next, 1_000);
        // Documents without new fields are taken; the others are told the limit and what to do.
        assert!(fields.with_those_of(&document(0..1_000)).is_ok());
        let error = fields.with_those_of(&document(998..1_001)).unwrap_err();
        let error = error.to_string();
        for part in [
            "1 fields",
            "has 1000",
            "leave these fields out",
            "one field",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_declared_field_is_text_whatever_its_first_value_is() {
        let fields = Fields::new(Arc::default(), SchemaOptions::default());
        let english = Analyzer::named("english").unwrap();
        fields.declare_text("zip", Analyzer::KEYWORD).unwrap();
        fields.declare_text("body", english).unwrap();
        let line = br#"{"zip": 12345, "body": 7, "year": 1999}"#;
        let document = Document::parse(line).unwrap();
        let schema = fields.with_those_of(&document).unwrap();
        let found = |name: &str| {
            let field = schema.named(name).unwrap();
            (field.kind, field.analyzer.name())
        };
        assert_eq!(found("zip"), (FieldKind::Text, "keyword"));
        assert_eq!(found("body"), (FieldKind::Text, "english"));
        assert_eq!(found("year"), (FieldKind::Exact, "keyword"));
        // What is there stays as it is; the same again is no change.
        fields.declare_text("body", english).unwrap();
        fields.declare_text("new", english).unwrap();
        fields.declare_text("new", english).unwrap();
        for (name, analyzer, part) in [
            ("body", Analyzer::KEYWORD, "has the analyzer english"),
            ("new", Analyzer::KEYWORD, "has the analyzer english"),
            ("year", english, "matched as a whole"),
        ] {
            let error = fields.declare_text(name, analyzer).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn fields_of_documents_that_are_not_written_are_given_up() {
        let fields = Fields::new(Arc::default(), SchemaOptions::default());
        let user = fields.begin_use();
        fields.with_those_of(&document(0..400)).unwrap();
        assert!(fields.written().fields().is_empty());
        // Another batch may have found them.
        let other = fields.begin_use();
        assert_eq!(
            fields
                .with_those_of(&document(0..1))
                .unwrap()
                .fields()
                .len(),
            400
        );
        drop((user, other));
        let _user = fields.begin_use();
        let schema = fields.with_those_of(&document(7..8)).unwrap();
        assert_eq!(schema.fields().len(), 1);
        fields.note_written(&schema);
        assert_eq!(fields.written().fields()[0].name, "f7");
    }
}
