//! The answer to a query as Python sees it: a sequence of hits, decoded when somebody asks.

use std::sync::Arc;

use gannet::{SearchOptions, SearchResults};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice};

use crate::aggregations;
use crate::asking::{Answer, Searched, explained};
use crate::classes::class_of;
use crate::errors::invalid;
use crate::found::Found;
use crate::pickled;
use crate::selection::is_within;
use crate::sharded::ShardParts;
use crate::sorting::KeyValue;
use crate::source::{Decoded, equal, equals, mapping_methods};
use crate::told::{Explained, Told};

/// One document found.
#[pyclass(frozen, mapping, module = "gannet")]
pub struct Hit {
    found: Arc<Found>,
    place: usize,
    #[pyo3(get)]
    score: f64,
    decoded: Decoded,
}

impl Hit {
    /// The hit at a place, with its score.
    pub fn new(found: &Arc<Found>, place: usize, score: f64) -> Hit {
        Hit {
            found: Arc::clone(found),
            place,
            score,
            decoded: Decoded::default(),
        }
    }
}

mapping_methods! {
    impl Hit {
        /// The external ID.
        #[getter]
        fn id(&self) -> &str {
            self.found.id(self.place)
        }

        /// The document as a dict.
        #[getter]
        fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            self.found.dict(py, self.place, &self.decoded)
        }

        /// The JSON of the document, byte for byte as it came.
        #[getter(json)]
        fn json_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
            Ok(PyBytes::new(py, &self.found.source(py, self.place)?))
        }

        /// The values by the keys of the order, where `sort` asked for one.
        #[getter]
        fn sort(&self) -> Vec<Option<KeyValue>> {
            self.found.sort(self.place).to_vec()
        }

        /// The value that it stands for, where `collapse` named a field.
        #[getter]
        fn group(&self) -> Option<KeyValue> {
            self.found.group(self.place).cloned()
        }

        /// Snippets by field, where `highlight` asked for them.
        #[getter]
        fn snippets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            let snippets = PyDict::new(py);
            for (field, texts) in self.found.snippets(self.place) {
                snippets.set_item(field, texts)?;
            }
            Ok(snippets)
        }

        /// The best snippet of the first field that has one.
        #[getter]
        fn snippet(&self) -> Option<&str> {
            let mut snippets = self.found.snippets(self.place).iter();
            snippets
                .find_map(|(_, texts)| texts.first())
                .map(String::as_str)
        }

        /// As another mapping with the same fields is.
        fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
            let py = other.py();
            if self.found.has_sources() {
                equal(py, equals(&self.source(py)?, other)?)
            } else {
                equal(py, None)
            }
        }

        fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            let read = py.import("gannet._native")?.getattr("read_hit")?;
            let row = pickled::row(py, &self.found, self.place, self.score)?;
            (read, (row, self.found.fields().map(<[String]>::to_vec))).into_bound_py_any(py)
        }

        fn __repr__(&self) -> String {
            format!("<Hit {} score={:.4}>", self.id(), self.score)
        }
    }
}

/// The hits of a search, best first.
#[pyclass(frozen, sequence, module = "gannet")]
pub struct Hits {
    found: Arc<Found>,
    /// The numbers of the hits, with their scores.
    order: Vec<(usize, f64)>,
    told: Arc<Told>,
}

impl Hits {
    /// The answer to a query, whose hits have these fields; nothing means all.
    pub fn new(
        searched: Searched,
        options: SearchOptions,
        fields: Option<Vec<String>>,
        answer: Answer,
    ) -> PyResult<Hits> {
        let results = answer.results;
        let asked = options.aggregations.as_deref();
        let aggregations = aggregations::answered(asked, results.aggregations.as_ref())?;
        let parts = match &options.statistics {
            Some(_) => ShardParts::of(&results)?,
            None => ShardParts::default(),
        };
        let mut notes = answer.parsed.notes;
        for note in self::notes(&results) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let told = Told {
            query: answer.parsed.query,
            total: results.total,
            total_is_exact: results.total_is_exact,
            notes,
            io: results.io,
            plan: Explained::of_results(&results),
            took: results.took,
            reused: results.reused.map(|reused| reused.from.to_string()),
            aggregations,
            columns: answer.columns,
            parts,
            again: Some((searched.clone(), options.clone())),
        };
        let found = Found::new(&searched, &options, fields, results.hits);
        let scores: Vec<f64> = found.scores().iter().copied().map(f64::from).collect();
        Ok(Hits::of(found, scores, told))
    }

    /// Hits with these scores, in their order.
    pub fn of(found: Found, scores: Vec<f64>, told: Told) -> Hits {
        Hits {
            order: scores.into_iter().enumerate().collect(),
            found: Arc::new(found),
            told: Arc::new(told),
        }
    }

    fn with_order(&self, order: Vec<(usize, f64)>) -> Hits {
        Hits {
            found: Arc::clone(&self.found),
            order,
            told: Arc::clone(&self.told),
        }
    }

    fn hit(&self, place: usize, score: f64) -> Hit {
        Hit::new(&self.found, place, score)
    }

    fn explained(&self, py: Python<'_>) -> PyResult<Explained> {
        let told = &self.told;
        if let Some(plan) = &told.plan {
            return Ok(plan.clone());
        }
        let Some((searched, options)) = &told.again else {
            return Err(invalid(
                "these hits were pickled without a plan: search again, or with explain=True before",
            ));
        };
        let again = explained(py, searched, &told.query, options)?;
        Explained::of_results(&again).ok_or_else(|| invalid("the search gave no plan"))
    }

    fn has_column(&self, name: &str) -> bool {
        let named = self.found.fields();
        named.is_none_or(|named| {
            named
                .iter()
                .any(|wanted| wanted == name || is_within(name, wanted))
        })
    }

    /// The fields of the index that hits can have, with the names of their analyzers; nothing
    /// where hits have no fields.
    fn columns(&self) -> Option<Vec<(&str, &str)>> {
        let columns = self.told.columns.iter();
        let named = columns.filter(|(name, _)| self.has_column(name));
        let named = named.map(|(name, analyzer)| (name.as_str(), analyzer.as_str()));
        self.found.has_sources().then(|| named.collect())
    }

    /// Facets and aggregations, decoded.
    fn aggregated<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.told.aggregations.as_deref();
        crate::json::value(py, text.unwrap_or(r#"{"facets":{},"aggs":{}}"#).as_bytes())
    }

    fn frame<'py>(slf: &Bound<'py, Hits>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("gannet._frames")?
            .call_method1(name, (slf, slf.get().columns()))
    }
}

#[pymethods]
impl Hits {
    /// Documents that match, or at least so many; see `total_is_exact`.
    #[getter]
    fn total(&self) -> u64 {
        self.told.total
    }

    /// True if `total` is exact; `count=True` makes it so.
    #[getter]
    fn total_is_exact(&self) -> bool {
        self.told.total_is_exact
    }

    /// Seconds that the search took.
    #[getter]
    fn took(&self) -> f64 {
        self.told.took.as_secs_f64()
    }

    /// The level of the cache that had the answer, "memory" or "flash". None if it was computed,
    /// and of hits that were unpickled.
    #[getter]
    fn reused(&self) -> Option<&str> {
        self.told.reused.as_deref()
    }

    /// The values of the fields that `facets` named, with their counts.
    #[getter]
    fn facets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all = self
            .aggregated(py)?
            .get_item("facets")?
            .cast_into::<PyDict>()?;
        for (field, values) in all.iter() {
            let pairs = values
                .cast::<PyList>()?
                .iter()
                .map(|pair| Ok(pair.cast::<PyList>()?.to_tuple()));
            all.set_item(field, pairs.collect::<PyResult<Vec<_>>>()?)?;
        }
        Ok(all.into_any())
    }

    /// The answers of `aggs`, as Elasticsearch gives them.
    #[getter]
    fn aggs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.aggregated(py)?.get_item("aggs")
    }

    /// The values of the hits of one of several indexes, for `shards_in_order`.
    #[getter]
    fn places(&self) -> Option<&str> {
        self.told.parts.places.as_deref()
    }

    /// The counts of one of several indexes, for `shards_counted`.
    #[getter]
    fn counted(&self) -> Option<&str> {
        self.told.parts.counted.as_deref()
    }

    /// The query as it was understood.
    #[getter]
    fn query(&self) -> String {
        self.told.query.to_string()
    }

    /// The reads of the search.
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

    /// Notes on the way the query was carried out.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.told.notes.clone()
    }

    /// The external IDs, best first.
    #[getter]
    fn ids(&self) -> Vec<&str> {
        self.order
            .iter()
            .map(|(place, _)| self.found.id(*place))
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
        let Ok(place) = key.extract::<isize>() else {
            return Err(PyTypeError::new_err(format!(
                "hits have places, from 0, and slices, found {}: ix.get(id) has a document by its ID",
                class_of(key)
            )));
        };
        let length = self.order.len() as isize;
        let place = if place < 0 { place + length } else { place };
        if (0..length).contains(&place) {
            let (place, score) = self.order[place as usize];
            Ok(Bound::new(py, self.hit(place, score))?.into_any())
        } else {
            Err(PyIndexError::new_err(format!("there are {length} hits")))
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        let hits = slf.get();
        let all = hits
            .order
            .iter()
            .map(|(place, score)| Bound::new(slf.py(), hits.hit(*place, *score)));
        let all = PyList::new(slf.py(), all.collect::<PyResult<Vec<_>>>()?)?;
        Ok(all.try_iter()?.into_any())
    }

    /// The same hits in the order of what `function` gives for each, the highest first.
    fn rescore(&self, function: &Bound<'_, PyAny>) -> PyResult<Hits> {
        let py = function.py();
        let mut order = Vec::with_capacity(self.order.len());
        for (place, score) in &self.order {
            let hit = Bound::new(py, self.hit(*place, *score))?;
            let score: f64 = function.call1((hit,))?.extract()?;
            if score.is_nan() {
                let id = self.found.id(*place);
                return Err(invalid(format!(
                    "the function gives no number (nan) for the hit {id:?}: give one for every hit"
                )));
            }
            order.push((*place, score));
        }
        order.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        Ok(self.with_order(order))
    }

    /// Returns the plan of the query and the reasons for the score of each hit. Asks again unless
    /// the search was made with `explain=True`.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let explained = self.explained(py)?;
        py.import("gannet._show")?
            .call_method1("Plan", (explained.text, explained.steps))
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let read = py.import("gannet._native")?.getattr("read_hits")?;
        let state = pickled::state(py, &self.found, &self.order, &self.told)?;
        (read, (state,)).into_bound_py_any(py)
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

/// Returns notes on the way a query was carried out.
fn notes(results: &SearchResults) -> Vec<String> {
    let cut = results.cut_expansions.iter().map(ToString::to_string);
    let unmatched = results.unmatched_patterns.iter();
    let unmatched = unmatched.map(|pattern| format!("no word fits the pattern {pattern}"));
    let dropped = results.has_no_terms;
    let dropped = dropped.then(|| "the query holds no searchable terms after analysis".to_owned());
    let asked = results.notes.iter().cloned();
    cut.chain(asked).chain(unmatched).chain(dropped).collect()
}
