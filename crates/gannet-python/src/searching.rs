//! Searching: what an index and a snapshot have in common.

use gannet::SearchOptions;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::aggregations::{self, Facets};
use crate::arguments::{self, Fields, Highlight, K, Offset, Threads};
use crate::asking::{Asked, Filters, Searched, deadline, run};
use crate::errors::{Raise, invalid};
use crate::hits::Hits;
use crate::ids::Ids;
use crate::interrupts::{CancelToken, Interrupts};
use crate::many::{self, Rankings};
use crate::matching::Matching;
use crate::options::Reading;
use crate::query::PyQuery;
use crate::selection::is_within;
use crate::sorting::{self, KeyValue, Keys};
use crate::statistics::{self, PyStatistics};
use crate::table::PyTable;

/// The options of `search`, as errors list them.
const SEARCH: [&str; 19] = [
    "k",
    "offset",
    "filter",
    "sort",
    "after",
    "collapse",
    "facets",
    "aggs",
    "highlight",
    "fields",
    "operator",
    "syntax",
    "count",
    "sources",
    "explain",
    "statistics",
    "ties",
    "timeout",
    "cancel",
];

/// The names of the options of `search_many`.
const MANY: [&str; 8] = [
    "k",
    "operator",
    "syntax",
    "statistics",
    "ties",
    "threads",
    "timeout",
    "cancel",
];

/// Whatever can be searched; the base of Index and Snapshot.
#[pyclass(frozen, subclass, module = "gannet")]
pub struct Searcher {
    pub(crate) searched: Searched,
}

impl Searcher {
    /// Fails unless the index has fields of these names, or objects.
    fn check_fields(&self, names: &[String], sources: bool) -> PyResult<()> {
        if !names.is_empty() && !sources {
            return Err(invalid(
                "fields= names what hits have, and sources=False is without any: leave one of them out",
            ));
        }
        if names.is_empty() {
            return Ok(());
        }
        let snapshot = self.searched.snapshot()?;
        let fields = snapshot.schema().fields();
        let is_object = |name: &str| fields.iter().any(|field| is_within(&field.name, name));
        names
            .iter()
            .filter(|name| *name != "id" && !is_object(name))
            .try_for_each(|name| snapshot.check_field(name))
            .or_raise()
    }
}

#[pymethods]
impl Searcher {
    /// The best documents for a query.
    #[pyo3(signature = (query, k=K(10), *, offset=Offset(0), filter=None, sort=None, after=None, collapse=None, facets=None, aggs=None, highlight=None, fields=None, operator="or", syntax="query", count=false, sources=true, explain=false, statistics=None, ties=None, timeout=None, cancel=None, **unknown))]
    #[pyo3(
        text_signature = "($self, query, k=10, *, offset=0, filter=None, sort=None, after=None, collapse=None, facets=None, aggs=None, highlight=None, fields=None, operator='or', syntax='query', count=False, sources=True, explain=False, statistics=None, ties=None, timeout=None, cancel=None)"
    )]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn search(
        &self,
        py: Python<'_>,
        query: Asked,
        k: K,
        offset: Offset,
        filter: Option<Filters>,
        sort: Option<Keys>,
        after: Option<Vec<Option<KeyValue>>>,
        collapse: Option<String>,
        facets: Option<Facets>,
        aggs: Option<&Bound<'_, PyAny>>,
        highlight: Option<Highlight>,
        fields: Option<Fields>,
        operator: &str,
        syntax: &str,
        count: bool,
        sources: bool,
        explain: bool,
        statistics: Option<&Bound<'_, PyStatistics>>,
        ties: Option<&str>,
        timeout: Option<f64>,
        cancel: Option<&CancelToken>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Hits> {
        arguments::none("search", &SEARCH, unknown)?;
        let options = SearchOptions {
            k: k.0,
            skip: offset.0,
            sort: sorting::keys(sort)?,
            after: sorting::after(after),
            collapse,
            aggregations: aggregations::asked(
                py,
                facets,
                aggs,
                &self.searched.snapshot()?,
                statistics.map(|own| &*own.get().0),
            )?,
            count,
            sources,
            explain,
            statistics: statistics::given(statistics),
            ties: statistics::ties(ties)?,
            highlight: highlight.map(|fields| fields.0).unwrap_or_default(),
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let reading = Reading::of(operator, syntax)?;
        let query = query.filtered(filter);
        let fields = fields.map(|fields| fields.0);
        self.check_fields(fields.as_deref().unwrap_or_default(), sources)?;
        let answer = run(py, &self.searched, &query, reading, options.clone(), cancel)?;
        Hits::new(self.searched.clone(), options, fields, answer)
    }

    /// The same without blocking the event loop.
    #[pyo3(signature = (query, k=K(10), **options))]
    #[pyo3(text_signature = "($self, query, k=10, **options)")]
    fn search_async<'py>(
        slf: &Bound<'py, Searcher>,
        query: Bound<'py, PyAny>,
        k: K,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("gannet._aio")?;
        module.call_method("search", (slf, query, k.0), options)
    }

    /// The IDs and scores of the best documents of many queries, which several threads carry out.
    #[pyo3(signature = (queries, k=K(10), *, operator="or", syntax="query", statistics=None, ties=None, threads=None, timeout=None, cancel=None, **unknown))]
    #[pyo3(
        text_signature = "($self, queries, k=10, *, operator='or', syntax='query', statistics=None, ties=None, threads=None, timeout=None, cancel=None)"
    )]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn search_many(
        &self,
        py: Python<'_>,
        queries: &Bound<'_, PyAny>,
        k: K,
        operator: &str,
        syntax: &str,
        statistics: Option<&Bound<'_, PyStatistics>>,
        ties: Option<&str>,
        threads: Option<Threads>,
        timeout: Option<f64>,
        cancel: Option<&CancelToken>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Rankings> {
        arguments::none("search_many", &MANY, unknown)?;
        let options = SearchOptions {
            k: k.0,
            sources: false,
            statistics: statistics::given(statistics),
            ties: statistics::ties(ties)?,
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let reading = Reading::of(operator, syntax)?;
        self.searched.snapshot()?;
        let queries = many::queries(queries)?;
        let interrupts = Interrupts::new(cancel);
        let threads = threads.map(|threads| threads.0);
        let searched = &self.searched;
        many::run(
            py,
            searched,
            queries,
            reading,
            options,
            threads,
            &interrupts,
        )
    }

    /// Collects the statistics that scores of queries take from the index as a whole.
    #[pyo3(signature = (query, *, operator="or", syntax="query", fields=None, timeout=None))]
    fn statistics(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyAny>,
        operator: &str,
        syntax: &str,
        fields: Option<Vec<String>>,
        timeout: Option<f64>,
    ) -> PyResult<PyStatistics> {
        let options = SearchOptions {
            other_fields: fields.unwrap_or_default(),
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let reading = Reading::of(operator, syntax)?;
        let snapshot = self.searched.snapshot()?;
        let asked = statistics::asked(query)?;
        statistics::count(py, &snapshot, &asked, reading, options)
    }

    /// The IDs and scores of all documents that match.
    #[pyo3(signature = (query, *, operator="or", syntax="query", statistics=None, timeout=None))]
    fn matching(
        &self,
        query: Asked,
        operator: &str,
        syntax: &str,
        statistics: Option<&Bound<'_, PyStatistics>>,
        timeout: Option<f64>,
    ) -> PyResult<Matching> {
        let options = SearchOptions {
            statistics: statistics::given(statistics),
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let reading = Reading::of(operator, syntax)?;
        Matching::new(&self.searched, &query, reading, options)
    }

    /// The values of columns of all documents that match: all, without a query.
    #[pyo3(signature = (fields, query=None, *, operator="or", syntax="query", timeout=None))]
    fn table(
        &self,
        py: Python<'_>,
        fields: Fields,
        query: Option<Asked>,
        operator: &str,
        syntax: &str,
        timeout: Option<f64>,
    ) -> PyResult<PyTable> {
        let reading = Reading::of(operator, syntax)?;
        let snapshot = self.searched.snapshot()?;
        let query = match query {
            None => gannet::Query::MatchAll,
            Some(query) => {
                let parsed = query.parse(&snapshot, reading, &SearchOptions::default());
                parsed.or_raise()?.query
            }
        };
        let timeout = deadline(timeout)?;
        py.detach(|| PyTable::new(snapshot, query, fields.0, timeout))
    }

    /// The IDs of all documents.
    fn ids(&self) -> PyResult<Ids> {
        Ids::new(&self.searched)
    }

    /// Counts the documents that match: all, without a query.
    #[pyo3(signature = (query=None, *, operator="or", syntax="query", timeout=None))]
    fn count(
        &self,
        py: Python<'_>,
        query: Option<Asked>,
        operator: &str,
        syntax: &str,
        timeout: Option<f64>,
    ) -> PyResult<u64> {
        let options = SearchOptions {
            k: 0,
            count: true,
            fetch: false,
            deadline: deadline(timeout)?,
            ..SearchOptions::default()
        };
        let reading = Reading::of(operator, syntax)?;
        match query {
            None => Ok(self.searched.snapshot()?.documents()),
            Some(query) => {
                let answer = run(py, &self.searched, &query, reading, options, None)?;
                Ok(answer.results.total)
            }
        }
    }

    /// Parses a query; its fields are those of the index.
    #[pyo3(signature = (text, *, operator="or", syntax="query"))]
    fn parse(&self, text: &Bound<'_, PyString>, operator: &str, syntax: &str) -> PyResult<PyQuery> {
        let snapshot = self.searched.snapshot()?;
        let reading = Reading::of(operator, syntax)?;
        let parsed =
            Asked::Text(text.to_string()).parse(&snapshot, reading, &SearchOptions::default());
        Ok(PyQuery(parsed.or_raise()?.query))
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
