//! In which order a full vacuum numbers the live documents: as they are, or alike ones together.
//!
//! What documents have in common is taken from the lists, read the other way round: the terms of
//! each document, as far as the memory for new postings holds them, which is free meanwhile. The
//! rarer a term is, the more it tells of what its documents are about, so terms are taken from the
//! rare on up. Of 540,000 passages, which come by articles, distances in lists take 3.99 bits; with
//! 20 MB for terms 3.86 when the frequent are left out, 4.43 when the rare are, and with room for
//! all 3.74.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::thread;

use super::bisection;
use super::bisection::{BYTES_PER_TERM, alike_together};
use super::forward;
use super::forward::ForwardIndex;
use crate::base::{DocId, END, Result};
use crate::cache::{Pages, finish};
use crate::index::state::{Shared, State};
use crate::postings::{DeadDocs, TermCursor, TermEntry, TermList, TermTree};

/// How documents are to be numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they came.
    Kept,
    /// Those with terms in common near each other, for smaller lists and faster searches. What a
    /// search finds with the same score may come in another order.
    #[default]
    Alike,
}

/// Terms in more than one document of so many are left out, and those in fewer documents than this.
const FREQUENT_ONE_OF: u64 = 8;
const RARE: u64 = 8;

/// Frequencies are summed up in classes, so many for each power of two.
const CLASSES: u32 = 4;

/// Bytes of memory that a term of a document takes, about: a distance between two of some ten
/// thousand terms.
const POSTING_BYTES: u64 = 2;

/// The least that the terms of a document take, for an order to be worth its while.
const LEAST_BYTES_OF_TERMS: usize = 8;

/// Bytes of memory for each document without its terms: what counting them takes or, later, what
/// comparing them does, besides where they begin.
const BYTES_PER_DOCUMENT: usize = {
    let later = 4 + bisection::BYTES_PER_DOCUMENT;
    match forward::BYTES_PER_DOCUMENT > later {
        true => forward::BYTES_PER_DOCUMENT,
        false => later,
    }
};

/// A list is read in one batch if it takes at most one of so many of the frames.
const BATCH_ONE_OF: u64 = 16;

/// The live documents of a state, in the order of their numbers.
pub(crate) struct LiveDocs {
    dead: DeadDocs,
    end: DocId,
    /// Live documents before each group of 64.
    before: Vec<u32>,
}

/// The lists of terms whose frequencies lie in a range.
struct ListRange<'a> {
    shared: &'a Shared,
    state: &'a State,
    live: &'a LiveDocs,
    frequencies: RangeInclusive<u64>,
}

impl LiveDocs {
    /// Bytes of memory for documents below `end`.
    pub(crate) fn memory_bytes(end: DocId) -> usize {
        DeadDocs::memory_bytes(end) / 2 * 5
    }

    /// Those of a state.
    pub(crate) fn of(state: &State, shared: &Shared) -> Result<LiveDocs> {
        let end = state.below;
        let mut pages = Pages::new(&shared.pool);
        let dead = DeadDocs::new(&state.tables.deletions(end, &mut pages)?);
        let mut count = 0;
        let groups = (0..end).step_by(64);
        let before = groups.map(|first| {
            let last = end.min(first.saturating_add(64)) - 1;
            let live = last % 64 + u32::from(!dead.has(last)) - dead.count_in_group(last);
            count += live;
            count - live
        });
        Ok(LiveDocs {
            before: before.collect(),
            dead,
            end,
        })
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        (0..self.end).filter(|doc| !self.dead.has(*doc))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.end as usize - self.dead.count() as usize
    }

    /// How many live ones come before this one; nothing if it is dead.
    #[inline]
    fn place(&self, doc: DocId) -> Option<u32> {
        let before = *self.before.get(doc as usize / 64)?;
        (!self.dead.has(doc)).then(|| before + doc % 64 - self.dead.count_in_group(doc))
    }
}

/// The live documents in the order in which alike ones are together. `progress` is told what is
/// done, and of how much.
pub(crate) fn alike(
    shared: &Shared,
    state: &State,
    live: &LiveDocs,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<Vec<DocId>> {
    let documents = live.count();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let fixed = documents * BYTES_PER_DOCUMENT;
    let least = fixed + documents * LEAST_BYTES_OF_TERMS;
    let what = "an order that puts alike documents together";
    let mut memory = shared.budget.reserve(what, least)?;
    let mut lists = ListRange {
        shared,
        state,
        live,
        frequencies: RARE..=(documents as u64 / FREQUENT_ONE_OF),
    };
    let room = shared.memory.buffers.max(least) - fixed;
    let terms = lists.choose(room as u64, threads)?;
    let mut counting = ForwardIndex::count(documents);
    lists.each_posting(&mut |doc, term| counting.add(doc, term))?;
    progress("lists", terms, terms * 2);
    memory.grow_to(fixed + counting.bytes() + terms as usize * threads * BYTES_PER_TERM)?;
    let mut filling = counting.fill();
    lists.each_posting(&mut |doc, term| filling.add(doc, term))?;
    progress("lists", terms * 2, terms * 2);
    let order = alike_together(&filling.finish(), threads);
    let numbers: Vec<DocId> = live.iter().collect();
    let of_place = |place: DocId| numbers[place as usize];
    Ok(order.into_iter().map(of_place).collect())
}

impl ListRange<'_> {
    /// Leaves the most frequent out as far as they do not fit the room. Gives how many are left.
    fn choose(&mut self, room: u64, threads: usize) -> Result<u64> {
        let mut classes: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        self.each_entry(&mut |frequency, _| {
            let class = classes.entry(class_of(frequency)).or_default();
            (class.0, class.1) = (class.0 + 1, class.1 + frequency);
            Ok(())
        })?;
        let (mut terms, mut bytes) = (0, 0);
        let mut end = 0;
        for (from, (lists, postings)) in classes {
            bytes += postings * POSTING_BYTES + lists * (threads * BYTES_PER_TERM) as u64;
            if bytes > room {
                break;
            }
            terms += lists;
            end = class_end(from);
        }
        self.frequencies = RARE..=end.min(*self.frequencies.end());
        Ok(terms)
    }

    /// Calls `visit` with the place of each live document in each list, and the number of that
    /// list.
    fn each_posting(&self, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let mut pages = Pages::new(&self.shared.pool);
        let mut term = 0;
        self.each_entry(&mut |_, key| {
            let terms = &self.state.terms;
            let found = finish(&mut pages, |pages| terms.get(key, pages))?.decode()?;
            let mut cursor = TermList::new(found.unwrap_or_default(), None).cursor();
            self.each_document(&mut cursor, &mut pages, &mut |doc| visit(doc, term))?;
            term += 1;
            pages.trim();
            Ok(())
        })
    }

    fn each_document(
        &self,
        cursor: &mut TermCursor,
        pages: &mut Pages<'_>,
        visit: &mut dyn FnMut(u32),
    ) -> Result<()> {
        let frames = self.shared.pool.capacity() as u64;
        if cursor.docs_pages() * BATCH_ONE_OF <= frames {
            finish(pages, |pages| cursor.prefetch_whole(pages))?;
        }
        let mut target = 0;
        while finish(pages, |pages| cursor.advance(target, pages))? != END {
            let (docs, _) = cursor.block();
            docs.iter()
                .filter_map(|doc| self.live.place(*doc))
                .for_each(&mut *visit);
            target = docs.last().map_or(END, |last| last + 1);
            pages.trim();
        }
        Ok(())
    }

    /// Calls `visit` with the frequency and the key of each entry with chunks in the range, in the
    /// same order each time.
    fn each_entry(&self, visit: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let mut pages = Pages::new(&self.shared.pool);
        for tree in TermTree::WITH_CHUNKS {
            let tree = self.state.terms.tree(tree);
            let mut scan = tree.scan(&[]);
            while finish(&mut pages, |pages| scan.advance(tree, pages))? {
                pages.trim();
                let frequency = TermEntry::decode(scan.value())?.document_frequency();
                if self.frequencies.contains(&frequency) {
                    visit(frequency, scan.key())?;
                }
            }
        }
        Ok(())
    }
}

/// The least frequency of its class.
fn class_of(frequency: u64) -> u64 {
    let power = class_power(frequency);
    frequency >> power << power
}

/// The greatest frequency of the class that begins so.
fn class_end(from: u64) -> u64 {
    from + (1 << class_power(from)) - 1
}

fn class_power(frequency: u64) -> u32 {
    frequency.max(1).ilog2().saturating_sub(CLASSES.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_each_other() {
        let mut frequency = 1;
        while frequency < 1 << 20 {
            let end = class_end(frequency);
            assert!(
                (frequency..=end).all(|f| class_of(f) == frequency),
                "{frequency}"
            );
            frequency = end + 1;
        }
    }
}
