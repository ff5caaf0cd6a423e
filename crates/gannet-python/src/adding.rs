//! Documents into an index: dicts, iterables of them, files, Arrow data.
//!
//! One dict is written at once. All others go through the pipeline of `gannet-input`: the calling
//! thread takes documents from Python, others prepare and write them without the interpreter's
//! lock. An iterable is asked on the calling thread, where it may use what belongs to this thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use gannet::{Document, Expected, Index};
use gannet_input::{
    Done, End, Feeder, Input, InputFormat, InputOptions, Origin, Pipeline, PipelineOptions,
    Rejection, Watcher, Write,
};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyString};

use crate::arrow_cells::{RowWriter, sentence};
use crate::arrow_stream::{self, has_stream};
use crate::classes::class_of;
use crate::converting::known_fields;
use crate::errors::{Raise, exception, exception_at, invalid};
use crate::interrupts::Interrupts;
use crate::json::{Naming, append_document};
use crate::options::unknown;
use crate::written::Written;

/// The number of rejections that are kept in full.
const TOLD_MAX: usize = 100;

/// Rows that are taken until signals are looked for again.
const ROWS_UNWATCHED: usize = 1024;

/// There is at most one thread for so much of the memory budget.
const MEMORY_PER_THREAD: usize = 4 << 20;

/// The options for adding documents.
pub struct Adding {
    /// The field or column of the external IDs.
    pub id: Option<String>,
    /// Set if all documents become visible at once, or none.
    pub atomic: bool,
    /// Set if a rejected document ends the run.
    pub strict: bool,
    /// The format of a file.
    pub format: Option<InputFormat>,
    /// Threads that prepare.
    pub threads: usize,
}

/// The kinds of sources of documents.
enum Documents {
    File(PathBuf),
    Rows(Box<RecordBatchStreamReader>),
    Items(Py<PyIterator>),
}

/// Takes lines of JSON.
trait Sink {
    /// Takes one document, or why it is none; whether more is wanted.
    fn take(&mut self, py: Python<'_>, line: Result<&[u8], PyErr>) -> PyResult<bool>;
}

impl Adding {
    /// Threads for an index with this budget.
    pub fn threads(asked: Option<usize>, memory: usize) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let most = (memory / MEMORY_PER_THREAD).max(1);
        asked.unwrap_or_else(processors).clamp(1, most)
    }

    /// The format of this name.
    pub fn format(name: &str) -> PyResult<InputFormat> {
        Ok(match name {
            "jsonl" => InputFormat::Jsonl,
            "bulk" => InputFormat::Bulk,
            "csv" => InputFormat::Csv,
            "tsv" => InputFormat::Tsv,
            "text" => InputFormat::Text,
            "text-lines" => InputFormat::TextLines,
            other => {
                let known = "jsonl, bulk, csv, tsv, text, text-lines";
                return Err(unknown("format", other, known));
            }
        })
    }

    /// Adds whatever `documents` has.
    pub fn add(&self, index: &Index, documents: &Bound<'_, PyAny>) -> PyResult<Written> {
        let py = documents.py();
        if !has_stream(documents) && known_fields(documents)?.is_some() {
            return add_one(index, self.naming(), documents, None);
        }
        match (self.documents(documents)?, self.atomic) {
            (Documents::File(_), true) => Err(invalid(
                "a file is not added as one atomic batch: read it, and give a list of documents",
            )),
            (Documents::File(path), false) => self.add_file(py, index, path),
            (Documents::Rows(reader), true) => {
                self.add_batch(py, index, |sink| self.give_rows(py, *reader, sink))
            }
            (Documents::Items(items), true) => {
                self.add_batch(py, index, |sink| self.give_items(py, &items, sink))
            }
            (Documents::Rows(reader), false) => self.feed(py, index, "row", |py, sink| {
                self.give_rows(py, *reader, sink)
            }),
            (Documents::Items(items), false) => self.feed(py, index, "document", |py, sink| {
                self.give_items(py, &items, sink)
            }),
        }
    }

    fn naming(&self) -> Naming<'_> {
        Naming {
            id: self.id.as_deref(),
        }
    }

    fn documents(&self, given: &Bound<'_, PyAny>) -> PyResult<Documents> {
        if given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? {
            let path: PathBuf = given.extract()?;
            return if path.extension().is_some_and(|ending| ending == "parquet") {
                let frames = given.py().import("gannet._frames")?;
                rows(&frames.call_method1("parquet", (given,))?)
            } else {
                Ok(Documents::File(path))
            };
        }
        if has_stream(given) {
            return rows(given);
        }
        if let Some(sentence) = instead(given)? {
            return Err(invalid(sentence));
        }
        match given.try_iter() {
            Ok(items) if !given.is_instance_of::<PyBytes>() => Ok(Documents::Items(items.unbind())),
            _ => Err(invalid(format!(
                "expected a dict, an iterable of dicts, the path of a file, or Arrow data, found {}",
                class_of(given)
            ))),
        }
    }

    fn options(&self) -> PipelineOptions {
        PipelineOptions {
            threads: self.threads,
            commit_every: None,
            strict: self.strict,
            write: Write::Whole,
        }
    }

    fn add_file(&self, py: Python<'_>, index: &Index, path: PathBuf) -> PyResult<Written> {
        let options = InputOptions {
            format: self.format,
            id: self.id.clone(),
            ..InputOptions::default()
        };
        let interrupts = Interrupts::new(None);
        let mut tally = Tally::default();
        let given = path.clone();
        let done = py.detach(|| {
            let sources = Input::all(&[path], options)?;
            let asked = Arc::clone(&interrupts);
            let asked = Arc::new(move || asked.asked());
            let pipeline = Pipeline::new(index, self.options(), asked, &mut tally);
            Ok(pipeline.run(sources, &Arc::new(AtomicU64::new(0))))
        });
        let done = done.map_err(|error| exception_at(&given, &error))?;
        ended(py, done, tally, &interrupts)
    }

    /// Hands over documents that this thread makes.
    fn feed(
        &self,
        py: Python<'_>,
        index: &Index,
        unit: &'static str,
        give: impl FnOnce(Python<'_>, &mut dyn Sink) -> PyResult<()> + Send,
    ) -> PyResult<Written> {
        let interrupts = Interrupts::new(None);
        let mut tally = Tally::default();
        let (done, given) = py.detach(|| {
            let asked = Arc::clone(&interrupts);
            let asked = Arc::new(move || asked.asked());
            let pipeline = Pipeline::new(index, self.options(), asked, &mut tally);
            let origin = Origin {
                name: "the documents given".into(),
                unit,
            };
            pipeline.feed(origin, |feeder| {
                let mut sink = FeederSink {
                    feeder,
                    strict: self.strict,
                    taken: 0,
                    unit,
                };
                Python::attach(|py| {
                    give(py, &mut sink).inspect_err(|error| {
                        // Ctrl-C, and no fault of a document: nothing is waited for.
                        if !error.is_instance_of::<PyException>(py) {
                            interrupts.stop();
                        }
                    })
                })
            })
        });
        let done = done.or_raise()?;
        if let (Err(error), End::Whole | End::Interrupted) = (given, &done.end) {
            let _ = error
                .value(py)
                .call_method1("add_note", (in_index(done.documents),));
            return Err(error);
        }
        ended(py, done, tally, &interrupts)
    }

    /// Writes all documents as one atomic batch.
    fn add_batch(
        &self,
        py: Python<'_>,
        index: &Index,
        give: impl FnOnce(&mut dyn Sink) -> PyResult<()>,
    ) -> PyResult<Written> {
        let mut sink = BatchSink::default();
        give(&mut sink)?;
        let written = py.detach(|| index.write(sink.documents));
        Ok(Written::of(written.or_raise()?))
    }

    fn give_items(
        &self,
        py: Python<'_>,
        items: &Py<PyIterator>,
        sink: &mut dyn Sink,
    ) -> PyResult<()> {
        let mut line = Vec::new();
        let mut items = items.bind(py).clone();
        loop {
            py.check_signals()?;
            let Some(item) = items.next() else {
                return Ok(());
            };
            line.clear();
            let item = item?;
            if !item.is_instance_of::<PyDict>() && has_stream(&item) {
                self.give_rows(py, arrow_stream::reader(&item)?, sink)?;
                continue;
            }
            let written = append_document(&item, self.naming(), &mut line);
            if !sink.take(py, written.map(|()| line.as_slice()))? {
                return Ok(());
            }
        }
    }

    fn give_rows(
        &self,
        py: Python<'_>,
        mut reader: RecordBatchStreamReader,
        sink: &mut dyn Sink,
    ) -> PyResult<()> {
        let writer = RowWriter::new(&reader.schema(), self.id.as_deref()).map_err(invalid)?;
        let mut line = Vec::new();
        // Whoever makes the rows takes the interpreter's lock where that is needed.
        while let Some(batch) = py.detach(|| reader.next()) {
            let batch = batch.map_err(|error| invalid(sentence(&error)))?;
            for row in 0..batch.num_rows() {
                if row % ROWS_UNWATCHED == 0 {
                    py.check_signals()?;
                }
                line.clear();
                let written = writer.append(&batch, row, &mut line).map_err(invalid);
                if !sink.take(py, written.map(|()| line.as_slice()))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Rows of Arrow data.
fn rows(given: &Bound<'_, PyAny>) -> PyResult<Documents> {
    Ok(Documents::Rows(Box::new(arrow_stream::reader(given)?)))
}

/// Returns the advice for an object that has documents and is not taken.
fn instead(given: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let class = class_of(given);
    let has = |name: &str| given.hasattr(name);
    let fix = match class.rsplit('.').next().unwrap_or_default() {
        "LazyFrame" => "has no rows yet: add lazy.collect()",
        "Series" => "is one column: add series.to_frame(\"body\"), with the name of a field",
        "DataFrame" => "gives no Arrow data: add one of pandas 2.2 or polars 1.0, or newer",
        "Scanner" => "is not read yet: add scanner.to_reader()",
        _ if has("read")? && has("readline")? => {
            "is an open file: add its path, or (json.loads(line) for line in file)"
        }
        _ if has("scanner")? => "is not read yet: add dataset.scanner().to_reader()",
        _ if has("__aiter__")? => "is asynchronous: add [one async for one in documents]",
        _ => return Ok(None),
    };
    Ok(Some(format!("{class} {fix}")))
}

/// Adds one document, if it replaces what is expected.
pub fn add_one(
    index: &Index,
    naming: Naming<'_>,
    document: &Bound<'_, PyAny>,
    expected_version: Option<u64>,
) -> PyResult<Written> {
    let mut line = Vec::new();
    append_document(document, naming, &mut line)?;
    let written = document.py().detach(|| match expected_version {
        None => index.write_line(&line),
        Some(version) => {
            let document = Document::parse(&line)?;
            index.add(document.expecting(expected(version)))
        }
    });
    Ok(Written::of(written.or_raise()?))
}

/// Returns the expectation that a version stands for: 0 means that there is no document yet.
pub fn expected(version: u64) -> Expected {
    match version {
        0 => Expected::Absent,
        version => Expected::Version(version),
    }
}

/// Hands lines to a pipeline.
struct FeederSink<'f> {
    feeder: &'f mut Feeder,
    strict: bool,
    taken: u64,
    unit: &'static str,
}

impl Sink for FeederSink<'_> {
    fn take(&mut self, py: Python<'_>, line: Result<&[u8], PyErr>) -> PyResult<bool> {
        self.taken += 1;
        match line {
            Ok(line) => self.feeder.add(line),
            Err(error) if self.strict => return Err(numbered(py, self.unit, self.taken, error)),
            Err(error) => self.feeder.reject(error.value(py).to_string()),
        }
        if !self.feeder.is_full() {
            return Ok(true);
        }
        let feeder = &mut *self.feeder;
        Ok(py.detach(|| feeder.send()))
    }
}

/// Keeps documents until all are there.
#[derive(Default)]
struct BatchSink {
    documents: Vec<Document>,
}

impl Sink for BatchSink {
    fn take(&mut self, py: Python<'_>, line: Result<&[u8], PyErr>) -> PyResult<bool> {
        let document = line.and_then(|line| Document::parse(line).or_raise());
        let number = self.documents.len() as u64 + 1;
        let document = document.map_err(|error| numbered(py, "document", number, error))?;
        self.documents.push(document);
        Ok(true)
    }
}

/// The same error with the place of its document.
fn numbered(py: Python<'_>, unit: &str, number: u64, error: PyErr) -> PyErr {
    let sentence = format!("{unit} {number}: {}", error.value(py));
    let class = error.get_type(py);
    let with_place = PyErr::from_type(class, sentence);
    with_place.set_cause(py, error.cause(py));
    with_place
}

/// The rejections; the first are kept.
#[derive(Default)]
struct Tally {
    told: Vec<String>,
}

impl Watcher for Tally {
    fn wrote(&mut self, _: &Done) {}

    fn rejected(&mut self, rejection: Rejection) {
        if self.told.len() < TOLD_MAX {
            self.told.push(rejection.to_string());
        }
    }
}

/// Returns the results of a run, or the exception for its end.
fn ended(py: Python<'_>, done: Done, tally: Tally, interrupts: &Interrupts) -> PyResult<Written> {
    let before = in_index(done.documents);
    let failed = match &done.end {
        End::Whole => return Ok(Written::run(done, tally.told)),
        End::Rejected(rejection) => invalid(format!("{rejection}; {before}")),
        End::Unreadable(sentence) => invalid(format!("{sentence}; {before}")),
        End::Failed(error) => exception(error),
        End::Interrupted => invalid(format!("interrupted; {before}")),
    };
    let last = done
        .last
        .map_or_else(String::new, |last| format!("; {last}"));
    Err(interrupts.instead(py, failed, &format!("{before}{last}")))
}

fn in_index(documents: u64) -> String {
    match documents {
        1 => "the 1 document before it is in the index".to_owned(),
        count => format!("the {count} documents before it are in the index"),
    }
}
