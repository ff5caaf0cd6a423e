//! Shows a caller of `Tree::apply` one window of keys at a time, and takes its decisions.

use std::ops::Range;

use super::entry_fits;
use crate::base::Result;

/// A change of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// It stays as it is.
    #[default]
    Keep,
    /// It gets this value.
    Put(Vec<u8>),
    /// It leaves the tree, if it is there.
    Remove,
}

/// Neighbouring keys of one call of `Tree::apply`, whose leaves were read in one batch.
#[derive(Debug)]
pub struct KeyWindow<'a> {
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) range: Range<usize>,
    pub(crate) old: Vec<Option<&'a [u8]>>,
    pub(crate) changes: Vec<Change>,
}

impl<'a> KeyWindow<'a> {
    /// The window's keys, as indexes into the keys that were given to `Tree::apply`.
    pub fn indexes(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The value that a key of this window has now, if it is in the tree.
    pub fn old(&self, index: usize) -> Option<&'a [u8]> {
        self.old[index - self.range.start]
    }

    /// Decides what becomes of a key of this window; undecided keys are kept as they are.
    pub fn set(&mut self, index: usize, change: Change) -> Result<()> {
        if let Change::Put(value) = &change {
            entry_fits(self.keys[index], value)?;
        }
        self.changes[index - self.range.start] = change;
        Ok(())
    }
}
