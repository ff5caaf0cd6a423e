//! Errors of the engine as Python exceptions.
//!
//! The classes are defined in Python (`python/gannet/_errors.py`), since most have a second base.

use std::io::ErrorKind;
use std::path::Path;

use gannet::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::places::is_url;

/// The module that defines the classes.
const MODULE: &str = "gannet._errors";

/// The classes that are raised without an error of the engine.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The request cannot be carried out.
    Invalid,
    /// There is no document with an ID.
    NotFound,
    /// A handle was closed.
    Closed,
    /// A handle is from before a fork.
    Fork,
    /// A file or a folder is not there.
    Missing,
    /// A call has no option of a name.
    Option,
    /// A text that a result has let go of was changed since.
    Expired,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Kind::Invalid => "InvalidError",
            Kind::NotFound => "NotFoundError",
            Kind::Closed => "ClosedError",
            Kind::Fork => "ForkError",
            Kind::Missing => "MissingError",
            Kind::Option => "OptionError",
            Kind::Expired => "ExpiredError",
        }
    }
}

/// The exception for an error of the engine.
pub fn exception(error: &Error) -> PyErr {
    let class = match error {
        Error::Invalid(_) | Error::Buckets(_) => "InvalidError",
        Error::Memory { .. } | Error::DocumentMemory { .. } | Error::LogMemory { .. } => {
            "LimitError"
        }
        Error::Timeout { .. } | Error::LogTimeout { .. } => "SearchTimeoutError",
        Error::Locked { .. } => "LockedError",
        Error::Format { .. } => "FormatError",
        Error::Damaged { .. } => "DamagedError",
        Error::Device { .. } => "DeviceError",
        Error::Conflict { .. } => "ConflictError",
        Error::Expired { .. } => "ExpiredError",
        Error::Stopped(_) => "StoppedError",
        _ => "InternalError",
    };
    raised(class, own_lock(error).unwrap_or_else(|| error.to_string()))
}

/// Returns the sentence for an index that this process itself holds.
fn own_lock(error: &Error) -> Option<String> {
    let Error::Locked { path, holder } = error else {
        return None;
    };
    let own = format!("process {} (", std::process::id());
    holder.starts_with(&own).then(|| {
        format!(
            "{} is open for writing in this process already: use that handle, close() it, or open this \
             one with read_only=True",
            path.display()
        )
    })
}

/// An exception with a sentence of this crate.
pub fn fault(kind: Kind, sentence: impl Into<String>) -> PyErr {
    raised(kind.class(), sentence.into())
}

/// Returns the exception for a request that cannot be carried out.
pub fn invalid(sentence: impl Into<String>) -> PyErr {
    fault(Kind::Invalid, sentence)
}

/// The same, caused by another exception.
pub fn invalid_from(py: Python<'_>, sentence: impl Into<String>, cause: PyErr) -> PyErr {
    let error = invalid(sentence);
    error.set_cause(py, Some(cause));
    error
}

/// The exception for an error about a path, which may not be there.
pub fn exception_at(path: &Path, error: &Error) -> PyErr {
    match error {
        Error::Invalid(_) | Error::Format { .. } if is_missing(path) && !is_url(path) => {
            fault(Kind::Missing, error.to_string())
        }
        _ => exception(error),
    }
}

fn is_missing(path: &Path) -> bool {
    // The folder of a file without one is this one.
    let found = std::fs::metadata(path);
    !path.as_os_str().is_empty() && found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

fn raised(class: &'static str, sentence: String) -> PyErr {
    Python::attach(|py| match find(py, class) {
        Ok(class) => PyErr::from_type(class, sentence),
        Err(error) => error,
    })
}

fn find<'py>(py: Python<'py>, class: &'static str) -> PyResult<Bound<'py, PyType>> {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = ERRORS.get_or_try_init(py, || py.import(MODULE).map(Bound::unbind))?;
    Ok(module.bind(py).getattr(class)?.cast_into::<PyType>()?)
}

/// Results of the engine as those of Python.
pub trait Raise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> Raise<T> for gannet::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| exception(&error))
    }
}
