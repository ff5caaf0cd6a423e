//! Too little memory: what is given back, in which order, and how often it is tried again.
//!
//! | who | gives back, one after the other |
//! |---|---|
//! | a write | buffers, states of before |
//! | a flush that begins | states of before |
//! | a search | states of before |
//! | a deletion by query, a rebuild | buffers |
//!
//! 1. Each attempt that lacks memory is followed by the next of these, and each is tried once.
//! 2. Documents are prepared in their part of the budget first, then alone in all of it.
//! 3. A write that still fails beside a flush waits for its end, without the writer lock, and
//!    begins anew. While searches hold states of before it does so for [`SEARCHES_END`] at most.

use std::time::Duration;

use crate::base::{Error, Result};

/// The time that a call waits for memory that searches under way hold.
pub(crate) const SEARCHES_END: Duration = Duration::from_secs(5);

/// The kinds of memory that can be given back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Relief {
    /// Postings and IDs that are not on flash yet, by a flush.
    Buffers,
    /// Memory that snapshots of earlier states hold, once searches under way have ended.
    EarlierStates,
}

/// Attempts something, again after each of `order` was given back, as long as it lacks memory. What
/// `give_back` does not give back now ends it.
pub(crate) fn with_relief<C, T>(
    context: &mut C,
    order: &[Relief],
    mut give_back: impl FnMut(&mut C, Relief) -> Result<bool>,
    mut attempt: impl FnMut(&mut C) -> Result<T>,
) -> Result<T> {
    let mut done = attempt(context);
    for relief in order {
        match done {
            Err(Error::Memory { .. }) if give_back(context, *relief)? => done = attempt(context),
            done => return done,
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Budget;

    #[test]
    fn each_relief_is_tried_once_in_order_until_there_is_enough() {
        let order = [Relief::Buffers, Relief::EarlierStates];
        for (given, enough) in [(0, 40), (1, 70), (2, 90)] {
            let budget = Budget::new(100);
            let mut held = vec![
                budget.reserve("a", 30).unwrap(),
                budget.reserve("b", 30).unwrap(),
            ];
            let done = with_relief(
                &mut held,
                &order,
                |held, _| Ok(held.pop().is_some()),
                |_| budget.reserve("c", enough).map(drop),
            );
            assert_eq!((2 - held.len(), done.is_ok()), (given, true), "{enough}");
        }
    }
}
