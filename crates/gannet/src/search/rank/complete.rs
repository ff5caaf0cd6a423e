//! The last part of a batch: clauses that were not essential are asked for the candidates that
//! could still come among the best, the clause that can add most first. What one clause gives may
//! rule candidates out before the next is read.

use super::batch::RankBatch;
use super::core::RankCore;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::matching::matcher::Role;
use crate::search::matching::matches::Filtering;

/// The progress of completing a batch.
#[derive(Default)]
pub(super) struct Completion {
    /// The clauses, that with the best bound first.
    pub(super) order: Vec<usize>,
    /// The number of them that were asked.
    asked: usize,
    /// The number of candidates that the next one was asked for.
    checked: usize,
}

impl Completion {
    /// Begins with a batch.
    pub(super) fn begin(&mut self) {
        (self.asked, self.checked) = (0, 0);
    }

    /// Asks the clauses that were left for later, the one that can add most first.
    pub(super) fn run(
        &mut self,
        core: &mut RankCore,
        batch: &mut RankBatch,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        while let Some(&clause) = self.order.get(self.asked) {
            if batch.leaves(clause) {
                if self.checked == 0 {
                    let later = &self.order[self.asked..];
                    pages.count_steps(batch.windows.len() * later.len())?;
                    batch.drop_hopeless(core, later);
                }
                if batch.sought(clause) {
                    self.ask_for_some(core, batch, clause, pages)?;
                } else {
                    self.ask_for_all(core, batch, clause, pages)?;
                }
            }
            (self.asked, self.checked) = (self.asked + 1, 0);
        }
        Ok(())
    }

    /// Asks one clause for all candidates: its matcher goes through them as it likes best.
    fn ask_for_all(
        &mut self,
        core: &mut RankCore,
        batch: &mut RankBatch,
        clause: usize,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let mut state = Filtering {
            kept: self.checked,
            checked: self.checked,
        };
        let clause = &mut core.root.clauses[clause];
        let matches = &mut batch.candidates.matches;
        let asked = (clause.matcher).filter(Role::Optional, matches, &mut state, pages);
        if let Err(Stop::Pages) = asked {
            self.checked = state.checked;
            let rest = &matches.docs()[state.checked..];
            clause.matcher.prefetch(rest, pages)?;
        }
        asked?;
        let candidates = &mut batch.candidates;
        candidates.score_columns(clause.leaves.clone(), &core.score);
        candidates.add_all(&clause.formula);
        Ok(())
    }

    /// Asks one clause for the candidates of windows that left it for later.
    fn ask_for_some(
        &mut self,
        core: &mut RankCore,
        batch: &mut RankBatch,
        clause: usize,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        while let Some(&doc) = batch.candidates.matches.docs().get(self.checked) {
            pages.count_steps(1)?;
            if batch.is_asked(clause, self.checked) {
                let asked = ask_one(core, batch, clause, self.checked, doc, pages);
                if let Err(Stop::Pages) = asked {
                    let rest = self.checked..batch.candidates.len();
                    let rest = rest.filter(|at| batch.is_asked(clause, *at));
                    let docs = rest.map(|at| batch.candidates.matches.docs()[at]);
                    let docs: Vec<DocId> = docs.collect();
                    core.root.clauses[clause].matcher.prefetch(&docs, pages)?;
                }
                asked?;
            }
            self.checked += 1;
        }
        Ok(())
    }
}

fn ask_one(
    core: &mut RankCore,
    batch: &mut RankBatch,
    clause: usize,
    at: usize,
    doc: DocId,
    pages: &mut Pages<'_>,
) -> Step<()> {
    let clause = &mut core.root.clauses[clause];
    let candidates = &mut batch.candidates;
    let leaves = clause.leaves.clone();
    let was_found = |score: &f32| *score > 0.0;
    if candidates.matches.row(at)[leaves.clone()]
        .iter()
        .any(was_found)
    {
        // The clause matched it before, when a page was missing to score it at once. It was scored
        // with the candidates that the clause found in other windows.
        return Ok(());
    }
    let matcher = &mut clause.matcher;
    if matcher.advance(doc, pages)? == doc {
        candidates.matches.collect(at, |row| matcher.collect(row));
        core.scratch.copy_from_slice(candidates.matches.row(at));
        candidates.score_row(at, leaves.clone(), &core.score, &mut core.scratch);
        for leaf in leaves {
            candidates.matches.set(at, leaf, core.scratch[leaf]);
        }
        candidates.add(at, &clause.formula);
    }
    Ok(())
}
