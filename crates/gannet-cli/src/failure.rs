//! Why a command failed: one sentence for people, one exit code for programs.
//!
//! 0: done. 1: the caller's fault (a bad query, a wrong path, refused input). 2: a damaged index or a failing
//! device. 3: a query that took longer than its time limit. A reader that closed the pipe wants no more, which is no failure.

use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What commands return.
pub type Outcome<T> = Result<T, Failure>;

const CALLERS_FAULT: u8 = 1;
const STORAGE_FAULT: u8 = 2;
const TIMED_OUT: u8 = 3;

/// An end before the work was done.
#[derive(Debug)]
pub struct Failure {
    /// Nothing where it goes without saying.
    sentence: Option<String>,
    code: u8,
}

impl Failure {
    /// The caller can mend it.
    pub fn caller(sentence: impl Into<String>) -> Failure {
        Failure {
            sentence: Some(sentence.into()),
            code: CALLERS_FAULT,
        }
    }

    /// The index, the device or the program is at fault.
    pub fn fault(sentence: impl Into<String>) -> Failure {
        Failure {
            sentence: Some(sentence.into()),
            code: STORAGE_FAULT,
        }
    }

    /// All was said already: only the exit code is left.
    pub fn said(code: u8) -> Failure {
        Failure {
            sentence: None,
            code,
        }
    }

    /// A file that is not part of an index could not be used.
    pub fn file(path: &Path, error: &io::Error) -> Failure {
        Failure::caller(format!("{}: {error}", path.display()))
    }

    /// Says the sentence on standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        if let Some(sentence) = self.sentence {
            // Nobody is left to tell when standard error is closed.
            let _ = io::Write::write_all(
                &mut io::stderr(),
                format!("gannet: {sentence}\n").as_bytes(),
            );
        }
        ExitCode::from(self.code)
    }
}

impl From<gannet::Error> for Failure {
    fn from(error: gannet::Error) -> Failure {
        let code = match error {
            gannet::Error::Timeout { .. } => TIMED_OUT,
            _ if error.is_storage_fault() => STORAGE_FAULT,
            _ => CALLERS_FAULT,
        };
        Failure {
            sentence: Some(error.to_string()),
            code,
        }
    }
}

impl From<io::Error> for Failure {
    /// An error of writing to standard output.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::said(0),
            _ => Failure::caller(format!("cannot write to standard output: {error}")),
        }
    }
}
