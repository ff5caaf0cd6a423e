//! What the ranking is to do.

use crate::base::DocId;

/// What the ranking is to do.
#[derive(Clone, Copy, Debug)]
pub struct RankOptions {
    /// How many documents are wanted.
    pub k: usize,
    /// The first document that is looked at.
    pub from: DocId,
    /// Whether documents that cannot enter may be passed over.
    pub prune: bool,
    /// Whether the total must be exact: then they may only where it is known without them.
    pub count: bool,
    /// Whether the documents will be fetched.
    pub fetch: bool,
    /// Candidates that a batch may hold, and bytes that each takes.
    pub candidates: usize,
    pub candidate_bytes: usize,
    /// One past the last doc ID that is looked at.
    pub below: DocId,
    /// Whether these are all documents of the snapshot.
    pub is_whole: bool,
    /// Whether documents may be found that are deleted.
    pub meets_dead: bool,
}

impl RankOptions {
    /// Bytes that what several clauses find in a range may take.
    pub(super) fn union_bytes(&self) -> usize {
        self.candidates * self.candidate_bytes
    }
}
