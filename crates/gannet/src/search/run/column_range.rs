//! The documents that have a value of a field in a range: the values of its column decide, not the
//! bytes of its terms.
//!
//! An end is read as the type of the column says. Of a date, an end stands for all that it begins:
//! `[2020 TO 2021]` goes to the last millisecond of 2021. It may be relative to now, as `now-7d/d`.

use std::ops::Bound;

use gannet_values::{Number, NumberRange, Rounding, ValueType, date_arithmetic};

use crate::analysis::FieldId;
use crate::base::{Budget, DocId, Error, Result};
use crate::cache::{Pages, Step};
use crate::columns::{ColumnReader, DocBlocks, Selection};
use crate::search::matching::doc_set::DocSet;
use crate::search::query::fields::shown;
use crate::search::query::ranges::Ends;
use crate::search::values::now_ms;
use crate::search::view::SearchView;

/// Documents being collected.
pub struct ColumnRange {
    blocks: DocBlocks,
    set: DocSet,
}

/// The column that answers ranges of a field: of numbers, dates or booleans.
pub fn column_of_ranges(field: FieldId, view: &SearchView) -> Option<ColumnReader> {
    let columns = view.columns.columns();
    let mut all = columns.of_field(field).iter();
    let has_order = |id: &&u16| {
        let column = columns.get(**id);
        column.is_some_and(|column| !column.closed && column.value_type != ValueType::Keyword)
    };
    view.columns.reader(*all.find(has_order)?)
}

impl ColumnRange {
    /// Will find the documents with a value between `ends`, as they were written.
    pub fn new(
        column: &ColumnReader,
        ends: &Ends,
        view: &SearchView,
        budget: &Budget,
    ) -> Result<ColumnRange> {
        let range = number_range(column, ends, view)?;
        let docs = 0..DocId::MAX;
        Ok(ColumnRange {
            blocks: column.documents(Selection::Ranges(vec![range]), docs),
            set: DocSet::new(budget)?,
        })
    }

    /// Works until all are found.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while let Some(block) = self.blocks.advance(pages)? {
            block.docs().try_for_each(|doc| self.set.insert(doc))?;
        }
        Ok(())
    }

    /// The documents, once all were found.
    pub fn finish(self) -> DocSet {
        self.set
    }
}

/// Reads the ends of a range as values of a column.
fn number_range(column: &ColumnReader, ends: &Ends, view: &SearchView) -> Result<NumberRange> {
    let decided = column.column();
    let field = view.schema.field(decided.field);
    let end = EndReader {
        field: field.map_or("", |field| &field.name),
        value_type: decided.value_type,
        now: now_ms(),
    };
    let range = NumberRange {
        lower: match &ends.0 {
            Bound::Unbounded => Bound::Unbounded,
            Bound::Included(text) => Bound::Included(end.read(text, Rounding::Down)?),
            Bound::Excluded(text) => Bound::Excluded(end.read(text, Rounding::Up)?),
        },
        upper: match &ends.1 {
            Bound::Unbounded => Bound::Unbounded,
            Bound::Included(text) => Bound::Included(end.read(text, Rounding::Up)?),
            Bound::Excluded(text) => Bound::Excluded(end.read(text, Rounding::Down)?),
        },
    };
    if is_empty(&range) {
        return Err(Error::invalid(format!(
            "the range of field {} has no values: write the lower end first, and [ ] for ends that are in it",
            shown(end.field)
        )));
    }
    Ok(range)
}

/// Returns true if the lower end is above the upper one.
fn is_empty(range: &NumberRange) -> bool {
    match (range.lower, range.upper) {
        (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
        (
            Bound::Included(lower) | Bound::Excluded(lower),
            Bound::Included(upper) | Bound::Excluded(upper),
        ) => lower >= upper,
        _ => false,
    }
}

/// Reads the end of a range.
struct EndReader<'f> {
    field: &'f str,
    value_type: ValueType,
    now: i64,
}

impl EndReader<'_> {
    fn read(&self, text: &[u8], rounding: Rounding) -> Result<Number> {
        let text = String::from_utf8_lossy(text);
        let read = match self.value_type {
            ValueType::Date => {
                let date = date_arithmetic(&text, self.now, rounding);
                return date.map(Number::Long).map_err(|error| {
                    Error::invalid(format!("the range of field {}: {error}", shown(self.field)))
                });
            }
            ValueType::Boolean => text
                .parse()
                .ok()
                .map(|value: bool| Number::Long(value.into())),
            ValueType::Long | ValueType::Double => Number::parse(&text),
            ValueType::Keyword => None,
        };
        read.ok_or_else(|| {
            let (what, example) = match self.value_type {
                ValueType::Boolean => ("true and false", "[false TO true]"),
                _ => ("numbers", "[5 TO 15.5]"),
            };
            Error::invalid(format!(
                "the values of field {} are {what}, and {} is none: write the range as {}:{example}",
                shown(self.field),
                shown(&text),
                self.field
            ))
        })
    }
}
