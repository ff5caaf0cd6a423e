//! Writes the requests for pages of each query to a file, for simulations of caches.
//!
//! A line is a request: the number of the query, then what [`PageRequest`] displays. A query's
//! lines stand together; queries follow each other in the order in which they ended.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use gannet::diagnostics::PageRequest;

use crate::failure::{Failure, Outcome};

/// A trace that is written, by several threads.
pub struct Trace {
    path: PathBuf,
    file: Mutex<TraceFile>,
}

struct TraceFile {
    file: BufWriter<File>,
    /// The first write that failed ends the trace.
    written: io::Result<()>,
}

impl Trace {
    /// Creates the file.
    pub fn create(path: &Path) -> Outcome<Trace> {
        let file = File::create(path).map_err(|error| Failure::file(path, &error))?;
        Ok(Trace {
            path: path.to_owned(),
            file: Mutex::new(TraceFile {
                file: BufWriter::new(file),
                written: Ok(()),
            }),
        })
    }

    /// Adds the requests of a query.
    pub fn add(&self, query: usize, requests: &[PageRequest]) {
        let TraceFile { file, written } = &mut *self.lock();
        if written.is_ok() {
            let mut lines = requests.iter();
            *written = lines.try_for_each(|request| writeln!(file, "{query}\t{request}"));
        }
    }

    /// Writes the rest. Fails if anything could not be written.
    pub fn finish(&self) -> Outcome<()> {
        let TraceFile { file, written } = &mut *self.lock();
        let written = std::mem::replace(written, Ok(()));
        let written = written.and_then(|()| file.flush());
        written.map_err(|error| Failure::file(&self.path, &error))
    }

    fn lock(&self) -> MutexGuard<'_, TraceFile> {
        self.file.lock().unwrap_or_else(|e| e.into_inner())
    }
}
