//! Figures of an index: documents, terms, bytes by part, memory by part.

use crate::base::{DocId, PAGE_SIZE, Result};
use crate::btree::TreeView;
use crate::cache::FlashTier;
use crate::device::CountersSnapshot;
use crate::index::handle::Index;
use crate::index::owners::{bytes_by_part, written};
use crate::index::recovery::{AnswersOnFlash, CacheState};
use crate::index::state::{BytesByPart, BytesWritten, Lifetime};
use crate::postings::{DELTA_LEVELS, TermTree};
use crate::search::{ResultCache, ResultCacheFigures};

/// The figures of an index at one moment.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Documents that can be found.
    pub documents: u64,
    /// Deleted and replaced documents of which lists and tables still have something, which a
    /// vacuum takes out.
    pub dead_documents: u64,
    /// Doc IDs given, deleted and replaced documents included.
    pub doc_ids: DocId,
    /// Distinct terms in the dictionary, at most: those with delta postings may count twice. Terms
    /// that are only in memory are not among them.
    pub terms: u64,
    /// Distinct terms in memory.
    pub terms_in_memory: u64,
    /// Bytes on flash, by part.
    pub bytes: BytesByPart,
    /// Bytes of memory, by part.
    pub memory: MemoryByPart,
    /// Levels, nodes and leaves of the term dictionary's tree of lists of frequent words.
    pub frequent_lists: TreeFigures,
    /// The same of its tree of other lists that have chunks.
    pub long_lists: TreeFigures,
    /// The same of its tree of lists that have none: they stand in its leaves.
    pub short_lists: TreeFigures,
    /// The same of its small trees of delta postings, which are to join those lists: the newest
    /// first.
    pub delta_postings: [TreeFigures; DELTA_LEVELS],
    /// The same of the runs of external IDs together. An ID that was written again or removed
    /// counts in each run that has it.
    pub ids: TreeFigures,
    /// The same of the tree of columns.
    pub columns: TreeFigures,
    /// Runs of external IDs.
    pub id_runs: u64,
    /// Flushes since the index was opened.
    pub flushes: u64,
    /// Bytes written since the index was opened, by cause.
    pub written: BytesWritten,
    /// The lifetime write statistics, as of the last checkpoint.
    pub lifetime: Lifetime,
    /// Bytes that are free on the device; as many as there can be where it does not tell.
    pub device_free: u64,
    /// The device's counters since the index was opened.
    pub io: CountersSnapshot,
}

/// Bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryByPart {
    /// The memory budget.
    pub budget: u64,
    /// Reserved now.
    pub used: u64,
    /// The most ever reserved.
    pub peak: u64,
    /// The frame pool.
    pub frames: u64,
    /// The posting buffers: the one being filled, and one being flushed.
    pub posting_buffer: u64,
    /// Tables and node mappings that stay in memory.
    pub tables: u64,
}

/// Figures of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeFigures {
    /// Levels.
    pub height: u64,
    /// Nodes of all levels.
    pub nodes: u64,
    /// Leaves.
    pub leaves: u64,
    /// Entries.
    pub entries: u64,
    /// Nodes written since the index was opened.
    pub written_nodes: u64,
}

impl TreeFigures {
    fn of(view: &TreeView) -> TreeFigures {
        TreeFigures {
            height: view.height() as u64,
            nodes: view.nodes(),
            leaves: view.leaves(),
            entries: view.entries(),
            written_nodes: view.appended(),
        }
    }
}

impl Index {
    /// The figures of the index now.
    pub fn stats(&self) -> Result<Stats> {
        let shared = self.shared();
        let state = shared.published.get();
        let of_terms = |tree| TreeFigures::of(state.terms.tree(tree));
        Ok(Stats {
            documents: state.documents,
            dead_documents: state.dead_documents(),
            doc_ids: state.below,
            terms: state.terms.terms(),
            terms_in_memory: state.buffers.terms() as u64,
            bytes: bytes_by_part(&shared.store),
            memory: MemoryByPart {
                budget: shared.budget.total() as u64,
                used: shared.budget.used() as u64,
                peak: shared.budget.peak() as u64,
                frames: (shared.pool.capacity() * PAGE_SIZE) as u64,
                posting_buffer: state.buffers.memory_bytes() as u64,
                tables: state.tables_bytes() as u64,
            },
            frequent_lists: of_terms(TermTree::Frequent),
            long_lists: of_terms(TermTree::Long),
            short_lists: of_terms(TermTree::Short),
            delta_postings: std::array::from_fn(|level| of_terms(TermTree::Delta(level))),
            ids: TreeFigures {
                height: state.ids.height() as u64,
                nodes: state.ids.nodes(),
                leaves: state.ids.leaves(),
                entries: state.ids.entries(),
                written_nodes: state.ids.appended(),
            },
            columns: TreeFigures::of(state.column_tree.tree()),
            id_runs: state.ids.len() as u64,
            flushes: state.flushes,
            written: written(&shared.store),
            lifetime: state.lifetime,
            device_free: shared.store.device().free_bytes()?,
            io: self.counters(),
        })
    }
}

impl Index {
    /// The figures of the result cache that [`Options::result_cache`](crate::Options::result_cache)
    /// asked for; nothing if it asked for none.
    pub fn result_cache(&self) -> Option<ResultCacheFigures> {
        let cache = self.shared().results.as_ref();
        cache.map(ResultCache::figures)
    }
}

impl Index {
    /// Returns the state of the answers on flash that [`Options::cache`](crate::Options::cache)
    /// asked for; nothing if it asked for none.
    pub fn answers_on_flash(&self) -> Option<AnswersOnFlash> {
        let shared = self.shared();
        let past = shared.past_answers.clone().map(AnswersOnFlash::Past);
        let results = shared.results.as_ref();
        let used = || results.and_then(ResultCache::flash_figures);
        past.or_else(|| used().map(AnswersOnFlash::Used))
    }

    /// Returns the state of the flash tier that [`Options::cache`](crate::Options::cache) asked
    /// for; nothing if it asked for none.
    pub fn cache(&self) -> Option<CacheState> {
        let shared = self.shared();
        if shared.options.keeps_no_pages() {
            return Some(CacheState::OnOneDisk);
        }
        let past = shared.past_cache.clone().map(CacheState::Past);
        let used = |tier: &FlashTier| CacheState::Used(tier.figures());
        past.or_else(|| shared.pool.tier().map(used))
    }
}
