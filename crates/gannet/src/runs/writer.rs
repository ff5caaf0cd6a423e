//! The one writer of runs.
//!
//! Invariants:
//! 1. From the newest run to the oldest, levels never descend.
//! 2. A run that was given to readers is never changed; merged ones give their pages up, which stay
//!    as long as a root or a snapshot has them.
//! 3. After a failure the tree rejects all further work (see [`Tree`]).

use std::sync::Arc;

use super::filter::{RunFilter, filter_bytes};
use super::merging::{MergedEntry, Merging, NewEntries};
use super::view::{Due, RunView, RunsView};
use crate::base::{ByteReader, Result, ZoneNumber, put_bytes, put_varint};
use crate::btree::{Change, Tree, TreeView};
use crate::cache::FramePool;
use crate::storage::{Store, StreamWriter, Unsynced};

/// Bytes of entries that are put at once.
const BYTES_AT_ONCE: usize = 256 << 10;

/// More runs than a number of flushes below 2^64 can leave.
const RUNS_MAX: usize = 1024;

/// Runs that can be added to.
pub struct Runs {
    store: Arc<Store>,
    /// Builds the next run, and is empty in between.
    tree: Tree,
    /// The newest first.
    runs: Vec<RunView>,
    /// Nodes that were appended of runs that are gone.
    appended_before: u64,
    /// Bytes that all filters may take.
    filters_max: u64,
}

impl Runs {
    /// No runs, whose filters may take so many bytes.
    pub fn new(store: Arc<Store>, filters_max: usize) -> Runs {
        Runs {
            tree: Tree::new(Arc::clone(&store)),
            store,
            runs: Vec::new(),
            appended_before: 0,
            filters_max: filters_max as u64,
        }
    }

    /// The runs that [`Runs::encode`] described. Reads their mappings, and filters as far as they
    /// may be in memory.
    pub fn open(store: Arc<Store>, filters_max: usize, bytes: &[u8]) -> Result<Runs> {
        let mut runs = Runs::new(Arc::clone(&store), filters_max);
        for (tree, level, filter) in decode(bytes)? {
            let tree = Tree::open(Arc::clone(&store), tree)?.view().clone();
            runs.runs.push(RunView {
                tree,
                filter,
                level,
            });
        }
        for at in runs.filters_within_limit() {
            runs.runs[at].filter.load(&store)?;
        }
        Ok(runs)
    }

    /// The newest state. Give it to readers only after [`Runs::flush`].
    pub fn view(&self) -> RunsView {
        RunsView {
            runs: self.runs.as_slice().into(),
            appended_before: self.appended_before,
        }
    }

    /// Adds entries under `keys` (sorted, distinct), before which all that is there with these keys
    /// counts no more. An empty value removes a key.
    ///
    /// An error stops the runs for good.
    pub fn add(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        value: &dyn Fn(&[u8]) -> Vec<u8>,
    ) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let due = Due::of(self.runs.iter().map(|run| run.level));
        self.build(pool, NewEntries { keys, value }, due)
    }

    /// Merges all runs into one.
    pub fn merge_all(&mut self, pool: &FramePool) -> Result<()> {
        let Some(oldest) = self.runs.last().filter(|_| self.runs.len() > 1) else {
            return Ok(());
        };
        let due = Due {
            runs: self.runs.len(),
            level: oldest.level,
        };
        let nothing = NewEntries {
            keys: &[],
            value: &|_| Vec::new(),
        };
        self.build(pool, nothing, due)
    }

    /// Writes all nodes out. They are durable when what [`Runs::take_unsynced`] gives is synced.
    pub fn flush(&mut self) -> Result<()> {
        self.tree.flush()
    }

    /// Takes the unsynced bytes that were written out.
    pub fn take_unsynced(&mut self) -> Unsynced {
        self.tree.stream().take_unsynced()
    }

    /// Goes on in a new zone if less than this share of the open one lives.
    pub fn leave_sparse_zone(&mut self, live_share: f64) -> Result<()> {
        self.tree.leave_sparse_zone(live_share)
    }

    /// Appends all nodes in victim zones anew; see [`Tree::move_out_of`].
    pub fn move_out_of(
        &mut self,
        pool: &FramePool,
        is_victim: &dyn Fn(ZoneNumber) -> bool,
    ) -> Result<()> {
        self.limit_filters();
        for at in 0..self.runs.len() {
            self.with_run(at, |tree| tree.move_out_of(pool, is_victim).map(drop))?;
            self.runs[at].filter.move_out_of(is_victim);
        }
        Ok(())
    }

    /// Writes the changed pages of mappings and filters to `tables` and appends what [`Runs::open`]
    /// needs.
    pub fn encode(&mut self, tables: &mut StreamWriter, out: &mut Vec<u8>) -> Result<()> {
        put_varint(out, self.runs.len() as u64);
        for at in 0..self.runs.len() {
            let mut root = Vec::new();
            self.with_run(at, |tree| tree.encode(tables, &mut root))?;
            put_bytes(out, &root);
            let run = &mut self.runs[at];
            put_varint(out, run.level);
            run.filter.encode(&self.store, tables, out)?;
        }
        Ok(())
    }

    /// Writes a run of new entries and of those runs that are due, which it takes the place of.
    fn build(&mut self, pool: &FramePool, new: NewEntries<'_>, due: Due) -> Result<()> {
        self.tree.flush()?;
        let merged = &self.runs[..due.runs];
        let is_whole = due.runs == self.runs.len();
        let older = merged.iter().map(|run| run.tree.entries());
        let entries = new.keys.len() as u64 + older.sum::<u64>();
        let mut filter = self.filter_for(entries, due.runs);
        let mut merging = Merging::new(new, merged, is_whole, pool)?;
        // Runs that are merged together die together: they leave whole zones behind.
        if due.runs > 0 {
            self.tree.stream().close_zone()?;
        }
        loop {
            let entries = merging.next(BYTES_AT_ONCE)?;
            if entries.is_empty() {
                break;
            }
            entries.iter().for_each(|(key, _)| filter.insert(key));
            put(&mut self.tree, pool, entries)?;
        }
        drop(merging);
        self.tree.flush()?;
        if due.runs > 0 {
            self.tree.stream().close_zone()?;
        }
        let tree = self.tree.exchange(TreeView::new());
        let merged: Vec<RunView> = self.runs.drain(..due.runs).collect();
        for run in merged {
            self.discard(run)?;
        }
        if tree.entries() > 0 {
            let level = due.level;
            self.runs.insert(
                0,
                RunView {
                    tree,
                    filter,
                    level,
                },
            );
        } else {
            self.appended_before += tree.appended();
        }
        self.limit_filters();
        Ok(())
    }

    /// An empty filter for a run of so many entries that takes the place of the newest `merged`.
    fn filter_for(&self, entries: u64, merged: usize) -> RunFilter {
        let larger = self.runs[merged..].iter();
        let larger = larger.filter(|run| run.tree.entries() >= entries);
        let beside: u64 = self.runs[merged..]
            .iter()
            .map(|run| run.filter.bytes())
            .sum();
        let larger: u64 = larger.map(|run| run.filter.bytes()).sum();
        // Those of larger runs are given up for it.
        if filter_bytes(entries) + beside - larger <= self.filters_max {
            RunFilter::for_keys(entries)
        } else {
            RunFilter::none()
        }
    }

    /// Gives up filters that are left on the device, and those of the largest runs until the others
    /// take no more memory than they may.
    fn limit_filters(&mut self) {
        let kept = self.filters_within_limit();
        for (at, run) in self.runs.iter_mut().enumerate() {
            if !kept.contains(&at) || run.filter.is_left_out() {
                run.filter.give_up(&self.store);
            }
        }
    }

    /// The runs of which the filters may be in memory: the smallest.
    fn filters_within_limit(&self) -> Vec<usize> {
        let mut runs: Vec<usize> = (0..self.runs.len()).collect();
        runs.sort_by_key(|at| self.runs[*at].filter.bytes());
        let mut left = self.filters_max;
        runs.retain(|at| {
            let bytes = self.runs[*at].filter.bytes();
            let fits = bytes <= left;
            left -= if fits { bytes } else { left };
            fits
        });
        runs
    }

    /// Gives the pages of a run up.
    fn discard(&mut self, mut run: RunView) -> Result<()> {
        self.appended_before += run.tree.appended();
        run.filter.give_up(&self.store);
        let building = self.tree.exchange(run.tree);
        let cleared = self.tree.clear();
        self.tree.exchange(building);
        cleared
    }

    /// Does to the tree of a run what changes no entry.
    fn with_run<T>(&mut self, at: usize, act: impl FnOnce(&mut Tree) -> Result<T>) -> Result<T> {
        let view = std::mem::replace(&mut self.runs[at].tree, TreeView::new());
        let building = self.tree.exchange(view);
        let done = act(&mut self.tree);
        self.runs[at].tree = self.tree.exchange(building);
        done
    }
}

/// The root of a run: that of its tree, its level and its filter.
type RunRoot<'a> = (&'a [u8], u64, RunFilter);

/// Decodes the roots of runs, the newest first.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<RunRoot<'_>>> {
    let mut reader = ByteReader::new(bytes, "the root of runs");
    let mut roots: Vec<RunRoot<'_>> = Vec::new();
    for _ in 0..reader.length(RUNS_MAX)? {
        let (tree, level) = (reader.bytes()?, reader.varint()?);
        if roots.last().is_some_and(|(_, newer, _)| level < *newer) {
            return Err(reader.damaged("levels that do not descend", level));
        }
        roots.push((tree, level, RunFilter::decode(&mut reader)?));
    }
    if reader.is_empty() {
        Ok(roots)
    } else {
        Err(reader.damaged("the end", reader.rest().len()))
    }
}

/// Puts entries behind all that a tree has.
fn put(tree: &mut Tree, pool: &FramePool, entries: Vec<MergedEntry<'_>>) -> Result<()> {
    let (keys, mut values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    let keys: Vec<&[u8]> = keys.iter().map(|key| &**key).collect();
    tree.apply(pool, &keys, &mut |window| {
        let mut indexes = window.indexes();
        indexes.try_for_each(|at| window.set(at, Change::Put(std::mem::take(&mut values[at]))))
    })
}
