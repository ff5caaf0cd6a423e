//! The norms of documents, which lists keep bounds of.

use crate::analysis::FieldId;
use crate::base::{DocId, Result};

/// Tells the norms of documents: those of new postings and of postings that are rewritten.
pub trait Norms: Sync {
    /// A reader of norms for one thread.
    fn reader(&self) -> NormReader<'_>;
}

/// Gives the norm of a field of a document.
pub type NormReader<'a> = Box<dyn FnMut(FieldId, DocId) -> Result<u8> + 'a>;

impl<F: Fn(FieldId, DocId) -> Result<u8> + Sync> Norms for F {
    fn reader(&self) -> NormReader<'_> {
        Box::new(self)
    }
}
