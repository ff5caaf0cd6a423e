//! The hits of an answer, one after the other.
//!
//! The documents of an answer share the memory budget. One that finds too little beside those
//! before it is asked for again once they are printed and their memory is free. So each document
//! that fits the budget by itself is shown.

use gannet::{Hit, Query, SearchOptions, SearchResults, Snapshot};

use super::Answer;
use crate::failure::Outcome;
use crate::fields::Fields;

/// The arguments that produced an answer.
pub struct Asked {
    pub snapshot: Snapshot,
    pub query: Query,
    pub options: SearchOptions,
}

impl Asked {
    /// The answer without the first hits, and with so many of the others at most.
    fn again(&self, skipped: usize, most: usize) -> Outcome<SearchResults> {
        let options = SearchOptions {
            skip: self.options.skip + skipped,
            k: most.min(self.options.k - skipped),
            ..self.options.clone()
        };
        let query = std::slice::from_ref(&self.query);
        let mut answers = self.snapshot.search_all(query, &options);
        Ok(answers.swap_remove(0)?)
    }
}

impl Answer {
    /// Shows each hit with its place, and lets go of it.
    pub fn each_hit(
        &mut self,
        mut show: impl FnMut(&Fields, usize, &Hit) -> Outcome<()>,
    ) -> Outcome<()> {
        let all = self.results.hits.len();
        let (mut most, mut held) = (all, None);
        loop {
            let results = held.as_mut().unwrap_or(&mut self.results);
            let hits = results.hits.len();
            let whole = whole_hits(&results.hits);
            if whole == 0 && hits > 1 {
                // Those that are read together leave too little to each.
                most = hits / 2;
                results.hits.clear();
            }
            for hit in results.hits.drain(..).take(whole.max(1)) {
                show(&self.fields, self.shown, &hit)?;
                self.shown += 1;
                self.failed = self.failed.take().or(hit.error);
            }
            results.release_hits();
            if self.shown == all || hits == 0 {
                return Ok(());
            }
            held = Some(self.asked.again(self.shown, most)?);
        }
    }
}

/// Returns the number of hits before the first whose document could not be read.
fn whole_hits(hits: &[Hit]) -> usize {
    let lacks = hits.iter().position(|hit| hit.error.is_some());
    lacks.unwrap_or(hits.len())
}
