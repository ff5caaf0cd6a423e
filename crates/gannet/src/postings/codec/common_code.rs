//! Codes the common neighbours of tokens: in groups, a prefix code for each token, and in
//! fragments, a byte.
//!
//! A neighbour is 0, for none of the common words, or the number of one. A *group* is what is known
//! on one side of the tokens of a block. More than half of all neighbours are 0 and take a bit, the
//! others four to eleven. The code is fixed: an index of any text can be read without a table of
//! its own, and groups of lists that are merged are coded again by the same table.
//!
//! Source: Huffman, A method for the construction of minimum-redundancy codes (1952). Package-merge
//! (Larmore and Hirschberg, 1990) limits lengths to [`LENGTH_MAX`]. So one look into a table gives
//! up to three neighbours.

use crate::analysis::COMMON_WORDS;
use crate::base::{ByteReader, Error, Result};

const WHAT: &str = "a group of common neighbours";

/// The most bytes of a group. A chunk with a longer one keeps no filter: 128 documents would have a
/// word thousands of times each, and whoever asks reads a group as a whole.
pub const GROUP_LIMIT: usize = 64 << 10;

const SYMBOLS: usize = COMMON_WORDS + 1;

const LENGTH_MAX: u32 = 11;

/// Bits that are loaded at once, at least, and the steps that they are enough for.
const LOAD: u32 = u64::BITS - 7;
const STEPS_OF_LOAD: usize = (LOAD / LENGTH_MAX) as usize;

/// Bits of the code of each neighbour: of 0, then of the common words in their order.
///
/// Of the two neighbours of each of 2,653,198 tokens in 26,994 passages (every 20th of those that
/// `research/measure/corpora.py` makes; without tokens of *the, of, and, in, to, a*, whose lists
/// keep no filters) 56.2 % are 0, 7.7 % *the*, 4.0 % *of*, 3.4 % *and*, 0.02 % the rarest. The code
/// takes 3.26 bits for each, and 3.23 are the least.
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    1, 5, 10, 9, 9, 8, 8, 5, 7, 7, 8, 8, 10, 9, 10, 9, 8, 7, 9, 10, 10, 10, 9, 7, 7, 8, 8, 8, 8,
    10, 10, 8, 11, 10, 10, 5, 9, 6, 7, 9, 10, 10, 9, 9, 9, 9, 10, 8, 4, 7, 9, 9, 7, 9, 10, 10,
    10, 10, 9, 9, 9, 7, 4, 8, 10, 10, 9, 9, 9, 8, 11, 10, 10, 10, 5, 9, 10, 11, 10, 9, 6, 11,
    10, 8, 11, 9, 10, 8, 10, 9, 10, 7, 9, 10, 11,
];

/// The code of each neighbour, in its low bits: codes of one length ascend with the neighbours, and
/// those of longer ones begin behind them (a canonical code).
const CODES: [u16; SYMBOLS] = codes();

/// The codes at the beginning of the next bits of a group, by their value.
const STEPS: [CodeStep; 1 << LENGTH_MAX] = steps();

/// Neighbours whose codes lie one behind another in [`LENGTH_MAX`] bits.
#[derive(Clone, Copy)]
struct CodeStep {
    neighbours: [u8; 3],
    /// The number of them, at least one.
    count: u8,
    /// The bits that they take.
    bits: u8,
}

const fn codes() -> [u16; SYMBOLS] {
    let mut codes = [0; SYMBOLS];
    let (mut length, mut code) = (1, 0);
    while length <= LENGTH_MAX {
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as u32 == length {
                codes[symbol] = code;
                code += 1;
            }
            symbol += 1;
        }
        code <<= 1;
        length += 1;
    }
    codes
}

const fn steps() -> [CodeStep; 1 << LENGTH_MAX] {
    let firsts = firsts();
    let mut steps = [CodeStep {
        neighbours: [0; 3],
        count: 0,
        bits: 0,
    }; 1 << LENGTH_MAX];
    let mut value = 0;
    while value < steps.len() {
        let step = &mut steps[value];
        while step.count < 3 {
            let rest = (value << step.bits) & ((1 << LENGTH_MAX) - 1);
            let neighbour = firsts[rest];
            let bits = step.bits + LENGTHS[neighbour as usize];
            if bits as u32 > LENGTH_MAX {
                break;
            }
            step.neighbours[step.count as usize] = neighbour;
            step.count += 1;
            step.bits = bits;
        }
        value += 1;
    }
    steps
}

/// The first neighbour, by the next bits.
const fn firsts() -> [u8; 1 << LENGTH_MAX] {
    let codes = codes();
    let mut firsts = [0; 1 << LENGTH_MAX];
    let mut symbol = 0;
    while symbol < SYMBOLS {
        let free = LENGTH_MAX - LENGTHS[symbol] as u32;
        let start = (codes[symbol] as usize) << free;
        let mut at = start;
        while at < start + (1 << free) {
            firsts[at] = symbol as u8;
            at += 1;
        }
        symbol += 1;
    }
    firsts
}

/// Returns true if there is such a neighbour.
pub fn is_neighbour(number: u16) -> bool {
    (number as usize) < SYMBOLS
}

/// Appends the group of these neighbours, the first in the highest bits; the last byte is filled up
/// with zeros.
pub fn put_group(neighbours: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut count) = (0u64, 0u32);
    for neighbour in neighbours {
        let symbol = *neighbour as usize % SYMBOLS;
        let length = LENGTHS[symbol] as u32;
        bits = bits << length | CODES[symbol] as u64;
        count += length;
        if count >= u32::BITS {
            count -= u32::BITS;
            out.extend_from_slice(&((bits >> count) as u32).to_be_bytes());
        }
    }
    let rest = ((bits << (u32::BITS - count)) as u32).to_be_bytes();
    out.extend_from_slice(&rest[..count.div_ceil(8) as usize]);
}

/// Puts the `count` neighbours of a group into `out`, in place of what was there.
pub fn read_group(group: &[u8], count: usize, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    if group.len() > GROUP_LIMIT || count > 8 * group.len() {
        let got = group.len();
        return Err(Error::damaged(
            WHAT,
            format!("expected {count} neighbours, got {got} bytes"),
        ));
    }
    // A step puts three, whatever it has.
    out.resize(count + 3 * STEPS_OF_LOAD, 0);
    let (mut at, mut bit) = (0, 0);
    // Whole loads, as long as all that they give is asked for.
    while at + 3 * STEPS_OF_LOAD <= count {
        let mut bits = load(group, bit);
        for _ in 0..STEPS_OF_LOAD {
            let step = &STEPS[(bits >> (u64::BITS - LENGTH_MAX)) as usize];
            out[at..at + 3].copy_from_slice(&step.neighbours);
            at += step.count as usize;
            bits <<= step.bits;
            bit += step.bits as usize;
        }
    }
    while at < count {
        let step = &STEPS[next_bits(group, bit)];
        out[at] = step.neighbours[0];
        at += 1;
        bit += LENGTHS[step.neighbours[0] as usize] as usize;
    }
    out.truncate(count);
    if bit.div_ceil(8) == group.len() && next_bits(group, bit) == 0 {
        Ok(())
    } else {
        Err(Error::damaged(
            WHAT,
            format!("expected {bit} bits, got {} bytes", group.len()),
        ))
    }
}

/// The bits of a group from this one on, the first in the highest, at least [`LOAD`]; zeros behind
/// its end.
#[inline]
fn load(group: &[u8], bit: usize) -> u64 {
    let rest = group.get(bit / 8..).unwrap_or_default();
    let bytes = match rest.first_chunk() {
        Some(bytes) => *bytes,
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            bytes
        }
    };
    u64::from_be_bytes(bytes) << (bit % 8)
}

/// As many of them as the longest code has.
#[inline]
fn next_bits(group: &[u8], bit: usize) -> usize {
    (load(group, bit) >> (u64::BITS - LENGTH_MAX)) as usize
}

/// Neighbours with the shortest codes: what both sides of a token have, if they have any, is mostly
/// of these.
const FREQUENT: [u8; 8] = frequent();
const FREQUENT_LENGTH_MAX: u8 = 6;

/// The first bytes of those that stand for a neighbour after, for two frequent ones, and for two
/// that follow.
const AFTER: u8 = COMMON_WORDS as u8;
const BOTH: u8 = AFTER + COMMON_WORDS as u8 + 1;
const FOLLOW: u8 = BOTH + (FREQUENT.len() * FREQUENT.len()) as u8;

const fn frequent() -> [u8; 8] {
    let mut frequent = [0; 8];
    let (mut found, mut symbol) = (0, 1);
    while symbol < SYMBOLS {
        if LENGTHS[symbol] <= FREQUENT_LENGTH_MAX {
            frequent[found] = symbol as u8;
            found += 1;
        }
        symbol += 1;
    }
    frequent
}

/// The place of each neighbour among the frequent ones; [`NOT_FREQUENT`] of the others.
const FREQUENT_PLACES: [u8; SYMBOLS] = frequent_places();
const NOT_FREQUENT: u8 = FREQUENT.len() as u8;

const fn frequent_places() -> [u8; SYMBOLS] {
    let mut places = [NOT_FREQUENT; SYMBOLS];
    let mut place = 0;
    while place < FREQUENT.len() {
        places[FREQUENT[place] as usize] = place as u8;
        place += 1;
    }
    places
}

/// Appends the neighbours of a token: a byte, or three.
#[inline]
pub fn put_pair(before: u8, after: u8, out: &mut Vec<u8>) {
    let place = |neighbour: u8| FREQUENT_PLACES[neighbour as usize % SYMBOLS];
    match (before, after) {
        (before, 0) => out.push(before),
        (0, after) => out.push(AFTER + after),
        _ => match [place(before), place(after)] {
            [NOT_FREQUENT, _] | [_, NOT_FREQUENT] => {
                out.extend_from_slice(&[FOLLOW, before, after]);
            }
            [before, after] => out.push(BOTH + before * NOT_FREQUENT + after),
        },
    }
}

/// Reads what [`put_pair`] wrote.
#[inline]
pub fn read_pair(reader: &mut ByteReader<'_>) -> Result<[u8; 2]> {
    let pair = match reader.u8()? {
        before @ ..=AFTER => [before, 0],
        after if after < BOTH => [0, after - AFTER],
        both if both < FOLLOW => {
            let (before, after) = ((both - BOTH) as usize / 8, (both - BOTH) as usize % 8);
            [FREQUENT[before], FREQUENT[after]]
        }
        FOLLOW => [reader.u8()?, reader.u8()?],
        other => return Err(reader.damaged("the neighbours of a token", other)),
    };
    if pair.iter().all(|neighbour| is_neighbour(*neighbour as u16)) {
        Ok(pair)
    } else {
        Err(reader.damaged("numbers of common words", format!("{pair:?}")))
    }
}

/// Returns the number of bytes of a token's neighbours that begin with this byte.
#[inline]
pub fn pair_bytes(first: u8) -> usize {
    if first == FOLLOW { 3 } else { 1 }
}

const _: () = assert!(FOLLOW < u8::MAX, "all pairs have a byte");

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(count: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        let numbers = (0..count).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as u8
        });
        // Half of them none, as in text.
        numbers
            .map(|n| {
                if n % 2 == 0 {
                    0
                } else {
                    (n as usize / 2 % SYMBOLS) as u8
                }
            })
            .collect()
    }

    #[test]
    fn the_code_is_complete_and_no_code_begins_another() {
        let share = LENGTHS.iter().map(|length| (1 << LENGTH_MAX) >> length);
        assert_eq!(share.sum::<u32>(), 1 << LENGTH_MAX);
        assert!(FREQUENT.iter().all(|symbol| *symbol != 0));
        let frequent = |length: &&u8| **length <= FREQUENT_LENGTH_MAX;
        assert_eq!(LENGTHS[1..].iter().filter(frequent).count(), FREQUENT.len());
    }

    #[test]
    fn groups_of_any_length_give_back_their_neighbours() {
        for count in (1..300).chain([40_000]) {
            let (neighbours, mut bytes, mut back) = (drawn(count, count as u32), vec![], vec![7]);
            put_group(&neighbours, &mut bytes);
            read_group(&bytes, count, &mut back).unwrap();
            assert_eq!(back, neighbours);
        }
        let (all, mut bytes, mut back) = ((0..SYMBOLS as u8).collect::<Vec<_>>(), vec![], vec![]);
        put_group(&all, &mut bytes);
        read_group(&bytes, SYMBOLS, &mut back).unwrap();
        assert_eq!(back, all);
    }

    #[test]
    fn none_takes_a_bit() {
        let mut bytes = Vec::new();
        put_group(&[0; 128], &mut bytes);
        assert_eq!(bytes, [0; 16]);
    }

    #[test]
    fn impossible_groups_are_errors() {
        let (neighbours, mut good, mut out) = (drawn(100, 5), vec![], vec![]);
        put_group(&neighbours, &mut good);
        let shorter = &good[..good.len() - 1];
        assert!(read_group(shorter, 100, &mut out).is_err());
        assert!(read_group(&[&good[..], &[0]].concat(), 100, &mut out).is_err());
        assert!(read_group(&good, 1 << 30, &mut out).is_err());
        assert!(read_group(&[], 1, &mut out).is_err());
        // Bits behind the last code.
        assert!(read_group(&[0b0000_0001], 7, &mut out).is_err());
        assert!(read_group(&vec![0; GROUP_LIMIT + 1], 8 * GROUP_LIMIT + 8, &mut out).is_err());
    }

    #[test]
    fn pairs_give_back_both_neighbours() {
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        let pairs = || (0..SYMBOLS as u8).flat_map(|b| (0..SYMBOLS as u8).map(move |a| [b, a]));
        for [before, after] in pairs() {
            let start = bytes.len();
            put_pair(before, after, &mut bytes);
            assert_eq!(pair_bytes(bytes[start]), bytes.len() - start);
            lengths.push(bytes.len() - start);
        }
        assert_eq!(
            lengths.iter().filter(|length| **length == 1).count(),
            1 + 2 * 94 + 64
        );
        let mut reader = ByteReader::new(&bytes, "test");
        assert!(pairs().all(|pair| read_pair(&mut reader).unwrap() == pair));
        for bad in [&[254][..], &[255], &[FOLLOW, 1], &[FOLLOW, 95, 1], &[]] {
            assert!(
                read_pair(&mut ByteReader::new(bad, "test")).is_err(),
                "{bad:?}"
            );
        }
    }
}
