//! One query, from what Python gives to the answer of the engine.

use std::sync::Arc;
use std::time::Duration;

use gannet::{Error, Index, Operator, Parsed, Query, SearchOptions, SearchResults, Snapshot};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::classes::class_of;
use crate::errors::{exception, invalid};
use crate::held::Held;
use crate::interrupts::{CancelToken, Interrupts};
use crate::options::Reading;
use crate::query::PyQuery;
use crate::room::{Columns, Room};

/// The longest time limit: a year.
const LONGEST: f64 = 365.0 * 24.0 * 3600.0;

/// The handle that is searched.
#[derive(Clone)]
pub struct Searched {
    /// The handle.
    pub handle: Handle,
    /// The state that its results share with those of other handles of the index.
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

/// A query as it is given: text, or one that was built, and what its hits must match too.
#[derive(Clone)]
pub enum Asked {
    Text(String),
    Built(Query),
    Filtered(Box<Asked>, Vec<Asked>),
}

/// Filters of a search: one query, or several.
pub struct Filters(pub Vec<Asked>);

impl<'py> FromPyObject<'_, 'py> for Filters {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Filters> {
        match object.cast::<PyList>() {
            Err(_) => Ok(Filters(vec![object.extract()?])),
            Ok(several) => {
                let filters = several.iter().map(|filter| filter.extract::<Asked>());
                Ok(Filters(filters.collect::<PyResult<_>>()?))
            }
        }
    }
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
            Asked::Text(text) => text,
            Asked::Built(query) => {
                return Ok(Parsed {
                    query: query.clone(),
                    notes: Vec::new(),
                });
            }
            Asked::Filtered(query, filters) => {
                return filtered(query, filters, snapshot, reading, options);
            }
        };
        if reading.plain {
            return Ok(snapshot.parse_plain(text, reading.operator));
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

/// Parses a query with its filters. A filter is always in the query language, since plain text asks
/// for words, and what nothing joins in it must all match.
fn filtered(
    query: &Asked,
    filters: &[Asked],
    snapshot: &Snapshot,
    reading: Reading,
    options: &SearchOptions,
) -> gannet::Result<Parsed> {
    let Parsed { query, mut notes } = query.parse(snapshot, reading, options)?;
    let in_language = Reading {
        plain: false,
        operator: Operator::And,
    };
    let mut parsed = Vec::with_capacity(filters.len());
    for filter in filters {
        let filter = filter.parse(snapshot, in_language, options)?;
        notes.extend(filter.notes);
        parsed.push(filter.query);
    }
    Ok(Parsed {
        query: query.filtered(parsed),
        notes,
    })
}

impl Asked {
    /// Adds filters, if there are any.
    pub fn filtered(self, filters: Option<Filters>) -> Asked {
        match filters {
            Some(Filters(filters)) if !filters.is_empty() => {
                Asked::Filtered(Box::new(self), filters)
            }
            _ => self,
        }
    }

    /// Parses the query and carries it out. Of a plain text for whose words there is too little
    /// memory, the first half is asked, and a note says so.
    pub fn answer(
        &self,
        snapshot: &Snapshot,
        reading: Reading,
        options: &SearchOptions,
    ) -> gannet::Result<(Parsed, SearchResults)> {
        let parsed = self.parse(snapshot, reading, options)?;
        match search(snapshot, &parsed.query, options) {
            Ok(results) => Ok((parsed, results)),
            Err(error @ Error::Memory { .. }) if reading.plain => match self.first_half() {
                Some(half) => {
                    let (mut parsed, results) = half.answer(snapshot, reading, options)?;
                    note_shortening(&mut parsed);
                    Ok((parsed, results))
                }
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// The first half of a text of several words.
    fn first_half(&self) -> Option<Asked> {
        let text = match self {
            Asked::Text(text) => text,
            Asked::Built(_) => return None,
            Asked::Filtered(query, filters) => {
                let half = Box::new(query.first_half()?);
                return Some(Asked::Filtered(half, filters.clone()));
            }
        };
        let half = text.len() / 2;
        let blanks = text.char_indices().filter(|(_, one)| one.is_whitespace());
        let end = blanks.map(|(at, _)| at).take_while(|at| *at <= half).last();
        Some(Asked::Text(text[..end?].to_owned()))
    }
}

fn note_shortening(parsed: &mut Parsed) {
    let note = "there is too little memory for all words: only the first ones are searched for";
    if !parsed.notes.iter().any(|other| other == note) {
        parsed.notes.push(note.to_owned());
    }
}

fn search(
    snapshot: &Snapshot,
    query: &Query,
    options: &SearchOptions,
) -> gannet::Result<SearchResults> {
    let mut answers = snapshot.search_all(std::slice::from_ref(query), options);
    answers
        .pop()
        .unwrap_or_else(|| Err(Error::internal("a search gave no answer")))
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

/// The answer of a query.
pub struct Answer {
    /// The query as it was understood.
    pub parsed: Parsed,
    /// The results.
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
    let found = py.detach(|| asked.answer(&snapshot, reading, &options));
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
