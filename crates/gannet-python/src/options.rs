//! The options for opening an index: arguments as Python gives them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use gannet::{Analyzer, BackendChoice, Durability, FieldMapping, Index, Operator, Options};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::errors::{Raise, invalid};

/// A number of bytes: an integer, or text like `512MiB` and `64MB`.
pub struct Bytes(pub usize);

impl<'py> FromPyObject<'_, 'py> for Bytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Bytes> {
        if let Ok(text) = object.extract::<String>() {
            let bytes = gannet::parse_bytes(&text);
            return bytes.map(Bytes).ok_or_else(|| no_size(&text));
        }
        let number = object.extract::<usize>().ok();
        let number = number.filter(|_| !object.is_instance_of::<PyBool>());
        number
            .map(Bytes)
            .ok_or_else(|| no_size(&object.to_string()))
    }
}

/// A budget, or what fits the memory that the process may have.
pub fn memory_or_default(given: Option<Bytes>) -> Bytes {
    given.unwrap_or_else(|| Bytes(gannet::default_memory()))
}

fn no_size(given: &str) -> PyErr {
    invalid(format!(
        "{given:?} is no number of bytes: write it like \"512MiB\", \"64MB\" or 1048576"
    ))
}

/// The arguments of `open` beside the path.
pub struct OpenArguments {
    pub memory: Bytes,
    pub read_only: bool,
    pub create: bool,
    pub analyzer: Option<String>,
    pub analyzers: HashMap<String, String>,
    /// Declared types of fields as JSON.
    pub mapping: Option<String>,
    pub durability: String,
    pub backend: String,
    pub cache_dir: Option<PathBuf>,
    pub cache_size: Option<Bytes>,
    pub cache_writes: Option<Bytes>,
    pub result_cache: Option<Bytes>,
    /// Seconds.
    pub result_ttl: Option<f64>,
}

impl OpenArguments {
    /// The options of the engine.
    pub fn options(&self) -> PyResult<Options> {
        let mut options = Index::options()
            .memory(self.memory.0)
            .create(self.create)
            .durability(durability(&self.durability)?)
            .backend(backend(&self.backend)?);
        if let Some(bytes) = &self.result_cache {
            options = options.result_cache(bytes.0);
        }
        if let Some(seconds) = self.result_ttl {
            options = options.result_ttl(ttl(seconds)?);
        }
        if let Some(name) = &self.analyzer {
            options = options.analyzer(Analyzer::named(name).or_raise()?);
        }
        for (field, name) in &self.analyzers {
            options = options.field_analyzer(field, Analyzer::named(name).or_raise()?);
        }
        if let Some(json) = &self.mapping {
            options = options.mapping(FieldMapping::from_json(json).or_raise()?);
        }
        match (&self.cache_dir, &self.cache_size) {
            (Some(folder), Some(bytes)) => options = options.cache(folder, bytes.0 as u64),
            (Some(folder), None) => options = options.cache_folder(folder),
            (None, None) => {}
            (None, Some(_)) => return Err(invalid("cache_size= is of a cache: give cache_dir=")),
        }
        if let Some(most) = &self.cache_writes {
            options = options.cache_writes(most.0 as u64);
        }
        Ok(if self.read_only {
            options.read_only()
        } else {
            options
        })
    }
}

/// The time for which answers of earlier states are reused.
fn ttl(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        invalid(format!(
            "result_ttl={seconds} is no time: give seconds from 0 on, or None to reuse no answer of an earlier state"
        ))
    })
}

fn durability(name: &str) -> PyResult<Durability> {
    match name {
        "async" => Ok(Durability::Async),
        "sync" => Ok(Durability::Sync),
        other => Err(unknown("durability", other, "async, sync")),
    }
}

fn backend(name: &str) -> PyResult<BackendChoice> {
    match name {
        "auto" => Ok(BackendChoice::Auto),
        "uring" => Ok(BackendChoice::Uring),
        "pread" => Ok(BackendChoice::Pread),
        other => Err(unknown("backend", other, "auto, uring, pread")),
    }
}

/// Returns the operator between words that nothing else joins.
pub fn operator(name: &str) -> PyResult<Operator> {
    match name {
        "or" => Ok(Operator::Or),
        "and" => Ok(Operator::And),
        other => Err(unknown("operator", other, "or, and")),
    }
}

/// The options for reading the text of a query.
#[derive(Clone, Copy)]
pub struct Reading {
    /// The operator between words that nothing else joins.
    pub operator: Operator,
    /// Set if the text is words alone, whatever characters there are.
    pub plain: bool,
}

impl Reading {
    /// Of a query that was built, which has no text.
    pub fn built() -> Reading {
        Reading {
            operator: Operator::Or,
            plain: false,
        }
    }

    /// As the arguments `operator` and `syntax` say.
    pub fn of(operator: &str, syntax: &str) -> PyResult<Reading> {
        Ok(Reading {
            operator: self::operator(operator)?,
            plain: match syntax {
                "query" => false,
                "plain" => true,
                other => return Err(unknown("syntax", other, "query, plain")),
            },
        })
    }
}

/// The error for a value of an option that has only a few.
pub fn unknown(option: &str, given: &str, known: &str) -> PyErr {
    invalid(format!(
        "{option}={given:?} is unknown: give one of {known}"
    ))
}
