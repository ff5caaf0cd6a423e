//! The keys of a piece in one of four codecs.
//!
//! - Constant: all keys are equal.
//! - Packed: a key is a base and a multiple of the divisor; the multiples have one width.
//! - Delta, for keys that never fall: as packed, but what is packed is the difference from the key
//!   before. Each block of 64 has its first multiple beside it, so that no other block is read.
//! - Raw: 8 bytes a key.

use std::ops::RangeInclusive;

use super::packed::{self, Packed};
use super::reader::{Reader, word_at};
use super::{BLOCK, Damaged};
use crate::bits::low_bits;

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
                let packed = Packed::new(bytes, width);
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
        let packed = Packed::new(bytes, width);
        // The greatest sum of a block without its anchor: 64 numbers of at most 56 bits.
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

    /// Returns one key.
    pub(super) fn get(&self, number: usize) -> u64 {
        match &self.codec {
            Codec::Constant(key) => *key,
            Codec::Packed(scale, packed) => scale.key(packed.get(number)),
            Codec::Delta(scale, anchors, packed) => {
                let first = number / BLOCK * BLOCK;
                let rises = (first..=number).map(|number| packed.get(number));
                scale.key(anchors.get(number / BLOCK) + rises.sum::<u64>())
            }
            Codec::Raw(bytes) => word_at(bytes, number * 8),
        }
    }

    /// Adds all keys.
    pub(super) fn decode(&self, keys: &mut Vec<u64>) {
        keys.reserve(self.count);
        for block in 0..self.blocks() {
            let here = BLOCK.min(self.count - block * BLOCK);
            keys.extend_from_slice(&self.block(block)[..here]);
        }
    }

    /// Returns the keys of a block. Behind the last key they mean nothing.
    pub(super) fn block(&self, block: usize) -> [u64; BLOCK] {
        let numbers = self.numbers(block);
        match &self.codec {
            Codec::Packed(scale, _) | Codec::Delta(scale, ..) => {
                numbers.map(|number| scale.key_or_any(number))
            }
            Codec::Constant(_) | Codec::Raw(_) => numbers,
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

    /// Returns which keys of a block are wanted, the first in the lowest bit.
    pub(super) fn mask(&self, block: usize, wanted: &Wanted) -> u64 {
        let here = low_bits(self.count.saturating_sub(block * BLOCK));
        let range = match wanted {
            Wanted::Nothing => return 0,
            Wanted::Everything => return here,
            Wanted::Numbers(range) => range,
        };
        if let Codec::Delta(_, anchors, _) = &self.codec {
            let first = anchors.get(block);
            let next = (block + 1 < self.blocks()).then(|| anchors.get(block + 1));
            if first > *range.end() || next.is_some_and(|next| next < *range.start()) {
                return 0;
            }
            let is_inside = next.is_some_and(|next| next <= *range.end());
            if first >= *range.start() && is_inside {
                return here;
            }
        }
        compare(&self.numbers(block), range) & here
    }

    /// Returns the numbers of a block that are compared.
    fn numbers(&self, block: usize) -> [u64; BLOCK] {
        match &self.codec {
            Codec::Constant(key) => [*key; BLOCK],
            Codec::Packed(_, packed) => packed.block(block),
            Codec::Delta(_, anchors, packed) => {
                let mut numbers = packed.block(block);
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

/// Returns one bit a number, set if it is in the range.
fn compare(numbers: &[u64; BLOCK], range: &RangeInclusive<u64>) -> u64 {
    let (least, width) = (*range.start(), range.end() - range.start());
    let is_in = numbers.map(|number| u8::from(number.wrapping_sub(least) <= width));
    let (groups, _) = is_in.as_chunks::<8>();
    let mut mask = 0;
    for (at, group) in groups.iter().enumerate() {
        // The product has bit `i` of the highest byte from byte `i` alone.
        let gathered = u64::from_le_bytes(*group).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= gathered << (8 * at);
    }
    mask
}
