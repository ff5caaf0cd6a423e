//! The requests that frames leave over, which are the same whatever is below them.

use gannet::lab::Sieve;

use super::trace::{Page, Trace};

/// Uses of a frame that the engine remembers.
const USES_MAX: u8 = 3;

/// Holds the requests of a trace that frames of a size leave over.
#[derive(Debug, Default)]
pub struct Misses {
    pub rounds: Vec<MissedRound>,
    /// The missed pages of all rounds, one behind the other.
    pub pages: Vec<Page>,
    /// The pages that left memory, one behind the other.
    pub evicted: Vec<Page>,
}

/// A round that misses any page.
#[derive(Debug)]
pub struct MissedRound {
    pub query: usize,
    /// The ends of its pages in [`Misses::pages`] and [`Misses::evicted`].
    pub pages_end: usize,
    pub evicted_end: usize,
    /// Set if the process ends behind it: all that memory held has left it.
    pub ends_process: bool,
}

impl Misses {
    /// Sends a trace through so many frames, which evict as those of the engine do. After so many
    /// queries a process ends, and another one begins with empty frames.
    pub fn of(trace: &Trace, frames: usize, process: usize) -> Misses {
        let mut sieve: Sieve<Page, ()> = Sieve::new();
        let (mut held, mut misses) = (0, Misses::default());
        let mut last = 0;
        for round in &trace.rounds {
            if round.query / process != last / process {
                misses.end_process(&mut sieve);
                held = 0;
            }
            last = round.query;
            let before = misses.pages.len();
            for page in &round.pages {
                if sieve.get(page).is_none() {
                    misses.pages.push(*page);
                }
            }
            if misses.pages.len() == before {
                continue;
            }
            for page in &misses.pages[before..] {
                if held == frames {
                    misses.evicted.extend(sieve.evict().map(|(page, ())| page));
                } else {
                    held += 1;
                }
                sieve.insert(*page, ());
            }
            misses.rounds.push(MissedRound {
                query: round.query,
                pages_end: misses.pages.len(),
                evicted_end: misses.evicted.len(),
                ends_process: false,
            });
        }
        misses
    }

    /// Offers what is in memory to the tier, as the pool of frames does at its end.
    fn end_process(&mut self, sieve: &mut Sieve<Page, ()>) {
        if let Some(round) = self.rounds.last_mut() {
            for uses in (0..=USES_MAX).rev() {
                self.evicted
                    .extend(sieve.with_uses(uses).map(|(page, ())| *page));
            }
            round.evicted_end = self.evicted.len();
            round.ends_process = true;
        }
        *sieve = Sieve::new();
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::tests::trace;
    use super::*;

    #[test]
    fn what_frames_have_is_not_missed_and_what_leaves_them_is_told() {
        let trace = trace(&[&[&[1, 2]], &[&[1]], &[&[3], &[1]], &[&[2]]]);
        let misses = Misses::of(&trace, 2, usize::MAX);
        // Page 1 was used, so page 2 leaves, then page 3.
        assert_eq!(misses.pages, [0, 1, 2, 1]);
        assert_eq!(misses.evicted, [1, 2]);
        let rounds = misses.rounds.iter();
        let ends: Vec<_> = rounds
            .map(|r| (r.query, r.pages_end, r.evicted_end))
            .collect();
        assert_eq!(ends, [(0, 2, 0), (2, 3, 1), (3, 4, 2)]);
    }

    #[test]
    fn a_process_that_ends_leaves_its_pages_to_the_tier() {
        let trace = trace(&[&[&[1, 2]], &[&[1]], &[&[1, 3]]]);
        let misses = Misses::of(&trace, 4, 2);
        assert_eq!(misses.pages, [0, 1, 0, 2]);
        // What was used most comes first.
        assert_eq!(misses.evicted, [0, 1]);
        let ends: Vec<bool> = misses.rounds.iter().map(|r| r.ends_process).collect();
        assert_eq!(ends, [true, false]);
    }
}
