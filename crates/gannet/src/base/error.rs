//! The errors of the engine, split by who can act on them.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

/// The result of every fallible operation of the engine.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, in words that say what to do about it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request cannot be carried out as it was put: a bad query, document, option or path.
    #[error("{0}")]
    Invalid(String),
    /// The aggregations of a search have more buckets than one answer may have.
    #[error("{0}")]
    Buckets(String),
    /// The memory budget is too small for what was asked.
    #[error(
        "{what} needs {needed} bytes of memory but {free} of the {budget} bytes of the budget are free: give more memory or ask for less"
    )]
    Memory {
        /// The work that asked.
        what: Cow<'static, str>,
        /// Bytes it asked for.
        needed: usize,
        /// Bytes that were free.
        free: usize,
        /// The whole budget.
        budget: usize,
    },
    /// The memory budget is too small to read one stored document; others can be read.
    #[error(
        "document {id} needs {needed} bytes of memory to be read but {free} of the {budget} bytes of the budget are free: give more memory"
    )]
    DocumentMemory {
        /// Its external ID.
        id: String,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that were free.
        free: usize,
        /// The whole budget.
        budget: usize,
    },
    /// The memory budget of a reader is too small for what waits in the log for a checkpoint.
    #[error(
        "{documents} documents wait in the log, which no checkpoint has, and the budget of {} MiB of memory does not hold them: read with {}MiB of memory, or {cure}",
        .budget >> 20,
        .enough >> 20
    )]
    LogMemory {
        /// Documents that wait.
        documents: u64,
        /// The whole budget.
        budget: usize,
        /// A budget that holds them.
        enough: usize,
        /// Another way to end the waiting.
        cure: &'static str,
    },
    /// A reader did not take in within its time limit what waits in the log for a checkpoint.
    #[error(
        "reading the log, in which documents wait that no checkpoint has, was stopped after {after:.1?}: the time limit is {limit:?}; give it more time, or {cure}"
    )]
    LogTimeout {
        /// The time it took so far.
        after: Duration,
        /// The time limit.
        limit: Duration,
        /// Another way to end the waiting.
        cure: &'static str,
    },
    /// A search did not end within its time limit; there is no partial answer.
    #[error(
        "the search was stopped after {after:.1?} while {doing}: its time limit is {limit:?}; give it more time or ask for less"
    )]
    Timeout {
        /// The work that it was at.
        doing: String,
        /// The time by the clock of the search.
        after: Duration,
        /// The deadline by that clock.
        limit: Duration,
    },
    /// Another process holds the index.
    #[error(
        "{path} is in use by {holder}: one process writes at a time; close the other one or read a backup"
    )]
    Locked {
        /// The index.
        path: PathBuf,
        /// The holder of the lock, as far as it is known.
        holder: String,
    },
    /// The index has a format that this program does not read, older or newer, or is a copy that
    /// was cut short, or no index at all.
    #[error("{path}: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The expected and the found.
        reason: String,
    },
    /// Stored bytes are not what was written.
    #[error("damaged {what}: {reason}; restore it from a backup, or build the index again")]
    Damaged {
        /// The file, page or structure.
        what: String,
        /// The expected and the found.
        reason: String,
    },
    /// The device rejected or failed an operation.
    #[error("{operation} of {file} failed: {reason}")]
    Device {
        /// `read`, `write`, `sync`, `create`, ...
        operation: &'static str,
        /// The file.
        file: String,
        /// The operating system's words.
        reason: String,
        /// Set if the device had no space left.
        full: bool,
    },
    /// Another writer has changed the document meanwhile.
    #[error(
        "document {id}: expected {expected}, found {found}; nothing was written: read it again and repeat the change"
    )]
    Conflict {
        /// The external ID.
        id: String,
        /// The version that the write expected.
        expected: String,
        /// The version that there was.
        found: String,
    },
    /// A snapshot was given up, so that what it held could be reused: by this process, or by a
    /// writer of another.
    #[error("the snapshot was given up after {seconds} s, since it held {held}: {remedy}")]
    Expired {
        /// Its age.
        seconds: u64,
        /// The bytes that it held, and the limit.
        held: String,
        /// The way to get a newer one.
        remedy: &'static str,
    },
    /// The engine broke one of its own rules: neither the caller nor the device is at fault.
    #[error(
        "{0}; this is a bug in gannet and not your fault: please report it with this message and with what you did"
    )]
    Internal(String),
    /// An earlier failure stopped the writer; it must be reopened.
    #[error(
        "the writer stopped after an earlier failure ({0}); reopen the index to go on from the last durable state"
    )]
    Stopped(String),
}

impl Error {
    /// An [`Error::Invalid`].
    pub fn invalid(reason: impl Into<String>) -> Error {
        Error::Invalid(reason.into())
    }

    /// An [`Error::Internal`], with what was expected and what was found.
    pub fn internal(found: impl Into<String>) -> Error {
        Error::Internal(found.into())
    }

    /// An [`Error::Damaged`].
    pub fn damaged(what: impl Into<String>, reason: impl Into<String>) -> Error {
        Error::Damaged {
            what: what.into(),
            reason: reason.into(),
        }
    }

    /// Of too little memory, that there is too little for a document which needs so many bytes.
    pub(crate) fn of_document(self, id: &str, needed: usize) -> Error {
        match self {
            Error::Memory { free, budget, .. } => Error::DocumentMemory {
                id: id.to_owned(),
                needed,
                free,
                budget,
            },
            other => other,
        }
    }

    /// Returns true if the stored bytes or the device are at fault, rather than the caller.
    pub fn is_storage_fault(&self) -> bool {
        matches!(
            self,
            Error::Damaged { .. } | Error::Device { .. } | Error::Stopped(_)
        )
    }
}
