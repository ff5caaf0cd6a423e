//! Decides on columns: which a field gets, when one of whole numbers becomes one of fractions, and
//! which are given up.
//!
//! The writer decides before it logs a batch, for the batch and what follows. So all that depends
//! on the order of documents happens once, and the log tells the rest.

use std::hash::Hasher;
use std::sync::Arc;

use gannet_values::ValueType;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::analysis::{Analyzer, Field, FieldId, FieldKind, Schema};
use crate::base::{Error, Result};
use crate::columns::{Column, ColumnId, Columns, FoundValue, FoundValues};
use crate::index::ingest::{DeclaredField, FieldMapping, FieldType};

/// Strings of a field after which its keyword column is given up if more than half differ.
const KEYWORDS_LOOKED_AT: u32 = 10_000;

/// Values of a field after which its date column is given up if more than half are none.
const DATES_LOOKED_AT: u32 = 1_000;

/// Bits of which each different string sets one. With 16,384 bits 5,000 strings set about 4,309,
/// which is told from 4,900 or 5,100 strings; 2 KiB a column are kept while it is looked at.
const BITS: usize = 1 << 14;
const HALF_DIFFER: u32 = 4_309;

/// Looks at the first values of columns.
#[derive(Default)]
pub(crate) struct ColumnDecisions {
    mapping: FieldMapping,
    looks: FxHashMap<ColumnId, FirstValues>,
    /// Fields without a column of which documents have values that fit none.
    passed_over: FxHashSet<FieldId>,
    /// Fields below this were there before: so may be such values.
    known_fields: usize,
}

/// The first values of a column, as far as they decide.
#[derive(Default)]
struct FirstValues {
    values: u32,
    /// Values that are no dates, or strings that are too long.
    others: u32,
    /// Bits of the hashes of strings.
    bits: Vec<u64>,
    set: u32,
}

impl FirstValues {
    /// Counts a string. Only the first are looked at.
    fn string(&mut self, text: &[u8]) {
        if self.values >= KEYWORDS_LOOKED_AT {
            return;
        }
        self.values += 1;
        self.bits.resize(BITS / 64, 0);
        let mut hasher = FxHasher::default();
        hasher.write(text);
        let bit = (hasher.finish() >> 32) as usize % BITS;
        let word = &mut self.bits[bit / 64];
        self.set += u32::from(*word >> (bit % 64) & 1 == 0);
        *word |= 1 << (bit % 64);
    }

    /// Returns true if the column is kept; nothing while that is open.
    fn verdict(&self, value_type: ValueType) -> Option<bool> {
        match value_type {
            ValueType::Keyword if self.values >= KEYWORDS_LOOKED_AT => {
                Some(self.set + self.others <= HALF_DIFFER)
            }
            ValueType::Date if self.values >= DATES_LOOKED_AT => {
                Some(self.others <= self.values / 2)
            }
            _ => None,
        }
    }
}

impl ColumnDecisions {
    /// Will decide for an index that has these columns, where types were declared. Fails if a field
    /// is there already in another way.
    pub(crate) fn new(mapping: &FieldMapping, schema: &Schema, columns: &Columns) -> Result<Self> {
        let mut decisions = ColumnDecisions {
            known_fields: schema.fields().len(),
            ..ColumnDecisions::default()
        };
        decisions.declare(mapping, schema, columns)?;
        Ok(decisions)
    }

    /// Takes other declarations, for fields that come from now on. Fails if a field is there
    /// already in another way.
    pub(crate) fn declare(
        &mut self,
        mapping: &FieldMapping,
        schema: &Schema,
        columns: &Columns,
    ) -> Result<()> {
        for declared in mapping.fields() {
            match schema.named(&declared.name) {
                Some(field) => {
                    check_rules(declared, field, schema)?;
                    check_declared(declared, field, columns)?;
                }
                None => check_source(declared, schema)?,
            }
        }
        self.mapping = mapping.clone();
        Ok(())
    }

    /// Decides for the documents of a batch. Changes `columns` only if anything new was decided.
    pub(crate) fn decide(
        &mut self,
        values: &FoundValues,
        schema: &Schema,
        columns: &mut Arc<Columns>,
    ) {
        for (_, id, value) in values.all() {
            let known = columns.of_field(*id);
            let is_known = !known.is_empty() && !self.has_open_look(columns, known);
            if is_known && !needs_doubles(columns, known, value) {
                continue;
            }
            let Some(field) = schema.field(*id) else {
                continue;
            };
            self.add_columns(field, value, columns);
            self.widen(field, value, columns);
            self.look(field, value, values, columns);
        }
        self.judge(columns);
        self.pass_over(values, columns);
    }

    /// Notes the fields that have values and still no column.
    fn pass_over(&mut self, values: &FoundValues, columns: &Columns) {
        for (_, id, value) in values.all() {
            let fits_none = matches!(value, FoundValue::Misfits(_) | FoundValue::LongText);
            if fits_none && columns.of_field(*id).is_empty() {
                self.passed_over.insert(*id);
            }
        }
    }

    /// Returns true if a new column of a field may lack values of earlier documents.
    fn lacks_some(&self, field: &Field) -> bool {
        let was_there = (field.id as usize) < self.known_fields;
        was_there || self.passed_over.contains(&field.id)
    }

    /// Returns true if a field of text may get another column, or one of its columns is looked at.
    fn has_open_look(&self, columns: &Columns, known: &[ColumnId]) -> bool {
        let mut of_field = known.iter().filter_map(|id| columns.get(*id));
        let is_open = |column: &Column| {
            let is_looked_at = matches!(column.value_type, ValueType::Keyword | ValueType::Date);
            !column.closed && !column.settled && is_looked_at
        };
        of_field.any(is_open)
    }

    fn add_columns(&self, field: &Field, value: &FoundValue, columns: &mut Arc<Columns>) {
        let known = columns.of_field(field.id);
        if known.is_empty()
            && let Some(declared) = self.mapping.of(&field.name)
        {
            Arc::make_mut(columns).add(declared_column(field, declared));
            return;
        }
        let mut new = Vec::new();
        match (field.kind, value) {
            (FieldKind::Exact, _) if !known.is_empty() => {}
            (FieldKind::Exact, value) => {
                let value_type = match value {
                    FoundValue::Whole(_) => ValueType::Long,
                    FoundValue::Beyond(_) | FoundValue::Fraction(_) => ValueType::Double,
                    FoundValue::Boolean(_) => ValueType::Boolean,
                    _ => return,
                };
                new.push(Column {
                    settled: true,
                    ..Column::found(field.id, value_type)
                });
            }
            (FieldKind::Text, FoundValue::Text { .. } | FoundValue::Spelled { .. }) => {
                if !known.is_empty() {
                    return;
                }
                let is_date = matches!(value, FoundValue::Text { date: Some(_), .. });
                let is_whole = field.analyzer == Analyzer::KEYWORD;
                new.push(Column {
                    settled: is_whole,
                    beside_text: !is_whole,
                    ..Column::found(field.id, ValueType::Keyword)
                });
                if is_date && !is_whole {
                    new.push(Column::found(field.id, ValueType::Date));
                }
            }
            (FieldKind::Text, _) => {}
        }
        if !new.is_empty() {
            let lacks_some = self.lacks_some(field);
            let columns = Arc::make_mut(columns);
            for column in new {
                columns.add(Column {
                    misfits: (lacks_some && !column.beside_text).into(),
                    ..column
                });
            }
        }
    }

    /// Has a column of whole numbers take fractions.
    fn widen(&self, field: &Field, value: &FoundValue, columns: &mut Arc<Columns>) {
        let known = columns.of_field(field.id);
        if needs_doubles(columns, known, value)
            && let Some(id) = known.first().copied()
        {
            let columns = Arc::make_mut(columns);
            columns.change(id, |column| column.value_type = ValueType::Double);
        }
    }

    /// Counts a value for the columns of its field that are looked at.
    fn look(&mut self, field: &Field, value: &FoundValue, values: &FoundValues, columns: &Columns) {
        for id in columns.of_field(field.id) {
            let Some(column) = columns.get(*id) else {
                continue;
            };
            if column.closed || column.settled {
                continue;
            }
            let look = self.looks.entry(*id).or_default();
            match (column.value_type, value) {
                (ValueType::Date, FoundValue::Text { date: Some(_), .. }) => look.values += 1,
                (
                    ValueType::Keyword,
                    FoundValue::Text { at, length, .. } | FoundValue::Spelled { at, length },
                ) => {
                    look.string(values.text(*at, *length));
                }
                _ => {
                    look.values += 1;
                    look.others += 1;
                }
            }
        }
    }

    /// Keeps or gives up columns that were looked at long enough.
    fn judge(&mut self, columns: &mut Arc<Columns>) {
        let mut judged = Vec::new();
        for (id, look) in &self.looks {
            let value_type = columns.get(*id).map(|column| column.value_type);
            if let Some(is_kept) = value_type.and_then(|value_type| look.verdict(value_type)) {
                judged.push((*id, is_kept));
            }
        }
        judged.sort_unstable();
        for (id, is_kept) in judged {
            self.looks.remove(&id);
            Arc::make_mut(columns).change(id, |column| {
                column.settled = is_kept;
                column.closed = !is_kept;
            });
        }
    }
}

/// Returns true if a value is a fraction and its field one of whole numbers.
fn needs_doubles(columns: &Columns, known: &[ColumnId], value: &FoundValue) -> bool {
    let is_found_long = |id: &ColumnId| {
        let column = columns.get(*id);
        column.is_some_and(|column| column.value_type == ValueType::Long && !column.declared)
    };
    matches!(value, FoundValue::Fraction(_)) && known.first().is_some_and(is_found_long)
}

fn declared_column(field: &Field, declared: &DeclaredField) -> Column {
    let (value_type, is_text) = match declared.field_type {
        FieldType::Text => (ValueType::Keyword, true),
        FieldType::Column(value_type) => (value_type, false),
    };
    Column {
        declared: true,
        lenient: declared.lenient,
        closed: declared.without_column || is_text && !declared.keeps_strings,
        beside_text: is_text,
        settled: true,
        ..Column::found(field.id, value_type)
    }
}

/// Fails if documents have the field whose values a new multi-field would take.
fn check_source(declared: &DeclaredField, schema: &Schema) -> Result<()> {
    let source = declared.source.as_deref();
    let Some(source) = source.filter(|source| schema.named(source).is_some()) else {
        return Ok(());
    };
    Err(Error::invalid(format!(
        "the field {source:?} is in this index without the multi-field {:?}, which documents that are there would lack:          index the documents again",
        declared.name
    )))
}

/// Fails if a field that is there takes values by other rules than those that are declared.
fn check_rules(declared: &DeclaredField, field: &Field, schema: &Schema) -> Result<()> {
    let source = declared.source.as_deref();
    let source = source.and_then(|name| schema.named(name));
    let rules = declared.rules(source.map(|field| field.id));
    let what =
        if field.rules.source != rules.source || declared.source.is_some() && source.is_none() {
            "the field whose values it takes"
        } else if field.rules.ignore_above != rules.ignore_above {
            "\"ignore_above\""
        } else if field.rules.null_value != rules.null_value {
            "\"null_value\""
        } else if field.rules.date_formats != rules.date_formats {
            "\"format\""
        } else if field.rules.without_terms != rules.without_terms {
            "\"terms\""
        } else {
            return Ok(());
        };
    Err(Error::invalid(format!(
        "the field {:?} is in this index already, and {what} cannot change: declare it as it was, use another name, or \
         index the documents again",
        declared.name
    )))
}

/// Fails if a field that is there has not all values in a column of the declared type.
fn check_declared(declared: &DeclaredField, field: &Field, columns: &Columns) -> Result<()> {
    let known = columns.of_field(field.id).iter();
    let known: Vec<&Column> = known.filter_map(|id| columns.get(*id)).collect();
    if declared.field_type == FieldType::Text
        && field.kind == FieldKind::Text
        && let Some(wanted) = declared.analyzer
        && wanted != field.analyzer
    {
        return Err(Error::invalid(format!(
            "the field {:?} has the analyzer {}, which cannot become {}: use another name, or index the documents again",
            declared.name,
            field.analyzer.name(),
            wanted.name()
        )));
    }
    let is_there = match declared.field_type {
        FieldType::Text => {
            let has_words = field.kind == FieldKind::Text;
            let has_strings = known.iter().any(|column| !column.closed);
            has_words
                && known.iter().all(|column| column.beside_text)
                && (has_strings || !declared.keeps_strings)
        }
        FieldType::Column(value_type) => known.iter().any(|column| {
            let is_of_type = column.value_type == value_type && column.declared;
            is_of_type && !column.beside_text && column.closed == declared.without_column
        }),
    };
    if is_there {
        return Ok(());
    }
    let has = match known.first() {
        Some(column) if column.declared && column.beside_text => "declared as text".to_owned(),
        Some(column) if column.declared && column.closed => {
            format!("declared as {} without a column", column.value_type.name())
        }
        Some(column) if column.declared => format!("declared as {}", column.value_type.name()),
        Some(column) => format!("found to be {}", column.value_type.name()),
        None => "there without a column".to_owned(),
    };
    Err(Error::invalid(format!(
        "the field {:?} was {has} in this index, and cannot become {}: use another name, or index the documents again",
        declared.name,
        declared.field_type.name()
    )))
}
