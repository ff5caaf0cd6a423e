//! The values of documents, as a snapshot has them.

use gannet_values::{Value, ValueType};

use super::Snapshot;
use crate::base::{DocId, Error, Result};
use crate::cache::{Pages, finish};
use crate::columns::{ColumnReader, VALUES_FIRST};
use crate::search::SearchView;

/// Documents that are looked up in one go; each holds some frames until all are found.
const DOCUMENTS_AT_ONCE: usize = 128;

/// A column of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnReport {
    /// Its name: that of its field, with `.keyword` for the whole strings of a field of words.
    pub name: String,
    /// The name of its field.
    pub field: String,
    /// The type of its values.
    pub value_type: ValueType,
    /// Set if the type was declared, and not found.
    pub declared: bool,
    /// Set if it was given up and cannot be asked: most of its first values differed, or were not
    /// of its type.
    pub closed: bool,
    /// Values that did not fit and are missing in it.
    pub misfits: u64,
    /// Different keywords that were flushed and not taken out since.
    pub keywords: u64,
}

impl Snapshot {
    /// The columns, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// [`Error::Expired`] if the snapshot was given up.
    pub fn columns(&self) -> Result<Vec<ColumnReport>> {
        let pinned = self.pinned()?;
        let view = &pinned.view;
        let columns = view.columns.columns();
        let mut reports = Vec::with_capacity(columns.all().len());
        for (id, column) in (0..).zip(columns.all()) {
            let names = view
                .schema
                .field(column.field)
                .zip(columns.name(id, &view.schema));
            let Some((field, name)) = names else {
                continue;
            };
            let reader = view.columns.reader(id);
            reports.push(ColumnReport {
                name,
                field: field.name.clone(),
                value_type: column.value_type,
                declared: column.declared,
                closed: column.closed,
                misfits: column.misfits,
                keywords: reader.map_or(0, |reader| reader.keywords()),
            });
        }
        Ok(reports)
    }

    /// The values that documents have in a column, by their external IDs: ascending, and none for a
    /// document that does not exist or has none. A keyword comes once, a number as often as the
    /// document has it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if there is no such column, or it was given up; [`Error::Expired`] if the
    /// snapshot was.
    pub fn values(&self, ids: &[&str], column: &str) -> Result<Vec<Vec<Value<'static>>>> {
        let pinned = self.pinned()?;
        let view = &pinned.view;
        let columns = view.columns.columns();
        let found = columns.find(column, &view.schema, &VALUES_FIRST)?;
        let reader = view.columns.reader(found).ok_or_else(lost)?;
        let mut values = Vec::with_capacity(ids.len());
        for some in ids.chunks(DOCUMENTS_AT_ONCE) {
            values.append(&mut self.values_of_some(some, view, &reader)?);
        }
        Ok(values)
    }

    fn values_of_some(
        &self,
        ids: &[&str],
        view: &SearchView,
        reader: &ColumnReader,
    ) -> Result<Vec<Vec<Value<'static>>>> {
        let found = self.documents_of(ids, view)?;
        let mut docs: Vec<DocId> = found.iter().flatten().copied().collect();
        docs.sort_unstable();
        docs.dedup();
        let mut pages = Pages::new(self.pool());
        let keys = finish(&mut pages, |pages| reader.values_of(&docs, pages))?;
        let mut values = Vec::with_capacity(docs.len());
        for (value_type, keys) in keys {
            values.push(self.values_of_keys(value_type, &keys, reader)?);
        }
        let of_id = found.iter().map(|doc| {
            let place = doc.and_then(|doc| docs.binary_search(&doc).ok());
            place.map_or(Vec::new(), |place| values[place].clone())
        });
        Ok(of_id.collect())
    }

    fn values_of_keys(
        &self,
        value_type: ValueType,
        keys: &[u64],
        reader: &ColumnReader,
    ) -> Result<Vec<Value<'static>>> {
        if !value_type.has_strings() {
            let values = keys.iter().map(|key| value_type.value_of_key(*key));
            return values.collect::<Option<_>>().ok_or_else(lost);
        }
        let mut pages = Pages::new(self.pool());
        let mut terms = finish(&mut pages, |pages| reader.term_strings(keys, pages))?;
        terms.sort_unstable();
        let text = |term| {
            let value = value_type.value_of_string(term);
            value.ok_or_else(|| Error::damaged("a string of a column", "expected UTF-8"))
        };
        terms.into_iter().map(text).collect()
    }
}

fn lost() -> Error {
    Error::internal("a column that was found is not there")
}
