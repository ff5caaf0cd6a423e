//! The owner of a kind of page: the questions that every kind answers.

use std::collections::BTreeSet;

use super::parts::{CheckpointParts, FlushedParts, RootParts};
use super::space::{KeptSpace, NextFlush};
use crate::base::{DocId, PageAddress, Result, Span, ZoneNumber};
use crate::columns::ColumnTreeView;
use crate::index::state::{BytesByPart, BytesWritten, Shared, State};
use crate::postings::TermView;
use crate::runs::RunsView;
use crate::storage::{PageKind, Unsynced};

/// Live bytes that a step of cleaning moves at most, so that it never holds up a write for long.
pub(crate) const MOVED_BYTES_MAX: u64 = 32 << 20;

/// Zones that a step of cleaning empties.
pub(crate) type Victims = BTreeSet<ZoneNumber>;

/// Tells the index all of a kind of page. No method has a default: each kind says what holds
/// for it.
pub(crate) trait PageOwner: Sync {
    /// Returns the kind of its pages.
    fn kind(&self) -> PageKind;

    /// Returns the number of its streams, which have a write buffer each.
    fn streams(&self) -> usize;

    /// Returns the number of byte strings that the root record keeps of it.
    fn root_parts(&self) -> usize;

    /// Appends what has changed since the last checkpoint. Gives what the root record is to keep.
    fn write_changes(&self, parts: &mut CheckpointParts<'_>) -> Result<Vec<Vec<u8>>>;

    /// Writes its streams out; what is returned must be synced before a root refers to it.
    fn flush(&self, parts: &mut CheckpointParts<'_>) -> Result<Unsynced>;

    /// Estimates from above the space for what the next flush, and the checkpoint behind it, write.
    fn space(&self, next: &NextFlush<'_>) -> KeptSpace;

    /// Returns who moves what lives out of sparse zones, and when.
    fn mover(&self) -> Mover;

    /// Returns the places that a state, or the root with that record and these parts, refers to.
    fn live<'s>(&self, state: &'s State, root: Option<Span>, parts: &RootParts) -> Live<'s>;

    /// Compares the content of its pages with what refers to them, by a walk over the index or by
    /// itself. Returns the faults that it has found itself, a sentence each.
    fn check(
        &self,
        shared: &Shared,
        state: &State,
        parts: &RootParts,
        walks: &mut dyn Walks,
    ) -> Result<Vec<String>>;

    /// Returns the figure of the statistics to which its live bytes count.
    fn live_figure<'b>(&self, bytes: &'b mut BytesByPart) -> &'b mut u64;

    /// Returns the figure of the lifetime write statistics to which its writes count.
    fn written_figure<'b>(&self, written: &'b mut BytesWritten) -> &'b mut u64;
}

/// The mover of what lives in the zones of a kind.
pub(crate) enum Mover {
    /// Nobody: each checkpoint gives all of them up.
    Nobody,
    /// The owner of another kind, to whose pages it goes.
    OwnerOf(PageKind),
    /// The flush: only what it changes refers to them.
    InFlush {
        bounds: fn(&IndexSizes<'_>) -> MoveBounds,
        act: fn(&mut FlushedParts<'_>, &Victims) -> Result<()>,
    },
    /// The checkpoint behind a flush: what the writer changes refers to them.
    AtCheckpoint {
        bounds: fn(&IndexSizes<'_>) -> MoveBounds,
        act: fn(&mut CheckpointParts<'_>, &Victims) -> Result<()>,
    },
}

/// The space that a step of cleaning takes.
pub(crate) struct MoveBounds {
    /// Bytes that are written beside what is moved.
    pub(crate) beside: u64,
    /// The most bytes that it claims.
    pub(crate) most: u64,
    /// Set if it may take all space that is free for it, and not the part that the policy says: its
    /// zones are the cheapest to empty.
    pub(crate) takes_all: bool,
}

/// The sizes from which bounds of a step follow.
pub(crate) struct IndexSizes<'a> {
    pub(crate) terms: &'a TermView,
    pub(crate) ids: &'a RunsView,
    pub(crate) columns: &'a ColumnTreeView,
    /// Every document has a doc ID below this.
    pub(crate) below: DocId,
}

/// The places that refer to pages of a kind.
pub(crate) enum Live<'s> {
    /// Whole pages.
    Pages(Box<dyn Iterator<Item = PageAddress> + 's>),
    /// A run of bytes, if there is one yet.
    Run(Option<Span>),
    /// Records and chunks: each is counted by the walk that reads what refers to it.
    Walked,
    /// Nothing: they lie in no zone.
    Nothing,
}

/// The walks of a check that several kinds share.
pub(crate) trait Walks {
    /// Goes over the term dictionary and every list, those in memory too.
    fn lists(&mut self) -> Result<()>;

    /// Goes over the columns.
    fn columns(&mut self) -> Result<()>;

    /// Goes over the addresses and every document.
    fn documents(&mut self) -> Result<()>;
}
