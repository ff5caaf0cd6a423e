//! Terms whose delta postings leave the levels, for their lists.

use std::borrow::Cow;

use super::delta::{DeltaLevel, DeltaLevels, LevelEntry, LevelLimits, encode};
use super::join::{Joiner, Joiners, Leaving, New};
use crate::base::{Result, back_off};
use crate::btree::{Scan, TreeView};
use crate::cache::{FramePool, Pages, finish};
use crate::postings::codec::entry::TermEntry;
use crate::postings::codec::fragment::Fragment;

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
    new: &'a New<'a>,
    /// The postings of the levels.
    before: Postings<'a>,
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
}

struct LevelPostings<'a> {
    pages: Pages<'a>,
    view: TreeView,
    scan: Scan,
    /// The term that the scan stands on; nothing behind the last.
    next: Option<(Vec<u8>, Fragment)>,
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
        new: &'a New<'a>,
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
        })
    }

    /// Pours the next terms, some of them new if there are any left. Tells whether there were any.
    fn compact(&mut self, outgrown: &mut Joiners<'k>) -> Result<bool> {
        let some = self.first..self.keys.len().min(self.first + COMPACTED_AT_ONCE);
        self.first = some.end;
        let mut entries = Vec::with_capacity(some.len());
        for (term, new) in some.clone().zip((self.new)(some.clone().collect())) {
            back_off();
            let key = self.keys[term];
            while let Some((key, old)) = self.before.take_below(key)? {
                let kept = self.keep(Cow::Owned(key), None, old, Fragment::default(), outgrown)?;
                entries.extend(kept);
                if entries.len() >= COMPACTED_AT_ONCE {
                    // Any number of terms may lie between two new ones.
                    self.append(std::mem::take(&mut entries))?;
                }
            }
            let old = self.before.take_at(key)?;
            entries.extend(self.keep(Cow::Borrowed(key), Some(term), old, new, outgrown)?);
        }
        let mut taken = 0;
        while some.is_empty()
            && taken < COMPACTED_AT_ONCE
            && let Some((key, old)) = self.before.take()?
        {
            taken += 1;
            let kept = self.keep(Cow::Owned(key), None, old, Fragment::default(), outgrown)?;
            entries.extend(kept);
        }
        let any = !some.is_empty() || taken > 0;
        self.append(entries)?;
        Ok(any)
    }

    /// The entry of a term on the level, unless it has outgrown that.
    fn keep(
        &self,
        key: Cow<'k, [u8]>,
        at: Option<usize>,
        old: Fragment,
        new: Fragment,
        outgrown: &mut Joiners<'k>,
    ) -> Result<Option<LevelEntry<'k>>> {
        if self.room.fits(&key, &old, &new) {
            Ok(Some((key, encode(old.concat(&new)?)?)))
        } else {
            outgrown.push(key, at, old);
            Ok(None)
        }
    }

    fn append(&mut self, entries: Vec<LevelEntry<'k>>) -> Result<()> {
        self.recent.levels[self.into].append(entries, self.pool)
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
        while joiners.terms.len() < self.at_once
            && let Some((key, postings)) = self.postings.take()?
        {
            back_off();
            joiners.push(Cow::Owned(key), None, postings);
        }
        Ok((!joiners.terms.is_empty()).then_some(joiners))
    }
}

impl<'a> Postings<'a> {
    /// Reads the postings of `levels`, the newest of which is the first, as they are now, from a
    /// key on.
    fn new(levels: &mut [DeltaLevel], from: &[u8], pool: &'a FramePool) -> Result<Postings<'a>> {
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
                postings = if postings.is_empty() {
                    newer
                } else {
                    postings.concat(&newer)?
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
        let next = if finish(pages, |pages| scan.advance(view, pages))? {
            Some((scan.key().to_vec(), TermEntry::decode(scan.value())?.tail))
        } else {
            None
        };
        Ok(std::mem::replace(&mut self.next, next))
    }
}
