//! The keys of a piece in one of four codecs.
//!
//! - Constant: all keys are equal.
//! - Packed: a key is a base and a multiple of the divisor; the multiples have one width.
//! - Delta, for keys that never fall: as packed, but what is packed is the difference from the key
//!   before. Each block of 128 has its first multiple beside it, so that no other block is read.
//! - Raw: 8 bytes a key.

use std::ops::RangeInclusive;

use super::Damaged;
use super::packed::{self, Packed};
use super::reader::{Reader, word_at};
use crate::bits::low_bits;
use crate::lanes;

/// Keys that are read and compared at once.
pub(super) const BLOCK: usize = lanes::BLOCK;

/// Keys of a block: one bit each, the first in the lowest bit of the first word.
pub(super) type Mask = [u64; BLOCK / 64];

/// The coded forms, as the first byte of a piece has them.
pub(super) const CONSTANT: u8 = 0;
pub(super) const PACKED: u8 = 1;
pub(super) const DELTA: u8 = 2;
pub(super) const RAW: u8 = 3;

#[derive(Clone, Debug)]
pub(super) struct Keys<'a> {
    count: usize,
    codec: Codec<'a>,
}

#[derive(Clone, Debug)]
enum Codec<'a> {
    Constant(u64),
    Packed(Scale, Packed<'a>),
    Delta(Scale, Anchors<'a>, Packed<'a>),
    Raw(&'a [u8]),
}

/// A key is `base + multiple * divisor`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) base: u64,
    pub(super) divisor: u64,
}

/// The first multiples of blocks.
#[derive(Clone, Copy, Debug)]
struct Anchors<'a> {
    bytes: &'a [u8],
    /// Bytes of each.
    width: usize,
}

/// The keys that a range asks for, in the numbers that a codec compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Nothing,
    Everything,
    /// Multiples, or keys where there is no scale.
    Numbers(RangeInclusive<u64>),
}

impl<'a> Keys<'a> {
    pub(super) fn parse(
        codec: u8,
        count: usize,
        reader: &mut Reader<'a>,
    ) -> Result<Keys<'a>, Damaged> {
        let codec = match codec {
            CONSTANT => Codec::Constant(reader.u64()?),
            PACKED => {
                let scale = Scale::parse(reader)?;
                let width = packed::width(reader.byte()?)?;
                let bytes = reader.take(packed::length(count, usize::from(width)))?;
                let packed = Packed::new(bytes, width, count);
                scale.check(packed.greatest())?;
                Codec::Packed(scale, packed)
            }
            DELTA => Self::parse_delta(count, reader)?,
            RAW => Codec::Raw(reader.take(count * 8)?),
            _ => return Err(Damaged("its codec is unknown")),
        };
        Ok(Keys { count, codec })
    }

    fn parse_delta(count: usize, reader: &mut Reader<'a>) -> Result<Codec<'a>, Damaged> {
        let scale = Scale::parse(reader)?;
        let width = packed::width(reader.byte()?)?;
        let anchor_width = usize::from(reader.byte()?);
        if anchor_width > 8 {
            return Err(Damaged("the width of its anchors is unknown"));
        }
        let anchors = Anchors {
            bytes: reader.take(count.div_ceil(BLOCK) * anchor_width)?,
            width: anchor_width,
        };
        let bytes = reader.take(packed::length(count, usize::from(width)))?;
        let packed = Packed::new(bytes, width, count);
        // The greatest sum of a block without its anchor: 128 numbers of at most 56 bits.
        let rise = packed.greatest() * BLOCK as u64;
        for block in 0..count.div_ceil(BLOCK) {
            let greatest = anchors.get(block).checked_add(rise);
            scale.check(greatest.ok_or(OVERFLOW)?)?;
        }
        Ok(Codec::Delta(scale, anchors, packed))
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn blocks(&self) -> usize {
        self.count.div_ceil(BLOCK)
    }

    /// Returns true if a key is read without the others of its block.
    pub(super) fn has_single(&self) -> bool {
        !matches!(self.codec, Codec::Delta(..))
    }

    /// Returns one key.
    pub(super) fn get(&self, number: usize) -> u64 {
        match &self.codec {
            Codec::Constant(key) => *key,
            Codec::Packed(scale, packed) => scale.key(packed.get(number)),
            Codec::Delta(scale, anchors, packed) => {
                let block = number / BLOCK;
                let rises = &packed.numbers(block)[..=number % BLOCK];
                scale.key(anchors.get(block) + rises.iter().sum::<u64>())
            }
            Codec::Raw(bytes) => word_at(bytes, number * 8),
        }
    }

    /// Adds all keys.
    pub(super) fn decode(&self, keys: &mut Vec<u64>) {
        let from = keys.len();
        keys.resize(from + self.blocks() * BLOCK, 0);
        let (blocks, _) = keys[from..].as_chunks_mut();
        for (block, keys) in blocks.iter_mut().enumerate() {
            self.read(block, keys);
        }
        keys.truncate(from + self.count);
    }

    /// Returns the keys of a block. Behind the last key they mean nothing.
    pub(super) fn block(&self, block: usize) -> [u64; BLOCK] {
        let mut keys = [0; BLOCK];
        self.read(block, &mut keys);
        keys
    }

    fn read(&self, block: usize, keys: &mut [u64; BLOCK]) {
        match &self.codec {
            Codec::Packed(scale, packed) if packed.is_narrow() => {
                let numbers = packed.narrow(block);
                if scale.divisor == 1 {
                    *keys = numbers.map(|number| scale.base.wrapping_add(number.into()));
                } else {
                    *keys = numbers.map(|number| scale.key_or_any(number.into()));
                }
            }
            Codec::Packed(scale, _) | Codec::Delta(scale, ..) => {
                *keys = self.numbers(block);
                for key in keys {
                    *key = scale.key_or_any(*key);
                }
            }
            Codec::Constant(_) | Codec::Raw(_) => *keys = self.numbers(block),
        }
    }

    /// Returns a range in the numbers that are compared.
    pub(super) fn wanted(&self, range: &RangeInclusive<u64>) -> Wanted {
        if range.is_empty() || self.count == 0 {
            return Wanted::Nothing;
        }
        match &self.codec {
            Codec::Constant(key) if range.contains(key) => Wanted::Everything,
            Codec::Constant(_) => Wanted::Nothing,
            Codec::Packed(scale, packed) => scale.wanted(range, packed.greatest()),
            Codec::Delta(scale, ..) => scale.wanted(range, u64::MAX),
            Codec::Raw(_) => Wanted::Numbers(range.clone()),
        }
    }

    /// Returns which keys of a block are wanted.
    pub(super) fn mask(&self, block: usize, wanted: &Wanted) -> Mask {
        let here = self.count.saturating_sub(block * BLOCK);
        let here = [low_bits(here), low_bits(here.saturating_sub(64))];
        let range = match wanted {
            Wanted::Nothing => return [0; 2],
            Wanted::Everything => return here,
            Wanted::Numbers(range) => range,
        };
        if let Codec::Delta(_, anchors, _) = &self.codec {
            let first = anchors.get(block);
            let next = (block + 1 < self.blocks()).then(|| anchors.get(block + 1));
            if first > *range.end() || next.is_some_and(|next| next < *range.start()) {
                return [0; 2];
            }
            let is_inside = next.is_some_and(|next| next <= *range.end());
            if first >= *range.start() && is_inside {
                return here;
            }
        }
        let masks = match &self.codec {
            Codec::Packed(_, packed) if packed.is_narrow() => {
                compare_narrow(&packed.narrow(block), range)
            }
            _ => compare(&self.numbers(block), range),
        };
        [masks[0] & here[0], masks[1] & here[1]]
    }

    /// Returns the numbers of a block that are compared.
    fn numbers(&self, block: usize) -> [u64; BLOCK] {
        match &self.codec {
            Codec::Constant(key) => [*key; BLOCK],
            Codec::Packed(_, packed) => packed.numbers(block),
            Codec::Delta(_, anchors, packed) => {
                let mut numbers = packed.numbers(block);
                let mut sum = anchors.get(block);
                for number in &mut numbers {
                    sum += *number;
                    *number = sum;
                }
                numbers
            }
            Codec::Raw(bytes) => {
                let mut numbers = [0; BLOCK];
                let from = bytes.get(block * BLOCK * 8..).unwrap_or_default();
                let (words, _) = from.as_chunks::<8>();
                for (number, word) in numbers.iter_mut().zip(words) {
                    *number = u64::from_le_bytes(*word);
                }
                numbers
            }
        }
    }

    /// Checks that the blocks of rising keys rise too.
    pub(super) fn check(&self) -> Result<(), Damaged> {
        let Codec::Delta(_, anchors, _) = &self.codec else {
            return Ok(());
        };
        for block in 1..self.blocks() {
            let last = self.numbers(block - 1)[BLOCK - 1];
            if anchors.get(block) < last {
                return Err(Damaged("its rising values fall"));
            }
        }
        Ok(())
    }
}

const OVERFLOW: Damaged = Damaged("its values exceed 64 bits");

impl Scale {
    fn parse(reader: &mut Reader<'_>) -> Result<Scale, Damaged> {
        let (base, divisor) = (reader.u64()?, reader.u64()?);
        if divisor == 0 {
            return Err(Damaged("its divisor is 0"));
        }
        Ok(Scale { base, divisor })
    }

    /// Checks that all multiples up to the greatest have keys.
    fn check(self, greatest: u64) -> Result<(), Damaged> {
        self.checked_key(greatest).map(|_| ()).ok_or(OVERFLOW)
    }

    pub(super) fn checked_key(self, multiple: u64) -> Option<u64> {
        multiple.checked_mul(self.divisor)?.checked_add(self.base)
    }

    fn key(self, multiple: u64) -> u64 {
        self.base + multiple * self.divisor
    }

    /// Returns the key, or anything for the numbers behind the last one.
    fn key_or_any(self, multiple: u64) -> u64 {
        self.base.wrapping_add(multiple.wrapping_mul(self.divisor))
    }

    fn wanted(self, range: &RangeInclusive<u64>, greatest: u64) -> Wanted {
        if *range.end() < self.base {
            return Wanted::Nothing;
        }
        let least = range
            .start()
            .saturating_sub(self.base)
            .div_ceil(self.divisor);
        let most = (*range.end() - self.base) / self.divisor;
        if least > most || least > greatest {
            return Wanted::Nothing;
        }
        if least == 0 && most >= greatest {
            return Wanted::Everything;
        }
        Wanted::Numbers(least..=most)
    }
}

impl Anchors<'_> {
    fn get(&self, block: usize) -> u64 {
        word_at(self.bytes, block * self.width) & low_bits(self.width * 8)
    }
}

/// Returns which numbers are in a range that begins with one of at most 32 bits.
fn compare_narrow(numbers: &lanes::Numbers, range: &RangeInclusive<u64>) -> Mask {
    let most = (*range.end()).min(u32::MAX.into());
    let least = (*range.start()).min(most);
    lanes::in_range(numbers, least as u32, (most - least) as u32)
}

/// Returns which numbers are in a range.
fn compare(numbers: &[u64; BLOCK], range: &RangeInclusive<u64>) -> Mask {
    let (least, width) = (*range.start(), range.end() - range.start());
    let is_in = numbers.map(|number| u8::from(number.wrapping_sub(least) <= width));
    let mut masks = [0; 2];
    for (at, group) in is_in.as_chunks::<8>().0.iter().enumerate() {
        // The product has bit `i` of the highest byte from byte `i` alone.
        let gathered = u64::from_le_bytes(*group).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        masks[at / 8] |= gathered << (8 * (at % 8));
    }
    masks
}
