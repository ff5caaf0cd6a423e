//! Blocks: 128 numbers packed with as many bits as the largest needs.
//!
//! The packing is the `bitpacking` crate's four-lane layout, which SSE3 and NEON decode directly. It adds
//! with wrap-around, so that damaged bytes give wrong numbers and never a panic; whoever reads a block
//! compares its last doc with the directory's.

use bitpacking::{BitPacker, BitPacker4x};

use crate::base::{DocId, END, Error, Result};

/// Numbers in a full block.
pub const BLOCK: usize = BitPacker4x::BLOCK_LEN;

/// What stands for the doc before the first doc of a list: adding one to it gives doc 0.
pub const NO_DOC: DocId = END;

/// The numbers of one block.
pub type Numbers = [u32; BLOCK];

/// Bytes of a full block of this width.
pub fn packed_length(bits: u8) -> usize {
    bits as usize * BLOCK / 8
}

/// The width that a block of strictly ascending docs needs after the doc `before`.
pub fn doc_bits(before: DocId, docs: &Numbers) -> u8 {
    BitPacker4x::new().num_bits_strictly_sorted(Some(before), docs)
}

/// Appends docs packed by their distances.
pub fn pack_docs(before: DocId, docs: &Numbers, bits: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + packed_length(bits), 0);
    let packer = BitPacker4x::new();
    packer.compress_strictly_sorted(Some(before), docs, &mut out[start..], bits);
}

/// Unpacks what [`pack_docs`] wrote.
#[inline]
pub fn unpack_docs(before: DocId, bytes: &[u8], bits: u8, docs: &mut Numbers) -> Result<()> {
    let bytes = packed(bytes, bits)?;
    match bits {
        // The packer would load a vector before it looks at the width.
        0 => docs
            .iter_mut()
            .zip(1u32..)
            .for_each(|(doc, i)| *doc = before.wrapping_add(i)),
        _ => {
            BitPacker4x::new().decompress_strictly_sorted(Some(before), bytes, docs, bits);
        }
    }
    Ok(())
}

/// The width that these numbers need.
pub fn value_bits(values: &Numbers) -> u8 {
    BitPacker4x::new().num_bits(values)
}

/// Appends numbers as they are.
pub fn pack_values(values: &Numbers, bits: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + packed_length(bits), 0);
    BitPacker4x::new().compress(values, &mut out[start..], bits);
}

/// Unpacks what [`pack_values`] wrote.
#[inline]
pub fn unpack_values(bytes: &[u8], bits: u8, values: &mut Numbers) -> Result<()> {
    let bytes = packed(bytes, bits)?;
    match bits {
        0 => values.fill(0),
        _ => {
            BitPacker4x::new().decompress(bytes, values, bits);
        }
    }
    Ok(())
}

fn packed(bytes: &[u8], bits: u8) -> Result<&[u8]> {
    let length = packed_length(bits);
    match bytes.get(..length) {
        Some(bytes) if bits <= 32 => Ok(bytes),
        _ => Err(Error::damaged(
            "a block of postings",
            format!(
                "expected {length} bytes of width {bits}, got {}",
                bytes.len()
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_round_trips() {
        for bits in 0..=32u8 {
            let mask = ((1u64 << bits) - 1) as u32;
            let mut values = [0; BLOCK];
            for (i, value) in values.iter_mut().enumerate() {
                *value = (i as u32).wrapping_mul(0x9e37_79b9) & mask;
            }
            values[5] = mask;
            let (mut bytes, mut read) = (Vec::new(), [7; BLOCK]);
            pack_values(&values, value_bits(&values), &mut bytes);
            unpack_values(&bytes, bits, &mut read).unwrap();
            assert_eq!(read, values, "{bits} bits");
            assert_eq!(bytes.len(), packed_length(bits));
        }
    }

    #[test]
    fn docs_round_trip_from_the_first_doc_and_over_huge_gaps() {
        for gap in [1u32, 2, 1000, (END - 1) / BLOCK as u32] {
            let mut docs = [0; BLOCK];
            let mut at = 0;
            for doc in &mut docs {
                *doc = at;
                at += gap;
            }
            docs[BLOCK - 1] = docs[BLOCK - 1].max(END - 1 - (gap == 1) as u32);
            let bits = doc_bits(NO_DOC, &docs);
            let (mut bytes, mut read) = (Vec::new(), [0; BLOCK]);
            pack_docs(NO_DOC, &docs, bits, &mut bytes);
            unpack_docs(NO_DOC, &bytes, bits, &mut read).unwrap();
            assert_eq!(read, docs);
        }
    }

    #[test]
    fn short_or_overwide_blocks_are_errors() {
        let mut out = [0; BLOCK];
        assert!(unpack_values(&[0; 600], 33, &mut out).is_err());
        assert!(unpack_docs(NO_DOC, &[0; 15], 1, &mut out).is_err());
    }
}
