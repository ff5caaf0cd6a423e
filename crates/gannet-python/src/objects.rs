//! The objects below a URL, for shards on object storage.

use std::sync::Arc;
use std::time::Duration;

use gannet_remote::ObjectFolder;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Raise;
use crate::held::Held;

/// The time of a request with all its attempts.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The objects below a URL.
#[pyclass(frozen, name = "ObjectFolder", module = "gannet._native")]
pub struct Objects {
    held: Held<Arc<ObjectFolder>>,
}

#[pymethods]
impl Objects {
    #[new]
    fn new(py: Python<'_>, url: &str) -> PyResult<Objects> {
        let folder = py.detach(|| ObjectFolder::at(url, TIMEOUT)).or_raise()?;
        let held = Held::new(
            Arc::new(folder),
            format!("the objects of {url}"),
            "look again",
        );
        Ok(Objects { held })
    }

    /// An object and its version, or None.
    fn read<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<(Bound<'py, PyBytes>, Option<String>)>> {
        let folder = self.held.get()?;
        let found = py.detach(|| folder.read(name)).or_raise()?;
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
        let folder = self.held.get()?;
        py.detach(|| folder.replace(name, known, bytes)).or_raise()
    }

    /// The names of all objects.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let folder = self.held.get()?;
        py.detach(|| folder.names()).or_raise()
    }

    /// Returns true if an index is published here.
    fn has_index(&self, py: Python<'_>) -> PyResult<bool> {
        let folder = self.held.get()?;
        py.detach(|| folder.has_index()).or_raise()
    }

    /// Removes all objects; how many there were.
    fn remove_all(&self, py: Python<'_>) -> PyResult<u64> {
        let folder = self.held.get()?;
        py.detach(|| folder.remove_all()).or_raise()
    }
}
