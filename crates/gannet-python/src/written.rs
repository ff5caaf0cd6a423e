//! The results of a write, as Python sees them.

use gannet_input::Done;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// The results of a write.
#[pyclass(frozen, get_all, module = "gannet")]
pub struct Written {
    /// Documents added, replacements included.
    pub added: u64,
    /// Documents added that replaced an older one.
    pub replaced: u64,
    /// Documents deleted.
    pub deleted: u64,
    /// Documents rejected, where `on_error="skip"` passes over them.
    pub rejected: u64,
    /// Why, one sentence each, of the first hundred.
    pub rejections: Vec<String>,
    /// Notes on documents that were added, one sentence each.
    pub notes: Vec<String>,
}

impl Written {
    /// Of one call of the engine.
    pub fn of(written: gannet::Written) -> Written {
        Written {
            added: written.added,
            replaced: written.replaced,
            deleted: written.deleted,
            rejected: 0,
            rejections: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Of a run of many batches.
    pub fn run(done: Done, rejections: Vec<String>) -> Written {
        Written {
            added: done.documents,
            replaced: done.replaced + done.updated,
            deleted: done.deleted,
            rejected: done.rejected,
            rejections,
            notes: [done.notes, done.text_notes].concat(),
        }
    }
}

#[pymethods]
impl Written {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let read = py.import("gannet._native")?.getattr("read_written")?;
        let counts = (self.added, self.replaced, self.deleted, self.rejected);
        let parts = (counts, self.rejections.clone(), self.notes.clone());
        (read, parts).into_bound_py_any(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "Written(added={}, replaced={}, deleted={}, rejected={})",
            self.added, self.replaced, self.deleted, self.rejected
        )
    }
}
