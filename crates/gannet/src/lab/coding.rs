//! The coding of lists: blocks of numbers, lengths of documents.

use crate::base::{ByteReader, Result};
use crate::documents::{length_to_norm, norm_to_length};
use crate::postings::codec::block::{
    BLOCK, NO_DOC, Numbers, Shape, distances, pack, unpack_docs, unpack_values,
};

/// Blocks of 128 numbers: a byte that tells the shape, then the numbers, packed.
#[derive(Debug)]
pub enum BlockCodec {}

impl BlockCodec {
    /// Numbers of a block.
    pub const LENGTH: usize = BLOCK;

    /// Stands for the document before the first one of a list.
    pub const NO_DOC: u32 = NO_DOC;

    /// Appends ascending documents, by their distances; `before` is the one before the first.
    pub fn put_docs(before: u32, docs: &[u32; BLOCK], out: &mut Vec<u8>) {
        Self::put_values(&distances(before, docs), out);
    }

    /// Appends numbers.
    pub fn put_values(values: &[u32; BLOCK], out: &mut Vec<u8>) {
        let shape = Shape::of(values);
        out.push(shape.code());
        pack(values, shape, out);
    }

    /// Decodes a block of documents at the start of `bytes`; gives the bytes that it takes.
    ///
    /// # Errors
    /// `bytes` begins with no block.
    pub fn read_docs(before: u32, bytes: &[u8], docs: &mut [u32; BLOCK]) -> Result<usize> {
        Self::read(bytes, docs, |bytes, shape, docs| {
            unpack_docs(before, bytes, shape, docs)
        })
    }

    /// Decodes a block of numbers at the start of `bytes`; gives the bytes that it takes.
    ///
    /// # Errors
    /// `bytes` begins with no block.
    pub fn read_values(bytes: &[u8], values: &mut [u32; BLOCK]) -> Result<usize> {
        Self::read(bytes, values, unpack_values)
    }

    fn read(
        bytes: &[u8],
        numbers: &mut Numbers,
        unpack: impl Fn(&[u8], Shape, &mut Numbers) -> Result<()>,
    ) -> Result<usize> {
        let mut reader = ByteReader::new(bytes, "a block of a list");
        let shape = Shape::decode(reader.u8()?)?;
        unpack(reader.take(shape.length())?, shape, numbers)?;
        Ok(reader.position())
    }
}

/// The length of a document as scores take it, in a byte.
#[derive(Debug)]
pub enum Norm {}

impl Norm {
    /// Tells the norm of a length.
    pub fn of(length: u32) -> u8 {
        length_to_norm(length)
    }

    /// Tells the length that a norm stands for.
    pub fn length(norm: u8) -> u32 {
        norm_to_length(norm)
    }
}
