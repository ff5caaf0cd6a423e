//! Impacts: what bounds the scores of a set of postings without any of the scores.
//!
//! A score grows with the frequency and falls with the norm. A posting whose frequency is no higher
//! and whose norm is no lower than another's can score no more, under any statistics; the postings
//! that no other dominates form the impacts. Where it has more than [`PAIRS_MAX`] pairs, neighbours
//! are merged into a pair that dominates both, which loosens the bound a little and never breaks
//! it.
//!
//! Source: Ding and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", SIGIR 2011,
//! with pairs in place of scores as Lucene's impacts have them.
//!
//! Invariant: frequencies and norms both ascend strictly.

use crate::base::{ByteReader, Result, put_varint};

/// The most pairs of a impacts.
pub const PAIRS_MAX: usize = 8;

/// The most pairs that a docs page keeps of each of its blocks.
pub const BLOCK_PAIRS_MAX: usize = 4;

/// A third of the mean length that is assumed where pairs are merged: BM25 divides the frequency by
/// a quarter and three quarters of the length over the mean (b = 0.75). Fields of other lengths get
/// looser bounds, not wrong ones.
const MEAN_THIRD: f32 = 40.0;

/// Norms up to this are lengths; from there on eight steps double what is above it.
const NORM_EXACT: u8 = 24;

/// A frequency and a norm that some posting may have together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The frequency.
    pub frequency: u32,
    /// The norm: Lucene's one-byte field length, smaller is shorter and scores higher.
    pub norm: u8,
}

/// The impacts of a set of postings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impacts {
    /// One place more than there are pairs, for the pair that makes a merge necessary.
    pairs: [Pair; PAIRS_MAX + 1],
    count: u8,
}

impl Pair {
    /// Returns true if a posting with `other` can score no more than one with this pair.
    #[inline]
    pub fn dominates(&self, other: Pair) -> bool {
        self.frequency >= other.frequency && self.norm <= other.norm
    }

    /// About what a score ascends with.
    fn worth(&self) -> f32 {
        let exact = self.norm.min(NORM_EXACT);
        let length = match self.norm - exact {
            0 => exact as f32,
            steps => exact as f32 + 4.0 * (steps as f32 / 8.0).exp2(),
        };
        self.frequency as f32 / (MEAN_THIRD + length)
    }
}

impl Impacts {
    /// The impacts of one pair.
    pub fn of(pair: Pair) -> Impacts {
        let mut impacts = Impacts::default();
        impacts.add(pair);
        impacts
    }

    /// The pairs, ascending; none when there is no posting.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs[..self.count as usize]
    }

    /// Takes in a posting.
    #[inline]
    pub fn add(&mut self, pair: Pair) {
        if !self.pairs().iter().any(|held| held.dominates(pair)) {
            self.insert(pair);
        }
    }

    /// Takes in all postings of another impacts.
    pub fn merge(&mut self, other: &Impacts) {
        for pair in other.pairs() {
            self.add(*pair);
        }
    }

    /// The impacts with at most `most` pairs, at least one: looser, and a bound for the same
    /// postings.
    pub fn loosened(mut self, most: usize) -> Impacts {
        while self.count as usize > most {
            self.merge_neighbours();
        }
        self
    }

    /// Appends the pairs: their number, then the distances of frequencies and norms.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.count);
        let mut before = Pair::default();
        for pair in self.pairs() {
            put_varint(out, (pair.frequency - before.frequency) as u64);
            out.push(pair.norm - before.norm);
            before = *pair;
        }
    }

    /// Reads what [`Impacts::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<Impacts> {
        let mut impacts = Impacts::default();
        read_pairs(reader, |pair| {
            impacts.pairs[impacts.count as usize] = pair;
            impacts.count += 1;
        })?;
        Ok(impacts)
    }

    fn insert(&mut self, pair: Pair) {
        let mut kept = 0;
        for at in 0..self.count as usize {
            if !pair.dominates(self.pairs[at]) {
                self.pairs[kept] = self.pairs[at];
                kept += 1;
            }
        }
        let place = self.pairs[..kept].partition_point(|held| held.frequency < pair.frequency);
        self.pairs.copy_within(place..kept, place + 1);
        self.pairs[place] = pair;
        self.count = kept as u8 + 1;
        if self.count as usize > PAIRS_MAX {
            self.merge_neighbours();
        }
    }

    /// Merges the two neighbours whose pair for both is worth least: as long as another is worth
    /// more, the bound is as close as before.
    fn merge_neighbours(&mut self) {
        let count = self.count as usize;
        let worth = |at: usize| {
            let merged = Pair {
                frequency: self.pairs[at + 1].frequency,
                norm: self.pairs[at].norm,
            };
            merged.worth()
        };
        let best = (0..count - 1)
            .min_by(|a, b| worth(*a).total_cmp(&worth(*b)))
            .unwrap_or(0);
        self.pairs[best].frequency = self.pairs[best + 1].frequency;
        self.pairs.copy_within(best + 2..count, best + 1);
        self.count -= 1;
    }
}

/// Passes over the pairs that [`Impacts::encode`] wrote, [`PAIRS_MAX`] at most.
#[inline]
pub fn skip_pairs(reader: &mut ByteReader<'_>) -> Result<()> {
    match short_pairs(reader.rest()) {
        Some(pairs) => reader.take(1 + 2 * pairs.len()).map(|_| ()),
        None => read_long_pairs(reader, |_| {}),
    }
}

/// Reads the pairs that [`Impacts::encode`] wrote, [`PAIRS_MAX`] at most.
#[inline]
pub fn read_pairs(reader: &mut ByteReader<'_>, mut take: impl FnMut(Pair)) -> Result<()> {
    let Some(pairs) = short_pairs(reader.rest()) else {
        return read_long_pairs(reader, take);
    };
    let mut pair = Pair::default();
    for [frequency, norm] in pairs {
        pair.frequency += *frequency as u32;
        pair.norm = pair.norm.saturating_add(*norm);
        take(pair);
    }
    reader.take(1 + 2 * pairs.len())?;
    Ok(())
}

/// The distances of the pairs that stand first in `bytes`, where each is one byte, as nearly always
/// in docs pages.
#[inline]
fn short_pairs(bytes: &[u8]) -> Option<&[[u8; 2]]> {
    // The first bits of four distances of frequencies.
    const LONG: u64 = 0x0080_0080_0080_0080;
    let (count, bytes) = bytes.split_first()?;
    let bytes = bytes.first_chunk::<8>()?;
    let within = !u64::MAX.checked_shl(16 * *count as u32).unwrap_or(0);
    let (pairs, _) = bytes.as_chunks::<2>();
    let is_short = u64::from_le_bytes(*bytes) & LONG & within == 0;
    pairs.get(..*count as usize).filter(|_| is_short)
}

/// The same where some distances are longer.
fn read_long_pairs(reader: &mut ByteReader<'_>, mut take: impl FnMut(Pair)) -> Result<()> {
    let mut pair = Pair::default();
    let count = reader.length(PAIRS_MAX)?;
    for i in 0..count {
        let (frequency, norm) = (reader.varint_u32()?, reader.u8()?);
        let ascends = frequency > 0 && (norm > 0 || i == 0);
        let frequency = pair.frequency.checked_add(frequency);
        let (Some(frequency), Some(norm), true) = (frequency, pair.norm.checked_add(norm), ascends)
        else {
            return Err(reader.damaged("ascending pairs", "others"));
        };
        pair = Pair { frequency, norm };
        take(pair);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_posting_is_dominated_and_pairs_ascend(
            postings in prop::collection::vec((1u32..5000, 0u8..=255), 1..200)
        ) {
            let mut impacts = Impacts::default();
            for (frequency, norm) in &postings {
                impacts.add(Pair { frequency: *frequency, norm: *norm });
            }
            for (frequency, norm) in postings {
                let pair = Pair { frequency, norm };
                prop_assert!(impacts.pairs().iter().any(|held| held.dominates(pair)));
            }
            for two in impacts.pairs().windows(2) {
                prop_assert!(two[0].frequency < two[1].frequency && two[0].norm < two[1].norm);
            }
            let mut bytes = Vec::new();
            impacts.encode(&mut bytes);
            let read = Impacts::decode(&mut ByteReader::new(&bytes, "test")).unwrap();
            prop_assert_eq!(read.pairs(), impacts.pairs());
            let loose = impacts.loosened(2);
            prop_assert!(loose.pairs().len() <= 2);
            for pair in impacts.pairs() {
                prop_assert!(loose.pairs().iter().any(|held| held.dominates(*pair)));
            }
        }
    }

    #[test]
    fn merging_leaves_the_best_pair_alone() {
        let norms = [4, 8, 12, 16, 20, 24, 30, 36, 42, 48, 54, 60];
        let mut impacts = Impacts::default();
        for (frequency, norm) in (1..).zip(norms) {
            impacts.add(Pair { frequency, norm });
        }
        let best = |pairs: &[Pair]| pairs.iter().map(Pair::worth).fold(0.0, f32::max);
        let pair = Pair {
            frequency: 9,
            norm: 42,
        };
        assert_eq!(impacts.pairs().len(), PAIRS_MAX);
        assert_eq!(best(impacts.pairs()), pair.worth());
        assert_eq!(best(impacts.loosened(7).pairs()), pair.worth());
        assert!(best(impacts.loosened(4).pairs()) < 1.3 * pair.worth());
    }
}
