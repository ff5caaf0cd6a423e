//! Sweeping: every entry of the dictionary is looked at once, some at a time, while flushes go on
//! in between.
//!
//! The trees are swept one after another, in an order in which postings only move on: recent ones
//! from level to level into the lists, short lists to the long, long ones to the frequent. So what
//! moves between two steps either was swept or comes to a tree that will be.

use super::filtered::FilteredTree;
use super::{TermDictionary, TermTree};
use crate::base::Result;
use crate::btree::{Change, Tree};
use crate::cache::{FramePool, Pages, finish};
use crate::postings::codec::entry::TermEntry;
use crate::postings::lists::vacuum::SweptEntry;

/// The trees in the order in which they are swept.
const ORDER: [TermTree; TermTree::ALL.len()] = [
    TermTree::Delta(0),
    TermTree::Delta(1),
    TermTree::Delta(2),
    TermTree::Short,
    TermTree::Long,
    TermTree::Frequent,
];

/// Bytes of entries that are swept together, decoded and changed ones with them; and what each
/// takes beside its bytes.
const HELD_BYTES: usize = 512 << 10;
const ENTRY_BYTES: usize = 128;

/// The progress of a sweep.
#[derive(Clone, Debug, Default)]
pub struct SweepProgress {
    /// The number of trees that are done.
    trees: usize,
    /// The key that comes next in the one behind these.
    next: Vec<u8>,
}

/// Sweeps entries.
pub trait Sweeper {
    /// Bytes that sweeping an entry reads.
    fn bytes(&self, entry: &[u8]) -> Result<u64>;

    /// Sweeps some entries of terms, in their order.
    fn sweep(&mut self, entries: &[(&[u8], &[u8])]) -> Result<Vec<SweptEntry>>;
}

/// Entries, with their keys.
type KeyedEntries = Vec<(Vec<u8>, Vec<u8>)>;

impl TermDictionary {
    /// Sweeps the entries that come next, about so many bytes of them and their lists. Tells
    /// whether there are more. All that was appended to trees and chunks must have been written
    /// out.
    ///
    /// An error stops the dictionary for good.
    pub fn sweep(
        &mut self,
        pool: &FramePool,
        place: &mut SweepProgress,
        bytes: u64,
        sweeper: &mut dyn Sweeper,
    ) -> Result<bool> {
        let mut left = bytes;
        while let Some(tree) = ORDER.get(place.trees) {
            if left == 0 {
                return Ok(true);
            }
            // What is changed on the way lies behind the scan.
            let view = self.tree_mut(*tree).view().clone();
            let (mut pages, mut scan) = (Pages::new(pool), view.scan(&place.next));
            let mut at_end = false;
            while left > 0 && !at_end {
                let (mut entries, mut read, mut held) = (KeyedEntries::new(), 0, 0);
                while read < left && held < HELD_BYTES && !at_end {
                    pages.trim();
                    at_end = !finish(&mut pages, |pages| scan.advance(&view, pages))?;
                    if !at_end {
                        read += sweeper.bytes(scan.value())?;
                        held += scan.key().len() + scan.value().len() + ENTRY_BYTES;
                        entries.push((scan.key().to_vec(), scan.value().to_vec()));
                    }
                }
                left = left.saturating_sub(read);
                if let Some((key, _)) = entries.last() {
                    place.next.clone_from(key);
                    // The least key behind it.
                    place.next.push(0);
                }
                self.sweep_entries(pool, *tree, entries, sweeper)?;
            }
            if at_end {
                place.trees += 1;
                place.next.clear();
            }
        }
        Ok(false)
    }

    /// Changes the entries of a tree that are no longer the same.
    fn sweep_entries(
        &mut self,
        pool: &FramePool,
        tree: TermTree,
        entries: KeyedEntries,
        sweeper: &mut dyn Sweeper,
    ) -> Result<()> {
        let asked: Vec<(&[u8], &[u8])> = entries.iter().map(|(k, v)| (&k[..], &v[..])).collect();
        let swept = sweeper.sweep(&asked)?;
        let (mut changed, mut shortened) = (Vec::new(), Vec::new());
        for ((key, _), swept) in asked.into_iter().zip(swept) {
            match swept {
                SweptEntry::Same => {}
                SweptEntry::Gone => changed.push((key, None)),
                SweptEntry::New(entry)
                    if TermTree::WITH_CHUNKS.contains(&tree) && !TermEntry::has_chunks(&entry) =>
                {
                    changed.push((key, None));
                    shortened.push((key, Some(entry)));
                }
                SweptEntry::New(entry) => changed.push((key, Some(entry))),
            }
        }
        change(self.tree_mut(tree), pool, changed)?;
        change(&mut self.lists.short, pool, shortened)
    }

    fn tree_mut(&mut self, tree: TermTree) -> &mut Tree {
        let filtered: &mut FilteredTree = match tree {
            TermTree::Short => return &mut self.lists.short,
            TermTree::Frequent => &mut self.lists.frequent,
            TermTree::Long => &mut self.lists.long,
            TermTree::Delta(level) => &mut self.recent.levels[level].postings,
        };
        &mut filtered.tree
    }
}

/// Puts the entries of keys (sorted, distinct), or removes them.
fn change(tree: &mut Tree, pool: &FramePool, entries: Vec<(&[u8], Option<Vec<u8>>)>) -> Result<()> {
    let (keys, mut entries): (Vec<&[u8]>, Vec<Option<Vec<u8>>>) = entries.into_iter().unzip();
    tree.apply(pool, &keys, &mut |window| {
        let mut indexes = window.indexes();
        indexes.try_for_each(|at| {
            let change = entries[at].take().map_or(Change::Remove, Change::Put);
            window.set(at, change)
        })
    })
}
