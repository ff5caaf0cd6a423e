//! Numbers of the same width: full blocks of 128 in [`lanes`], where they have at most 32 bits, and
//! the others one behind the other in bits. A block takes as many bytes in either form.

use super::Damaged;
use crate::bits::low_bits;
use crate::lanes;

/// The widest numbers that are packed. One of them, wherever it begins in a byte, is in 8 bytes.
pub(super) const WIDTH_MAX: usize = 56;

/// The widest numbers that full blocks have in lanes.
const LANE_BITS: usize = 32;

/// Numbers that are unpacked together where they are not in lanes.
const BLOCK: usize = 64;

/// Numbers that begin and end with a byte, whatever their width.
const GROUP: usize = 8;

/// Bytes that hold a group of the widest numbers, and the word that is read at the last of them.
const GROUP_BYTES: usize = (GROUP - 1) * WIDTH_MAX / 8 + 8;

/// Bytes that hold all groups of a block in this way.
const BUFFER: usize = (BLOCK / GROUP - 1) * WIDTH_MAX + GROUP_BYTES;

/// Numbers that are read: those of full blocks of narrow ones in lanes, the others one behind the
/// other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<'a> {
    bytes: &'a [u8],
    width: usize,
    /// The number of blocks in lanes.
    in_lanes: usize,
}

impl<'a> Packed<'a> {
    /// Takes the bytes of so many numbers, whose width was read from flash.
    pub(super) fn new(bytes: &'a [u8], width: u8, count: usize) -> Packed<'a> {
        Packed {
            bytes,
            width: usize::from(width),
            in_lanes: in_lanes(count, usize::from(width)),
        }
    }

    /// Returns the greatest number of this width.
    pub(super) fn greatest(&self) -> u64 {
        low_bits(self.width)
    }

    /// Returns true if numbers have at most 32 bits.
    pub(super) fn is_narrow(&self) -> bool {
        self.width <= LANE_BITS
    }

    /// Returns one number.
    pub(super) fn get(&self, number: usize) -> u64 {
        if number / lanes::BLOCK < self.in_lanes {
            let bytes = self.lanes_of(number / lanes::BLOCK);
            return lanes::get(bytes, self.width as u8, number % lanes::BLOCK).into();
        }
        let bit = number * self.width;
        super::reader::word_at(self.bytes, bit / 8) >> (bit % 8) & low_bits(self.width)
    }

    /// Returns the numbers of a block, if they are narrow. Behind the last one they mean nothing.
    pub(super) fn narrow(&self, block: usize) -> lanes::Numbers {
        let mut numbers = [0; lanes::BLOCK];
        if block < self.in_lanes {
            lanes::unpack(self.lanes_of(block), self.width as u8, &mut numbers);
        } else {
            for (number, wide) in numbers.iter_mut().zip(self.wide(block)) {
                *number = wide as u32;
            }
        }
        numbers
    }

    /// Returns the numbers of a block. Behind the last one they mean nothing.
    pub(super) fn numbers(&self, block: usize) -> [u64; lanes::BLOCK] {
        if block < self.in_lanes {
            self.narrow(block).map(u64::from)
        } else {
            self.wide(block)
        }
    }

    /// Returns the numbers of a block that is not in lanes.
    fn wide(&self, block: usize) -> [u64; lanes::BLOCK] {
        let mut numbers = [0; lanes::BLOCK];
        let (halves, _) = numbers.as_chunks_mut::<BLOCK>();
        for (half, numbers) in halves.iter_mut().enumerate() {
            *numbers = self.block(2 * block + half);
        }
        numbers
    }

    /// The bytes of a block in lanes.
    fn lanes_of(&self, block: usize) -> &'a [u8] {
        let length = lanes::BLOCK / 8 * self.width;
        &self.bytes[block * length..][..length]
    }

    /// Returns 64 numbers that are not in lanes.
    fn block(&self, block: usize) -> [u64; BLOCK] {
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

/// Returns the number of blocks in lanes.
fn in_lanes(count: usize, width: usize) -> usize {
    if width <= LANE_BITS {
        count / lanes::BLOCK
    } else {
        0
    }
}

/// Adds numbers, each of at most `width` bits.
pub(super) fn write(numbers: &[u64], width: usize, bytes: &mut Vec<u8>) {
    let (in_lanes, others) = numbers.split_at(in_lanes(numbers.len(), width) * lanes::BLOCK);
    for block in in_lanes.as_chunks::<{ lanes::BLOCK }>().0 {
        let from = bytes.len();
        bytes.resize(from + lanes::BLOCK / 8 * width, 0);
        let narrow = block.map(|number| number as u32);
        lanes::pack(&narrow, width as u8, &mut bytes[from..]);
    }
    write_in_row(others.iter().copied(), width, bytes);
}

/// Adds numbers, each of at most `width` bits, one behind the other.
pub(super) fn write_in_row(numbers: impl Iterator<Item = u64>, width: usize, bytes: &mut Vec<u8>) {
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
