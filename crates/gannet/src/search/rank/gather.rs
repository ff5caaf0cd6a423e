//! The candidates of a batch: the documents that essential clauses match.

use super::union::{POSTINGS, stretch};
use super::{Ranker, Stage};
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::formula::Formula;
use crate::search::windows::{Clause, Pruning};

/// What part of the candidates that there is room for a range of several clauses may find.
const POSTINGS_SHARE: usize = 8;

/// Stretches of a batch at most, so that a caller who gave up is noticed in a millisecond or two.
const STRETCHES_MAX: usize = 2048;

impl Ranker {
    /// Finds the documents that essential clauses match, in all windows or until enough were found.
    pub(super) fn gather(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        self.candidates.matches.reserve(self.batch);
        // What is offered at once fills no batch.
        for _ in 0..STRETCHES_MAX {
            if self.candidates.len() >= self.batch {
                break;
            }
            if self.is_unfinished() {
                self.gather_some(pages)?;
            } else if !self.take_window() {
                break;
            }
        }
        self.stage = Stage::Enrich { done: 0 };
        Ok(())
    }

    /// Goes on in the present window.
    fn gather_some(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let at = self.windows.len() - 1;
        let window = &self.windows[at];
        let last = window.last.min(self.options.below - 1);
        let only = window.only_essential();
        let is_leaf = |clause: &usize| {
            let formula = &self.root.clauses[*clause].formula;
            matches!(formula, Formula::Leaf(_))
        };
        let next = match only {
            Some(_) if self.is_one_leaf => self.offer_leaf(at, last, pages)?,
            Some(clause) if is_leaf(&clause) => self.gather_leaf(clause, at, last, pages)?,
            Some(clause) => self.gather_only(clause, at, last, pages)?,
            None => self.gather_union(at, last, pages)?,
        };
        // The window may go on where there are no documents.
        self.next = match next > last {
            true => self.windows[at].last.saturating_add(1),
            false => next,
        };
        Ok(())
    }

    /// Takes what one clause matches that is a leaf: most often a term.
    fn gather_leaf(
        &mut self,
        clause: usize,
        window: usize,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let floor = self.windows[window].floor(clause, self.pruning());
        let (from, limit) = (self.next, self.batch);
        let Clause { matcher, .. } = &mut self.root.clauses[clause];
        let skips = matcher.skip_below(floor);
        let gathered = self.candidates.gather(window as u32, |matches| {
            matcher.gather(from, last, limit, matches, pages)
        });
        self.total_is_exact &= !skips;
        gathered
    }

    /// Takes what one clause matches, passing over a stretch of its documents in which none can enter by the bounds
    /// of blocks.
    fn gather_only(
        &mut self,
        clause: usize,
        window: usize,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let (from, limit) = (self.next, self.batch);
        let pruning = Pruning {
            top: self.options.prune.then_some(&self.top),
            tie: self.root.tie as f64,
        };
        let Clause { matcher, formula } = &mut self.root.clauses[clause];
        let (mut to, mut floor) = (last, -1.0);
        if pruning.has_threshold() {
            self.scratch.fill(0.0);
            let end = match matcher.block_end(from, pages)? {
                Some(end) => end.min(last),
                None => stretch(from, last, POSTINGS, matcher.cost(), self.options.below),
            };
            if matcher.bound_near((from, end), true, pages, &mut self.scratch)? {
                to = end;
                let rest = self.windows[window].rest(0..self.lists.len());
                let mut known = rest;
                known.add(formula.value(&self.scratch) as f64);
                if pruning.excludes(known) {
                    self.total_is_exact = false;
                    return Ok(to.saturating_add(1));
                }
                let leading = matcher.leading_leaf();
                let others = leading.and_then(|leaf| formula.without(leaf, &self.scratch));
                floor = others.map_or(-1.0, |others| pruning.floor_beside(rest, others));
            }
        }
        self.total_is_exact &= !matcher.skip_below(floor);
        if let Some(mut direct) = self.direct.take() {
            let offered = self.offer_found(&mut direct, window, (from, to), pages);
            self.direct = Some(direct);
            return offered;
        }
        self.candidates.gather(window as u32, |matches| {
            matcher.gather(from, to, limit, matches, pages)
        })
    }

    /// Takes what the clauses match, up to the end of the window or of a range.
    fn gather_union(&mut self, window: usize, last: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let most = self.options.candidates / POSTINGS_SHARE;
        let place = &self.windows[window];
        let union = &mut self.union;
        if union.is_idle() {
            let range = (self.next, last);
            union.begin(&self.root.clauses, place, range, most, self.options.below);
        }
        let pruning = Pruning {
            top: self.options.prune.then_some(&self.top),
            tie: self.root.tie as f64,
        };
        let clauses = &mut self.root.clauses;
        if pruning.has_threshold() && !union.is_judged() {
            let rest = place.rest(0..clauses.len());
            let pruned = union.judge(clauses, rest, pruning, &mut self.scratch, pages)?;
            self.total_is_exact &= !pruned;
        }
        self.candidates.gather(window as u32, |matches| {
            union.gather(clauses, matches, pages)
        })
    }
}
