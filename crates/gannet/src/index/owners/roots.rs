//! Pages of root records, and root slots, which refer to the newest of them. A checkpoint writes
//! both itself, behind all others (see `flush`).

use super::owner::{Live, Mover, PageOwner, Walks};
use super::parts::{CheckpointParts, RootParts};
use super::space::{KeptSpace, NextFlush};
use crate::base::{Result, Span};
use crate::index::state::{BytesByPart, BytesWritten, Shared, State};
use crate::storage::{PageKind, Unsynced};

/// The owner of the pages of root records.
pub(crate) struct RootPages;

/// The owner of the root slots.
pub(crate) struct SlotPages;

impl PageOwner for RootPages {
    fn kind(&self) -> PageKind {
        PageKind::Root
    }

    fn streams(&self) -> usize {
        1
    }

    fn root_parts(&self) -> usize {
        0
    }

    /// Does nothing: the record is written when what it names has been.
    fn write_changes(&self, _: &mut CheckpointParts<'_>) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    /// Does nothing, for the same reason.
    fn flush(&self, _: &mut CheckpointParts<'_>) -> Result<Unsynced> {
        Ok(Unsynced::default())
    }

    fn space(&self, next: &NextFlush<'_>) -> KeptSpace {
        KeptSpace {
            buffered: 0,
            rest: next.root_bytes * 2,
        }
    }

    fn mover(&self) -> Mover {
        Mover::Nobody
    }

    fn live<'s>(&self, _: &'s State, root: Option<Span>, _: &RootParts) -> Live<'s> {
        Live::Run(root)
    }

    /// Does nothing: the check has decoded it before all else.
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
        &mut bytes.roots
    }

    fn written_figure<'b>(&self, written: &'b mut BytesWritten) -> &'b mut u64 {
        &mut written.roots
    }
}

impl PageOwner for SlotPages {
    fn kind(&self) -> PageKind {
        PageKind::RootSlot
    }

    /// None: a slot is written in its place.
    fn streams(&self) -> usize {
        0
    }

    fn root_parts(&self) -> usize {
        0
    }

    /// Does nothing: the slot is written when the record is durable.
    fn write_changes(&self, _: &mut CheckpointParts<'_>) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    /// Does nothing, for the same reason.
    fn flush(&self, _: &mut CheckpointParts<'_>) -> Result<Unsynced> {
        Ok(Unsynced::default())
    }

    fn space(&self, _: &NextFlush<'_>) -> KeptSpace {
        KeptSpace::NONE
    }

    fn mover(&self) -> Mover {
        Mover::Nobody
    }

    fn live<'s>(&self, _: &'s State, _: Option<Span>, _: &RootParts) -> Live<'s> {
        Live::Nothing
    }

    /// Does nothing: the check has compared both slots before all else.
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
        &mut bytes.roots
    }

    fn written_figure<'b>(&self, written: &'b mut BytesWritten) -> &'b mut u64 {
        &mut written.roots
    }
}
