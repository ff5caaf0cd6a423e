//! Numbers of the same width, one behind the other in bits.

use super::{BLOCK, Damaged};
use crate::bits::low_bits;

/// The widest numbers that are packed. One of them, wherever it begins in a byte, is in 8 bytes.
pub(super) const WIDTH_MAX: usize = 56;

/// Numbers that begin and end with a byte, whatever their width.
const GROUP: usize = 8;

/// Bytes that hold a group of the widest numbers, and the word that is read at the last of them.
const GROUP_BYTES: usize = (GROUP - 1) * WIDTH_MAX / 8 + 8;

/// Bytes that hold all groups of a block in this way.
const BUFFER: usize = (BLOCK / GROUP - 1) * WIDTH_MAX + GROUP_BYTES;

#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl<'a> Packed<'a> {
    /// Takes the bytes of numbers whose width was read from flash.
    pub(super) fn new(bytes: &'a [u8], width: u8) -> Packed<'a> {
        Packed {
            bytes,
            width: usize::from(width),
        }
    }

    /// Returns the greatest number of this width.
    pub(super) fn greatest(&self) -> u64 {
        low_bits(self.width)
    }

    /// Returns one number.
    pub(super) fn get(&self, number: usize) -> u64 {
        let bit = number * self.width;
        super::reader::word_at(self.bytes, bit / 8) >> (bit % 8) & low_bits(self.width)
    }

    /// Returns the numbers of a block. Behind the last one they mean nothing, but have the width.
    pub(super) fn block(&self, block: usize) -> [u64; BLOCK] {
        let from = self.bytes.get(block * GROUP * self.width..);
        let from = from.unwrap_or_default();
        if from.len() >= BUFFER {
            return self.unpack(from);
        }
        let mut buffer = [0; BUFFER];
        buffer[..from.len()].copy_from_slice(from);
        self.unpack(&buffer)
    }

    fn unpack(&self, bytes: &[u8]) -> [u64; BLOCK] {
        // With a constant width the compiler knows every shift, which is three times as fast.
        macro_rules! by_width {
            ($($width:literal)*) => {
                match self.width {
                    $($width => unpack::<$width>(bytes),)*
                    _ => [0; BLOCK],
                }
            };
        }
        by_width!(
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56
        )
    }
}

/// Returns 64 numbers of a width. `bytes` are at least as many as the buffer has.
fn unpack<const WIDTH: usize>(bytes: &[u8]) -> [u64; BLOCK] {
    let mut numbers = [0; BLOCK];
    let (groups, _) = numbers.as_chunks_mut::<GROUP>();
    for (at, group) in groups.iter_mut().enumerate() {
        let Some(bytes) = bytes.get(at * WIDTH..).and_then(<[u8]>::first_chunk) else {
            continue;
        };
        unpack_group::<WIDTH>(bytes, group);
    }
    numbers
}

fn unpack_group<const WIDTH: usize>(bytes: &[u8; GROUP_BYTES], group: &mut [u64; GROUP]) {
    for (at, number) in group.iter_mut().enumerate() {
        let bit = at * WIDTH;
        *number = super::reader::word_at(bytes, bit / 8) >> (bit % 8) & low_bits(WIDTH);
    }
}

/// Checks a width that was read.
pub(super) fn width(byte: u8) -> Result<u8, Damaged> {
    if byte == 0 || usize::from(byte) > WIDTH_MAX {
        return Err(Damaged("the width of its values is unknown"));
    }
    Ok(byte)
}

/// Returns the bits that a number needs.
pub(super) fn bits_of(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

/// Returns the bytes of so many numbers of a width.
pub(super) fn length(numbers: usize, width: usize) -> usize {
    (numbers * width).div_ceil(8)
}

/// Adds numbers, each of at most `width` bits.
pub(super) fn write(numbers: impl Iterator<Item = u64>, width: usize, bytes: &mut Vec<u8>) {
    let (mut open, mut bits) = (0_u64, 0);
    for number in numbers {
        // At most 7 bits are open, so that 63 are not exceeded.
        open |= number << bits;
        bits += width;
        while bits >= 8 {
            bytes.push(open as u8);
            open >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        bytes.push(open as u8);
    }
}
