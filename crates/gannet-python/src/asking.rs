//! One query, from what Python gives to the answer of the engine.

use std::sync::Arc;
use std::time::Duration;

use gannet::{Index, Parsed, Query, SearchOptions, SearchResults, Snapshot};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{exception, invalid};
use crate::held::Held;
use crate::interrupts::{CancelToken, Interrupts};
use crate::json::class_of;
use crate::options::Reading;
use crate::query::PyQuery;
use crate::room::{Columns, Room};

/// The longest time limit: a year.
const LONGEST: f64 = 365.0 * 24.0 * 3600.0;

/// What is searched.
#[derive(Clone)]
pub struct Searched {
    /// The handle.
    pub handle: Handle,
    /// What its results share with those of other handles of the index.
    pub room: Arc<Room>,
}

/// A handle of an index.
#[derive(Clone)]
pub enum Handle {
    /// Always the newest state.
    Index(Arc<Held<Index>>),
    /// One state.
    Snapshot(Arc<Held<Snapshot>>),
}

impl Searched {
    /// The state to search.
    pub fn snapshot(&self) -> PyResult<Snapshot> {
        match &self.handle {
            Handle::Index(index) => Ok(index.get()?.snapshot()),
            Handle::Snapshot(snapshot) => snapshot.get(),
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
    /// The query, whose fields are those of the snapshot, and those that the options allow beside.
    pub fn parse(
        &self,
        snapshot: &Snapshot,
        reading: Reading,
        options: &SearchOptions,
    ) -> gannet::Result<Parsed> {
        let text = match self {
            Asked::Built(query) => {
                return Ok(Parsed {
                    query: query.clone(),
                    notes: Vec::new(),
                });
            }
            Asked::Text(text) => text,
        };
        if reading.plain {
            return snapshot.parse_plain(text, reading.operator);
        }
        let given = options.statistics.iter().flat_map(|given| given.fields());
        let others = options.other_fields.iter().map(String::as_str);
        let others: Vec<&str> = others.chain(given).collect();
        if others.is_empty() {
            snapshot.parse_noting(text, reading.operator)
        } else {
            snapshot.parse_among_noting(text, reading.operator, &others)
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

/// What came of a query.
pub struct Answer {
    /// The query as it was understood.
    pub parsed: Parsed,
    /// What was found.
    pub results: SearchResults,
    /// The fields of the state that was searched.
    pub columns: Columns,
}

/// Carries one query out.
pub fn run(
    py: Python<'_>,
    searched: &Searched,
    asked: &Asked,
    reading: Reading,
    mut options: SearchOptions,
    cancel: Option<&CancelToken>,
) -> PyResult<Answer> {
    let snapshot = searched.snapshot()?;
    let interrupts = Interrupts::new(cancel);
    let watched = Arc::clone(&interrupts);
    options.cancelled = Some(Arc::new(move || watched.asked()));
    let found = py.detach(|| {
        let parsed = asked.parse(&snapshot, reading, &options)?;
        let mut answers = snapshot.search_all(std::slice::from_ref(&parsed.query), &options);
        let answer = answers
            .pop()
            .unwrap_or_else(|| Err(gannet::Error::internal("a search gave no answer")));
        Ok((parsed, answer?))
    });
    let (parsed, results) = found.map_err(|error| {
        let note = "the search was interrupted; there is no partial answer";
        interrupts.instead(py, exception(&error), note)
    })?;
    Ok(Answer {
        parsed,
        results,
        columns: searched.room.columns(&snapshot),
    })
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
    Ok(run(py, searched, &asked, Reading::built(), options, None)?.results)
}
