//! Lines that were rejected: the first are told one by one, the others counted. All go to a file,
//! and a thousand to the JSON of the summary, where that is asked for.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use gannet_input::Rejection;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::size::counted;

/// The number of rejections that are printed in full.
const TOLD_MAX: u64 = 20;

/// The number of rejections in the JSON of the summary.
const KEPT_MAX: usize = 1_000;

/// Tells rejections on standard error.
#[derive(Debug, Default)]
pub struct Rejections {
    count: u64,
    keeps: bool,
    kept: Vec<Value>,
    file: Option<(PathBuf, BufWriter<File>)>,
    failed: Option<io::Error>,
}

impl Rejections {
    /// All rejections go to the file at `path`, and those for the JSON are kept if `keeps`.
    pub fn new(path: Option<&Path>, keeps: bool) -> Outcome<Rejections> {
        let file = match path {
            None => None,
            Some(path) => {
                let file = File::create(path).map_err(|error| Failure::file(path, &error))?;
                Some((path.to_owned(), BufWriter::new(file)))
            }
        };
        Ok(Rejections {
            keeps,
            file,
            ..Rejections::default()
        })
    }

    /// Notes one; what is to be said of it.
    pub fn note(&mut self, rejection: &Rejection) -> Option<String> {
        self.count += 1;
        if let Some((_, file)) = &mut self.file {
            let written = writeln!(file, "{}", object(rejection));
            self.failed = self.failed.take().or(written.err());
        }
        if self.keeps && self.kept.len() < KEPT_MAX {
            self.kept.push(object(rejection));
        }
        (self.count <= TOLD_MAX).then(|| format!("gannet: rejected {rejection}"))
    }

    /// Says how many were not told, and gives those for the JSON.
    pub fn close(mut self) -> Outcome<Vec<Value>> {
        if let Some(more) = self.count.checked_sub(TOLD_MAX).filter(|more| *more > 0) {
            let advice = match (&self.file, self.keeps) {
                (None, false) => ": --rejected FILE keeps all",
                _ => "",
            };
            // The count is in the summary too, if standard error is closed.
            let _ = writeln!(
                io::stderr(),
                "gannet: rejected {}{advice}",
                counted(more, "more line")
            );
        }
        if let Some((path, mut file)) = self.file {
            let flushed = file.flush();
            if let Some(error) = self.failed.take().or(flushed.err()) {
                return Err(Failure::file(&path, &error));
            }
        }
        Ok(self.kept)
    }
}

/// A rejection as JSON: the file, the number of what was rejected under its name, and why.
fn object(rejection: &Rejection) -> Value {
    match &rejection.file {
        Some(file) => json!({"file": **file, "reason": rejection.reason}),
        None => json!({
            "file": *rejection.origin.name,
            (rejection.origin.unit): rejection.line,
            "reason": rejection.reason,
        }),
    }
}
