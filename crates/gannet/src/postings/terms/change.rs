//! A change of some terms' entries, each in the tree where it stands.

use std::collections::BTreeMap;

use crate::base::{Result, put_bytes};
use crate::btree::{Change, KeyWindow, Tree};
use crate::cache::FramePool;
use crate::postings::codec::entry::TermEntry;
use crate::storage::StreamWriter;

/// The number of terms that are changed before the lists among them that became long are put in
/// their tree: so many of their entries, of a chunk or two each, are kept meanwhile.
pub(in crate::postings) const TERMS_AT_ONCE: usize = 16_384;

/// The number of delta levels.
pub const DELTA_LEVELS: usize = 3;

/// Tells the new entries of some terms, in their order; nothing where the old one stays. It is
/// asked by several threads.
pub type DecideEntries<'d> = dyn Fn(&[OldEntry<'_>]) -> Result<Vec<Option<Vec<u8>>>> + Sync + 'd;

/// A term of a change: its index among the keys, and its coded entry if it has one.
pub type OldEntry<'a> = (usize, Option<&'a [u8]>);

/// Entries of lists that became long, by their terms' indexes.
pub(crate) type Grown = BTreeMap<usize, Vec<u8>>;

/// Terms of one tree that are changed together.
pub(crate) struct Terms<'a, 'd> {
    /// Their indexes among the keys of the change.
    indexes: Vec<usize>,
    keys: Vec<&'a [u8]>,
    decide: &'d DecideEntries<'d>,
}

impl<'a, 'd> Terms<'a, 'd> {
    pub(crate) fn new(
        keys: &[&'a [u8]],
        indexes: &[usize],
        belongs: impl Fn(usize) -> bool,
        decide: &'d DecideEntries<'d>,
    ) -> Self {
        let indexes: Vec<usize> = indexes.iter().copied().filter(|at| belongs(*at)).collect();
        Terms {
            keys: indexes.iter().map(|at| keys[*at]).collect(),
            indexes,
            decide,
        }
    }

    /// Changes short lists. Gives the entries of those that became long, which are in no tree then.
    pub(crate) fn update_short(self, tree: &mut Tree, pool: &FramePool) -> Result<Grown> {
        let mut grown = Grown::new();
        tree.apply(pool, &self.keys, &mut |window| {
            let asked = window.indexes().collect();
            for (at, entry) in ask(window, asked, &self.indexes, self.decide)? {
                if TermEntry::has_chunks(&entry) {
                    grown.insert(self.indexes[at], entry);
                    window.set(at, Change::Remove)?;
                } else {
                    window.set(at, Change::Put(entry))?;
                }
            }
            Ok(())
        })?;
        Ok(grown)
    }

    /// Changes long lists, and puts those that have become long where they belong.
    pub(crate) fn update_long(
        self,
        tree: &mut Tree,
        mut grown: Grown,
        pool: &FramePool,
    ) -> Result<()> {
        tree.apply(pool, &self.keys, &mut |window| {
            let mut asked = Vec::with_capacity(window.indexes().len());
            for at in window.indexes() {
                match grown.remove(&self.indexes[at]) {
                    Some(entry) => window.set(at, Change::Put(entry))?,
                    None => asked.push(at),
                }
            }
            for (at, entry) in ask(window, asked, &self.indexes, self.decide)? {
                window.set(at, Change::Put(entry))?;
            }
            Ok(())
        })
    }
}

/// Shows `decide` the old entries of some keys of a window; gives the new ones with their keys'
/// places.
fn ask(
    window: &KeyWindow<'_>,
    asked: Vec<usize>,
    indexes: &[usize],
    decide: &DecideEntries<'_>,
) -> Result<Vec<(usize, Vec<u8>)>> {
    let old = asked.iter().map(|at| (indexes[*at], window.old(*at)));
    let new = decide(&old.collect::<Vec<_>>())?;
    let changed = asked.into_iter().zip(new);
    Ok(changed
        .filter_map(|(at, entry)| Some((at, entry?)))
        .collect())
}

/// Writes the changed pages of a tree's node mapping and appends what [`Tree::open`] needs.
pub(crate) fn encode_tree(
    tree: &mut Tree,
    tables: &mut StreamWriter,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut root = Vec::new();
    tree.encode(tables, &mut root)?;
    put_bytes(out, &root);
    Ok(())
}
