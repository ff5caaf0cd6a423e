//! Records the openings for writing that an index has gone through: so a backup knows the index
//! that it is a backup of.
//!
//! Two copies of one index folder have the same identity, and when both are written to, each gives
//! zone numbers that the other gives too, for other pages. So each opening for writing draws a
//! number that no other has, and notes the first generation that it may write. Within an opening
//! one root follows another in one process.
//!
//! Invariants: openings stand in their order, and a root was written by the last opening of its
//! history. So a root of generation g comes before another of the same index if two things hold.
//! The other's history has the last opening of its own. No opening behind that one began at g or
//! below.

use crate::base::{ByteReader, Result, put_u64, put_varint};

/// The most openings that are remembered: a slot has room for them. An older backup is rejected,
/// and a new one made in another folder.
const OPENINGS_MAX: usize = 128;

/// The openings for writing, the last one last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History(Vec<Opening>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// Drawn at random.
    pub(super) number: u64,
    /// The first generation that it may write.
    pub(super) first: u64,
}

impl History {
    /// Notes an opening, whose first root will have the generation `first`.
    pub fn open(&mut self, number: u64, first: u64) {
        if self.0.len() >= OPENINGS_MAX {
            self.0.remove(0);
        }
        self.0.push(Opening { number, first });
    }

    /// Returns true if the root of `generation` with the history `older` comes before the root with
    /// this history, or is it.
    pub fn includes(&self, older: &History, generation: u64) -> bool {
        let last = older.last();
        last.is_some_and(|last| self.includes_opening(last, generation))
    }

    /// Returns true if a root of `generation` that `opening` wrote comes before the root with this
    /// history, or is it.
    pub(super) fn includes_opening(&self, opening: Opening, generation: u64) -> bool {
        let mut openings = self.0.iter();
        let known = openings.any(|known| *known == opening);
        known && openings.all(|later| generation < later.first)
    }

    /// The last opening.
    pub(super) fn last(&self) -> Option<Opening> {
        self.0.last().copied()
    }

    /// Appends the openings.
    pub fn encode(&self, out: &mut Vec<u8>) {
        debug_assert!(self.0.len() <= OPENINGS_MAX);
        put_varint(out, self.0.len() as u64);
        for opening in &self.0 {
            put_u64(out, opening.number);
            put_varint(out, opening.first);
        }
    }

    /// Reads what [`History::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<History> {
        let count = reader.length(OPENINGS_MAX)?;
        let one = |_| {
            Ok(Opening {
                number: reader.u64()?,
                first: reader.varint()?,
            })
        };
        Ok(History((0..count).map(one).collect::<Result<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(openings: &[(u64, u64)]) -> History {
        let mut history = History::default();
        openings
            .iter()
            .for_each(|(number, first)| history.open(*number, *first));
        history
    }

    #[test]
    fn only_what_goes_on_from_a_root_includes_it() {
        let older = history(&[(70, 1), (71, 5)]);
        for (openings, generation, included) in [
            (&[(70, 1), (71, 5)][..], 9, true),
            (&[(70, 1), (71, 5), (72, 10)], 9, true),
            (&[(71, 5), (72, 10)], 9, true),
            // The writer lost the generation 9 and wrote another.
            (&[(70, 1), (71, 5), (72, 9)], 9, false),
            // A copy was taken before the opening 71.
            (&[(70, 1), (72, 5)], 9, false),
            (&[], 9, false),
        ] {
            let found = history(openings).includes(&older, generation);
            assert_eq!(found, included, "{openings:?}");
        }
        assert!(!older.includes(&History::default(), 0));
    }

    #[test]
    fn the_longest_history_round_trips_in_a_slot() {
        let mut history = History::default();
        (0..200).for_each(|n| history.open(u64::MAX - n, u64::MAX - n));
        let mut bytes = Vec::new();
        history.encode(&mut bytes);
        assert!(bytes.len() < 3_000);
        let read = History::decode(&mut ByteReader::new(&bytes, "a history")).unwrap();
        assert_eq!(read, history);
    }
}
