//! Recent postings: what flushes bring of a term is kept in small trees before it joins the term's list.
//!
//! A flush has a posting or two for each of very many terms. Were each put where its list is, nearly every leaf of the
//! dictionary would be written anew, forty times what came. So they go to small trees, one above the other: the first
//! *level* is written anew by each flush; once as much was written of it as the level below takes, it is poured into
//! that, and so on. From all levels postings join their lists, in the order of their terms: each flush goes on where the one before
//! ended, for as many nodes as the last level has cost, and begins anew behind the last term. So a leaf of lists is written once for all that
//! came since the lap before, and no flush has more to do than others. Whatever flushes bring, a level costs no more than
//! twice what it would at the best moments. Postings that are many go to
//! their list at once. A rare term reads a page more, in the same round, for each level that has some of it.
//!
//! Nodes written in 100 flushes (all trees, external IDs included), and chunks:
//!
//! | | nodes, without | with three levels | | chunks, MB |
//! |---|---|---|---|---|
//! | 540,000 passages | 432,614 | 130,732 | 0.30 | 1,016, 631 |
//! | 30,094 articles | 414,880 | 125,747 | 0.30 | 1,153, 725 |
//!
//! Of the passages' 30,837 are of the last level, 20,652 and 30,388 of those above, 24,376 of short lists, 12,535 of long ones, 9,865 of
//! frequent words. One level took 196,700 nodes, two 145,600; where all of it joined its lists at once 132,700, but then some flushes took three times
//! as long as others. After the last flush the levels take 10 MB beside 23 MB of lists. With 64 MiB a word in 10 documents takes 0.22 reads right after
//! the last flush, over 20,000 queries from a cold start, and 1.5 over the first 300. Up to 1,024 or 512 bytes a term hardly matters: 2 % more or less.
//! 1,000 flushes of 100 passages write 112,404 nodes, and 220,114 where 4,096 terms join at a time.
//!
//! Invariant: of a term, a level's postings lie behind those of the levels below and behind its list.
//!
//! Source of the idea to buffer changes in smaller trees of the same form: O'Neil et al., "The Log-Structured
//! Merge-Tree", 1996; when to stop renting: Karlin et al., "Competitive Snoopy Caching", 1988.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::filtered::FilteredTree;
use super::key_filter::KeyFilter;
use super::{RECENT_LEVELS, TERMS_AT_ONCE, TermDictionary};
use crate::base::{ByteReader, Result, put_bytes, put_varint};
use crate::cache::{FramePool, Pages, finish};
use crate::dictionary::{Change, Scan, Tree, TreeView, value_max};
use crate::postings::entry::TermEntry;
use crate::postings::fragment::Fragment;
use crate::storage::Store;

/// The most bytes that recent postings of a term take on a level; fewer beside a very long key.
const RECENT_LIMIT: usize = 1024;

/// The same of a frequent word, which may join its list at little cost: on the first level, and on those below.
const RECENT_LIMIT_FREQUENT: [usize; 2] = [512, 128];

/// A word is frequent if a flush brings it more bytes of postings than these.
const FREQUENT: usize = 256;

/// A change of at least so many terms, and of one of so many of the dictionary, goes to the lists at once: it changes
/// most leaves anyway.
const MANY: u64 = 4096;
const MANY_OF: u64 = 2;

/// How many flushes share among them what the last level has cost.
const SHARED_BY: u64 = 3;

/// Fewer nodes than this are not worth the work of joining.
const NODES_MIN: u64 = 16;

/// How many terms' recent postings are in memory at once.
const AT_ONCE: usize = 4096;

/// How many terms join their lists together in a lap, at least and for each node that is to be written: so a small flush joins
/// hardly more than its share, and in a large one few leaves are written twice.
const JOINED_MIN: usize = 256;
const JOINED_PER_NODE: usize = 8;

/// Postings that are to join a list.
#[derive(Debug)]
pub struct Addition<'a> {
    /// The term.
    pub key: &'a [u8],
    /// Its coded entry, if it has one.
    pub old: Option<&'a [u8]>,
    /// Postings behind all that the entry has.
    pub new: Fragment,
}

/// Joins postings to lists; gives the new entries, in the order of the additions.
pub type Join<'j> = dyn FnMut(Vec<Addition<'_>>) -> Result<Vec<Vec<u8>>> + 'j;

/// Gives the new postings of some terms, by their indexes.
pub type New<'n> = dyn Fn(Vec<usize>) -> Vec<Fragment> + 'n;

/// One level of recent postings.
pub(super) struct Level {
    pub(super) postings: FilteredTree,
    /// Nodes written of it since it was last empty, but for those that its tree has appended since `counted_from`.
    written: u64,
    counted_from: u64,
}

/// How far recent postings have joined their lists.
#[derive(Default)]
pub(super) struct Lap {
    /// The term that comes next.
    next: Vec<u8>,
    /// Nodes of lists that are to be written, as many as were written of the last level.
    owed: u64,
}

/// Terms that have too many postings to be recent, ascending.
#[derive(Default)]
struct Outgrown<'k> {
    terms: Vec<OutgrownTerm<'k>>,
    /// What levels had of some of them, by their places in `terms`.
    recent: BTreeMap<usize, Fragment>,
}

struct OutgrownTerm<'k> {
    key: Cow<'k, [u8]>,
    /// Its index among the terms of the change; none if that brings nothing of it.
    new: Option<usize>,
}

/// The postings of some levels in order of their terms.
struct Postings<'a> {
    /// The oldest first.
    levels: Vec<LevelPostings<'a>>,
}

struct LevelPostings<'a> {
    pages: Pages<'a>,
    view: TreeView,
    scan: Scan,
    /// The term that the scan stands on; nothing behind the last.
    next: Option<(Vec<u8>, Fragment)>,
}

/// The most bytes that terms may have on a level.
struct Room<'a> {
    limit: usize,
    limit_frequent: usize,
    frequent: &'a KeyFilter,
}

impl TermDictionary {
    /// Adds new postings to the terms `keys` (sorted, distinct), behind all that they have.
    ///
    /// An error stops the dictionary for good.
    pub fn add(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        new: &New<'_>,
        join: &mut Join<'_>,
    ) -> Result<()> {
        let lists = self.lists().map(TreeView::entries).sum::<u64>();
        let terms = keys.len() as u64;
        if terms >= MANY && terms * MANY_OF >= lists {
            let all = self.pour(pool, RECENT_LEVELS - 1, 0, keys, new)?;
            self.join(pool, all, new, join)?;
            return self.clear_recent();
        }
        let into = self.level_to_write();
        let outgrown = match into == 0 && terms < self.recent[0].postings.tree.view().leaves() {
            true => self.keep(pool, keys, new)?,
            false => self.pour(pool, into, usize::MAX, keys, new)?,
        };
        self.join(pool, outgrown, new, join)?;
        // What pours into the last level has done enough.
        if into + 1 < RECENT_LEVELS {
            self.go_on(pool, join)?;
        }
        let mut levels = self.recent.iter_mut();
        levels.try_for_each(|level| level.postings.widen(pool))
    }

    /// Has all recent postings join their lists.
    pub fn settle(&mut self, pool: &FramePool, join: &mut Join<'_>) -> Result<()> {
        let mut recent = Postings::new(&mut self.recent, &[], pool)?;
        while self.join_next(pool, AT_ONCE, &mut recent, join)?.is_some() {}
        self.clear_recent()
    }

    fn clear_recent(&mut self) -> Result<()> {
        self.lap = Lap::default();
        self.recent.iter_mut().try_for_each(Level::clear)
    }

    /// Has the next recent postings join their lists, for a share of what is owed.
    fn go_on(&mut self, pool: &FramePool, join: &mut Join<'_>) -> Result<()> {
        let share = self.lap.owed / SHARED_BY;
        if share < NODES_MIN {
            return Ok(());
        }
        let appended = |terms: &Self| terms.lists().map(TreeView::appended).sum::<u64>();
        let before = appended(self);
        let at_once = (JOINED_PER_NODE * share as usize).clamp(JOINED_MIN, AT_ONCE);
        let mut recent = Postings::new(&mut self.recent, &self.lap.next, pool)?;
        while appended(self) - before < share {
            let Some(keys) = self.join_next(pool, at_once, &mut recent, join)? else {
                self.lap.next.clear();
                break;
            };
            for level in &mut self.recent {
                level.remove(pool, &keys)?;
            }
            self.lap.next.clone_from(&keys[keys.len() - 1]);
            // The least key behind it.
            self.lap.next.push(0);
        }
        self.lap.owed = self
            .lap
            .owed
            .saturating_sub(share.max(appended(self) - before));
        Ok(())
    }

    /// Has some more recent postings join their lists, and gives their terms; nothing behind the last.
    fn join_next(
        &mut self,
        pool: &FramePool,
        at_once: usize,
        recent: &mut Postings<'_>,
        join: &mut Join<'_>,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let (mut terms, mut postings) = (Vec::new(), Vec::new());
        while terms.len() < at_once
            && let Some((term, fragment)) = recent.take()?
        {
            terms.push(term);
            postings.push(fragment);
        }
        let keys: Vec<&[u8]> = terms.iter().map(Vec::as_slice).collect();
        self.update(pool, &keys, &mut |old| {
            let additions = old.iter().map(|(at, old)| Addition {
                key: keys[*at],
                old: *old,
                new: std::mem::take(&mut postings[*at]),
            });
            Ok(join(additions.collect())?.into_iter().map(Some).collect())
        })?;
        Ok((!terms.is_empty()).then_some(terms))
    }

    /// The trees of lists.
    fn lists(&self) -> impl Iterator<Item = &TreeView> {
        [&self.frequent.tree, &self.long.tree, &self.short]
            .into_iter()
            .map(Tree::view)
    }

    /// The level that takes in the next postings and the levels above it.
    fn level_to_write(&self) -> usize {
        let below = self.recent.iter().skip(1).map(Level::nodes);
        let mut levels = self.recent.iter().zip(below);
        let last = RECENT_LEVELS - 1;
        levels
            .position(|(level, below)| level.written() < below.max(1))
            .unwrap_or(last)
    }

    /// Adds new postings to those of the first level, where few of its leaves change.
    fn keep<'k>(
        &mut self,
        pool: &FramePool,
        keys: &[&'k [u8]],
        new: &New<'_>,
    ) -> Result<Outgrown<'k>> {
        let room = Room::new(0, usize::MAX, &self.frequent.keys);
        let FilteredTree { tree, keys: filter } = &mut self.recent[0].postings;
        let mut outgrown = Outgrown::default();
        tree.apply(pool, keys, &mut |window| {
            let fragments = new(window.indexes().collect());
            for (term, new) in window.indexes().zip(fragments) {
                let old = window.old(term).map(TermEntry::decode).transpose()?;
                let is_there = old.is_some();
                let old = old.unwrap_or_default().tail;
                match room.fits(keys[term], &old, &new) {
                    true => {
                        filter.insert(keys[term]);
                        window.set(term, Change::Put(encode(old.concat(&new)?)?))?;
                    }
                    false => {
                        outgrown.push(Cow::Borrowed(keys[term]), Some(term), old);
                        if is_there {
                            window.set(term, Change::Remove)?;
                        }
                    }
                }
            }
            Ok(())
        })?;
        self.take_from_below(pool, 1, &mut outgrown)?;
        Ok(outgrown)
    }

    /// Pours new postings and all levels above one into that: its tree is made anew, of full leaves.
    fn pour<'k>(
        &mut self,
        pool: &FramePool,
        into: usize,
        limit: usize,
        keys: &[&'k [u8]],
        new: &New<'_>,
    ) -> Result<Outgrown<'k>> {
        let mut before = Postings::new(&mut self.recent[..=into], &[], pool)?;
        self.recent[..into].iter_mut().try_for_each(Level::clear)?;
        self.recent[into].begin_anew()?;
        let room = Room::new(into, limit, &self.frequent.keys);
        let level = &mut self.recent[into].postings;
        let mut outgrown = Outgrown::default();
        let mut first = 0;
        loop {
            let terms: Vec<usize> = (first..keys.len().min(first + AT_ONCE)).collect();
            first += terms.len();
            let mut entries = Vec::with_capacity(terms.len());
            let mut put = |key: Cow<'k, [u8]>, at: Option<usize>, old: Fragment, new: Fragment| {
                match room.fits(&key, &old, &new) {
                    true => entries.push((key, encode(old.concat(&new)?)?)),
                    false => outgrown.push(key, at, old),
                }
                Result::Ok(())
            };
            for (term, new) in terms.iter().copied().zip(new(terms.clone())) {
                while let Some((key, old)) = before.take_below(keys[term])? {
                    put(Cow::Owned(key), None, old, Fragment::default())?;
                }
                let old = before.take_at(keys[term])?;
                put(Cow::Borrowed(keys[term]), Some(term), old, new)?;
            }
            let mut taken = 0;
            while terms.is_empty()
                && taken < AT_ONCE
                && let Some((key, old)) = before.take()?
            {
                taken += 1;
                put(Cow::Owned(key), None, old, Fragment::default())?;
            }
            if terms.is_empty() && taken == 0 {
                break;
            }
            append(level, pool, entries)?;
        }
        if into + 1 == RECENT_LEVELS {
            self.lap.owed += self.recent[into].nodes();
        }
        self.take_from_below(pool, into + 1, &mut outgrown)?;
        Ok(outgrown)
    }

    /// Takes what outgrown terms have on the levels from one on: it joins their lists before what came later.
    fn take_from_below(
        &mut self,
        pool: &FramePool,
        from: usize,
        outgrown: &mut Outgrown<'_>,
    ) -> Result<()> {
        for level in &mut self.recent[from..] {
            let FilteredTree { tree, keys: filter } = &mut level.postings;
            let Outgrown { terms, recent } = &mut *outgrown;
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
                    let newer = recent.remove(&held[at]).unwrap_or_default();
                    recent.insert(held[at], older.concat(&newer)?);
                    window.set(at, Change::Remove)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Has postings join their lists.
    fn join(
        &mut self,
        pool: &FramePool,
        mut outgrown: Outgrown<'_>,
        new: &New<'_>,
        join: &mut Join<'_>,
    ) -> Result<()> {
        let terms = &outgrown.terms;
        let keys: Vec<&[u8]> = terms.iter().map(|term| &*term.key).collect();
        let mut frequent = Vec::new();
        self.update(pool, &keys, &mut |old| {
            let asked = old.iter().filter_map(|(at, _)| terms[*at].new);
            let mut fragments = new(asked.collect()).into_iter();
            let mut additions = Vec::with_capacity(old.len());
            for (at, old) in old {
                let new = terms[*at].new.and_then(|_| fragments.next());
                let new = new.unwrap_or_default();
                if new.encoded_length_max() > FREQUENT {
                    frequent.push(keys[*at]);
                }
                additions.push(Addition {
                    key: keys[*at],
                    old: *old,
                    new: match outgrown.recent.remove(at) {
                        None => new,
                        Some(recent) => recent.concat(&new)?,
                    },
                });
            }
            Ok(join(additions)?.into_iter().map(Some).collect())
        })?;
        frequent.sort_unstable();
        frequent.retain(|key| !self.frequent.keys.may_have(key));
        let mut some = frequent.chunks(TERMS_AT_ONCE);
        some.try_for_each(|some| self.promote(pool, some))
    }
}

/// Puts entries behind all that a level has.
fn append(
    level: &mut FilteredTree,
    pool: &FramePool,
    entries: Vec<(Cow<'_, [u8]>, Vec<u8>)>,
) -> Result<()> {
    let (keys, mut values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    let keys: Vec<&[u8]> = keys.iter().map(|key| &**key).collect();
    keys.iter().for_each(|key| level.keys.insert(key));
    level.tree.apply(pool, &keys, &mut |window| {
        let mut indexes = window.indexes();
        indexes.try_for_each(|at| window.set(at, Change::Put(std::mem::take(&mut values[at]))))
    })
}

impl Lap {
    /// Appends what [`Lap::decode`] reads.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, &self.next);
        put_varint(out, self.owed);
    }

    /// The one that was encoded next.
    pub(super) fn decode(reader: &mut ByteReader<'_>) -> Result<Lap> {
        Ok(Lap {
            next: reader.bytes()?.to_vec(),
            owed: reader.varint()?,
        })
    }
}

impl Level {
    /// An empty one.
    pub(super) fn new(store: &Arc<Store>) -> Level {
        Level {
            postings: FilteredTree::new(store),
            written: 0,
            counted_from: 0,
        }
    }

    /// The next of those that [`TermDictionary::encode`] described. Reads its tree.
    pub(super) fn open(
        store: &Arc<Store>,
        pool: &FramePool,
        reader: &mut ByteReader<'_>,
    ) -> Result<Level> {
        let tree = Tree::open(Arc::clone(store), reader.bytes()?)?;
        Ok(Level {
            counted_from: tree.view().appended(),
            postings: FilteredTree::open(tree, pool)?,
            written: reader.varint()?,
        })
    }

    /// Nodes that it has.
    fn nodes(&self) -> u64 {
        self.postings.tree.view().nodes()
    }

    /// Nodes that were written of it since it was last empty.
    pub(super) fn written(&self) -> u64 {
        self.written + self.postings.tree.view().appended() - self.counted_from
    }

    /// Removes all.
    fn clear(&mut self) -> Result<()> {
        self.postings.clear()?;
        (self.written, self.counted_from) = (0, self.postings.tree.view().appended());
        Ok(())
    }

    /// Removes what it has of some terms.
    fn remove(&mut self, pool: &FramePool, keys: &[Vec<u8>]) -> Result<()> {
        let FilteredTree { tree, keys: filter } = &mut self.postings;
        let keys = keys.iter().map(Vec::as_slice);
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

    /// Removes all, to be written anew.
    fn begin_anew(&mut self) -> Result<()> {
        self.postings.clear()?;
        // So that the next time leaves whole zones dead, with nothing to be moved.
        self.postings.tree.stream().close_zone()
    }
}

impl<'k> Outgrown<'k> {
    fn push(&mut self, key: Cow<'k, [u8]>, new: Option<usize>, recent: Fragment) {
        if !recent.is_empty() {
            self.recent.insert(self.terms.len(), recent);
        }
        self.terms.push(OutgrownTerm { key, new });
    }
}

impl<'a> Postings<'a> {
    /// Those of `levels`, the newest of which is the first, as they are now, from a key on.
    fn new(levels: &mut [Level], from: &[u8], pool: &'a FramePool) -> Result<Postings<'a>> {
        let mut postings = Postings { levels: Vec::new() };
        for level in levels.iter_mut().rev() {
            level.postings.tree.flush()?;
            let view = level.postings.tree.view().clone();
            let mut level = LevelPostings {
                pages: Pages::new(pool),
                scan: view.scan(from),
                view,
                next: None,
            };
            level.take()?;
            postings.levels.push(level);
        }
        Ok(postings)
    }

    /// The next term.
    fn next(&self) -> Option<&[u8]> {
        let next = self.levels.iter().filter_map(LevelPostings::next);
        next.min()
    }

    /// The next term and its postings.
    fn take(&mut self) -> Result<Option<(Vec<u8>, Fragment)>> {
        let Some(key) = self.next().map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        let postings = self.take_at(&key)?;
        Ok(Some((key, postings)))
    }

    /// The next term if it is below `key`.
    fn take_below(&mut self, key: &[u8]) -> Result<Option<(Vec<u8>, Fragment)>> {
        match self.next() {
            Some(next) if next < key => self.take(),
            _ => Ok(None),
        }
    }

    /// The postings of `key` if it is the next.
    fn take_at(&mut self, key: &[u8]) -> Result<Fragment> {
        let mut postings = Fragment::default();
        for level in &mut self.levels {
            if level.next() == Some(key)
                && let Some((_, newer)) = level.take()?
            {
                postings = match postings.is_empty() {
                    true => newer,
                    false => postings.concat(&newer)?,
                };
            }
        }
        Ok(postings)
    }
}

impl LevelPostings<'_> {
    /// The term that comes next.
    fn next(&self) -> Option<&[u8]> {
        self.next.as_ref().map(|(key, _)| key.as_slice())
    }

    /// The next term and its postings.
    fn take(&mut self) -> Result<Option<(Vec<u8>, Fragment)>> {
        let LevelPostings {
            pages, view, scan, ..
        } = self;
        pages.trim();
        let next = match finish(pages, |pages| scan.advance(view, pages))? {
            true => Some((scan.key().to_vec(), TermEntry::decode(scan.value())?.tail)),
            false => None,
        };
        Ok(std::mem::replace(&mut self.next, next))
    }
}

impl<'a> Room<'a> {
    /// That on a level, where no term may have more than `limit`.
    fn new(level: usize, limit: usize, frequent: &'a KeyFilter) -> Room<'a> {
        let of_frequent = RECENT_LIMIT_FREQUENT[level.min(1)];
        Room {
            limit: limit.min(RECENT_LIMIT),
            limit_frequent: limit.min(of_frequent),
            frequent,
        }
    }

    /// Whether a term's postings of before and new ones fit together.
    fn fits(&self, key: &[u8], old: &Fragment, new: &Fragment) -> bool {
        let limit = match self.frequent.may_have(key) {
            true => self.limit_frequent,
            false => self.limit,
        };
        old.encoded_length_max() + new.encoded_length_max() <= limit.min(value_max(key.len()))
    }
}

/// The entry of recent postings.
fn encode(tail: Fragment) -> Result<Vec<u8>> {
    let entry = TermEntry {
        tail,
        ..TermEntry::default()
    };
    entry.encode()
}
