//! Queries as objects: built from parts, joined by `&`, `|` and `~`, printed as the query language.

use std::ops::Bound as End;

use gannet::Query;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::{AtLeast, Distance, Slop};
use crate::errors::invalid;
use crate::pickled_query::query_state;

/// A query; it knows nothing of an index until it is searched for.
#[pyclass(frozen, eq, name = "Query", module = "gannet")]
#[derive(Clone, PartialEq)]
pub struct PyQuery(pub Query);

#[pymethods]
impl PyQuery {
    /// Words of a text.
    #[staticmethod]
    #[pyo3(signature = (text, field=None, *, operator="or"))]
    fn words(text: String, field: Option<String>, operator: &str) -> PyResult<PyQuery> {
        Ok(PyQuery(Query::Text {
            field,
            text,
            operator: crate::options::operator(operator)?,
        }))
    }

    /// Words next to each other, which may move by `slop` places in all; `last` is a pattern with
    /// `*` and `?` for one more word.
    #[staticmethod]
    #[pyo3(signature = (text, field=None, *, slop=Slop(0), last=None))]
    #[pyo3(text_signature = "(text, field=None, *, slop=0, last=None)")]
    fn phrase(text: String, field: Option<String>, slop: Slop, last: Option<String>) -> PyQuery {
        let slop = slop.0;
        PyQuery(match last {
            None => Query::Phrase { field, text, slop },
            Some(pattern) => Query::PhrasePattern {
                field,
                text: text + " ",
                pattern,
                slop,
                first: None,
            },
        })
    }

    /// Words that begin so.
    #[staticmethod]
    #[pyo3(signature = (prefix, field=None))]
    fn prefix(prefix: String, field: Option<String>) -> PyQuery {
        PyQuery(Query::Prefix { field, prefix })
    }

    /// Words that a pattern with `*` and `?` fits.
    #[staticmethod]
    #[pyo3(signature = (pattern, field=None))]
    fn wildcard(pattern: String, field: Option<String>) -> PyQuery {
        PyQuery(Query::Wildcard { field, pattern })
    }

    /// Whole terms of a field that fit a regular expression in Lucene's syntax.
    #[staticmethod]
    fn regexp(pattern: String, field: String) -> PyQuery {
        PyQuery(Query::Regexp { field, pattern })
    }

    /// Words that are at most so many edits away.
    #[staticmethod]
    #[pyo3(signature = (text, field=None, *, distance=None))]
    fn fuzzy(text: String, field: Option<String>, distance: Option<Distance>) -> PyQuery {
        PyQuery(Query::Fuzzy {
            field,
            text,
            distance: distance.map(|distance| distance.0),
        })
    }

    /// Whole values between two others, both included; None is no bound.
    #[staticmethod]
    #[pyo3(signature = (field, lower=None, upper=None))]
    fn range(field: String, lower: Option<String>, upper: Option<String>) -> PyQuery {
        let end = |value: Option<String>| value.map_or(End::Unbounded, End::Included);
        PyQuery(Query::Range {
            field: Some(field),
            lower: end(lower),
            upper: end(upper),
        })
    }

    /// Documents in which one of these is a whole value of a field.
    #[staticmethod]
    fn one_of(field: String, values: Vec<String>) -> PyResult<PyQuery> {
        if values.is_empty() {
            return Err(invalid("one_of: expected at least one value"));
        }
        Ok(PyQuery(Query::OneOf { field, values }))
    }

    /// Documents that have the field.
    #[staticmethod]
    fn exists(field: String) -> PyQuery {
        PyQuery(Query::Exists { field })
    }

    /// Every document.
    #[staticmethod]
    fn everything() -> PyQuery {
        PyQuery(Query::MatchAll)
    }

    /// Some of these queries: at least so many.
    #[staticmethod]
    #[pyo3(signature = (*queries, at_least=AtLeast(1)))]
    #[pyo3(text_signature = "(*queries, at_least=1)")]
    fn some_of(queries: &Bound<'_, PyTuple>, at_least: AtLeast) -> PyResult<PyQuery> {
        let mut should = Vec::new();
        for query in queries.iter() {
            let query = query.cast::<PyQuery>();
            let query =
                query.map_err(|_| invalid("expected queries: make one of text by Query.words"))?;
            should.push(query.get().0.clone());
        }
        shallow(Query::Bool {
            should,
            minimum_should_match: at_least.0,
            must: Vec::new(),
            must_not: Vec::new(),
            filter: Vec::new(),
        })
    }

    /// The same query whose scores are multiplied.
    fn boost(&self, factor: f32) -> PyResult<PyQuery> {
        shallow(Query::Boost {
            query: Box::new(self.0.clone()),
            factor,
        })
    }

    /// The same documents, which all have the same score.
    fn as_filter(&self) -> PyResult<PyQuery> {
        let filter = vec![self.0.clone()];
        shallow(clauses(Vec::new(), Vec::new(), Vec::new(), filter))
    }

    fn __and__(&self, other: PyRef<'_, PyQuery>) -> PyResult<PyQuery> {
        let (mut must, mut must_not, mut filter) = (Vec::new(), Vec::new(), Vec::new());
        for query in [&self.0, &other.0] {
            // What only joins by AND, or only excludes, joins with the others.
            if let Query::Bool {
                must: inner,
                should,
                must_not: not,
                filter: filters,
                minimum_should_match: 0,
            } = query
                && should.is_empty()
            {
                must.extend(inner.iter().cloned());
                must_not.extend(not.iter().cloned());
                filter.extend(filters.iter().cloned());
            } else {
                must.push(query.clone());
            }
        }
        shallow(clauses(must, Vec::new(), must_not, filter))
    }

    fn __or__(&self, other: PyRef<'_, PyQuery>) -> PyResult<PyQuery> {
        let mut should = Vec::new();
        for query in [&self.0, &other.0] {
            if let Query::Bool {
                must,
                should: inner,
                must_not,
                filter,
                minimum_should_match: 0,
            } = query
                && must.is_empty()
                && must_not.is_empty()
                && filter.is_empty()
            {
                should.extend(inner.iter().cloned());
            } else {
                should.push(query.clone());
            }
        }
        shallow(clauses(Vec::new(), should, Vec::new(), Vec::new()))
    }

    fn __invert__(&self) -> PyResult<PyQuery> {
        self.without()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let read = py.import("gannet._native")?.getattr("read_query")?;
        Ok((read, (query_state(&self.0)?,)))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Query {}>", self.0)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.0.to_string().hash(&mut hasher);
        hasher.finish()
    }
}

impl PyQuery {
    /// Every other document.
    pub fn without(&self) -> PyResult<PyQuery> {
        let must_not = vec![self.0.clone()];
        shallow(clauses(Vec::new(), Vec::new(), must_not, Vec::new()))
    }
}

/// A query that is made of others, unless that makes it too deep.
fn shallow(query: Query) -> PyResult<PyQuery> {
    let checked = query.check_depth();
    checked.map_err(|error| invalid(error.to_string()))?;
    Ok(PyQuery(query))
}

fn clauses(
    must: Vec<Query>,
    should: Vec<Query>,
    must_not: Vec<Query>,
    filter: Vec<Query>,
) -> Query {
    Query::Bool {
        must,
        should,
        must_not,
        filter,
        minimum_should_match: 0,
    }
}
