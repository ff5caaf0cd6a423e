//! Bloom filters as phrase filters, after WiSER (He et al., 2020): for each posting and direction
//! one of nine bytes that knows the words beside its tokens.
//!
//! They are sized for five words and 0.0009 false positives, whatever a posting has. (So the usual
//! formula has it, which takes the share of bits that are set for its mean; in truth, with so few
//! bits, it is 0.0012.) They stand in *groups*, one for each block of 128 postings, behind a bitmap
//! of those that are not empty.

use super::block::BLOCK;
use crate::base::{Error, Result};

const WHAT: &str = "a group of Bloom filters";

/// Bytes of a filter.
pub const BLOOM_BYTES: usize = 9;

/// A filter that denies nothing: for postings of which no neighbours are known.
pub const ANY: [u8; BLOOM_BYTES] = [0xff; BLOOM_BYTES];

const BITS: u128 = 8 * BLOOM_BYTES as u128;

/// Bits that a word sets: `BITS / 5` times the logarithm of 2, by which false positives are fewest.
const HASHES: usize = 10;

/// The filters of a block.
#[derive(Clone, Copy, Debug)]
pub struct BloomGroup<'a> {
    bitmap: u128,
    filters: &'a [u8],
}

/// The bits that a word sets, by its fingerprint: the digits, to the base of the number of bits, of
/// its hash as a fraction. None for 0, which stands for no word, or for any.
pub fn bits_of(fingerprint: u16) -> u128 {
    if fingerprint == 0 {
        return 0;
    }
    let mut fraction = (fingerprint as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bits = 0;
    for _ in 0..HASHES {
        let product = fraction as u128 * BITS;
        bits |= 1 << (product >> 64);
        fraction = product as u64;
    }
    bits
}

/// Appends a filter with these bits.
pub fn put(bits: u128, out: &mut Vec<u8>) {
    out.extend_from_slice(&bits.to_le_bytes()[..BLOOM_BYTES]);
}

/// Appends the group of these filters, which stand one behind another.
pub fn put_group(filters: &[u8], out: &mut Vec<u8>) {
    let kept = || filters.chunks_exact(BLOOM_BYTES).map(|f| get(f) != 0);
    let bitmap = (0..).zip(kept()).map(|(at, kept)| (kept as u128) << at);
    let bitmap = bitmap.fold(0u128, |all, bit| all | bit);
    out.extend_from_slice(&bitmap.to_le_bytes()[..bitmap_bytes(kept().len())]);
    let each = filters.chunks_exact(BLOOM_BYTES).zip(kept());
    each.filter(|(_, kept)| *kept)
        .for_each(|(filter, _)| out.extend_from_slice(filter));
}

/// Returns the number of `postings` postings without a filter on a side that takes so many bytes.
pub fn empty_filters(postings: u32, bytes: u32) -> u32 {
    let postings = postings as usize;
    let bitmaps = postings / BLOCK * bitmap_bytes(BLOCK) + bitmap_bytes(postings % BLOCK);
    let kept = (bytes as usize).saturating_sub(bitmaps) / BLOOM_BYTES;
    postings.saturating_sub(kept) as u32
}

fn bitmap_bytes(postings: usize) -> usize {
    postings.div_ceil(8)
}

fn get(filter: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..filter.len()].copy_from_slice(filter);
    u128::from_le_bytes(bytes)
}

impl<'a> BloomGroup<'a> {
    /// The group with these bytes, for a block of so many postings.
    pub fn parse(bytes: &'a [u8], postings: usize) -> Result<BloomGroup<'a>> {
        let Some((bitmap, filters)) = bytes.split_at_checked(bitmap_bytes(postings)) else {
            return Err(Error::damaged(WHAT, "expected a longer one"));
        };
        let bitmap = get(bitmap);
        let (named, got) = (bitmap.count_ones() as usize, filters.len());
        if named * BLOOM_BYTES == got {
            Ok(BloomGroup { bitmap, filters })
        } else {
            Err(Error::damaged(
                WHAT,
                format!("expected {named} filters, got {got} bytes"),
            ))
        }
    }

    /// The filter of the posting at this place of the block; 0 if it is empty.
    #[inline]
    pub fn filter(&self, at: usize) -> u128 {
        if self.bitmap >> at & 1 == 0 {
            return 0;
        }
        let before = self.bitmap & ((1 << at) - 1);
        let start = before.count_ones() as usize * BLOOM_BYTES;
        get(&self.filters[start..start + BLOOM_BYTES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fingerprint;
    use crate::base::PhraseFilters;

    fn of(words: impl Iterator<Item = u16>) -> u128 {
        words.map(bits_of).fold(0, |all, bits| all | bits)
    }

    /// The chance that a filter of so many words passes another, over all numbers of bits that they
    /// may set.
    fn false_positives(words: u32) -> f64 {
        let bits = BITS as usize;
        let mut chances = vec![0.0; bits + 1];
        chances[0] = 1.0;
        for _ in 0..words as usize * HASHES {
            for set in (0..=bits).rev() {
                let known = chances[set] * set as f64 / bits as f64;
                let fresh = set.checked_sub(1).map_or(0.0, |before| {
                    chances[before] * (bits - before) as f64 / bits as f64
                });
                chances[set] = known + fresh;
            }
        }
        let pass = (0..=bits).map(|set| (set as f64 / bits as f64).powi(HASHES as i32));
        pass.zip(&chances).map(|(pass, chance)| pass * chance).sum()
    }

    fn word_of(number: u32) -> u16 {
        fingerprint(&number.to_le_bytes(), PhraseFilters::Bloom)
    }

    #[test]
    fn no_word_is_denied_and_others_are_as_often_as_computed() {
        for words in [1u32, 3, 5, 10] {
            let (mut passed, mut asked) = (0, 0);
            for filter in 0..2000u32 {
                let own: Vec<u16> = (0..words).map(|word| word_of(filter * 16 + word)).collect();
                let bits = of(own.iter().copied());
                assert!(
                    own.iter()
                        .all(|word| bits & bits_of(*word) == bits_of(*word))
                );
                let others = (1..u16::MAX)
                    .step_by(97)
                    .filter(|other| !own.contains(other));
                for other in others {
                    asked += 1;
                    passed += (bits & bits_of(other) == bits_of(other)) as u32;
                }
            }
            let (seen, computed) = (passed as f64 / asked as f64, false_positives(words));
            println!("{words} words: {seen:.6}, computed {computed:.6}");
            assert!((seen - computed).abs() < computed * 0.1 + 1e-5, "{words}");
        }
    }

    #[test]
    fn groups_give_back_their_filters_and_leave_empty_ones_out() {
        for postings in [1, 8, 9, 127, 128] {
            let filters: Vec<u128> = (0..postings as u16)
                .map(|at| of((0..at % 3).map(|word| at * 3 + word + 1)))
                .collect();
            let (mut flat, mut bytes) = (Vec::new(), Vec::new());
            filters.iter().for_each(|filter| put(*filter, &mut flat));
            put_group(&flat, &mut bytes);
            let empty = filters.iter().filter(|filter| **filter == 0).count();
            assert_eq!(
                empty_filters(postings as u32, bytes.len() as u32),
                empty as u32
            );
            let group = BloomGroup::parse(&bytes, postings).unwrap();
            let back: Vec<u128> = (0..postings).map(|at| group.filter(at)).collect();
            assert_eq!(back, filters);
            assert!(BloomGroup::parse(&bytes[1..], postings).is_err());
        }
    }

    #[test]
    fn impossible_groups_are_errors() {
        assert!(BloomGroup::parse(&[], 1).is_err());
        assert!(BloomGroup::parse(&[1, 0], 8).is_err());
        assert!(BloomGroup::parse(&[0, 0], 8).is_err());
    }
}
