//! The candidates of a batch: the documents that essential clauses match.

use super::union::Union;
use super::{Ranker, Stage};
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
use crate::search::formula::Formula;
use crate::search::matcher::for_all;
use crate::search::windows::Clause;

impl Ranker {
    /// Finds the documents that essential clauses match, in all windows or until enough were found.
    pub(super) fn gather(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let Stage::Gather {
            mut window,
            mut from,
        } = self.stage
        else {
            return Ok(());
        };
        while window < self.windows.len() && self.candidates.len() < self.batch {
            self.stage = Stage::Gather { window, from };
            let last = self.windows[window].last.min(self.options.below - 1);
            if let Some(clause) = self.windows[window].only_essential() {
                from = self.gather_from(clause, window, from, last, pages)?;
                if from > last {
                    (window, from) = self.after(window);
                }
                continue;
            }
            if self.is_union(window) {
                from = self.gather_union(window, from, last, pages)?;
                if from > last {
                    (window, from) = self.after(window);
                }
                continue;
            }
            let doc = self.next_candidate(window, from, pages)?;
            if doc <= last {
                self.take(doc, window);
                from = doc + 1;
            } else {
                (window, from) = self.after(window);
            }
        }
        self.next = from;
        self.stage = Stage::Enrich { done: 0 };
        Ok(())
    }

    /// Takes what one clause matches.
    fn gather_from(
        &mut self,
        clause: usize,
        window: usize,
        from: DocId,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let floor = self.windows[window].floor(clause, self.pruning());
        let limit = self.batch;
        let Clause { matcher, formula } = &mut self.root.clauses[clause];
        let skips = matches!(formula, Formula::Leaf(_)) && matcher.skip_below(floor);
        let gathered = self.candidates.gather(window as u32, |matches| {
            matcher.gather(from, last, limit, matches, pages)
        });
        self.total_is_exact &= !skips;
        gathered
    }

    /// Whether the essential clauses of a window are few enough to be taken one after the other.
    fn is_union(&self, window: usize) -> bool {
        let essential = &self.windows[window].essential;
        let count = essential.iter().filter(|essential| **essential).count();
        Union::fits(count, self.scratch.len())
    }

    /// Takes what several clauses match, up to the end of the window or of a range.
    fn gather_union(
        &mut self,
        window: usize,
        from: DocId,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let essential = &self.windows[window].essential;
        let clauses = &mut self.root.clauses;
        let candidates = &mut self.candidates;
        self.union.gather(
            clauses,
            essential,
            (from, last),
            window as u32,
            candidates,
            pages,
        )
    }

    /// The next window, and where it begins.
    fn after(&self, window: usize) -> (usize, DocId) {
        let end = self.windows[window].last.saturating_add(1);
        let next = self.windows.get(window + 1);
        (window + 1, next.map_or(end, |next| next.first))
    }

    fn next_candidate(&mut self, window: usize, from: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let essential = &self.windows[window].essential;
        let clauses = self.root.clauses.iter_mut().zip(essential);
        let mut least = END;
        for_all(
            clauses.filter(|(_, essential)| **essential),
            |(clause, _)| {
                least = least.min(clause.matcher.advance(from, pages)?);
                Ok(())
            },
        )?;
        Ok(least)
    }

    fn take(&mut self, doc: DocId, window: usize) {
        let row = self.candidates.push(doc, window as u32);
        let clauses = self.root.clauses.iter_mut();
        for (clause, essential) in clauses.zip(&self.windows[window].essential) {
            if *essential && clause.matcher.doc() == doc {
                clause.matcher.collect(row);
            }
        }
    }
}
