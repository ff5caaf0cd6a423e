//! All documents that a query finds, in the order of their doc IDs, however many they are.
//!
//! They are found and read in batches: a search from the document on at which the last batch ended.
//! All have the same score, so the first ones fill a batch, and nothing behind it is looked at. A
//! batch has as many documents as its memory is meant for. One of which not all fit the memory
//! budget ends before the first that does not. The documents of patterns of many terms are
//! collected once for all batches.

use std::sync::Arc;
use std::time::Duration;

use super::snapshot::Snapshot;
use crate::base::{Reservation, Result};
use crate::search::{CutExpansion, Hit, KnownPatterns, Query, SearchOptions};

/// Documents of the first batch, and of any batch at most.
const BATCH_FIRST: usize = 64;
const BATCH_MAX: usize = 1_000;

/// Bytes that the sources of a batch should have.
const BATCH_BYTES: usize = 512 << 10;

/// The documents of a snapshot that a query finds; see [`Snapshot::list`].
pub struct Listing<'a> {
    snapshot: &'a Snapshot,
    query: Query,
    options: SearchOptions,
    batch: std::vec::IntoIter<Hit>,
    /// The reservation of the batch from the memory budget.
    memory: Option<Arc<Reservation>>,
    known: KnownPatterns,
    cut: Vec<CutExpansion>,
    notes: Vec<String>,
    is_done: bool,
}

impl Snapshot {
    /// Lists all documents that a query finds, in the order of their doc IDs, without a score. No
    /// more than a batch of them is in memory at once.
    ///
    /// Each item is a document, or the error at which the list ends. A document that alone needs
    /// more memory than there is has its ID and [`Hit::error`].
    pub fn list(&self, query: &Query) -> Listing<'_> {
        Listing {
            snapshot: self,
            query: Query::Bool {
                must: Vec::new(),
                should: Vec::new(),
                must_not: Vec::new(),
                filter: vec![query.clone()],
                minimum_should_match: 0,
            },
            options: SearchOptions {
                k: BATCH_FIRST,
                ..SearchOptions::default()
            },
            batch: Vec::new().into_iter(),
            memory: None,
            known: KnownPatterns::default(),
            cut: Vec::new(),
            notes: Vec::new(),
            is_done: false,
        }
    }
}

impl Listing<'_> {
    /// Sets whether sources are read with the IDs (yes by default).
    pub fn sources(mut self, sources: bool) -> Self {
        self.options.sources = sources;
        self
    }

    /// Sets the time limit of the search for each batch; the list then ends with
    /// [`Error::Timeout`](crate::Error::Timeout).
    pub fn timeout(mut self, limit: Option<Duration>) -> Self {
        self.options.deadline = limit;
        self
    }

    /// Patterns of which not all terms are searched, once the first document was asked for.
    pub fn cut_expansions(&self) -> &[CutExpansion] {
        &self.cut
    }

    /// Returns notes on the way the query was asked, see
    /// [`SearchResults::notes`](crate::SearchResults::notes), once the first document was asked
    /// for.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn read_batch(&mut self) -> Result<()> {
        // The last batch must be gone before the next one takes its memory.
        self.batch = Vec::new().into_iter();
        self.memory = None;
        loop {
            let asked = self.options.k;
            let (query, options) = (&self.query, &self.options);
            let mut found = self.snapshot.search_again(query, options, &self.known)?;
            self.cut = std::mem::take(&mut found.cut_expansions);
            self.notes = std::mem::take(&mut found.notes);
            let is_last = found.hits.len() < asked;
            let whole = found.hits.iter().take_while(|hit| hit.error.is_none());
            match whole.count() {
                // Alone it may have the memory that others had.
                0 if asked > 1 && !found.hits.is_empty() => {
                    self.options.k = 1;
                    continue;
                }
                whole if whole < found.hits.len() => found.hits.truncate(whole.max(1)),
                _ => self.is_done = is_last,
            }
            self.options.k = if self.options.sources {
                next_size(&found.hits)
            } else {
                BATCH_MAX
            };
            if let Some(last) = found.hits.last() {
                self.options.from = last.doc + 1;
            }
            self.memory = found.memory.take();
            self.batch = found.hits.into_iter();
            return Ok(());
        }
    }
}

impl Iterator for Listing<'_> {
    type Item = Result<Hit>;

    fn next(&mut self) -> Option<Result<Hit>> {
        loop {
            if let Some(hit) = self.batch.next() {
                return Some(Ok(hit));
            }
            if self.is_done {
                return None;
            }
            if let Err(error) = self.read_batch() {
                self.is_done = true;
                return Some(Err(error));
            }
        }
    }
}

/// Returns the number of documents like those of this batch that have the bytes of a batch.
fn next_size(batch: &[Hit]) -> usize {
    let bytes = |hit: &Hit| hit.source.as_ref().map_or(0, Vec::len);
    let bytes: usize = batch.iter().map(bytes).sum();
    match bytes {
        0 => BATCH_FIRST,
        _ => (batch.len() * BATCH_BYTES / bytes).clamp(1, BATCH_MAX),
    }
}
