//! The candidates of a batch: the documents that essential clauses match.

use super::direct::Direct;
use super::union::{LeftOut, POSTINGS, Prefilter, stretch};
use super::windows::{Clause, Pruning};
use super::{Ranker, Stage};
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::matching::matcher::BLOCK_STEPS;
use crate::search::matching::matches::Matches;

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
            pages.count_steps(BLOCK_STEPS + self.root.clauses.len())?;
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
        let last = self.windows[at].last.min(self.options.below - 1);
        let only = self.windows[at].only_essential();
        let next = match only {
            Some(_) if self.is_one_leaf => self.offer_leaf(at, last, pages)?,
            _ => {
                let (leaves, fields) = (self.score.leaves().len(), self.score.fields().len());
                let make = || Box::new(Direct::new(leaves, fields));
                let mut direct = self.direct.take().unwrap_or_else(make);
                let next = self.gather_stretch(only, (at, last), &mut direct, pages);
                self.direct = Some(direct);
                next?
            }
        };
        // The window may go on where there are no documents.
        self.next = match next > last {
            true => self.windows[at].last.saturating_add(1),
            false => next,
        };
        Ok(())
    }

    /// Finds and places the documents of a stretch of a window that ends at `last` or before. Gives
    /// the first document that was not looked at.
    fn gather_stretch(
        &mut self,
        only: Option<usize>,
        (window, last): (usize, DocId),
        direct: &mut Direct,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let found = &mut direct.found;
        let next = match only {
            Some(clause) if self.root.clauses[clause].formula.is_leaf() => {
                self.gather_leaf(clause, (window, last), found, pages)?
            }
            Some(clause) => self.gather_only(clause, (window, last), found, pages)?,
            None => {
                self.gather_union((window, last), found, pages)?;
                last
            }
        };
        self.place(direct, window, pages)?;
        Ok(match only {
            Some(_) => next,
            None => self.union.end(&self.root.clauses),
        })
    }

    /// Takes what one clause matches that is a leaf: most often a term.
    fn gather_leaf(
        &mut self,
        clause: usize,
        (window, last): (usize, DocId),
        found: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let floor = self.windows[window].floor(clause, self.pruning());
        let limit = self.batch - self.candidates.len();
        let clause = &mut self.root.clauses[clause];
        self.total_is_exact &= !clause.skip_below(floor);
        clause
            .matcher
            .gather((self.next, last), limit, found, pages)
    }

    /// Takes what one clause matches, passing over a stretch of its documents in which none can
    /// enter by the bounds of blocks.
    fn gather_only(
        &mut self,
        clause: usize,
        (window, last): (usize, DocId),
        found: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let (from, limit) = (self.next, self.batch - self.candidates.len());
        let pruning = Pruning {
            top: self.options.prune.then_some(&self.top),
            tie: self.root.tie as f64,
        };
        let Clause {
            matcher, formula, ..
        } = &mut self.root.clauses[clause];
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
                let leading = matcher.list().and_then(|list| list.score().leaf());
                let others = leading.and_then(|leaf| formula.without(leaf, &self.scratch));
                floor = others.map_or(-1.0, |others| pruning.floor_beside(rest, others));
            }
        }
        let clause = &mut self.root.clauses[clause];
        self.total_is_exact &= !clause.skip_below(floor);
        clause.matcher.gather((from, to), limit, found, pages)
    }

    /// Takes what the clauses match, up to the end of the window or of a range.
    fn gather_union(
        &mut self,
        (window, last): (usize, DocId),
        found: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let most = self.options.candidates / POSTINGS_SHARE;
        let window = &self.windows[window];
        let union = &mut self.union;
        if union.is_idle() {
            let range = (self.next, last);
            union.begin(&self.root.clauses, window, range, most, self.options.below);
        }
        let pruning = Pruning {
            top: self.options.prune.then_some(&self.top),
            tie: self.root.tie as f64,
        };
        let clauses = &mut self.root.clauses;
        let rest = window.rest(0..clauses.len());
        if pruning.has_threshold() && !union.is_judged() {
            let pruned = union.judge(clauses, rest, pruning, &mut self.scratch, pages)?;
            self.total_is_exact &= !pruned;
        }
        let prefilter = self.is_direct.then_some(Prefilter {
            score: &self.score,
            norms: &mut self.norms,
            top: &self.top,
            rest: rest.sum(),
        });
        match union.gather(clauses, found, prefilter, pages)? {
            LeftOut::Counted(count) => self.total += count as u64,
            LeftOut::Some => self.total_is_exact = false,
        }
        Ok(())
    }
}
