//! The second phase of a query whose candidates are approximations: they are verified as far as
//! they can come among the best.
//!
//! The most that a candidate can score is known from its norm and the most that its frequency can
//! be. So where there is no threshold yet, the best by that are confirmed first, and of the others
//! those that are above the threshold then: of a thousand documents that have a phrase the
//! positions of a few dozen are read. In each pass documents ascend, so that cursors move forward.

use super::batch::Batch;
use super::core::RankCore;
use super::root::Clause;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::scoring::formula::Formula;

/// How far the candidates of a batch are confirmed.
#[derive(Default)]
pub(super) struct Confirmation {
    /// The candidates of this pass.
    chosen: Vec<usize>,
    /// How many of them were confirmed.
    done: usize,
    /// Whether no pass follows.
    is_last: bool,
}

impl Confirmation {
    /// Begins with the candidates that may be best, unless there is a threshold that says which
    /// matter.
    pub(super) fn begin(&mut self, core: &mut RankCore, batch: &Batch) {
        self.chosen.clear();
        if core.top.excludes(0.0) {
            return self.begin_rest(core, batch);
        }
        let (candidates, k) = (&batch.candidates, core.options.k);
        self.chosen.extend(0..candidates.len());
        let better = |a: &usize, b: &usize| {
            let by_score = candidates.most(*b).total_cmp(&candidates.most(*a));
            by_score.then(a.cmp(b))
        };
        if k < self.chosen.len() {
            self.chosen.select_nth_unstable_by(k, better);
            self.chosen.truncate(k);
            self.chosen.sort_unstable();
        }
        self.begin_pass(core, false);
    }

    /// Goes on with all that were not chosen and are above the threshold.
    fn begin_rest(&mut self, core: &mut RankCore, batch: &Batch) {
        let mut chosen = std::mem::take(&mut self.chosen).into_iter().peekable();
        let others = (0..batch.candidates.len()).filter(|at| chosen.next_if_eq(at).is_none());
        self.chosen = others.collect();
        self.begin_pass(core, true);
    }

    fn begin_pass(&mut self, core: &mut RankCore, is_last: bool) {
        (self.done, self.is_last) = (0, is_last);
        if let Some(check) = &mut core.root.clauses[0].check {
            check.rewind();
        }
    }

    /// Confirms the candidates one after the other, and offers them.
    pub(super) fn run(
        &mut self,
        core: &mut RankCore,
        batch: &mut Batch,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        loop {
            let Some(&at) = self.chosen.get(self.done) else {
                if self.is_last {
                    return Ok(());
                }
                self.begin_rest(core, batch);
                continue;
            };
            pages.count_steps(1)?;
            if core.pruning().excludes(batch.candidates.known(at)) {
                core.total.is_exact = false;
            } else {
                let confirmed = confirm(core, batch, at, pages);
                if let Err(Stop::Pages) = confirmed {
                    self.prefetch(core, batch, pages)?;
                }
                confirmed?;
            }
            self.done += 1;
        }
    }

    /// Notes the pages of all that are still to be confirmed.
    fn prefetch(&self, core: &mut RankCore, batch: &Batch, pages: &mut Pages<'_>) -> Step<()> {
        let (candidates, pruning) = (&batch.candidates, core.pruning());
        let rest = self.chosen[self.done..].iter();
        let rest = rest.filter(|at| !pruning.excludes(candidates.known(**at)));
        let docs: Vec<DocId> = rest.map(|at| candidates.matches.docs()[*at]).collect();
        match &mut core.root.clauses[0].check {
            Some(check) => check.prefetch(&docs, pages),
            None => Ok(()),
        }
    }
}

fn confirm(core: &mut RankCore, batch: &mut Batch, at: usize, pages: &mut Pages<'_>) -> Step<()> {
    let doc = batch.candidates.matches.docs()[at];
    let Clause {
        formula: Formula::Leaf(leaf),
        check: Some(check),
        ..
    } = &mut core.root.clauses[0]
    else {
        return Ok(());
    };
    let leaf = *leaf;
    core.scratch[leaf] = check.frequency(doc, pages)?;
    if core.scratch[leaf] > 0.0 {
        let scores = &mut core.scratch;
        batch
            .candidates
            .score_row(at, leaf..leaf + 1, &core.score, scores);
        core.total.found += 1;
        core.top.offer(doc, core.scratch[leaf]);
    }
    Ok(())
}
