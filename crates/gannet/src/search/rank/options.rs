//! Options of the ranking.

use crate::base::DocId;

/// Options of the ranking.
#[derive(Clone, Copy, Debug)]
pub struct RankOptions {
    /// The number of documents wanted.
    pub k: usize,
    /// The first document that is looked at.
    pub from: DocId,
    /// Set if documents that cannot enter may be passed over.
    pub prune: bool,
    /// Set if the total must be exact: then they may be only if it is known without them.
    pub count: bool,
    /// Set if the documents will be fetched.
    pub fetch: bool,
    /// Candidates that a batch may hold, and bytes that each takes.
    pub candidates: usize,
    pub candidate_bytes: usize,
    /// One past the last doc ID that is looked at.
    pub below: DocId,
    /// Set if these are all documents of the snapshot.
    pub is_whole: bool,
    /// Set if deleted documents may be found.
    pub meets_dead: bool,
}

impl RankOptions {
    /// Bytes that what several clauses find in a range may take.
    pub(super) fn union_bytes(&self) -> usize {
        self.candidates * self.candidate_bytes
    }
}
