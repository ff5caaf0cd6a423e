//! The IDs of all documents of one state, as an iterator, and the documents.

use std::sync::Arc;

use gannet::{Index, Query, SearchOptions};
use pyo3::prelude::*;

use crate::asking::{Asked, Handle, Searched, run};
use crate::errors::{Raise, exception};
use crate::held::Held;
use crate::options::Reading;
use crate::source::Document;

/// IDs that are found at once.
const AT_ONCE: usize = 1_000;

/// The IDs of documents, in the order in which they were written.
#[pyclass(module = "gannet._native")]
pub struct Ids {
    searched: Searched,
    query: Asked,
    options: SearchOptions,
    is_done: bool,
    found: std::vec::IntoIter<gannet::Hit>,
}

impl Ids {
    /// Of the state that is there now.
    pub fn new(searched: &Searched) -> PyResult<Ids> {
        let snapshot = searched.snapshot()?;
        let (what, remedy) = ("the state of the iteration", "begin it again");
        let held = Held::new(snapshot, what.to_owned(), remedy);
        Ok(Ids {
            searched: Searched {
                handle: Handle::Snapshot(Arc::new(held)),
                room: Arc::clone(&searched.room),
            },
            // Without scores, the first documents are found and no others are looked at.
            query: Asked::Built(Query::Bool {
                must: Vec::new(),
                should: Vec::new(),
                must_not: Vec::new(),
                filter: vec![Query::MatchAll],
                minimum_should_match: 0,
            }),
            options: SearchOptions {
                k: AT_ONCE,
                sources: false,
                ..SearchOptions::default()
            },
            is_done: false,
            found: Vec::new().into_iter(),
        })
    }

    fn read(&mut self, py: Python<'_>) -> PyResult<()> {
        let options = self.options.clone();
        let reading = Reading::built();
        let answer = run(py, &self.searched, &self.query, reading, options, None)?;
        let hits = answer.results.hits;
        self.is_done = hits.len() < AT_ONCE;
        if let Some(last) = hits.last() {
            self.options.from = last.doc + 1;
        }
        self.found = hits.into_iter();
        Ok(())
    }
}

#[pymethods]
impl Ids {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<String>> {
        loop {
            match self.found.next() {
                Some(gannet::Hit {
                    error: Some(error), ..
                }) => return Err(exception(&error)),
                Some(hit) => return Ok(Some(hit.id)),
                None if self.is_done => return Ok(None),
                None => self.read(py)?,
            }
        }
    }
}

/// All documents of an index. One that is deleted meanwhile is passed over.
#[pyclass(module = "gannet._native")]
pub struct Documents {
    ids: Ids,
    index: Arc<Held<Index>>,
}

impl Documents {
    /// Of the state that is there now.
    pub fn new(searched: &Searched, index: Arc<Held<Index>>) -> PyResult<Documents> {
        let ids = Ids::new(searched)?;
        Ok(Documents { ids, index })
    }
}

#[pymethods]
impl Documents {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Document>> {
        while let Some(id) = self.ids.__next__(py)? {
            let index = self.index.get()?;
            if let Some(found) = py.detach(|| index.get(&id)).or_raise()? {
                return Ok(Some(Document::from(found)));
            }
        }
        Ok(None)
    }
}
