//! Divides the memory of merges of postings lists.

use super::rules::CHUNK_BYTES;
use crate::base::PAGE_SIZE;

/// Merges side by side: lists of frequent words are merged beside the others.
const SIDE_BY_SIDE: usize = 2;

/// Parts of the memory of a merge: pages in flight, chunks read ahead, and for a long list the
/// chunk that is read and the one in the making, as pages and put together.
const PARTS: usize = 6;

/// Bounds of a part. More than 1 MiB of pages in flight or read ahead gains nothing.
const PART_BYTES_MIN: usize = 128 << 10;
const READ_BYTES_MAX: usize = 1 << 20;

/// The memory of a merge, beside the new postings themselves.
///
/// A list of more than eight times the bytes of a complete chunk needs half of its size.
#[derive(Clone, Copy, Debug)]
pub struct MergeMemory {
    part: usize,
}

impl MergeMemory {
    /// Merges that together take about `bytes`.
    pub fn of(bytes: usize) -> MergeMemory {
        let part = bytes / SIDE_BY_SIDE / PARTS;
        MergeMemory {
            part: part.clamp(PART_BYTES_MIN, CHUNK_BYTES),
        }
    }

    /// Bytes that all merges side by side take.
    pub fn bytes(&self) -> usize {
        let chunks = (PARTS - 2) * self.chunk_bytes();
        SIDE_BY_SIDE * (self.batch_pages() * PAGE_SIZE + self.window_bytes() + chunks)
    }

    /// Pages in flight at once.
    pub(crate) fn batch_pages(&self) -> usize {
        self.window_bytes() / PAGE_SIZE
    }

    /// Bytes of chunks that are read ahead for many lists together.
    pub(crate) fn window_bytes(&self) -> usize {
        self.part.min(READ_BYTES_MAX)
    }

    /// Bytes of a complete chunk.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.part
    }
}

impl Default for MergeMemory {
    /// As much as is of use.
    fn default() -> MergeMemory {
        MergeMemory { part: CHUNK_BYTES }
    }
}
