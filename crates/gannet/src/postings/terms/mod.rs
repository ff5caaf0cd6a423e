//! The term dictionary: where the entry of each list stands.
//!
//! It is three trees with the same keys, and the delta levels before them. *Long* lists have
//! chunks, and their entries are in one tree. *Short* lists are whole in their entries, in another.
//! Long lists are few and asked for often. In one tree with the short ones their entries would be
//! strewn over all leaves. The lists of *frequent* words get postings in nearly every flush. Their
//! entries have a third tree, so that a flush writes few leaves.
//!
//! Smaller trees, the *delta levels*, have the newest postings of a term until it pays to merge
//! them into its list (`delta.rs`).
//!
//! Invariants:
//! 1. A key is in one of the trees of lists at most. A list that gets its first chunk moves from
//!    the short to the long in the same change, and may move on to the frequent. Only a vacuum
//!    takes chunks away; a list that loses its last moves back to the short.
//! 2. A look-up asks the frequent first and then the long, so that a long list costs no read of a
//!    leaf of short ones; and only for keys that their filters pass, which have all of them
//!    (`key_filter.rs`).
//! 3. Delta postings lie behind all that the term's entry has, and those of a level behind those of
//!    the levels below.

mod add;
pub(in crate::postings) mod change;
mod delta;
mod filtered;
mod join;
mod key_filter;
mod leaving;
mod level_entries;
mod lists;
mod sweep;

use std::sync::Arc;

pub use self::add::terms_join_at_once;
pub use self::change::{DELTA_LEVELS, DecideEntries};
use self::delta::DeltaLevels;
use self::filtered::FilteredView;
pub use self::join::{Addition, NewPostings};
use self::lists::ListTrees;
pub use self::sweep::{SweepProgress, Sweeper};
use crate::base::{ByteReader, DocId, Result, ZoneNumber};
use crate::btree::{Tree, TreeView};
use crate::cache::{Bytes, FramePool, Pages, Step, Stop, gather};
use crate::postings::codec::entry::{ChunkRef, TermEntry};
use crate::postings::codec::fragment::Fragment;
use crate::storage::{Store, StreamWriter, Unsynced};

/// The term dictionary as of one moment.
#[derive(Clone, Debug)]
pub struct TermView {
    frequent: FilteredView,
    long: FilteredView,
    short: TreeView,
    recent: [FilteredView; DELTA_LEVELS],
}

/// The coded entries of a term in the dictionary.
#[derive(Clone, Debug, Default)]
pub struct TermFound {
    /// Its entry.
    pub entry: Option<Bytes>,
    /// Its delta postings: the level that has them, and these.
    pub recent: Vec<(usize, Bytes)>,
}

/// The postings of a term in the dictionary.
#[derive(Clone, Debug, Default)]
pub struct TermPostings {
    /// Its entry.
    pub entry: TermEntry,
    /// Postings behind those of the entry, by level: level 0 has the last.
    pub recent: [Fragment; DELTA_LEVELS],
}

/// The trees of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermTree {
    /// The tree of entries of frequent words.
    Frequent,
    /// The tree of other entries with chunks.
    Long,
    /// The tree of entries that are whole lists.
    Short,
    /// One of delta postings; the newest are on level 0.
    Delta(usize),
}

impl TermTree {
    /// All of them.
    pub const ALL: [TermTree; 3 + DELTA_LEVELS] = {
        let mut all = [TermTree::Frequent; 3 + DELTA_LEVELS];
        (all[1], all[2]) = (TermTree::Long, TermTree::Short);
        let mut level = 0;
        while level < DELTA_LEVELS {
            all[3 + level] = TermTree::Delta(level);
            level += 1;
        }
        all
    };

    /// The trees whose entries are lists, and not what is behind them.
    pub const LISTS: [TermTree; 3] = [TermTree::Frequent, TermTree::Long, TermTree::Short];

    /// The trees whose entries have chunks.
    pub const WITH_CHUNKS: [TermTree; 2] = [TermTree::Frequent, TermTree::Long];
}

/// The term dictionary, to be changed.
pub struct TermDictionary {
    pub(in crate::postings) lists: ListTrees,
    recent: DeltaLevels,
}

impl TermView {
    /// Terms in it, at most: one that has an entry and delta postings too counts twice.
    pub fn terms(&self) -> u64 {
        TermTree::ALL
            .map(|tree| self.tree(tree).entries())
            .iter()
            .sum()
    }

    /// Returns true if any term has delta postings.
    pub fn has_recent(&self) -> bool {
        self.recent.iter().any(|level| level.tree.entries() > 0)
    }

    /// One of its trees.
    pub fn tree(&self, tree: TermTree) -> &TreeView {
        match tree {
            TermTree::Frequent => &self.frequent.tree,
            TermTree::Long => &self.long.tree,
            TermTree::Short => &self.short,
            TermTree::Delta(level) => &self.recent[level].tree,
        }
    }

    /// Bytes of memory that it holds.
    pub fn memory_bytes(&self) -> usize {
        let filtered = [&self.frequent, &self.long].into_iter().chain(&self.recent);
        self.short.memory_bytes() + filtered.map(FilteredView::memory_bytes).sum::<usize>()
    }

    /// Finds the entries of a term. Delta postings are read in the same round.
    pub fn get(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<TermFound> {
        let levels = 0..DELTA_LEVELS;
        let levels: Vec<usize> = levels
            .filter(|level| self.recent[*level].keys.may_have(key))
            .collect();
        let recent = match gather(&levels, |level| self.recent[level].tree.get(key, pages)) {
            Err(Stop::Pages) => {
                self.entry(key, pages)?;
                return Err(Stop::Pages);
            }
            found => found?,
        };
        let entry = self.entry(key, pages)?;
        let recent = levels.into_iter().zip(recent);
        Ok(TermFound {
            entry,
            recent: recent
                .filter_map(|(level, found)| Some((level, found?)))
                .collect(),
        })
    }

    /// The entry of a term, coded. A round for a leaf of short lists comes behind one for a leaf of
    /// long ones, if that is not in memory; what is above the leaves is read for both at once.
    fn entry(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<Option<Bytes>> {
        if let Some(found) = self.frequent.get(key, pages)? {
            return Ok(Some(found));
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

    /// Finds the entries of many terms, in their order, in the same rounds.
    ///
    /// Every term may hold as many frames as there are trees, so ask for no more at once than the
    /// frame pool can hold of them.
    pub fn lookup_all(&self, keys: &[&[u8]], pages: &mut Pages<'_>) -> Step<Vec<TermFound>> {
        gather(keys, |key| self.get(key, pages))
    }

    /// Describes the fault, for a check, of a value that stands in the wrong one of the trees.
    pub fn misplaced(
        &self,
        key: &[u8],
        value: &[u8],
        tree: TermTree,
        pages: &mut Pages<'_>,
    ) -> Step<Option<&'static str>> {
        if TermEntry::has_chunks(value) != TermTree::WITH_CHUNKS.contains(&tree) {
            return Ok(Some("its entry stands in the wrong tree"));
        }
        Ok(match tree {
            TermTree::Short => None,
            TermTree::Frequent if !self.frequent.keys.may_have(key) => {
                Some("the filter of frequent words lacks it")
            }
            TermTree::Frequent => {
                let long = self.long.get(key, pages)?;
                let twice = long.or(self.short.get(key, pages)?);
                twice.map(|_| "it has an entry in another tree")
            }
            TermTree::Long if !self.long.keys.may_have(key) => {
                Some("the filter of long lists lacks it")
            }
            TermTree::Long => {
                let twice = self.short.get(key, pages)?.is_some();
                twice.then_some("it has an entry in another tree")
            }
            TermTree::Delta(level) if !self.recent[level].keys.may_have(key) => {
                Some("the filter of delta postings lacks it")
            }
            TermTree::Delta(_) => {
                let postings = self.get(key, pages)?.decode()?.unwrap_or_default();
                let disordered = !postings.is_ordered()?;
                disordered.then_some("its delta postings do not lie behind those before them")
            }
        })
    }
}

impl TermFound {
    /// Decodes what was found; nothing if the dictionary does not have the term.
    pub fn decode(&self) -> Result<Option<TermPostings>> {
        if self.entry.is_none() && self.recent.is_empty() {
            return Ok(None);
        }
        let mut postings = TermPostings::default();
        if let Some(entry) = &self.entry {
            postings.take(TermTree::Short, entry)?;
        }
        for (level, recent) in &self.recent {
            postings.take(TermTree::Delta(*level), recent)?;
        }
        Ok(Some(postings))
    }
}

impl From<TermEntry> for TermPostings {
    fn from(entry: TermEntry) -> TermPostings {
        TermPostings {
            entry,
            recent: Default::default(),
        }
    }
}

impl TermPostings {
    /// Documents that have the term.
    pub fn document_frequency(&self) -> u64 {
        let recent = self.recent.iter().map(|recent| recent.count as u64);
        self.entry.document_frequency() + recent.sum::<u64>()
    }

    /// Shows the docs that lie outside chunks to `visit`, until it fails.
    pub fn each_doc_at_hand(&self, mut visit: impl FnMut(DocId) -> Result<()>) -> Result<()> {
        let mut parts = [&self.entry.tail].into_iter().chain(&self.recent);
        parts.try_for_each(|part| part.each_doc(&mut visit))
    }

    /// Tokens of the term.
    pub fn total_frequency(&self) -> u64 {
        let recent = self.recent.iter().map(|recent| recent.total_frequency);
        self.entry.total_frequency() + recent.sum::<u64>()
    }

    /// Bytes of memory that it holds.
    pub fn memory_bytes(&self) -> usize {
        let tail = [&self.entry.tail].into_iter().chain(&self.recent);
        let bytes = tail.map(|fragment| fragment.docs.capacity() + fragment.positions.capacity());
        size_of::<TermPostings>()
            + self.entry.chunks.capacity() * size_of::<ChunkRef>()
            + bytes.sum::<usize>()
    }

    /// Takes in what one of the trees has of the term.
    pub fn take(&mut self, tree: TermTree, value: &[u8]) -> Result<()> {
        let entry = TermEntry::decode(value)?;
        match tree {
            TermTree::Delta(level) => self.recent[level] = entry.tail,
            TermTree::Frequent | TermTree::Long | TermTree::Short => self.entry = entry,
        }
        Ok(())
    }

    /// Returns true if all delta postings lie behind those that came before them.
    fn is_ordered(&self) -> Result<bool> {
        let mut last = self.entry.last();
        for recent in self.recent.iter().rev().filter(|recent| !recent.is_empty()) {
            if last >= recent.first()? {
                return Ok(false);
            }
            last = Some(recent.last);
        }
        Ok(true)
    }
}

impl TermDictionary {
    /// An empty one.
    pub fn new(store: &Arc<Store>) -> TermDictionary {
        TermDictionary {
            lists: ListTrees::new(store),
            recent: DeltaLevels::new(store),
        }
    }

    /// The one that [`TermDictionary::encode`] described. Reads the trees of frequent words and of
    /// delta postings, to know their keys.
    pub fn open(store: &Arc<Store>, pool: &FramePool, bytes: &[u8]) -> Result<TermDictionary> {
        let mut reader = ByteReader::new(bytes, "the root of the term dictionary");
        let dictionary = TermDictionary {
            lists: ListTrees::open(store, pool, &mut reader)?,
            recent: DeltaLevels::open(store, pool, &mut reader)?,
        };
        if reader.is_empty() {
            Ok(dictionary)
        } else {
            Err(reader.damaged("the end", reader.rest().len()))
        }
    }

    /// The newest state. Give it to readers only after [`TermDictionary::flush`].
    pub fn view(&self) -> TermView {
        TermView {
            frequent: self.lists.frequent.view(),
            long: self.lists.long.view(),
            short: self.lists.short.view().clone(),
            recent: self.recent.view(),
        }
    }

    /// Shows `decide` the old entries of `keys` (sorted, distinct), many at a time, and makes its
    /// changes: of frequent words, and beside them first of lists that are short, then of those
    /// that are long. Delta postings stay as they are.
    ///
    /// An error, be it of `decide`, stops the dictionary for good.
    pub fn update(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        decide: &DecideEntries<'_>,
    ) -> Result<()> {
        self.lists.update(pool, keys, decide)
    }

    /// Appends all nodes in victim zones anew; see [`Tree::move_out_of`].
    pub fn move_out_of(
        &mut self,
        pool: &FramePool,
        is_victim: &dyn Fn(ZoneNumber) -> bool,
    ) -> Result<()> {
        let mut trees = self.trees();
        trees.try_for_each(|tree| tree.move_out_of(pool, is_victim).map(drop))
    }

    /// Writes all nodes out. They are durable when what [`TermDictionary::take_unsynced`] gives is
    /// synced.
    pub fn flush(&mut self) -> Result<()> {
        self.trees().try_for_each(Tree::flush)
    }

    /// Has all trees go on in new zones where less than this share of the open one lives.
    pub fn leave_sparse_zones(&mut self, live_share: f64) -> Result<()> {
        let mut trees = self.trees();
        trees.try_for_each(|tree| tree.leave_sparse_zone(live_share))
    }

    /// All of its trees.
    fn trees(&mut self) -> impl Iterator<Item = &mut Tree> {
        self.lists
            .trees_mut()
            .into_iter()
            .chain(self.recent.trees())
    }

    /// Takes the unsynced bytes that were written out.
    pub fn take_unsynced(&mut self) -> Unsynced {
        let mut unsynced = Unsynced::default();
        for tree in self.trees() {
            unsynced.join(tree.stream().take_unsynced());
        }
        unsynced
    }

    /// Writes the changed pages of the node mappings to `tables` and appends what
    /// [`TermDictionary::open`] needs.
    pub fn encode(&mut self, tables: &mut StreamWriter, out: &mut Vec<u8>) -> Result<()> {
        self.lists.encode(tables, out)?;
        self.recent.encode(tables, out)
    }
}
