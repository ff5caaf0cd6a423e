//! The objects below a URL, for shards on object storage.

use std::time::Duration;

use gannet_remote::ObjectFolder;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Raise;

/// The time of a request with all its attempts.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The objects below a URL.
#[pyclass(frozen, name = "ObjectFolder", module = "gannet._native")]
pub struct Objects {
    folder: ObjectFolder,
}

#[pymethods]
impl Objects {
    #[new]
    fn new(py: Python<'_>, url: &str) -> PyResult<Objects> {
        let folder = py.detach(|| ObjectFolder::at(url, TIMEOUT)).or_raise()?;
        Ok(Objects { folder })
    }

    /// An object and its version, or None.
    fn read<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<(Bound<'py, PyBytes>, Option<String>)>> {
        let found = py.detach(|| self.folder.read(name)).or_raise()?;
        Ok(found.map(|found| (PyBytes::new(py, &found.bytes), found.version)))
    }

    /// Replaces an object that is of the version `known`, or makes it where None is known; whether
    /// it did.
    fn replace(
        &self,
        py: Python<'_>,
        name: &str,
        known: Option<String>,
        bytes: Vec<u8>,
    ) -> PyResult<bool> {
        py.detach(|| self.folder.replace(name, known, bytes))
            .or_raise()
    }

    /// The names of all objects.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| self.folder.names()).or_raise()
    }

    /// Whether an index is published here.
    fn has_index(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.folder.has_index()).or_raise()
    }

    /// Removes all objects; how many there were.
    fn remove_all(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.folder.remove_all()).or_raise()
    }
}
