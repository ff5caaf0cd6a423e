//! How baselines code lists. Two codings, each of documents and frequencies in one run of bytes,
//! and of positions behind it.
//!
//! *Plain* is the paper's: eight bytes a posting, no positions. *Packed* holds what Gannet's lists
//! hold: blocks of 128 postings, the engine's own packing of distances and of frequencies, and
//! behind the blocks a tail of fewer in varints; positions as varints of distances in a document.
//! It has neither heads nor maxima to skip by, nor checksums: fewer bytes than Gannet's.
//!
//! ```text
//! plain    document (4), frequency (4)
//! block    shape of the distances (1), distances, shape of the frequencies (1), frequencies less
//!          one
//! tail     varint(2 * (distance - 1) + (1 if the frequency is 1)), and the frequency unless it
//!          is 1
//! ```
//!
//! Invariant: all blocks are full but the tail, and distances count from the start of the list; so
//! a list is joined to another by coding its postings anew behind the other's blocks, which stay as
//! they are.

use gannet::lab::BlockCodec;
use gannet::offload::Fragment;
use gannet::{Error, Result};

use crate::bytes::{ByteReader, put_varint};

/// Postings of a block.
const BLOCK: usize = BlockCodec::LENGTH;

const NO_DOC: u32 = BlockCodec::NO_DOC;

const WHAT: &str = "a list of the lab";

/// Bytes of a posting in the plain coding.
pub const PLAIN_BYTES: usize = 8;

/// A coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// The paper's.
    Plain,
    /// Blocks of packed numbers, and positions.
    Packed,
}

/// Postings in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Postings {
    /// Documents, ascending.
    pub docs: Vec<u32>,
    /// How often each has the term.
    pub frequencies: Vec<u32>,
    /// The positions of each: varints of distances, the first from 0.
    pub positions: Vec<u8>,
}

/// What the vocabulary keeps of a coded list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Postings.
    pub count: u32,
    /// The last document.
    pub last: u32,
    /// Bytes of documents and frequencies, and of these those of the tail.
    pub docs: u32,
    /// Bytes of the tail, which are among those.
    pub tail: u32,
    /// Bytes of positions.
    pub positions: u32,
}

/// A coded list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coded {
    /// What the vocabulary keeps of it.
    pub summary: Summary,
    /// Documents and frequencies.
    pub docs: Vec<u8>,
    /// Positions.
    pub positions: Vec<u8>,
}

impl Summary {
    /// Bytes in all.
    pub fn bytes(&self) -> usize {
        self.docs as usize + self.positions as usize
    }
}

impl Postings {
    /// What a fragment of the engine has.
    pub fn of(fragment: &Fragment) -> Result<Postings> {
        let count = fragment.count as usize;
        let mut postings = Postings {
            docs: Vec::with_capacity(count),
            frequencies: Vec::with_capacity(count),
            positions: fragment.positions.clone(),
        };
        let mut reader = ByteReader::new(&fragment.docs, WHAT);
        let mut doc = fragment.base;
        for _ in 0..count {
            let coded = reader.varint_u32()?;
            doc = doc.wrapping_add(coded >> 1);
            postings.docs.push(doc);
            postings.frequencies.push(match coded & 1 {
                1 => 1,
                _ => reader.varint_u32()?,
            });
        }
        Ok(postings)
    }

    /// Those of a range, of which the positions, if any are held, begin at a byte; and where those
    /// behind begin.
    pub fn part(&self, range: std::ops::Range<usize>, start: usize) -> Result<(Postings, usize)> {
        let tokens: u64 = self.frequencies[range.clone()]
            .iter()
            .map(|frequency| u64::from(*frequency))
            .sum();
        let end = if self.positions.is_empty() {
            0
        } else {
            skip_varints(&self.positions, start, tokens)?
        };
        let part = Postings {
            docs: self.docs[range.clone()].to_vec(),
            frequencies: self.frequencies[range].to_vec(),
            positions: self.positions[start..end].to_vec(),
        };
        Ok((part, end))
    }
}

impl Coding {
    /// Codes postings as a list.
    pub fn code(self, postings: &Postings) -> Result<Coded> {
        let mut coded = Coded::default();
        self.append(&mut coded, postings)?;
        Ok(coded)
    }

    /// Appends postings behind all of a list. Its `docs` may be without blocks at its front, which
    /// count in the summary.
    pub fn append(self, list: &mut Coded, postings: &Postings) -> Result<()> {
        let Some(last) = postings.docs.last() else {
            return Ok(());
        };
        let before = list.docs.len();
        match self {
            Coding::Plain => {
                for (doc, frequency) in postings.docs.iter().zip(&postings.frequencies) {
                    list.docs.extend_from_slice(&doc.to_le_bytes());
                    list.docs.extend_from_slice(&frequency.to_le_bytes());
                }
            }
            Coding::Packed => {
                append_packed(list, postings)?;
                list.positions.extend_from_slice(&postings.positions);
                list.summary.positions += postings.positions.len() as u32;
            }
        }
        let summary = &mut list.summary;
        summary.docs = (summary.docs as usize + list.docs.len() - before) as u32;
        summary.count += postings.docs.len() as u32;
        summary.last = *last;
        Ok(())
    }

    /// Decodes the documents and frequencies of a list behind those that are there.
    pub fn decode(self, summary: &Summary, bytes: &[u8], to: &mut Postings) -> Result<()> {
        to.docs.reserve(summary.count as usize);
        to.frequencies.reserve(summary.count as usize);
        match self {
            Coding::Plain => {
                for posting in bytes.chunks_exact(PLAIN_BYTES) {
                    let (doc, frequency) = posting.split_at(4);
                    to.docs.push(number(doc));
                    to.frequencies.push(number(frequency));
                }
                Ok(())
            }
            Coding::Packed => {
                let mut reader = ByteReader::new(bytes, WHAT);
                let mut before = NO_DOC;
                for _ in 0..summary.count as usize / BLOCK {
                    before = decode_block(before, &mut reader, to)?;
                }
                decode_tail(before, summary.count as usize % BLOCK, &mut reader, to)
            }
        }
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// Takes the tail off the list, and codes its postings and the new ones.
fn append_packed(list: &mut Coded, new: &Postings) -> Result<()> {
    let tail_count = list.summary.count as usize % BLOCK;
    let (mut all, mut before) = (Postings::default(), NO_DOC);
    if tail_count > 0 {
        let at = list.docs.len() - list.summary.tail as usize;
        let tail = list.docs.split_off(at);
        decode_tail(0, tail_count, &mut ByteReader::new(&tail, WHAT), &mut all)?;
        // They were counted from 0: now that the last is known, so is what they count from.
        let sum = all.docs.last().copied().unwrap_or_default();
        before = list.summary.last.wrapping_sub(sum);
        all.docs
            .iter_mut()
            .for_each(|doc| *doc = doc.wrapping_add(before));
    } else if list.summary.count > 0 {
        before = list.summary.last;
    }
    all.docs.extend_from_slice(&new.docs);
    all.frequencies.extend_from_slice(&new.frequencies);
    let (docs, rest) = all.docs.as_chunks::<BLOCK>();
    let (frequencies, rest_frequencies) = all.frequencies.as_chunks::<BLOCK>();
    for (docs, frequencies) in docs.iter().zip(frequencies) {
        put_block(before, docs, frequencies, &mut list.docs);
        before = docs[BLOCK - 1];
    }
    let blocks_end = list.docs.len();
    put_tail(before, rest, rest_frequencies, &mut list.docs);
    list.summary.tail = (list.docs.len() - blocks_end) as u32;
    Ok(())
}

fn put_block(before: u32, docs: &[u32; BLOCK], frequencies: &[u32; BLOCK], out: &mut Vec<u8>) {
    BlockCodec::put_docs(before, docs, out);
    let frequencies = frequencies.map(|frequency| frequency.wrapping_sub(1));
    BlockCodec::put_values(&frequencies, out);
}

fn decode_block(before: u32, reader: &mut ByteReader<'_>, to: &mut Postings) -> Result<u32> {
    let (mut docs, mut frequencies) = ([0; BLOCK], [0; BLOCK]);
    reader.take(BlockCodec::read_docs(before, reader.rest(), &mut docs)?)?;
    reader.take(BlockCodec::read_values(reader.rest(), &mut frequencies)?)?;
    to.docs.extend_from_slice(&docs);
    let frequencies = frequencies.map(|frequency| frequency.wrapping_add(1));
    to.frequencies.extend_from_slice(&frequencies);
    Ok(docs[BLOCK - 1])
}

fn put_tail(mut before: u32, docs: &[u32], frequencies: &[u32], out: &mut Vec<u8>) {
    for (doc, frequency) in docs.iter().zip(frequencies) {
        let distance = doc.wrapping_sub(before).wrapping_sub(1);
        put_varint(out, u64::from(distance) << 1 | u64::from(*frequency == 1));
        if *frequency != 1 {
            put_varint(out, u64::from(*frequency));
        }
        before = *doc;
    }
}

fn decode_tail(
    mut before: u32,
    count: usize,
    reader: &mut ByteReader<'_>,
    to: &mut Postings,
) -> Result<()> {
    for _ in 0..count {
        let coded = reader.varint()?;
        before = before.wrapping_add((coded >> 1) as u32).wrapping_add(1);
        to.docs.push(before);
        to.frequencies.push(match coded & 1 {
            1 => 1,
            _ => reader.varint_u32()?,
        });
    }
    Ok(())
}

/// Where so many varints end that begin at a byte.
fn skip_varints(bytes: &[u8], start: usize, count: u64) -> Result<usize> {
    let mut at = start;
    for _ in 0..count {
        let length = bytes[at..].iter().position(|byte| byte & 0x80 == 0);
        let short = || Error::invalid("positions of the lab end early; this is a defect");
        at += length.ok_or_else(short)? + 1;
    }
    Ok(at)
}
