//! Delta postings join their lists: some terms at a time, while the next are made ready.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::change::{ChangedEntries, OldEntry};
use super::lists::ListTrees;
use crate::base::{Result, back_off, both};
use crate::cache::FramePool;
use crate::postings::codec::entry::{INLINE_LIMIT, TermEntry};
use crate::postings::codec::fragment::Fragment;
use crate::postings::codec::short::{JOINED_MORE, ShortList};

/// A word is frequent if a flush brings it more bytes of postings than these.
const FREQUENT: usize = 256;

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

/// Joins postings to lists; gives the new entries, in the order of the additions. It is asked by
/// several threads.
pub type Join<'j> = dyn Fn(Vec<Addition<'_>>) -> Result<Vec<Vec<u8>>> + Sync + 'j;

/// The new postings of the terms of a change. It is asked by several threads.
pub trait NewPostings: Sync {
    /// Returns the postings of some terms, by their indexes, in the order of these.
    fn of(&self, terms: Vec<usize>) -> Vec<Fragment>;

    /// Returns a number of bytes that the postings of a term take at least: who has no room for so
    /// many need not ask for them.
    fn bytes_min(&self, _term: usize) -> usize {
        0
    }

    /// Returns the postings of a term where they lie, if they are few and can be had without a
    /// copy.
    fn short(&self, _term: usize) -> Option<ShortList<'_>> {
        None
    }
}

impl<F: Fn(Vec<usize>) -> Vec<Fragment> + Sync> NewPostings for F {
    fn of(&self, terms: Vec<usize>) -> Vec<Fragment> {
        self(terms)
    }
}

/// Terms whose postings are to join their lists, ascending.
#[derive(Default)]
pub(crate) struct Joiners<'k> {
    pub(crate) terms: Vec<Joiner<'k>>,
    /// The delta postings that each had.
    pub(crate) recent: Vec<Fragment>,
}

pub(crate) struct Joiner<'k> {
    pub(crate) key: Cow<'k, [u8]>,
    /// Its index among the terms of the change; none if that brings nothing of it.
    new: Option<usize>,
}

/// A source of terms that join their lists.
pub(crate) trait Leaving<'k>: Send {
    /// The next of them, while those before are `joining`; nothing behind the last.
    fn next(&mut self, joining: &[Joiner<'k>]) -> Result<Option<Joiners<'k>>>;
}

/// The parts of a short list: its entry, its delta postings, its new postings.
#[derive(Default)]
struct ShortParts<'a> {
    parts: [ShortList<'a>; 3],
    count: usize,
}

/// The state of joining lists.
pub(crate) struct Joining<'a> {
    pub(crate) lists: &'a mut ListTrees,
    pub(crate) pool: &'a FramePool,
    pub(crate) new: &'a dyn NewPostings,
    pub(crate) join: &'a Join<'a>,
}

impl<'k> Joiners<'k> {
    pub(crate) fn push(&mut self, key: Cow<'k, [u8]>, new: Option<usize>, recent: Fragment) {
        self.terms.push(Joiner { key, new });
        self.recent.push(recent);
    }
}

impl<'a> ShortParts<'a> {
    fn push(&mut self, part: ShortList<'a>) {
        self.parts[self.count] = part;
        self.count += 1;
    }

    fn as_slice(&self) -> &[ShortList<'a>] {
        &self.parts[..self.count]
    }
}

impl Joining<'_> {
    /// Has joiners join their lists until there are `enough`; gives the last of them, or nothing if
    /// no more come.
    pub(crate) fn take<'k>(
        &mut self,
        leaving: &mut impl Leaving<'k>,
        enough: impl Fn(&ListTrees) -> bool,
    ) -> Result<Option<Vec<u8>>> {
        let (frequent, mut last) = (Mutex::new(Vec::new()), None);
        let mut ready = leaving.next(&[])?;
        while let Some(Joiners { terms, recent }) = ready {
            let (joined, next) = both(
                || self.join(&terms, recent, &frequent),
                || leaving.next(&terms),
            );
            joined?;
            ready = next?;
            if enough(self.lists) {
                last = terms.last().map(|term| term.key.to_vec());
                break;
            }
        }
        let frequent = frequent.into_inner();
        let frequent = frequent.unwrap_or_else(PoisonError::into_inner);
        self.lists.promote(self.pool, frequent)?;
        Ok(last)
    }

    /// Adds to the list of each term its delta postings, then what is new. Notes the words of
    /// which so many came that they are to be among the frequent.
    fn join(
        &mut self,
        terms: &[Joiner<'_>],
        recent: Vec<Fragment>,
        frequent: &Mutex<Vec<Vec<u8>>>,
    ) -> Result<()> {
        let recent = Mutex::new(recent);
        let keys: Vec<&[u8]> = terms.iter().map(|term| &*term.key).collect();
        self.lists.update(self.pool, &keys, &|old| {
            let mut entries = ChangedEntries::of_none(old.len());
            let others = put_short_lists(self.new, terms, old, &lock(&recent), &mut entries)?;
            let asked = others.iter().filter_map(|place| terms[old[*place].0].new);
            let mut fragments = self.new.of(asked.collect()).into_iter();
            let mut additions = Vec::with_capacity(others.len());
            let mut recent = lock(&recent);
            for (at, old) in others.iter().map(|place| &old[*place]) {
                let new = terms[*at].new.and_then(|_| fragments.next());
                let new = new.unwrap_or_default();
                if new.encoded_length_max() > FREQUENT {
                    lock(frequent).push(keys[*at].to_vec());
                }
                let recent = std::mem::take(&mut recent[*at]);
                additions.push(Addition {
                    key: keys[*at],
                    old: *old,
                    new: if recent.is_empty() {
                        new
                    } else {
                        recent.concat(&new)?
                    },
                });
            }
            drop(recent);
            for (place, entry) in others.into_iter().zip((self.join)(additions)?) {
                entries.put(place, &entry);
            }
            Ok(entries)
        })
    }
}

/// Puts the new entries of the terms that stay short lists; gives the places of the others.
/// Most terms are short, and nothing is allocated for any of them.
fn put_short_lists(
    new: &dyn NewPostings,
    terms: &[Joiner<'_>],
    old: &[OldEntry<'_>],
    recent: &[Fragment],
    entries: &mut ChangedEntries,
) -> Result<Vec<usize>> {
    let mut others = Vec::new();
    for (place, (at, old)) in old.iter().enumerate() {
        back_off();
        match short_parts(new, &terms[*at], *old, &recent[*at])? {
            Some(parts) => entries.put_joined(place, parts.as_slice())?,
            None => others.push(place),
        }
    }
    Ok(others)
}

/// The parts of the list of a term that has few postings in all; nothing if it has more.
fn short_parts<'t>(
    new: &'t dyn NewPostings,
    term: &Joiner<'_>,
    old: Option<&'t [u8]>,
    recent: &'t Fragment,
) -> Result<Option<ShortParts<'t>>> {
    let new = term.new.map(|term| new.short(term));
    let is_long = old.is_some_and(TermEntry::has_chunks) || new.is_some_and(|new| new.is_none());
    let mut bytes = old.map_or(0, |old| old.len() + JOINED_MORE);
    if is_long || bytes > INLINE_LIMIT {
        return Ok(None);
    }
    let mut parts = ShortParts::default();
    let old = old.map(ShortList::decode).transpose()?;
    old.into_iter().for_each(|old| parts.push(old));
    for part in [Some(ShortList::of(recent)), new.flatten()]
        .into_iter()
        .flatten()
    {
        if !part.is_empty() {
            bytes += part.encoded_length_max();
            parts.push(part);
        }
    }
    Ok((bytes <= INLINE_LIMIT).then_some(parts))
}

/// A panic while it was held is passed on to whoever waits for that thread.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
