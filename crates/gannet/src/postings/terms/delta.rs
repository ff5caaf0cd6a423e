//! Delta postings: what flushes bring of a term is kept in small trees before it joins the term's
//! list.
//!
//! A flush has a posting or two for each of very many terms. Were each put where its list is,
//! nearly every leaf of the dictionary would be written anew, forty times what came. So they go to
//! small trees, one above the other: the first *level* is written anew by each flush; once as much
//! was written of it as the level below takes, it is compacted into that, and so on. From all
//! levels postings join their lists, in the order of their terms: each flush goes on where the one
//! before ended, for as many nodes as the last level has cost, and begins anew behind the last
//! term. So a leaf of lists is written once for all that came since the pass before, and no flush
//! has more to do than others. Whatever flushes bring, a level costs no more than twice what it
//! would at the best moments. Postings that are many go to their list at once. A rare term reads a
//! page more, in the same round, for each level that has some of it.
//!
//! Nodes written in 100 flushes (all trees, external IDs included), and chunks:
//!
//! | | nodes, without | with three levels | | chunks, MB |
//! |---|---|---|---|---|
//! | 540,000 passages | 432,614 | 130,732 | 0.30 | 1,016, 631 |
//! | 30,094 articles | 414,880 | 125,747 | 0.30 | 1,153, 725 |
//!
//! Of the passages' 30,837 are of the last level, 20,652 and 30,388 of those above, 24,376 of short
//! lists, 12,535 of long ones, 9,865 of frequent words. One level took 196,700 nodes, two 145,600;
//! where all of it joined its lists at once 132,700, but then some flushes took three times as long
//! as others. After the last flush the levels take 10 MB beside 23 MB of lists. With 64 MiB a word
//! in 10 documents takes 0.22 reads right after the last flush, over 20,000 queries from a cold
//! start, and 1.5 over the first 300. Up to 1,024 or 512 bytes a term hardly matters: 2 % more or
//! less. 1,000 flushes of 100 passages write 112,404 nodes, and 220,114 where 4,096 terms join at a
//! time.
//!
//! Invariant: of a term, a level's postings lie behind those of the levels below and behind its
//! list.
//!
//! Source of the idea to buffer changes in smaller trees of the same form: O'Neil et al., "The
//! Log-Structured Merge-Tree", 1996; when to stop renting: Karlin et al., "Competitive Snoopy
//! Caching", 1988.

use std::borrow::Cow;
use std::sync::Arc;

use super::change::{DELTA_LEVELS, encode_tree};
use super::filtered::{FilteredTree, FilteredView};
use super::join::{Joiner, Joiners, NewPostings};
use super::key_filter::KeyFilter;
use super::level_entries::LevelEntries;
use super::lists::ListTrees;
use crate::base::{ByteReader, Result, put_bytes, put_varint};
use crate::btree::{Change, Tree, value_max};
use crate::cache::FramePool;
use crate::postings::codec::entry::TermEntry;
use crate::postings::codec::short::{JOINED_MORE, ShortList, put_entry};
use crate::storage::{Store, StreamWriter};

/// The most bytes that delta postings of a term take on a level; fewer beside a very long key.
const RECENT_LIMIT: usize = 1024;

/// The same of a frequent word, which may join its list at little cost: on the first level, and on
/// those below.
const RECENT_LIMIT_FREQUENT: [usize; 2] = [512, 128];

/// The delta postings of all terms.
pub(crate) struct DeltaLevels {
    pub(crate) levels: [DeltaLevel; DELTA_LEVELS],
    pub(crate) pass: Lap,
}

/// One level of delta postings.
pub(crate) struct DeltaLevel {
    pub(crate) postings: FilteredTree,
    /// Nodes written of it since it was last empty, but for those that its tree has appended since
    /// `counted_from`.
    written: u64,
    counted_from: u64,
}

/// The progress of merging delta postings into their lists.
#[derive(Default)]
pub(crate) struct Lap {
    /// The term that comes next.
    pub(crate) next: Vec<u8>,
    /// Nodes of lists that are to be written, as many as were written of the last level.
    pub(crate) owed: u64,
}

/// The most bytes that terms may have on a level.
pub(crate) struct LevelLimits {
    limit: usize,
    limit_frequent: usize,
    frequent: KeyFilter,
}

impl DeltaLevels {
    /// None.
    pub(crate) fn new(store: &Arc<Store>) -> DeltaLevels {
        DeltaLevels {
            levels: std::array::from_fn(|_| DeltaLevel::new(store)),
            pass: Lap::default(),
        }
    }

    /// Opens the levels that [`DeltaLevels::encode`] described. May read their trees, to know
    /// their keys.
    pub(crate) fn open(
        store: &Arc<Store>,
        pool: &FramePool,
        reader: &mut ByteReader<'_>,
    ) -> Result<DeltaLevels> {
        let mut recent = DeltaLevels::new(store);
        for level in &mut recent.levels {
            *level = DeltaLevel::open(store, pool, reader)?;
        }
        recent.pass = Lap::decode(reader)?;
        Ok(recent)
    }

    /// Writes the changed pages of the node mappings to `tables` and appends what
    /// [`DeltaLevels::open`] needs.
    pub(crate) fn encode(&mut self, tables: &mut StreamWriter, out: &mut Vec<u8>) -> Result<()> {
        for level in &mut self.levels {
            encode_tree(&mut level.postings.tree, tables, out)?;
            put_varint(out, level.written());
        }
        self.pass.encode(out);
        Ok(())
    }

    pub(crate) fn view(&self) -> [FilteredView; DELTA_LEVELS] {
        self.levels.each_ref().map(|level| level.postings.view())
    }

    pub(crate) fn trees(&mut self) -> [&mut Tree; DELTA_LEVELS] {
        self.levels.each_mut().map(|level| &mut level.postings.tree)
    }

    /// The level that takes in the next postings and the levels above it.
    pub(crate) fn level_to_write(&self) -> usize {
        let below = self.levels.iter().skip(1).map(DeltaLevel::nodes);
        let mut levels = self.levels.iter().zip(below);
        let last = DELTA_LEVELS - 1;
        levels
            .position(|(level, below)| level.written() < below.max(1))
            .unwrap_or(last)
    }

    /// Adds new postings to those of the first level, where few of its leaves change. Gives those
    /// for which there is no room.
    pub(crate) fn keep<'k>(
        &mut self,
        keys: &[&'k [u8]],
        room: LevelLimits,
        pool: &FramePool,
        new: &dyn NewPostings,
    ) -> Result<Joiners<'k>> {
        let FilteredTree { tree, keys: filter } = &mut self.levels[0].postings;
        let (mut outgrown, mut joined) = (Joiners::default(), Vec::new());
        tree.apply(pool, keys, &mut |window| {
            let fragments = new.of(window.indexes().collect());
            for (term, new) in window.indexes().zip(fragments) {
                let old = window.old(term);
                let old_bytes = old.map_or(0, |old| old.len() + JOINED_MORE);
                if room.fits(keys[term], old_bytes + new.encoded_length_max()) {
                    filter.insert(keys[term]);
                    let older = old.map(ShortList::decode).transpose()?;
                    let parts: Vec<_> = older.into_iter().chain([ShortList::of(&new)]).collect();
                    joined.clear();
                    put_entry(&parts, &mut joined)?;
                    window.put(term, &joined)?;
                } else {
                    let older = old.map(TermEntry::decode).transpose()?;
                    let older = older.unwrap_or_default().tail;
                    outgrown.push(Cow::Borrowed(keys[term]), Some(term), older);
                    if old.is_some() {
                        window.set(term, Change::Remove)?;
                    }
                }
            }
            Ok(())
        })?;
        self.take_from_below(1, &mut outgrown, pool)?;
        Ok(outgrown)
    }

    /// Takes what joiners have on the levels from one on: it joins their lists before what came
    /// later.
    pub(crate) fn take_from_below(
        &mut self,
        from: usize,
        joiners: &mut Joiners<'_>,
        pool: &FramePool,
    ) -> Result<()> {
        let Joiners { terms, recent } = joiners;
        for level in &mut self.levels[from..] {
            let FilteredTree { tree, keys: filter } = &mut level.postings;
            let held: Vec<usize> = (0..terms.len())
                .filter(|at| filter.may_have(&terms[*at].key))
                .collect();
            let keys: Vec<&[u8]> = held.iter().map(|at| &*terms[*at].key).collect();
            tree.apply(pool, &keys, &mut |window| {
                for at in window.indexes() {
                    let Some(older) = window.old(at) else {
                        continue;
                    };
                    let older = TermEntry::decode(older)?.tail;
                    let newer = &mut recent[held[at]];
                    *newer = older.concat(newer)?;
                    window.set(at, Change::Remove)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Removes what terms have on any level.
    pub(crate) fn remove(&mut self, terms: &[Joiner<'_>], pool: &FramePool) -> Result<()> {
        let mut levels = self.levels.iter_mut();
        levels.try_for_each(|level| level.remove(terms, pool))
    }

    pub(crate) fn clear(&mut self) -> Result<()> {
        self.pass = Lap::default();
        self.levels.iter_mut().try_for_each(DeltaLevel::clear)
    }

    pub(crate) fn widen(&mut self, pool: &FramePool) -> Result<()> {
        let mut levels = self.levels.iter_mut();
        levels.try_for_each(|level| level.postings.widen(pool))
    }
}

impl Lap {
    /// Appends what [`Lap::decode`] reads.
    fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, &self.next);
        put_varint(out, self.owed);
    }

    /// The one that was encoded next.
    fn decode(reader: &mut ByteReader<'_>) -> Result<Lap> {
        Ok(Lap {
            next: reader.bytes()?.to_vec(),
            owed: reader.varint()?,
        })
    }
}

impl DeltaLevel {
    /// An empty one.
    fn new(store: &Arc<Store>) -> DeltaLevel {
        DeltaLevel {
            postings: FilteredTree::new(store),
            written: 0,
            counted_from: 0,
        }
    }

    /// The next of those that [`DeltaLevels::encode`] described. Reads its tree.
    fn open(
        store: &Arc<Store>,
        pool: &FramePool,
        reader: &mut ByteReader<'_>,
    ) -> Result<DeltaLevel> {
        let tree = Tree::open(Arc::clone(store), reader.bytes()?)?;
        Ok(DeltaLevel {
            counted_from: tree.view().appended(),
            postings: FilteredTree::open(tree, store, pool)?,
            written: reader.varint()?,
        })
    }

    /// Nodes that it has.
    pub(crate) fn nodes(&self) -> u64 {
        self.postings.tree.view().nodes()
    }

    /// Nodes that were written of it since it was last empty.
    fn written(&self) -> u64 {
        self.written + self.postings.tree.view().appended() - self.counted_from
    }

    pub(crate) fn leaves(&self) -> u64 {
        self.postings.tree.view().leaves()
    }

    /// Terms that it has.
    pub(crate) fn terms(&self) -> u64 {
        self.postings.tree.view().entries()
    }

    /// Removes all.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.postings.clear()?;
        (self.written, self.counted_from) = (0, self.postings.tree.view().appended());
        Ok(())
    }

    /// Removes what it has of some terms.
    fn remove(&mut self, terms: &[Joiner<'_>], pool: &FramePool) -> Result<()> {
        let FilteredTree { tree, keys: filter } = &mut self.postings;
        let keys = terms.iter().map(|term| &*term.key);
        let keys: Vec<&[u8]> = keys.filter(|key| filter.may_have(key)).collect();
        tree.apply(pool, &keys, &mut |window| {
            for at in window.indexes() {
                if window.old(at).is_some() {
                    window.set(at, Change::Remove)?;
                }
            }
            Ok(())
        })
    }

    /// Removes all, for as many other terms at most to be put there.
    pub(crate) fn begin_anew(&mut self, terms: u64) -> Result<()> {
        self.postings.clear()?;
        // With as much room again it would be twice as large as it has to be.
        self.postings.keys = KeyFilter::with_room_for(terms.div_ceil(2));
        // So that the next time leaves whole zones dead, with nothing to be moved.
        self.postings.tree.stream().close_zone()
    }

    /// Puts terms behind all that it has.
    pub(crate) fn append(&mut self, entries: &LevelEntries, pool: &FramePool) -> Result<()> {
        let FilteredTree { tree, keys: filter } = &mut self.postings;
        let (keys, values): (Vec<&[u8]>, Vec<&[u8]>) = entries.iter().unzip();
        keys.iter().for_each(|key| filter.insert(key));
        tree.apply(pool, &keys, &mut |window| {
            let mut indexes = window.indexes();
            indexes.try_for_each(|at| window.put(at, values[at]))
        })
    }
}

impl LevelLimits {
    /// Returns the limits of a level in which no term may have more than `limit`.
    pub(crate) fn new(level: usize, limit: usize, lists: &ListTrees) -> LevelLimits {
        let of_frequent = RECENT_LIMIT_FREQUENT[level.min(1)];
        LevelLimits {
            limit: limit.min(RECENT_LIMIT),
            limit_frequent: limit.min(of_frequent),
            frequent: lists.frequent.keys.clone(),
        }
    }

    /// Returns true if postings of so many bytes do not fit, whatever the term.
    pub(crate) fn exclude(&self, bytes: usize) -> bool {
        bytes > self.limit.max(self.limit_frequent)
    }

    /// Returns true if so many bytes of postings fit, of a term's older ones and its new ones
    /// together.
    pub(crate) fn fits(&self, key: &[u8], bytes: usize) -> bool {
        let limit = if self.frequent.may_have(key) {
            self.limit_frequent
        } else {
            self.limit
        };
        bytes <= limit.min(value_max(key.len()))
    }
}
