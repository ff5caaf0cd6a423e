//! Blocks: 128 numbers packed with the bits that all but a few of them need.
//!
//! The packing is that of [`lanes`](gannet_values::lanes), which vector instructions decode
//! directly. Behind the packed low bits come the *exceptions*: the place of a number that is
//! larger, and its high bits. So one long gap in a run of neighbours does not widen the 127 other
//! distances. (The idea of patched frame of reference: Zukowski et al., 2006; few exceptions of two
//! bytes: Lucene's `PForUtil`.)
//!
//! Decoding adds with wrap-around and takes places modulo the block, so that damaged bytes give
//! wrong numbers and never a panic; whoever reads a block compares its last doc with the
//! directory's.

use crate::base::{DocId, END, Error, Result};
use gannet_values::lanes;
pub use gannet_values::lanes::{BLOCK, Numbers};

const WHAT: &str = "a block of postings";

/// The doc before the first doc of a list: adding one to it gives doc 0.
pub const NO_DOC: DocId = END;

/// The most exceptions of a block.
const EXCEPTIONS_MAX: u8 = 6;

/// The bits that an exception may have beyond the others.
const HIGH_BITS: u8 = 8;

/// Widths that a block can have, 0 to 32 bits.
const WIDTHS: u8 = 33;

const _: () = assert!(
    (EXCEPTIONS_MAX as u32 + 1) * WIDTHS as u32 <= 1 << 8,
    "a shape must fit one byte"
);

/// The widths in which a block is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    bits: u8,
    exceptions: u8,
}

impl Shape {
    /// The shortest for these numbers.
    pub fn of(values: &Numbers) -> Shape {
        let mut counts = [0u8; WIDTHS as usize];
        let mut widest = 0;
        for value in values {
            let bits = (32 - value.leading_zeros()) as u8;
            counts[bits as usize] += 1;
            widest = widest.max(bits);
        }
        let mut shape = Shape {
            bits: widest,
            exceptions: 0,
        };
        let mut best = shape;
        while shape.bits > 0 && widest - shape.bits < HIGH_BITS {
            shape.exceptions = shape.exceptions.saturating_add(counts[shape.bits as usize]);
            shape.bits -= 1;
            if shape.exceptions > EXCEPTIONS_MAX {
                break;
            }
            if shape.length() < best.length() {
                best = shape;
            }
        }
        best
    }

    /// The shape as one byte.
    pub fn code(self) -> u8 {
        self.exceptions * WIDTHS + self.bits
    }

    /// Reads what [`Shape::code`] wrote.
    #[inline]
    pub fn decode(code: u8) -> Result<Shape> {
        let shape = Shape {
            bits: code % WIDTHS,
            exceptions: code / WIDTHS,
        };
        if shape.exceptions <= EXCEPTIONS_MAX {
            Ok(shape)
        } else {
            Err(Error::damaged(
                WHAT,
                format!("expected the shape of a block, got {code}"),
            ))
        }
    }

    /// Bytes of a block of this shape.
    #[inline]
    pub fn length(self) -> usize {
        self.packed_length() + 2 * self.exceptions as usize
    }

    /// Returns true if the distances of a block may add up to so much that a doc is below the one
    /// before.
    #[inline]
    pub fn may_wrap(self) -> bool {
        let high = if self.exceptions > 0 { HIGH_BITS } else { 0 };
        // A distance is less than 2^bits, and one more; 128 of them are at most 2^32 then.
        self.bits + high > u32::BITS as u8 - BLOCK.ilog2() as u8
    }

    fn packed_length(self) -> usize {
        self.bits as usize * BLOCK / 8
    }

    /// The part of a number that stands among the exceptions.
    fn high(self, value: u32) -> u8 {
        (value as u64 >> self.bits) as u8
    }
}

/// The distances of strictly ascending docs after the doc `before`, each less one.
pub fn distances(before: DocId, docs: &Numbers) -> Numbers {
    let mut previous = before;
    docs.map(|doc| {
        let distance = doc.wrapping_sub(previous).wrapping_sub(1);
        previous = doc;
        distance
    })
}

/// Appends numbers in the shape that was found for them.
pub fn pack(values: &Numbers, shape: Shape, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + shape.packed_length(), 0);
    let mask = ((1u64 << shape.bits) - 1) as u32;
    let low = values.map(|value| value & mask);
    lanes::pack(&low, shape.bits, &mut out[start..]);
    for (place, value) in (0u8..).zip(values) {
        let high = shape.high(*value);
        if high > 0 {
            out.extend([place, high]);
        }
    }
}

/// Unpacks [`distances`] and adds them up.
#[inline]
pub fn unpack_docs(before: DocId, bytes: &[u8], shape: Shape, docs: &mut Numbers) -> Result<()> {
    unpack_values(bytes, shape, docs)?;
    lanes::add_up(before, docs);
    Ok(())
}

/// Unpacks what [`pack`] wrote.
#[inline]
pub fn unpack_values(bytes: &[u8], shape: Shape, values: &mut Numbers) -> Result<()> {
    let (bytes, exceptions) = packed(bytes, shape)?;
    lanes::unpack(bytes, shape.bits, values);
    add_highs(exceptions, shape, values);
    Ok(())
}

/// Adds what the exceptions have beyond the packed bits.
#[inline]
fn add_highs(exceptions: &[u8], shape: Shape, values: &mut Numbers) {
    for pair in exceptions.chunks_exact(2) {
        let (place, high) = (pair[0] as usize % BLOCK, (pair[1] as u64) << shape.bits);
        values[place] = values[place].wrapping_add(high as u32);
    }
}

fn packed(bytes: &[u8], shape: Shape) -> Result<(&[u8], &[u8])> {
    match bytes.get(..shape.length()) {
        Some(block) => Ok(block.split_at(shape.packed_length())),
        None => Err(Error::damaged(
            WHAT,
            format!("expected a block of {shape:?}, got {} bytes", bytes.len()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verify(values: &Numbers) -> Shape {
        let shape = Shape::of(values);
        let (mut bytes, mut read) = (Vec::new(), [7; BLOCK]);
        pack(values, shape, &mut bytes);
        assert_eq!(bytes.len(), shape.length());
        assert_eq!(Shape::decode(shape.code()).unwrap(), shape);
        unpack_values(&bytes, shape, &mut read).unwrap();
        assert_eq!(&read, values, "{shape:?}");
        shape
    }

    #[test]
    fn every_width_round_trips() {
        for bits in 0..=32u8 {
            let mask = ((1u64 << bits) - 1) as u32;
            let mut values = [0; BLOCK];
            for (i, value) in values.iter_mut().enumerate() {
                *value = (i as u32).wrapping_mul(0x9e37_79b9) & mask;
            }
            values[5] = mask;
            verify(&values);
            let all = verify(&[mask; BLOCK]);
            assert_eq!((all.bits, all.exceptions), (bits, 0));
        }
    }

    #[test]
    fn a_few_large_numbers_do_not_widen_a_block() {
        for count in 0..20 {
            for (small, large) in [(0, 1), (0, 255), (3, 900), (3, 5000), (1, u32::MAX)] {
                let mut values = [small; BLOCK];
                for place in 0..count {
                    values[BLOCK - 1 - 5 * place] = large;
                }
                let shape = verify(&values);
                let reach = large >> (32 - small.leading_zeros()) <= 255;
                if reach && large > 1 && (1..=EXCEPTIONS_MAX as usize).contains(&count) {
                    assert_eq!(shape.exceptions as usize, count);
                }
            }
        }
    }

    #[test]
    fn docs_round_trip_from_the_first_doc_and_over_huge_gaps() {
        for gap in [1u32, 2, 1000, (END - 1) / BLOCK as u32] {
            for jump in [0, 300, 70_000] {
                let mut docs = [0; BLOCK];
                let mut at = 0u32;
                for (i, doc) in docs.iter_mut().enumerate() {
                    *doc = at;
                    let step = if i % 40 == 9 { gap + jump } else { gap };
                    at = at
                        .saturating_add(step)
                        .min(END - 2 - BLOCK as u32 + i as u32);
                }
                docs[BLOCK - 1] = docs[BLOCK - 1].max(END - 1 - (gap == 1) as u32);
                let distances = distances(NO_DOC, &docs);
                let shape = Shape::of(&distances);
                let (mut bytes, mut read) = (Vec::new(), [0; BLOCK]);
                pack(&distances, shape, &mut bytes);
                unpack_docs(NO_DOC, &bytes, shape, &mut read).unwrap();
                assert_eq!(read, docs);
            }
        }
    }

    #[test]
    fn short_blocks_and_unknown_shapes_are_errors() {
        let mut out = [0; BLOCK];
        assert!(Shape::decode(255).is_err());
        let shape = Shape {
            bits: 1,
            exceptions: 1,
        };
        assert!(unpack_docs(NO_DOC, &[0; 17], shape, &mut out).is_err());
        assert!(unpack_values(&[255; 18], shape, &mut out).is_ok());
    }
}
