//! Options of a search beside its query.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::statistics::QueryStatistics;
use super::techniques::Techniques;
use crate::base::{DocId, END, Error, Interrupt, Result};
use crate::search::results::highlight::SnippetOptions;
use crate::search::scoring::top::TOP_MAX;
use crate::search::values::{AggregationRequest, SortBy, SortKey, SortValue};

/// Tells the time since some fixed moment.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Tells whether the caller has given up.
pub type Cancelled = Arc<dyn Fn() -> bool + Send + Sync>;

/// The order of documents of the same score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// Their doc IDs: the document that was written first comes first. Costs nothing.
    #[default]
    DocId,
    /// Their external IDs, by the bytes of UTF-8. Then the order is the same in whatever index the
    /// documents are.
    ///
    /// The IDs of documents that share a score of the page are read from their records. Where the
    /// last score of the page goes on behind it, documents are ranked a second time for all that
    /// have this score, with one bit for each document of the index. The ID of each of them is
    /// read: all that match, in a query whose scores are constant.
    ExternalId,
}

/// Options of a search.
///
/// Beside what a text may have (see [`Snapshot::parse`](crate::index::Snapshot::parse)), a query
/// has at most 4,096 words and patterns over all fields, a phrase 1,024 words, a fuzzy term 255
/// characters, a wildcard pattern 1,024, and it is nested 64 deep at most; else it fails with
/// [`Error::Invalid`]. What it needs beyond the memory budget fails with [`Error::Memory`].
#[derive(Clone)]
pub struct SearchOptions {
    /// The number of hits wanted; with those skipped at most [`SearchOptions::RANKED_MAX`].
    pub k: usize,
    /// The number of best documents to skip: they are ranked, but not read.
    pub skip: usize,
    /// The first doc ID of interest: documents below it are neither found nor counted.
    pub from: DocId,
    /// The doc ID behind the last one of interest: documents from it on are neither found nor
    /// counted. What doc IDs there are is in [`Snapshot::doc_ids`](crate::Snapshot::doc_ids).
    pub below: DocId,
    /// The order of documents of the same score.
    pub ties: Ties,
    /// The statistics to rank with in place of those of this index, as sums over several indexes.
    /// The query may name fields that only they have: no document here has these. They are used as
    /// they are, also if the index has changed since. A term or a field of the query that they lack
    /// is [`Error::Invalid`].
    pub statistics: Option<Arc<QueryStatistics>>,
    /// The keys by which hits are ordered, the first one first; by their scores if there are none.
    /// Scores are computed only if they are among the keys.
    pub sort: Vec<SortKey>,
    /// The values of the hit behind which the hits begin, one by each key of the order.
    pub after: Option<Vec<SortValue>>,
    /// A field of whose values each has one hit, the best of the documents that have it; documents
    /// without a value have one together. Totals count all documents. A document that may be a hit
    /// must have one value at most.
    pub collapse: Option<String>,
    /// The least score: documents below it are neither found nor counted nor aggregated.
    pub min_score: Option<f32>,
    /// Aggregations over all documents that match.
    pub aggregations: Option<Arc<AggregationRequest>>,
    /// Names of fields that other indexes have: a query may name them, and finds nothing here.
    pub other_fields: Vec<String>,
    /// Set if `total` must be exact. This rules pruning out, except where nothing is deleted and
    /// the query is one term or a pattern of many, whose total is known, or words whose lists are
    /// kept decoded.
    pub count: bool,
    /// Set to fetch the documents' IDs and sources.
    pub fetch: bool,
    /// Set to fetch sources with the IDs. Without them large documents cost no more than small
    /// ones.
    pub sources: bool,
    /// Fields of which snippets are made; they need the documents.
    pub highlight: Vec<String>,
    /// The form of snippets.
    pub snippets: SnippetOptions,
    /// Set to explain the plan and each hit's score.
    pub explain: bool,
    /// Set to list the pages that were used, and those that were asked for. Pages of tables are
    /// looked up then though they are pinned, and no list is hot.
    pub list_pages: bool,
    /// The techniques that make the search fast; the answer is the same without.
    pub techniques: Techniques,
    /// Tells the time, for [`SearchOptions::deadline`] and for the time taken; the time since the
    /// search began if there is none.
    pub clock: Option<Clock>,
    /// The time at which the search fails with [`Error::Timeout`]; there is no partial answer then.
    /// Of several queries searched at once each has this deadline.
    pub deadline: Option<Duration>,
    /// Asked every few thousand steps; the search ends with an error when it says yes.
    pub cancelled: Option<Cancelled>,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            k: 10,
            skip: 0,
            from: 0,
            below: END,
            ties: Ties::default(),
            statistics: None,
            sort: Vec::new(),
            after: None,
            collapse: None,
            min_score: None,
            aggregations: None,
            other_fields: Vec::new(),
            count: false,
            fetch: true,
            sources: true,
            highlight: Vec::new(),
            snippets: SnippetOptions::default(),
            explain: false,
            list_pages: false,
            techniques: Techniques::default(),
            clock: None,
            deadline: None,
            cancelled: None,
        }
    }
}

impl fmt::Debug for SearchOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SearchOptions")
            .field("k", &self.k)
            .field("skip", &self.skip)
            .field("from", &self.from)
            .field("below", &self.below)
            .field("ties", &self.ties)
            .field("statistics", &self.statistics)
            .field("sort", &self.sort)
            .field("after", &self.after)
            .field("collapse", &self.collapse)
            .field("min_score", &self.min_score)
            .field("aggregations", &self.aggregations)
            .field("other_fields", &self.other_fields)
            .field("count", &self.count)
            .field("fetch", &self.fetch)
            .field("sources", &self.sources)
            .field("highlight", &self.highlight)
            .field("explain", &self.explain)
            .field("list_pages", &self.list_pages)
            .field("techniques", &self.techniques)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl SearchOptions {
    /// The most documents that a search ranks.
    pub const RANKED_MAX: usize = TOP_MAX;

    /// Documents that have to be ranked: those that are wanted, and those skipped before them.
    pub fn ranked(&self) -> usize {
        self.skip.saturating_add(self.k)
    }

    /// Returns true if a query may name this field although the index may not have it.
    pub(crate) fn allows_field(&self, name: &str) -> bool {
        let given = self.statistics.as_ref();
        self.other_fields.iter().any(|other| other == name)
            || given.is_some_and(|given| given.whole(name).is_some())
    }

    /// The time now, or 0 without a clock.
    pub fn now(&self) -> Duration {
        self.clock.as_ref().map_or(Duration::ZERO, |clock| clock())
    }

    /// Returns true if documents have to be read.
    pub fn needs_documents(&self) -> bool {
        self.fetch || !self.highlight.is_empty()
    }

    /// Returns true if their sources have to be read too.
    pub fn needs_sources(&self) -> bool {
        self.fetch && self.sources || !self.highlight.is_empty()
    }

    /// Returns true if the hits are the best of the ranking, and no order follows.
    pub fn is_by_score(&self) -> bool {
        self.sort.is_empty() && self.collapse.is_none()
    }

    /// The keys by which all documents that match are put in order.
    pub fn keys(&self) -> &[SortKey] {
        const BEST_FIRST: &[SortKey] = &[SortKey {
            by: SortBy::Score,
            descending: true,
            missing_first: false,
            missing_like: None,
        }];
        if self.sort.is_empty() {
            BEST_FIRST
        } else {
            &self.sort
        }
    }

    /// Returns true if the score of each document that matches is wanted, be it among the best or
    /// not.
    pub fn needs_all_scores(&self) -> bool {
        self.min_score.is_some() || self.sorts_scores()
    }

    /// Returns true if scores are among the keys of an order.
    pub fn sorts_scores(&self) -> bool {
        let is_score = |key: &SortKey| key.by == SortBy::Score;
        !self.is_by_score() && self.keys().iter().any(is_score)
    }

    /// Rejects what cannot be.
    pub fn check_limits(&self) -> Result<()> {
        if self.after.is_some() && self.sort.is_empty() {
            return Err(Error::invalid(
                "hits that begin behind others need an order: name the keys to sort by",
            ));
        }
        if self.ties == Ties::ExternalId && !self.is_by_score() {
            return Err(Error::invalid(
                "equal hits of an order by values come in the order of their doc IDs: leave the order by ID \
                 out and sort by _id last, or sort by score",
            ));
        }
        if self.min_score.is_some_and(f32::is_nan) {
            return Err(Error::invalid("the least score is not a number"));
        }
        let by_id = |key: &SortKey| key.by == SortBy::Id;
        if self.collapse.is_some() && self.sort.iter().any(by_id) {
            return Err(Error::invalid(
                "hits that are collapsed are not ordered by _id: sort by _doc last",
            ));
        }
        if self.ranked() > TOP_MAX {
            Err(Error::invalid(format!(
                "a search ranks at most {TOP_MAX} documents, those that are skipped included, not {}: \
                 list all documents that match instead",
                self.ranked()
            )))
        } else {
            Ok(())
        }
    }
}

impl Interrupt for SearchOptions {
    /// Fails after the deadline or when the caller has given up.
    fn check(&self) -> Result<()> {
        if self.cancelled.as_ref().is_some_and(|cancelled| cancelled()) {
            return Err(Error::invalid("the search was cancelled"));
        }
        let Some(limit) = self.deadline else {
            return Ok(());
        };
        match self.now() {
            after if after > limit => Err(Error::Timeout {
                doing: "waiting".to_owned(),
                after,
                limit,
            }),
            _ => Ok(()),
        }
    }
}
