//! Stored documents, decoded when somebody asks for a field.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping};

use crate::json;

/// The value of a JSON object, once it was asked for.
pub struct Decoded(PyOnceLock<Py<PyDict>>);

impl Default for Decoded {
    fn default() -> Decoded {
        Decoded(PyOnceLock::new())
    }
}

impl Decoded {
    /// The document as a dict, which `decode` makes the first time.
    pub fn dict<'py>(
        &self,
        py: Python<'py>,
        decode: impl FnOnce() -> PyResult<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let decode = || decode().map(Bound::unbind);
        let dict = self.0.get_or_try_init(py, decode)?;
        Ok(dict.bind(py).clone())
    }
}

/// Returns true if a document has the same fields with the same values as another mapping; nothing
/// if the other is none.
pub fn equals(fields: &Bound<'_, PyDict>, other: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    let Ok(other) = other.cast::<PyMapping>() else {
        return Ok(None);
    };
    let items = PyDict::from_sequence(other.items()?.as_any())?;
    fields.eq(items).map(Some)
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

/// The answer of a comparison.
pub fn equal<'py>(py: Python<'py>, answer: Option<bool>) -> PyResult<Bound<'py, PyAny>> {
    match answer {
        Some(equal) => equal.into_bound_py_any(py),
        None => Ok(py.NotImplemented().into_bound(py)),
    }
}

/// Writes the methods of a class: its own, and those of a mapping of the fields of its `source`.
macro_rules! mapping_methods {
    (impl $class:ident { $($own:tt)* }) => {
        #[pymethods]
        impl $class {
            $($own)*

            fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
                $crate::source::field(&self.source(py)?, self.id(), name)
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

            /// The values of its fields.
            fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
                Ok(self.source(py)?.values())
            }

            /// Its fields: names with values.
            fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
                Ok(self.source(py)?.items())
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
        }
    };
}
pub(crate) use mapping_methods;

/// A document as it was stored.
#[pyclass(frozen, mapping, module = "gannet")]
pub struct Document {
    id: String,
    source: Vec<u8>,
    version: u64,
    decoded: Decoded,
}

impl From<gannet::StoredDocument> for Document {
    fn from(stored: gannet::StoredDocument) -> Document {
        Document::new(stored.id, stored.source, stored.version)
    }
}

impl Document {
    /// Of its parts.
    pub fn new(id: String, source: Vec<u8>, version: u64) -> Document {
        Document {
            id,
            source,
            version,
            decoded: Decoded::default(),
        }
    }
}

mapping_methods! {
    impl Document {
        /// The external ID.
        #[getter]
        fn id(&self) -> &str {
            &self.id
        }

        /// The number of times a document with this ID was written.
        #[getter]
        fn version(&self) -> u64 {
            self.version
        }

        /// All of it, as a dict.
        #[getter]
        fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            let decode = || Ok(json::value(py, &self.source)?.cast_into::<PyDict>()?);
            self.decoded.dict(py, decode)
        }

        /// The JSON, byte for byte as it came.
        #[getter]
        fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
            PyBytes::new(py, &self.source)
        }

        /// As another mapping with the same fields is.
        fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
            let py = other.py();
            equal(py, equals(&self.source(py)?, other)?)
        }

        fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            let read = py.import("gannet._native")?.getattr("read_document")?;
            let parts = (&self.id, self.json(py), self.version);
            (read, parts).into_bound_py_any(py)
        }

        fn __repr__(&self) -> String {
            format!("<Document {} version={}>", self.id, self.version)
        }
    }
}
