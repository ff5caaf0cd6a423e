//! The virtual clock: a queue of events in the order of their times.
//!
//! Events of the same time are handled in the order in which they were scheduled, so a run depends
//! on nothing but its input.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Nanoseconds of virtual time.
pub type Nanos = u64;

/// Nanoseconds of a second.
pub const SECOND: Nanos = 1_000_000_000;

/// The time of a simulation, and what is to happen from there on.
#[derive(Debug)]
pub struct Clock<E> {
    now: Nanos,
    scheduled: u64,
    events: BinaryHeap<Event<E>>,
}

/// Something that happens at a time.
#[derive(Debug)]
struct Event<E> {
    time: Nanos,
    /// How many events were scheduled before.
    order: u64,
    what: E,
}

impl<E> Clock<E> {
    /// A clock at time 0 without events.
    pub fn new() -> Clock<E> {
        Clock {
            now: 0,
            scheduled: 0,
            events: BinaryHeap::new(),
        }
    }

    /// The time of the last event.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Lets something happen `delay` from now.
    pub fn schedule(&mut self, delay: Nanos, what: E) {
        self.events.push(Event {
            time: self.now.saturating_add(delay),
            order: self.scheduled,
            what,
        });
        self.scheduled += 1;
    }

    /// Goes on to the next event.
    pub fn advance(&mut self) -> Option<E> {
        let event = self.events.pop()?;
        self.now = event.time;
        Some(event.what)
    }
}

/// The time that `bytes` take at a rate in bytes a second; none at no rate.
pub fn transfer(bytes: u64, rate: Option<u64>) -> Nanos {
    rate.map_or(0, |rate| (bytes * SECOND).div_ceil(rate.max(1)))
}

/// The next event is the greatest, as the heap gives the greatest first.
impl<E> Ord for Event<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.order).cmp(&(self.time, self.order))
    }
}

impl<E> PartialOrd for Event<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Event<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Event<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_happen_in_the_order_of_time_and_then_of_scheduling() {
        let mut clock = Clock::new();
        for (delay, what) in [(20, 'c'), (10, 'a'), (20, 'd'), (10, 'b')] {
            clock.schedule(delay, what);
        }
        let happened: String = std::iter::from_fn(|| clock.advance()).collect();
        assert_eq!(happened, "abcd");
        assert_eq!(clock.now(), 20);
    }

    #[test]
    fn a_transfer_takes_its_bytes_by_its_rate() {
        assert_eq!(transfer(4096, Some(40_000_000)), 102_400);
        assert_eq!(transfer(1, Some(3)), 333_333_334);
        assert_eq!(transfer(4096, None), 0);
    }
}
