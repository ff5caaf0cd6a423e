//! Candidates that were given by an approximation are verified as far as they can come among the
//! best.
//!
//! The most that a candidate can score is known from its norm and the most that its frequencies can
//! be. So where there is no threshold yet, the best by that are confirmed first, and of the others
//! those that are above the threshold then: of a thousand documents that have a phrase the
//! positions of a few dozen are read. In each pass documents ascend, so that cursors move forward.

use super::windows::Clause;
use super::{Ranker, Stage};
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::scoring::formula::Formula;

impl Ranker {
    /// Begins with the candidates that may be best, unless there is a threshold that says which
    /// matter.
    pub(super) fn begin_confirming(&mut self) {
        self.chosen.clear();
        if self.top.excludes(0.0) {
            return self.confirm_rest();
        }
        self.chosen.extend(0..self.candidates.len());
        let candidates = &self.candidates;
        let better = |a: &usize, b: &usize| {
            let by_score = candidates.most(*b).total_cmp(&candidates.most(*a));
            by_score.then(a.cmp(b))
        };
        if self.options.k < self.chosen.len() {
            self.chosen.select_nth_unstable_by(self.options.k, better);
            self.chosen.truncate(self.options.k);
            self.chosen.sort_unstable();
        }
        self.begin_pass();
        self.stage = Stage::Confirm {
            done: 0,
            last: false,
        };
    }

    /// Candidates ascend anew.
    fn begin_pass(&mut self) {
        if let Some(check) = &mut self.root.clauses[0].check {
            check.rewind();
        }
    }

    /// Goes on with all that were not chosen and are above the threshold.
    fn confirm_rest(&mut self) {
        let mut chosen = std::mem::take(&mut self.chosen).into_iter().peekable();
        let others = (0..self.candidates.len()).filter(|at| chosen.next_if_eq(at).is_none());
        self.chosen = others.collect();
        self.begin_pass();
        self.stage = Stage::Confirm {
            done: 0,
            last: true,
        };
    }

    /// Confirms the chosen candidates one after the other, and offers them.
    pub(super) fn confirm(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while let Stage::Confirm { done, last } = self.stage {
            pages.count_steps(1)?;
            let Some(&at) = self.chosen.get(done) else {
                match last {
                    true => self.end_batch(),
                    false => self.confirm_rest(),
                }
                continue;
            };
            if self.pruning().excludes(self.candidates.known(at)) {
                self.total_is_exact = false;
            } else {
                let confirmed = self.confirm_one(at, pages);
                if let Err(Stop::Pages) = confirmed {
                    self.prefetch_confirming(done, pages)?;
                }
                confirmed?;
            }
            self.stage = Stage::Confirm {
                done: done + 1,
                last,
            };
        }
        Ok(())
    }

    fn confirm_one(&mut self, at: usize, pages: &mut Pages<'_>) -> Step<()> {
        let doc = self.candidates.matches.docs()[at];
        let Clause {
            formula: Formula::Leaf(leaf),
            check: Some(check),
            ..
        } = &mut self.root.clauses[0]
        else {
            return Ok(());
        };
        self.scratch[*leaf] = check.frequency(doc, pages)?;
        if self.scratch[*leaf] > 0.0 {
            self.candidates.norms(at, &mut self.row_norms);
            let leaves = self.leaves[0].clone();
            self.score
                .score_row(leaves, &mut self.scratch, &self.row_norms);
            self.total += 1;
            self.top.offer(doc, self.formula.value(&self.scratch));
        }
        Ok(())
    }

    /// Notes the pages of all that are still to be confirmed.
    fn prefetch_confirming(&mut self, from: usize, pages: &mut Pages<'_>) -> Step<()> {
        let pruning = self.pruning();
        let rest = self.chosen[from..].iter();
        let rest = rest.filter(|at| !pruning.excludes(self.candidates.known(**at)));
        let docs: Vec<DocId> = rest.map(|at| self.candidates.matches.docs()[*at]).collect();
        match &mut self.root.clauses[0].check {
            Some(check) => check.prefetch(&docs, pages),
            None => Ok(()),
        }
    }
}
