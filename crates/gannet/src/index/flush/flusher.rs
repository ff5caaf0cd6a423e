//! Holds the structures that a flush and the checkpoint behind it change: the trees, and the chunks
//! of lists.

use std::sync::{Mutex, MutexGuard};

use super::sweep::Vacuum;
use crate::analysis::{FieldId, split_term_key};
use crate::base::{Result, ZoneNumber};
use crate::cache::{FramePool, Pages, finish};
use crate::columns::ColumnTree;
use crate::documents::{DocumentTables, NormCursor};
use crate::index::owners::{FlushedParts, KeptSpace};
use crate::index::schedule::{CleaningPolicy, Condition};
use crate::index::state::Shared;
use crate::postings::{
    Addition, ChunkStreams, MergeItem, NormReader, Norms, TermDictionary, merge_window,
};
use crate::runs::Runs;
use crate::storage::Store;

/// The structures that a flush changes: the trees, and the chunks that the term dictionary names.
pub(crate) struct Flusher {
    pub(crate) terms: TermDictionary,
    pub(crate) ids: Runs,
    pub(crate) columns: ColumnTree,
    pub(crate) postings: ChunkStreams,
    /// The cleaning of the flush under way, of which the checkpoint behind it does the rest.
    pub(crate) cleaning: Option<CleaningPolicy>,
    /// Bytes that were dead before the last cleaning.
    pub(crate) dead_before: u64,
    pub(crate) joining: ChunkJoining,
    pub(crate) vacuum: Vacuum,
    /// Zones below this are not cleaned: they belong to an index that is about to be given up.
    pub(crate) first_zone: ZoneNumber,
}

/// The progress of a sweep over all lists that joins their small chunks.
#[derive(Debug, Default)]
pub(crate) struct ChunkJoining {
    /// The key that it goes on at; nothing if it is not under way.
    pub(crate) from: Option<Vec<u8>>,
    /// Set if the last step joined any chunks, or delta postings with their lists.
    pub(crate) any: bool,
}

impl Flusher {
    /// One that goes on with these trees and has appended nothing so far.
    pub(crate) fn new(
        shared: &Shared,
        terms: TermDictionary,
        ids: Runs,
        columns: ColumnTree,
    ) -> Flusher {
        Flusher {
            terms,
            ids,
            columns,
            postings: ChunkStreams::new(&shared.store, shared.memory.flush),
            cleaning: None,
            dead_before: 0,
            joining: ChunkJoining::default(),
            vacuum: Vacuum::default(),
            first_zone: 0,
        }
    }

    /// Returns the condition about which a flush asks the scheduler.
    pub(crate) fn condition<'s>(
        &self,
        shared: &'s Shared,
        tables: &DocumentTables,
    ) -> Condition<'s> {
        let gone = self.vacuum.so_far.documents;
        Condition {
            shared,
            terms: self.terms.view(),
            documents: (tables.end() as u64).saturating_sub(gone),
            dead: tables.deleted_count().saturating_sub(gone),
            is_sweeping: self.vacuum.sweep.is_some(),
            is_unseen: false,
            log: None,
            kept: KeptSpace::NONE,
            lacking: 0,
        }
    }

    /// Hands its structures to owners of pages.
    pub(crate) fn parts<'a>(&'a mut self, shared: &'a Shared) -> FlushedParts<'a> {
        FlushedParts {
            shared,
            terms: &mut self.terms,
            ids: &mut self.ids,
            columns: &mut self.columns,
            postings: &mut self.postings,
        }
    }

    /// Writes everything out and makes it durable.
    pub(crate) fn sync(&mut self, shared: &Shared) -> Result<()> {
        let mut parts = self.parts(shared);
        let mut unsynced = parts.flush_nodes()?;
        unsynced.join(parts.flush_chunks()?);
        shared.store.sync(&unsynced)
    }
}

/// Locks the flusher. After a panic of a flush the writer has stopped, and its trees with it.
pub(crate) fn lock(flusher: &Mutex<Flusher>) -> MutexGuard<'_, Flusher> {
    flusher.lock().unwrap_or_else(|e| e.into_inner())
}

/// The state for adding postings to lists.
pub(crate) struct ListMerger<'a> {
    pub(crate) postings: &'a ChunkStreams,
    pub(crate) store: &'a Store,
    pub(crate) norms: TableNorms<'a>,
}

impl ListMerger<'_> {
    /// The new entries of terms whose lists get more postings.
    pub(crate) fn join(&self, additions: Vec<Addition<'_>>) -> Result<Vec<Vec<u8>>> {
        let mut items = Vec::with_capacity(additions.len());
        for Addition { key, old, new } in additions {
            let (field, _) = split_term_key(key)?;
            items.push(MergeItem {
                field,
                key_bytes: key.len(),
                old,
                new,
                joins: false,
            });
        }
        merge_window(self.store, self.postings, &self.norms, &items)
    }
}

/// Norms out of the document tables.
pub(crate) struct TableNorms<'a> {
    pub(crate) tables: &'a DocumentTables,
    pub(crate) pool: &'a FramePool,
}

impl Norms for TableNorms<'_> {
    /// Lists are read in order and sorted by field, so a reader keeps one cursor with its page.
    fn reader(&self) -> NormReader<'_> {
        let mut at: Option<(FieldId, NormCursor)> = None;
        let mut pages = Pages::new(self.pool);
        Box::new(move |field, doc| {
            let cursor = match &mut at {
                Some((same, cursor)) if *same == field => cursor,
                other => {
                    let cursor = self.tables.norm_cursor(field);
                    &mut other.insert((field, cursor)).1
                }
            };
            if let Some(norm) = cursor.held(doc) {
                return Ok(norm);
            }
            // The cursor holds its page. Several readers that held all that they have passed
            // would take every frame.
            pages.clear();
            finish(&mut pages, |pages| cursor.norm(doc, pages))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::{Budget, PAGE_PAYLOAD, PAGE_SIZE, Span};
    use crate::device::MemoryDevice;
    use crate::storage::{PageKind, StreamWriter, ZoneTable};

    const FRAMES: usize = 64;

    #[test]
    fn readers_of_norms_hold_few_frames_however_far_they_go() {
        let store = Arc::new(Store::new(
            Arc::new(MemoryDevice::new()),
            7,
            ZoneTable::default(),
        ));
        let mut tables = DocumentTables::new();
        let docs = (FRAMES * 3 * PAGE_PAYLOAD) as u32;
        let place = Span {
            zone: 1,
            page: 0,
            offset: 0,
            length: 9,
        };
        for doc in 0..docs {
            tables
                .push(doc, place, &[(0, 1 + (doc % 200) as u8)])
                .unwrap();
        }
        let mut stream = StreamWriter::new(Arc::clone(&store), PageKind::Table);
        tables.write_changes(&store, &mut stream).unwrap();
        stream.flush().unwrap();
        let budget = Budget::new(16 << 20);
        let pool = FramePool::new(store, &budget, FRAMES * PAGE_SIZE).unwrap();
        let norms = TableNorms {
            tables: &tables,
            pool: &pool,
        };
        let mut readers = [norms.reader(), norms.reader()];
        for doc in (0..docs).step_by(1000) {
            for (reader, doc) in readers.iter_mut().zip([doc, docs - 1 - doc]) {
                assert_eq!(reader(0, doc).unwrap(), 1 + (doc % 200) as u8);
            }
        }
    }
}
