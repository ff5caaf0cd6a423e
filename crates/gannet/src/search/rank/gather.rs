//! The candidates of a batch: the documents that essential clauses match.

use super::{Ranker, Stage};
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::formula::Formula;
use crate::search::windows::Clause;

/// What part of the candidates that there is room for a range of a union has postings.
const POSTINGS_SHARE: u64 = 8;

impl Ranker {
    /// Finds the documents that essential clauses match, in all windows or until enough were found.
    pub(super) fn gather(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while self.candidates.len() < self.batch {
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
        let next = match window.only_essential() {
            Some(clause) => self.gather_from(clause, at, last, pages)?,
            None => self.gather_union(at, last, pages)?,
        };
        // The window may go on where there are no documents.
        self.next = match next > last {
            true => self.windows[at].last.saturating_add(1),
            false => next,
        };
        Ok(())
    }

    /// Takes what one clause matches.
    fn gather_from(
        &mut self,
        clause: usize,
        window: usize,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let floor = self.windows[window].floor(clause, self.pruning());
        let (from, limit) = (self.next, self.batch);
        let Clause { matcher, formula } = &mut self.root.clauses[clause];
        let skips = matches!(formula, Formula::Leaf(_)) && matcher.skip_below(floor);
        let gathered = self.candidates.gather(window as u32, |matches| {
            matcher.gather(from, last, limit, matches, pages)
        });
        self.total_is_exact &= !skips;
        gathered
    }

    /// Takes what several clauses match, up to the end of the window or of a range.
    fn gather_union(&mut self, window: usize, last: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let essential = &self.windows[window].essential;
        let (clauses, leaves) = (&mut self.root.clauses, &self.leaves);
        let union = &mut self.union;
        if union.is_idle() {
            let room = self.options.below as u64 * self.options.candidates as u64;
            union.begin(clauses, essential, (self.next, last), room / POSTINGS_SHARE);
        }
        self.candidates.gather(window as u32, |matches| {
            union.gather(clauses, leaves, matches, pages)
        })
    }
}
