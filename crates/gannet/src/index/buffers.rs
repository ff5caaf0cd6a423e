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

    /// Bytes of postings in memory.
    pub(super) fn posting_bytes(&self) -> usize {
        self.all().map(|buffer| buffer.posting_bytes()).sum()
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

    fn keys(&self, below: DocId, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
        let mut keys = self.filling.keys(below, wanted);
        if let Some(flushing) = &self.flushing {
            keys.append(&mut flushing.keys(below, wanted));
            keys.sort_unstable();
            keys.dedup();
        }
        keys
    }
}
