//! Searching: what an index and a snapshot have in common.

use std::sync::Arc;
use std::time::Duration;

use gannet::{Index, Query, SearchOptions, SearchResults, Snapshot};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::{Raise, exception, invalid};
use crate::held::Held;
use crate::hits::Hits;
use crate::interrupts::{CancelToken, Interrupts};
use crate::json::class_of;
use crate::many::{self, Rankings};
use crate::options::operator;
use crate::query::PyQuery;

/// The longest time limit: a year.
const LONGEST: f64 = 365.0 * 24.0 * 3600.0;

/// What is searched.
#[derive(Clone)]
pub enum Searched {
    /// Always the newest state.
    Index(Arc<Held<Index>>),
    /// One state.
    Snapshot(Arc<Held<Snapshot>>),
}

impl Searched {
    /// The state to search.
    pub fn snapshot(&self) -> PyResult<Snapshot> {
        match self {
            Searched::Index(index) => Ok(index.get()?.snapshot()),
            Searched::Snapshot(snapshot) => snapshot.get(),
        }
    }
}

/// A query as it is given: text, or one that was built.
pub enum Asked {
    Text(String),
    Built(Query),
}

impl<'py> FromPyObject<'_, 'py> for Asked {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Asked> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Asked::Text(text.to_string()));
        }
        if let Ok(query) = object.cast::<PyQuery>() {
            return Ok(Asked::Built(query.get().0.clone()));
        }
        Err(invalid(format!(
            "expected a query, which is a string or a Query, found {}",
            class_of(&object)
        )))
    }
}

impl Asked {
    /// The query, whose fields are those of the snapshot.
    pub fn parse(&self, snapshot: &Snapshot, operator: gannet::Operator) -> gannet::Result<Query> {
        match self {
            Asked::Built(query) => Ok(query.clone()),
            Asked::Text(text) => snapshot.parse(text, operator),
        }
    }
}

/// The fields to make snippets of.
#[derive(FromPyObject)]
pub enum Highlight {
    One(String),
    Several(Vec<String>),
}

impl Highlight {
    fn fields(this: Option<Highlight>) -> Vec<String> {
        match this {
            None => Vec::new(),
            Some(Highlight::One(field)) => vec![field],
            Some(Highlight::Several(fields)) => fields,
        }
    }
}

/// A time limit in seconds.
pub fn deadline(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    match seconds {
        None => Ok(None),
        Some(seconds) if (0.0..=LONGEST).contains(&seconds) => {
            Ok(Some(Duration::from_secs_f64(seconds)))
        }
        Some(other) => Err(invalid(format!(
            "timeout={other} is no time limit: give seconds, or None for no limit"
        ))),
    }
}

/// Carries one query out; gives it as it was understood, too.
fn run(
    py: Python<'_>,
    searched: &Searched,
    asked: Asked,
    parse_with: gannet::Operator,
    mut options: SearchOptions,
    cancel: Option<&CancelToken>,
) -> PyResult<(Query, SearchResults)> {
    let snapshot = searched.snapshot()?;
    let interrupts = Interrupts::new(cancel);
    let watched = Arc::clone(&interrupts);
    options.cancelled = Some(Arc::new(move || watched.asked()));
    let found = py.detach(|| {
        let query = asked.parse(&snapshot, parse_with)?;
        let mut answers = snapshot.search_all(std::slice::from_ref(&query), &options);
        let answer = answers
            .pop()
            .unwrap_or_else(|| Err(gannet::Error::internal("a search gave no answer")));
        Ok((query, answer?))
    });
    found.map_err(|error| {
        let note = "the search was interrupted; there is no partial answer";
        interrupts.instead(py, exception(&error), note)
    })
}

/// Whatever can be searched; the base of Index and Snapshot.
#[pyclass(frozen, subclass, module = "gannet")]
pub struct Searcher {
    pub(crate) searched: Searched,
}

#[pymethods]
impl Searcher {
    /// The best documents for a query.
    #[pyo3(signature = (query, k=10, *, offset=0, highlight=None, operator="or", count=false, sources=true, explain=false, timeout=None, cancel=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn search(
        &self,
        py: Python<'_>,
        query: Asked,
        k: usize,
        offset: usize,
        highlight: Option<Highlight>,
        operator: &str,
        count: bool,
        sources: bool,
        explain: bool,
        timeout: Option<f64>,
        cancel: Option<&CancelToken>,
    ) -> PyResult<Hits> {
        let options = SearchOptions {
            k,
            skip: offset,
            count,
            sources,
            explain,
            highlight: Highlight::fields(highlight),
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let parse_with = crate::options::operator(operator)?;
        let (query, results) = run(
            py,
            &self.searched,
            query,
            parse_with,
            options.clone(),
            cancel,
        )?;
        Ok(Hits::new(self.searched.clone(), query, options, results))
    }

    /// The same without blocking the event loop.
    #[pyo3(signature = (query, k=10, **options))]
    fn search_async<'py>(
        slf: &Bound<'py, Searcher>,
        query: Bound<'py, PyAny>,
        k: usize,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("gannet._aio")?;
        module.call_method("search", (slf, query, k), options)
    }

    /// The IDs and scores of the best documents of many queries, which several threads carry out.
    #[pyo3(signature = (queries, k=10, *, operator="or", threads=None, timeout=None, cancel=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn search_many(
        &self,
        py: Python<'_>,
        queries: &Bound<'_, PyAny>,
        k: usize,
        operator: &str,
        threads: Option<usize>,
        timeout: Option<f64>,
        cancel: Option<&CancelToken>,
    ) -> PyResult<Rankings> {
        let options = SearchOptions {
            k,
            sources: false,
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let parse_with = crate::options::operator(operator)?;
        let snapshot = self.searched.snapshot()?;
        let queries = many::queries(queries)?;
        let interrupts = Interrupts::new(cancel);
        many::run(
            py,
            &snapshot,
            queries,
            parse_with,
            options,
            threads,
            &interrupts,
        )
    }

    /// How many documents match.
    #[pyo3(signature = (query, *, operator="or", timeout=None))]
    fn count(
        &self,
        py: Python<'_>,
        query: Asked,
        operator: &str,
        timeout: Option<f64>,
    ) -> PyResult<u64> {
        let options = SearchOptions {
            k: 0,
            count: true,
            fetch: false,
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let parse_with = crate::options::operator(operator)?;
        let (_, results) = run(py, &self.searched, query, parse_with, options, None)?;
        Ok(results.total)
    }

    /// Parses a query; its fields are those of the index.
    #[pyo3(signature = (text, *, operator="or"))]
    fn parse(&self, text: &str, operator: &str) -> PyResult<PyQuery> {
        let snapshot = self.searched.snapshot()?;
        let parse_with = crate::options::operator(operator)?;
        Ok(PyQuery(snapshot.parse(text, parse_with).or_raise()?))
    }

    /// The fields with what is done to them: their analyzers by name.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let snapshot = self.searched.snapshot()?;
        let fields = PyDict::new(py);
        for field in snapshot.schema().fields() {
            fields.set_item(&field.name, field.analyzer.name())?;
        }
        Ok(fields)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.searched.snapshot()?.documents() as usize)
    }

    /// An index without documents is still an index.
    fn __bool__(&self) -> bool {
        true
    }
}

/// Asks again with an explanation.
pub fn explained(
    py: Python<'_>,
    searched: &Searched,
    query: &Query,
    options: &SearchOptions,
) -> PyResult<SearchResults> {
    let options = SearchOptions {
        explain: true,
        cancelled: None,
        ..options.clone()
    };
    let asked = Asked::Built(query.clone());
    Ok(run(py, searched, asked, operator("or")?, options, None)?.1)
}
