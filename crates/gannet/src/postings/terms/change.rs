//! A change of some terms' entries, each in the tree where it stands.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::base::{Result, put_bytes};
use crate::btree::{Change, KeyWindow, Tree};
use crate::cache::FramePool;
use crate::postings::codec::entry::TermEntry;
use crate::postings::codec::short::{ShortList, put_entry};
use crate::storage::StreamWriter;

/// The number of terms that are changed before the lists among them that became long are put in
/// their tree: so many of their entries, of a chunk or two each, are kept meanwhile.
pub(in crate::postings) const TERMS_AT_ONCE: usize = 16_384;

/// The number of delta levels.
pub const DELTA_LEVELS: usize = 3;

/// Tells the new entries of some terms, in their order. It is asked by several threads.
pub type DecideEntries<'d> = dyn Fn(&[OldEntry<'_>]) -> Result<ChangedEntries> + Sync + 'd;

/// A term of a change: its index among the keys, and its coded entry if it has one.
pub type OldEntry<'a> = (usize, Option<&'a [u8]>);

/// Entries of lists that became long, by their terms' indexes.
pub(crate) type Grown = BTreeMap<usize, Vec<u8>>;

/// The new entries of some terms, one behind another in one allocation; of a term whose old one
/// stays there is none.
#[derive(Debug, Default)]
pub struct ChangedEntries {
    bytes: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
}

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
            let asked: Vec<usize> = window.indexes().collect();
            let entries = ask(window, &asked, &self.indexes, self.decide)?;
            for (at, entry) in entries.of(&asked) {
                if TermEntry::has_chunks(entry) {
                    grown.insert(self.indexes[at], entry.to_vec());
                    window.set(at, Change::Remove)?;
                } else {
                    window.put(at, entry)?;
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
                    Some(entry) => window.put(at, &entry)?,
                    None => asked.push(at),
                }
            }
            let entries = ask(window, &asked, &self.indexes, self.decide)?;
            for (at, entry) in entries.of(&asked) {
                window.put(at, entry)?;
            }
            Ok(())
        })
    }
}

impl ChangedEntries {
    /// Of so many terms none so far.
    pub(crate) fn of_none(terms: usize) -> ChangedEntries {
        ChangedEntries {
            bytes: Vec::new(),
            places: vec![None; terms],
        }
    }

    /// Gives the term at a place this entry.
    pub(crate) fn put(&mut self, place: usize, entry: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(entry);
        self.places[place] = Some(start..self.bytes.len());
    }

    /// Gives the term at a place the postings of all `parts`.
    pub(crate) fn put_joined(&mut self, place: usize, parts: &[ShortList<'_>]) -> Result<()> {
        let start = self.bytes.len();
        put_entry(parts, &mut self.bytes)?;
        self.places[place] = Some(start..self.bytes.len());
        Ok(())
    }

    /// Returns the entries that there are, each with its place among those `asked` for.
    fn of<'a>(&'a self, asked: &'a [usize]) -> impl Iterator<Item = (usize, &'a [u8])> {
        let places = asked.iter().zip(&self.places);
        places.filter_map(|(at, place)| Some((*at, &self.bytes[place.clone()?])))
    }
}

impl FromIterator<Option<Vec<u8>>> for ChangedEntries {
    fn from_iter<I: IntoIterator<Item = Option<Vec<u8>>>>(entries: I) -> ChangedEntries {
        let mut all = ChangedEntries::default();
        for entry in entries {
            all.places.push(None);
            if let Some(entry) = entry {
                all.put(all.places.len() - 1, &entry);
            }
        }
        all
    }
}

/// Shows `decide` the old entries of some keys of a window; gives the new ones.
fn ask(
    window: &KeyWindow<'_>,
    asked: &[usize],
    indexes: &[usize],
    decide: &DecideEntries<'_>,
) -> Result<ChangedEntries> {
    let old = asked.iter().map(|at| (indexes[*at], window.old(*at)));
    decide(&old.collect::<Vec<_>>())
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
