//! The buffers of a state: postings and values being filled, and those before while they are
//! flushed; with each the external IDs of its documents.

use std::sync::Arc;

use super::ids::{IdEntry, NewIds};
use crate::base::{Budget, DocId, Result};
use crate::columns::{ColumnId, Columns, ValueBuffer};
use crate::index::ingest::BatchContent;
use crate::postings::{Fragment, PostingBuffer, Reach, TermVisitor};
use crate::search::MemoryTerms;

/// Postings that are not in the dictionary yet. Documents of `flushing` come before those of
/// `filling`.
#[derive(Clone)]
pub(crate) struct Buffers {
    flushing: Option<Arc<PostingBuffer>>,
    filling: Arc<PostingBuffer>,
    /// Of the documents of `flushing`.
    flushing_ids: Option<Arc<NewIds>>,
    /// Of the documents of `filling`.
    new_ids: Arc<NewIds>,
    /// Of the documents of `flushing`.
    flushing_values: Option<Arc<ValueBuffer>>,
    /// Of the documents of `filling`.
    values: Arc<ValueBuffer>,
}

/// The buffers that a flush moves to flash.
pub(crate) struct FrozenBuffers {
    pub(crate) postings: Arc<PostingBuffer>,
    pub(crate) ids: Arc<NewIds>,
    pub(crate) values: Arc<ValueBuffer>,
}

impl Buffers {
    pub(crate) fn new(budget: &Budget) -> Result<Buffers> {
        Ok(Buffers {
            flushing: None,
            filling: Arc::new(PostingBuffer::new(budget)?),
            flushing_ids: None,
            new_ids: Arc::new(NewIds::new(budget)?),
            flushing_values: None,
            values: Arc::new(ValueBuffer::new(budget)?),
        })
    }

    /// Number of terms; one that both have counts twice.
    pub(crate) fn terms(&self) -> usize {
        self.all().map(|buffer| buffer.terms()).sum()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let postings: usize = self.all().map(|buffer| buffer.memory_bytes()).sum();
        let values = self.value_buffers().into_iter();
        postings + values.map(|values| values.memory_bytes()).sum::<usize>()
    }

    /// Bytes of postings in memory.
    pub(crate) fn posting_bytes(&self) -> usize {
        self.all().map(|buffer| buffer.posting_bytes()).sum()
    }

    /// Reserves memory for a batch, and for so many IDs of so many bytes.
    pub(crate) fn reserve_for(
        &self,
        batch: Option<&BatchContent>,
        columns: &Columns,
        ids: usize,
        id_bytes: usize,
    ) -> Result<()> {
        self.new_ids.reserve_for(ids, id_bytes)?;
        batch.map_or(Ok(()), |batch| {
            self.values.reserve_for(&batch.values, columns)?;
            self.filling.reserve_for(&batch.inverted)
        })
    }

    /// Adds the postings of documents from `base` on. Gives the number of terms that are new in the
    /// buffer.
    pub(crate) fn add(&self, batch: &BatchContent, base: DocId) -> usize {
        let before = self.filling.terms();
        self.filling.add(&batch.inverted, base);
        self.filling.terms() - before
    }

    /// Adds the values of documents from `base` on to the columns that were decided on. Gives the
    /// columns that some did not fit, and how many.
    pub(crate) fn add_values(
        &self,
        batch: &BatchContent,
        base: DocId,
        columns: &Columns,
    ) -> Vec<(ColumnId, u64)> {
        self.values.add(&batch.values, base, columns)
    }

    /// Notes the newest document with an ID.
    pub(crate) fn insert_id(&self, id: &str, entry: IdEntry) -> Result<()> {
        self.new_ids.insert(id, entry)
    }

    /// Notes that an ID is gone.
    pub(crate) fn remove_id(&self, id: &str) -> Result<()> {
        self.new_ids.remove(id)
    }

    /// Returns the entry of an ID that is not in the tree yet, or that it is gone.
    pub(crate) fn known_id(&self, id: &str) -> Option<Option<IdEntry>> {
        let older = || self.flushing_ids.as_ref()?.get(id);
        self.new_ids.get(id).or_else(older)
    }

    /// Returns the number of new IDs that lead to a document.
    pub(crate) fn new_documents(&self) -> u64 {
        self.new_ids.documents()
    }

    /// Returns true if all documents are flushed.
    pub(crate) fn are_empty(&self) -> bool {
        !self.has_news() && self.flushing_ids.is_none()
    }

    /// Returns true if there is anything to be flushed.
    pub(crate) fn has_news(&self) -> bool {
        self.terms() > 0 || self.new_ids.has_any()
    }

    /// Returns the bytes that the buffer being filled takes, with its IDs.
    pub(crate) fn filling_bytes(&self) -> usize {
        self.filling.memory_bytes() + self.id_bytes() + self.values.memory_bytes()
    }

    /// Returns the bytes that the IDs of the buffer being filled take.
    pub(crate) fn id_bytes(&self) -> usize {
        self.new_ids.memory_bytes()
    }

    /// Returns the bytes on flash of entries of these IDs, at most.
    pub(crate) fn id_entry_bytes(&self) -> usize {
        self.new_ids.entry_bytes()
    }

    /// Returns the buffer that is being filled.
    pub(crate) fn filling(&self) -> &PostingBuffer {
        &self.filling
    }

    /// Goes on with an empty buffer, while the full one is flushed.
    pub(crate) fn freeze(&mut self, budget: &Budget) -> Result<FrozenBuffers> {
        let fresh = Buffers::new(budget)?;
        let full = std::mem::replace(self, fresh);
        self.flushing = Some(Arc::clone(&full.filling));
        self.flushing_ids = Some(Arc::clone(&full.new_ids));
        self.flushing_values = Some(Arc::clone(&full.values));
        Ok(FrozenBuffers {
            postings: full.filling,
            ids: full.new_ids,
            values: full.values,
        })
    }

    /// Returns the value buffers, the older first.
    pub(crate) fn value_buffers(&self) -> Vec<Arc<ValueBuffer>> {
        let flushing = self.flushing_values.iter().cloned();
        flushing.chain([Arc::clone(&self.values)]).collect()
    }

    /// Lets go of what was flushed.
    pub(crate) fn end_flush(&mut self) {
        self.flushing = None;
        self.flushing_ids = None;
        self.flushing_values = None;
    }

    /// The newest document below `below` with an ID, if it is not in the tree yet; it may be
    /// deleted.
    pub(crate) fn document(&self, id: &str, below: DocId) -> Option<DocId> {
        let older = || self.flushing_ids.as_ref()?.document(id, below);
        self.new_ids.document(id, below).or_else(older)
    }

    /// Shows all IDs that are not in the tree yet, each with its documents.
    pub(crate) fn visit_ids(&self, visit: &mut dyn FnMut(&str, DocId)) {
        let flushing = self.flushing_ids.iter();
        for ids in flushing.chain([&self.new_ids]) {
            ids.visit(visit);
        }
    }

    /// Returns all buffers, the older first.
    fn all(&self) -> impl Iterator<Item = &PostingBuffer> {
        let flushing = self.flushing.as_deref().into_iter();
        flushing.chain(std::iter::once(&*self.filling))
    }
}

impl MemoryTerms for Buffers {
    fn term(
        &self,
        key: &[u8],
        below: DocId,
        reach: Reach,
        reserve: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Vec<Fragment>> {
        let each = self
            .all()
            .map(|buffer| buffer.term(key, below, reach, reserve));
        each.filter_map(Result::transpose).collect()
    }

    fn visit_terms(&self, below: DocId, visitor: &mut dyn TermVisitor) -> Result<()> {
        let mut buffers = self.all();
        buffers.try_for_each(|buffer| buffer.visit_terms(below, visitor))
    }
}
