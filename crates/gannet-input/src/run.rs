//! How a run of the pipeline is wanted, and what it comes to.

use std::time::Duration;

use gannet::Error;

use crate::batches::RawBatch;
use crate::change::Write;
use crate::rejection::Rejection;

/// How documents are prepared and written.
#[derive(Clone, Copy, Debug)]
pub struct PipelineOptions {
    /// Threads that prepare.
    pub threads: usize,
    /// What was written is made durable after each so many documents.
    pub commit_every: Option<u64>,
    /// Whether the first line that is rejected ends it.
    pub strict: bool,
    /// What is done with documents that do not say it themselves.
    pub write: Write,
}

/// Is told of a run while it is under way.
pub trait Watcher: Send {
    /// What was written up to now.
    fn wrote(&mut self, done: &Done);

    /// A line that was rejected. With [`PipelineOptions::strict`] it is told by [`End::Rejected`]
    /// instead.
    fn rejected(&mut self, rejection: Rejection);
}

/// What a run came to.
#[derive(Debug)]
pub struct Done {
    /// Documents written.
    pub documents: u64,
    /// Those of them that replaced an earlier one.
    pub replaced: u64,
    /// Those of them that are earlier ones with other members.
    pub updated: u64,
    /// Those of them that brought no ID, so that one was made.
    pub ids_made: u64,
    /// Documents deleted.
    pub deleted: u64,
    /// Deletions of what is not in the index.
    pub absent: u64,
    /// Lines rejected.
    pub rejected: u64,
    /// Bytes of the lines that were written or rejected.
    pub source_bytes: u64,
    /// What was looked at last, as a sentence.
    pub last: Option<String>,
    /// What the caller should know of how the sources were read, each once.
    pub notes: Vec<String>,
    /// Which fields of numbers were given text, and where first.
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

/// That a line of a batch is rejected by the index.
pub fn rejection(batch: &RawBatch, line: u64, error: &Error) -> Rejection {
    batch.rejection(line, error.to_string())
}
