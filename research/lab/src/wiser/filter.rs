//! WiSER's Bloom filters of the words beside a posting: for each posting and direction one of nine
//! bytes that knows the words beside its tokens.
//!
//! They are sized for five words and 0.0009 false positives, whatever a posting has. (So the usual
//! formula has it, which takes the share of bits that are set for its mean; in truth, with so few
//! bits, it is 0.0012.) They stand in *groups*, one for each block of postings, behind a bitmap of
//! those that are not empty.

/// Bytes of a filter.
pub const BLOOM_BYTES: usize = 9;

const BITS: u128 = 8 * BLOOM_BYTES as u128;

/// Bits that a word sets: `BITS / 5` times the logarithm of 2, by which false positives are fewest.
const HASHES: usize = 10;

/// The words that filters leave out: beside them every word would have two, and nearly no filter
/// would be empty. They are the stop words of Lucene's English analyzer.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// Tells what stands for a word in filters: 1 to 65,535, or 0 for a stop word.
pub fn fingerprint(word: &str) -> u16 {
    if STOP_WORDS.contains(&word) {
        return 0;
    }
    // As in the first field of an index, whose number is 0.
    let key = [&[0, 0], word.as_bytes()].concat();
    (crc32c::crc32c(&key) % u32::from(u16::MAX)) as u16 + 1
}

/// Tells the bits that a word sets, by its fingerprint: the digits, to the base of the number of
/// bits, of its hash as a fraction. None for 0.
pub fn bits_of(fingerprint: u16) -> u128 {
    if fingerprint == 0 {
        return 0;
    }
    let mut fraction = u64::from(fingerprint).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bits = 0;
    for _ in 0..HASHES {
        let product = u128::from(fraction) * BITS;
        bits |= 1 << (product >> 64);
        fraction = product as u64;
    }
    bits
}

/// Appends the group of these filters, which stand one behind another.
pub fn put_group(filters: &[u8], out: &mut Vec<u8>) {
    let is_kept = |filter: &[u8]| filter.iter().any(|byte| *byte != 0);
    let kept = || filters.chunks_exact(BLOOM_BYTES).map(is_kept);
    let bitmap = (0..).zip(kept()).map(|(at, kept)| u128::from(kept) << at);
    let bitmap = bitmap.fold(0u128, |all, bit| all | bit);
    out.extend_from_slice(&bitmap.to_le_bytes()[..kept().len().div_ceil(8)]);
    let each = filters.chunks_exact(BLOOM_BYTES);
    for filter in each.filter(|filter| is_kept(filter)) {
        out.extend_from_slice(filter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn stop_words_are_left_out_and_others_are_not() {
        assert_eq!([fingerprint("the"), fingerprint("with")], [0; 2]);
        assert!(fingerprint("whale") > 0 && fingerprint("The") > 0);
        assert_eq!(bits_of(0), 0);
    }

    #[test]
    fn no_word_is_denied_and_others_are_as_often_as_computed() {
        for words in [1u32, 3, 5, 10] {
            let (mut passed, mut asked) = (0, 0);
            for filter in 0..2000u32 {
                let own: Vec<u16> = (0..words)
                    .map(|word| fingerprint(&format!("{}", filter * 16 + word)))
                    .collect();
                let bits = of(own.iter().copied());
                let knows = |word: &u16| bits & bits_of(*word) == bits_of(*word);
                assert!(own.iter().all(knows));
                let others = (1..u16::MAX)
                    .step_by(97)
                    .filter(|other| !own.contains(other));
                for other in others {
                    asked += 1;
                    passed += u32::from(knows(&other));
                }
            }
            let (seen, computed) = (f64::from(passed) / f64::from(asked), false_positives(words));
            println!("{words} words: {seen:.6}, computed {computed:.6}");
            assert!((seen - computed).abs() < computed * 0.1 + 1e-5, "{words}");
        }
    }

    #[test]
    fn groups_leave_empty_filters_out() {
        for postings in [1usize, 8, 9, 127, 128] {
            let filters: Vec<u128> = (0..postings as u16)
                .map(|at| of((0..at % 3).map(|word| at * 3 + word + 1)))
                .collect();
            let (mut flat, mut bytes) = (Vec::new(), Vec::new());
            for filter in &filters {
                flat.extend_from_slice(&filter.to_le_bytes()[..BLOOM_BYTES]);
            }
            put_group(&flat, &mut bytes);
            let (bitmap, mut rest) = bytes.split_at(postings.div_ceil(8));
            for (at, filter) in filters.iter().enumerate() {
                let is_kept = bitmap[at / 8] >> (at % 8) & 1 == 1;
                assert_eq!(is_kept, *filter != 0);
                if is_kept {
                    let own;
                    (own, rest) = rest.split_at(BLOOM_BYTES);
                    assert_eq!(own, &filter.to_le_bytes()[..BLOOM_BYTES]);
                }
            }
            assert!(rest.is_empty());
        }
    }
}
