//! A batch: windows that are searched together, and the candidates that they gave. Norms and
//! deletions of all candidates are read together.

use super::candidates::Candidates;
use super::core::RankCore;
use super::pruning::KnownScore;
use super::windows::Window;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::matching::matcher::BLOCK_STEPS;

/// Candidates of the first batch: few, for the next batches are pruned by what it finds.
const FIRST: usize = 256;

/// The growth of a batch after one that waited for pages.
const GROWTH: usize = 4;

/// Windows and what was found in them.
pub(super) struct RankBatch {
    pub(super) windows: Vec<Window>,
    pub(super) candidates: Candidates,
    /// Candidates that it may have.
    limit: usize,
    /// Candidates that any may have.
    most: usize,
    /// Set once it has waited for pages.
    pub(super) waited: bool,
}

impl RankBatch {
    /// An empty one of at most `most` candidates.
    pub(super) fn new(candidates: Candidates, most: usize) -> RankBatch {
        RankBatch {
            windows: Vec::new(),
            candidates,
            limit: FIRST.min(most),
            most,
            waited: false,
        }
    }

    /// Begins anew: gives back the window that has documents which were not looked at.
    pub(super) fn begin(&mut self, core: &RankCore) -> Option<Window> {
        let unfinished = self.is_unfinished(core).then(|| self.windows.pop());
        self.windows.clear();
        self.candidates.clear();
        unfinished.flatten()
    }

    /// It is done: the next one is larger if it waited for pages.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.waited) {
            self.limit = (self.limit * GROWTH).min(self.most);
        }
    }

    /// The most candidates that it may have.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The number of candidates that it still has room for.
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(self.candidates.len())
    }

    /// Returns true if the last window has documents that were not looked at.
    pub(super) fn is_unfinished(&self, core: &RankCore) -> bool {
        let more = |window: &Window| core.next <= window.last && core.next < core.options.below;
        self.windows.last().is_some_and(more)
    }

    /// Returns true if a clause found candidates in any window.
    pub(super) fn sought(&self, clause: usize) -> bool {
        self.windows.iter().any(|window| window.essential[clause])
    }

    /// Returns true if any window leaves a clause for later.
    pub(super) fn leaves(&self, clause: usize) -> bool {
        self.windows.iter().any(|window| !window.essential[clause])
    }

    /// Returns true if the window of a candidate leaves a clause for later.
    pub(super) fn is_asked(&self, clause: usize, at: usize) -> bool {
        !self.windows[self.candidates.window(at)].essential[clause]
    }

    /// Reads norms and deletions of the candidates from `done` on, drops the deleted ones, and adds
    /// up the scores of what found them.
    pub(super) fn enrich(
        &mut self,
        core: &mut RankCore,
        done: &mut usize,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let all_live = core.all_live();
        self.candidates.begin_tables();
        while *done < self.candidates.len() {
            pages.count_steps(BLOCK_STEPS)?;
            let tables = &mut core.tables;
            let enriched = tables.enrich(&mut self.candidates, *done, all_live, pages);
            if let Err(Stop::Pages) = enriched {
                let docs = self.candidates.matches.docs();
                core.tables.prefetch(&docs[*done..], pages)?;
                prefetch_addresses(core, docs, pages)?;
            }
            *done = enriched?;
        }
        if !all_live {
            self.candidates.drop_dead();
        }
        if !core.is_approximate() {
            core.total.found += self.candidates.len() as u64;
        }
        core.total.is_exact &= core.root.driven || self.windows.iter().all(Window::leaves_none);
        if !core.top.collects_alone() {
            self.score_known(core);
        }
        Ok(())
    }

    /// Makes scores of the frequencies that the clauses gave which found candidates, and adds them
    /// up.
    fn score_known(&mut self, core: &RankCore) {
        for (at, clause) in core.root.clauses.iter().enumerate() {
            if self.sought(at) {
                let leaves = clause.leaves.clone();
                self.candidates.score_columns(leaves, &core.score);
                self.candidates.add_all(&clause.formula);
            }
        }
    }

    /// Drops candidates that cannot enter even if every clause of `later` gives its bound.
    pub(super) fn drop_hopeless(&mut self, core: &RankCore, later: &[usize]) {
        let rest = |window: &Window| window.rest(later.iter().copied());
        let rests: Vec<KnownScore> = self.windows.iter().map(rest).collect();
        let pruning = core.pruning();
        self.candidates.retain(|candidates, at| {
            let rest = rests[candidates.window(at)];
            !pruning.excludes(candidates.known(at).and(rest))
        });
    }

    /// Offers the candidates. Scores are added up in the order of the formula only where that can
    /// matter.
    pub(super) fn offer(&mut self, core: &mut RankCore) {
        if core.top.collects_alone() {
            return core.top.collect(self.candidates.matches.docs());
        }
        for at in 0..self.candidates.len() {
            if core.can_enter(self.candidates.known(at)) {
                let matches = &mut self.candidates.matches;
                let doc = matches.docs()[at];
                core.top.offer(doc, core.formula.value(matches.row(at)));
            }
        }
    }
}

/// Notes where the candidates are stored, for a round that comes anyway, if all of them will be
/// among the best.
fn prefetch_addresses(core: &RankCore, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
    let options = core.options;
    let all = core.next >= options.below && core.total.found == 0;
    if options.fetch && all && docs.len() <= options.k {
        core.tables.prefetch_addresses(docs, pages)
    } else {
        Ok(())
    }
}
