//! The answer to a query as Python sees it: a sequence of hits, decoded when somebody asks.

use std::sync::Arc;
use std::time::Duration;

use gannet::diagnostics::{IoCounts, PlanReport};
use gannet::{Parsed, Query, SearchOptions, SearchResults};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice};

use crate::asking::{Searched, explained};
use crate::errors::{exception, invalid};
use crate::source::{Decoded, field};

/// One document found.
#[pyclass(frozen, mapping, module = "gannet")]
pub struct Hit {
    all: Arc<Vec<gannet::Hit>>,
    place: usize,
    #[pyo3(get)]
    score: f64,
    decoded: Decoded,
}

impl Hit {
    fn hit(&self) -> &gannet::Hit {
        &self.all[self.place]
    }

    fn json(&self) -> PyResult<&[u8]> {
        let hit = self.hit();
        match (&hit.source, &hit.error) {
            (Some(source), _) => Ok(source),
            (None, Some(error)) => Err(exception(error)),
            (None, None) => Err(invalid(
                "the search was made with sources=False, so hits have no fields: leave that out",
            )),
        }
    }
}

#[pymethods]
impl Hit {
    /// The external ID.
    #[getter]
    fn id(&self) -> &str {
        &self.hit().id
    }

    /// The document as a dict.
    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.decoded.dict(py, self.json()?)
    }

    /// The JSON of the document, byte for byte as it came.
    #[getter(json)]
    fn json_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.json()?))
    }

    /// Snippets by field, where `highlight` asked for them.
    #[getter]
    fn snippets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let snippets = PyDict::new(py);
        for (field, texts) in &self.hit().snippets {
            snippets.set_item(field, texts)?;
        }
        Ok(snippets)
    }

    /// The best snippet of the first field that has one.
    #[getter]
    fn snippet(&self) -> Option<&str> {
        let mut snippets = self.hit().snippets.iter();
        snippets
            .find_map(|(_, texts)| texts.first())
            .map(String::as_str)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        field(&self.source(py)?, &self.hit().id, name)
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.source(py)?.contains(name)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.source(py)?.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.source(py)?.keys().try_iter()?.into_any())
    }

    /// The names of its fields.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.source(py)?.keys().extract()
    }

    /// A field, or `default` where it is missing.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.source(py)?.get_item(name)?.or(default))
    }

    fn __repr__(&self) -> String {
        format!("<Hit {} score={:.4}>", self.hit().id, self.score)
    }
}

/// What a search found, best first.
#[pyclass(frozen, sequence, module = "gannet")]
pub struct Hits {
    all: Arc<Vec<gannet::Hit>>,
    /// Which of them, with their scores.
    order: Vec<(usize, f64)>,
    told: Arc<Told>,
}

/// What an answer tells beside its hits, and how to ask again.
struct Told {
    searched: Searched,
    query: Query,
    options: SearchOptions,
    total: u64,
    total_is_exact: bool,
    notes: Vec<String>,
    io: IoCounts,
    plan: Option<PlanReport>,
    took: Duration,
}

impl Hits {
    /// The answer to a query. What it holds is no longer part of the memory budget.
    pub fn new(
        searched: Searched,
        parsed: Parsed,
        options: SearchOptions,
        results: SearchResults,
    ) -> Hits {
        let mut notes = parsed.notes;
        notes.extend(self::notes(&results));
        let told = Told {
            searched,
            query: parsed.query,
            options,
            total: results.total,
            total_is_exact: results.total_is_exact,
            notes,
            io: results.io,
            plan: results.plan,
            took: results.took,
        };
        let all = results.hits;
        Hits {
            order: all
                .iter()
                .map(|hit| f64::from(hit.score))
                .enumerate()
                .collect(),
            all: Arc::new(all),
            told: Arc::new(told),
        }
    }

    fn with_order(&self, order: Vec<(usize, f64)>) -> Hits {
        Hits {
            all: Arc::clone(&self.all),
            order,
            told: Arc::clone(&self.told),
        }
    }

    fn hit(&self, (place, score): (usize, f64)) -> Hit {
        Hit {
            all: Arc::clone(&self.all),
            place,
            score,
            decoded: Decoded::default(),
        }
    }

    fn frame<'py>(slf: &Bound<'py, Hits>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("gannet._frames")?
            .call_method1(name, (slf,))
    }
}

#[pymethods]
impl Hits {
    /// Documents that match, or at least so many; see `total_is_exact`.
    #[getter]
    fn total(&self) -> u64 {
        self.told.total
    }

    /// Whether `total` is exact; `count=True` makes it so.
    #[getter]
    fn total_is_exact(&self) -> bool {
        self.told.total_is_exact
    }

    /// Seconds that the search took.
    #[getter]
    fn took(&self) -> f64 {
        self.told.took.as_secs_f64()
    }

    /// The query as it was understood.
    #[getter]
    fn query(&self) -> String {
        self.told.query.to_string()
    }

    /// What the search read.
    #[getter]
    fn io<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let io = self.told.io;
        let all = PyDict::new(py);
        all.set_item("rounds", io.rounds)?;
        all.set_item("reads", io.reads)?;
        all.set_item("bytes", io.bytes)?;
        all.set_item("frames_hit", io.frames_hit)?;
        all.set_item("tier_hits", io.tier_hits)?;
        Ok(all)
    }

    /// What one should know of how the query was carried out.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.told.notes.clone()
    }

    /// The external IDs, best first.
    #[getter]
    fn ids(&self) -> Vec<&str> {
        self.order
            .iter()
            .map(|(place, _)| self.all[*place].id.as_str())
            .collect()
    }

    /// The scores, best first.
    #[getter]
    fn scores(&self) -> Vec<f64> {
        self.order.iter().map(|(_, score)| *score).collect()
    }

    fn __len__(&self) -> usize {
        self.order.len()
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        if let Ok(slice) = key.cast::<PySlice>() {
            let range = slice.indices(self.order.len() as isize)?;
            let places = (0..range.slicelength).map(|at| range.start + at as isize * range.step);
            let order = places.map(|place| self.order[place as usize]).collect();
            return Ok(Bound::new(py, self.with_order(order))?.into_any());
        }
        let place: isize = key.extract()?;
        let length = self.order.len() as isize;
        let place = if place < 0 { place + length } else { place };
        match (0..length).contains(&place) {
            true => Ok(Bound::new(py, self.hit(self.order[place as usize]))?.into_any()),
            false => Err(PyIndexError::new_err(format!("there are {length} hits"))),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        let hits = slf.get();
        let all = hits
            .order
            .iter()
            .map(|entry| Bound::new(slf.py(), hits.hit(*entry)));
        let all = PyList::new(slf.py(), all.collect::<PyResult<Vec<_>>>()?)?;
        Ok(all.try_iter()?.into_any())
    }

    /// The same hits in the order of what `function` gives for each, the highest first.
    fn rescore(&self, function: &Bound<'_, PyAny>) -> PyResult<Hits> {
        let py = function.py();
        let mut order = Vec::with_capacity(self.order.len());
        for entry in &self.order {
            let hit = Bound::new(py, self.hit(*entry))?;
            let score: f64 = function.call1((hit,))?.extract()?;
            if score.is_nan() {
                let id = &self.all[entry.0].id;
                return Err(invalid(format!(
                    "the function gives no number (nan) for the hit {id:?}: give one for every hit"
                )));
            }
            order.push((entry.0, score));
        }
        order.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        Ok(self.with_order(order))
    }

    /// How the query was carried out, and why each hit has its score. Asks again unless the search
    /// was made with `explain=True`.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let told = &self.told;
        let again;
        let (plan, hits) = match &told.plan {
            Some(plan) => (plan, &*self.all),
            None => {
                again = explained(py, &told.searched, &told.query, &told.options)?;
                let plan = again.plan.as_ref();
                (
                    plan.ok_or_else(|| invalid("the search gave no plan"))?,
                    &again.hits,
                )
            }
        };
        let mut text = plan.to_string();
        for hit in hits {
            if let Some(explanation) = &hit.explanation {
                text.push_str(&format!("\n{}\n{explanation}", hit.id));
            }
        }
        let steps = plan.steps.iter().map(|step| {
            (
                step.name,
                step.io.rounds,
                step.io.reads,
                step.io.bytes,
                step.io.frames_hit,
            )
        });
        let steps = PyList::new(py, steps.collect::<Vec<_>>())?;
        py.import("gannet._show")?
            .call_method1("Plan", (text, steps))
    }

    /// A pandas.DataFrame with the columns id, score and all fields.
    fn to_pandas<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        Hits::frame(slf, "hits_to_pandas")
    }

    /// A polars.DataFrame with the columns id, score and all fields.
    fn to_polars<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        Hits::frame(slf, "hits_to_polars")
    }

    /// A pyarrow.Table with the columns id, score and all fields.
    fn to_arrow<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        Hits::frame(slf, "hits_to_arrow")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("gannet._show")?
            .call_method1("hits", (slf,))
    }

    fn __repr__(&self) -> String {
        let ids: Vec<&str> = self.ids().into_iter().take(3).collect();
        let more = if self.order.len() > ids.len() {
            ", ..."
        } else {
            ""
        };
        format!("<{} Hits: {}{more}>", self.order.len(), ids.join(", "))
    }
}

/// What one should know of how a query was carried out.
fn notes(results: &SearchResults) -> Vec<String> {
    let cut = results.cut_expansions.iter().map(ToString::to_string);
    let unmatched = results.unmatched_patterns.iter();
    let unmatched = unmatched.map(|pattern| format!("no word fits the pattern {pattern}"));
    let dropped = results.has_no_terms;
    let dropped = dropped.then(|| "the query holds no searchable terms after analysis".to_owned());
    let asked = results.notes.iter().cloned();
    cut.chain(asked).chain(unmatched).chain(dropped).collect()
}
