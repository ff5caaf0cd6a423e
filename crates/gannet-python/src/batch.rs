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
    stage: Mutex<BatchStage>,
}

enum BatchStage {
    Open(Vec<Document>),
    Written(gannet::Written),
    GivenUp,
}

impl Batch {
    /// Without documents.
    pub fn new(index: Arc<Held<Index>>) -> Batch {
        Batch {
            index,
            stage: Mutex::new(BatchStage::Open(Vec::new())),
        }
    }

    fn swap(&self, stage: BatchStage) -> BatchStage {
        let mut place = self.stage.lock().unwrap_or_else(|e| e.into_inner());
        std::mem::replace(&mut *place, stage)
    }

    /// Adds a document; whether the batch is still open.
    fn push(&self, document: Document) -> bool {
        let mut stage = self.stage.lock().unwrap_or_else(|e| e.into_inner());
        match &mut *stage {
            BatchStage::Open(documents) => {
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
        if self.push(document) {
            Ok(())
        } else {
            Err(invalid("the batch has ended: begin a new one with batch()"))
        }
    }

    /// Returns the counts of the batch; None before it ends.
    #[getter]
    fn written(&self) -> Option<Written> {
        let stage = self.stage.lock().unwrap_or_else(|e| e.into_inner());
        match &*stage {
            BatchStage::Written(written) => Some(Written::of(*written)),
            _ => None,
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let BatchStage::Open(documents) = self.swap(BatchStage::GivenUp) else {
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
        self.swap(BatchStage::Written(written));
        Ok(())
    }

    fn __len__(&self) -> usize {
        let stage = self.stage.lock().unwrap_or_else(|e| e.into_inner());
        match &*stage {
            BatchStage::Open(documents) => documents.len(),
            BatchStage::Written(written) => written.added as usize,
            BatchStage::GivenUp => 0,
        }
    }
}
