//! Offering documents as they are found: where all that scores need is at hand, no batch is needed
//! to know them, and the threshold of the moment rules more out than that of the batch before.
//!
//! The documents of a stretch are worked on column by column. Sums of scores, rounded, are enough
//! to drop documents that cannot enter, before each further clause is asked; the few that stay are
//! scored by the formula.

use std::ops::Range;

use super::core::RankCore;
use super::root::Clause;
use super::score::Score;
use super::union::UnionRange;
use super::windows::Window;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::documents::NormCursor;
use crate::search::matching::matcher::Role;
use crate::search::matching::matches::{Filtering, Matches, keep};
use crate::search::scoring::formula::{Formula, LeafId};

/// Clauses that are looked through in a step.
const CLAUSES_A_STEP: usize = 8;

/// A clause with at least one leaf in so many of its query is scored with whole rows; one with
/// fewer only where it occurs, or the time would grow with the square of the number of words.
const WHOLE_ROWS: usize = 16;

/// The documents found in a stretch.
pub(super) struct Direct {
    pub(super) found: Matches,
    /// Set if they were offered in vain: clauses that were asked cannot go back.
    was_tried: bool,
    /// The norms of each field.
    norms: Vec<Vec<u8>>,
    /// The sums of the clauses asked so far, rounded.
    sums: Vec<f32>,
    /// The places of those that stay.
    kept: Vec<u32>,
    /// The norms of one document, and its leaves' scores.
    row: Vec<u8>,
    scores: Vec<f32>,
    /// Clauses that may still be asked and their bounds, the best first.
    later: Vec<(usize, f64)>,
    /// Set for each of these clauses; the bounds of all clauses.
    are_later: Vec<bool>,
    bounds: Vec<f64>,
}

impl Direct {
    /// Room for a query with so many leaves and fields.
    pub(super) fn new(leaves: usize, fields: usize) -> Direct {
        Direct {
            found: Matches::new(0..leaves),
            was_tried: false,
            norms: vec![Vec::new(); fields],
            sums: Vec::new(),
            kept: Vec::new(),
            row: Vec::new(),
            scores: vec![0.0; leaves],
            later: Vec::new(),
            are_later: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// Offers what was found in a window, if all that the scores need is at hand. If not, clauses
    /// may have been asked for some of it, and it cannot be tried again.
    pub(super) fn offer(
        &mut self,
        core: &mut RankCore,
        union: &UnionRange,
        window: &Window,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        if std::mem::replace(&mut self.was_tried, true) {
            return Ok(false);
        }
        self.order_later(union, window);
        let clauses = core.root.clauses.len();
        pages.count_steps(clauses * self.later.len() / CLAUSES_A_STEP)?;
        core.total.is_exact &= core.root.driven || window.leaves_none();
        let offered = self.ask_required(core, union, window, pages)?
            && self.begin(&mut core.tables.norms, pages)
            && self.ask_later(core, pages)?;
        if offered {
            core.total.found += self.found.len() as u64;
            self.offer_best(core);
        }
        Ok(offered)
    }

    /// Asks clauses without which no document can enter, so that only those stay that match. Tells
    /// whether all pages were at hand.
    fn ask_required(
        &mut self,
        core: &mut RankCore,
        union: &UnionRange,
        window: &Window,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        if self.later.is_empty() {
            return Ok(true);
        }
        self.bounds.clear();
        self.bounds.extend_from_slice(&window.bounds);
        union
            .bounds()
            .for_each(|(clause, bound)| self.bounds[clause] = bound);
        let all = self.bounds.iter().sum::<f64>();
        let mut at = 0;
        while let Some((clause, bound)) = self.later.get(at) {
            if !core.top.excludes(all - bound) {
                at += 1;
                continue;
            }
            let matcher = &mut core.root.clauses[*clause].matcher;
            let (before, mut state) = (self.found.len(), Filtering::default());
            let asked = matcher.filter(Role::Required, &mut self.found, &mut state, pages);
            self.found.drop_between(state);
            core.total.found += (before - self.found.len()) as u64;
            match asked {
                Err(Stop::Pages) => return Ok(false),
                asked => asked?,
            }
            let (clause, _) = self.later.remove(at);
            self.are_later[clause] = false;
        }
        Ok(true)
    }

    /// Asks the other clauses for what can enter with what they may add. Tells whether all pages
    /// were at hand.
    fn ask_later(&mut self, core: &mut RankCore, pages: &mut Pages<'_>) -> Step<bool> {
        for (at, clause) in core.root.clauses.iter().enumerate() {
            if !self.is_later(at) {
                self.add(&clause.formula, clause.leaves.clone(), &core.score);
            }
        }
        for at in 0..self.later.len() {
            let rest = self.later[at..].iter().map(|(_, bound)| bound).sum();
            core.total.found += self.keep_above(core.top.least_sum(rest)) as u64;
            let Clause {
                matcher,
                formula,
                leaves,
                ..
            } = &mut core.root.clauses[self.later[at].0];
            let mut state = Filtering::default();
            match matcher.filter(Role::Optional, &mut self.found, &mut state, pages) {
                Err(Stop::Pages) => return Ok(false),
                asked => asked?,
            }
            self.add(formula, leaves.clone(), &core.score);
        }
        Ok(true)
    }

    /// The clauses that are still to be asked for what was found in a window, the one that can add
    /// most first.
    fn order_later(&mut self, union: &UnionRange, window: &Window) {
        let later = &mut self.later;
        later.clear();
        let rest = (0..window.bounds.len()).filter(|clause| !window.essential[*clause]);
        later.extend(rest.map(|clause| (clause, window.bounds[clause])));
        later.extend(union.to_be_asked());
        later.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        self.are_later.clear();
        self.are_later.resize(window.bounds.len(), false);
        for (clause, _) in &self.later {
            self.are_later[*clause] = true;
        }
    }

    /// Offers what can enter by its sum.
    fn offer_best(&mut self, core: &mut RankCore) {
        let mut least = core.top.least_sum(0.0);
        for at in 0..self.sums.len() {
            if self.sums[at] > least {
                let score = core.formula.evaluate(self.score(at, &core.score));
                core.top.offer(self.found.docs()[at], score);
                least = core.top.least_sum(0.0);
            }
        }
    }

    /// It was offered, or joined the candidates.
    pub(super) fn end(&mut self) {
        self.found.clear();
        self.was_tried = false;
    }

    /// Begins with what was found. Tells whether all norms are at hand.
    fn begin(&mut self, cursors: &mut [NormCursor], pages: &mut Pages<'_>) -> bool {
        self.sums.clear();
        self.sums.resize(self.found.len(), 0.0);
        let docs = self.found.docs();
        let mut fields = cursors.iter_mut().zip(&mut self.norms);
        fields.all(|(cursor, norms)| {
            norms.clear();
            norms_at_hand(cursor, docs, norms, pages)
        })
    }

    /// Returns true if a clause is still to be asked.
    fn is_later(&self, clause: usize) -> bool {
        self.are_later[clause]
    }

    /// Adds the scores of a clause, which has these leaves, to the sums.
    fn add(&mut self, formula: &Formula, leaves: Range<LeafId>, score: &Score) {
        match formula {
            Formula::Leaf(leaf) => {
                score.add_to(*leaf, self.found.column(*leaf), &self.norms, &mut self.sums);
            }
            Formula::Sum(parts) => {
                let parts = parts.iter();
                parts.for_each(|part| self.add(part, leaves.clone(), score));
            }
            Formula::Best { .. } => self.add_each(formula, leaves, score),
        }
    }

    /// The same document by document.
    fn add_each(&mut self, formula: &Formula, leaves: Range<LeafId>, score: &Score) {
        let all = self.scores.len();
        if leaves.len() * WHOLE_ROWS >= all {
            for at in 0..self.sums.len() {
                self.sums[at] += formula.evaluate(self.score(at, score));
            }
            return;
        }
        // The column of a leaf that nothing was found of is empty.
        if leaves
            .clone()
            .all(|leaf| self.found.column(leaf).is_empty())
        {
            return;
        }
        for at in 0..self.sums.len() {
            let mut occurs = false;
            for leaf in leaves.clone() {
                let frequency = self.found.column(leaf).get(at);
                self.scores[leaf] = frequency.copied().unwrap_or(0.0);
                occurs |= self.scores[leaf] > 0.0;
            }
            if occurs {
                self.row.clear();
                self.row.extend(self.norms.iter().map(|norms| norms[at]));
                score.score_row(leaves.clone(), &mut self.scores, &self.row);
                self.sums[at] += formula.evaluate(&self.scores);
            }
        }
    }

    /// The scores of the leaves in one document.
    fn score(&mut self, at: usize, score: &Score) -> &[f32] {
        self.row.clear();
        self.row.extend(self.norms.iter().map(|norms| norms[at]));
        score.score(self.found.row(at), &self.row, &mut self.scores);
        &self.scores
    }

    /// Keeps those whose sums exceed `least`. Tells how many it dropped.
    fn keep_above(&mut self, least: f32) -> usize {
        let before = self.sums.len();
        self.kept.resize(self.sums.len(), 0);
        let mut count = 0;
        for (at, sum) in self.sums.iter().enumerate() {
            // Written in any case: a branch could not be predicted.
            self.kept[count] = at as u32;
            count += usize::from(*sum > least);
        }
        if count < before {
            let kept = &self.kept[..count];
            self.found.keep(kept);
            keep(&mut self.sums, kept);
            self.norms.iter_mut().for_each(|norms| keep(norms, kept));
        }
        before - count
    }
}

/// Appends the norms of ascending docs; false if one is not at hand.
fn norms_at_hand(
    cursor: &mut NormCursor,
    docs: &[DocId],
    norms: &mut Vec<u8>,
    pages: &mut Pages<'_>,
) -> bool {
    while let Some(first) = docs.get(norms.len()) {
        let Some(page) = cursor.at_hand(*first, pages) else {
            return false;
        };
        let rest = docs[norms.len()..].iter();
        norms.extend(rest.map_while(|doc| page.get((doc - first) as usize)));
    }
    true
}
