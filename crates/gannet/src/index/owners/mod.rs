//! Owners: for each kind of page one that knows how its pages are written, referred to, moved,
//! checked and counted.
//!
//! ```text
//! PageKind ──▶ table of owners ──▶ PageOwner
//!     checkpoint: what has changed, the root record, streams     space: what a flush may write
//!     cleaning: who moves what lives     check, statistics: which pages, under which figure
//! ```
//!
//! 1. Everyone who deals with all kinds goes over the table ([`owners`]), so a kind is known to all
//!    of them or to none.
//! 2. A new kind is a line of [`PageKind`](crate::storage::PageKind), a row of the table and a file
//!    beside it. A kind without a row, and an owner without an answer, do not compile.
//! 3. An owner has no state. The writer and the flush hand it theirs ([`CheckpointParts`],
//!    [`FlushedParts`]); a stream of its own, and what the root record keeps of it, are in
//!    [`OwnedPages`].

mod documents;
mod log;
mod nodes;
mod owner;
mod parts;
mod postings;
mod root;
mod roots;
mod space;
mod table;
mod tables;

pub(crate) use nodes::{delta_trees, node_bytes};
pub(crate) use owner::{
    IndexSizes, Live, MOVED_BYTES_MAX, MoveBounds, Mover, PageOwner, Victims, Walks,
};
pub(crate) use parts::{CheckpointParts, FlushedParts, OwnedPages, RootParts};
pub(crate) use root::{Covered, RootRecord, decode_root, encode_root};
pub(crate) use space::{KeptSpace, NextFlush};
pub(crate) use table::{bytes_by_part, emptied_by, owner_of, owners, stream_count, written};
