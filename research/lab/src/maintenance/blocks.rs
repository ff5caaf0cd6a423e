//! Lists in blocks of 8 KB, which grow where they stand: In-place non-contiguous, and MFIS.
//!
//! What comes of a term goes into what is free in its last block, which is written back to where it
//! was read from; what does not fit goes to new blocks at the end of the file. Blocks of a list
//! that lie one behind the other are a *chunk* (the paper's word; Gannet's chunks are another
//! thing). In-place non-contiguous reads and writes term by term, one transfer at a time. MFIS goes
//! through the terms until it has as many last blocks as its threshold: it reads these in one batch
//! (scan), puts new postings in (migration), and writes all blocks in one batch (write); a query
//! reads all chunks of a list in one batch.
//!
//! Sources: Tomasic, Garcia-Molina, Shoens, "Incremental Updates of Inverted Lists for Text
//! Document Retrieval", 1994; MFIS: Jung et al., 2014, algorithms 1 and 2. Not as printed: a last
//! block that is full is not read, and as many terms without one as the threshold says end a batch
//! too, since they take as much memory.
//!
//! L lists of c postings get b more. A flush reads L blocks, none where 1,022 divides c. It writes
//! L (ceil((c + b) / 1022) - floor(c / 1022)).
//!
//! ```text
//! block    postings (4), last document (4), bytes of documents, of the tail among them, of
//!          positions (2 each), 2 unused; then these
//! ```

use std::sync::Arc;

use gannet::device::PAGE_SIZE;
use gannet::{Error, Result};
use gannet_ssd::Work;

use super::coding::{Coded, Coding, PLAIN_BYTES, Postings, Summary};
use super::files::{FileNumber, Files, Pages, Place};
use super::flush::{Flush, TermNumber};
use super::strategy::{Kept, Lists, Part};

/// Bytes of a block: 1,022 plain postings and what stands before them.
pub const BLOCK_BYTES: usize = 8192;
const HEADER_BYTES: usize = 16;
const ROOM: usize = BLOCK_BYTES - HEADER_BYTES;
const BLOCK_PAGES: u32 = (BLOCK_BYTES / PAGE_SIZE) as u32;

const _: () = assert!(ROOM / PLAIN_BYTES == 1022, "the paper's block");

/// Packed postings that are tried together at first: what makes a block of numbers full.
const STEP: usize = gannet::lab::BlockCodec::LENGTH;

/// The lists.
pub struct Blocks {
    files: Arc<Files>,
    file: FileNumber,
    coding: Coding,
    /// Last blocks that are read together; with one, all is done one after the other.
    threshold: usize,
    lists: Vec<List>,
    /// Blocks of the file.
    end: u32,
}

/// What the vocabulary has of a list.
#[derive(Clone, Debug, Default)]
struct List {
    /// First blocks and numbers of blocks.
    chunks: Vec<(u32, u32)>,
    /// The last block, and whether nothing fits in it any more.
    last: Summary,
    is_full: bool,
}

/// A block to be written.
type Written = (u32, Vec<u8>);

impl Blocks {
    /// None so far, in a file that is made.
    pub fn new(
        files: Arc<Files>,
        file: FileNumber,
        terms: usize,
        coding: Coding,
        threshold: usize,
    ) -> Result<Blocks> {
        files.create(file)?;
        Ok(Blocks {
            files,
            file,
            coding,
            threshold: threshold.max(1),
            lists: vec![List::default(); terms],
            end: 0,
        })
    }

    /// Appends postings to lists, whose terms ascend.
    pub fn append(
        &mut self,
        all: impl Iterator<Item = Result<(TermNumber, Postings)>>,
    ) -> Result<()> {
        let (mut batch, mut blocks) = (Vec::new(), 0);
        for one in all {
            let (term, postings) = one?;
            blocks += usize::from(self.lists[term as usize].last_block().is_some());
            batch.push((term, postings));
            if self.threshold == blocks.max(batch.len() - blocks) {
                self.append_batch(&std::mem::take(&mut batch))?;
                blocks = 0;
            }
        }
        self.append_batch(&batch)?;
        self.files.sync(&[self.file])
    }

    /// Scan, migration and write.
    fn append_batch(&mut self, batch: &[(TermNumber, Postings)]) -> Result<()> {
        let last = |term: &TermNumber| self.lists[*term as usize].last_block();
        let old = batch.iter().map(|(term, _)| last(term));
        let old: Vec<Option<u32>> = old.collect();
        let places = old.iter().flatten().map(|block| self.place(*block, 1));
        let mut read = self.files.read(&places.collect::<Vec<_>>())?.into_iter();
        let (mut rewritten, mut new) = (Vec::new(), Vec::new());
        for ((term, postings), block) in batch.iter().zip(old) {
            let list = &mut self.lists[*term as usize];
            let (mut from, mut start) = (0, 0);
            if let Some(block) = block {
                let bytes = read.next().unwrap_or_default();
                let mut coded = decode(&bytes)?;
                (from, start) = fill(self.coding, &mut coded, postings, 0, 0)?;
                (list.last, list.is_full) = (coded.summary, from < postings.docs.len());
                rewritten.push((block, encode(&coded)));
            }
            while from < postings.docs.len() {
                let mut coded = Coded::default();
                let before = from;
                (from, start) = fill(self.coding, &mut coded, postings, from, start)?;
                if from == before {
                    return Err(Error::invalid(format!(
                        "a posting takes more than a block of {BLOCK_BYTES} bytes: choose shorter documents"
                    )));
                }
                (list.last, list.is_full) = (coded.summary, from < postings.docs.len());
                list.push_block(self.end);
                new.push((self.end, encode(&coded)));
                self.end += 1;
            }
        }
        self.write(&rewritten, &new)
    }

    /// Writes blocks back and new ones to the end of the file: in one batch, or one transfer after
    /// the other.
    fn write(&self, rewritten: &[Written], new: &[Written]) -> Result<()> {
        let blocks = rewritten.iter().chain(new);
        let pages = blocks.map(|(block, bytes)| Pages {
            file: self.file,
            page: block * BLOCK_PAGES,
            bytes,
        });
        let all: Vec<Pages<'_>> = pages.collect();
        match self.threshold {
            1 => {
                let (rewritten, new) = all.split_at(rewritten.len());
                rewritten
                    .chunks(1)
                    .try_for_each(|one| self.files.write(one))?;
                self.files.write(new)
            }
            _ => self.files.write(&all),
        }
    }

    fn place(&self, block: u32, blocks: u32) -> Place {
        Place {
            file: self.file,
            start: u64::from(block) * BLOCK_BYTES as u64,
            length: blocks as usize * BLOCK_BYTES,
        }
    }

    /// Bytes of memory for the vocabulary.
    pub fn vocabulary_bytes(&self) -> u64 {
        let of = |list: &List| size_of::<List>() + size_of_val(list.chunks.as_slice());
        let lists = self.lists.iter().filter(|list| !list.chunks.is_empty());
        lists.map(|list| of(list) as u64).sum()
    }
}

impl List {
    /// The last block, if anything fits in it.
    fn last_block(&self) -> Option<u32> {
        let (first, count) = self.chunks.last()?;
        let is_full = self.is_full || self.last.bytes() == ROOM;
        (!is_full).then_some(first + count - 1)
    }

    fn push_block(&mut self, block: u32) {
        match self.chunks.last_mut() {
            Some((first, count)) if *first + *count == block => *count += 1,
            _ => self.chunks.push((block, 1)),
        }
    }
}

/// Puts postings from one on, whose positions begin at a byte, into what is free of a block. Gives
/// where those begin that do not fit.
fn fill(
    coding: Coding,
    block: &mut Coded,
    postings: &Postings,
    mut from: usize,
    mut start: usize,
) -> Result<(usize, usize)> {
    let mut step = match coding {
        Coding::Plain => (ROOM - block.summary.bytes()) / PLAIN_BYTES,
        Coding::Packed => STEP - block.summary.count as usize % STEP,
    };
    while step > 0 && from < postings.docs.len() {
        let to = postings.docs.len().min(from + step);
        let (part, end) = postings.part(from..to, start)?;
        let mut tried = block.clone();
        coding.append(&mut tried, &part)?;
        if tried.summary.bytes() > ROOM {
            step /= 2;
            continue;
        }
        (*block, from, start) = (tried, to, end);
        step = match coding {
            Coding::Plain => 0,
            Coding::Packed => STEP - block.summary.count as usize % STEP,
        };
    }
    Ok((from, start))
}

fn encode(block: &Coded) -> Vec<u8> {
    let Summary {
        count,
        last,
        docs,
        tail,
        positions,
    } = block.summary;
    let mut bytes = Vec::with_capacity(BLOCK_BYTES);
    bytes.extend(count.to_le_bytes());
    bytes.extend(last.to_le_bytes());
    for length in [docs, tail, positions, 0] {
        bytes.extend((length as u16).to_le_bytes());
    }
    bytes.extend_from_slice(&block.docs);
    bytes.extend_from_slice(&block.positions);
    bytes.resize(BLOCK_BYTES, 0);
    bytes
}

/// What a block has behind its header.
fn summary_of(bytes: &[u8]) -> Result<Summary> {
    let short = || Error::damaged("a block of the lab", "expected lengths that fit it");
    let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(short)?;
    let long = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[at + byte]));
    let length = |at: usize| u32::from(u16::from_le_bytes([header[at], header[at + 1]]));
    let summary = Summary {
        count: long(0),
        last: long(4),
        docs: length(8),
        tail: length(10),
        positions: length(12),
    };
    if summary.bytes() <= rest.len() {
        Ok(summary)
    } else {
        Err(short())
    }
}

fn decode(bytes: &[u8]) -> Result<Coded> {
    let summary = summary_of(bytes)?;
    let (docs, rest) = bytes[HEADER_BYTES..].split_at(summary.docs as usize);
    Ok(Coded {
        summary,
        docs: docs.to_vec(),
        positions: rest[..summary.positions as usize].to_vec(),
    })
}

impl Lists for Blocks {
    fn coding(&self) -> Coding {
        self.coding
    }

    fn add(&mut self, flush: &Flush) -> Result<()> {
        let terms = flush.terms.iter();
        self.append(terms.map(|(term, fragment)| Ok((*term, Postings::of(fragment)?))))
    }

    /// Positions are read whether they are asked for or not: they stand in the same blocks.
    fn read(&self, terms: &[TermNumber], with_positions: bool) -> Result<Vec<Vec<Part>>> {
        let mut places = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            let chunks = self.lists[*term as usize].chunks.iter();
            places.extend(chunks.map(|(first, count)| (at, self.place(*first, *count))));
        }
        let (of, places): (Vec<usize>, Vec<Place>) = places.into_iter().unzip();
        let read = match self.threshold {
            1 => places
                .iter()
                .map(|place| self.files.read_one(*place))
                .collect::<Result<_>>()?,
            _ => self.files.read(&places)?,
        };
        let mut lists = vec![Vec::new(); terms.len()];
        for (at, bytes) in of.into_iter().zip(read) {
            let bytes = Arc::new(bytes);
            for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
                let (summary, start) = (summary_of(block)?, number * BLOCK_BYTES + HEADER_BYTES);
                lists[at].push(Part::new(summary, &bytes, start, with_positions));
            }
        }
        Ok(lists)
    }

    fn work(&self) -> Work {
        self.files.work()
    }

    fn kept(&self) -> Result<Kept> {
        Ok(Kept {
            file_bytes: self.files.bytes()?,
            vocabulary_bytes: self.vocabulary_bytes(),
            ..Kept::default()
        })
    }
}
