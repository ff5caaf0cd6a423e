//! The norms of a field, one byte after the other.

use crate::base::DocId;
use crate::cache::{Pages, SpareBytes, Step};
use crate::documents::NormCursor;

/// The norms of all documents of a field below one.
pub struct NormColumn {
    norms: Vec<u8>,
    /// The newest state of the index that they were taken from. A vacuum forgets norms of deleted
    /// documents, which earlier states still have.
    pub state: u64,
    _memory: SpareBytes,
}

impl NormColumn {
    /// The norms below `until`: those of `known`, and behind them as many as have their pages in
    /// memory. `memory` has room for all.
    pub fn new(
        known: Option<&NormColumn>,
        until: DocId,
        state: u64,
        cursor: &mut NormCursor,
        memory: SpareBytes,
        pages: &mut Pages<'_>,
    ) -> Step<NormColumn> {
        let mut norms = Vec::with_capacity(until as usize);
        norms.extend_from_slice(known.map_or(&[], |known| &known.norms));
        while norms.len() < until as usize {
            let held = match cursor.norms_from(norms.len() as DocId, pages) {
                Err(error) if norms.is_empty() => return Err(error),
                held => held.unwrap_or_default(),
            };
            if held.is_empty() {
                break;
            }
            let left = until as usize - norms.len();
            norms.extend_from_slice(&held[..held.len().min(left)]);
        }
        Ok(NormColumn {
            norms,
            state: known.map_or(state, |known| known.state.max(state)),
            _memory: memory,
        })
    }

    /// One past the last document.
    pub fn below(&self) -> DocId {
        self.norms.len() as DocId
    }

    /// The norm of a document.
    #[inline]
    pub fn of(&self, doc: DocId) -> u8 {
        self.norms.get(doc as usize).copied().unwrap_or_default()
    }
}
