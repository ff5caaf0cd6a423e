//! A sub-index in one file: lists one behind the other in the order of their terms, and the
//! vocabulary behind them.
//!
//! It is written and read from its start to its end, so merging needs a buffer for each. The
//! vocabulary is in memory while the program runs; it is written with the lists, since an opening
//! would need it.
//!
//! ```text
//! vocabulary   for each term: bytes shared with the key before, other bytes (varint, bytes),
//!              postings, last document, bytes of documents, of the tail among them, of positions
//!              (varints)
//! ```

use std::sync::Arc;

use gannet::Result;
use gannet::device::PAGE_SIZE;

use super::coding::{Coded, Summary};
use super::files::{FileNumber, Files, Pages, Place, bytes_of};
use super::flush::TermNumber;
use super::strategy::Part;
use crate::bytes::{put_bytes, put_varint};

/// Bytes that are gathered before they are written.
const WRITE_BYTES: usize = 2 << 20;

/// Bytes that are read together of one sub-index in a merge; lists that are longer are read whole.
const READ_BYTES: usize = 1 << 20;

/// The keys of all terms.
pub type Keys = Arc<Vec<Vec<u8>>>;

/// A list in a sub-index.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its term.
    pub term: TermNumber,
    /// Where it begins.
    pub start: u64,
    /// What there is.
    pub summary: Summary,
}

/// A sub-index.
pub struct Run {
    /// Its file.
    pub file: FileNumber,
    /// Its lists, by term.
    pub entries: Vec<Entry>,
}

/// Writes a sub-index.
pub struct RunWriter<'a> {
    files: &'a Files,
    keys: &'a Keys,
    run: Run,
    buffer: Vec<u8>,
    /// Pages written.
    page: u32,
}

/// Reads a sub-index from its start on.
pub struct RunReader<'a> {
    files: &'a Files,
    run: &'a Run,
    next: usize,
    buffer: Vec<u8>,
    /// Where the buffer begins in the file.
    start: u64,
}

impl Run {
    /// The list of a term.
    pub fn find(&self, term: TermNumber) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&term, |entry| entry.term);
        at.ok().map(|at| &self.entries[at])
    }

    /// Bytes of memory for its vocabulary.
    pub fn vocabulary_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>()) as u64
    }

    /// Where a list's documents are, or all of it.
    pub fn place(&self, entry: &Entry, with_positions: bool) -> Place {
        Place {
            file: self.file,
            start: entry.start,
            length: if with_positions {
                entry.summary.bytes()
            } else {
                entry.summary.docs as usize
            },
        }
    }
}

/// A part of a list, of which the bytes were read with or without positions.
pub fn part(summary: Summary, bytes: Vec<u8>) -> Part {
    let with_positions = bytes.len() > summary.docs as usize;
    Part::new(summary, &Arc::new(bytes), 0, with_positions)
}

impl<'a> RunWriter<'a> {
    /// One with nothing in it.
    pub fn new(files: &'a Files, file: FileNumber, keys: &'a Keys) -> Result<RunWriter<'a>> {
        files.create(file)?;
        Ok(RunWriter {
            files,
            keys,
            run: Run {
                file,
                entries: Vec::new(),
            },
            buffer: Vec::with_capacity(WRITE_BYTES + PAGE_SIZE),
            page: 0,
        })
    }

    /// Appends a list.
    pub fn push(&mut self, term: TermNumber, list: &Coded) -> Result<()> {
        self.run.entries.push(Entry {
            term,
            start: bytes_of(self.page) + self.buffer.len() as u64,
            summary: list.summary,
        });
        self.buffer.extend_from_slice(&list.docs);
        self.buffer.extend_from_slice(&list.positions);
        self.write(WRITE_BYTES)
    }

    /// Writes the vocabulary. Gives the sub-index and how many bytes of it are vocabulary.
    pub fn finish(mut self) -> Result<(Run, u64)> {
        let mut vocabulary = Vec::new();
        let mut before: &[u8] = &[];
        for entry in &self.run.entries {
            let key = &self.keys[entry.term as usize];
            put_entry(before, key, &entry.summary, &mut vocabulary);
            before = key;
        }
        for some in vocabulary.chunks(WRITE_BYTES) {
            self.buffer.extend_from_slice(some);
            self.write(WRITE_BYTES)?;
        }
        let pad = self.buffer.len().next_multiple_of(PAGE_SIZE);
        self.buffer.resize(pad, 0);
        self.write(PAGE_SIZE)?;
        self.files.sync(&[self.run.file])?;
        Ok((self.run, vocabulary.len() as u64))
    }

    /// Writes all whole pages if there are so many bytes.
    fn write(&mut self, least: usize) -> Result<()> {
        if self.buffer.len() < least {
            return Ok(());
        }
        let whole = self.buffer.len() / PAGE_SIZE * PAGE_SIZE;
        self.files.write(&[Pages {
            file: self.run.file,
            page: self.page,
            bytes: &self.buffer[..whole],
        }])?;
        self.page += (whole / PAGE_SIZE) as u32;
        self.buffer.drain(..whole);
        Ok(())
    }
}

/// Appends a term of a vocabulary.
fn put_entry(before: &[u8], key: &[u8], summary: &Summary, out: &mut Vec<u8>) {
    let shared = before.iter().zip(key).take_while(|(a, b)| a == b).count();
    put_varint(out, shared as u64);
    put_bytes(out, &key[shared..]);
    let Summary {
        count,
        last,
        docs,
        tail,
        positions,
    } = *summary;
    for number in [count, last, docs, tail, positions] {
        put_varint(out, u64::from(number));
    }
}

impl<'a> RunReader<'a> {
    /// One that stands before the first list.
    pub fn new(files: &'a Files, run: &'a Run) -> RunReader<'a> {
        RunReader {
            files,
            run,
            next: 0,
            buffer: Vec::new(),
            start: 0,
        }
    }

    /// The term of the next list.
    pub fn term(&self) -> Option<TermNumber> {
        self.run.entries.get(self.next).map(|entry| entry.term)
    }

    /// The next list.
    pub fn take(&mut self) -> Result<Option<Coded>> {
        let Some(entry) = self.run.entries.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        let (docs, all) = (entry.summary.docs as usize, entry.summary.bytes());
        self.fill(entry.start, all)?;
        let at = (entry.start - self.start) as usize;
        Ok(Some(Coded {
            summary: entry.summary,
            docs: self.buffer[at..at + docs].to_vec(),
            positions: self.buffer[at + docs..at + all].to_vec(),
        }))
    }

    /// Has so many bytes from a place on in the buffer.
    fn fill(&mut self, start: u64, length: usize) -> Result<()> {
        let end = start + length as u64;
        let have = self.start + self.buffer.len() as u64;
        if end <= have {
            return Ok(());
        }
        let last = self.run.entries.last();
        let all = last.map_or(0, |entry| entry.start + entry.summary.bytes() as u64);
        let wanted = (end - have).max(READ_BYTES as u64).min(all - have);
        // Buffers begin at pages, so no page is read twice.
        let wanted = (have + wanted).next_multiple_of(PAGE_SIZE as u64) - have;
        let more = self.files.read_one(Place {
            file: self.run.file,
            start: have,
            length: wanted as usize,
        })?;
        let kept = (start.min(have) - self.start) as usize;
        self.buffer.drain(..kept);
        self.start += kept as u64;
        self.buffer.extend(more);
        Ok(())
    }
}
