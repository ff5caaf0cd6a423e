//! Results as `pickle` keeps them: tuples of plain values.

use std::sync::Arc;
use std::time::Duration;

use gannet::diagnostics::IoCounts;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::found::{Found, Snippets};
use crate::pickled_query::{query_of, query_state};
use crate::sharded::ShardParts;
use crate::sorting::KeyValue;
use crate::told::{Explained, Step, Told};

/// A hit: its ID, its score, its JSON, its snippets, its values by the keys of the order, the value
/// that it stands for.
pub type Row = (
    String,
    f64,
    Option<Vec<u8>>,
    Snippets,
    Vec<Option<KeyValue>>,
    Option<KeyValue>,
);

/// The pickled form of an answer beside its hits: the query, total and whether that is exact,
/// notes, reads, the plan, seconds, aggregations as JSON.
pub type PickledFigures = (
    String,
    u64,
    bool,
    Vec<String>,
    (u32, u32, u64, u32, u32),
    Option<(String, Vec<Step>)>,
    f64,
    Option<String>,
);

/// An answer: its hits, whether they have sources, the fields that they have, what it tells, the
/// columns of its tables.
pub type PickledAnswer = (
    Vec<Row>,
    bool,
    Option<Vec<String>>,
    PickledFigures,
    Vec<(String, String)>,
);

/// One hit.
pub fn row<'py>(
    py: Python<'py>,
    found: &Found,
    place: usize,
    score: f64,
) -> PyResult<Bound<'py, PyTuple>> {
    let source = if found.has_sources() {
        Some(PyBytes::new(py, &found.source(py, place)?))
    } else {
        None
    };
    let snippets = found.snippets(place).to_vec();
    let sort = found.sort(place).to_vec();
    let group = found.group(place).cloned();
    (found.id(place), score, source, snippets, sort, group).into_pyobject(py)
}

/// All hits of an answer in their order, and what it tells.
pub fn state<'py>(
    py: Python<'py>,
    found: &Found,
    order: &[(usize, f64)],
    told: &Told,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = order
        .iter()
        .map(|(place, score)| row(py, found, *place, *score));
    let rows: Vec<_> = rows.collect::<PyResult<_>>()?;
    let io = told.io;
    let plan = told.plan.clone();
    let about = (
        query_state(&told.query)?,
        told.total,
        told.total_is_exact,
        told.notes.clone(),
        (io.rounds, io.reads, io.bytes, io.frames_hit, io.tier_hits),
        plan.map(|plan| (plan.text, plan.steps)),
        told.took.as_secs_f64(),
        told.aggregations.clone(),
    );
    let fields = found.fields().map(<[String]>::to_vec);
    let columns = told.columns.to_vec();
    (rows, found.has_sources(), fields, about, columns).into_bound_py_any(py)
}

/// Restores an answer from the arguments of [`state`]: the results, the scores, the figures of the
/// answer.
pub fn answer(pickled: PickledAnswer) -> PyResult<(Found, Vec<f64>, Told)> {
    let (rows, has_sources, fields, about, columns) = pickled;
    let (query, total, total_is_exact, notes, io, plan, took, aggregations) = about;
    let (rounds, reads, bytes, frames_hit, tier_hits) = io;
    let told = Told {
        again: None,
        query: query_of(&query)?,
        total,
        total_is_exact,
        notes,
        io: IoCounts {
            rounds,
            reads,
            bytes,
            frames_hit,
            tier_hits,
        },
        plan: plan.map(|(text, steps)| Explained { text, steps }),
        took: Duration::try_from_secs_f64(took).unwrap_or_default(),
        reused: None,
        aggregations,
        columns: Arc::new(columns),
        parts: ShardParts::default(),
    };
    let scores = rows.iter().map(|row| row.1).collect();
    let sort = rows.iter().map(|row| row.4.clone()).collect();
    let groups = rows.iter().map(|row| row.5.clone()).collect();
    let found = Found::unpickled(
        rows.into_iter().map(engine_hit).collect(),
        sort,
        groups,
        has_sources,
        fields,
    );
    Ok((found, scores, told))
}

/// The hit of which [`row`] was made, and its score.
pub fn hit(row: Row, fields: Option<Vec<String>>) -> (Found, f64) {
    let (score, has_sources) = (row.1, row.2.is_some());
    let (sort, groups) = (vec![row.4.clone()], vec![row.5.clone()]);
    let found = Found::unpickled(vec![engine_hit(row)], sort, groups, has_sources, fields);
    (found, score)
}

fn engine_hit(row: Row) -> gannet::Hit {
    let (id, score, source, snippets, ..) = row;
    gannet::Hit {
        id,
        score: score as f32,
        source,
        snippets,
        ..gannet::Hit::default()
    }
}
