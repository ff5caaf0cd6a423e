//! Delta postings join their lists: some terms at a time, while the next are made ready.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lists::ListTrees;
use crate::base::{Result, both};
use crate::cache::FramePool;
use crate::postings::codec::fragment::Fragment;

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

/// Gives the new postings of some terms, by their indexes.
pub type New<'n> = dyn Fn(Vec<usize>) -> Vec<Fragment> + Sync + 'n;

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

/// The state of joining lists.
pub(crate) struct Joining<'a> {
    pub(crate) lists: &'a mut ListTrees,
    pub(crate) pool: &'a FramePool,
    pub(crate) new: &'a New<'a>,
    pub(crate) join: &'a Join<'a>,
}

impl<'k> Joiners<'k> {
    pub(crate) fn push(&mut self, key: Cow<'k, [u8]>, new: Option<usize>, recent: Fragment) {
        self.terms.push(Joiner { key, new });
        self.recent.push(recent);
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
            let asked = old.iter().filter_map(|(at, _)| terms[*at].new);
            let mut fragments = (self.new)(asked.collect()).into_iter();
            let mut additions = Vec::with_capacity(old.len());
            for (at, old) in old {
                let new = terms[*at].new.and_then(|_| fragments.next());
                let new = new.unwrap_or_default();
                if new.encoded_length_max() > FREQUENT {
                    lock(frequent).push(keys[*at].to_vec());
                }
                let recent = std::mem::take(&mut lock(&recent)[*at]);
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
            Ok((self.join)(additions)?.into_iter().map(Some).collect())
        })
    }
}

/// A panic while it was held is passed on to whoever waits for that thread.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
