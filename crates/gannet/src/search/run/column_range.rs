//! The documents that have a value of a field in a range, or one of some values: the values of its
//! column decide, not the bytes of its terms.
//!
//! An end is read as the type of the column says. Of a date, an end stands for all that it begins:
//! `[2020 TO 2021]` goes to the last millisecond of 2021. It may be relative to now, as `now-7d/d`.
//! Strings are compared as a whole.

use std::ops::Bound;

use gannet_values::{Number, NumberRange, Rounding, ValueType, date_arithmetic};

use crate::analysis::{Field, FieldId, FieldKind, other_forms};
use crate::base::{Budget, DocId, Error, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::columns::{ColumnReader, DocBlocks, Selection, TEXT_BYTES_MAX, TermKeys};
use crate::search::matching::doc_set::DocSet;
use crate::search::query::fields::shown;
use crate::search::query::ranges::Ends;
use crate::search::values::now_ms;
use crate::search::view::SearchView;

/// Strings whose numbers are looked up at once.
const STRINGS_AT_ONCE: usize = 64;

/// Documents being collected.
pub struct ColumnRange {
    column: ColumnReader,
    strings: Option<WantedStrings>,
    /// Nothing before all strings were looked up.
    blocks: Option<DocBlocks>,
    set: DocSet,
}

/// Strings of which the numbers are looked up.
struct WantedStrings {
    /// Those that are left.
    left: Vec<Vec<u8>>,
    found: TermKeys,
    memory: Reservation,
}

/// The column that answers ranges of a field: of numbers, dates or booleans.
pub fn column_of_ranges(field: FieldId, view: &SearchView) -> Option<ColumnReader> {
    let columns = view.columns.columns();
    let mut all = columns.of_field(field).iter();
    let has_order = |id: &&u16| {
        let column = columns.get(**id);
        column.is_some_and(|column| !column.closed && !column.value_type.has_strings())
    };
    view.columns.reader(*all.find(has_order)?)
}

/// The column that is asked for values of a field: of its whole strings if these are kept.
pub fn column_of_values(field: FieldId, view: &SearchView) -> Option<ColumnReader> {
    let columns = view.columns.columns();
    let is_of_strings = |id: &&u16| {
        let column = columns.get(**id);
        column.is_some_and(|column| !column.closed && column.value_type == ValueType::Keyword)
    };
    let mut all = columns.of_field(field).iter();
    match all.find(is_of_strings) {
        Some(id) => view.columns.reader(*id),
        None => column_of_ranges(field, view),
    }
}

/// The error where values are asked for of a field that was declared without a column.
pub fn without_column(field: &Field, view: &SearchView) -> Option<Error> {
    let columns = view.columns.columns();
    let of_field = columns.of_field(field.id).iter();
    let mut of_field = of_field.filter_map(|id| columns.get(*id));
    let is_declared = of_field.any(|own| own.declared && own.closed && !own.beside_text);
    let name = &field.name;
    is_declared.then(|| {
        Error::invalid(format!(
            "the values of field {name:?} are not kept, as \"column\": false in its mapping says: ask for single values, as \
             {name}:5, or declare it with a column, and index the documents again"
        ))
    })
}

/// The error where values are asked for of a field that keeps none.
pub fn not_kept(field: &Field) -> Error {
    let name = &field.name;
    Error::invalid(match field.kind {
        FieldKind::Text => format!(
            "the whole strings of field {name:?} are not kept, which {name}:= compares: declare it as keyword, or as text with \
             a column, and index the documents again; or ask for its words, as {name}:word"
        ),
        FieldKind::Exact => format!(
            "the field {name:?} has no column of values, which {name}:= compares: ask for single values, as {name}:5"
        ),
    })
}

impl ColumnRange {
    /// Will find the documents with a value between `ends`, as they were written.
    pub fn new(
        column: &ColumnReader,
        ends: &Ends,
        view: &SearchView,
        budget: &Budget,
    ) -> Result<ColumnRange> {
        let ranges = vec![number_range(column, ends, view)?];
        ColumnRange::of(column, Some(Selection::Ranges(ranges)), None, budget)
    }

    /// Will find the documents with one of `values`, as they were written.
    pub fn of_values(
        column: &ColumnReader,
        values: &[Vec<u8>],
        view: &SearchView,
        budget: &Budget,
    ) -> Result<ColumnRange> {
        if column.column().value_type != ValueType::Keyword {
            let range = |value: &Vec<u8>| {
                let end = || Bound::Included(value.clone());
                number_range(column, &(end(), end()), view)
            };
            let ranges = values.iter().map(range).collect::<Result<Vec<_>>>()?;
            return ColumnRange::of(column, Some(Selection::Ranges(ranges)), None, budget);
        }
        let strings = strings_of(column, values, view)?;
        let bytes = strings
            .iter()
            .map(|string| size_of::<Vec<u8>>() + string.len());
        let wanted = WantedStrings {
            memory: budget.reserve("the strings that a query asks for", bytes.sum())?,
            left: strings,
            found: TermKeys::default(),
        };
        ColumnRange::of(column, None, Some(wanted), budget)
    }

    fn of(
        column: &ColumnReader,
        selection: Option<Selection>,
        strings: Option<WantedStrings>,
        budget: &Budget,
    ) -> Result<ColumnRange> {
        Ok(ColumnRange {
            blocks: selection.map(|selection| column.documents(selection, 0..DocId::MAX)),
            column: column.clone(),
            strings,
            set: DocSet::new(budget)?,
        })
    }

    /// Works until all are found.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        if let Some(wanted) = &mut self.strings {
            wanted.look_up(&self.column, pages)?;
            let terms = std::mem::take(&mut wanted.found);
            let documents = self
                .column
                .documents(Selection::Terms(terms), 0..DocId::MAX);
            self.blocks = Some(documents);
            self.strings = None;
        }
        let Some(blocks) = &mut self.blocks else {
            return Ok(());
        };
        while let Some(block) = blocks.advance(pages)? {
            self.set.insert_words(block.first, block.bits.words())?;
        }
        Ok(())
    }

    /// The documents, once all were found.
    pub fn finish(self) -> DocSet {
        self.set
    }
}

impl WantedStrings {
    fn look_up(&mut self, column: &ColumnReader, pages: &mut Pages<'_>) -> Step<()> {
        while !self.left.is_empty() {
            let from = self.left.len().saturating_sub(STRINGS_AT_ONCE);
            let some: Vec<&[u8]> = self.left[from..].iter().map(Vec::as_slice).collect();
            let found = column.terms(&some, pages)?;
            self.found.join(found);
            self.left.truncate(from);
            let more = self.found.memory_bytes();
            self.memory.grow_to(self.memory.bytes().max(more))?;
            pages.trim();
        }
        Ok(())
    }
}

/// The strings that may stand in a column for these values. Strings stand there in the Unicode form
/// in which they came. Fails at one that is too long for the column.
fn strings_of(
    column: &ColumnReader,
    values: &[Vec<u8>],
    view: &SearchView,
) -> Result<Vec<Vec<u8>>> {
    let decided = column.column();
    let mut strings = Vec::new();
    for value in values {
        if decided.beside_text && value.len() > TEXT_BYTES_MAX {
            let field = view.schema.field(decided.field);
            return Err(Error::invalid(format!(
                "of field {} strings of up to {TEXT_BYTES_MAX} bytes are kept as a whole, and a value that is asked for has {}: \
                 ask for its words in quotes",
                shown(field.map_or("", |field| &field.name)),
                value.len()
            )));
        }
        if let Ok(text) = std::str::from_utf8(value) {
            strings.extend(other_forms(text).map(String::into_bytes));
        }
        strings.push(value.clone());
    }
    Ok(strings)
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
            ValueType::Ip | ValueType::Keyword => None,
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
