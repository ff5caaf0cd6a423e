//! Recent postings: what flushes bring of a term is kept in a small tree before it joins the term's list.
//!
//! A flush has a posting or two for each of very many terms. Were each put where its list is, nearly every leaf of the
//! dictionary would be written anew, forty times what came. The small tree is written anew in their place, and its
//! postings join their lists together, once what was written of it since the last time is as much as joining writes:
//! whatever flushes bring, that is no more than twice what the best moment would have cost. Postings that are many go to
//! their list at once. A rare term reads one page more, in the same round, and only while the tree has some of it.
//!
//! 540,000 passages in 100 flushes: 806 MB of nodes (of recent postings 459, of short lists 211, of long ones 82, of frequent words 45) in
//! place of 1,782, and 854 MB of chunks in place of 1,350, since lists that get more at once have fewer small ones. The
//! tree has 1.8 MB after one flush and 8 MB at most, beside 23 MB of lists' nodes. Where it joins, and up to 1,024 or 512 bytes a term,
//! hardly matters: 2 % more or less in all.
//! Source of the idea to buffer changes in a smaller tree of the same form: O'Neil et al., "The Log-Structured
//! Merge-Tree", 1996; when to stop renting: Karlin et al., "Competitive Snoopy Caching", 1988.

use std::collections::BTreeMap;

use super::key_filter::KeyFilter;
use super::{TERMS_AT_ONCE, TermDictionary, keys_of};
use crate::base::Result;
use crate::cache::{FramePool, Pages, finish};
use crate::dictionary::{Change, Scan, Tree, TreeView, value_max};
use crate::postings::entry::TermEntry;
use crate::postings::fragment::Fragment;

/// The most bytes that recent postings of a term take, and those of a frequent word, which may join its list at little
/// cost; fewer beside a very long key.
const RECENT_LIMIT: usize = 1024;
const RECENT_LIMIT_FREQUENT: usize = 512;

/// A word is frequent if a flush brings it more bytes of postings than these.
const FREQUENT: usize = 256;

/// A change of at least so many terms, and of one of so many of the dictionary, goes to the lists at once: it changes
/// most leaves anyway.
const MANY: u64 = 4096;
const MANY_OF: u64 = 2;

/// What joining the lists writes in all, to what the dictionary's nodes take: small chunks are rewritten too.
const JOIN_COST: u64 = 2;

/// Fewer nodes than this are not worth the work of joining.
const NODES_MIN: u64 = 16;

/// How many terms' recent postings are in memory at once.
const AT_ONCE: usize = 4096;

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

/// Terms that have too many postings to be recent.
#[derive(Default)]
struct Outgrown {
    /// Their indexes, ascending.
    terms: Vec<usize>,
    /// What there was of some of them.
    recent: BTreeMap<usize, Fragment>,
}

/// Recent postings in order of their terms.
struct Postings<'a> {
    pages: Pages<'a>,
    view: TreeView,
    scan: Scan,
    /// The term that the scan stands on; nothing behind the last.
    next: Option<(Vec<u8>, Fragment)>,
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
        let limit = match terms >= MANY && terms * MANY_OF >= lists {
            true => 0,
            false => usize::MAX,
        };
        let outgrown = match terms >= self.recent.view().leaves() {
            true => self.keep_anew(pool, keys, limit, new)?,
            false => self.keep(pool, keys, limit, new)?,
        };
        self.join(pool, keys, outgrown, new, join)?;
        if self.is_worth_settling() {
            return self.settle(pool, join);
        }
        if !self.recent_keys.has_room_for(self.recent.view().entries()) {
            self.recent.flush()?;
            self.recent_keys = keys_of(self.recent.view(), pool)?;
        }
        Ok(())
    }

    /// Has all recent postings join their lists.
    pub fn settle(&mut self, pool: &FramePool, join: &mut Join<'_>) -> Result<()> {
        self.recent.flush()?;
        let mut recent = Postings::new(self.recent.view().clone(), pool)?;
        while recent.next.is_some() {
            let (mut keys, mut postings) = (Vec::new(), Vec::new());
            while keys.len() < AT_ONCE
                && let Some((key, fragment)) = recent.take()?
            {
                keys.push(key);
                postings.push(fragment);
            }
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            self.update(pool, &keys, &mut |old| {
                let additions = old.iter().map(|(at, old)| Addition {
                    key: keys[*at],
                    old: *old,
                    new: std::mem::take(&mut postings[*at]),
                });
                Ok(join(additions.collect())?.into_iter().map(Some).collect())
            })?;
        }
        self.recent.clear()?;
        self.recent_keys = KeyFilter::with_room_for(0);
        self.settled_at = self.recent.view().appended();
        Ok(())
    }

    /// The trees of lists.
    fn lists(&self) -> impl Iterator<Item = &TreeView> {
        [&self.frequent, &self.long, &self.short]
            .into_iter()
            .map(Tree::view)
    }

    /// Whether as much was written of recent postings as joining them to their lists writes.
    fn is_worth_settling(&self) -> bool {
        let written = self.recent.view().appended() - self.settled_at;
        let lists = self.lists().map(TreeView::nodes).sum::<u64>();
        written >= (lists * JOIN_COST).max(NODES_MIN)
    }

    /// Adds new postings to the recent ones of those terms that do not get more than `limit` bytes.
    fn keep(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        limit: usize,
        new: &New<'_>,
    ) -> Result<Outgrown> {
        let (recent, recent_keys) = (&mut self.recent, &mut self.recent_keys);
        let frequent_keys = &self.frequent_keys;
        let mut outgrown = Outgrown::default();
        recent.apply(pool, keys, &mut |window| {
            let fragments = new(window.indexes().collect());
            for (term, new) in window.indexes().zip(fragments) {
                let old = window.old(term).map(TermEntry::decode).transpose()?;
                let is_there = old.is_some();
                let room = limit.min(room_for(keys[term], frequent_keys));
                match joined(old.unwrap_or_default().tail, new, room)? {
                    Ok(entry) => {
                        recent_keys.insert(keys[term]);
                        window.set(term, Change::Put(entry))?;
                    }
                    Err(old) => {
                        outgrown.push(term, old);
                        if is_there {
                            window.set(term, Change::Remove)?;
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(outgrown)
    }

    /// The same where nearly every leaf changes: the tree is made anew, of full leaves.
    fn keep_anew(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        limit: usize,
        new: &New<'_>,
    ) -> Result<Outgrown> {
        self.recent.flush()?;
        let mut before = Postings::new(self.recent.view().clone(), pool)?;
        self.recent.clear()?;
        // So that the next time leaves whole zones dead, with nothing to be moved.
        self.recent.stream().close_zone()?;
        let mut outgrown = Outgrown::default();
        let mut first = 0;
        while first < keys.len() || before.next.is_some() {
            let terms: Vec<usize> = (first..keys.len().min(first + AT_ONCE)).collect();
            first += terms.len();
            let mut entries = Vec::with_capacity(terms.len());
            for (term, new) in terms.iter().copied().zip(new(terms.clone())) {
                while let Some((key, fragment)) = before.take_below(keys[term])? {
                    entries.push((key, encode(fragment)?));
                }
                let room = limit.min(room_for(keys[term], &self.frequent_keys));
                match joined(before.take_at(keys[term])?, new, room)? {
                    Ok(entry) => entries.push((keys[term].to_vec(), entry)),
                    Err(old) => outgrown.push(term, old),
                }
            }
            while terms.is_empty()
                && entries.len() < AT_ONCE
                && let Some((key, fragment)) = before.take()?
            {
                entries.push((key, encode(fragment)?));
            }
            self.append(pool, entries)?;
        }
        Ok(outgrown)
    }

    /// Puts entries behind all that the tree of recent postings has.
    fn append(&mut self, pool: &FramePool, entries: Vec<(Vec<u8>, Vec<u8>)>) -> Result<()> {
        let (keys, mut values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        keys.iter().for_each(|key| self.recent_keys.insert(key));
        self.recent.apply(pool, &keys, &mut |window| {
            let mut indexes = window.indexes();
            indexes.try_for_each(|at| window.set(at, Change::Put(std::mem::take(&mut values[at]))))
        })
    }

    /// Has postings join their lists.
    fn join(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        mut outgrown: Outgrown,
        new: &New<'_>,
        join: &mut Join<'_>,
    ) -> Result<()> {
        let terms = &outgrown.terms;
        let keys: Vec<&[u8]> = terms.iter().map(|term| keys[*term]).collect();
        let mut frequent = Vec::new();
        self.update(pool, &keys, &mut |old| {
            let fragments = new(old.iter().map(|(at, _)| terms[*at]).collect());
            let mut additions = Vec::with_capacity(old.len());
            for ((at, old), new) in old.iter().zip(fragments) {
                if new.encoded_length_max() > FREQUENT {
                    frequent.push(keys[*at]);
                }
                additions.push(Addition {
                    key: keys[*at],
                    old: *old,
                    new: match outgrown.recent.remove(&terms[*at]) {
                        None => new,
                        Some(recent) => recent.concat(&new)?,
                    },
                });
            }
            Ok(join(additions)?.into_iter().map(Some).collect())
        })?;
        frequent.sort_unstable();
        frequent.retain(|key| !self.frequent_keys.may_have(key));
        let mut some = frequent.chunks(TERMS_AT_ONCE);
        some.try_for_each(|some| self.promote(pool, some))
    }
}

impl Outgrown {
    fn push(&mut self, term: usize, recent: Fragment) {
        self.terms.push(term);
        if !recent.is_empty() {
            self.recent.insert(term, recent);
        }
    }
}

impl<'a> Postings<'a> {
    fn new(view: TreeView, pool: &'a FramePool) -> Result<Postings<'a>> {
        let mut postings = Postings {
            pages: Pages::new(pool),
            scan: view.scan(&[]),
            view,
            next: None,
        };
        postings.take()?;
        Ok(postings)
    }

    /// The next term.
    fn take(&mut self) -> Result<Option<(Vec<u8>, Fragment)>> {
        let Postings {
            pages, view, scan, ..
        } = self;
        pages.trim();
        let next = match finish(pages, |pages| scan.advance(view, pages))? {
            true => Some((scan.key().to_vec(), TermEntry::decode(scan.value())?.tail)),
            false => None,
        };
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// The next term if it is below `key`.
    fn take_below(&mut self, key: &[u8]) -> Result<Option<(Vec<u8>, Fragment)>> {
        match &self.next {
            Some((next, _)) if next.as_slice() < key => self.take(),
            _ => Ok(None),
        }
    }

    /// The postings of `key` if it is the next.
    fn take_at(&mut self, key: &[u8]) -> Result<Fragment> {
        match &self.next {
            Some((next, _)) if next == key => Ok(self.take()?.unwrap_or_default().1),
            _ => Ok(Fragment::default()),
        }
    }
}

/// The most bytes of recent postings that a term may have.
fn room_for(key: &[u8], frequent_keys: &KeyFilter) -> usize {
    let limit = match frequent_keys.may_have(key) {
        true => RECENT_LIMIT_FREQUENT,
        false => RECENT_LIMIT,
    };
    limit.min(value_max(key.len()))
}

/// The entry of recent postings with new ones behind, if that takes no more than `limit` bytes; else the former.
fn joined(
    recent: Fragment,
    new: Fragment,
    limit: usize,
) -> Result<std::result::Result<Vec<u8>, Fragment>> {
    match recent.encoded_length_max() + new.encoded_length_max() <= limit {
        true => Ok(Ok(encode(recent.concat(&new)?)?)),
        false => Ok(Err(recent)),
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
