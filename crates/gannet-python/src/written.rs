//! What a write did, as Python sees it.

use gannet_input::Done;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// What a write did.
#[pyclass(frozen, get_all, module = "gannet")]
pub struct Written {
    /// Documents added, replacements included.
    added: u64,
    /// Those of them that replaced an older one.
    replaced: u64,
    /// Documents deleted.
    deleted: u64,
    /// Documents rejected, where `on_error="skip"` passes over them.
    rejected: u64,
    /// Why, one sentence each, of the first hundred.
    rejections: Vec<String>,
    /// What is to be known of documents that were added, one sentence each.
    notes: Vec<String>,
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

    /// Of its parts, as they were pickled.
    pub fn read(
        (added, replaced, deleted, rejected): (u64, u64, u64, u64),
        rejections: Vec<String>,
        notes: Vec<String>,
    ) -> Written {
        Written {
            added,
            replaced,
            deleted,
            rejected,
            rejections,
            notes,
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
