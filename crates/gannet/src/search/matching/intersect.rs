//! Finds ascending documents in a block of others.
//!
//! Where there are many, both sides are gone through in groups of four: all pairs of two groups are
//! compared at once, and the group that ends first makes room for the next. Which one that is
//! cannot be predicted, so it is computed. Source: Schlegel, Willhalm and Lehner, "Fast Sorted-Set
//! Intersection using SIMD Instructions", 2011.

use crate::base::DocId;

#[cfg(target_arch = "x86_64")]
use safe_arch::{
    cmp_eq_mask_i32_m128i, m128i, move_mask_i8_m128i, pack_i16_to_i8_m128i, pack_i32_to_i16_m128i,
    shuffle_ai_f32_all_m128i,
};

/// Documents of a group.
const GROUP: usize = 4;

/// Groups are compared if at least one in so many documents of the block is looked for.
const DENSE: usize = 8;

/// The place of a document that is not found.
pub const NOWHERE: u8 = u8::MAX;

type Quad = [DocId; GROUP];

/// Writes the place in `block` of each of at most 128 `docs`, or [`NOWHERE`]. Gives a bit for each
/// that has one.
pub fn locate(docs: &[DocId], block: &[DocId], places: &mut [u8]) -> u128 {
    places.fill(NOWHERE);
    let mut found = 0;
    each_common(docs, block, |at, place| {
        places[at] = place as u8;
        found |= 1 << at;
    });
    found
}

/// Gives the places of each document that both have to `take`: among `docs`, and in `block`. Those
/// of a group come in no order.
#[inline]
pub fn each_common(docs: &[DocId], block: &[DocId], mut take: impl FnMut(usize, usize)) {
    let (mut at, mut from) = (0, 0);
    if docs.len() * DENSE > block.len() {
        while let (Some(left), Some(right)) = (group(docs, at), group(block, from)) {
            let mut pairs = equal_pairs(left, right);
            while pairs != 0 {
                let pair = pairs.trailing_zeros() as usize;
                let (turned, place) = (pair / GROUP, pair % GROUP);
                take(at + place, from + (place + turned) % GROUP);
                pairs &= pairs - 1;
            }
            let (left, right) = (left[GROUP - 1], right[GROUP - 1]);
            at += GROUP * usize::from(left <= right);
            from += GROUP * usize::from(right <= left);
        }
    }
    for (at, doc) in docs.iter().enumerate().skip(at) {
        from += block[from..].partition_point(|one| one < doc);
        if block.get(from) == Some(doc) {
            take(at, from);
        }
    }
}

#[inline]
fn group(docs: &[DocId], at: usize) -> Option<&Quad> {
    docs.get(at..)?.first_chunk()
}

/// A bit for each pair that is equal: the pairs of each document with the one at its place, then
/// with the one behind that, and so on in a circle.
#[cfg(target_arch = "x86_64")]
#[inline]
fn equal_pairs(left: &Quad, right: &Quad) -> u32 {
    let (left, right) = (m128i::from(*left), m128i::from(*right));
    let equal = |turned| cmp_eq_mask_i32_m128i(left, turned);
    let first = equal(right);
    let second = equal(shuffle_ai_f32_all_m128i::<0b00_11_10_01>(right));
    let third = equal(shuffle_ai_f32_all_m128i::<0b01_00_11_10>(right));
    let fourth = equal(shuffle_ai_f32_all_m128i::<0b10_01_00_11>(right));
    let halves = (
        pack_i32_to_i16_m128i(first, second),
        pack_i32_to_i16_m128i(third, fourth),
    );
    move_mask_i8_m128i(pack_i16_to_i8_m128i(halves.0, halves.1)) as u32
}

/// A bit for each pair that is equal: the pairs of each document with the one at its place, then
/// with the one behind that, and so on in a circle.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn equal_pairs(left: &Quad, right: &Quad) -> u32 {
    let mut pairs = 0;
    for turned in 0..GROUP {
        for place in 0..GROUP {
            let is_equal = left[place] == right[(place + turned) % GROUP];
            pairs |= u32::from(is_equal) << (turned * GROUP + place);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ascending documents with gaps of up to so many.
    fn docs(count: usize, gap: u32, seed: u32) -> Vec<DocId> {
        let mut state = seed;
        let mut next = |doc: &mut u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *doc += 1 + (state >> 16) % gap;
            Some(*doc)
        };
        let mut doc = 0;
        std::iter::from_fn(|| next(&mut doc)).take(count).collect()
    }

    #[test]
    fn places_are_those_of_a_search() {
        for seed in 0..400 {
            let block = docs(1 + seed as usize * 7 % 128, 1 + seed % 5, seed);
            let wanted = docs(seed as usize * 13 % 129, 1 + seed % 9, seed + 7);
            let mut places = vec![0; wanted.len()];
            let found = locate(&wanted, &block, &mut places);
            let expected: Vec<u8> = wanted
                .iter()
                .map(|doc| block.binary_search(doc).map_or(NOWHERE, |at| at as u8))
                .collect();
            assert_eq!(places, expected, "{wanted:?} in {block:?}");
            let bits = expected.iter().enumerate();
            let bits = bits.map(|(at, place)| u128::from(*place != NOWHERE) << at);
            assert_eq!(found, bits.sum::<u128>());
        }
    }
}
