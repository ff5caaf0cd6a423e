//! What every strategy can do, and what those share whose lists are coded bytes in files.

use std::ops::{AddAssign, Range};
use std::sync::Arc;

use gannet::Result;
use gannet_ssd::Work;
use serde_json::Value as Json;

use super::coding::{Coding, Postings, Summary};
use super::flush::{Flush, TermNumber};
use super::queries::{Both, Scoring};

/// What a strategy takes on the device and in memory, and what it has written so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    /// Bytes of files.
    pub file_bytes: u64,
    /// Bytes of memory for the vocabulary, or for what a look-up needs before it reads.
    pub vocabulary_bytes: u64,
    /// Bytes written for where lists are: vocabularies, or nodes of trees with what stands in them.
    pub written_for_vocabulary: u64,
    /// Of these, bytes written for mappings of nodes and for roots.
    pub written_for_tables: u64,
}

/// Maintains lists.
pub trait Strategy: Send + Sync {
    /// Takes in a flush. All that it brings is found and durable then.
    fn flush(&mut self, flush: &Flush) -> Result<()>;

    /// Reads the documents and frequencies of a term, coded as they are. Gives their bytes.
    fn retrieve(&self, term: TermNumber) -> Result<u64>;

    /// All postings of a term.
    fn postings(&self, term: TermNumber) -> Result<Postings>;

    /// Finds and counts the documents that have both terms, and ranks them.
    fn both(&self, terms: [TermNumber; 2], scoring: &Scoring) -> Result<Both>;

    /// Brings to memory what look-ups of these terms need beside lists, where that is not in memory
    /// anyway.
    fn warm(&self, _terms: &[TermNumber]) -> Result<()> {
        Ok(())
    }

    /// What it did with the device.
    fn work(&self) -> Work;

    /// What it takes, and has written for what.
    fn kept(&self) -> Result<Kept>;

    /// More about what it has written, where there is more to tell.
    fn details(&self) -> Json {
        Json::Null
    }
}

/// A part of a list as it was read. Parts that were read together share their bytes.
#[derive(Clone, Debug)]
pub struct Part {
    /// What the vocabulary has of it.
    pub summary: Summary,
    bytes: Arc<Vec<u8>>,
    docs: Range<usize>,
    positions: Range<usize>,
}

impl Part {
    /// A part that begins at a byte, with the positions behind it if they were asked for.
    pub fn new(summary: Summary, bytes: &Arc<Vec<u8>>, start: usize, with_positions: bool) -> Part {
        let docs = start..start + summary.docs as usize;
        let positions = if with_positions {
            docs.end..docs.end + summary.positions as usize
        } else {
            docs.end..docs.end
        };
        Part {
            summary,
            bytes: Arc::clone(bytes),
            docs,
            positions,
        }
    }

    /// Documents and frequencies.
    pub fn docs(&self) -> &[u8] {
        &self.bytes[self.docs.clone()]
    }

    /// Positions, if they were asked for.
    pub fn positions(&self) -> &[u8] {
        &self.bytes[self.positions.clone()]
    }
}

/// Keeps coded lists: what a strategy of the literature is.
pub trait Lists: Send + Sync {
    /// How they are coded.
    fn coding(&self) -> Coding;

    /// Takes in a flush.
    fn add(&mut self, flush: &Flush) -> Result<()>;

    /// Reads the parts of the lists of some terms, in order of their documents, together if the
    /// strategy can.
    fn read(&self, terms: &[TermNumber], with_positions: bool) -> Result<Vec<Vec<Part>>>;

    /// What was done with the device.
    fn work(&self) -> Work;

    /// What is taken.
    fn kept(&self) -> Result<Kept>;
}

impl<L: Lists> Strategy for L {
    fn flush(&mut self, flush: &Flush) -> Result<()> {
        self.add(flush)
    }

    fn retrieve(&self, term: TermNumber) -> Result<u64> {
        let lists = self.read(&[term], false)?;
        let parts = lists.iter().flatten();
        Ok(parts.map(|part| part.docs().len() as u64).sum())
    }

    fn postings(&self, term: TermNumber) -> Result<Postings> {
        let mut all = Postings::default();
        for part in self.read(&[term], true)?.into_iter().flatten() {
            self.coding().decode(&part.summary, part.docs(), &mut all)?;
            all.positions.extend_from_slice(part.positions());
        }
        Ok(all)
    }

    fn both(&self, terms: [TermNumber; 2], scoring: &Scoring) -> Result<Both> {
        let mut lists = [Postings::default(), Postings::default()];
        for (parts, list) in self.read(&terms, false)?.iter().zip(&mut lists) {
            for part in parts {
                self.coding().decode(&part.summary, part.docs(), list)?;
            }
        }
        Ok(scoring.both(&lists))
    }

    fn work(&self) -> Work {
        Lists::work(self)
    }

    fn kept(&self) -> Result<Kept> {
        Lists::kept(self)
    }
}

impl AddAssign for Kept {
    fn add_assign(&mut self, other: Kept) {
        self.file_bytes += other.file_bytes;
        self.vocabulary_bytes += other.vocabulary_bytes;
        self.written_for_vocabulary += other.written_for_vocabulary;
        self.written_for_tables += other.written_for_tables;
    }
}
