//! The trees of lists: the frequent, the long and the short.

use std::sync::Arc;

use super::change::{DecideEntries, Grown, TERMS_AT_ONCE, Terms, encode_tree};
use super::filtered::FilteredTree;
use super::key_filter::KeyFilter;
use crate::base::{ByteReader, Result, both, put_bytes};
use crate::btree::{Change, Tree, TreeView};
use crate::cache::FramePool;
use crate::storage::{Store, StreamWriter};

/// The entries of all lists.
pub(in crate::postings) struct ListTrees {
    pub(in crate::postings) frequent: FilteredTree,
    pub(in crate::postings) long: FilteredTree,
    pub(crate) short: Tree,
}

impl ListTrees {
    /// None.
    pub(crate) fn new(store: &Arc<Store>) -> ListTrees {
        ListTrees {
            frequent: FilteredTree::new(store),
            long: FilteredTree::new(store),
            short: Tree::new(Arc::clone(store)),
        }
    }

    /// Opens the trees that [`ListTrees::encode`] described. May read the tree of frequent words,
    /// to know its keys.
    pub(crate) fn open(
        store: &Arc<Store>,
        pool: &FramePool,
        reader: &mut ByteReader<'_>,
    ) -> Result<ListTrees> {
        let mut tree = || Tree::open(Arc::clone(store), reader.bytes()?);
        let (frequent, long, short) = (tree()?, tree()?, tree()?);
        let long = FilteredTree {
            tree: long,
            keys: KeyFilter::decode(reader.bytes()?)?,
        };
        Ok(ListTrees {
            frequent: FilteredTree::open(frequent, store, pool)?,
            long,
            short,
        })
    }

    /// Writes the changed pages of the node mappings to `tables` and appends what
    /// [`ListTrees::open`] needs.
    pub(crate) fn encode(&mut self, tables: &mut StreamWriter, out: &mut Vec<u8>) -> Result<()> {
        for tree in self.trees_mut() {
            encode_tree(tree, tables, out)?;
        }
        let mut filter = Vec::with_capacity(self.long.keys.memory_bytes());
        self.long.keys.encode(&mut filter);
        put_bytes(out, &filter);
        Ok(())
    }

    pub(crate) fn trees(&self) -> [&Tree; 3] {
        [&self.frequent.tree, &self.long.tree, &self.short]
    }

    pub(crate) fn trees_mut(&mut self) -> [&mut Tree; 3] {
        let ListTrees {
            frequent,
            long,
            short,
        } = self;
        [&mut frequent.tree, &mut long.tree, short]
    }

    /// Adds a figure of all trees up.
    pub(crate) fn sum(&self, of: impl Fn(&TreeView) -> u64) -> u64 {
        self.trees().map(|tree| of(tree.view())).iter().sum()
    }

    /// See [`crate::postings::terms::TermDictionary::update`].
    pub(crate) fn update(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        decide: &DecideEntries<'_>,
    ) -> Result<()> {
        let ListTrees {
            frequent,
            long,
            short,
        } = self;
        let is_frequent = are_in(frequent, pool, keys, |_| true)?;
        // The filter still passes those that were moved to the frequent.
        let mut is_long = are_in(long, pool, keys, |term| !is_frequent[term])?;
        let all: Vec<usize> = (0..keys.len()).collect();
        for terms in all.chunks(TERMS_AT_ONCE) {
            let of_frequent = Terms::new(keys, terms, |term| is_frequent[term], decide);
            let others = || {
                let is_short = |term: usize| !is_long[term] && !is_frequent[term];
                let of_short = Terms::new(keys, terms, is_short, decide);
                let grown = of_short.update_short(short, pool)?;
                for term in grown.keys() {
                    is_long[*term] = true;
                    long.keys.insert(keys[*term]);
                }
                let of_long = Terms::new(keys, terms, |term| is_long[term], decide);
                of_long.update_long(&mut long.tree, grown, pool)
            };
            let (frequent, others) = both(
                || of_frequent.update_long(&mut frequent.tree, Grown::new(), pool),
                others,
            );
            frequent.and(others)?;
        }
        long.widen(pool)
    }

    /// Moves those of some words that are long lists to the frequent.
    pub(crate) fn promote(&mut self, pool: &FramePool, mut words: Vec<Vec<u8>>) -> Result<()> {
        words.sort_unstable();
        words.retain(|key| !self.frequent.keys.may_have(key));
        let keys: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let mut some = keys.chunks(TERMS_AT_ONCE);
        some.try_for_each(|keys| self.promote_some(pool, keys))
    }

    fn promote_some(&mut self, pool: &FramePool, keys: &[&[u8]]) -> Result<()> {
        let mut moved = Vec::new();
        self.long.tree.apply(pool, keys, &mut |window| {
            for at in window.indexes() {
                if let Some(entry) = window.old(at) {
                    moved.push((keys[at], entry.to_vec()));
                    window.set(at, Change::Remove)?;
                }
            }
            Ok(())
        })?;
        let (keys, mut entries): (Vec<&[u8]>, Vec<Vec<u8>>) = moved.into_iter().unzip();
        self.frequent.tree.apply(pool, &keys, &mut |window| {
            let mut indexes = window.indexes();
            indexes.try_for_each(|at| window.set(at, Change::Put(std::mem::take(&mut entries[at]))))
        })?;
        keys.iter().for_each(|key| self.frequent.keys.insert(key));
        self.frequent.widen(pool)
    }
}

/// Finds out which of `keys` are in a tree, of those that are `asked` for. Reads their leaves,
/// which the changes behind it find in memory.
fn are_in(
    of: &mut FilteredTree,
    pool: &FramePool,
    keys: &[&[u8]],
    is_asked: impl Fn(usize) -> bool,
) -> Result<Vec<bool>> {
    let may_be = |term: &usize| is_asked(*term) && of.keys.may_have(keys[*term]);
    let may_be: Vec<usize> = (0..keys.len()).filter(may_be).collect();
    let asked: Vec<&[u8]> = may_be.iter().map(|term| keys[*term]).collect();
    let mut are_in = vec![false; keys.len()];
    of.tree.apply(pool, &asked, &mut |window| {
        for at in window.indexes() {
            are_in[may_be[at]] = window.old(at).is_some();
        }
        Ok(())
    })?;
    Ok(are_in)
}
