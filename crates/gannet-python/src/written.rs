//! What a write did, as Python sees it.

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
        }
    }

    /// Of a run of many batches.
    pub fn run(added: u64, replaced: u64, rejected: u64, rejections: Vec<String>) -> Written {
        Written::new(added, replaced, 0, rejected, rejections)
    }

    /// Of its parts.
    pub fn new(
        added: u64,
        replaced: u64,
        deleted: u64,
        rejected: u64,
        rejections: Vec<String>,
    ) -> Written {
        Written {
            added,
            replaced,
            deleted,
            rejected,
            rejections,
        }
    }
}

#[pymethods]
impl Written {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let read = py.import("gannet._native")?.getattr("read_written")?;
        let (added, replaced, deleted) = (self.added, self.replaced, self.deleted);
        let parts = (
            added,
            replaced,
            deleted,
            self.rejected,
            self.rejections.clone(),
        );
        (read, parts).into_bound_py_any(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "Written(added={}, replaced={}, deleted={}, rejected={})",
            self.added, self.replaced, self.deleted, self.rejected
        )
    }
}
