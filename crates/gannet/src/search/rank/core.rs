//! State that every step of the ranking works on: the query, the tables, and the results so far.

use super::options::RankOptions;
use super::pruning::{KnownScore, Pruning};
use super::root::Root;
use super::score::Score;
use super::tables::CandidateTables;
use crate::base::DocId;
use crate::search::scoring::formula::Formula;
use crate::search::scoring::top::Top;

/// A query with its best documents so far.
pub(super) struct RankCore {
    pub(super) root: Root,
    pub(super) formula: Formula,
    pub(super) score: Score,
    pub(super) options: RankOptions,
    pub(super) tables: CandidateTables,
    pub(super) top: Top,
    pub(super) total: Total,
    /// The first document that was not looked at.
    pub(super) next: DocId,
    /// Room for a number of each leaf.
    pub(super) scratch: Vec<f32>,
}

/// Live documents that matched.
pub(super) struct Total {
    pub(super) found: u64,
    /// Set if these are all.
    pub(super) is_exact: bool,
    /// The number of all, if it is known without a look at the documents.
    pub(super) known: Option<u64>,
}

impl RankCore {
    /// Decides what may be left out now.
    pub(super) fn pruning(&self) -> Pruning {
        Pruning::new(self.options.prune.then_some(&self.top), self.root.tie)
    }

    /// Returns true if a document with these scores can come among the best. Where all documents
    /// are counted, these are; the exact sum need not be made of all.
    pub(super) fn can_enter(&self, known: KnownScore) -> bool {
        !Pruning::new(Some(&self.top), self.root.tie).excludes(known)
    }

    /// Returns true if the documents that are found are approximations, and must be confirmed.
    pub(super) fn is_approximate(&self) -> bool {
        let mut clauses = self.root.clauses.iter();
        clauses.any(|clause| clause.check.is_some())
    }

    /// Returns true if every document that the query can find is live.
    pub(super) fn all_live(&self) -> bool {
        self.tables.live.all_live(self.options.below)
    }
}
