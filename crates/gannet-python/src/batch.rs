//! Documents that become visible together.

use std::sync::{Arc, Mutex};

use gannet::{Document, Index};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::adding::expected;
use crate::arguments::ExpectedVersion;
use crate::errors::{Raise, invalid};
use crate::held::Held;
use crate::json::{Naming, append_document};
use crate::written::Written;

/// An atomic batch: all of its documents are written where its block ends, or none.
#[pyclass(frozen, module = "gannet")]
pub struct Batch {
    index: Arc<Held<Index>>,
    state: Mutex<State>,
}

enum State {
    Open(Vec<Document>),
    Written(gannet::Written),
    GivenUp,
}

impl Batch {
    /// Without documents.
    pub fn new(index: Arc<Held<Index>>) -> Batch {
        Batch {
            index,
            state: Mutex::new(State::Open(Vec::new())),
        }
    }

    fn swap(&self, state: State) -> State {
        let mut place = self.state.lock().unwrap_or_else(|e| e.into_inner());
        std::mem::replace(&mut *place, state)
    }

    /// Adds a document; whether the batch is still open.
    fn push(&self, document: Document) -> bool {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        match &mut *state {
            State::Open(documents) => {
                documents.push(document);
                true
            }
            _ => false,
        }
    }
}

#[pymethods]
impl Batch {
    /// Adds one document to the batch. With `expected_version` the whole batch is rejected unless
    /// the document replaces this version; 0 is that there is none.
    #[pyo3(signature = (document, *, expected_version=None))]
    fn add(
        &self,
        document: &Bound<'_, PyAny>,
        expected_version: Option<ExpectedVersion>,
    ) -> PyResult<()> {
        let mut line = Vec::new();
        append_document(document, Naming::default(), &mut line)?;
        let mut document = Document::parse(&line).or_raise()?;
        if let Some(version) = expected_version {
            document = document.expecting(expected(version.0));
        }
        match self.push(document) {
            true => Ok(()),
            false => Err(invalid("the batch has ended: begin a new one with batch()")),
        }
    }

    /// What the batch did; None before it ends.
    #[getter]
    fn written(&self) -> Option<Written> {
        let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        match &*state {
            State::Written(written) => Some(Written::of(*written)),
            _ => None,
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let State::Open(documents) = self.swap(State::GivenUp) else {
            return Ok(());
        };
        if exception
            .iter()
            .next()
            .is_some_and(|class| !class.is_none())
            || documents.is_empty()
        {
            return Ok(());
        }
        let index = self.index.get()?;
        let written = exception
            .py()
            .detach(|| index.write(documents))
            .or_raise()?;
        self.swap(State::Written(written));
        Ok(())
    }

    fn __len__(&self) -> usize {
        let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        match &*state {
            State::Open(documents) => documents.len(),
            State::Written(written) => written.added as usize,
            State::GivenUp => 0,
        }
    }
}
