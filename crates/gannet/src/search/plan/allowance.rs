//! Limits of a plan: memory of the budget, time, and words.
//!
//! Everything is counted before it is made, so that a hostile query costs no more than its own
//! text.

use crate::base::{Budget, Error, Interrupt, Reservation, Result};
use crate::search::query::LEAVES_MAX;

/// The most words of one phrase.
pub const PHRASE_WORDS_MAX: usize = 1024;

/// The most bytes of one text, phrase, pattern or limit of a range.
pub const TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes of a leaf beside its text, in the plan and in the look-up.
const LEAF_BYTES: usize = 512;

/// The resources that a query may still use while it is planned.
pub struct Allowance<'a> {
    leaves: usize,
    memory: Reservation,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Allowance<'a> {
    /// Allows as much as `budget` has, until `interrupt` says otherwise.
    pub fn new(budget: &Budget, interrupt: &'a dyn Interrupt) -> Result<Allowance<'a>> {
        Ok(Allowance {
            leaves: 0,
            memory: budget.reserve("the words and patterns of a query", 0)?,
            interrupt,
        })
    }

    /// One more leaf, for which `bytes` of memory are kept beside its own.
    pub fn leaf(&mut self, bytes: usize) -> Result<()> {
        self.leaves += 1;
        if self.leaves > LEAVES_MAX {
            return Err(Error::invalid(format!(
                "the query has more than {LEAVES_MAX} words and patterns over all its fields: ask for less, or name a field"
            )));
        }
        self.memory(LEAF_BYTES + bytes)
    }

    /// So much more memory.
    pub fn memory(&mut self, bytes: usize) -> Result<()> {
        self.interrupt.check()?;
        self.memory.grow_to(self.memory.bytes() + bytes)
    }

    /// Gives back memory that was needed for a while.
    pub fn give_back(&mut self, bytes: usize) -> Result<()> {
        self.memory.grow_to(self.memory.bytes() - bytes)
    }

    /// Returns the reserved memory.
    pub fn into_memory(self) -> Reservation {
        self.memory
    }
}

/// Rejects a text that is too long to be looked at.
pub fn check_text(text: &str) -> Result<()> {
    if text.len() > TEXT_BYTES_MAX {
        Err(Error::invalid(format!(
            "a text of the query has {} bytes, the limit is {TEXT_BYTES_MAX}: ask for less",
            text.len()
        )))
    } else {
        Ok(())
    }
}

/// Rejects a phrase that has so many words and more.
pub fn check_phrase(words: usize) -> Result<()> {
    if words >= PHRASE_WORDS_MAX {
        Err(Error::invalid(format!(
            "a phrase of the query has more than {PHRASE_WORDS_MAX} words: ask for a shorter part of it"
        )))
    } else {
        Ok(())
    }
}
