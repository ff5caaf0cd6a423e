//! Pages of chunks of postings lists. Entries of the term dictionary refer to them.

use super::nodes::{mapping_bytes, node_bytes};
use super::owner::{
    IndexSizes, Live, MOVED_BYTES_MAX, MoveBounds, Mover, PageOwner, Victims, Walks,
};
use super::parts::{CheckpointParts, FlushedParts, RootParts};
use super::space::{KeptSpace, NextFlush};
use crate::base::{Result, Span, ZoneNumber};
use crate::cache::{Pages, finish};
use crate::index::state::{BytesByPart, BytesWritten, Phase, Shared, State};
use crate::postings::{ChunkStreams, TermEntry, TermTree, relocate_window};
use crate::storage::{PageKind, Unsynced};

/// The owner of the pages of chunks.
pub(crate) struct ChunkPages;

impl PageOwner for ChunkPages {
    fn kind(&self) -> PageKind {
        PageKind::Postings
    }

    fn streams(&self) -> usize {
        ChunkStreams::COUNT
    }

    fn root_parts(&self) -> usize {
        0
    }

    /// Does nothing: the flush has appended what there is.
    fn write_changes(&self, _: &mut CheckpointParts<'_>) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    fn flush(&self, parts: &mut CheckpointParts<'_>) -> Result<Unsynced> {
        parts.flushed.flush_chunks()
    }

    fn space(&self, next: &NextFlush<'_>) -> KeptSpace {
        // What comes to a list may have as much of it written anew.
        let new = next.posting_bytes + next.id_bytes;
        let merged = new.min(next.live_bytes(self.kind()));
        KeptSpace {
            buffered: next.posting_bytes + merged,
            rest: 0,
        }
    }

    fn mover(&self) -> Mover {
        Mover::InFlush {
            bounds,
            act: move_chunks,
        }
    }

    fn live<'s>(&self, _: &'s State, _: Option<Span>, _: &RootParts) -> Live<'s> {
        Live::Walked
    }

    /// Leaves it to the walk over lists, which the owner of nodes has made.
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
        &mut bytes.postings
    }

    fn written_figure<'b>(&self, written: &'b mut BytesWritten) -> &'b mut u64 {
        &mut written.postings
    }
}

fn bounds(sizes: &IndexSizes<'_>) -> MoveBounds {
    // A leaf is written for each of the entries whose chunks move, but none more than once.
    let leaves = node_bytes(sizes.terms, &mut TermTree::WITH_CHUNKS.into_iter());
    let beside = leaves + mapping_bytes(sizes);
    MoveBounds {
        beside,
        most: MOVED_BYTES_MAX.saturating_add(beside),
        takes_all: false,
    }
}

/// Sweeps the entries with chunks for those that have some in the victims and moves these.
fn move_chunks(parts: &mut FlushedParts<'_>, victims: &Victims) -> Result<()> {
    // The flush before has left nodes in the stream's buffer, where a scan would not find them.
    parts.terms.flush()?;
    let shared = parts.shared;
    shared.options.limits.enter(Phase::Cleaning);
    let is_victim = |zone| victims.contains(&zone);
    let keys = keys_with_chunks(parts, &is_victim)?;
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let (store, postings) = (&shared.store, &*parts.postings);
    parts.terms.update(&shared.pool, &keys, &|old| {
        // All of them are there: the sweep found them.
        let entries = old.iter().map(|(_, entry)| entry.unwrap_or_default());
        let entries: Vec<&[u8]> = entries.collect();
        let moved = relocate_window(&entries, &is_victim, store, postings)?;
        Ok(moved.into_iter().collect())
    })
}

fn keys_with_chunks(
    parts: &FlushedParts<'_>,
    is_victim: &dyn Fn(ZoneNumber) -> bool,
) -> Result<Vec<Vec<u8>>> {
    let terms = parts.terms.view();
    let mut pages = Pages::new(&parts.shared.pool);
    let mut keys = Vec::new();
    for tree in TermTree::WITH_CHUNKS {
        let tree = terms.tree(tree);
        let mut scan = tree.scan(&[]);
        while finish(&mut pages, |pages| scan.advance(tree, pages))? {
            let chunks = TermEntry::decode_only_chunks(scan.value())?;
            let mut spans = chunks.iter().flat_map(|chunk| chunk.place.spans());
            if spans.any(|run| is_victim(run.zone)) {
                keys.push(scan.key().to_vec());
            }
        }
    }
    keys.sort_unstable();
    Ok(keys)
}
