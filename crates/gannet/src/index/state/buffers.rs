//! The posting buffers of a state: the one being filled, and the one before it while that is
//! flushed; with each the external IDs of its documents.

use std::sync::Arc;

use super::ids::{IdEntry, NewIds};
use crate::base::{Budget, DocId, Result};
use crate::postings::{Fragment, InvertedBatch, PostingBuffer, Reach, TermVisitor};
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
}

impl Buffers {
    pub(crate) fn new(budget: &Budget) -> Result<Buffers> {
        Ok(Buffers {
            flushing: None,
            filling: Arc::new(PostingBuffer::new(budget)?),
            flushing_ids: None,
            new_ids: Arc::new(NewIds::new(budget)?),
        })
    }

    /// Number of terms; one that both have counts twice.
    pub(crate) fn terms(&self) -> usize {
        self.all().map(|buffer| buffer.terms()).sum()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.all().map(|buffer| buffer.memory_bytes()).sum()
    }

    /// Bytes of postings in memory.
    pub(crate) fn posting_bytes(&self) -> usize {
        self.all().map(|buffer| buffer.posting_bytes()).sum()
    }

    /// Reserves memory for a batch, and for so many IDs of so many bytes.
    pub(crate) fn reserve_for(
        &self,
        batch: Option<&InvertedBatch>,
        ids: usize,
        id_bytes: usize,
    ) -> Result<()> {
        self.new_ids.reserve_for(ids, id_bytes)?;
        batch.map_or(Ok(()), |batch| self.filling.reserve_for(batch))
    }

    /// Adds the postings of documents from `base` on. Gives the number of terms that are new in the
    /// buffer.
    pub(crate) fn add(&self, inverted: &InvertedBatch, base: DocId) -> usize {
        let before = self.filling.terms();
        self.filling.add(inverted, base);
        self.filling.terms() - before
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

    /// Returns true if there is anything to be flushed.
    pub(crate) fn has_news(&self) -> bool {
        self.terms() > 0 || self.new_ids.has_any()
    }

    /// Returns the bytes that the buffer being filled takes, with its IDs.
    pub(crate) fn filling_bytes(&self) -> usize {
        self.filling.memory_bytes() + self.id_bytes()
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
    pub(crate) fn freeze(&mut self, budget: &Budget) -> Result<(Arc<PostingBuffer>, Arc<NewIds>)> {
        let fresh = Buffers::new(budget)?;
        let full = std::mem::replace(self, fresh);
        self.flushing = Some(Arc::clone(&full.filling));
        self.flushing_ids = Some(Arc::clone(&full.new_ids));
        Ok((full.filling, full.new_ids))
    }

    /// Lets go of what was flushed.
    pub(crate) fn end_flush(&mut self) {
        self.flushing = None;
        self.flushing_ids = None;
    }

    /// The newest document below `below` with an ID, if it is not in the tree yet; it may be
    /// deleted.
    pub(crate) fn document(&self, id: &str, below: DocId) -> Option<DocId> {
        let older = || self.flushing_ids.as_ref()?.document(id, below);
        self.new_ids.document(id, below).or_else(older)
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
