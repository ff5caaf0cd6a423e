//! One state of an index.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::asking::{Handle, Searched};
use crate::held::Held;
use crate::room::Room;
use crate::searching::Searcher;

/// An index as it was at one moment.
#[pyclass(frozen, extends = Searcher, module = "gannet")]
pub struct Snapshot {
    held: Arc<Held<gannet::Snapshot>>,
}

impl Snapshot {
    /// Of the state that the index has now.
    pub fn new(snapshot: gannet::Snapshot, path: &str, room: Arc<Room>) -> (Snapshot, Searcher) {
        let what = format!("the snapshot of {path}");
        let held = Arc::new(Held::new(snapshot, what, "take a new one with snapshot()"));
        let handle = Handle::Snapshot(Arc::clone(&held));
        let searched = Searched { handle, room };
        (Snapshot { held }, Searcher { searched })
    }
}

#[pymethods]
impl Snapshot {
    /// Lets go of what it holds.
    fn close(&self) -> PyResult<()> {
        self.held.take().map(drop)
    }

    /// True if it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.held.is_closed()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close()
    }
}
