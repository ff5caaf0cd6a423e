//! One flush: a full posting buffer, and the IDs and values beside it, move to flash. It
//! reads the norms of its documents from a snapshot of the tables.

use std::sync::{Arc, Mutex};

use super::flusher::{Flusher, ListMerger, TableNorms, lock};
use super::progress::FlushProgress;
use crate::base::{Reservation, Result, alone, back_off, both, on_all_cores};
use crate::columns::{ColumnTree, Columns, ValueBuffer};
use crate::documents::DocumentTables;
use crate::index::schedule::Requests;
use crate::index::state::{NewIds, Phase, Shared};
use crate::postings::{
    ChunkStreams, Fragment, FrozenBuffer, NewPostings, PostingBuffer, ShortList, TermDictionary,
};
use crate::runs::Runs;

/// Fewer terms than this are not worth a thread.
const FRAGMENTS_AT_LEAST: usize = 512;

/// One flush.
pub(crate) struct Flush {
    pub(crate) shared: Arc<Shared>,
    pub(crate) flusher: Arc<Mutex<Flusher>>,
    pub(crate) buffer: Arc<PostingBuffer>,
    pub(crate) ids: Arc<NewIds>,
    pub(crate) values: Arc<ValueBuffer>,
    /// The decisions on columns when the buffer was full.
    pub(crate) columns: Arc<Columns>,
    /// Bytes of space that are kept for what is in the buffer, until it is written.
    pub(crate) kept: u64,
    pub(crate) filling: Arc<FlushProgress>,
    /// The tables as they were when the buffer was full.
    pub(crate) tables: DocumentTables,
    /// The requests that it carries out.
    pub(crate) asked: Requests,
    /// Set if all postings of the documents in the tables are in the dictionary then, and none
    /// elsewhere.
    pub(crate) vacuums: bool,
    /// Held until it is done.
    pub(crate) _memory: Arc<Reservation>,
}

impl Flush {
    /// Carries it out. Where it runs beside writing, its pages are durable when this returns, so
    /// that the checkpoint behind it has little left to sync.
    pub(crate) fn run(self) -> Result<()> {
        let limits = &self.shared.options.limits;
        let mut flusher = lock(&self.flusher);
        if self.buffer.terms() > 0 {
            limits.enter(Phase::Flush);
        }
        if limits.beside {
            self.fill(&mut flusher)?;
            flusher.sync(&self.shared)
        } else {
            alone(|| self.fill(&mut flusher))
        }
    }

    /// Fills the term dictionary, and a run of IDs and the columns, side by side, then sees to what
    /// is dead.
    fn fill(&self, flusher: &mut Flusher) -> Result<()> {
        let Flusher {
            terms,
            ids,
            columns,
            postings,
            ..
        } = flusher;
        let fill_others = || self.fill_ids(ids).and_then(|()| self.fill_columns(columns));
        let (terms, others) = both(|| self.fill_terms(terms, postings), fill_others);
        terms.and(others)?;
        self.shared.room.release_kept(self.kept);
        self.filling.end();
        if self.vacuums {
            flusher.vacuum(self.asked, &self.shared, &self.tables)?;
        }
        flusher.clean(self.asked, &self.shared, &self.tables)
    }

    /// Moves the posting buffer into the term dictionary.
    fn fill_terms(&self, terms: &mut TermDictionary, postings: &mut ChunkStreams) -> Result<()> {
        let buffer = self.buffer.frozen();
        let (keys, order) = buffer.sorted();
        let store = &self.shared.store;
        postings.leave_sparse_zones(store);
        let lists = ListMerger {
            postings,
            store,
            norms: TableNorms {
                tables: &self.tables,
                pool: &self.shared.pool,
            },
        };
        let new = BufferedPostings {
            buffer: &buffer,
            order: &order,
            filling: &self.filling,
        };
        let pool = &self.shared.pool;
        terms.add(pool, &keys, &new, &|additions| lists.join(additions))
    }

    /// Moves the values into the columns.
    fn fill_columns(&self, columns: &mut ColumnTree) -> Result<()> {
        columns.add(&self.shared.pool, &self.values, &self.columns)
    }

    /// Makes a run of the new IDs; one that was removed has an empty entry.
    fn fill_ids(&self, runs: &mut Runs) -> Result<()> {
        let ids = self.ids.read();
        runs.add(&self.shared.pool, &ids.sorted(), &|key| {
            let entry = ids.entry(key);
            entry.map_or(Vec::new(), |entry| entry.encode())
        })
    }
}

/// The postings of a buffer, by the ranks of their terms in the order of keys.
struct BufferedPostings<'a> {
    buffer: &'a FrozenBuffer<'a>,
    /// The slot of each term.
    order: &'a [u32],
    filling: &'a FlushProgress,
}

impl NewPostings for BufferedPostings<'_> {
    fn of(&self, ranks: Vec<usize>) -> Vec<Fragment> {
        self.filling
            .reach(ranks.iter().max().map_or(0, |rank| rank + 1));
        on_all_cores(ranks, FRAGMENTS_AT_LEAST, |share| {
            let fragments = share.into_iter().map(|rank| {
                back_off();
                self.buffer.fragment(self.order[rank])
            });
            fragments.collect()
        })
    }

    fn short(&self, rank: usize) -> Option<ShortList<'_>> {
        if rank.is_multiple_of(FRAGMENTS_AT_LEAST) {
            self.filling.reach(rank + 1);
        }
        self.buffer.short(self.order[rank])
    }

    fn bytes_min(&self, rank: usize) -> usize {
        self.buffer.bytes_min(self.order[rank])
    }
}
