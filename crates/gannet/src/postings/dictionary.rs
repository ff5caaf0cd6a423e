//! The term dictionary: where the entry of each list stands.
//!
//! It is two trees with the same keys. Lists that have chunks, *long* ones, have their entries in one, *short*
//! lists, which are in their entries whole, in the other. Long lists are few and asked for often, and in one
//! tree with the short ones their entries would be strewn over all leaves. Of 669,136 terms of 540,000 passages
//! 47,846 are long; they take 845 of 6,177 leaves. With memory for a sixteenth of the index a word in 100 to
//! 1,000 documents takes 0.49 rounds in place of 0.75, and one in 1,000 to 10,000 takes 0.96 in place of 1.30.
//!
//! Invariants:
//! 1. A key is in one tree at most. A list never loses its last chunk, so it moves at most once: from the short
//!    to the long, in the flush that gives it its first chunk.
//! 2. A look-up asks the long first, so that a long list costs no read of a leaf of short ones; and only for keys
//!    that the filter passes, which has all of them (`long_keys.rs`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::entry::TermEntry;
use super::long_keys::LongKeys;
use crate::base::{ByteReader, Result, ZoneNumber, put_bytes};
use crate::cache::{Bytes, FramePool, Pages, Step, Stop, finish, gather};
use crate::dictionary::{Change, Tree, TreeView, Window};
use crate::storage::{Store, StreamWriter, Unsynced};

/// How many terms are changed before the lists among them that became long are put in their tree: so many of
/// their entries, of a chunk or two each, are kept meanwhile.
pub(super) const TERMS_AT_ONCE: usize = 16_384;

/// The term dictionary as of one moment.
#[derive(Clone, Debug)]
pub struct TermView {
    /// The entries that have chunks.
    pub long: TreeView,
    /// The entries that are whole lists.
    pub short: TreeView,
    long_keys: LongKeys,
}

/// The term dictionary, to be changed.
pub struct TermDictionary {
    long: Tree,
    short: Tree,
    pub(super) long_keys: LongKeys,
}

/// A term of a change: its index among the keys, and its coded entry if it has one.
pub type OldEntry<'a> = (usize, Option<&'a [u8]>);

/// Entries of lists that became long, by their terms' indexes.
type Grown = BTreeMap<usize, Vec<u8>>;

/// Tells the new entries of some terms, in their order; nothing where the old one stays.
pub type Decide<'d> = dyn FnMut(&[OldEntry<'_>]) -> Result<Vec<Option<Vec<u8>>>> + 'd;

impl TermView {
    /// Terms in it.
    pub fn terms(&self) -> u64 {
        self.long.entries() + self.short.entries()
    }

    /// Bytes of memory that it holds.
    pub fn memory_bytes(&self) -> usize {
        self.long.memory_bytes() + self.short.memory_bytes() + self.long_keys.memory_bytes()
    }

    /// The entry of a term, coded. A round for a leaf of short lists comes behind one for a leaf of long ones, if
    /// that is not in memory; what is above the leaves is read for both at once.
    pub fn get(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<Option<Bytes>> {
        if !self.long_keys.may_have(key) {
            return self.short.get(key, pages);
        }
        match self.long.get(key, pages) {
            Ok(None) => self.short.get(key, pages),
            Err(Stop::Pages) => {
                self.short.approach(key, pages)?;
                Err(Stop::Pages)
            }
            found => found,
        }
    }

    /// The entries of many terms, in their order, found in the same rounds.
    ///
    /// Every entry holds its frame, so ask for no more terms at once than the frame pool can hold leaves.
    pub fn lookup_all(&self, keys: &[&[u8]], pages: &mut Pages<'_>) -> Step<Vec<Option<Bytes>>> {
        gather(keys, |key| self.get(key, pages))
    }

    /// What is wrong with where an entry stands that was found in one of the trees, for a check.
    pub fn misplaced(
        &self,
        (key, entry): (&[u8], &[u8]),
        is_long: bool,
        pages: &mut Pages<'_>,
    ) -> Step<Option<&'static str>> {
        if TermEntry::has_chunks(entry) != is_long {
            return Ok(Some("its entry stands in the wrong tree"));
        }
        if is_long && !self.long_keys.may_have(key) {
            return Ok(Some("the filter of long lists lacks it"));
        }
        let twice = is_long && self.short.get(key, pages)?.is_some();
        Ok(twice.then_some("it has an entry in both trees"))
    }
}

impl TermDictionary {
    /// An empty one.
    pub fn new(store: &Arc<Store>) -> TermDictionary {
        TermDictionary {
            long: Tree::new(Arc::clone(store)),
            short: Tree::new(Arc::clone(store)),
            long_keys: LongKeys::with_room_for(0),
        }
    }

    /// The one that [`TermDictionary::encode`] described.
    pub fn open(store: &Arc<Store>, bytes: &[u8]) -> Result<TermDictionary> {
        let mut reader = ByteReader::new(bytes, "the root of the term dictionary");
        let mut tree = || Tree::open(Arc::clone(store), reader.bytes()?);
        let (long, short) = (tree()?, tree()?);
        let long_keys = LongKeys::decode(reader.bytes()?)?;
        match reader.is_empty() {
            true => Ok(TermDictionary {
                long,
                short,
                long_keys,
            }),
            false => Err(reader.damaged("the end", reader.rest().len())),
        }
    }

    /// The newest state. Give it to readers only after [`TermDictionary::flush`].
    pub fn view(&self) -> TermView {
        TermView {
            long: self.long.view().clone(),
            short: self.short.view().clone(),
            long_keys: self.long_keys.clone(),
        }
    }

    /// Shows `decide` the old entries of `keys` (sorted, distinct), many at a time, and makes its changes: first
    /// of lists that are short, then of those that are long.
    ///
    /// An error, be it of `decide`, stops the dictionary for good.
    pub fn update(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        decide: &mut Decide<'_>,
    ) -> Result<()> {
        let mut is_long = self.are_long(pool, keys)?;
        let all: Vec<usize> = (0..keys.len()).collect();
        for terms in all.chunks(TERMS_AT_ONCE) {
            let short = Terms::new(keys, terms, |term| !is_long[term], decide);
            let grown = short.update_short(&mut self.short, pool)?;
            for term in grown.keys() {
                is_long[*term] = true;
                self.long_keys.insert(keys[*term]);
            }
            let long = Terms::new(keys, terms, |term| is_long[term], decide);
            long.update_long(&mut self.long, grown, pool)?;
        }
        match self.long_keys.has_room_for(self.long.view().entries()) {
            true => Ok(()),
            false => self.widen_filter(pool),
        }
    }

    /// Puts all keys of long lists into a filter with room for as many again.
    fn widen_filter(&mut self, pool: &FramePool) -> Result<()> {
        self.long.flush()?;
        let long = self.long.view();
        let mut long_keys = LongKeys::with_room_for(long.entries());
        let (mut pages, mut scan) = (Pages::new(pool), long.scan(&[]));
        while finish(&mut pages, |pages| scan.advance(long, pages))? {
            long_keys.insert(scan.key());
        }
        self.long_keys = long_keys;
        Ok(())
    }

    /// Which of `keys` have long lists. Reads their leaves, which the changes behind it find in memory.
    fn are_long(&mut self, pool: &FramePool, keys: &[&[u8]]) -> Result<Vec<bool>> {
        let may_be = (0..keys.len()).filter(|term| self.long_keys.may_have(keys[*term]));
        let may_be: Vec<usize> = may_be.collect();
        let asked: Vec<&[u8]> = may_be.iter().map(|term| keys[*term]).collect();
        let mut are_long = vec![false; keys.len()];
        self.long.apply(pool, &asked, &mut |window| {
            for at in window.indexes() {
                are_long[may_be[at]] = window.old(at).is_some();
            }
            Ok(())
        })?;
        Ok(are_long)
    }

    /// Appends all nodes in victim zones anew; see [`Tree::move_out_of`].
    pub fn move_out_of(
        &mut self,
        pool: &FramePool,
        is_victim: &dyn Fn(ZoneNumber) -> bool,
    ) -> Result<()> {
        self.long.move_out_of(pool, is_victim)?;
        self.short.move_out_of(pool, is_victim)?;
        Ok(())
    }

    /// Writes all nodes out. They are durable when what [`TermDictionary::take_unsynced`] gives is synced.
    pub fn flush(&mut self) -> Result<()> {
        self.long.flush()?;
        self.short.flush()
    }

    /// What was written out and must be synced.
    pub fn take_unsynced(&mut self) -> Unsynced {
        let mut unsynced = self.long.stream().take_unsynced();
        unsynced.join(self.short.stream().take_unsynced());
        unsynced
    }

    /// Writes the changed pages of the node mappings to `tables` and appends what [`TermDictionary::open`] needs.
    pub fn encode(&mut self, tables: &mut StreamWriter, out: &mut Vec<u8>) -> Result<()> {
        for tree in [&mut self.long, &mut self.short] {
            let mut root = Vec::new();
            tree.encode(tables, &mut root)?;
            put_bytes(out, &root);
        }
        let mut filter = Vec::with_capacity(self.long_keys.memory_bytes());
        self.long_keys.encode(&mut filter);
        put_bytes(out, &filter);
        Ok(())
    }
}

/// Terms of one tree that are changed together.
struct Terms<'a, 'd, 'e> {
    /// Their indexes among the keys of the change.
    indexes: Vec<usize>,
    keys: Vec<&'a [u8]>,
    decide: &'d mut Decide<'e>,
}

impl<'a, 'd, 'e> Terms<'a, 'd, 'e> {
    fn new(
        keys: &[&'a [u8]],
        indexes: &[usize],
        belongs: impl Fn(usize) -> bool,
        decide: &'d mut Decide<'e>,
    ) -> Self {
        let indexes: Vec<usize> = indexes.iter().copied().filter(|at| belongs(*at)).collect();
        Terms {
            keys: indexes.iter().map(|at| keys[*at]).collect(),
            indexes,
            decide,
        }
    }

    /// Changes short lists. Gives the entries of those that became long, which are in no tree then.
    fn update_short(self, tree: &mut Tree, pool: &FramePool) -> Result<Grown> {
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
    fn update_long(self, tree: &mut Tree, mut grown: Grown, pool: &FramePool) -> Result<()> {
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

/// Shows `decide` the old entries of some keys of a window; gives the new ones with their keys' places.
fn ask(
    window: &Window<'_>,
    asked: Vec<usize>,
    indexes: &[usize],
    decide: &mut Decide<'_>,
) -> Result<Vec<(usize, Vec<u8>)>> {
    let old = asked.iter().map(|at| (indexes[*at], window.old(*at)));
    let new = decide(&old.collect::<Vec<_>>())?;
    let changed = asked.into_iter().zip(new);
    Ok(changed
        .filter_map(|(at, entry)| Some((at, entry?)))
        .collect())
}
