//! Flush: a full posting buffer and the IDs beside it move into the trees and their chunks.
//!
//! It runs on a thread of its own while writing goes on into a fresh buffer; nothing that it appends is seen
//! before the checkpoint that ends it (see `checkpoint`). What it changes is the [`Flusher`], which only it
//! and that checkpoint touch; it reads the norms of its documents from a snapshot of the tables.

use std::sync::{Arc, Mutex, MutexGuard};

use super::chores::Asked;
use super::clean::{BESIDE_WRITING, Joining, Worth};
use super::ids::NewIds;
use super::options::Phase;
use super::pace::Filling;
use super::shared::Shared;
use super::vacuum::Vacuum;
use crate::analysis::{FieldId, split_term_key};
use crate::base::{Reservation, Result, ZoneNumber, alone, both, breathe, on_all_cores};
use crate::cache::{FramePool, Pages, finish};
use crate::dictionary::{Change, Tree};
use crate::documents::{DocumentTables, NormCursor};
use crate::postings::{
    Addition, ChunkStreams, MergeItem, NormReader, Norms, PostingBuffer, TermDictionary,
    merge_window,
};
use crate::storage::{Store, Unsynced};

/// Fewer terms than this are not worth a thread.
const FRAGMENTS_AT_LEAST: usize = 512;

/// What a flush changes: the trees, and the chunks that the term dictionary names.
pub(super) struct Flusher {
    pub(super) terms: TermDictionary,
    pub(super) ids: Tree,
    pub(super) postings: ChunkStreams,
    pub(super) worth: Worth,
    /// Bytes that were dead before the last cleaning.
    pub(super) dead_before: u64,
    pub(super) joining: Joining,
    pub(super) vacuum: Vacuum,
    /// Zones below this are not cleaned: they belong to an index that is about to be given up.
    pub(super) first_zone: ZoneNumber,
}

/// One flush.
pub(super) struct Flush {
    pub(super) shared: Arc<Shared>,
    pub(super) flusher: Arc<Mutex<Flusher>>,
    pub(super) buffer: Arc<PostingBuffer>,
    pub(super) ids: Arc<NewIds>,
    /// Bytes of space that are kept for what is in the buffer, until it is written.
    pub(super) kept: u64,
    pub(super) filling: Arc<Filling>,
    /// The tables as they were when the buffer was full.
    pub(super) tables: DocumentTables,
    /// What it was asked for.
    pub(super) asked: Asked,
    /// Held until it is done.
    pub(super) _memory: Arc<Reservation>,
}

impl Flush {
    /// Carries it out. Where it runs beside writing, its pages are durable when this returns, so that the
    /// checkpoint behind it has little left to sync.
    pub(super) fn run(self) -> Result<()> {
        let limits = &self.shared.options.limits;
        let mut flusher = lock(&self.flusher);
        if self.buffer.terms() > 0 {
            limits.enter(Phase::Flush);
        }
        match limits.beside {
            true => {
                self.fill(&mut flusher)?;
                flusher.sync(&self.shared.store)
            }
            false => alone(|| self.fill(&mut flusher)),
        }
    }

    /// Fills the term dictionary and the tree of IDs side by side, then sees to what is dead.
    fn fill(&self, flusher: &mut Flusher) -> Result<()> {
        let Flusher {
            terms,
            ids,
            postings,
            ..
        } = flusher;
        let (terms, ids) = both(|| self.fill_terms(terms, postings), || self.fill_ids(ids));
        terms.and(ids)?;
        self.shared.release_kept(self.kept);
        self.filling.end();
        flusher.vacuum(self.asked.vacuum, &self.shared, &self.tables)?;
        flusher.clean(self.asked.cleaning, &self.shared, &self.tables)
    }

    /// Moves the posting buffer into the term dictionary.
    fn fill_terms(&self, terms: &mut TermDictionary, postings: &mut ChunkStreams) -> Result<()> {
        let buffer = self.buffer.frozen();
        let (keys, order) = buffer.sorted();
        let store = &self.shared.store;
        postings.leave_sparse_zones(store);
        let lists = Lists {
            postings,
            store,
            norms: TableNorms {
                tables: &self.tables,
                pool: &self.shared.pool,
            },
        };
        let new = |ranks: Vec<usize>| {
            self.filling
                .reach(ranks.iter().max().map_or(0, |rank| rank + 1));
            on_all_cores(ranks, FRAGMENTS_AT_LEAST, |share| {
                let fragments = share.into_iter().map(|rank| {
                    breathe();
                    buffer.fragment(order[rank])
                });
                fragments.collect()
            })
        };
        let pool = &self.shared.pool;
        terms.add(pool, &keys, &new, &|additions| lists.join(additions))
    }

    fn fill_ids(&self, tree: &mut Tree) -> Result<()> {
        let ids = self.ids.read();
        let keys = ids.sorted();
        tree.apply(&self.shared.pool, &keys, &mut |window| {
            for index in window.indexes() {
                let change = match ids.entry(keys[index]) {
                    Some(entry) => Change::Put(entry.encode()),
                    None => Change::Remove,
                };
                window.set(index, change)?;
            }
            Ok(())
        })
    }
}

impl Flusher {
    /// One that goes on with these trees and has appended nothing so far.
    pub(super) fn new(shared: &Shared, terms: TermDictionary, ids: Tree) -> Flusher {
        Flusher {
            terms,
            ids,
            postings: ChunkStreams::new(&shared.store, shared.memory.flush),
            worth: BESIDE_WRITING,
            dead_before: 0,
            joining: Joining::default(),
            vacuum: Vacuum::default(),
            first_zone: 0,
        }
    }

    /// Writes everything out; what is returned must be synced.
    pub(super) fn write_out(&mut self) -> Result<Unsynced> {
        self.terms.flush()?;
        self.ids.flush()?;
        self.postings.flush()?;
        let mut unsynced = self.terms.take_unsynced();
        unsynced.join(self.ids.stream().take_unsynced());
        for stream in self.postings.all() {
            unsynced.join(stream.take_unsynced());
        }
        Ok(unsynced)
    }

    fn sync(&mut self, store: &Store) -> Result<()> {
        let unsynced = self.write_out()?;
        store.sync(&unsynced)
    }
}

/// Locks the flusher. After a panic of a flush the writer has stopped, and its trees with it.
pub(super) fn lock(flusher: &Mutex<Flusher>) -> MutexGuard<'_, Flusher> {
    flusher.lock().unwrap_or_else(|e| e.into_inner())
}

/// What adding postings to lists needs.
pub(super) struct Lists<'a> {
    pub(super) postings: &'a ChunkStreams,
    pub(super) store: &'a Store,
    pub(super) norms: TableNorms<'a>,
}

impl Lists<'_> {
    /// The new entries of terms whose lists get more postings.
    pub(super) fn join(&self, additions: Vec<Addition<'_>>) -> Result<Vec<Vec<u8>>> {
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
pub(super) struct TableNorms<'a> {
    pub(super) tables: &'a DocumentTables,
    pub(super) pool: &'a FramePool,
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
