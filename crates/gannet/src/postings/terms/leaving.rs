//! Terms whose delta postings leave the levels, for their lists.

use std::borrow::Cow;

use super::delta::{DeltaLevel, DeltaLevels, LevelLimits};
use super::join::{Joiner, Joiners, Leaving, NewPostings};
use super::level_entries::LevelEntries;
use crate::base::{Result, back_off};
use crate::btree::{Scan, TreeView};
use crate::cache::{FramePool, Pages, finish};
use crate::postings::codec::entry::TermEntry;
use crate::postings::codec::short::{JOINED_MORE, ShortList, put_entry};

/// The number of new terms that are compacted at once.
const COMPACTED_AT_ONCE: usize = 4096;

/// The number of terms that have outgrown a level and join their lists at once, about.
const OUTGROWN_AT_ONCE: usize = 1024;

/// New postings and those of some levels are compacted into the last of these, whose tree is made
/// anew, of full leaves; those that have no room there leave.
pub(crate) struct Compacting<'a, 'k> {
    recent: &'a mut DeltaLevels,
    into: usize,
    keys: &'a [&'k [u8]],
    /// The next of them.
    first: usize,
    room: LevelLimits,
    pool: &'a FramePool,
    new: &'a dyn NewPostings,
    /// The postings of the levels.
    before: Postings<'a>,
    /// Holds the entries that are to be put into the level.
    entries: LevelEntries,
}

/// Terms leave all levels in their order.
pub(crate) struct Passing<'a> {
    recent: &'a mut DeltaLevels,
    removes: bool,
    at_once: usize,
    pool: &'a FramePool,
    postings: Postings<'a>,
}

/// The postings of some levels in order of their terms.
struct Postings<'a> {
    /// The oldest first.
    levels: Vec<LevelPostings<'a>>,
    /// The term that was taken last, and its entry: what all levels had of it.
    key: Vec<u8>,
    entry: Vec<u8>,
}

struct LevelPostings<'a> {
    pages: Pages<'a>,
    view: TreeView,
    scan: Scan,
    is_at_end: bool,
}

/// Gives the joiners that are there already.
impl<'k> Leaving<'k> for Option<Joiners<'k>> {
    fn next(&mut self, _: &[Joiner<'k>]) -> Result<Option<Joiners<'k>>> {
        Ok(self.take())
    }
}

impl<'a, 'k> Compacting<'a, 'k> {
    /// The new postings of `keys` and those of all levels up to one are compacted into that.
    pub(crate) fn new(
        recent: &'a mut DeltaLevels,
        into: usize,
        keys: &'a [&'k [u8]],
        room: LevelLimits,
        pool: &'a FramePool,
        new: &'a dyn NewPostings,
    ) -> Result<Compacting<'a, 'k>> {
        let before = Postings::new(&mut recent.levels[..=into], &[], pool)?;
        let terms = recent.levels[..=into]
            .iter()
            .map(DeltaLevel::terms)
            .sum::<u64>();
        recent.levels[..into]
            .iter_mut()
            .try_for_each(DeltaLevel::clear)?;
        recent.levels[into].begin_anew(terms + keys.len() as u64)?;
        Ok(Compacting {
            recent,
            into,
            keys,
            first: 0,
            room,
            pool,
            new,
            before,
            entries: LevelEntries::default(),
        })
    }

    /// Compacts the next terms, some of them new if there are any left. Tells whether there were
    /// any.
    fn compact(&mut self, outgrown: &mut Joiners<'k>) -> Result<bool> {
        let some = self.first..self.keys.len().min(self.first + COMPACTED_AT_ONCE);
        self.first = some.end;
        let new = self.new;
        let is_asked =
            |term: &usize| !self.room.exclude(new.bytes_min(*term)) && new.short(*term).is_none();
        let asked: Vec<usize> = some.clone().filter(is_asked).collect();
        let fragments = new.of(asked.clone());
        let mut asked = asked.into_iter().zip(fragments).peekable();
        for term in some.clone() {
            back_off();
            while self.before.take_below(self.keys[term])? {
                self.keep_old(outgrown)?;
                if self.entries.len() >= COMPACTED_AT_ONCE {
                    // Any number of terms may lie between two new ones.
                    self.append()?;
                }
            }
            let asked = asked.next_if(|(asked, _)| *asked == term);
            let fragment = asked.as_ref().map(|(_, new)| ShortList::of(new));
            self.keep_new(term, fragment.or_else(|| new.short(term)), outgrown)?;
        }
        let mut taken = 0;
        while some.is_empty() && taken < COMPACTED_AT_ONCE && self.before.take()? {
            taken += 1;
            self.keep_old(outgrown)?;
        }
        self.append()?;
        Ok(!some.is_empty() || taken > 0)
    }

    /// Keeps the term that was taken from the levels, of which nothing is new, unless it has
    /// outgrown the level.
    fn keep_old(&mut self, outgrown: &mut Joiners<'k>) -> Result<()> {
        let Postings { key, entry, .. } = &self.before;
        if self.room.fits(key, entry.len()) {
            self.entries.push(key, entry);
        } else {
            let old = TermEntry::decode(entry)?.tail;
            outgrown.push(Cow::Owned(key.clone()), None, old);
        }
        Ok(())
    }

    /// Keeps a term of which there are new postings behind those of the levels, unless it has
    /// outgrown the level; without `new` the new ones alone have.
    fn keep_new(
        &mut self,
        term: usize,
        new: Option<ShortList<'_>>,
        outgrown: &mut Joiners<'k>,
    ) -> Result<()> {
        let key = self.keys[term];
        let is_there = self.before.take_at(key)?;
        let entry = is_there.then_some(&self.before.entry[..]);
        let old_bytes = entry.map_or(0, |entry| entry.len() + JOINED_MORE);
        let fits = |new: &ShortList<'_>| {
            let bytes = old_bytes + new.encoded_length_max();
            self.room.fits(key, bytes)
        };
        match (new.filter(fits), entry) {
            (Some(new), None) => self.entries.push_joined(key, &[new]),
            (Some(new), Some(entry)) => {
                let parts = [ShortList::decode(entry)?, new];
                self.entries.push_joined(key, &parts)
            }
            (None, entry) => {
                let old = entry.map(TermEntry::decode).transpose()?;
                let old = old.unwrap_or_default().tail;
                outgrown.push(Cow::Borrowed(key), Some(term), old);
                Ok(())
            }
        }
    }

    fn append(&mut self) -> Result<()> {
        let level = &mut self.recent.levels[self.into];
        level.append(&self.entries, self.pool)?;
        self.entries.clear();
        Ok(())
    }
}

impl<'k> Leaving<'k> for Compacting<'_, 'k> {
    fn next(&mut self, _: &[Joiner<'k>]) -> Result<Option<Joiners<'k>>> {
        let mut outgrown = Joiners::default();
        while outgrown.terms.len() < OUTGROWN_AT_ONCE && self.compact(&mut outgrown)? {}
        if outgrown.terms.is_empty() {
            return Ok(None);
        }
        let below = self.into + 1;
        self.recent
            .take_from_below(below, &mut outgrown, self.pool)?;
        Ok(Some(outgrown))
    }
}

impl<'a> Passing<'a> {
    /// The terms from a key on, so many at a time; they are removed from the levels.
    pub(crate) fn new(
        recent: &'a mut DeltaLevels,
        from: &[u8],
        at_once: usize,
        pool: &'a FramePool,
    ) -> Result<Passing<'a>> {
        Ok(Passing {
            postings: Postings::new(&mut recent.levels, from, pool)?,
            recent,
            removes: true,
            at_once,
            pool,
        })
    }

    /// The same, and whether they are removed.
    pub(crate) fn removing(self, removes: bool) -> Passing<'a> {
        Passing { removes, ..self }
    }
}

impl<'k> Leaving<'k> for Passing<'_> {
    fn next(&mut self, joining: &[Joiner<'k>]) -> Result<Option<Joiners<'k>>> {
        if self.removes {
            self.recent.remove(joining, self.pool)?;
        }
        let mut joiners = Joiners::default();
        while joiners.terms.len() < self.at_once && self.postings.take()? {
            back_off();
            let Postings { key, entry, .. } = &self.postings;
            let postings = TermEntry::decode(entry)?.tail;
            joiners.push(Cow::Owned(key.clone()), None, postings);
        }
        Ok((!joiners.terms.is_empty()).then_some(joiners))
    }
}

impl<'a> Postings<'a> {
    /// Reads the postings of `levels`, the newest of which is the first, as they are now, from a
    /// key on.
    fn new(levels: &mut [DeltaLevel], from: &[u8], pool: &'a FramePool) -> Result<Postings<'a>> {
        let mut postings = Postings {
            levels: Vec::new(),
            key: Vec::new(),
            entry: Vec::new(),
        };
        for level in levels.iter_mut().rev() {
            level.postings.tree.flush()?;
            let view = level.postings.tree.view().clone();
            let mut level = LevelPostings {
                pages: Pages::new(pool),
                scan: view.scan(from),
                view,
                is_at_end: false,
            };
            level.advance()?;
            postings.levels.push(level);
        }
        Ok(postings)
    }

    /// The next term.
    fn next(&self) -> Option<&[u8]> {
        let next = self.levels.iter().filter_map(LevelPostings::next);
        next.min()
    }

    /// Takes the next term, if there is any.
    fn take(&mut self) -> Result<bool> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let is_there = self
            .next()
            .map(|next| key.extend_from_slice(next))
            .is_some();
        self.key = key;
        Ok(is_there && self.take_entry()?)
    }

    /// Takes the next term if it is below `key`.
    fn take_below(&mut self, key: &[u8]) -> Result<bool> {
        Ok(self.next().is_some_and(|next| next < key) && self.take()?)
    }

    /// Takes `key` if it is the next.
    fn take_at(&mut self, key: &[u8]) -> Result<bool> {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.take_entry()
    }

    /// Takes what the levels that stand on the key have of it, if any does.
    fn take_entry(&mut self) -> Result<bool> {
        self.entry.clear();
        for level in &mut self.levels {
            if level.next() != Some(self.key.as_slice()) {
                continue;
            }
            let newer = level.scan.value();
            if self.entry.is_empty() {
                self.entry.extend_from_slice(newer);
            } else {
                let parts = [ShortList::decode(&self.entry)?, ShortList::decode(newer)?];
                let mut joined = Vec::with_capacity(self.entry.len() + newer.len());
                put_entry(&parts, &mut joined)?;
                self.entry = joined;
            }
            level.advance()?;
        }
        Ok(!self.entry.is_empty())
    }
}

impl LevelPostings<'_> {
    /// The term that comes next.
    fn next(&self) -> Option<&[u8]> {
        (!self.is_at_end).then(|| self.scan.key())
    }

    /// Goes past the next term.
    fn advance(&mut self) -> Result<()> {
        let LevelPostings {
            pages, view, scan, ..
        } = self;
        pages.trim();
        self.is_at_end = !finish(pages, |pages| scan.advance(view, pages))?;
        Ok(())
    }
}
