//! The one memory budget: whatever is sized by data reserves from the budget before it allocates.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::permits::{MemoryPermit, MemoryPermits};
use super::{Error, EventCount, Interrupt, Result};

/// A number of bytes shared by all parts of an index.
///
/// Clones share the same number.
#[derive(Clone, Debug)]
pub struct Budget {
    shared: Arc<BudgetShared>,
}

#[derive(Debug)]
struct BudgetShared {
    total: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
    /// So many free bytes are waited for; none if nobody waits.
    wanted: AtomicUsize,
    events: EventCount,
    /// The reservation from the budget of which this is a part.
    _part: Option<Reservation>,
    /// Held by who reserves a little for a while: together, or alone by who found too little beside
    /// the others.
    permits: MemoryPermits,
}

impl Budget {
    /// A budget of `total` bytes, none of them reserved.
    pub fn new(total: usize) -> Budget {
        Budget::of_part(total, None)
    }

    /// A part of this budget as a budget of its own, set aside for `what`.
    pub fn part(&self, what: &'static str, bytes: usize) -> Result<Budget> {
        let part = self.reserve(what, bytes)?;
        Ok(Budget::of_part(bytes, Some(part)))
    }

    fn of_part(total: usize, part: Option<Reservation>) -> Budget {
        Budget {
            shared: Arc::new(BudgetShared {
                total,
                _part: part,
                used: AtomicUsize::new(0),
                peak: AtomicUsize::new(0),
                wanted: AtomicUsize::new(0),
                events: EventCount::default(),
                permits: MemoryPermits::default(),
            }),
        }
    }

    /// Takes a memory permit beside others. To be dropped before another is taken. Waits until
    /// `interrupt` says otherwise.
    pub fn permit(&self, interrupt: &dyn Interrupt) -> Result<MemoryPermit<'_>> {
        self.shared.permits.take(interrupt)
    }

    /// Takes the only memory permit: waits until all others have ended, and lets none begin.
    pub fn permit_alone(&self, interrupt: &dyn Interrupt) -> Result<MemoryPermit<'_>> {
        self.shared.permits.take_alone(interrupt)
    }

    /// Returns the events that waiting threads watch: memory given back, and all else that users of
    /// the budget notify it of.
    pub fn events(&self) -> &EventCount {
        &self.shared.events
    }

    /// Notifies [`Budget::events`] once so many bytes are free. To be called before the attempt
    /// that may have to be repeated then.
    pub fn want(&self, bytes: usize) {
        let wanted = &self.shared.wanted;
        let fewer = |known: usize| (known == 0 || bytes < known).then_some(bytes.max(1));
        let _ = wanted.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer);
    }

    /// The whole budget in bytes.
    pub fn total(&self) -> usize {
        self.shared.total
    }

    /// Bytes reserved now.
    pub fn used(&self) -> usize {
        self.shared.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were ever reserved at once.
    pub fn peak(&self) -> usize {
        self.shared.peak.load(Ordering::Relaxed)
    }

    /// Reserves `bytes` for `what`, or says why that cannot be.
    pub fn reserve(&self, what: &'static str, bytes: usize) -> Result<Reservation> {
        let mut reservation = Reservation {
            budget: self.clone(),
            what,
            bytes: 0,
        };
        reservation.grow_to(bytes)?;
        Ok(reservation)
    }
}

impl BudgetShared {
    /// Gives bytes back. A thread that wants memory says so before it reads `used` in its attempt.
    /// So either the attempt sees what is given back here, or this sees that it is wanted.
    fn give_back(&self, bytes: usize) {
        let used = self.used.fetch_sub(bytes, Ordering::SeqCst) - bytes;
        let wanted = self.wanted.load(Ordering::SeqCst);
        if wanted > 0 && self.total - used >= wanted && self.wanted.swap(0, Ordering::SeqCst) > 0 {
            self.events.notify();
        }
    }
}

/// Bytes taken from a `Budget`, given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    what: &'static str,
    bytes: usize,
}

impl Reservation {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes the reservation `bytes` large: grows it if the budget allows, or shrinks it.
    pub fn grow_to(&mut self, bytes: usize) -> Result<()> {
        let shared = &self.budget.shared;
        if bytes <= self.bytes {
            shared.give_back(self.bytes - bytes);
            self.bytes = bytes;
            return Ok(());
        }
        let more = bytes - self.bytes;
        let taken = shared
            .used
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |used| {
                used.checked_add(more).filter(|sum| *sum <= shared.total)
            });
        match taken {
            Ok(before) => {
                shared.peak.fetch_max(before + more, Ordering::AcqRel);
                self.bytes = bytes;
                Ok(())
            }
            Err(used) => Err(Error::Memory {
                what: self.what.into(),
                needed: more,
                free: shared.total - used,
                budget: shared.total,
            }),
        }
    }
}

impl Reservation {
    /// Takes over what another reservation of the same budget holds.
    pub fn take_over(&mut self, mut other: Reservation) {
        debug_assert!(Arc::ptr_eq(&self.budget.shared, &other.budget.shared));
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.shared.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_never_exceed_the_budget_and_come_back() {
        let budget = Budget::new(100);
        let mut first = budget.reserve("frames", 60).unwrap();
        assert!(budget.reserve("scratch", 41).is_err());
        first.grow_to(20).unwrap();
        let second = budget.reserve("scratch", 80).unwrap();
        assert_eq!((budget.used(), budget.peak()), (100, 100));
        drop((first, second));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn who_wants_memory_is_told_when_there_is_as_much() {
        let budget = Budget::new(100);
        let (first, second) = (budget.reserve("one", 30), budget.reserve("other", 60));
        let seen = budget.events().seen();
        budget.want(50);
        drop(first);
        assert_eq!(budget.events().seen(), seen);
        drop(second);
        assert_eq!(budget.events().seen(), seen + 1);
        drop(budget.reserve("one", 30));
        assert_eq!(budget.events().seen(), seen + 1);
    }
}
