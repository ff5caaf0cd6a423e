//! Stored documents, decoded when somebody asks for a field.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};

use crate::json;

/// The value of a JSON object, once it was asked for.
pub struct Decoded(PyOnceLock<Py<PyDict>>);

impl Default for Decoded {
    fn default() -> Decoded {
        Decoded(PyOnceLock::new())
    }
}

impl Decoded {
    /// The document as a dict, decoded from `source` the first time.
    pub fn dict<'py>(&self, py: Python<'py>, source: &[u8]) -> PyResult<Bound<'py, PyDict>> {
        let decode = || -> PyResult<Py<PyDict>> {
            Ok(json::value(py, source)?.cast_into::<PyDict>()?.unbind())
        };
        let dict = self.0.get_or_try_init(py, decode)?;
        Ok(dict.bind(py).clone())
    }
}

/// A field of a document, or an error that says which fields there are.
pub fn field<'py>(dict: &Bound<'py, PyDict>, id: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Some(value) = dict.get_item(name)? {
        return Ok(value);
    }
    let names: Vec<String> = dict.keys().extract()?;
    Err(PyKeyError::new_err(format!(
        "document {id} has no field {name:?}; it has: {}",
        names.join(", ")
    )))
}

/// A document as it was stored.
#[pyclass(frozen, mapping, module = "gannet")]
pub struct Document {
    stored: gannet::StoredDocument,
    decoded: Decoded,
}

impl From<gannet::StoredDocument> for Document {
    fn from(stored: gannet::StoredDocument) -> Document {
        Document {
            stored,
            decoded: Decoded::default(),
        }
    }
}

#[pymethods]
impl Document {
    /// The external ID.
    #[getter]
    fn id(&self) -> &str {
        &self.stored.id
    }

    /// How often a document with this ID was written.
    #[getter]
    fn version(&self) -> u64 {
        self.stored.version
    }

    /// All of it, as a dict.
    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.decoded.dict(py, &self.stored.source)
    }

    /// The JSON, byte for byte as it came.
    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.stored.source)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        field(&self.source(py)?, &self.stored.id, name)
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.source(py)?.contains(name)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.source(py)?.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.source(py)?.keys().try_iter()?.into_any())
    }

    /// The names of its fields.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.source(py)?.keys().extract()
    }

    /// A field, or `default` where it is missing.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.source(py)?.get_item(name)?.or(default))
    }

    fn __repr__(&self) -> String {
        format!(
            "<Document {} version={}>",
            self.stored.id, self.stored.version
        )
    }
}
