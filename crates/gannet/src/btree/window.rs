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

/// A decision about a key of a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Decision {
    #[default]
    Keep,
    /// The bytes of its new value among those of the window.
    Put(Range<usize>),
    Remove,
}

/// Decisions about neighbouring keys. Their new values stand one behind another in one allocation.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    pub(crate) of_keys: Vec<Decision>,
    pub(crate) values: Vec<u8>,
}

/// Neighbouring keys of one call of `Tree::apply`, whose leaves were read in one batch.
#[derive(Debug)]
pub struct KeyWindow<'a> {
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) range: Range<usize>,
    pub(crate) old: Vec<Option<&'a [u8]>>,
    pub(crate) decisions: Decisions,
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
        match change {
            Change::Keep => self.decide(index, Decision::Keep),
            Change::Put(value) => return self.put(index, &value),
            Change::Remove => self.decide(index, Decision::Remove),
        }
        Ok(())
    }

    /// Gives a key of this window a value.
    pub(crate) fn put(&mut self, index: usize, value: &[u8]) -> Result<()> {
        entry_fits(self.keys[index], value)?;
        let values = &mut self.decisions.values;
        let start = values.len();
        values.extend_from_slice(value);
        let place = start..values.len();
        self.decide(index, Decision::Put(place));
        Ok(())
    }

    fn decide(&mut self, index: usize, decision: Decision) {
        self.decisions.of_keys[index - self.range.start] = decision;
    }
}
