//! Merges runs, and what is newer than all of them, in the order of keys.

use std::borrow::Cow;

use super::view::RunView;
use crate::base::{Result, back_off};
use crate::btree::{Scan, TreeView};
use crate::cache::{FramePool, Pages, finish};

/// Entries that come in the order of their keys: those of a flush.
pub(crate) struct NewEntries<'k> {
    /// Sorted, distinct.
    pub(crate) keys: &'k [&'k [u8]],
    /// The value of a key; an empty one says that it was removed.
    pub(crate) value: &'k (dyn Fn(&[u8]) -> Vec<u8> + 'k),
}

/// An entry that is to be written.
pub(crate) type MergedEntry<'k> = (Cow<'k, [u8]>, Vec<u8>);

/// The entries of new ones and of some runs, the newest of each key.
pub(crate) struct Merging<'a, 'k> {
    new: NewEntries<'k>,
    /// The first of the new that is not taken yet.
    at: usize,
    /// The newest first.
    runs: Vec<RunScan<'a>>,
    /// Set if nothing older is left, so that removed keys need not be kept.
    is_whole: bool,
}

/// The entries of one run.
struct RunScan<'a> {
    pages: Pages<'a>,
    view: TreeView,
    scan: Scan,
    is_at_end: bool,
}

impl<'a, 'k> Merging<'a, 'k> {
    /// Merges new entries with those of `runs`, the newest first.
    pub(crate) fn new(
        new: NewEntries<'k>,
        runs: &[RunView],
        is_whole: bool,
        pool: &'a FramePool,
    ) -> Result<Merging<'a, 'k>> {
        let mut scans = Vec::with_capacity(runs.len());
        for run in runs {
            let mut scan = RunScan {
                pages: Pages::of_walks(pool, runs.len()),
                view: run.tree.clone(),
                scan: run.tree.scan(&[]),
                is_at_end: false,
            };
            scan.advance()?;
            scans.push(scan);
        }
        Ok(Merging {
            new,
            at: 0,
            runs: scans,
            is_whole,
        })
    }

    /// The next entries, about so many bytes of them; none at the end.
    pub(crate) fn next(&mut self, bytes: usize) -> Result<Vec<MergedEntry<'k>>> {
        let (mut entries, mut taken) = (Vec::new(), 0);
        back_off();
        while taken < bytes
            && let Some((key, value)) = self.take()?
        {
            if !value.is_empty() || !self.is_whole {
                taken += key.len() + value.len() + size_of::<MergedEntry<'_>>();
                entries.push((key, value));
            }
        }
        Ok(entries)
    }

    /// The newest entry of the least key that is left; the older ones of this key are passed over.
    fn take(&mut self) -> Result<Option<MergedEntry<'k>>> {
        let new = self.new.keys.get(self.at).copied();
        let mut least: Option<(&[u8], usize)> = None;
        for (number, run) in self.runs.iter().enumerate() {
            if let Some(key) = run.key()
                && least.is_none_or(|(least, _)| key < least)
            {
                least = Some((key, number));
            }
        }
        let entry = match (new, least) {
            (None, None) => return Ok(None),
            (Some(new), least) if least.is_none_or(|(least, _)| new <= least) => {
                self.at += 1;
                (Cow::Borrowed(new), (self.new.value)(new))
            }
            (_, Some((key, number))) => {
                let value = self.runs[number].scan.value().to_vec();
                (Cow::Owned(key.to_vec()), value)
            }
            (Some(_), None) => return Ok(None),
        };
        for run in &mut self.runs {
            if run.key() == Some(&*entry.0) {
                run.advance()?;
            }
        }
        Ok(Some(entry))
    }
}

impl RunScan<'_> {
    fn key(&self) -> Option<&[u8]> {
        (!self.is_at_end).then(|| self.scan.key())
    }

    fn advance(&mut self) -> Result<()> {
        let RunScan {
            pages, view, scan, ..
        } = self;
        pages.trim();
        self.is_at_end = !finish(pages, |pages| scan.advance(view, pages))?;
        Ok(())
    }
}
