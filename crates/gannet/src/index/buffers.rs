//! The posting buffers of a state: the one being filled, and the one before it while that is flushed.

use std::sync::Arc;

use crate::base::{Budget, DocId, Result};
use crate::postings::{Fragment, PostingBuffer};
use crate::search::MemoryTerms;

/// Postings that are not in the dictionary yet. Documents of `flushing` come before those of `filling`.
#[derive(Clone)]
pub(super) struct Buffers {
    pub(super) flushing: Option<Arc<PostingBuffer>>,
    pub(super) filling: Arc<PostingBuffer>,
}

impl Buffers {
    pub(super) fn new(budget: &Budget) -> Result<Buffers> {
        Ok(Buffers {
            flushing: None,
            filling: Arc::new(PostingBuffer::new(budget)?),
        })
    }

    /// Number of terms; one that both have counts twice.
    pub(super) fn terms(&self) -> usize {
        self.all().map(|buffer| buffer.terms()).sum()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.all().map(|buffer| buffer.memory_bytes()).sum()
    }

    /// Goes on with an empty buffer, while the full one is flushed.
    pub(super) fn freeze(&mut self, budget: &Budget) -> Result<Arc<PostingBuffer>> {
        let fresh = Arc::new(PostingBuffer::new(budget)?);
        let full = std::mem::replace(&mut self.filling, fresh);
        self.flushing = Some(Arc::clone(&full));
        Ok(full)
    }

    fn all(&self) -> impl Iterator<Item = &PostingBuffer> {
        let flushing = self.flushing.as_deref().into_iter();
        flushing.chain(std::iter::once(&*self.filling))
    }
}

impl MemoryTerms for Buffers {
    fn term(&self, key: &[u8], below: DocId) -> Result<Option<Fragment>> {
        let newer = self.filling.term(key, below);
        let older = self.flushing.as_ref().and_then(|b| b.term(key, below));
        match (older, newer) {
            (Some(older), Some(newer)) => older.concat(&newer).map(Some),
            (older, newer) => Ok(older.or(newer)),
        }
    }

    fn term_bytes(&self, key: &[u8]) -> usize {
        let each = self.all().map(|buffer| buffer.term_bytes(key));
        // What both have is copied once more when it is joined.
        let joined = if self.flushing.is_some() { 3 } else { 2 };
        joined * each.sum::<usize>()
    }

    fn each_key(&self, below: DocId, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buffers = self.all();
        buffers.try_for_each(|buffer| buffer.each_key(below, visit))
    }
}
