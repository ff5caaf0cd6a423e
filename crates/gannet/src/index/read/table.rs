//! Values of documents by column, batch after batch: of all documents that a query finds, or of
//! some.
//!
//! No document is read. A batch is a search that goes on where the last one ended. A pass over each
//! column follows, from the first document to the last, and only pieces with such a document are
//! read. The strings of a batch are looked up once each. No more than a batch is in memory.

use std::time::Duration;

use gannet_values::{Value, ValueType};

use super::Snapshot;
use crate::base::{DocId, Error, Reservation, Result};
use crate::cache::{Pages, finish};
use crate::columns::{ColumnReader, ColumnValues, MapEntry, PieceUse, VALUES_FIRST, ValueVisitor};
use crate::search::{CutExpansion, Hit, KnownPatterns, Query, SearchOptions};

/// Documents of a batch.
const BATCH: usize = 1_000;

/// Strings that are looked up at once; each may be in a leaf of its own, which is held meanwhile.
const STRINGS_AT_ONCE: usize = 256;

/// Values of one column of some documents.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ColumnBatch {
    /// Where the values of each document end in `values`.
    pub ends: Vec<usize>,
    /// The values of all documents, one behind the other; those of a document ascend.
    pub values: Vec<Value<'static>>,
}

/// Some documents with their values.
#[derive(Debug)]
#[non_exhaustive]
pub struct TableBatch {
    /// The doc IDs, ascending.
    pub docs: Vec<DocId>,
    /// The external IDs, if these are asked for.
    pub ids: Vec<String>,
    /// The values by column, in the order in which columns were named.
    pub columns: Vec<ColumnBatch>,
    _memory: Reservation,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub value_type: ValueType,
    /// Set if some document has several values. It may be a deleted one.
    pub has_several: bool,
}

/// The values of all documents that a query finds; see [`Snapshot::table`].
pub struct ColumnTable {
    snapshot: Snapshot,
    query: Query,
    options: SearchOptions,
    columns: Vec<TableColumn>,
    readers: Vec<ColumnReader>,
    known: KnownPatterns,
    cut: Vec<CutExpansion>,
    notes: Vec<String>,
    is_done: bool,
}

/// Takes the values of some documents.
struct RowTaker<'t> {
    /// The documents, ascending.
    docs: &'t [DocId],
    /// The document that comes next.
    at: usize,
    taken: Vec<(usize, ValueType, u64)>,
}

/// Looks for a document with several values.
#[derive(Default)]
struct SeveralFinder {
    last: Option<DocId>,
    is_found: bool,
}

impl ColumnBatch {
    /// The values of a document by its place.
    pub fn of(&self, at: usize) -> &[Value<'static>] {
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[from..self.ends[at]]
    }

    fn memory_bytes(&self) -> usize {
        let texts = self.values.iter().map(|value| match value {
            Value::Keyword(text) => text.len(),
            _ => 0,
        });
        let values = size_of_val(self.values.as_slice());
        size_of_val(self.ends.as_slice()) + values + texts.sum::<usize>()
    }
}

impl Snapshot {
    /// Lists the values that all documents have which a query finds, in the order of their doc IDs,
    /// by the names of columns; `with_ids` reads their external IDs too, which stand in records.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if there is no such column, or it was given up; [`Error::Expired`] if the
    /// snapshot was.
    pub fn table(&self, query: &Query, columns: &[String], with_ids: bool) -> Result<ColumnTable> {
        let pinned = self.pinned()?;
        let mut readers = Vec::with_capacity(columns.len());
        let mut described = Vec::with_capacity(columns.len());
        for name in columns {
            let reader = self.column_of(name)?;
            described.push(TableColumn {
                name: name.clone(),
                value_type: reader.column().value_type,
                has_several: self.has_several(&reader, pinned.view.below)?,
            });
            readers.push(reader);
        }
        Ok(ColumnTable {
            snapshot: self.clone(),
            query: Query::Bool {
                must: Vec::new(),
                should: Vec::new(),
                must_not: Vec::new(),
                filter: vec![query.clone()],
                minimum_should_match: 0,
            },
            options: SearchOptions {
                k: BATCH,
                fetch: with_ids,
                sources: false,
                ..SearchOptions::default()
            },
            columns: described,
            readers,
            known: KnownPatterns::default(),
            cut: Vec::new(),
            notes: Vec::new(),
            is_done: false,
        })
    }

    /// The values that documents have in a column, by their doc IDs, which ascend. No document is
    /// read.
    ///
    /// # Errors
    ///
    /// Those of [`Snapshot::table`].
    pub fn column_values(&self, docs: &[DocId], column: &str) -> Result<ColumnBatch> {
        let reader = self.column_of(column)?;
        self.batch_of(docs, &reader)
    }

    fn column_of(&self, name: &str) -> Result<ColumnReader> {
        let pinned = self.pinned()?;
        let view = &pinned.view;
        if view.schema.named(name).is_none()
            && view.columns.columns().named(name, &view.schema).is_empty()
        {
            self.check_field(name)?;
        }
        let found = view
            .columns
            .columns()
            .find(name, &view.schema, &VALUES_FIRST)?;
        let lost = || Error::internal("a column that was found is not there");
        view.columns.reader(found).ok_or_else(lost)
    }

    fn has_several(&self, reader: &ColumnReader, below: DocId) -> Result<bool> {
        let mut finder = SeveralFinder::default();
        self.walk(&mut reader.values(0..below), &mut finder)?;
        Ok(finder.is_found)
    }

    fn batch_of(&self, docs: &[DocId], reader: &ColumnReader) -> Result<ColumnBatch> {
        let (Some(first), Some(last)) = (docs.first(), docs.last()) else {
            return Ok(ColumnBatch::default());
        };
        let mut taker = RowTaker {
            docs,
            at: 0,
            taken: Vec::new(),
        };
        self.walk(&mut reader.values(*first..last + 1), &mut taker)?;
        let taken = taker.taken;
        let of_strings = taken.iter().filter(|one| one.1.has_strings());
        let mut keys: Vec<u64> = of_strings.map(|(.., key)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        let strings = self.strings(&keys, reader)?;
        let is_double = reader.column().value_type == ValueType::Double;
        let mut batch = ColumnBatch::default();
        let mut taken = taken.into_iter().peekable();
        for at in 0..docs.len() {
            let from = batch.values.len();
            while let Some((_, value_type, key)) = taken.next_if(|one| one.0 == at) {
                let value = match value_type {
                    own if own.has_strings() => {
                        let place = keys.binary_search(&key).ok();
                        let string = place.and_then(|place| strings.get(place));
                        string.and_then(|string| own.value_of_string(string.clone().into_bytes()))
                    }
                    // Older pieces are of whole numbers.
                    ValueType::Long if is_double => value_type
                        .number_of_key(key)
                        .map(|number| Value::Double(number.nearest_double())),
                    other => other.value_of_key(key),
                };
                let lost = || Error::internal("a value that was read is not there");
                batch.values.push(value.ok_or_else(lost)?);
            }
            batch.values[from..].sort_by(text_order);
            batch.ends.push(batch.values.len());
        }
        Ok(batch)
    }

    fn strings(&self, keys: &[u64], reader: &ColumnReader) -> Result<Vec<String>> {
        let mut strings = Vec::with_capacity(keys.len());
        for some in keys.chunks(STRINGS_AT_ONCE) {
            let mut pages = Pages::new(self.pool());
            let terms = finish(&mut pages, |pages| reader.term_strings(some, pages))?;
            for term in terms {
                let text = String::from_utf8(term);
                let damaged = |_| Error::damaged("a keyword", "expected UTF-8");
                strings.push(text.map_err(damaged)?);
            }
        }
        Ok(strings)
    }

    fn walk(&self, values: &mut ColumnValues, visitor: &mut dyn ValueVisitor) -> Result<()> {
        let mut pages = Pages::new(self.pool());
        while finish(&mut pages, |pages| values.advance(visitor, pages))? {}
        Ok(())
    }
}

/// Orders strings of a document; numbers ascend as they are.
fn text_order(one: &Value<'_>, other: &Value<'_>) -> std::cmp::Ordering {
    match (one, other) {
        (Value::Keyword(one), Value::Keyword(other)) => one.cmp(other),
        (Value::Ip(one), Value::Ip(other)) => one.cmp(other),
        _ => std::cmp::Ordering::Equal,
    }
}

impl ColumnTable {
    /// The columns, in the order in which they were named.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// Sets the time limit of the search for each batch.
    pub fn timeout(mut self, limit: Option<Duration>) -> ColumnTable {
        self.options.deadline = limit;
        self
    }

    /// Patterns of which not all terms are searched, once the first batch was asked for.
    pub fn cut_expansions(&self) -> &[CutExpansion] {
        &self.cut
    }

    /// Returns notes on the way the query was asked, once the first batch was asked for.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The next documents with their values; nothing behind the last.
    ///
    /// # Errors
    ///
    /// Those of a search, and [`Error::Memory`] if a batch is too large for the memory budget.
    pub fn next_batch(&mut self) -> Result<Option<TableBatch>> {
        if self.is_done {
            return Ok(None);
        }
        let (query, options) = (&self.query, &self.options);
        let found = self.snapshot.search_again(query, options, &self.known)?;
        self.is_done = found.hits.len() < self.options.k;
        self.cut = found.cut_expansions;
        self.notes = found.notes;
        let Some(last) = found.hits.last() else {
            return Ok(None);
        };
        self.options.from = last.doc + 1;
        let docs: Vec<DocId> = found.hits.iter().map(|hit| hit.doc).collect();
        let ids = if self.options.fetch {
            found.hits.into_iter().map(id_of).collect::<Result<_>>()?
        } else {
            Vec::new()
        };
        let budget = self.snapshot.budget();
        let mut memory = budget.reserve("a batch of a table", size_of_val(docs.as_slice()))?;
        let texts = ids.iter().map(|id: &String| size_of::<String>() + id.len());
        memory.grow_to(memory.bytes() + texts.sum::<usize>())?;
        let mut columns = Vec::with_capacity(self.readers.len());
        for reader in &self.readers {
            let batch = self.snapshot.batch_of(&docs, reader)?;
            memory.grow_to(memory.bytes() + batch.memory_bytes())?;
            columns.push(batch);
        }
        Ok(Some(TableBatch {
            docs,
            ids,
            columns,
            _memory: memory,
        }))
    }
}

fn id_of(hit: Hit) -> Result<String> {
    hit.error.map_or(Ok(hit.id), Err)
}

impl ValueVisitor for RowTaker<'_> {
    fn judge(&self, entry: &MapEntry) -> PieceUse {
        let at = self.docs.partition_point(|doc| *doc < entry.first);
        if self.docs.get(at).is_some_and(|doc| *doc < entry.end()) {
            PieceUse::Values
        } else {
            PieceUse::Skip
        }
    }

    fn values(&mut self, value_type: ValueType, docs: &[DocId], keys: &[u64]) -> Result<()> {
        for (doc, key) in docs.iter().zip(keys) {
            while self.docs.get(self.at).is_some_and(|own| own < doc) {
                self.at += 1;
            }
            if self.docs.get(self.at) == Some(doc) {
                self.taken.push((self.at, value_type, *key));
            }
        }
        Ok(())
    }
}

impl ValueVisitor for SeveralFinder {
    fn judge(&self, _: &MapEntry) -> PieceUse {
        if self.is_found {
            PieceUse::Skip
        } else {
            PieceUse::Summary
        }
    }

    fn summary(&mut self, entry: &MapEntry) -> Result<()> {
        self.is_found |= entry.summary.values > entry.summary.documents_with_values;
        Ok(())
    }

    fn values(&mut self, _: ValueType, docs: &[DocId], _: &[u64]) -> Result<()> {
        let joins = docs.first().copied() == self.last && self.last.is_some();
        self.is_found |= joins || docs.windows(2).any(|pair| pair[0] == pair[1]);
        self.last = docs.last().copied();
        Ok(())
    }
}
