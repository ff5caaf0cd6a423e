//! Pages of the log. Batches go there before anything else; the documents in them stay there until
//! cleaning moves them.

use super::owner::{Live, Mover, PageOwner, Walks};
use super::parts::{CheckpointParts, RootParts};
use super::space::{KeptSpace, NextFlush};
use crate::base::{PAGE_SIZE, Result, Span};
use crate::index::state::{BytesByPart, BytesWritten, Shared, State};
use crate::storage::{PageKind, Unsynced};

/// The owner of the log's pages.
pub(crate) struct LogPages;

impl PageOwner for LogPages {
    fn kind(&self) -> PageKind {
        PageKind::Log
    }

    /// Counts twice, since readers have a copy of what is not written yet.
    fn streams(&self) -> usize {
        2
    }

    fn root_parts(&self) -> usize {
        0
    }

    /// Does nothing: batches were appended as they came.
    fn write_changes(&self, _: &mut CheckpointParts<'_>) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    fn flush(&self, parts: &mut CheckpointParts<'_>) -> Result<Unsynced> {
        parts.log.flush()
    }

    fn space(&self, next: &NextFlush<'_>) -> KeptSpace {
        let begun = (next.store.write_pages() * PAGE_SIZE) as u64;
        KeptSpace {
            buffered: begun.min(next.log_source_bytes),
            rest: 0,
        }
    }

    fn mover(&self) -> Mover {
        Mover::OwnerOf(PageKind::Documents)
    }

    fn live<'s>(&self, _: &'s State, _: Option<Span>, _: &RootParts) -> Live<'s> {
        Live::Walked
    }

    /// Leaves it to the walk over documents, which reads them where they are.
    fn check(
        &self,
        _: &Shared,
        _: &State,
        _: &RootParts,
        _: &mut dyn Walks,
    ) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn live_figure<'b>(&self, bytes: &'b mut BytesByPart) -> &'b mut u64 {
        &mut bytes.documents
    }

    fn written_figure<'b>(&self, written: &'b mut BytesWritten) -> &'b mut u64 {
        &mut written.log
    }
}
