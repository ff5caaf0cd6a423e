//! Gannet for Python: the module `gannet._native`.
//!
//! The stub `python/gannet/_native.pyi` documents the interface for users. This crate takes the
//! objects of Python apart and puts them together; the engine works without the interpreter's lock.

mod adding;
mod aggregations;
#[cfg(feature = "jemalloc")]
mod allocator;
mod answers;
mod arguments;
mod arrow_cells;
mod arrow_stream;
mod asking;
mod batch;
mod classes;
mod converting;
mod errors;
mod field;
mod found;
mod held;
mod hits;
mod ids;
mod index;
mod interrupts;
mod json;
mod many;
mod matching;
mod objects;
mod options;
mod pickled;
mod pickled_query;
mod places;
mod query;
mod ranking_batches;
mod room;
mod searching;
mod selection;
mod sharded;
mod snapshot;
mod sorting;
mod source;
mod statistics;
mod table;
mod texts;
mod told;
mod written;

use pyo3::prelude::*;

/// The module that `import gannet` finds.
#[pymodule]
mod _native {
    use std::collections::HashMap;
    use std::ffi::CString;
    use std::path::PathBuf;
    use std::sync::Arc;

    use gannet::diagnostics::{AnswersOnFlash, CacheState};
    use pyo3::exceptions::PyUserWarning;
    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    use crate::aggregations::Facets;
    use crate::arguments;
    use crate::errors::{Raise, exception_at, invalid};
    use crate::options::{Bytes, OpenArguments, memory_or_default};
    use crate::pickled;
    use crate::pickled_query::query_of;
    use crate::places::{self, is_url};
    use crate::selection;
    use crate::{sharded, sorting};

    #[pymodule_export]
    const MEMORY_MIN: usize = gannet::MEMORY_MIN;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::field::PyField;
    #[pymodule_export]
    use crate::hits::{Hit, Hits};
    #[pymodule_export]
    use crate::ids::{Documents, Ids};
    #[pymodule_export]
    use crate::index::PyIndex;
    #[pymodule_export]
    use crate::interrupts::CancelToken;
    #[pymodule_export]
    use crate::many::Rankings;
    #[pymodule_export]
    use crate::matching::Matching;
    #[pymodule_export]
    use crate::objects::Objects;
    #[pymodule_export]
    use crate::query::PyQuery;
    #[pymodule_export]
    use crate::searching::Searcher;
    #[pymodule_export]
    use crate::snapshot::Snapshot;
    #[pymodule_export]
    use crate::source::Document;
    #[pymodule_export]
    use crate::statistics::PyStatistics;
    #[pymodule_export]
    use crate::table::PyTable;
    #[pymodule_export]
    use crate::written::Written;

    /// Opens the index in a folder or at a URL, or makes one in a folder.
    #[pyfunction]
    #[pyo3(signature = (path, *, memory=None, read_only=false, create=true, analyzer=None, analyzers=None, mapping=None, durability="async", backend="auto", cache_dir=None, cache_size=None, cache_writes=None, result_cache=None, result_ttl=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        memory: Option<Bytes>,
        read_only: bool,
        create: bool,
        analyzer: Option<String>,
        analyzers: Option<HashMap<String, String>>,
        mapping: Option<String>,
        durability: &str,
        backend: &str,
        cache_dir: Option<PathBuf>,
        cache_size: Option<Bytes>,
        cache_writes: Option<Bytes>,
        result_cache: Option<Bytes>,
        result_ttl: Option<f64>,
    ) -> PyResult<Py<PyIndex>> {
        let arguments = OpenArguments {
            memory: memory_or_default(memory),
            read_only,
            create,
            analyzer,
            analyzers: analyzers.unwrap_or_default(),
            mapping,
            durability: durability.to_owned(),
            backend: backend.to_owned(),
            cache_dir,
            cache_size,
            cache_writes,
            result_cache,
            result_ttl,
        };
        if is_url(&path) && !read_only {
            return Err(invalid(format!(
                "{} is a URL, and what is published there is only read: give read_only=True, or write to the index \
                 in a folder and publish that",
                path.display()
            )));
        }
        let path = places::fixed(&path).or_raise()?;
        let options = arguments.options()?;
        let index = py.detach(|| places::open(options, &path));
        let index = index.map_err(|error| exception_at(&path, &error))?;
        let past = match index.cache() {
            Some(CacheState::Past(reason)) => Some(reason),
            _ => None,
        };
        if let Some(reason) = &past {
            warn_of_cache(py, &format!("the index is read past the cache: {reason}"))?;
        }
        match index.answers_on_flash() {
            Some(AnswersOnFlash::Past(reason)) if past.as_ref() != Some(&reason) => {
                warn_of_cache(py, &format!("no answers are kept in the cache: {reason}"))?;
            }
            _ => {}
        }
        PyIndex::new(py, index, path, arguments.memory.0, read_only)
    }

    /// Says that a cache was asked for and is not used.
    fn warn_of_cache(py: Python<'_>, said: &str) -> PyResult<()> {
        let said =
            CString::new(said.replace('\0', "")).map_err(|error| invalid(error.to_string()))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &said, 1)
    }

    /// Makes an index in a folder of the backup in another, or of what is published at a URL.
    #[pyfunction]
    #[pyo3(signature = (backup, path, *, memory=None))]
    fn restore(
        py: Python<'_>,
        backup: PathBuf,
        path: PathBuf,
        memory: Option<Bytes>,
    ) -> PyResult<()> {
        let options = gannet::Index::options().memory(memory_or_default(memory).0);
        let restored = py.detach(|| places::restore(options, &backup, &path));
        restored.map_err(|error| exception_at(&backup, &error))
    }

    /// Opens what was pickled.
    #[pyfunction]
    fn reopen(py: Python<'_>, path: PathBuf, memory: usize) -> PyResult<Py<PyIndex>> {
        let options = gannet::Index::options().memory(memory).read_only();
        let index = py.detach(|| places::open(options, &path));
        let index = index.map_err(|error| exception_at(&path, &error))?;
        PyIndex::new(py, index, path, memory, true)
    }

    /// A size as a number of bytes.
    #[pyfunction]
    fn number_of_bytes(size: Bytes) -> usize {
        size.0
    }

    /// The exception for an option that a call does not have.
    #[pyfunction]
    fn no_option(call: &str, known: Vec<String>, name: &str) -> PyErr {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        arguments::no_option(call, &known, name)
    }

    /// A document with the fields of these names alone.
    #[pyfunction]
    fn selected<'py>(
        document: &Bound<'py, PyDict>,
        names: Vec<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        selection::selected(document, &names)
    }

    /// A query that was pickled.
    #[pyfunction]
    fn read_query(json: &str) -> PyResult<PyQuery> {
        query_of(json).map(PyQuery)
    }

    /// The hits of shards in one order, from what `Hits.places` of each has.
    #[pyfunction]
    fn shards_in_order(
        sort: sorting::Keys,
        shards: Vec<Option<String>>,
    ) -> PyResult<Vec<(usize, usize)>> {
        sharded::in_order(sort, &shards)
    }

    /// Facets and aggregations of shards, from what `Hits.counted` of each has.
    #[pyfunction]
    fn shards_counted(
        py: Python<'_>,
        facets: Option<Facets>,
        aggs: Option<&Bound<'_, PyAny>>,
        shards: Vec<String>,
    ) -> PyResult<Option<String>> {
        sharded::answered(py, facets, aggs, &shards)
    }

    /// Hits that were pickled.
    #[pyfunction]
    fn read_hits(answer: pickled::PickledAnswer) -> PyResult<Hits> {
        let (found, scores, told) = pickled::answer(answer)?;
        Ok(Hits::of(found, scores, told))
    }

    /// A hit that was pickled.
    #[pyfunction]
    fn read_hit(row: pickled::Row, fields: Option<Vec<String>>) -> Hit {
        let (found, score) = pickled::hit(row, fields);
        Hit::new(&Arc::new(found), 0, score)
    }

    /// Rankings that were pickled, or merged.
    #[pyfunction]
    fn read_rankings(queries: Vec<String>, rankings: Vec<Vec<(String, f32)>>) -> Rankings {
        Rankings::new(queries, rankings)
    }

    /// A document that was pickled.
    #[pyfunction]
    fn read_document(id: String, source: Vec<u8>, version: u64) -> Document {
        Document::new(id, source, version)
    }

    /// Restores the pickled results of a write.
    #[pyfunction]
    fn read_written(
        counts: (u64, u64, u64, u64),
        rejections: Vec<String>,
        notes: Vec<String>,
    ) -> Written {
        let (added, replaced, deleted, rejected) = counts;
        Written {
            added,
            replaced,
            deleted,
            rejected,
            rejections,
            notes,
        }
    }

    /// Statistics that were pickled.
    #[pyfunction]
    fn read_statistics(json: &str) -> PyResult<PyStatistics> {
        PyStatistics::read(json)
    }
}
