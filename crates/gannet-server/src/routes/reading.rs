//! Reads all documents that a request finds, batch by batch, in the order of their numbers.

use gannet::{Hit, SearchOptions, SearchResults};

use crate::fault::{Fault, Outcome};
use crate::searching::{SearchRequest, SearchedIndex, without_scores};

/// Documents of the first batch, and of any batch at most.
const BATCH_FIRST: usize = 16;
const BATCH_MAX: usize = 200;

/// Bytes that the sources of a batch should have, so that memory is left to write them.
const BATCH_BYTES: usize = 256 << 10;

/// The progress of a reader of an index.
pub struct Reading {
    /// The number from which on documents are read, and the one behind the last.
    from: u32,
    below: u32,
    size: usize,
}

/// Documents that were read together, with the memory that they take.
pub struct Batch {
    results: SearchResults,
    whole: usize,
}

impl Batch {
    /// The documents, of which there is one at least.
    pub fn hits(&self) -> &[Hit] {
        self.results.hits.get(..self.whole).unwrap_or_default()
    }
}

impl Reading {
    /// Of all documents with numbers below one.
    pub fn new(below: u32) -> Reading {
        Reading {
            from: 0,
            below,
            size: BATCH_FIRST,
        }
    }

    /// The next documents, as many as fit the memory and `most` at most; nothing at the end.
    pub fn next(
        &mut self,
        searched: &SearchedIndex,
        request: &SearchRequest,
        most: usize,
    ) -> Outcome<Option<Batch>> {
        let mut size = self.size.min(most);
        loop {
            let options = SearchOptions {
                k: size,
                from: self.from,
                below: self.below,
                deadline: Some(request.deadline),
                ..SearchOptions::default()
            };
            let query = without_scores(searched.query(request)?);
            let results = searched.run(query, options)?;
            if let Some(cut) = results.cut_expansions.first() {
                return Err(Fault::illegal(format!(
                    "what it finds is not all that matches: {cut}"
                )));
            }
            let whole = results.hits.iter().take_while(|hit| hit.error.is_none());
            let whole = whole.count();
            match results.hits.first() {
                None => return Ok(None),
                Some(_) if whole > 0 => {}
                // Alone it may have the memory that others had.
                Some(_) if size > 1 => {
                    size = 1;
                    continue;
                }
                Some(hit) => {
                    let error = hit.error.clone().unwrap_or_else(|| {
                        gannet::Error::invalid(format!("document {} was not read", hit.id))
                    });
                    return Err(Fault::from(error).of_index(&searched.open.name));
                }
            }
            let batch = Batch { results, whole };
            self.pass(batch.hits());
            return Ok(Some(batch));
        }
    }

    /// Goes on behind a batch, with the size that the next should have.
    fn pass(&mut self, hits: &[Hit]) {
        if let Some(last) = hits.last() {
            self.from = last.doc.saturating_add(1);
        }
        let bytes = hits
            .iter()
            .map(|hit| hit.source.as_ref().map_or(0, Vec::len));
        let average = bytes.sum::<usize>() / hits.len().max(1);
        self.size = (BATCH_BYTES / average.max(1)).clamp(1, BATCH_MAX);
    }
}
