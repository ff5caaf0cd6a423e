//! Many queries at once: threads carry them out in groups, and what is kept is IDs and scores.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use gannet::{Error, Query, SearchOptions, Snapshot};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyMapping, PyString};

use crate::answers::{Answers, Ranking};
use crate::arrow_stream;
use crate::asking::{Asked, Searched};
use crate::classes::class_of;
use crate::errors::{exception, exception_at, invalid};
use crate::interrupts::Interrupts;
use crate::options::Reading;
use crate::ranking_batches::RankingBatches;

/// Queries that a thread carries out together: they share their batches of reads.
const GROUP: usize = 8;

/// Queries with their IDs, in the same order.
#[derive(Default)]
pub struct Queries {
    ids: Vec<String>,
    pub asked: Vec<Asked>,
}

/// Takes queries of a mapping by ID, or of an iterable, which are numbered from 0.
pub fn queries(given: &Bound<'_, PyAny>) -> PyResult<Queries> {
    let mut queries = Queries::default();
    if let Ok(mapping) = given.cast::<PyMapping>() {
        for pair in mapping.items()?.iter() {
            let (id, query): (Bound<'_, PyAny>, Asked) = pair.extract()?;
            queries.ids.push(id.str()?.extract()?);
            queries.asked.push(query);
        }
        return Ok(queries);
    }
    let items = match given.try_iter() {
        Ok(items) if !given.is_instance_of::<PyString>() => items,
        _ => {
            return Err(invalid(format!(
                "expected queries, which are a list of strings or a dict by ID, found {}: for one query there is search",
                class_of(given)
            )));
        }
    };
    for (number, query) in items.enumerate() {
        queries.ids.push(number.to_string());
        queries.asked.push(query?.extract()?);
    }
    Ok(queries)
}

/// An error that names its query.
fn named(id: &str, error: &gannet::Error) -> PyErr {
    match error {
        gannet::Error::Invalid(reason) => invalid(format!("query {id:?}: {reason}")),
        other => exception(other),
    }
}

/// The state that the threads share.
struct Work<'a> {
    snapshot: &'a Snapshot,
    queries: &'a [Asked],
    reading: Reading,
    options: &'a SearchOptions,
    next: AtomicUsize,
    failed: AtomicBool,
    interrupts: &'a Interrupts,
    answers: Mutex<Vec<Ranking>>,
    done: AtomicUsize,
}

/// Carries all queries out.
pub fn run(
    py: Python<'_>,
    searched: &Searched,
    queries: Queries,
    reading: Reading,
    mut options: SearchOptions,
    threads: Option<usize>,
    interrupts: &Arc<Interrupts>,
) -> PyResult<Rankings> {
    let Queries { ids, asked } = queries;
    let snapshot = &searched.snapshot()?;
    let watched = Arc::clone(interrupts);
    options.cancelled = Some(Arc::new(move || watched.asked()));
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let groups = asked.len().div_ceil(GROUP);
    let threads = threads.unwrap_or_else(processors).clamp(1, groups.max(1));
    let work = Work {
        snapshot,
        queries: &asked,
        reading,
        options: &options,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        interrupts,
        answers: Mutex::new(ids.iter().map(|_| Ranking::default()).collect()),
        done: AtomicUsize::new(0),
    };
    let carried_out = py.detach(|| {
        thread::scope(|scope| {
            // Threads that cannot be had are done without.
            let start = |_| thread::Builder::new().spawn_scoped(scope, || work.carry_out());
            let others: Vec<_> = (1..threads).map_while(|at| start(at).ok()).collect();
            let mut first = work.carry_out();
            for other in others {
                let other = other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                first = first.and(other);
            }
            first
        })
    });
    carried_out.map_err(|(at, error)| {
        let done = work.done.load(Ordering::Relaxed);
        let note = format!("{done} of {} queries were answered", ids.len());
        interrupts.instead(py, named(&ids[at], &error), &note)
    })?;
    let rankings = work.answers.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(Rankings(Arc::new(Answers {
        queries: ids,
        rankings,
    })))
}

impl Work<'_> {
    /// Runs a thread until there are no more queries or one fails.
    fn carry_out(&self) -> Result<(), (usize, gannet::Error)> {
        while !self.failed.load(Ordering::Relaxed) {
            let first = self.next.fetch_add(GROUP, Ordering::Relaxed);
            let Some(rest) = self.queries.get(first..).filter(|rest| !rest.is_empty()) else {
                return Ok(());
            };
            if self.interrupts.asked() {
                return Err((first, gannet::Error::invalid("the search was cancelled")));
            }
            let group = &rest[..rest.len().min(GROUP)];
            let answers = self.search(first, group);
            answers
                .and_then(|answers| self.keep(first, answers))
                .inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    }

    /// Answers a group whose first query has this place.
    fn search(
        &self,
        first: usize,
        group: &[Asked],
    ) -> Result<Vec<gannet::Result<gannet::SearchResults>>, (usize, gannet::Error)> {
        let parsed = (first..).zip(group).map(|(place, asked)| {
            let parsed = asked.parse(self.snapshot, self.reading, self.options);
            let query = parsed.map(|parsed| parsed.query);
            query.map_err(|error| (place, error))
        });
        let queries: Vec<Query> = parsed.collect::<Result<_, _>>()?;
        let answers = self.snapshot.search_all(&queries, self.options);
        Ok(answers
            .into_iter()
            .zip(group)
            .map(|(answer, asked)| self.at_last(answer, asked))
            .collect())
    }

    /// The answer of a query, or that of the first words of a plain text if it needs more memory.
    fn at_last(
        &self,
        answer: gannet::Result<gannet::SearchResults>,
        asked: &Asked,
    ) -> gannet::Result<gannet::SearchResults> {
        match answer {
            Err(Error::Memory { .. }) if self.reading.plain => {
                let answer = asked.answer(self.snapshot, self.reading, self.options);
                answer.map(|(_, results)| results)
            }
            answer => answer,
        }
    }

    fn keep(
        &self,
        first: usize,
        answers: Vec<gannet::Result<gannet::SearchResults>>,
    ) -> Result<(), (usize, gannet::Error)> {
        let rankings = answers.into_iter().enumerate().map(|(at, answer)| {
            let ranking = answer.and_then(Ranking::of);
            ranking.map_err(|error| (first + at, error))
        });
        let rankings: Vec<Ranking> = rankings.collect::<Result<_, _>>()?;
        self.done.fetch_add(rankings.len(), Ordering::Relaxed);
        let mut all = self.answers.lock().unwrap_or_else(|e| e.into_inner());
        for (place, ranking) in all[first..].iter_mut().zip(rankings) {
            *place = ranking;
        }
        Ok(())
    }
}

/// The IDs and scores of the best documents of many queries.
#[pyclass(frozen, module = "gannet")]
pub struct Rankings(Arc<Answers>);

impl Rankings {
    /// Of queries by their IDs and the answers of each.
    pub fn new(queries: Vec<String>, rankings: Vec<Vec<(String, f32)>>) -> Rankings {
        let rankings = rankings.into_iter().map(|hits| {
            let mut ranking = Ranking::default();
            hits.iter().for_each(|(id, score)| ranking.push(id, *score));
            ranking
        });
        Rankings(Arc::new(Answers {
            rankings: rankings.collect(),
            queries,
        }))
    }

    fn frame<'py>(slf: &Bound<'py, Rankings>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("gannet._frames")?
            .call_method1(name, (slf,))
    }
}

#[pymethods]
impl Rankings {
    /// The IDs of the queries, in their order.
    #[getter]
    fn queries(&self) -> Vec<String> {
        self.0.queries.clone()
    }

    fn __len__(&self) -> usize {
        self.0.queries.len()
    }

    /// The answer of one query, by its place or its ID: pairs of ID and score, best first.
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let answers = &self.0;
        let place = match key.cast::<PyString>() {
            Ok(id) => {
                let id = id.to_string();
                let place = answers.queries.iter().position(|query| *query == id);
                place.ok_or_else(|| PyKeyError::new_err(id))?
            }
            Err(_) => {
                let place: isize = key.extract()?;
                let length = answers.queries.len() as isize;
                let place = if place < 0 { place + length } else { place };
                if (0..length).contains(&place) {
                    place as usize
                } else {
                    return Err(PyIndexError::new_err("there are not so many queries"));
                }
            }
        };
        PyList::new(key.py(), answers.rankings[place].hits().collect::<Vec<_>>())
    }

    /// All answers as `ir_measures` and others take them: scores by document by query.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (query, ranking) in self.0.queries.iter().zip(&self.0.rankings) {
            let one = PyDict::new(py);
            for (id, score) in ranking.hits() {
                one.set_item(id, score)?;
            }
            all.set_item(query, one)?;
        }
        Ok(all)
    }

    /// Writes a run file as TREC's tools read it.
    #[pyo3(signature = (path, tag="gannet"))]
    fn to_trec(&self, py: Python<'_>, path: PathBuf, tag: &str) -> PyResult<()> {
        py.detach(|| write_trec(&self.0, &path, tag))
            .map_err(|reason| {
                let reason = format!("{}: {reason}", path.display());
                exception_at(
                    path.parent().unwrap_or(&path),
                    &gannet::Error::invalid(reason),
                )
            })
    }

    /// Arrow data with the columns query, rank, id and score, by the PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer pass over a schema that it cannot give.
        let _ = requested_schema;
        arrow_stream::capsule(py, RankingBatches::new(Arc::clone(&self.0)))
    }

    /// A pyarrow.Table of all answers.
    fn to_arrow<'py>(slf: &Bound<'py, Rankings>) -> PyResult<Bound<'py, PyAny>> {
        Rankings::frame(slf, "rankings_to_arrow")
    }

    /// A polars.DataFrame of all answers.
    fn to_polars<'py>(slf: &Bound<'py, Rankings>) -> PyResult<Bound<'py, PyAny>> {
        Rankings::frame(slf, "rankings_to_polars")
    }

    /// A pandas.DataFrame of all answers.
    fn to_pandas<'py>(slf: &Bound<'py, Rankings>) -> PyResult<Bound<'py, PyAny>> {
        Rankings::frame(slf, "rankings_to_pandas")
    }

    /// The columns query, rank, id and score as lists.
    fn to_columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = ["query", "rank", "id", "score"].map(|name| (name, PyList::empty(py)));
        for (query, ranking) in self.0.queries.iter().zip(&self.0.rankings) {
            for (rank, (id, score)) in (1..).zip(ranking.hits()) {
                columns[0].1.append(query)?;
                columns[1].1.append::<u32>(rank)?;
                columns[2].1.append(id)?;
                columns[3].1.append(score)?;
            }
        }
        let all = PyDict::new(py);
        columns
            .iter()
            .try_for_each(|(name, column)| all.set_item(name, column))?;
        Ok(all)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let read = py.import("gannet._native")?.getattr("read_rankings")?;
        let rankings = self.0.rankings.iter();
        let rankings: Vec<Vec<(&str, f32)>> = rankings.map(|one| one.hits().collect()).collect();
        (read, (self.0.queries.clone(), rankings)).into_bound_py_any(py)
    }

    fn __repr__(&self) -> String {
        let hits: usize = self
            .0
            .rankings
            .iter()
            .map(|ranking| ranking.scores.len())
            .sum();
        format!(
            "<Rankings of {} queries, {hits} hits>",
            self.0.queries.len()
        )
    }
}

/// Query, `Q0`, ID, rank, score, tag. Names with blanks would shift the columns.
fn write_trec(answers: &Answers, path: &PathBuf, tag: &str) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    let mut out = BufWriter::new(File::create(path).map_err(io)?);
    let whole = |what: &str, name: &str| {
        if name.is_empty() || name.contains(char::is_whitespace) {
            Err(format!(
                "the {what} {name:?} cannot stand in a run file: expected no blanks in it"
            ))
        } else {
            Ok(())
        }
    };
    whole("tag", tag)?;
    for (query, ranking) in answers.queries.iter().zip(&answers.rankings) {
        whole("query ID", query)?;
        for (rank, (id, score)) in (1..).zip(ranking.hits()) {
            whole("document ID", id)?;
            writeln!(out, "{query} Q0 {id} {rank} {score} {tag}").map_err(io)?;
        }
    }
    out.flush().map_err(io)
}
