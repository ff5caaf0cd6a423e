//! What the tables have of the candidates: norms, and whether they are deleted.

use super::windows::Window;
use super::{Ranker, Stage};
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::matching::matcher::BLOCK_STEPS;

impl Ranker {
    /// Reads the norms of all candidates and drops those that are deleted.
    pub(super) fn enrich(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let Stage::Enrich { mut done } = self.stage else {
            return Ok(());
        };
        self.candidates.begin_tables();
        while done < self.candidates.len() {
            pages.count_steps(BLOCK_STEPS)?;
            self.stage = Stage::Enrich { done };
            let enriched = self.enrich_some(done, pages);
            if let Err(Stop::Pages) = enriched {
                self.prefetch_tables(&self.candidates.matches.docs()[done..], pages)?;
                self.prefetch_addresses(pages)?;
            }
            done = enriched?;
        }
        if !self.live.all_live(self.options.below) {
            self.candidates.drop_dead();
        }
        if !self.approximate {
            self.total += self.candidates.len() as u64;
        }
        self.total_is_exact &= self.root.driven || !self.leaves_rest();
        self.score_known();
        self.complete_next(0);
        Ok(())
    }

    /// Whether any window leaves clauses for later.
    fn leaves_rest(&self) -> bool {
        let essential = |window: &Window| window.essential.iter().all(|essential| *essential);
        !self.windows.iter().all(essential)
    }

    /// Notes norms and deletions of documents.
    fn prefetch_tables(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.live.prefetch(docs, pages)?;
        let mut norms = self.norms.iter();
        norms.try_for_each(|norms| norms.prefetch(docs, pages))
    }

    /// Notes where the candidates are stored, for a round that comes anyway, if all of them will be
    /// among the best.
    fn prefetch_addresses(&self, pages: &mut Pages<'_>) -> Step<()> {
        let all = self.next >= self.options.below && self.total == 0;
        if self.options.fetch && all && self.candidates.len() <= self.options.k {
            self.tables
                .prefetch_addresses(self.candidates.matches.docs(), pages)?;
        }
        Ok(())
    }

    /// Reads norms and deletions of candidates from `from` on, as far as the pages at hand go,
    /// field by field; gives the first candidate that is left.
    fn enrich_some(&mut self, from: usize, pages: &mut Pages<'_>) -> Step<usize> {
        let mut end = self.candidates.len();
        for (field, cursor) in self.norms.iter_mut().enumerate() {
            let (docs, norms) = self.candidates.docs_and_norms(field);
            let mut column = norms[from..].iter_mut();
            let set = |norm| column.next().map_or((), |place| *place = norm);
            end = from + cursor.norms(&docs[from..end], pages, set)?;
        }
        if !self.live.all_live(self.options.below) {
            let (docs, dead) = self.candidates.docs_and_dead();
            let mut column = dead[from..].iter_mut();
            let set = |is_live: bool| column.next().map_or((), |dead| *dead = !is_live);
            end = from + self.live.live(&docs[from..end], pages, set)?;
        }
        Ok(end)
    }
}
