//! Sizes of answers in memory, for the result cache.

use crate::search::results::{
    CutExpansion, Hit, OffloadReport, PatternReport, PlanReport, SearchResults, TermReport,
};
use crate::search::scoring::explanation::Explanation;

impl SearchResults {
    /// Bytes that it takes beside itself.
    pub(super) fn heap_bytes(&self) -> usize {
        let cut = self.cut_expansions.iter().map(CutExpansion::bytes);
        let unmatched = self.unmatched_patterns.iter().chain(&self.notes);
        let unmatched = unmatched.map(|text| size_of::<String>() + text.len());
        let hits = self.hits.iter().map(Hit::bytes);
        let plan = self.plan.as_ref().map_or(0, PlanReport::heap_bytes);
        cut.sum::<usize>() + unmatched.sum::<usize>() + hits.sum::<usize>() + plan
    }
}

impl CutExpansion {
    fn bytes(&self) -> usize {
        size_of::<CutExpansion>() + self.field.len() + self.pattern.len()
    }
}

impl Hit {
    fn bytes(&self) -> usize {
        let source = self.source.as_ref().map_or(0, Vec::len);
        let explanation = self.explanation.as_deref();
        let explanation = explanation.map_or(0, Explanation::memory_bytes);
        let texts = self.id.len() + source + self.snippet_bytes();
        size_of::<Hit>() + texts + self.sort_bytes() + explanation
    }
}

impl PlanReport {
    fn heap_bytes(&self) -> usize {
        let terms = self.terms.iter();
        let terms = terms.map(|term| size_of::<TermReport>() + term.field.len() + term.term.len());
        let patterns = self.patterns.iter();
        let patterns = patterns.map(|pattern| {
            size_of::<PatternReport>() + pattern.field.len() + pattern.pattern.len()
        });
        let offload = self.offload.as_ref().map_or(0, OffloadReport::heap_bytes);
        let steps = size_of_val(self.steps.as_slice());
        steps + terms.sum::<usize>() + patterns.sum::<usize>() + offload
    }
}

impl OffloadReport {
    fn heap_bytes(&self) -> usize {
        let names = self.figures.iter().map(|(name, _)| name.len());
        let figures = size_of_val(self.figures.as_slice()) + names.sum::<usize>();
        self.operation.len() + self.reason.len() + figures
    }
}
