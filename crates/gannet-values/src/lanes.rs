//! Packs 128 numbers of up to 32 bits in four lanes.
//!
//! Number `i` belongs to lane `i % 4`. A lane is the low bits of its 32 numbers one behind the
//! other, lowest bits first, in as many words of 32 bits as a number has bits. Words of the same
//! place in the four lanes stand side by side, each little-endian. So one vector instruction of
//! four words works on four neighbours.
//!
//! A row is what the lanes have at one place. Each width has a function of its own, in which all
//! places and shifts are constants, because only then the compiler makes vector instructions. It
//! makes none of sums, where each number waits for the one before, so these are written with them.

#[cfg(target_arch = "x86_64")]
use safe_arch::{
    add_i32_m128i, bitxor_m128i, byte_shl_imm_u128_m128i, cmp_gt_mask_i32_m128i, m128i,
    move_mask_i8_m128i, pack_i16_to_i8_m128i, pack_i32_to_i16_m128i, shuffle_ai_f32_all_m128i,
    sub_i32_m128i,
};

/// Numbers in a full block.
pub const BLOCK: usize = 128;

/// The numbers of one block.
pub type Numbers = [u32; BLOCK];

const LANES: usize = 4;

/// Bits of a word, and numbers of a lane.
const WORD: usize = 32;

const _: () = assert!(BLOCK == LANES * WORD, "a lane has a word for each bit");

type Row = [u32; LANES];

/// A row of words as bytes.
type RowBytes = [u8; LANES * size_of::<u32>()];

/// Calls a function for a width that is known to the compiler.
macro_rules! by_width {
    ($bits:expr, $function:ident($from:expr, $to:expr)) => {
        by_width!($bits, $function, $from, $to, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
            17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
    };
    ($bits:expr, $function:ident, $from:expr, $to:expr, $($width:literal)*) => {
        match $bits {
            $($width => $function::<$width>($from, $to),)*
            bits => unreachable!("expected 1 to 32 bits, got {bits}"),
        }
    };
}

/// Does something for each row of a block, without a loop.
macro_rules! each_row {
    ($row:ident => $body:expr) => {
        each_row!($row, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
            16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    ($row:ident, $body:expr, $($number:literal)*) => {
        $({ let $row: usize = $number; $body })*
    };
}

/// Packs numbers of at most `bits` bits into 16 bytes per bit.
pub fn pack(numbers: &Numbers, bits: u8, bytes: &mut [u8]) {
    if bits > 0 {
        by_width!(bits, pack_width(numbers, bytes));
    }
}

/// Unpacks what [`pack`] wrote. There must be 16 bytes per bit, and at most 32 bits.
pub fn unpack(bytes: &[u8], bits: u8, numbers: &mut Numbers) {
    match bits {
        0 => numbers.fill(0),
        bits => by_width!(bits, unpack_width(bytes, numbers)),
    }
}

/// Adds up distances, each less one, from `before`. Sums wrap around.
#[cfg(target_arch = "x86_64")]
pub fn add_up(before: u32, distances: &mut Numbers) {
    let ones = m128i::from([1, 2, 3, 4]);
    let mut last = m128i::from([before; LANES]);
    for row in distances.as_chunks_mut::<LANES>().0 {
        let own = m128i::from(*row);
        let pairs = add_i32_m128i(own, byte_shl_imm_u128_m128i::<4>(own));
        let fours = add_i32_m128i(pairs, byte_shl_imm_u128_m128i::<8>(pairs));
        let sums = add_i32_m128i(fours, ones);
        *row = add_i32_m128i(sums, last).into();
        // Only this sum waits for that of the row before.
        last = add_i32_m128i(last, shuffle_ai_f32_all_m128i::<0xff>(sums));
    }
}

/// Adds up distances, each less one, from `before`. Sums wrap around.
#[cfg(not(target_arch = "x86_64"))]
pub fn add_up(before: u32, distances: &mut Numbers) {
    let mut last = before;
    for distance in distances {
        last = last.wrapping_add(*distance).wrapping_add(1);
        *distance = last;
    }
}

/// Returns one of the numbers that [`pack`] wrote; 0 where there are no bytes.
pub fn get(bytes: &[u8], bits: u8, number: usize) -> u32 {
    let at = number / LANES * bits as usize;
    let place = (at / WORD * LANES + number % LANES) * size_of::<u32>();
    let word = |place: usize| {
        let bytes = bytes.get(place..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
    };
    let words = word(place) | word(place + size_of::<RowBytes>()) << WORD;
    let mask = (1_u64 << bits) - 1;
    (words >> (at % WORD) & mask) as u32
}

/// Returns which numbers are at least `least`, and at most by `width` above it: one bit each, the
/// first in the lowest bit of the first word.
#[cfg(target_arch = "x86_64")]
pub fn in_range(numbers: &Numbers, least: u32, width: u32) -> [u64; 2] {
    let least = m128i::from([least; LANES]);
    // Instructions compare signed numbers: with another highest bit these are in the same order.
    let sign = m128i::from([i32::MIN; LANES]);
    let width = m128i::from([(width ^ 1 << 31) as i32; LANES]);
    let is_outside = |row: Row| {
        let above = sub_i32_m128i(m128i::from(row), least);
        cmp_gt_mask_i32_m128i(bitxor_m128i(above, sign), width)
    };
    let mut masks = [0; 2];
    for (number, rows) in numbers.as_chunks().0.as_chunks::<4>().0.iter().enumerate() {
        let [a, b, c, d] = rows.map(is_outside);
        let (low, high) = (pack_i32_to_i16_m128i(a, b), pack_i32_to_i16_m128i(c, d));
        let outside = move_mask_i8_m128i(pack_i16_to_i8_m128i(low, high)) as u16;
        masks[number / 4] |= u64::from(!outside) << (16 * (number % 4));
    }
    masks
}

/// Returns which numbers are at least `least`, and at most by `width` above it: one bit each, the
/// first in the lowest bit of the first word.
#[cfg(not(target_arch = "x86_64"))]
pub fn in_range(numbers: &Numbers, least: u32, width: u32) -> [u64; 2] {
    let mut masks = [0; 2];
    for (at, number) in numbers.iter().enumerate() {
        let is_in = number.wrapping_sub(least) <= width;
        masks[at / 64] |= u64::from(is_in) << (at % 64);
    }
    masks
}

fn pack_width<const BITS: usize>(numbers: &Numbers, bytes: &mut [u8]) {
    let rows: &[Row] = numbers.as_chunks().0;
    let words: &mut [RowBytes] = &mut bytes.as_chunks_mut().0[..BITS];
    let mut open = [0; LANES];
    each_row!(row => pack_row::<BITS>(rows[row], row, &mut open, words));
}

/// Adds a row to the words that are open. Those that are full are stored.
#[inline(always)]
fn pack_row<const BITS: usize>(numbers: Row, row: usize, open: &mut Row, words: &mut [RowBytes]) {
    let (word, shift) = (row * BITS / WORD, row * BITS % WORD);
    *open = or(*open, numbers.map(|number| number << shift));
    if shift + BITS >= WORD {
        words[word] = store(*open);
        *open = [0; LANES];
    }
    if shift + BITS > WORD {
        *open = numbers.map(|number| number >> (WORD - shift));
    }
}

fn unpack_width<const BITS: usize>(bytes: &[u8], numbers: &mut Numbers) {
    let words: &[RowBytes] = &bytes.as_chunks().0[..BITS];
    let rows: &mut [Row] = numbers.as_chunks_mut().0;
    each_row!(row => rows[row] = unpack_row::<BITS>(words, row));
}

/// Each part is masked by itself: of a mask behind both the compiler makes scalar instructions.
#[inline(always)]
fn unpack_row<const BITS: usize>(words: &[RowBytes], row: usize) -> Row {
    let (word, shift) = (row * BITS / WORD, row * BITS % WORD);
    let mask = u32::MAX >> (WORD - BITS);
    let low = load(&words[word]).map(|word| word >> shift);
    if shift + BITS > WORD {
        let high = load(&words[word + 1]).map(|word| (word << (WORD - shift)) & mask);
        or(low, high)
    } else {
        low.map(|number| number & mask)
    }
}

#[inline(always)]
fn load(bytes: &RowBytes) -> Row {
    let words = bytes.as_chunks().0;
    [0, 1, 2, 3].map(|lane| u32::from_le_bytes(words[lane]))
}

#[inline(always)]
fn store(row: Row) -> RowBytes {
    let mut bytes = [0; _];
    for (word, number) in bytes.as_chunks_mut().0.iter_mut().zip(row) {
        *word = number.to_le_bytes();
    }
    bytes
}

#[inline(always)]
fn or(a: Row, b: Row) -> Row {
    [a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crc32c::crc32c;

    /// Scattered numbers of at most so many bits.
    fn numbers(bits: u8) -> Numbers {
        let mut state = 7u64 + bits as u64;
        [(); BLOCK].map(|()| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 32) & ((1 << bits) - 1)) as u32
        })
    }

    /// Packs bit by bit, as the module comment says.
    fn packed(numbers: &Numbers, bits: u8) -> Vec<u8> {
        let bits = bits as usize;
        let mut bytes = vec![0; BLOCK * bits / 8];
        for (i, number) in numbers.iter().enumerate() {
            for bit in 0..bits {
                let (lane, at) = (i % LANES, i / LANES * bits + bit);
                let place = at / WORD * size_of::<RowBytes>() + lane * 4 + at % WORD / 8;
                bytes[place] |= ((number >> bit & 1) as u8) << (at % 8);
            }
        }
        bytes
    }

    #[test]
    fn every_width_has_the_bytes_of_the_description() {
        for bits in 0..=32 {
            let numbers = numbers(bits);
            let expected = packed(&numbers, bits);
            let (mut bytes, mut read) = (vec![0xa5; expected.len()], [7; BLOCK]);
            pack(&numbers, bits, &mut bytes);
            assert_eq!(bytes, expected, "{bits} bits");
            unpack(&bytes, bits, &mut read);
            assert_eq!(read, numbers, "{bits} bits");
            for (at, number) in numbers.iter().enumerate() {
                assert_eq!(get(&bytes, bits, at), *number, "number {at} of {bits} bits");
            }
        }
    }

    #[test]
    fn sums_wrap_around_like_those_of_one_after_another() {
        for bits in 0..=32 {
            for before in [0, 5, u32::MAX] {
                let (mut sums, mut last) = (numbers(bits), before);
                add_up(before, &mut sums);
                for (distance, sum) in numbers(bits).into_iter().zip(sums) {
                    last = last.wrapping_add(distance).wrapping_add(1);
                    assert_eq!(sum, last, "{bits} bits");
                }
            }
        }
    }

    #[test]
    fn a_range_has_the_numbers_between_its_ends() {
        for bits in [1, 7, 31, 32] {
            let numbers = numbers(bits);
            let mut ends = vec![0, 1, 1 << 30, u32::MAX >> 1, 1 << 31, u32::MAX];
            ends.extend(&numbers[..8]);
            for least in &ends {
                for most in ends.iter().filter(|most| *most >= least) {
                    let masks = in_range(&numbers, *least, most - least);
                    for (at, number) in numbers.iter().enumerate() {
                        let is_in = masks[at / 64] >> (at % 64) & 1 == 1;
                        assert_eq!(is_in, (least..=most).contains(&number), "{number}");
                    }
                }
            }
        }
    }

    /// Checksums of what the crate `bitpacking` 0.9.3, which wrote the indexes of format 8, packed.
    #[test]
    fn the_bytes_are_those_of_older_indexes() {
        let sums = (1..=32).map(|bits| {
            let mut bytes = vec![0; 16 * bits as usize];
            pack(&numbers(bits), bits, &mut bytes);
            crc32c(&bytes)
        });
        assert_eq!(sums.collect::<Vec<_>>(), GOLDEN);
    }

    const GOLDEN: [u32; 32] = [
        0xaca1_d445,
        0xca8b_65f8,
        0xf314_5ad4,
        0x5fd2_dfa5,
        0xf209_e36f,
        0xfcac_c237,
        0xfd38_631d,
        0xa829_3901,
        0xa876_a62e,
        0x9f8b_6663,
        0x9734_5b2b,
        0x122d_7816,
        0xe3e5_7961,
        0xffb6_91cd,
        0x6670_a58f,
        0x68ba_628c,
        0xac75_7961,
        0xe7f1_bf27,
        0xe60a_842e,
        0x0fc2_9dc5,
        0xebda_9313,
        0x3a6f_2ea3,
        0xe3e7_d583,
        0x0aef_f83d,
        0xff0a_794e,
        0x9478_055b,
        0xab10_04fb,
        0xb41f_2629,
        0xd586_0ab7,
        0x88f0_f282,
        0x9342_838a,
        0xa631_3c74,
    ];
}
