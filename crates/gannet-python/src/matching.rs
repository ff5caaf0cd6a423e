//! All documents that match a query, however many, as an iterator.
//!
//! A search ranks a limited number of documents. So it is done for a range of doc IDs at a time,
//! in which no more than that can match, or do not.

use std::sync::Arc;
use std::vec;

use gannet::SearchOptions;
use pyo3::prelude::*;

use crate::asking::{Asked, Handle, Searched, run};
use crate::errors::Raise;
use crate::held::Held;
use crate::options::Reading;

/// Documents that are ranked at once.
const AT_ONCE: usize = 1_000;

/// The factor by which ranges grow while few documents match.
const GROWTH: u32 = 4;

/// IDs and scores of the documents that match.
#[pyclass(module = "gannet._native")]
pub struct Matching {
    searched: Searched,
    query: gannet::Query,
    options: SearchOptions,
    /// The number of doc IDs in the next range.
    width: u32,
    end: u32,
    found: vec::IntoIter<(String, f32)>,
}

impl Matching {
    /// Of the state that is there now.
    pub fn new(
        searched: &Searched,
        asked: &Asked,
        reading: Reading,
        options: SearchOptions,
    ) -> PyResult<Matching> {
        let snapshot = searched.snapshot()?;
        let query = asked.parse(&snapshot, reading, &options).or_raise()?.query;
        let end = snapshot.doc_ids().end;
        let (what, remedy) = ("the state of the search", "search again");
        let held = Held::new(snapshot, what.to_owned(), remedy);
        Ok(Matching {
            searched: Searched {
                handle: Handle::Snapshot(Arc::new(held)),
                room: Arc::clone(&searched.room),
            },
            query,
            options: SearchOptions {
                k: AT_ONCE,
                sources: false,
                ..options
            },
            width: AT_ONCE as u32,
            end,
            found: Vec::new().into_iter(),
        })
    }

    /// Finds what matches in the next range.
    fn search(&mut self, py: Python<'_>) -> PyResult<()> {
        self.options.below = self.options.from.saturating_add(self.width);
        let (asked, options) = (Asked::Built(self.query.clone()), self.options.clone());
        let answer = run(py, &self.searched, &asked, Reading::built(), options, None)?;
        let mut hits = answer.results.hits;
        if hits.len() == AT_ONCE && self.width as usize > AT_ONCE {
            // There may be more than were ranked.
            self.width = AT_ONCE as u32;
            return Ok(());
        }
        if hits.len() * (GROWTH as usize) < AT_ONCE {
            self.width = self.width.saturating_mul(GROWTH);
        }
        self.options.from = self.options.below;
        hits.sort_unstable_by_key(|hit| hit.doc);
        let found = hits.into_iter().map(|hit| match hit.error {
            Some(error) => Err(error),
            None => Ok((hit.id, hit.score)),
        });
        self.found = found.collect::<Result<Vec<_>, _>>().or_raise()?.into_iter();
        Ok(())
    }
}

#[pymethods]
impl Matching {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<(String, f32)>> {
        loop {
            if let Some(one) = self.found.next() {
                return Ok(Some(one));
            }
            if self.options.from >= self.end {
                return Ok(None);
            }
            self.search(py)?;
        }
    }
}
