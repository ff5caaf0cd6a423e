//! Intersects the documents that are asked for with a block, and finds their places in it.

use crate::base::DocId;

/// Blocks whose documents lie closer together than this are spread over a table of so many places.
const SPAN: usize = 1 << 14;

/// Looks documents up in blocks.
#[derive(Default)]
pub(crate) struct Intersection {
    /// By the low bits of a document its place in the block it was last in: made when first needed,
    /// and never cleared, for what a place holds is compared.
    places: Option<Box<[u8; SPAN]>>,
    /// The places found, and room behind them.
    common: Vec<(u32, u32)>,
}

impl Intersection {
    /// The places of what both ascending lists have. Neither way branches on what it compares: it
    /// could not be predicted.
    pub(crate) fn of(&mut self, asked: &[DocId], block: &[DocId]) -> &[(u32, u32)] {
        let (Some(first), Some(last)) = (block.first(), block.last()) else {
            return &[];
        };
        let is_near = (last.wrapping_sub(*first) as usize) < SPAN && block.len() <= 1 << u8::BITS;
        let make = || Box::new([0; SPAN]);
        // Each half of a merge may write one place more than it finds. Never shortened: what it had
        // is written over.
        self.common
            .resize(self.common.len().max(asked.len() + 2), (0, 0));
        let found = if is_near {
            spread(
                asked,
                block,
                self.places.get_or_insert_with(make),
                &mut self.common,
            )
        } else {
            merge(asked, block, &mut self.common)
        };
        &self.common[..found]
    }
}

/// Spreads the block over the table and looks up what is asked. No two documents of the block share
/// a place.
fn spread(
    asked: &[DocId],
    block: &[DocId],
    places: &mut [u8; SPAN],
    common: &mut [(u32, u32)],
) -> usize {
    for (place, doc) in block.iter().enumerate() {
        places[*doc as usize % SPAN] = place as u8;
    }
    let mut found = 0;
    for (at, doc) in asked.iter().enumerate() {
        let place = (places[*doc as usize % SPAN] as usize).min(block.len() - 1);
        common[found] = (at as u32, place as u32);
        found += usize::from(block[place] == *doc);
    }
    found
}

/// Goes through both lists side by side, the two halves of `one` in turns: each step waits for the
/// one before it in its half, but not for those of the other. Tells how many have a match.
fn merge(one: &[DocId], other: &[DocId], common: &mut [(u32, u32)]) -> usize {
    let half = one.len() / 2;
    let Some(middle) = one.get(half) else {
        return 0;
    };
    let split = other.partition_point(|doc| doc < middle);
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
    lower.found + upper.found
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

    /// Computes which list goes on. A branch could not be predicted.
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
        let mut intersection = Intersection::default();
        let mut of = |one: &[DocId], other: &[DocId]| {
            let near = intersection.of(one, other).to_vec();
            let mut far = vec![(0, 0); one.len() + 2];
            let found = merge(one, other, &mut far);
            assert_eq!(near, far[..found]);
            near
        };
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
        // A document that shares its place with one of the block.
        let span = SPAN as DocId;
        assert_eq!(
            of(&[5, 5 + span, 6 + span], &[5 + span, 6 + span]),
            [(1, 0), (2, 1)]
        );
        assert_eq!(of(&[5, 5 + span], &[4, 5, 9 + span]), [(0, 1)]);
    }
}
