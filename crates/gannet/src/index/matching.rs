//! Deleting what a query finds.

use std::time::Duration;

use super::handle::Index;
use super::state::{Relief, with_relief};
use super::write::{Writer, Written};
use crate::base::{DocId, Error, Result};
use crate::search::{CutExpansion, KnownPatterns, Query, SearchOptions, SearchResults};

/// Documents that are deleted in one batch.
const AT_ONCE: usize = 1_000;

impl Index {
    /// Deletes the documents that a query finds, the oldest first, in atomic batches of a thousand;
    /// `progress` is told how many are deleted so far. What others write meanwhile stays: documents
    /// that are added, or replaced before their turn comes.
    pub fn delete_matching(&self, query: &Query, progress: &dyn Fn(u64)) -> Result<Written> {
        self.delete_matching_within(query, None, progress)
    }

    /// The same where each search for the next thousand documents may take no longer than `limit`.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] if one does, and [`Error::Memory`] if the query needs more than is left
    /// once what waits in memory is flushed. Both tell how many documents were deleted before; the
    /// others are left.
    pub fn delete_matching_within(
        &self,
        query: &Query,
        limit: Option<Duration>,
        progress: &dyn Fn(u64),
    ) -> Result<Written> {
        let goes_on = |deleted: u64| {
            progress(deleted);
            true
        };
        self.delete_matching_while(query, limit, &goes_on)
    }

    /// The same until `goes_on`, which is told how many are deleted so far, says no: what was
    /// deleted before is durable like all that was acknowledged, and the others are left.
    pub fn delete_matching_while(
        &self,
        query: &Query,
        limit: Option<Duration>,
        goes_on: &dyn Fn(u64) -> bool,
    ) -> Result<Written> {
        let mut options = SearchOptions {
            k: AT_ONCE,
            sources: false,
            deadline: limit,
            ..SearchOptions::default()
        };
        let (below, sequence, renumbered) = {
            let state = self.shared().published.get();
            (state.below, state.sequence, state.renumbered)
        };
        // All have the same score, so that they come in the order of their numbers.
        let oldest_first = Query::Bool {
            must: Vec::new(),
            should: Vec::new(),
            must_not: Vec::new(),
            filter: vec![query.clone()],
            minimum_should_match: 0,
        };
        let mut all = Written {
            sequence,
            ..Written::default()
        };
        // Documents that come later are left, so what patterns stand for stays the same.
        let known = KnownPatterns::default();
        let mut passed_all = false;
        loop {
            let found = self
                .search_to_delete(&oldest_first, &options, &known)
                .map_err(|error| after_deleting(all.deleted, error))?;
            if let Some(cut) = found.cut_expansions.first() {
                return Err(after_deleting(all.deleted, is_cut(cut)));
            }
            let hits = found.hits.into_iter().filter(|hit| hit.doc < below);
            let found: Vec<(String, DocId)> = hits.map(|hit| (hit.id, hit.doc)).collect();
            match (found.last(), passed_all) {
                (None, false) if options.from > 0 => {
                    // Nothing may be left of what was passed.
                    (passed_all, options.from) = (true, 0);
                    continue;
                }
                (None, _) => {
                    check_numbers(self.shared().published.get().renumbered, renumbered)?;
                    return self.acknowledge(all);
                }
                (Some(_), true) => {
                    check_numbers(self.shared().published.get().renumbered, renumbered)?;
                    let (id, doc) = &found[0];
                    return Err(another_document(id, *doc));
                }
                (Some((_, last)), false) => options.from = last + 1,
            }
            let written = self.delete_with(|writer| {
                let written = writer.delete_found(&found, renumbered)?;
                written.ok_or_else(other_numbers)
            });
            let written = written.map_err(|error| after_deleting(all.deleted, error))?;
            all.deleted += written.deleted;
            all.sequence = written.sequence;
            if !goes_on(all.deleted) {
                return self.acknowledge(all);
            }
        }
    }

    /// Searches for the next documents. Deleted IDs wait in memory for a flush; where they leave
    /// the query too little, they are flushed, and it is asked again.
    fn search_to_delete(
        &self,
        query: &Query,
        options: &SearchOptions,
        known: &KnownPatterns,
    ) -> Result<SearchResults> {
        // The snapshot ends with the search, so that it holds no buffers of which memory is needed.
        let search = || self.snapshot().search_again(query, options, known);
        let give_back = |_: &mut (), _| self.after_flush(Writer::free_buffers).map(|()| true);
        with_relief(&mut (), &[Relief::Buffers], give_back, |_| search())
    }
}

/// A pattern stands for more than is searched, so that documents would stay, or go under a NOT.
fn is_cut(cut: &CutExpansion) -> Error {
    Error::invalid(format!("what it finds is not all that matches: {cut}"))
}

/// A document that a query found is not the one that its ID stands for, although it was not
/// replaced.
fn another_document(id: &str, doc: DocId) -> Error {
    Error::damaged(
        format!("the runs of IDs at {id}"),
        format!("expected document {doc}, got another"),
    )
}

/// Rejects to go on where documents got other numbers.
fn check_numbers(now: u64, before: u64) -> Result<()> {
    if now == before {
        Ok(())
    } else {
        Err(other_numbers())
    }
}

fn other_numbers() -> Error {
    Error::invalid(
        "a rebuild came between: not all documents that the query finds are deleted; delete them again",
    )
}

/// The error of a step that failed when so many documents were deleted.
fn after_deleting(deleted: u64, error: Error) -> Error {
    match error {
        Error::Timeout {
            doing,
            after,
            limit,
        } => Error::Timeout {
            doing: format!("{doing} to delete the next of them, {deleted} being deleted"),
            after,
            limit,
        },
        Error::Memory {
            what,
            needed,
            free,
            budget,
        } => Error::Memory {
            what: format!("{what}, after {deleted} documents were deleted,").into(),
            needed,
            free,
            budget,
        },
        other => other,
    }
}
