//! What two short ascending lists have in common.

use crate::base::DocId;

/// The places of what both ascending lists have, in `common`. The two halves of `one` are gone through in turns:
/// each step waits for the one before it in its half, but not for those of the other.
pub(super) fn intersect<'a>(
    one: &[DocId],
    other: &[DocId],
    common: &'a mut Vec<(u32, u32)>,
) -> &'a [(u32, u32)] {
    let half = one.len() / 2;
    let Some(middle) = one.get(half) else {
        return &[];
    };
    let split = other.partition_point(|doc| doc < middle);
    // Each half may write one place more than it finds. Never shortened: what it had is written over.
    common.resize(common.len().max(one.len() + 2), (0, 0));
    let (below, above) = common.split_at_mut(half + 1);
    let mut lower = Merge::new((0, half), (0, split));
    let mut upper = Merge::new((half, one.len()), (split, other.len()));
    while lower.goes_on() && upper.goes_on() {
        lower.step(one, other, below);
        upper.step(one, other, above);
    }
    while lower.goes_on() {
        lower.step(one, other, below);
    }
    while upper.goes_on() {
        upper.step(one, other, above);
    }
    common.copy_within(half + 1..half + 1 + upper.found, lower.found);
    &common[..lower.found + upper.found]
}

/// A stretch of each of two lists that are gone through side by side.
struct Merge {
    at: usize,
    place: usize,
    end: (usize, usize),
    found: usize,
}

impl Merge {
    fn new(one: (usize, usize), other: (usize, usize)) -> Merge {
        Merge {
            at: one.0,
            place: other.0,
            end: (one.1, other.1),
            found: 0,
        }
    }

    #[inline]
    fn goes_on(&self) -> bool {
        self.at < self.end.0 && self.place < self.end.1
    }

    /// Which list goes on is computed, not branched on: it could not be predicted.
    #[inline]
    fn step(&mut self, one: &[DocId], other: &[DocId], common: &mut [(u32, u32)]) {
        let (here, there) = (one[self.at], other[self.place]);
        common[self.found] = (self.at as u32, self.place as u32);
        self.found += usize::from(here == there);
        self.at += usize::from(here <= there);
        self.place += usize::from(there <= here);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_lists_have_in_common_is_found_wherever_it_stands() {
        let mut common = Vec::new();
        let mut of = |one: &[DocId], other: &[DocId]| intersect(one, other, &mut common).to_vec();
        assert_eq!(of(&[1, 5, 9], &[0, 1, 2, 9, 10]), [(0, 1), (2, 3)]);
        assert_eq!(of(&[3, 4], &[3, 4]), [(0, 0), (1, 1)]);
        assert_eq!(of(&[1, 3], &[0, 2, 4]), []);
        assert_eq!(of(&[], &[1]), []);
        assert_eq!(of(&[1], &[]), []);
        assert_eq!(of(&[1, 2, 3, 8, 9], &[1, 2, 3]), [(0, 0), (1, 1), (2, 2)]);
        let evens: Vec<DocId> = (0..100).map(|at| at * 2).collect();
        let threes: Vec<DocId> = (0..100).map(|at| at * 3).collect();
        let both: Vec<_> = (0..34).map(|at| (at * 3, at * 2)).collect();
        assert_eq!(of(&evens, &threes), both);
    }
}
