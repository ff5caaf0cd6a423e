//! An open index as Python sees it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gannet::{Document as EngineDocument, Index, SearchOptions};
use gannet_remote::PublishOptions;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};

use crate::adding::{Adding, add_one, expected};
use crate::arguments::{self, ExpectedVersion, Threads};
use crate::asking::{Asked, Handle, Searched};
use crate::batch::Batch;
use crate::classes::class_of;
use crate::converting::fields_of;
use crate::errors::{Kind, Raise, fault, invalid};
use crate::held::Held;
use crate::ids::Documents;
use crate::json::{Naming, append_document};
use crate::options::{Bytes, Reading, unknown as unknown_value};
use crate::places::is_url;
use crate::room::Room;
use crate::searching::Searcher;
use crate::snapshot::Snapshot;
use crate::source::Document;
use crate::written::Written;

/// The options of `add`, as errors list them.
const ADD: [&str; 6] = [
    "id",
    "atomic",
    "expected_version",
    "on_error",
    "format",
    "threads",
];

/// An index in a folder.
#[pyclass(frozen, weakref, extends = Searcher, name = "Index", module = "gannet")]
pub struct PyIndex {
    held: Arc<Held<Index>>,
    room: Arc<Room>,
    path: PathBuf,
    memory: usize,
    read_only: bool,
}

/// An external ID: text, or an integer that is taken as its digits.
pub struct Id(String);

impl<'py> FromPyObject<'_, 'py> for Id {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Id> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Id(text.to_string()));
        }
        match object.extract::<i64>() {
            Ok(number) if !object.is_instance_of::<PyBool>() => Ok(Id(number.to_string())),
            _ => Err(invalid(format!(
                "expected an ID, which is a string or an integer, found {}",
                class_of(&object)
            ))),
        }
    }
}

impl PyIndex {
    /// Of an index of the engine.
    pub fn new(
        py: Python<'_>,
        index: Index,
        path: PathBuf,
        memory: usize,
        read_only: bool,
    ) -> PyResult<Py<PyIndex>> {
        let what = format!("the index {}", path.display());
        let held = Arc::new(Held::new(index, what, "open it again with gannet.open"));
        let room = Room::new(memory);
        let searched = Searched {
            handle: Handle::Index(Arc::clone(&held)),
            room: Arc::clone(&room),
        };
        let index = PyIndex {
            held,
            room,
            path,
            memory,
            read_only,
        };
        Py::new(py, (index, Searcher { searched }))
    }

    fn missing(&self, id: &str) -> PyErr {
        let sentence = format!("the index {} has no document {id:?}", self.path.display());
        fault(Kind::NotFound, sentence)
    }

    /// The document with the known ID that a dict is.
    fn document(id: &str, given: &Bound<'_, PyAny>) -> PyResult<EngineDocument> {
        let given = fields_of(given)?;
        let mut line = Vec::new();
        append_document(given.as_any(), Naming::default(), &mut line)?;
        if given.contains("id")? {
            EngineDocument::parse(&line)
        } else {
            EngineDocument::parse_as(Some(id.to_owned()), &line)
        }
        .or_raise()
    }

    /// Changes a document by members that take the place of its own; `upsert` is written where
    /// there is none.
    fn merge(
        &self,
        py: Python<'_>,
        id: &str,
        partial: &[u8],
        upsert: Option<&EngineDocument>,
    ) -> PyResult<Written> {
        let index = self.held.get()?;
        let mut is_missing = false;
        let written = py.detach(|| {
            index.update(id, |found| match (found, upsert) {
                (Some(found), _) => found.merged(partial).map(Some),
                (None, Some(upsert)) => Ok(Some(upsert.clone())),
                (None, None) => {
                    is_missing = true;
                    Err(gannet::Error::invalid("there is no document"))
                }
            })
        });
        if is_missing {
            Err(self.missing_to_change(id))
        } else {
            written.or_raise().map(Written::of)
        }
    }

    /// The same, if the document has this version; 0 is that there is none.
    fn merge_expecting(
        &self,
        py: Python<'_>,
        id: &str,
        partial: &[u8],
        upsert: Option<EngineDocument>,
        version: u64,
    ) -> PyResult<Written> {
        let index = self.held.get()?;
        let changed = match (py.detach(|| index.get(id)).or_raise()?, upsert) {
            (Some(found), _) => found.merged(partial).or_raise()?,
            (None, Some(upsert)) => upsert,
            (None, None) => return Err(self.missing_to_change(id)),
        };
        let changed = changed.expecting(expected(version));
        py.detach(|| index.add(changed)).or_raise().map(Written::of)
    }

    fn missing_to_change(&self, id: &str) -> PyErr {
        let path = self.path.display();
        let sentence = format!(
            "the index {path} has no document {id:?} to change: add it, or say with upsert= what to write then"
        );
        fault(Kind::NotFound, sentence)
    }

    /// Changes a document by what a function gives for it.
    fn change(&self, py: Python<'_>, id: &str, function: &Bound<'_, PyAny>) -> PyResult<Written> {
        let (index, function) = (self.held.get()?, function.clone().unbind());
        let mut raised = None;
        let written = py.detach(|| {
            index.update(id, |found| {
                Python::attach(|py| {
                    let changed = changed(py, id, found, &function);
                    changed.map_err(|error| {
                        raised = Some(error);
                        gannet::Error::invalid("the function raised an exception")
                    })
                })
            })
        });
        match raised {
            Some(error) => Err(error),
            None => written.or_raise().map(Written::of),
        }
    }
}

/// Returns the document that takes the place of another; nothing if it stays.
fn changed(
    py: Python<'_>,
    id: &str,
    found: Option<&gannet::StoredDocument>,
    function: &Py<PyAny>,
) -> PyResult<Option<EngineDocument>> {
    let given = match found {
        None => None,
        Some(found) => Some(crate::json::value(py, &found.source)?),
    };
    let changed = function.bind(py).call1((given,))?;
    if changed.is_none() {
        Ok(None)
    } else {
        PyIndex::document(id, &changed).map(Some)
    }
}

#[pymethods]
impl PyIndex {
    /// Adds documents, or replaces those with their IDs: a dict, an iterable of dicts, the path of
    /// a file, or Arrow data.
    #[pyo3(signature = (documents, *, id=None, atomic=false, expected_version=None, on_error="raise", format=None, threads=None, **unknown))]
    #[pyo3(
        text_signature = "($self, documents, *, id=None, atomic=False, expected_version=None, on_error='raise', format=None, threads=None)"
    )]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add(
        &self,
        documents: &Bound<'_, PyAny>,
        id: Option<String>,
        atomic: bool,
        expected_version: Option<ExpectedVersion>,
        on_error: &str,
        format: Option<&str>,
        threads: Option<Threads>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Written> {
        arguments::none("add", &ADD, unknown)?;
        let index = self.held.get()?;
        let strict = match on_error {
            "raise" => true,
            "skip" => false,
            other => return Err(unknown_value("on_error", other, "raise, skip")),
        };
        if let Some(version) = expected_version {
            let naming = Naming { id: id.as_deref() };
            return add_one(&index, naming, documents, Some(version.0));
        }
        let threads = threads.map(|threads| threads.0);
        let adding = Adding {
            id,
            atomic,
            strict,
            format: format.map(Adding::format).transpose()?,
            threads: Adding::threads(threads, self.memory),
        };
        adding.add(&index, documents)
    }

    /// Begins an atomic batch, which is written where its block ends.
    fn batch(&self) -> PyResult<Batch> {
        self.held.get()?;
        Ok(Batch::new(Arc::clone(&self.held)))
    }

    /// Changes one document: by a dict, whose members take the place of those of the document, or
    /// by a function that gets the document as a dict, or None, and gives what takes its place.
    #[pyo3(signature = (id, changes, *, upsert=None, expected_version=None))]
    fn update(
        &self,
        py: Python<'_>,
        id: Id,
        changes: &Bound<'_, PyAny>,
        upsert: Option<&Bound<'_, PyAny>>,
        expected_version: Option<ExpectedVersion>,
    ) -> PyResult<Written> {
        if changes.is_callable() {
            return if upsert.is_none() && expected_version.is_none() {
                self.change(py, &id.0, changes)
            } else {
                Err(invalid(
                    "a function is given what there is: leave upsert and expected_version out",
                ))
            };
        }
        let mut partial = Vec::new();
        append_document(changes, Naming::default(), &mut partial)?;
        let upsert = upsert
            .map(|upsert| PyIndex::document(&id.0, upsert))
            .transpose()?;
        match expected_version {
            None => self.merge(py, &id.0, &partial, upsert.as_ref()),
            Some(version) => self.merge_expecting(py, &id.0, &partial, upsert, version.0),
        }
    }

    /// Deletes documents by ID; unknown IDs are passed over.
    #[pyo3(signature = (ids, *, expected_version=None))]
    fn delete(
        &self,
        ids: &Bound<'_, PyAny>,
        expected_version: Option<ExpectedVersion>,
    ) -> PyResult<Written> {
        let (py, index) = (ids.py(), self.held.get()?);
        let one = ids.is_instance_of::<PyString>() || ids.try_iter().is_err();
        if let Some(version) = expected_version {
            let id: Id = ids.extract()?;
            let deleted = py.detach(|| index.delete_expecting(&id.0, expected(version.0)));
            return deleted.or_raise().map(Written::of);
        }
        let ids: Vec<Id> = if one {
            vec![ids.extract()?]
        } else {
            ids.try_iter()?
                .map(|id| id?.extract())
                .collect::<PyResult<_>>()?
        };
        let ids: Vec<&str> = ids.iter().map(|id| id.0.as_str()).collect();
        py.detach(|| index.delete(&ids)).or_raise().map(Written::of)
    }

    /// Deletes all documents that a query finds.
    #[pyo3(signature = (query, *, operator="or", syntax="query"))]
    fn delete_matching(
        &self,
        py: Python<'_>,
        query: Asked,
        operator: &str,
        syntax: &str,
    ) -> PyResult<Written> {
        let index = self.held.get()?;
        let reading = Reading::of(operator, syntax)?;
        let options = SearchOptions::default();
        let parsed = query.parse(&index.snapshot(), reading, &options);
        let query = parsed.or_raise()?.query;
        let deleted = py.detach(|| index.delete_matching(&query, &|_| ()));
        deleted.or_raise().map(Written::of)
    }

    /// The document with this ID, or None.
    fn get(&self, py: Python<'_>, id: Id) -> PyResult<Option<Document>> {
        let index = self.held.get()?;
        let found = py.detach(|| index.get(&id.0)).or_raise()?;
        Ok(found.map(Document::from))
    }

    fn __getitem__(&self, py: Python<'_>, id: Id) -> PyResult<Document> {
        let name = id.0.clone();
        self.get(py, id)?.ok_or_else(|| self.missing(&name))
    }

    /// Writes a document with this ID.
    fn __setitem__(&self, py: Python<'_>, id: Id, document: &Bound<'_, PyAny>) -> PyResult<()> {
        let index = self.held.get()?;
        let document = PyIndex::document(&id.0, document)?;
        if document.id() != Some(id.0.as_str()) {
            let found = document.id().unwrap_or_default();
            return Err(invalid(format!(
                "the document has the ID {found:?}, and is to be written as {:?}: leave its field \"id\" out",
                id.0
            )));
        }
        py.detach(|| index.add(document)).or_raise().map(drop)
    }

    /// All documents, in the order in which they were written.
    fn __iter__(slf: &Bound<'_, PyIndex>) -> PyResult<Documents> {
        let searched = &slf.as_super().get().searched;
        Documents::new(searched, Arc::clone(&slf.get().held))
    }

    fn __delitem__(&self, py: Python<'_>, id: Id) -> PyResult<()> {
        let index = self.held.get()?;
        match py.detach(|| index.delete(&[&id.0])).or_raise()?.deleted {
            0 => Err(self.missing(&id.0)),
            _ => Ok(()),
        }
    }

    fn __contains__(&self, py: Python<'_>, id: Id) -> PyResult<bool> {
        let index = self.held.get()?;
        py.detach(|| index.contains(&id.0)).or_raise()
    }

    /// The index as it is now, which no later write changes.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<Snapshot>> {
        let index = self.held.get()?;
        let path = self.path.display().to_string();
        let room = Arc::clone(&self.room);
        Py::new(py, Snapshot::new(index.snapshot(), &path, room))
    }

    /// Moves a reader to what a writer in another process has written meanwhile; whether there was
    /// anything.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let index = self.held.get()?;
        py.detach(|| index.refresh()).or_raise()
    }

    /// Makes everything durable that was written before the call.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        let index = self.held.get()?;
        py.detach(|| index.sync()).or_raise()
    }

    /// Moves all postings to flash, for readers in other processes.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        let index = self.held.get()?;
        py.detach(|| index.checkpoint()).or_raise()
    }

    /// Purges deleted documents, merges small chunks and returns space, where that pays.
    fn vacuum(&self, py: Python<'_>) -> PyResult<()> {
        let index = self.held.get()?;
        while py.detach(|| index.vacuum()).or_raise()? {
            py.check_signals()?;
        }
        while py.detach(|| index.clean()).or_raise()? {
            py.check_signals()?;
        }
        Ok(())
    }

    /// Writes the index anew, without what was deleted.
    fn rebuild(&self, py: Python<'_>) -> PyResult<()> {
        let index = self.held.get()?;
        py.detach(|| index.rebuild(&mut |_, _, _| ())).or_raise()
    }

    /// Reads every page and compares the postings with the documents: what is wrong, one sentence
    /// each.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let index = self.held.get()?;
        let report = py.detach(|| index.check(&|_, _| ())).or_raise()?;
        Ok(report.findings)
    }

    /// Copies the index into a folder while writing goes on; a later backup copies only what is
    /// new.
    fn backup<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
        if is_url(&path) {
            return Err(invalid(format!(
                "{} is a URL: publish() copies an index there",
                path.display()
            )));
        }
        let index = self.held.get()?;
        let report = py
            .detach(|| index.backup(&path, &mut |_, _| ()))
            .or_raise()?;
        let all = PyDict::new(py);
        all.set_item("documents", report.documents)?;
        all.set_item("bytes", report.bytes)?;
        all.set_item("bytes_copied", report.bytes_copied)?;
        all.set_item("incremental", report.incremental)?;
        Ok(all)
    }

    /// Copies the index to a URL while writing goes on; a later publication copies only what is
    /// new.
    #[pyo3(signature = (url, *, keep=3600.0, memory=Bytes(PublishOptions::default().memory)))]
    fn publish<'py>(
        &self,
        py: Python<'py>,
        url: &str,
        keep: f64,
        memory: Bytes,
    ) -> PyResult<Bound<'py, PyDict>> {
        let keep = Duration::try_from_secs_f64(keep).map_err(|_| {
            invalid(format!(
                "keep={keep} is no time: give how many seconds replaced objects stay"
            ))
        })?;
        let options = PublishOptions {
            keep,
            memory: memory.0,
            ..PublishOptions::default()
        };
        let index = self.held.get()?;
        let report = py
            .detach(|| gannet_remote::publish(&index, url, &options, &mut |_, _| ()))
            .or_raise()?;
        let all = PyDict::new(py);
        all.set_item("documents", report.copied.documents)?;
        all.set_item("bytes", report.copied.bytes)?;
        all.set_item("bytes_sent", report.requests.put_bytes)?;
        all.set_item("publication", report.publication)?;
        all.set_item("is_new", report.is_new)?;
        all.set_item("objects_removed", report.removed)?;
        all.set_item("objects_not_removed", report.not_removed)?;
        Ok(all)
    }

    /// Returns the contents of the index in figures.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let index = self.held.get()?;
        let stats = py.detach(|| index.stats()).or_raise()?;
        let all = PyDict::new(py);
        all.set_item("documents", stats.documents)?;
        all.set_item("dead_documents", stats.dead_documents)?;
        all.set_item("terms", stats.terms + stats.terms_in_memory)?;
        all.set_item("index_bytes", stats.bytes.allocated)?;
        all.set_item("memory_bytes", stats.memory.budget)?;
        all.set_item("memory_bytes_used", stats.memory.used)?;
        all.set_item("flushes", stats.flushes)?;
        all.set_item("bytes_written", stats.written.total())?;
        Ok(all)
    }

    /// The folder.
    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// The memory budget in bytes.
    #[getter]
    fn memory(&self) -> usize {
        self.memory
    }

    /// True if it was opened for reading only.
    #[getter]
    fn read_only(&self) -> bool {
        self.read_only
    }

    /// The backend of I/O: uring or pread.
    #[getter]
    fn backend(&self) -> PyResult<String> {
        Ok(self.held.get()?.backend().to_string())
    }

    /// True if it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.held.is_closed()
    }

    /// Ends writing with a checkpoint. To close a closed index does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.held.take()? {
            None => Ok(()),
            Some(index) => py.detach(|| index.close()).or_raise(),
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// As its path: where it is unpickled it is opened for reading, since one process writes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, usize))> {
        let reopen = py.import("gannet._native")?.getattr("reopen")?;
        Ok((reopen, (self.path(), self.memory)))
    }

    fn __repr__(&self) -> String {
        let state = match (self.held.is_closed(), self.read_only) {
            (true, _) => "closed",
            (false, true) => "open for reading",
            (false, false) => "open",
        };
        format!("<Index {} {state}>", self.path.display())
    }
}

impl Drop for PyIndex {
    /// An index that nobody holds any more is closed, so that what was written is kept.
    fn drop(&mut self) {
        if let Ok(Some(index)) = self.held.take() {
            // There is nobody to tell.
            let _ = Python::try_attach(|py| py.detach(|| index.close()));
        }
    }
}
