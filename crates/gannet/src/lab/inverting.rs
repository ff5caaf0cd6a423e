//! The inverter and the posting buffer of one flush, without phrase filters.

use crate::base::{Budget, PhraseFilters, Result};
use crate::postings::{Fragment, Inverter, PostingBuffer};

/// Inverts the tokens of documents into the fragments of a flush.
pub struct FlushInverter {
    inverter: Inverter,
    buffer: PostingBuffer,
}

impl FlushInverter {
    /// Creates one without postings.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new() -> Result<FlushInverter> {
        Ok(FlushInverter {
            inverter: Inverter::default(),
            buffer: PostingBuffer::new(&Budget::new(usize::MAX))?,
        })
    }

    /// Adds a token of a document of the batch, by the document's number in it.
    pub fn add(&mut self, key: &[u8], document: u32, position: u32) {
        self.inverter
            .add(key, document, position, PhraseFilters::None);
    }

    /// Ends a batch, of which the first document has this ID.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn end_batch(&mut self, first: u32) -> Result<()> {
        let batch = self.inverter.finish()?;
        self.buffer.reserve_for(&batch)?;
        self.buffer.add(&batch, first);
        Ok(())
    }

    /// Gives each key and its postings to `take`, in the order of keys.
    pub fn each(&self, mut take: impl FnMut(&[u8], Fragment)) {
        let buffer = self.buffer.frozen();
        let (keys, order) = buffer.sorted();
        for (key, slot) in keys.into_iter().zip(order) {
            take(key, buffer.fragment(slot));
        }
    }
}
