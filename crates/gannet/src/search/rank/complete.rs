//! The last part of a batch: clauses that were not essential are asked for the candidates that
//! could still come among the best, the clause that can add most first. What one clause gives may
//! rule candidates out before the next is read.

use super::windows::{Clause, KnownScore, Window};
use super::{Ranker, Stage};
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::matching::matcher::Role;
use crate::search::matching::matches::Filtering;

impl Ranker {
    /// Asks the clauses that were left for later, the one that can add most first.
    pub(super) fn complete(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let Stage::Complete { order, checked, .. } = self.stage else {
            return Ok(());
        };
        let Some(&clause) = self.order.get(order) else {
            self.stage = Stage::Offer;
            return Ok(());
        };
        if self.windows.iter().any(|window| !window.essential[clause]) {
            if checked == 0 {
                pages.count_steps(self.windows.len() * (self.order.len() - order))?;
                self.drop_hopeless(order);
            }
            self.ask(clause, pages)?;
        }
        self.complete_next(order + 1);
        Ok(())
    }

    pub(super) fn complete_next(&mut self, order: usize) {
        self.stage = Stage::Complete { order, checked: 0 };
    }

    /// Drops candidates that cannot enter even if every clause still to be asked gives its bound.
    fn drop_hopeless(&mut self, order: usize) {
        let later = &self.order[order..];
        let rest = |window: &Window| window.rest(later.iter().copied());
        let rests: Vec<KnownScore> = self.windows.iter().map(rest).collect();
        let mut candidates = std::mem::take(&mut self.candidates);
        let pruning = self.pruning();
        candidates.retain(|candidates, at| {
            let rest = rests[candidates.window(at)];
            !pruning.excludes(candidates.known(at).and(rest))
        });
        self.candidates = candidates;
    }

    /// Asks one clause for the candidates that it was not asked for.
    fn ask(&mut self, clause: usize, pages: &mut Pages<'_>) -> Step<()> {
        let all = self.windows.iter().all(|window| !window.essential[clause]);
        match all {
            true => self.ask_for_all(clause, pages),
            false => self.ask_for_some(clause, pages),
        }
    }

    /// Asks one clause for all candidates: its matcher goes through them as it likes best.
    fn ask_for_all(&mut self, clause: usize, pages: &mut Pages<'_>) -> Step<()> {
        let Stage::Complete { order, checked } = self.stage else {
            return Ok(());
        };
        let mut state = Filtering {
            kept: checked,
            checked,
        };
        let Clause {
            matcher, formula, ..
        } = &mut self.root.clauses[clause];
        let matches = &mut self.candidates.matches;
        let asked = matcher.filter(Role::Optional, matches, &mut state, pages);
        if let Err(Stop::Pages) = asked {
            let checked = state.checked;
            matcher.prefetch(&matches.docs()[checked..], pages)?;
            self.stage = Stage::Complete { order, checked };
        }
        asked?;
        for leaf in self.leaves[clause].clone() {
            self.score.score_column(leaf, &mut self.candidates);
        }
        self.candidates.add_all(formula);
        Ok(())
    }

    /// Asks one clause for the candidates of windows that left it for later.
    fn ask_for_some(&mut self, clause: usize, pages: &mut Pages<'_>) -> Step<()> {
        while let Stage::Complete { order, checked } = self.stage {
            pages.count_steps(1)?;
            let Some(&doc) = self.candidates.matches.docs().get(checked) else {
                break;
            };
            if self.is_asked(clause, checked) {
                let asked = self.ask_one(clause, checked, doc, pages);
                if let Err(Stop::Pages) = asked {
                    self.prefetch_rest(clause, checked, pages)?;
                }
                asked?;
            }
            let checked = checked + 1;
            self.stage = Stage::Complete { order, checked };
        }
        Ok(())
    }

    /// Whether a candidate's window left this clause for later.
    fn is_asked(&self, clause: usize, at: usize) -> bool {
        !self.windows[self.candidates.window(at)].essential[clause]
    }

    /// Notes the pages that a clause needs for the candidates from `from` on.
    fn prefetch_rest(&mut self, clause: usize, from: usize, pages: &mut Pages<'_>) -> Step<()> {
        let asked = (from..self.candidates.len()).filter(|at| self.is_asked(clause, *at));
        let docs = asked.map(|at| self.candidates.matches.docs()[at]);
        let docs: Vec<DocId> = docs.collect();
        self.root.clauses[clause].matcher.prefetch(&docs, pages)
    }

    fn ask_one(&mut self, clause: usize, at: usize, doc: DocId, pages: &mut Pages<'_>) -> Step<()> {
        let matcher = &mut self.root.clauses[clause].matcher;
        if matcher.advance(doc, pages)? == doc {
            let matches = &mut self.candidates.matches;
            matches.collect(at, |row| matcher.collect(row));
        }
        // It may have been found to match before, when not all that its score needs was at hand.
        self.scratch
            .copy_from_slice(self.candidates.matches.row(at));
        let leaves = self.leaves[clause].clone();
        if self.scratch[leaves.clone()]
            .iter()
            .any(|frequency| *frequency > 0.0)
        {
            self.candidates.norms(at, &mut self.row_norms);
            self.score
                .score_row(leaves.clone(), &mut self.scratch, &self.row_norms);
            for leaf in leaves {
                self.candidates.matches.set(at, leaf, self.scratch[leaf]);
            }
            self.candidates.add(at, &self.root.clauses[clause].formula);
        }
        Ok(())
    }
}
