//! Searching: what an index and a snapshot have in common.

use gannet::SearchOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::asking::{Asked, Searched, deadline, run};
use crate::errors::Raise;
use crate::hits::Hits;
use crate::interrupts::{CancelToken, Interrupts};
use crate::many::{self, Rankings};
use crate::matching::Matching;
use crate::query::PyQuery;
use crate::statistics::{self, PyStatistics};

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

/// Whatever can be searched; the base of Index and Snapshot.
#[pyclass(frozen, subclass, module = "gannet")]
pub struct Searcher {
    pub(crate) searched: Searched,
}

#[pymethods]
impl Searcher {
    /// The best documents for a query.
    #[pyo3(signature = (query, k=10, *, offset=0, highlight=None, operator="or", count=false, sources=true, explain=false, statistics=None, ties=None, timeout=None, cancel=None))]
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
        statistics: Option<&Bound<'_, PyStatistics>>,
        ties: Option<&str>,
        timeout: Option<f64>,
        cancel: Option<&CancelToken>,
    ) -> PyResult<Hits> {
        let options = SearchOptions {
            k,
            skip: offset,
            count,
            sources,
            explain,
            statistics: statistics::given(statistics),
            ties: statistics::ties(ties)?,
            highlight: Highlight::fields(highlight),
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let parse_with = crate::options::operator(operator)?;
        let (parsed, results) = run(
            py,
            &self.searched,
            query,
            parse_with,
            options.clone(),
            cancel,
        )?;
        Ok(Hits::new(self.searched.clone(), parsed, options, results))
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
    #[pyo3(signature = (queries, k=10, *, operator="or", statistics=None, ties=None, threads=None, timeout=None, cancel=None))]
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
        statistics: Option<&Bound<'_, PyStatistics>>,
        ties: Option<&str>,
        threads: Option<usize>,
        timeout: Option<f64>,
        cancel: Option<&CancelToken>,
    ) -> PyResult<Rankings> {
        let options = SearchOptions {
            k,
            sources: false,
            statistics: statistics::given(statistics),
            ties: statistics::ties(ties)?,
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

    /// What the scores of queries take from the index as a whole.
    #[pyo3(signature = (query, *, operator="or", fields=None, timeout=None))]
    fn statistics(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyAny>,
        operator: &str,
        fields: Option<Vec<String>>,
        timeout: Option<f64>,
    ) -> PyResult<PyStatistics> {
        let options = SearchOptions {
            other_fields: fields.unwrap_or_default(),
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let parse_with = crate::options::operator(operator)?;
        let snapshot = self.searched.snapshot()?;
        let asked = statistics::asked(query)?;
        statistics::count(py, &snapshot, &asked, parse_with, options)
    }

    /// The IDs and scores of all documents that match.
    #[pyo3(signature = (query, *, operator="or", statistics=None, timeout=None))]
    fn matching(
        &self,
        query: Asked,
        operator: &str,
        statistics: Option<&Bound<'_, PyStatistics>>,
        timeout: Option<f64>,
    ) -> PyResult<Matching> {
        let options = SearchOptions {
            statistics: statistics::given(statistics),
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let parse_with = crate::options::operator(operator)?;
        Matching::new(&self.searched, &query, parse_with, options)
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
