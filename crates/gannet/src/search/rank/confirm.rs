//! The second phase of a query whose candidates are approximations: they are verified as far as
//! they can come among the best.
//!
//! The most that a candidate can score is known from its norm and the most that its frequency can
//! be. Those are passed over that are not above the threshold of the moment. Documents ascend from
//! batch to batch, so that cursors only move forward.

use super::batch::RankBatch;
use super::core::RankCore;
use super::root::Clause;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::scoring::formula::Formula;

/// Confirms the candidates from `done` on one after the other, and offers them.
pub(super) fn confirm(
    core: &mut RankCore,
    batch: &mut RankBatch,
    done: &mut usize,
    pages: &mut Pages<'_>,
) -> Step<()> {
    while *done < batch.candidates.len() {
        pages.count_steps(1)?;
        if core.pruning().excludes(batch.candidates.known(*done)) {
            core.total.is_exact = false;
        } else {
            let confirmed = confirm_one(core, batch, *done, pages);
            if let Err(Stop::Pages) = confirmed {
                prefetch(core, batch, *done, pages)?;
            }
            confirmed?;
        }
        *done += 1;
    }
    Ok(())
}

fn confirm_one(
    core: &mut RankCore,
    batch: &mut RankBatch,
    at: usize,
    pages: &mut Pages<'_>,
) -> Step<()> {
    let doc = batch.candidates.matches.docs()[at];
    let Clause {
        formula: Formula::Leaf(leaf),
        check: Some(check),
        ..
    } = &mut core.root.clauses[0]
    else {
        return Ok(());
    };
    let (leaf, scores) = (*leaf, &mut core.scratch);
    scores[leaf] = check.frequency(doc, pages)?;
    if scores[leaf] > 0.0 {
        let candidates = &mut batch.candidates;
        candidates.score_row(at, leaf..leaf + 1, &core.score, scores);
        core.total.found += 1;
        core.top.offer(doc, scores[leaf]);
    }
    Ok(())
}

/// Notes the pages of all candidates from `from` on that are to be confirmed.
fn prefetch(
    core: &mut RankCore,
    batch: &RankBatch,
    from: usize,
    pages: &mut Pages<'_>,
) -> Step<()> {
    let (candidates, pruning) = (&batch.candidates, core.pruning());
    let rest = from..candidates.len();
    let rest = rest.filter(|at| !pruning.excludes(candidates.known(*at)));
    let docs: Vec<DocId> = rest.map(|at| candidates.matches.docs()[at]).collect();
    match &mut core.root.clauses[0].check {
        Some(check) => check.prefetch(&docs, pages),
        None => Ok(()),
    }
}
