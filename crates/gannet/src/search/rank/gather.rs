//! The documents that essential clauses match, stretch by stretch of a window.
//!
//! One clause alone gives its documents by the bounds of its blocks, several give theirs range by
//! range (see `union`). Where all that scores need is at hand, what was found is offered at once
//! (see `direct`); else it joins the candidates of the batch.

use super::batch::RankBatch;
use super::core::RankCore;
use super::direct::Direct;
use super::pruning::Pruning;
use super::read_ahead::ReadAhead;
use super::root::Clause;
use super::sums::SumScorer;
use super::union::{POSTINGS, UnionRange, stretch};
use super::windows::Window;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::matching::matcher::BLOCK_STEPS;
use crate::search::matching::matches::{DocRange, Matches};
use crate::search::matching::scored::Offers;

/// A range of several clauses may find one part in so many of the candidates that there is room
/// for.
const POSTINGS_SHARE: usize = 8;

/// Stretches of a batch at most, so that a caller who gave up is noticed in a millisecond or two.
const STRETCHES_MAX: usize = 2048;

/// The destination of documents that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    /// They join the candidates.
    Batch,
    /// They are offered at once, as far as their scores are at hand.
    Direct,
    /// The same, and the query is one leaf: its list offers them.
    OneLeaf,
}

/// Finds the documents of the essential clauses.
pub(super) struct Gatherer {
    placement: Placement,
    union: UnionRange,
    /// The documents found last; made when first needed.
    direct: Option<Box<Direct>>,
}

/// The rest of a window, and how many documents are wanted of it.
struct Stretch<'a> {
    window: &'a Window,
    last: DocId,
    room: usize,
}

impl Gatherer {
    /// Chooses the destination of a query's documents. They are offered at once only where clauses
    /// are added up, and what is found counts as it is; `leaves_out` tells whether anything may be
    /// passed over where totals are known.
    pub(super) fn new(core: &RankCore, leaves_out: bool) -> Gatherer {
        let is_direct = core.root.tie == 1.0 && !core.is_approximate() && core.all_live();
        let is_direct = leaves_out && is_direct;
        let placement = match core.root.clauses.as_slice() {
            [only] if is_direct && core.options.prune && only.formula.is_leaf() => {
                Placement::OneLeaf
            }
            _ if is_direct => Placement::Direct,
            _ => Placement::Batch,
        };
        Gatherer {
            placement,
            union: UnionRange::new(core.options.count, core.options.union_bytes()),
            direct: None,
        }
    }

    /// Returns true if the list of the only clause is to leave documents out by their own scores.
    pub(super) fn is_one_leaf(&self) -> bool {
        self.placement == Placement::OneLeaf
    }

    /// Finds the documents that essential clauses match, in all windows or until enough were found.
    pub(super) fn run(
        &mut self,
        core: &mut RankCore,
        ahead: &mut ReadAhead,
        batch: &mut RankBatch,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        batch.candidates.matches.reserve(batch.limit());
        // What is offered at once fills no batch.
        for _ in 0..STRETCHES_MAX {
            if batch.room() == 0 {
                break;
            }
            pages.count_steps(BLOCK_STEPS + core.root.clauses.len())?;
            if batch.is_unfinished(core) {
                self.gather_some(core, batch, pages)?;
            } else if !ahead.take(core, batch) {
                break;
            }
        }
        Ok(())
    }

    /// Goes on in the present window.
    fn gather_some(
        &mut self,
        core: &mut RankCore,
        batch: &mut RankBatch,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let Some(window) = batch.windows.last() else {
            return Ok(());
        };
        let (end, only) = (window.last, window.only_essential());
        let last = end.min(core.options.below - 1);
        let next = match only {
            Some(_) if self.is_one_leaf() => offer_leaf(core, batch, last, pages)?,
            _ => self.gather_stretch(core, batch, only, last, pages)?,
        };
        // The window may go on where there are no documents.
        core.next = if next > last {
            end.saturating_add(1)
        } else {
            next
        };
        Ok(())
    }

    /// Finds and places the documents of a stretch of a window that ends at `last` or before. Gives
    /// the first document that was not looked at.
    fn gather_stretch(
        &mut self,
        core: &mut RankCore,
        batch: &mut RankBatch,
        only: Option<usize>,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let window = &batch.windows[batch.windows.len() - 1];
        let (leaves, fields) = (core.score.leaves().len(), core.score.fields().len());
        let make = || Box::new(Direct::new(leaves, fields));
        let direct = self.direct.get_or_insert_with(make);
        let can_offer = self.placement != Placement::Batch;
        let room = batch.room();
        let stretch = Stretch { window, last, room };
        let found = &mut direct.found;
        let next = match only {
            Some(clause) => gather_only(core, clause, stretch, found, pages)?,
            None => {
                gather_union(core, &mut self.union, stretch, can_offer, found, pages)?;
                last
            }
        };
        // No cursor may go beyond candidates that its clause is still to be asked for.
        let is_first = batch.candidates.len() == 0 || window.leaves_none();
        let tries = can_offer && is_first;
        if !(tries && direct.offer(core, &self.union, window, pages)?) {
            // Candidates have all that clauses give which are essential in their window.
            let clauses = &mut core.root.clauses;
            self.union.ask(clauses, &mut direct.found, pages)?;
            let window = batch.windows.len() as u32 - 1;
            batch.candidates.gather(window, |matches| {
                matches.append(&direct.found, 0..direct.found.len());
            });
        }
        direct.end();
        Ok(match only {
            Some(_) => next,
            None => self.union.end(&core.root.clauses),
        })
    }
}

/// Offers what the only clause, a leaf, matches in a window, as long as the scores are at hand.
fn offer_leaf(
    core: &mut RankCore,
    batch: &mut RankBatch,
    last: DocId,
    pages: &mut Pages<'_>,
) -> Step<DocId> {
    let range = DocRange {
        first: core.next,
        last,
    };
    let (limit, window) = (batch.limit(), batch.windows.len() - 1);
    let matcher = &mut core.root.clauses[0].matcher;
    let mut offers = Offers {
        top: &mut core.top,
        seen: 0,
        passed_over: false,
    };
    let offered = batch.candidates.gather(window as u32, |left| {
        match matcher.list() {
            Some(list) => list.offer(range, limit, &mut offers, left, pages),
            // A pattern, or what is only in memory: its documents are candidates.
            None => matcher.gather(range, limit, left, pages),
        }
    });
    core.total.found += offers.seen;
    core.total.is_exact &= !offers.passed_over;
    offered
}

/// Takes what one clause matches.
fn gather_only(
    core: &mut RankCore,
    at: usize,
    stretch: Stretch<'_>,
    found: &mut Matches,
    pages: &mut Pages<'_>,
) -> Step<DocId> {
    let (to, floor) = if core.root.clauses[at].formula.is_leaf() {
        // Its list knows the bounds of blocks.
        (stretch.last, Some(stretch.window.floor(at, core.pruning())))
    } else {
        bound_blocks(core, at, &stretch, pages)?
    };
    let Some(floor) = floor else {
        core.total.is_exact = false;
        return Ok(to.saturating_add(1));
    };
    let clause = &mut core.root.clauses[at];
    core.total.is_exact &= !clause.skip_below(floor);
    let range = DocRange {
        first: core.next,
        last: to,
    };
    clause.matcher.gather(range, stretch.room, found, pages)
}

/// The end of the bounds of one clause's blocks, and the score up to which its leading list may
/// leave documents out: nothing if no document can enter.
fn bound_blocks(
    core: &mut RankCore,
    at: usize,
    within: &Stretch<'_>,
    pages: &mut Pages<'_>,
) -> Step<(DocId, Option<f32>)> {
    let (from, last, pruning) = (core.next, within.last, core.pruning());
    let unbounded = (last, Some(-1.0));
    if !pruning.has_threshold() {
        return Ok(unbounded);
    }
    let Clause {
        matcher, formula, ..
    } = &mut core.root.clauses[at];
    let end = match matcher.block_end(from, pages)? {
        Some(end) => end.min(last),
        None => stretch(from, last, POSTINGS, matcher.cost(), core.options.below),
    };
    let scores = &mut core.scratch;
    scores.fill(0.0);
    let range = DocRange {
        first: from,
        last: end,
    };
    if !matcher.bound_near(range, true, pages, scores)? {
        return Ok(unbounded);
    }
    let rest = within.window.rest(0..within.window.bounds.len());
    let mut known = rest;
    known.add(formula.value(scores) as f64);
    if pruning.excludes(known) {
        return Ok((end, None));
    }
    let leading = matcher.list().and_then(|list| list.score().leaf());
    let others = leading.and_then(|leaf| formula.without(leaf, scores));
    let floor = others.map_or(-1.0, |others| pruning.floor_beside(rest, others));
    Ok((end, Some(floor)))
}

/// Takes what several clauses match, up to the end of the stretch or of a range.
fn gather_union(
    core: &mut RankCore,
    union: &mut UnionRange,
    Stretch { window, last, .. }: Stretch<'_>,
    can_offer: bool,
    found: &mut Matches,
    pages: &mut Pages<'_>,
) -> Step<()> {
    let clauses = &mut core.root.clauses;
    if union.is_idle() {
        let range = DocRange {
            first: core.next,
            last,
        };
        let below = core.options.below;
        let most = core.options.candidates / POSTINGS_SHARE;
        union.begin(clauses, window, range, most, below);
    }
    let rest = window.rest(0..clauses.len());
    let pruning = Pruning::new(core.options.prune.then_some(&core.top), core.root.tie);
    if pruning.has_threshold() && !union.is_judged() {
        let pruned = union.judge(clauses, rest, pruning, &mut core.scratch, pages)?;
        core.total.is_exact &= !pruned;
    }
    let scorer = can_offer.then_some(SumScorer {
        score: &core.score,
        norms: &mut core.tables.norms,
        top: &core.top,
    });
    core.total.found += union.gather(clauses, found, scorer, pages)? as u64;
    Ok(())
}
