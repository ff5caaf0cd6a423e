//! Appends chunks to streams: one for chunks that die together and are read together.
//!
//! A chunk whose docs take less than a page is rewritten by one of the next flushes that touch its
//! list (see `postings::lists::rules`); a larger one stays for many. In zones of their own, the
//! small chunks leave whole zones behind that are given up without moving anything, and no holes
//! among the large ones. What stays in a sparse zone all the same is moved by the next merge of its
//! list, which writes the list's entry anyway.
//!
//! The parts of small chunks that only phrases read have a stream of their own too: see
//! `rules::is_apart`.
//!
//! Merges side by side append to the same streams, a chunk at a time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::merge_memory::MergeMemory;
use super::rules::{is_apart, is_small};
use super::spans::SpanReader;
use crate::base::{Result, Span, ZoneNumber};
use crate::postings::codec::entry::{ChunkPlace, ChunkRef, Layout};
use crate::storage::{PageKind, Store, StreamWriter, Unsynced};

/// Merges move chunks out of zones of which less than this share lives, so that moving three bytes
/// frees seven.
const SPARSE_SHARE: f64 = 0.3;

/// The streams of one writer.
pub struct ChunkStreams {
    streams: Mutex<Streams>,
    /// Zones that merges move chunks out of.
    sparse: BTreeSet<ZoneNumber>,
    memory: MergeMemory,
}

struct Streams {
    small: StreamWriter,
    small_backs: StreamWriter,
    large: StreamWriter,
}

impl ChunkStreams {
    /// The number of streams.
    pub const COUNT: usize = 3;

    /// Streams without a zone so far. Each merge that appends to them takes at most so much memory.
    pub fn new(store: &Arc<Store>, memory: MergeMemory) -> ChunkStreams {
        let stream = || StreamWriter::new(Arc::clone(store), PageKind::Postings);
        ChunkStreams {
            streams: Mutex::new(Streams {
                small: stream(),
                small_backs: stream(),
                large: stream(),
            }),
            sparse: BTreeSet::new(),
            memory,
        }
    }

    /// Returns the memory that a merge may keep.
    pub(crate) fn memory(&self) -> MergeMemory {
        self.memory
    }

    /// Writes everything out. Not yet durable.
    pub fn flush(&mut self) -> Result<()> {
        self.all().into_iter().try_for_each(StreamWriter::flush)
    }

    /// Takes the unsynced bytes that were written out.
    pub fn take_unsynced(&mut self) -> Unsynced {
        let mut unsynced = Unsynced::default();
        for stream in self.all() {
            unsynced.join(stream.take_unsynced());
        }
        unsynced
    }

    /// Has all streams go on in new zones where less than this share of the open one lives.
    pub fn leave_sparse_open_zones(&mut self, live_share: f64) -> Result<()> {
        let mut streams = self.all().into_iter();
        streams.try_for_each(|stream| stream.leave_sparse_zone(live_share))
    }

    /// All streams, for whoever syncs them.
    pub fn all(&mut self) -> [&mut StreamWriter; ChunkStreams::COUNT] {
        // After a panic of a merge the writer has stopped, and what it had appended does not count.
        let streams = self.streams.get_mut();
        let streams = streams.unwrap_or_else(PoisonError::into_inner);
        [
            &mut streams.small,
            &mut streams.small_backs,
            &mut streams.large,
        ]
    }

    /// Lets the merges of the flush that begins move chunks out of the zones that are sparse now.
    pub fn leave_sparse_zones(&mut self, store: &Store) {
        let zones = store.zones();
        let sparse = zones.iter().filter(|(_, zone)| {
            zone.kind == PageKind::Postings && !zone.open && zone.live_share() < SPARSE_SHARE
        });
        self.sparse = sparse.map(|(number, _)| number).collect();
    }

    /// Returns true if a merge moves this chunk out of the zones it lies in.
    pub(crate) fn leaves(&self, chunk: &ChunkRef) -> bool {
        let mut runs = chunk.place.spans();
        runs.any(|run| self.sparse.contains(&run.zone))
    }

    /// Moves a chunk, with these bytes, out of zones that are to be left; of one in two runs only
    /// those there, since the other may lie in a zone that is full of what is needed. Gives the
    /// reference with its new place.
    pub(crate) fn relocate(
        &self,
        bytes: &[u8],
        chunk: ChunkRef,
        is_left: &dyn Fn(ZoneNumber) -> bool,
        reader: &SpanReader<'_>,
    ) -> Result<ChunkRef> {
        let ChunkPlace { front, back } = chunk.place;
        let Some(back) = back else {
            reader.release(&chunk);
            return self.place(bytes, chunk);
        };
        let (docs, rest) = bytes.split_at(front.length as usize);
        let moved = |run: Span, bytes, stream: &mut StreamWriter| {
            if is_left(run.zone) {
                reader.release_run(run);
                stream.append(bytes)
            } else {
                Ok(run)
            }
        };
        let streams = &mut *self.lock();
        let place = ChunkPlace {
            front: moved(front, docs, &mut streams.small)?,
            back: Some(moved(back, rest, &mut streams.small_backs)?),
        };
        Ok(ChunkRef { place, ..chunk })
    }

    /// [`ChunkStreams::relocate`] out of the zones that merges leave.
    pub(crate) fn leave(
        &self,
        bytes: &[u8],
        chunk: ChunkRef,
        reader: &SpanReader<'_>,
    ) -> Result<ChunkRef> {
        self.relocate(bytes, chunk, &|zone| self.sparse.contains(&zone), reader)
    }

    /// Appends a chunk's bytes and gives the reference with its new place.
    pub(crate) fn place(&self, bytes: &[u8], chunk: ChunkRef) -> Result<ChunkRef> {
        let streams = &mut *self.lock();
        let place = if is_apart(&chunk) {
            let (front, back) = bytes.split_at(chunk.docs_length as usize);
            ChunkPlace {
                front: streams.small.append(front)?,
                back: Some(streams.small_backs.append(back)?),
            }
        } else {
            let stream = if is_small(&chunk) {
                &mut streams.small
            } else {
                &mut streams.large
            };
            let front = match chunk.layout {
                Layout::Grouped => stream.append(bytes),
                Layout::Split => stream.append_aligned(bytes),
            }?;
            ChunkPlace { front, back: None }
        };
        Ok(ChunkRef { place, ..chunk })
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
