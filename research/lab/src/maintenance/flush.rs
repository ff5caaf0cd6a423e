//! What strategies are given: a corpus that was inverted once, flush by flush, and is kept in a
//! folder.
//!
//! Terms are numbered in the order of their keys, so that a flush, a sub-index and Gannet's
//! dictionary have the same order. Nothing of the analysis is left to be done, so what is measured
//! is maintenance alone. A flush is read before it is measured.
//!
//! ```text
//! meta.json        counts, and what the corpus was
//! keys             for each term by number: length (varint), bytes
//! frequencies      documents of each term in the whole collection (4 each)
//! norms            lengths of all documents as norms (1 each)
//! ranks            the numbers of terms by the order of their first flush (4 each)
//! flush-000 ...    for each term in order: its place in ranks, postings, tokens, the highest
//!                  frequency, the last document (varints), documents and positions (length,
//!                  bytes; see the engine's fragments)
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use gannet::offload::Fragment;
use serde_json::Value as Json;

use crate::Outcome;
use crate::bytes::{ByteReader, put_bytes, put_varint};

const WHAT: &str = "a stream of flushes";

/// The number of a term, by the order of keys.
pub type TermNumber = u32;

/// What the buffer had when it was full.
#[derive(Clone, Debug, Default)]
pub struct Flush {
    /// Its terms, ascending, with their postings.
    pub terms: Vec<(TermNumber, Fragment)>,
}

/// A corpus in flushes.
pub struct Stream {
    folder: PathBuf,
    /// What it was made from.
    pub meta: Json,
    /// How many flushes there are.
    pub flushes: usize,
    /// The keys of all terms.
    pub keys: Vec<Vec<u8>>,
    /// Documents of each term in the end.
    pub frequencies: Vec<u32>,
    /// The length of each document, as a norm.
    pub norms: Vec<u8>,
    ranks: Vec<TermNumber>,
}

impl Flush {
    /// Postings of all terms.
    pub fn postings(&self) -> u64 {
        let counts = self.terms.iter().map(|term| u64::from(term.1.count));
        counts.sum()
    }

    /// Only the terms that are wanted.
    pub fn retain(&mut self, is_wanted: impl Fn(TermNumber) -> bool) {
        self.terms.retain(|term| is_wanted(term.0));
    }

    /// Forgets where words stand: all stand at 0, which takes a byte each where it is not packed.
    pub fn forget_positions(&mut self) {
        for (_, fragment) in &mut self.terms {
            fragment.positions = vec![0; fragment.total_frequency as usize];
        }
    }

    /// Appends a term as it stands in a file.
    pub(super) fn put_term(place: u32, fragment: &Fragment, out: &mut Vec<u8>) {
        let numbers = [
            u64::from(place),
            u64::from(fragment.count),
            fragment.total_frequency,
            u64::from(fragment.max_frequency),
            u64::from(fragment.last),
        ];
        numbers
            .into_iter()
            .for_each(|number| put_varint(out, number));
        put_bytes(out, &fragment.docs);
        put_bytes(out, &fragment.positions);
    }
}

impl Stream {
    /// Opens one.
    pub fn open(folder: &Path) -> Outcome<Stream> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read(&path).map_err(|error| {
                format!(
                    "{}: {error}: make a stream with `gannet-lab maintenance invert`",
                    path.display()
                )
            })
        };
        let meta: Json = serde_json::from_slice(&read("meta.json")?)?;
        let flushes = meta["flushes"].as_u64().ok_or("meta.json has no flushes")?;
        let bytes = read("keys")?;
        let (mut reader, mut keys) = (ByteReader::new(&bytes, WHAT), Vec::new());
        while !reader.is_empty() {
            keys.push(reader.bytes()?.to_vec());
        }
        Ok(Stream {
            folder: folder.to_owned(),
            meta,
            flushes: flushes as usize,
            keys,
            frequencies: numbers(&read("frequencies")?),
            norms: read("norms")?,
            ranks: numbers(&read("ranks")?),
        })
    }

    /// Documents of all flushes.
    pub fn documents(&self) -> u32 {
        self.norms.len() as u32
    }

    /// One flush.
    pub fn flush(&self, number: usize) -> Outcome<Flush> {
        let bytes = fs::read(self.folder.join(flush_name(number)))?;
        let (mut reader, mut flush) = (ByteReader::new(&bytes, WHAT), Flush::default());
        while !reader.is_empty() {
            let place = reader.varint_u32()? as usize;
            let term = self
                .ranks
                .get(place)
                .ok_or("a flush has a term that the stream lacks")?;
            let fragment = Fragment {
                count: reader.varint_u32()?,
                total_frequency: reader.varint()?,
                max_frequency: reader.varint_u32()?,
                last: reader.varint_u32()?,
                docs: reader.bytes()?.to_vec(),
                positions: reader.bytes()?.to_vec(),
                ..Fragment::default()
            };
            flush.terms.push((*term, fragment));
        }
        Ok(flush)
    }
}

/// The name of a flush's file.
pub(super) fn flush_name(number: usize) -> String {
    format!("flush-{number:03}")
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    let (all, _) = bytes.as_chunks();
    all.iter()
        .map(|number| u32::from_le_bytes(*number))
        .collect()
}
