//! The term dictionary: where the entry of each list stands.
//!
//! It is three trees with the same keys, and one more before them. Lists that have chunks, *long* ones, have their entries
//! in one, *short* lists, which are in their entries whole, in the other. Long lists are few and asked for often, and in
//! one tree with the short ones their entries would be strewn over all leaves. Of 669,136 terms of 540,000 passages
//! 47,846 are long; they take 845 of 6,177 leaves. With memory for a sixteenth of the index a word in 100 to
//! 1,000 documents takes 0.49 rounds in place of 0.75, and one in 1,000 to 10,000 takes 0.96 in place of 1.30.
//! Some long lists get postings in nearly every flush: those of *frequent* words. Their entries stand in a tree of their own
//! too, so that a flush writes the few leaves that these have and not most leaves of long lists, over which they would be strewn.
//! Of 540,000 passages 3,768 words are frequent; with 28.6 MiB a word in 100 documents takes 0.48 reads in place of 0.56.
//!
//! One more tree is small and has the *recent* postings of a term, until they are worth a place in its list (`recent.rs`).
//!
//! Invariants:
//! 1. A key is in one of the trees of lists at most. A list never loses its last chunk, so it moves at most twice: from the
//!    short to the long, in the change that gives it its first chunk, and from there to the frequent.
//! 2. A look-up asks the frequent first and then the long, so that a long list costs no read of a leaf of short ones; and only
//!    for keys that their filters pass, which have all of them (`key_filter.rs`).
//! 3. Recent postings lie behind all that the term's entry has.

mod change;
mod key_filter;
mod recent;

use std::sync::Arc;

use self::change::{Grown, Terms};
use self::key_filter::KeyFilter;
pub use self::recent::Addition;
use super::entry::TermEntry;
use super::fragment::Fragment;
use crate::base::{ByteReader, Result, ZoneNumber, put_bytes};
use crate::cache::{Bytes, FramePool, Pages, Step, Stop, finish, gather};
use crate::dictionary::{Change, Tree, TreeView};
use crate::storage::{Store, StreamWriter, Unsynced};

/// How many terms are changed before the lists among them that became long are put in their tree: so many of
/// their entries, of a chunk or two each, are kept meanwhile.
pub(in crate::postings) const TERMS_AT_ONCE: usize = 16_384;

/// The term dictionary as of one moment.
#[derive(Clone, Debug)]
pub struct TermView {
    /// The entries of frequent words, which have chunks.
    pub frequent: TreeView,
    /// The other entries that have chunks.
    pub long: TreeView,
    /// The entries that are whole lists.
    pub short: TreeView,
    /// Postings behind what these entries have.
    pub recent: TreeView,
    frequent_keys: KeyFilter,
    long_keys: KeyFilter,
    recent_keys: KeyFilter,
}

/// What the dictionary has of a term, coded.
#[derive(Clone, Debug, Default)]
pub struct TermFound {
    /// Its entry.
    pub entry: Option<Bytes>,
    /// Its recent postings.
    pub recent: Option<Bytes>,
}

/// What the dictionary has of a term.
#[derive(Clone, Debug, Default)]
pub struct TermPostings {
    /// Its entry.
    pub entry: TermEntry,
    /// Postings behind those of the entry.
    pub recent: Fragment,
}

/// Which tree of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermTree {
    /// That of entries of frequent words.
    Frequent,
    /// That of other entries with chunks.
    Long,
    /// That of entries that are whole lists.
    Short,
    /// That of recent postings.
    Recent,
}

impl TermTree {
    /// All of them.
    pub const ALL: [TermTree; 4] = [
        TermTree::Frequent,
        TermTree::Long,
        TermTree::Short,
        TermTree::Recent,
    ];

    /// Those whose entries are lists, and not what is behind them.
    pub const LISTS: [TermTree; 3] = [TermTree::Frequent, TermTree::Long, TermTree::Short];

    /// Those whose entries have chunks.
    pub const WITH_CHUNKS: [TermTree; 2] = [TermTree::Frequent, TermTree::Long];
}

/// The term dictionary, to be changed.
pub struct TermDictionary {
    frequent: Tree,
    long: Tree,
    short: Tree,
    recent: Tree,
    pub(in crate::postings) frequent_keys: KeyFilter,
    pub(in crate::postings) long_keys: KeyFilter,
    recent_keys: KeyFilter,
    /// Nodes that the tree of recent postings had appended when it was emptied.
    settled_at: u64,
}

/// A term of a change: its index among the keys, and its coded entry if it has one.
pub type OldEntry<'a> = (usize, Option<&'a [u8]>);

/// Tells the new entries of some terms, in their order; nothing where the old one stays.
pub type Decide<'d> = dyn FnMut(&[OldEntry<'_>]) -> Result<Vec<Option<Vec<u8>>>> + 'd;

impl TermView {
    /// Terms in it, at most: one that has an entry and recent postings too counts twice.
    pub fn terms(&self) -> u64 {
        TermTree::ALL
            .map(|tree| self.tree(tree).entries())
            .iter()
            .sum()
    }

    /// One of its trees.
    pub fn tree(&self, tree: TermTree) -> &TreeView {
        match tree {
            TermTree::Frequent => &self.frequent,
            TermTree::Long => &self.long,
            TermTree::Short => &self.short,
            TermTree::Recent => &self.recent,
        }
    }

    /// Bytes of memory that it holds.
    pub fn memory_bytes(&self) -> usize {
        let trees = TermTree::ALL.map(|tree| self.tree(tree).memory_bytes());
        let filters = [&self.frequent_keys, &self.long_keys, &self.recent_keys];
        let filters = filters.map(KeyFilter::memory_bytes);
        trees.iter().chain(&filters).sum()
    }

    /// What it has of a term. Recent postings are read in the same round.
    pub fn get(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<TermFound> {
        let recent = match self.recent_keys.may_have(key) {
            true => self.recent.get(key, pages),
            false => Ok(None),
        };
        let recent = match recent {
            Err(Stop::Pages) => {
                self.entry(key, pages)?;
                return Err(Stop::Pages);
            }
            found => found?,
        };
        let entry = self.entry(key, pages)?;
        Ok(TermFound { entry, recent })
    }

    /// The entry of a term, coded. A round for a leaf of short lists comes behind one for a leaf of long ones, if
    /// that is not in memory; what is above the leaves is read for both at once.
    fn entry(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<Option<Bytes>> {
        if self.frequent_keys.may_have(key)
            && let Some(found) = self.frequent.get(key, pages)?
        {
            return Ok(Some(found));
        }
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

    /// What it has of many terms, in their order, found in the same rounds.
    ///
    /// Every term may hold two frames, so ask for no more at once than the frame pool can hold pairs of leaves.
    pub fn lookup_all(&self, keys: &[&[u8]], pages: &mut Pages<'_>) -> Step<Vec<TermFound>> {
        gather(keys, |key| self.get(key, pages))
    }

    /// What is wrong with where a value stands that was found in one of the trees, for a check.
    pub fn misplaced(
        &self,
        (key, value): (&[u8], &[u8]),
        tree: TermTree,
        pages: &mut Pages<'_>,
    ) -> Step<Option<&'static str>> {
        if TermEntry::has_chunks(value) != TermTree::WITH_CHUNKS.contains(&tree) {
            return Ok(Some("its entry stands in the wrong tree"));
        }
        Ok(match tree {
            TermTree::Short => None,
            TermTree::Frequent if !self.frequent_keys.may_have(key) => {
                Some("the filter of frequent words lacks it")
            }
            TermTree::Frequent => {
                let twice = self.long.get(key, pages)?.or(self.short.get(key, pages)?);
                twice.map(|_| "it has an entry in another tree")
            }
            TermTree::Long if !self.long_keys.may_have(key) => {
                Some("the filter of long lists lacks it")
            }
            TermTree::Long => {
                let twice = self.short.get(key, pages)?.is_some();
                twice.then_some("it has an entry in another tree")
            }
            TermTree::Recent if !self.recent_keys.may_have(key) => {
                Some("the filter of recent postings lacks it")
            }
            TermTree::Recent => {
                let found = self.get(key, pages)?;
                let postings = found.decode()?.unwrap_or_default();
                let first = postings.recent.first()?;
                let behind = postings.entry.last().is_none_or(|last| Some(last) < first);
                (!behind).then_some("its recent postings lie before those of its entry")
            }
        })
    }
}

impl TermFound {
    /// What was found, decoded; nothing if the dictionary does not have the term.
    pub fn decode(&self) -> Result<Option<TermPostings>> {
        if self.entry.is_none() && self.recent.is_none() {
            return Ok(None);
        }
        let mut postings = TermPostings::default();
        if let Some(entry) = &self.entry {
            postings.take(TermTree::Short, entry)?;
        }
        if let Some(recent) = &self.recent {
            postings.take(TermTree::Recent, recent)?;
        }
        Ok(Some(postings))
    }
}

impl From<TermEntry> for TermPostings {
    fn from(entry: TermEntry) -> TermPostings {
        TermPostings {
            entry,
            recent: Fragment::default(),
        }
    }
}

impl TermPostings {
    /// Documents that have the term.
    pub fn document_frequency(&self) -> u64 {
        self.entry.document_frequency() + self.recent.count as u64
    }

    /// Takes in what one of the trees has of the term.
    pub fn take(&mut self, tree: TermTree, value: &[u8]) -> Result<()> {
        let entry = TermEntry::decode(value)?;
        match tree {
            TermTree::Recent => self.recent = entry.tail,
            TermTree::Frequent | TermTree::Long | TermTree::Short => self.entry = entry,
        }
        Ok(())
    }
}

impl TermDictionary {
    /// An empty one.
    pub fn new(store: &Arc<Store>) -> TermDictionary {
        TermDictionary {
            frequent: Tree::new(Arc::clone(store)),
            long: Tree::new(Arc::clone(store)),
            short: Tree::new(Arc::clone(store)),
            recent: Tree::new(Arc::clone(store)),
            frequent_keys: KeyFilter::with_room_for(0),
            long_keys: KeyFilter::with_room_for(0),
            recent_keys: KeyFilter::with_room_for(0),
            settled_at: 0,
        }
    }

    /// The one that [`TermDictionary::encode`] described. Reads the trees of frequent words and of recent postings, to know
    /// their keys.
    pub fn open(store: &Arc<Store>, pool: &FramePool, bytes: &[u8]) -> Result<TermDictionary> {
        let mut reader = ByteReader::new(bytes, "the root of the term dictionary");
        let mut tree = || Tree::open(Arc::clone(store), reader.bytes()?);
        let (frequent, long, short, recent) = (tree()?, tree()?, tree()?, tree()?);
        let long_keys = KeyFilter::decode(reader.bytes()?)?;
        if !reader.is_empty() {
            return Err(reader.damaged("the end", reader.rest().len()));
        }
        Ok(TermDictionary {
            frequent_keys: keys_of(frequent.view(), pool)?,
            recent_keys: keys_of(recent.view(), pool)?,
            frequent,
            long,
            short,
            recent,
            long_keys,
            settled_at: 0,
        })
    }

    /// The newest state. Give it to readers only after [`TermDictionary::flush`].
    pub fn view(&self) -> TermView {
        TermView {
            frequent: self.frequent.view().clone(),
            long: self.long.view().clone(),
            short: self.short.view().clone(),
            recent: self.recent.view().clone(),
            frequent_keys: self.frequent_keys.clone(),
            long_keys: self.long_keys.clone(),
            recent_keys: self.recent_keys.clone(),
        }
    }

    /// Shows `decide` the old entries of `keys` (sorted, distinct), many at a time, and makes its changes: first
    /// of lists that are short, then of those that are long. Recent postings stay as they are.
    ///
    /// An error, be it of `decide`, stops the dictionary for good.
    pub fn update(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        decide: &mut Decide<'_>,
    ) -> Result<()> {
        let may_be = |term: usize| self.frequent_keys.may_have(keys[term]);
        let is_frequent = are_in(&mut self.frequent, pool, keys, may_be)?;
        // The filter still passes those that were moved to the frequent.
        let may_be = |term: usize| !is_frequent[term] && self.long_keys.may_have(keys[term]);
        let mut is_long = are_in(&mut self.long, pool, keys, may_be)?;
        let all: Vec<usize> = (0..keys.len()).collect();
        for terms in all.chunks(TERMS_AT_ONCE) {
            let frequent = Terms::new(keys, terms, |term| is_frequent[term], decide);
            frequent.update_long(&mut self.frequent, Grown::new(), pool)?;
            let is_short = |term: usize| !is_long[term] && !is_frequent[term];
            let short = Terms::new(keys, terms, is_short, decide);
            let grown = short.update_short(&mut self.short, pool)?;
            for term in grown.keys() {
                is_long[*term] = true;
                self.long_keys.insert(keys[*term]);
            }
            let long = Terms::new(keys, terms, |term| is_long[term], decide);
            long.update_long(&mut self.long, grown, pool)?;
        }
        if !self.long_keys.has_room_for(self.long.view().entries()) {
            self.long.flush()?;
            self.long_keys = keys_of(self.long.view(), pool)?;
        }
        Ok(())
    }

    /// Moves those of `keys` (sorted, distinct) that are long lists to the frequent.
    fn promote(&mut self, pool: &FramePool, keys: &[&[u8]]) -> Result<()> {
        let mut moved = Vec::new();
        self.long.apply(pool, keys, &mut |window| {
            for at in window.indexes() {
                if let Some(entry) = window.old(at) {
                    moved.push((keys[at], entry.to_vec()));
                    window.set(at, Change::Remove)?;
                }
            }
            Ok(())
        })?;
        let (keys, mut entries): (Vec<&[u8]>, Vec<Vec<u8>>) = moved.into_iter().unzip();
        self.frequent.apply(pool, &keys, &mut |window| {
            let mut indexes = window.indexes();
            indexes.try_for_each(|at| window.set(at, Change::Put(std::mem::take(&mut entries[at]))))
        })?;
        keys.iter().for_each(|key| self.frequent_keys.insert(key));
        if !self
            .frequent_keys
            .has_room_for(self.frequent.view().entries())
        {
            self.frequent.flush()?;
            self.frequent_keys = keys_of(self.frequent.view(), pool)?;
        }
        Ok(())
    }

    /// Appends all nodes in victim zones anew; see [`Tree::move_out_of`].
    pub fn move_out_of(
        &mut self,
        pool: &FramePool,
        is_victim: &dyn Fn(ZoneNumber) -> bool,
    ) -> Result<()> {
        let trees = self.trees().into_iter();
        trees
            .map(|tree| tree.move_out_of(pool, is_victim))
            .sum::<Result<u64>>()?;
        Ok(())
    }

    /// Writes all nodes out. They are durable when what [`TermDictionary::take_unsynced`] gives is synced.
    pub fn flush(&mut self) -> Result<()> {
        self.trees().into_iter().try_for_each(Tree::flush)
    }

    /// All of its trees, in the order of [`TermTree::ALL`].
    fn trees(&mut self) -> [&mut Tree; 4] {
        [
            &mut self.frequent,
            &mut self.long,
            &mut self.short,
            &mut self.recent,
        ]
    }

    /// What was written out and must be synced.
    pub fn take_unsynced(&mut self) -> Unsynced {
        let mut unsynced = Unsynced::default();
        for tree in self.trees() {
            unsynced.join(tree.stream().take_unsynced());
        }
        unsynced
    }

    /// Writes the changed pages of the node mappings to `tables` and appends what [`TermDictionary::open`] needs.
    pub fn encode(&mut self, tables: &mut StreamWriter, out: &mut Vec<u8>) -> Result<()> {
        for tree in self.trees() {
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

/// Which of `keys` are in a tree, of those that may be. Reads their leaves, which the changes behind it find in memory.
fn are_in(
    tree: &mut Tree,
    pool: &FramePool,
    keys: &[&[u8]],
    may_be: impl Fn(usize) -> bool,
) -> Result<Vec<bool>> {
    let may_be: Vec<usize> = (0..keys.len()).filter(|term| may_be(*term)).collect();
    let asked: Vec<&[u8]> = may_be.iter().map(|term| keys[*term]).collect();
    let mut are_in = vec![false; keys.len()];
    tree.apply(pool, &asked, &mut |window| {
        for at in window.indexes() {
            are_in[may_be[at]] = window.old(at).is_some();
        }
        Ok(())
    })?;
    Ok(are_in)
}

/// A filter of all keys of a tree, with room for as many again.
fn keys_of(tree: &TreeView, pool: &FramePool) -> Result<KeyFilter> {
    let mut keys = KeyFilter::with_room_for(tree.entries());
    let (mut pages, mut scan) = (Pages::new(pool), tree.scan(&[]));
    while finish(&mut pages, |pages| scan.advance(tree, pages))? {
        pages.trim();
        keys.insert(scan.key());
    }
    Ok(keys)
}
