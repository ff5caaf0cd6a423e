//! Documents with their values, as the caller feeds them, and as aggregations read them.

use std::cell::OnceCell;

use gannet_values::ValueType;

use crate::error::{self, Error};
use crate::memory::Full;
use crate::tree::FilterId;

/// Documents with the values of all columns that a pass wants.
#[derive(Clone, Copy, Debug, Default)]
pub struct Batch<'a> {
    /// Doc IDs, ascending: those that match, or all where a pass wants all.
    pub documents: &'a [u32],
    /// Those that match, ascending, where a pass wants all. None if all match.
    pub matching: Option<&'a [u32]>,
    /// At most one entry for each field. A field without an entry has no values here.
    pub columns: &'a [ColumnValues<'a>],
    /// One entry for each filter that a pass wants.
    pub filters: &'a [FilterDocuments<'a>],
}

/// Values of a column. Both lists are as long as there are values.
#[derive(Clone, Copy, Debug)]
pub struct ColumnValues<'a> {
    /// The field.
    pub field: &'a str,
    /// The type of these values. It may be long where the field is double.
    pub value_type: ValueType,
    /// The doc ID of each value, ascending. Documents that are not in the batch are passed over.
    pub documents: &'a [u32],
    /// The key of each value; those of a document ascend.
    pub keys: &'a [u64],
}

/// The documents that a filter has.
#[derive(Clone, Copy, Debug)]
pub struct FilterDocuments<'a> {
    /// The filter.
    pub filter: FilterId,
    /// Doc IDs, ascending. Documents that are not in the batch are passed over.
    pub documents: &'a [u32],
}

impl Batch<'_> {
    pub(crate) fn check(&self, filters: &[FilterId]) -> error::Result<()> {
        let mut columns = self.columns.iter();
        if columns.any(|column| column.documents.len() != column.keys.len()) {
            return Err(Error::given("a column has not as many keys as documents"));
        }
        let has = |id: &FilterId| self.filters.iter().any(|own| own.filter == *id);
        match filters.iter().find(|id| !has(id)) {
            None => Ok(()),
            Some(id) => Err(Error::given(format!(
                "the documents of filter {id} are not given"
            ))),
        }
    }
}

/// A document of a chunk, in a bucket of the aggregation above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The number of the document in the chunk.
    pub(crate) document: u32,
    pub(crate) bucket: u32,
}

/// Documents of a chunk that an aggregation reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs<'p> {
    pub(crate) list: &'p [Pair],
    /// Set if these are all documents of the chunk, each once, in bucket 0.
    pub(crate) are_all: bool,
}

impl<'p> Pairs<'p> {
    /// Takes documents in buckets that the aggregation above found.
    pub(crate) fn found(list: &'p [Pair]) -> Pairs<'p> {
        Pairs {
            list,
            are_all: false,
        }
    }
}

/// At most so many documents are looked at at once, and at most so many pairs handed down.
pub(crate) const CHUNK: usize = 1_024;

/// Some documents of a batch, with their values by number of the column.
#[derive(Default)]
pub(crate) struct Chunk<'a> {
    pub(crate) columns: Vec<Option<ChunkColumn<'a>>>,
    /// For each filter, by its number in the run, if it has the document.
    pub(crate) filters: Vec<Vec<bool>>,
}

/// Values of a column for the documents of a chunk.
pub(crate) struct ChunkColumn<'a> {
    pub(crate) value_type: ValueType,
    documents: &'a [u32],
    /// The document of each value; some may not be of the chunk.
    owners: &'a [u32],
    keys: &'a [u64],
    /// Set if each document has exactly one value, and no other has any.
    is_single: bool,
    /// The values of each document, once they are asked for.
    ranges: OnceCell<Vec<(u32, u32)>>,
}

impl<'a> ChunkColumn<'a> {
    fn of(values: &ColumnValues<'a>, documents: &'a [u32]) -> ChunkColumn<'a> {
        let (first, last) = match documents {
            [first, .., last] => (*first, *last),
            [only] => (*only, *only),
            [] => (0, 0),
        };
        let begin = values.documents.partition_point(|own| *own < first);
        let end = begin + values.documents[begin..].partition_point(|own| *own <= last);
        let owners = &values.documents[begin..end];
        ChunkColumn {
            value_type: values.value_type,
            is_single: owners == documents,
            documents,
            owners,
            keys: &values.keys[begin..end],
            ranges: OnceCell::new(),
        }
    }

    /// Returns the keys of a document.
    pub(crate) fn of_document(&self, document: u32) -> &'a [u64] {
        let (begin, end) = if self.is_single {
            (document, document + 1)
        } else {
            let ranges = self.ranges.get_or_init(|| self.ranges());
            ranges.get(document as usize).copied().unwrap_or_default()
        };
        self.keys
            .get(begin as usize..end as usize)
            .unwrap_or_default()
    }

    fn ranges(&self) -> Vec<(u32, u32)> {
        let mut at = 0;
        let ranges = self.documents.iter().map(|document| {
            while self.owners.get(at).is_some_and(|own| own < document) {
                at += 1;
            }
            let begin = at as u32;
            while self.owners.get(at) == Some(document) {
                at += 1;
            }
            (begin, at as u32)
        });
        ranges.collect()
    }

    /// Returns one key a document, if each has exactly one.
    pub(crate) fn single(&self) -> Option<&'a [u64]> {
        self.is_single.then_some(self.keys)
    }

    /// Calls `each` with the document and the key of every value of documents of the chunk, in
    /// their order. This takes a part of the time of asking each document for its keys.
    pub(crate) fn try_for_each(
        &self,
        mut each: impl FnMut(u32, u64) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let (Some(first), Some(last)) = (self.documents.first(), self.documents.last()) else {
            return Ok(());
        };
        let mut values = self.owners.iter().zip(self.keys);
        if (last - first) as usize + 1 == self.documents.len() {
            return values.try_for_each(|(owner, key)| each(*owner, *key));
        }
        let mut rest = self.documents.iter().copied();
        let mut next = rest.next();
        for (owner, key) in values {
            while next.is_some_and(|document| document < *owner) {
                next = rest.next();
            }
            if next == Some(*owner) {
                each(*owner, *key)?;
            }
        }
        Ok(())
    }
}

impl<'a> Chunk<'a> {
    pub(crate) fn of(
        batch: &Batch<'a>,
        documents: &'a [u32],
        fields: &[String],
        filters: &[FilterId],
    ) -> Chunk<'a> {
        let column = |field: &String| {
            let own = batch.columns.iter().find(|column| column.field == *field)?;
            Some(ChunkColumn::of(own, documents))
        };
        let filter = |id: &FilterId| {
            let own = batch.filters.iter().find(|filter| filter.filter == *id);
            are_in(documents, own.map_or(&[], |own| own.documents))
        };
        Chunk {
            columns: fields.iter().map(column).collect(),
            filters: filters.iter().map(filter).collect(),
        }
    }

    /// Returns the values of a column, if any document of the batch has one.
    pub(crate) fn column(&self, number: usize) -> Option<&ChunkColumn<'a>> {
        self.columns.get(number)?.as_ref()
    }

    pub(crate) fn keys(&self, column: usize, document: u32) -> (ValueType, &'a [u64]) {
        match self.columns.get(column) {
            Some(Some(own)) => (own.value_type, own.of_document(document)),
            _ => (ValueType::Long, &[]),
        }
    }
}

/// Returns for each document if it is in a list; both ascend.
pub(crate) fn are_in(documents: &[u32], list: &[u32]) -> Vec<bool> {
    let first = documents.first().copied().unwrap_or_default();
    let mut rest = &list[list.partition_point(|own| *own < first)..];
    let is_in = documents.iter().map(|document| {
        while let Some((next, after)) = rest.split_first()
            && next < document
        {
            rest = after;
        }
        rest.first() == Some(document)
    });
    is_in.collect()
}
