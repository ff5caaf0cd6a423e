//! Compares the values of documents, as their sources have them, with those that columns have.
//!
//! Values were fitted to columns when a document came. Today's decisions give the same, but for
//! whole numbers beyond 64 bits: in a column that took only longs then they were left out.

use gannet_values::{Number, ValueType};

use super::buffer::ValueBuffer;
use super::column::{Column, ColumnId};
use super::found::{FoundValue, FoundValues};
use super::view::{ColumnReader, ColumnsView};
use crate::analysis::FieldId;
use crate::base::{Budget, DocId, Result};
use crate::cache::{Pages, finish};

/// The values of a document in a column, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
struct PlainValues {
    numbers: Vec<Number>,
    strings: Vec<Vec<u8>>,
}

/// Documents whose values are compared.
pub struct ComparedDocuments<'v> {
    /// Their values by their places in `docs`, as they are found in the sources.
    pub values: &'v FoundValues,
    /// Their doc IDs, ascending.
    pub docs: &'v [DocId],
    /// Set if the values were found with what is decided of the columns that are asked. Otherwise
    /// columns that may have been given up meanwhile are left out.
    pub of_same_columns: bool,
}

/// Tells of documents that have other values in columns than their sources give.
pub fn compare_values(
    view: &ColumnsView,
    documents: &ComparedDocuments<'_>,
    budget: &Budget,
    pages: &mut Pages<'_>,
) -> Result<Vec<String>> {
    let columns = view.columns();
    let expected = ValueBuffer::new(budget)?;
    expected.reserve_for(documents.values, columns)?;
    expected.add(documents.values, 0, columns);
    let mut findings = Vec::new();
    for (id, column) in (0..).zip(columns.all()) {
        let is_kept = column.settled || documents.of_same_columns;
        let Some(reader) = view.reader(id).filter(|_| !column.closed && is_kept) else {
            continue;
        };
        pages.trim();
        let wanted = expected_values(&expected, id, column, documents.docs.len());
        let found = found_values(&reader, documents.docs, pages)?;
        for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
            if wanted != found && !is_without_beyond(at, wanted, found, column, documents) {
                findings.push(finding(id, documents.docs[at], wanted, found));
            }
        }
    }
    Ok(findings)
}

fn finding(id: ColumnId, doc: DocId, wanted: &PlainValues, found: &PlainValues) -> String {
    let shown = |values: &PlainValues| {
        let strings = values.strings.iter();
        let strings = strings.map(|text| format!("{:?}", String::from_utf8_lossy(text)));
        let numbers = values.numbers.iter().map(|number| format!("{number:?}"));
        let all: Vec<String> = strings.chain(numbers).take(4).collect();
        format!("[{}]", all.join(", "))
    };
    format!(
        "column {id}: expected the values {} of document {doc}, as its source gives them, got {}",
        shown(wanted),
        shown(found)
    )
}

fn expected_values(
    buffer: &ValueBuffer,
    id: ColumnId,
    column: &Column,
    count: usize,
) -> Vec<PlainValues> {
    let mut values = vec![PlainValues::default(); count];
    let inner = buffer.read();
    let Some(own) = inner.column(id) else {
        return values;
    };
    let mut at = 0;
    while at < own.len() {
        let (part_type, part) = own.part(at, usize::MAX, DocId::MAX, column.value_type);
        for (place, key) in part {
            at += 1;
            let plain = &mut values[place as usize];
            match part_type.number_of_key(key) {
                Some(number) => plain.numbers.push(number),
                None => plain.strings.push(own.terms.term(key as u32).to_vec()),
            }
        }
    }
    values.iter_mut().for_each(PlainValues::sort);
    values
}

fn found_values(
    reader: &ColumnReader,
    docs: &[DocId],
    pages: &mut Pages<'_>,
) -> Result<Vec<PlainValues>> {
    let read = finish(pages, |pages| reader.values_of(docs, pages))?;
    let is_string = |value_type: ValueType| value_type.has_strings();
    let of_strings = read.iter().filter(|(value_type, _)| is_string(*value_type));
    let mut keys: Vec<u64> = of_strings.flat_map(|(_, keys)| keys.clone()).collect();
    keys.sort_unstable();
    keys.dedup();
    let strings = finish(pages, |pages| reader.term_strings(&keys, pages))?;
    let string = |key: &u64| keys.binary_search(key).ok().map(|at| strings[at].clone());
    let plain = read.iter().map(|(value_type, own)| {
        let mut plain = if is_string(*value_type) {
            PlainValues {
                strings: own.iter().filter_map(string).collect(),
                ..PlainValues::default()
            }
        } else {
            let number = |key: &u64| value_type.number_of_key(*key);
            PlainValues {
                numbers: own.iter().filter_map(number).collect(),
                ..PlainValues::default()
            }
        };
        plain.sort();
        plain
    });
    Ok(plain.collect())
}

/// Returns true if a document has what it is to have but for numbers beyond 64 bits.
fn is_without_beyond(
    at: usize,
    wanted: &PlainValues,
    found: &PlainValues,
    column: &Column,
    documents: &ComparedDocuments<'_>,
) -> bool {
    let beyond = beyond_of(at, column.field, documents.values);
    if column.value_type != ValueType::Double || beyond.is_empty() {
        return false;
    }
    let mut left = wanted.numbers.clone();
    left.retain(|number| !beyond.contains(number));
    left == found.numbers
}

fn beyond_of(at: usize, field: FieldId, values: &FoundValues) -> Vec<Number> {
    let all = values.all();
    let from = all.partition_point(|(place, other, _)| (*place as usize, *other) < (at, field));
    let own = all[from..].iter();
    let own = own.take_while(|(place, other, _)| (*place as usize, *other) == (at, field));
    own.filter_map(|(.., value)| match value {
        FoundValue::Beyond(number) => Some(Number::Double(*number)),
        _ => None,
    })
    .collect()
}

impl PlainValues {
    fn sort(&mut self) {
        self.numbers.sort_unstable();
        self.strings.sort_unstable();
    }
}
