//! Statistics of queries: several indexes that are searched with their sum answer like one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use gannet::{QueryStatistics, SearchOptions, Snapshot, Ties};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::asking::Asked;
use crate::errors::{Raise, exception, invalid};
use crate::interrupts::Interrupts;
use crate::many;
use crate::options::{Reading, unknown};

/// The statistics that scores of a query take from an index as a whole.
#[pyclass(frozen, eq, name = "Statistics", module = "gannet")]
#[derive(PartialEq)]
pub struct PyStatistics(pub Arc<QueryStatistics>);

impl PyStatistics {
    /// Reads what [`PyStatistics::to_json`] has written.
    pub fn read(json: &str) -> PyResult<PyStatistics> {
        let statistics = QueryStatistics::from_json(json).or_raise()?;
        Ok(PyStatistics(Arc::new(statistics)))
    }
}

#[pymethods]
impl PyStatistics {
    /// Reads what `to_json` has written.
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<PyStatistics> {
        PyStatistics::read(json)
    }

    /// The statistics as JSON.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// The names of the fields.
    #[getter]
    fn fields(&self) -> Vec<&str> {
        self.0.fields().collect()
    }

    fn __add__(&self, other: PyRef<'_, PyStatistics>) -> PyResult<PyStatistics> {
        let mut sum = QueryStatistics::clone(&self.0);
        sum.merge(&other.0).or_raise()?;
        Ok(PyStatistics(Arc::new(sum)))
    }

    /// `sum` begins with 0.
    fn __radd__(&self, other: &Bound<'_, PyInt>) -> PyResult<PyStatistics> {
        match other.extract::<i64>() {
            Ok(0) => Ok(PyStatistics(Arc::clone(&self.0))),
            _ => Err(invalid(
                "statistics are added to statistics, not to a number",
            )),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let read = py.import("gannet._native")?.getattr("read_statistics")?;
        Ok((read, (self.to_json(),)))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.to_json().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<Statistics of {}>", self.fields().join(", "))
    }
}

/// Returns the order of documents of the same score.
pub fn ties(name: Option<&str>) -> PyResult<Ties> {
    match name {
        None => Ok(Ties::DocId),
        Some("id") => Ok(Ties::ExternalId),
        Some(other) => Err(unknown("ties", other, "\"id\", None")),
    }
}

/// Statistics that a search is given.
pub fn given(statistics: Option<&Bound<'_, PyStatistics>>) -> Option<Arc<QueryStatistics>> {
    statistics.map(|statistics| Arc::clone(&statistics.get().0))
}

/// One query, or several as `search_many` takes them.
pub fn asked(queries: &Bound<'_, PyAny>) -> PyResult<Vec<Asked>> {
    match queries.extract::<Asked>() {
        Ok(one) => Ok(vec![one]),
        Err(error) if queries.try_iter().is_err() => Err(error),
        Err(_) => Ok(many::queries(queries)?.asked),
    }
}

/// Counts what queries need, in one.
pub fn count(
    py: Python<'_>,
    snapshot: &Snapshot,
    asked: &[Asked],
    reading: Reading,
    mut options: SearchOptions,
) -> PyResult<PyStatistics> {
    let interrupts = Interrupts::new(None);
    let watched = Arc::clone(&interrupts);
    options.cancelled = Some(Arc::new(move || watched.asked()));
    let counted = py.detach(|| {
        let parsed = asked.iter().map(|asked| {
            let parsed = asked.parse(snapshot, reading, &options)?;
            Ok(parsed.query)
        });
        let queries = parsed.collect::<gannet::Result<Vec<_>>>()?;
        snapshot.statistics_of(&queries, &options)
    });
    let counted = counted.map_err(|error| {
        let note = "counting was interrupted; there is no partial answer";
        interrupts.instead(py, exception(&error), note)
    })?;
    Ok(PyStatistics(Arc::new(counted)))
}
