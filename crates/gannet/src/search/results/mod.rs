//! Results of a search: hits, totals, reads, and on request the plan and explanations.

pub(crate) mod explain;
pub(crate) mod highlight;
pub(crate) mod hits;
pub(crate) mod marks;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gannet_values::Value;

use crate::base::{DocId, Error, Reservation};
use crate::cache::{IoCounts, PageRequest, UsedPage};
use crate::search::scoring::explanation::Explanation;
use crate::search::values::{AggregationState, SortValue};

/// The answer to a query.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// Documents that match, or at least so many.
    pub total: u64,
    /// Set if `total` is exact. Otherwise it is a lower bound, unless `cut_expansions` has any.
    pub total_is_exact: bool,
    /// Set if analysis left no term of the query, as of one of stop words alone, so that it matches
    /// nothing.
    pub has_no_terms: bool,
    /// Patterns of which not all terms were searched, so that hits may be missing, or too many
    /// under a NOT.
    pub cut_expansions: Vec<CutExpansion>,
    /// Prefixes, wildcards and ranges, as the query language has them, that no term of the fields
    /// searched fits, so that they match nothing.
    pub unmatched_patterns: Vec<String>,
    /// Sentences on how the query was asked where that is not as it was written, such as a prefix
    /// in a field of stems. None is said twice.
    pub notes: Vec<String>,
    /// The best documents, best first.
    pub hits: Vec<Hit>,
    /// The findings of aggregations, if any were asked for.
    pub aggregations: Option<AggregationState>,
    /// Counts of the reads.
    pub io: IoCounts,
    /// The pages that were used, found in memory or not, in the order of their first use, if that
    /// was asked for. A page that a long query let go of and took in anew is there again.
    pub pages: Vec<UsedPage>,
    /// All requests for pages in their order, with those that were read ahead and never used, if
    /// pages were to be listed.
    pub requests: Vec<PageRequest>,
    /// The plan that was carried out, if it was asked for.
    pub plan: Option<PlanReport>,
    /// The time it took, by the clock of the options.
    pub took: Duration,
    /// Set if it is the answer of an earlier search, from the result cache. Nothing was read for it
    /// then, and a plan is that of the earlier search.
    pub reused: Option<Reused>,
    /// The share of the memory budget that the hits hold as long as they live.
    pub(crate) memory: Option<Arc<Reservation>>,
}

/// The age of a reused answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reused {
    /// The time since the snapshot was taken on which it was computed.
    pub age: Duration,
    /// Set if the index has changed since; only if older answers are allowed.
    pub is_older: bool,
    /// The level of the result cache that had it.
    pub from: AnswerPlace,
}

/// The levels of the result cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPlace {
    /// The memory of this process.
    Memory,
    /// The file of answers on flash.
    Flash,
}

/// The names by which programs know them.
impl fmt::Display for AnswerPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            AnswerPlace::Memory => "memory",
            AnswerPlace::Flash => "flash",
        })
    }
}

/// A pattern that stands for more terms of a field than are searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutExpansion {
    /// The field.
    pub field: String,
    /// The pattern, as the query language has it.
    pub pattern: String,
    /// The number of terms that were searched.
    pub searched: usize,
    /// Set if these are the most similar terms, not the most frequent.
    pub by_similarity: bool,
}

impl fmt::Display for CutExpansion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CutExpansion {
            field,
            pattern,
            searched,
            by_similarity,
        } = self;
        let most = if *by_similarity {
            "similar"
        } else {
            "frequent"
        };
        write!(
            out,
            "{pattern} stands for more terms of the field {field} than the {searched} most {most}, which \
             were searched: make it narrower for all"
        )
    }
}

/// One document found.
#[derive(Clone, Debug, Default)]
pub struct Hit {
    /// Its doc ID.
    pub doc: DocId,
    /// Its external ID; empty if documents were not fetched.
    pub id: String,
    /// Its score; not a number if hits are ordered by other keys, so that none was computed.
    pub score: f32,
    /// Its values by the keys of the order, if that was not by score.
    pub sort: Vec<SortValue>,
    /// The value that it stands for, if hits were collapsed by a field.
    pub group: SortValue,
    /// Its JSON source, if documents were fetched.
    pub source: Option<Vec<u8>>,
    /// Fields with their snippets, if any were asked for.
    pub snippets: Vec<(String, Vec<String>)>,
    /// Why it has its score, if that was asked for.
    pub explanation: Option<Box<Explanation>>,
    /// Why its source or its snippets are not there though they were asked for: its document needs
    /// more memory than there is.
    pub error: Option<Error>,
}

impl SearchResults {
    /// Lets go of the hits and of the memory that they take of the budget.
    pub fn release_hits(&mut self) {
        self.hits = Vec::new();
        self.memory = None;
    }
}

impl Hit {
    /// Bytes that its values by the keys of the order take, and the one that it stands for.
    pub(super) fn sort_bytes(&self) -> usize {
        let texts = self.sort.iter().chain([&self.group]);
        let texts = texts.map(|value| match value {
            Some(Value::Keyword(text)) => text.len(),
            _ => 0,
        });
        size_of_val(self.sort.as_slice()) + texts.sum::<usize>()
    }

    /// Bytes that its snippets take.
    pub(super) fn snippet_bytes(&self) -> usize {
        let each = self.snippets.iter().map(|(field, texts)| {
            let texts = texts
                .iter()
                .map(|text| size_of::<String>() + text.capacity());
            size_of::<(String, Vec<String>)>() + field.capacity() + texts.sum::<usize>()
        });
        each.sum()
    }
}

/// The plan of a query as it was carried out.
#[derive(Clone, Debug, Default)]
pub struct PlanReport {
    /// The phases in their order.
    pub steps: Vec<PlanStep>,
    /// The terms, those included that patterns of few terms stand for.
    pub terms: Vec<TermReport>,
    /// The patterns of many terms.
    pub patterns: Vec<PatternReport>,
    /// The report of offloading, if a device may read the lists.
    pub offload: Option<OffloadReport>,
    /// Windows of doc IDs whose bounds showed that nothing in them could come among the best.
    pub windows_skipped: u64,
    /// Windows that were searched.
    pub windows_searched: u64,
}

/// One phase.
#[derive(Clone, Debug)]
pub struct PlanStep {
    /// The name of the phase.
    pub name: &'static str,
    /// Counts of its reads.
    pub io: IoCounts,
}

/// One term.
#[derive(Clone, Debug)]
pub struct TermReport {
    /// The field.
    pub field: String,
    /// The term.
    pub term: String,
    /// Documents that have it, deleted ones included until a vacuum.
    pub document_frequency: u64,
    /// Chunks that its list has on the device: parts that were written by different flushes.
    pub chunks_in_list: u64,
    /// Pages of these chunks.
    pub pages_in_list: u64,
}

/// A pattern that stands for so many terms that the set of their documents was made.
#[derive(Clone, Debug)]
pub struct PatternReport {
    /// The field.
    pub field: String,
    /// The pattern, as the query language has it.
    pub pattern: String,
    /// Terms, at most: one with newer postings elsewhere counts once more for each place.
    pub terms: u64,
    /// Documents that have any, deleted ones included until a vacuum.
    pub documents: u64,
    /// Lists on the device that were read; other postings stand beside their terms or in memory.
    pub lists: u64,
    /// Pages of these lists.
    pub pages: u64,
}

/// Tells whether a device that runs programs read the lists, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffloadReport {
    /// The operation on the lists; empty if a device has none for it.
    pub operation: String,
    /// Set if the device did it.
    pub in_device: bool,
    /// Why, or why not.
    pub reason: String,
    /// Figures by what they are, with their unit.
    pub figures: Vec<(String, f64)>,
}

impl OffloadReport {
    /// The host does it.
    pub(super) fn on_host(reason: &str) -> OffloadReport {
        OffloadReport {
            reason: reason.to_owned(),
            ..OffloadReport::default()
        }
    }

    /// Notes that the host does it after all.
    pub(super) fn leave(&mut self, reason: String) {
        (self.in_device, self.reason) = (false, reason);
    }
}

impl fmt::Display for OffloadReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.in_device { "drive" } else { "host" };
        let operation = match self.operation.as_str() {
            "" => "lists",
            operation => operation,
        };
        write!(out, "{operation} on the {place}: {}", self.reason)?;
        self.figures
            .iter()
            .try_for_each(|(what, figure)| write!(out, "\n  {what}: {figure}"))
    }
}

impl fmt::Display for PatternReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "pattern {} in {}: {} at most, in {}, {} in {}",
            self.pattern,
            self.field,
            counted(self.terms, "term"),
            counted(self.documents, "document"),
            counted(self.pages, "page"),
            counted(self.lists, "list")
        )
    }
}

impl fmt::Display for PlanReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<24} {:>7} {:>7} {:>10} {:>11} {:>10}",
            "step", "rounds", "reads", "bytes", "frames hit", "tier hits"
        )?;
        for step in &self.steps {
            let IoCounts {
                rounds,
                reads,
                bytes,
                frames_hit,
                tier_hits,
            } = step.io;
            let name = step.name;
            writeln!(
                out,
                "{name:<24} {rounds:>7} {reads:>7} {bytes:>10} {frames_hit:>11} {tier_hits:>10}"
            )?;
        }
        for term in &self.terms {
            let TermReport {
                field, term: text, ..
            } = term;
            writeln!(
                out,
                "term {field}:{text}: in {}, {} in {}",
                counted(term.document_frequency, "document"),
                counted(term.pages_in_list, "page"),
                counted(term.chunks_in_list, "chunk")
            )?;
        }
        for pattern in &self.patterns {
            writeln!(out, "{pattern}")?;
        }
        if let Some(offload) = &self.offload {
            writeln!(out, "{offload}")?;
        }
        writeln!(
            out,
            "windows: {} searched, {} skipped",
            self.windows_searched, self.windows_skipped
        )
    }
}

/// So many things, by the name of one.
fn counted(count: u64, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    }
}
