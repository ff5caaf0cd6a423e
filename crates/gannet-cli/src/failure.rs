//! Why a command failed: one sentence for people, one exit code for programs.
//!
//! 0: done. 1: the caller's fault (a bad query, a wrong path, rejected input). 2: a damaged index
//! or a failing device. 3: a query that took longer than its time limit. 4: a bug of the program.
//! 5: a writer in another process needed the space of the state that was read; the same command
//! works on the newer state. 130, 143: an interrupt or a request to terminate, after an orderly
//! end. A reader that closed the pipe wants no more, which is no failure.

use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The result of a command.
pub type Outcome<T> = Result<T, Failure>;

const CALLERS_FAULT: u8 = 1;
const STORAGE_FAULT: u8 = 2;
const TIMED_OUT: u8 = 3;
const BUG: u8 = 4;
const EXPIRED: u8 = 5;

/// An end before the work was done.
#[derive(Debug)]
pub struct Failure {
    /// Nothing where it goes without saying.
    sentence: Option<String>,
    code: u8,
}

/// Says something on standard error that is no failure.
pub fn remark(note: &str) {
    say(&format!("note: {note}"));
}

/// Says a sentence on standard error.
pub fn say(sentence: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = io::Write::write_all(
        &mut io::stderr(),
        format!("gannet: {sentence}\n").as_bytes(),
    );
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

    /// A signal asked for the end.
    pub fn interrupted(sentence: impl Into<String>, code: u8) -> Failure {
        Failure {
            sentence: Some(sentence.into()),
            code,
        }
    }

    /// All was said already: only the exit code is left.
    pub fn said(code: u8) -> Failure {
        Failure {
            sentence: None,
            code,
        }
    }

    /// The same failure, of which all was said already.
    pub fn but_said(self) -> Failure {
        Failure::said(self.code)
    }

    /// A file that is not part of an index could not be used.
    pub fn file(path: &Path, error: &io::Error) -> Failure {
        Failure::caller(format!("{}: {error}", path.display()))
    }

    /// The same failure with another sentence, made of the one that it has.
    pub fn within(self, say: impl FnOnce(&str) -> String) -> Failure {
        Failure {
            sentence: self.sentence.map(|sentence| say(&sentence)),
            ..self
        }
    }

    /// The sentence, where there is one.
    pub fn sentence(&self) -> Option<&str> {
        self.sentence.as_deref()
    }

    /// The same failure with more to say.
    pub fn and_say(mut self, more: &str) -> Failure {
        self.sentence = self.sentence.map(|sentence| format!("{sentence}; {more}"));
        self
    }

    /// Says the sentence on standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        if let Some(sentence) = self.sentence {
            say(&sentence);
        }
        ExitCode::from(self.code)
    }
}

impl From<gannet::Error> for Failure {
    fn from(error: gannet::Error) -> Failure {
        let code = match &error {
            gannet::Error::Timeout { .. } | gannet::Error::LogTimeout { .. } => TIMED_OUT,
            gannet::Error::Internal(_) => BUG,
            gannet::Error::Expired { .. } => EXPIRED,
            error if error.is_storage_fault() => STORAGE_FAULT,
            _ => CALLERS_FAULT,
        };
        let failure = Failure {
            sentence: Some(error.to_string()),
            code,
        };
        match code {
            EXPIRED => failure.and_say("run the command again"),
            _ => failure,
        }
    }
}

impl From<io::Error> for Failure {
    /// An error of writing to standard output.
    fn from(error: io::Error) -> Failure {
        Failure::caller(format!("cannot write to standard output: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use gannet::Error;

    use super::Failure;

    fn expired() -> Error {
        Error::Expired {
            seconds: 3,
            held: "space".to_owned(),
            remedy: "open the index again",
        }
    }

    #[test]
    fn the_exit_code_says_whose_matter_an_error_is() {
        for (error, code) in [
            (Error::invalid("a bad query"), 1),
            (Error::damaged("page 3", "expected one, found two"), 2),
            (Error::internal("expected one, found two"), 4),
            (expired(), 5),
        ] {
            assert_eq!(Failure::from(error).code, code);
        }
        let said = Failure::from(Error::internal("expected one, found two")).sentence;
        let said = said.unwrap_or_default();
        assert!(
            ["expected one", "bug", "report"]
                .iter()
                .all(|part| said.contains(part)),
            "{said}"
        );
    }
}
