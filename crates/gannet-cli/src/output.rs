//! Writes results: text, or one line of JSON if the caller asks for it.
//!
//! A pipe gets the same text as a terminal, without colour. Documents are JSON or CSV either way.
//!
//! A reader that closed its end of the pipe wants no more. That is no failure: what is written from
//! then on goes nowhere, and the command ends with the exit code that it would have had anyway.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use serde_json::Value;

use crate::arguments::{ColorChoice, Common};
use crate::failure::Outcome;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Words, for people.
    Text,
    /// One JSON object for the whole answer.
    Json,
}

/// Standard output, buffered.
pub struct Output {
    stdout: BufWriter<Stdout>,
    form: Form,
    is_terminal: bool,
    colored: bool,
    /// Set once the reader has closed the pipe.
    closed: bool,
}

impl Output {
    /// Standard output in the form that the arguments ask for.
    pub fn new(common: &Common) -> Output {
        let terminal = io::stdout().is_terminal();
        let form = if common.json { Form::Json } else { Form::Text };
        Output {
            stdout: BufWriter::new(io::stdout()),
            form,
            is_terminal: terminal,
            colored: colored(common.color, terminal),
            closed: false,
        }
    }

    /// The form of the answer.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns true if the output is JSON.
    pub fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Returns true if a terminal shows the output.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes one line of text.
    pub fn line(&mut self, text: impl AsRef<str>) -> Outcome<()> {
        self.bytes(text.as_ref().as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes one JSON value as a line.
    pub fn json(&mut self, value: &Value) -> Outcome<()> {
        self.line(value.to_string())
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Outcome<()> {
        if self.closed {
            Ok(())
        } else {
            let written = self.stdout.write_all(bytes);
            self.unless_closed(written)
        }
    }

    /// Returns true if nobody reads any more, so that long work may end.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    fn unless_closed(&mut self, written: io::Result<()>) -> Outcome<()> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            written => Ok(written?),
        }
    }

    /// `text` in bold, if there is colour.
    pub fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    /// `text` so that it stands back, if there is colour.
    pub fn dim(&self, text: &str) -> String {
        self.styled("2", text)
    }

    /// `text` as a name, if there is colour.
    pub fn accent(&self, text: &str) -> String {
        self.styled("36", text)
    }

    /// `text` as something that was searched for: in bold, or in square brackets if there is no
    /// colour.
    pub fn found(&self, text: &str) -> String {
        if self.colored {
            self.styled("1;33", text)
        } else {
            format!("[{text}]")
        }
    }

    fn styled(&self, code: &str, text: &str) -> String {
        if self.colored {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Everything is written out.
    pub fn finish(&mut self) -> Outcome<()> {
        let flushed = self.stdout.flush();
        self.unless_closed(flushed)
    }
}

fn colored(choice: ColorChoice, terminal: bool) -> bool {
    let rejected = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && !rejected(),
    }
}

/// `text` without characters that would steer a terminal: stored text is data, never commands.
pub fn harmless(text: &str) -> String {
    let tame = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(tame).collect()
}
