//! Options and results of a run of the pipeline.

use std::time::Duration;

use gannet::Error;

use crate::batches::RawBatch;
use crate::change::Write;
use crate::rejection::Rejection;

/// The options for preparing and writing documents.
#[derive(Clone, Copy, Debug)]
pub struct PipelineOptions {
    /// Threads that prepare.
    pub threads: usize,
    /// The number of documents after which writes are made durable.
    pub commit_every: Option<u64>,
    /// Set if the first rejected line ends the run.
    pub strict: bool,
    /// The kind of write for documents that do not name it themselves.
    pub write: Write,
}

/// Is told of a run while it is under way.
pub trait Watcher: Send {
    /// Reports the documents written so far.
    fn wrote(&mut self, done: &Done);

    /// A line that was rejected. With [`PipelineOptions::strict`] it is told by [`End::Rejected`]
    /// instead.
    fn rejected(&mut self, rejection: Rejection);
}

/// The results of a run.
#[derive(Debug)]
pub struct Done {
    /// Documents written.
    pub documents: u64,
    /// Documents added that replaced an earlier one.
    pub replaced: u64,
    /// Documents that were updated with other members.
    pub updated: u64,
    /// Documents added without an ID, so that one was made.
    pub ids_made: u64,
    /// Documents deleted.
    pub deleted: u64,
    /// Deletions of what is not in the index.
    pub absent: u64,
    /// Lines rejected.
    pub rejected: u64,
    /// Bytes of the lines that were written or rejected.
    pub source_bytes: u64,
    /// The file or line that was looked at last, as a sentence.
    pub last: Option<String>,
    /// Notes for the caller on the way the sources were read, each once.
    pub notes: Vec<String>,
    /// Notes on fields of numbers that were given text, with the first place.
    pub text_notes: Vec<String>,
    /// The longest time that one batch took to be written.
    pub longest_write: Duration,
    /// Why it ended.
    pub end: End,
}

/// Why a run ended.
#[derive(Debug)]
pub enum End {
    /// All was read.
    Whole,
    /// The caller asked.
    Interrupted,
    /// A line was rejected, and none may be.
    Rejected(Rejection),
    /// A source could not be read to its end.
    Unreadable(String),
    /// The index took no more.
    Failed(Error),
}

/// Returns the rejection of a line of a batch by the index.
pub fn rejection(batch: &RawBatch, line: u64, error: &Error) -> Rejection {
    batch.rejection(line, error.to_string())
}
