//! Runs as of one moment: what readers use.

use std::sync::Arc;

use super::filter::RunFilter;
use crate::base::{KeyHash, PageAddress};
use crate::btree::TreeView;
use crate::cache::{Bytes, Pages, Step, Stop, gather};

/// Runs of a level before they are merged into one of the next. Of 100 flushes the oldest entries
/// are written three times so; with four they would be four times, and with sixteen a look-up would
/// ask about twice as many filters.
const RUNS_A_LEVEL: usize = 8;

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct RunView {
    pub(crate) tree: TreeView,
    pub(crate) filter: RunFilter,
    /// Flushes whose entries it has are between `RUNS_A_LEVEL` to the power of this, and as many to
    /// the next power.
    pub(crate) level: u64,
}

/// An immutable snapshot of all runs, the newest first. Clones are cheap.
#[derive(Clone, Debug, Default)]
pub struct RunsView {
    pub(crate) runs: Arc<[RunView]>,
    /// Nodes that were appended of runs that are gone.
    pub(crate) appended_before: u64,
}

/// The runs that the next change merges with what it brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// So many of the newest.
    pub(crate) runs: usize,
    /// The level of the run that they make.
    pub(crate) level: u64,
}

impl Due {
    /// Returns what is due where runs have these levels, those of the newest first.
    pub(crate) fn of(levels: impl Iterator<Item = u64> + Clone) -> Due {
        let mut due = Due { runs: 0, level: 0 };
        loop {
            let others = levels.clone().skip(due.runs);
            let of_level = others.take_while(|level| *level == due.level).count();
            if of_level + 1 < RUNS_A_LEVEL {
                return due;
            }
            due.runs += of_level;
            due.level += 1;
        }
    }
}

impl RunsView {
    /// Returns true if there is no run.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Entries of all runs: a key that several have counts several times, a removed one too.
    pub fn entries(&self) -> u64 {
        self.trees().map(TreeView::entries).sum()
    }

    /// Returns the runs without a filter in memory, each of which any look-up may read a leaf of.
    pub fn unfiltered(&self) -> usize {
        let unfiltered = self.runs.iter().filter(|run| !run.filter.is_of_use());
        unfiltered.count()
    }

    /// Nodes of all runs, each one page.
    pub fn nodes(&self) -> u64 {
        self.trees().map(TreeView::nodes).sum()
    }

    /// Nodes that hold entries.
    pub fn leaves(&self) -> u64 {
        self.trees().map(TreeView::leaves).sum()
    }

    /// Levels of the highest tree.
    pub fn height(&self) -> usize {
        self.trees().map(TreeView::height).max().unwrap_or(0)
    }

    /// Nodes appended since the runs were opened, those moved by cleaning too.
    pub fn appended(&self) -> u64 {
        self.appended_before + self.trees().map(TreeView::appended).sum::<u64>()
    }

    /// Returns the nodes of the runs that the next changes merge, one or two of them. Of two that
    /// follow each other one merges at most.
    pub fn nodes_to_merge(&self, changes: u64) -> u64 {
        let levels = self.runs.iter().map(|run| run.level);
        let now = Due::of(levels.clone()).runs;
        let merged = if now > 0 || changes < 2 {
            now
        } else {
            // The change before brings a run of its own.
            let next = Due::of(std::iter::once(0).chain(levels)).runs;
            next.saturating_sub(1)
        };
        self.trees().take(merged).map(TreeView::nodes).sum()
    }

    /// Bytes of memory that mappings and filters hold.
    pub fn memory_bytes(&self) -> usize {
        let of_run = |run: &RunView| run.tree.memory_bytes() + run.filter.memory_bytes();
        self.runs.iter().map(of_run).sum()
    }

    /// Returns the trees of all runs, the newest first.
    pub fn trees(&self) -> impl Iterator<Item = &TreeView> {
        self.runs.iter().map(|run| &run.tree)
    }

    /// Returns the addresses of the pages of all filters.
    pub fn filter_pages(&self) -> impl Iterator<Item = PageAddress> {
        self.runs.iter().flat_map(|run| run.filter.pages())
    }

    /// The value of a key; nothing if it is not there, or was removed.
    pub fn get(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<Option<Bytes>> {
        let newest = find(&self.runs, key, pages)?;
        Ok(newest.filter(|value| !value.is_empty()))
    }

    /// The values of many keys, in their order: one round per level for all of them together.
    ///
    /// A round may read a leaf of each of the [`RunsView::unfiltered`] runs for every key, so ask
    /// for no more keys at once than the frame pool can hold of them.
    pub fn lookup_all(&self, keys: &[&[u8]], pages: &mut Pages<'_>) -> Step<Vec<Option<Bytes>>> {
        gather(keys, |key| self.get(key, pages))
    }
}

/// The value of a key in the newest of some runs that has it; it may be empty. The leaves of all
/// runs that may have it are read in one round.
pub(crate) fn find(runs: &[RunView], key: &[u8], pages: &mut Pages<'_>) -> Step<Option<Bytes>> {
    let hash = KeyHash::of(key);
    let mut complete = true;
    for run in runs.iter().filter(|run| run.filter.may_have(hash)) {
        match run.tree.get(key, pages) {
            Ok(None) => {}
            Ok(value) if complete => return Ok(value),
            Ok(_) => return Err(Stop::Pages),
            Err(Stop::Pages) => complete = false,
            failed => return failed,
        }
    }
    if complete { Ok(None) } else { Err(Stop::Pages) }
}
