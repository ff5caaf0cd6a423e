//! Offering documents as they are found: where all that scores need is at hand, no batch is needed to know them, and the
//! threshold of the moment rules more out than that of the batch before.
//!
//! What was found in a stretch is worked on column by column. Sums of scores, rounded, are enough to drop what cannot
//! enter, before each further clause is asked; the few that stay are scored by the formula.

use super::Ranker;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::documents::NormCursor;
use crate::search::formula::Formula;
use crate::search::matcher::{Filtering, Offers, Role};
use crate::search::matches::{Matches, keep};
use crate::search::score::Score;
use crate::search::windows::Clause;

/// Clauses that are looked through in a step.
const CLAUSES_A_STEP: usize = 8;

/// What was found in a stretch.
pub(super) struct Direct {
    pub(super) found: Matches,
    /// Whether it was tried in vain to offer it: clauses that were asked cannot go back.
    was_tried: bool,
    /// The norms of each field.
    norms: Vec<Vec<u8>>,
    /// What the clauses asked so far add up to, rounded.
    sums: Vec<f32>,
    /// The places of those that stay.
    kept: Vec<u32>,
    /// The norms of one document, and its leaves' scores.
    row: Vec<u8>,
    scores: Vec<f32>,
    /// Clauses that may still be asked and their bounds, the best first.
    later: Vec<(usize, f64)>,
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
        }
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

    /// Whether a clause is still to be asked.
    fn is_later(&self, clause: usize) -> bool {
        self.later.iter().any(|(later, _)| *later == clause)
    }

    /// Adds the scores of a clause to the sums.
    fn add(&mut self, formula: &Formula, score: &Score) {
        match formula {
            Formula::Leaf(leaf) => {
                score.add_to(*leaf, self.found.column(*leaf), &self.norms, &mut self.sums);
            }
            Formula::Sum(parts) => parts.iter().for_each(|part| self.add(part, score)),
            Formula::Best { .. } => self.add_each(formula, score),
        }
    }

    fn add_each(&mut self, formula: &Formula, score: &Score) {
        for at in 0..self.sums.len() {
            self.sums[at] += formula.evaluate(self.score(at, score));
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

impl Ranker {
    /// Whether scores may be offered as soon as they are known: clauses are added up, and what is found counts as it is.
    pub(super) fn can_be_direct(&self) -> bool {
        let adds_up = self.root.tie == 1.0 && !self.tentative;
        adds_up && self.live.all_live(self.options.below)
    }

    /// Offers what the only clause, a leaf, matches in a window, as long as the scores are at hand.
    pub(super) fn offer_leaf(
        &mut self,
        window: usize,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let (range, limit) = ((self.next, last), self.batch);
        let matcher = &mut self.root.clauses[0].matcher;
        let mut offers = Offers {
            top: &mut self.top,
            seen: 0,
            passed_over: false,
        };
        let offered = self.candidates.gather(window as u32, |left| {
            matcher.offer(range, limit, &mut offers, left, pages)
        });
        self.total += offers.seen;
        self.total_is_exact &= !offers.passed_over;
        offered
    }

    /// Offers what was found in a stretch of a window, if all that the scores need is at hand; else makes candidates of
    /// it. Called again after a stop.
    pub(super) fn place(
        &mut self,
        direct: &mut Direct,
        window: usize,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        // No cursor may go beyond candidates that its clause is still to be asked for.
        let is_first = self.candidates.len() == 0 || self.windows[window].leaves_none();
        let tries = self.is_direct && is_first && !direct.was_tried;
        direct.was_tried |= tries;
        if !(tries && self.offer_found(direct, window, pages)?) {
            // Candidates have all that clauses give which are essential in their window.
            let clauses = &mut self.root.clauses;
            self.union.ask(clauses, &mut direct.found, pages)?;
            self.candidates.gather(window as u32, |matches| {
                matches.append(&direct.found, 0..direct.found.len());
            });
        }
        direct.found.clear();
        direct.was_tried = false;
        Ok(())
    }

    /// Offers what was found, if that is possible. If not, clauses may have been asked for some of it.
    fn offer_found(
        &mut self,
        direct: &mut Direct,
        window: usize,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        self.order_later(&mut direct.later, window);
        let clauses = self.root.clauses.len();
        pages.count_steps(clauses * direct.later.len() / CLAUSES_A_STEP)?;
        self.total_is_exact &= self.root.driven || self.windows[window].leaves_none();
        let offered = self.ask_required(direct, window, pages)?
            && direct.begin(&mut self.norms, pages)
            && self.ask_later(direct, pages)?;
        if offered {
            self.total += direct.found.len() as u64;
            self.offer_best(direct);
        }
        Ok(offered)
    }

    /// Asks clauses without which no document can enter, so that only those stay that match. Tells whether all pages
    /// were at hand.
    fn ask_required(
        &mut self,
        direct: &mut Direct,
        window: usize,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let bounds = self.windows[window].bounds.iter().enumerate();
        let leading = bounds.filter(|(clause, _)| !direct.is_later(*clause));
        let leading = leading.map(|(clause, bound)| self.union.bound(clause).unwrap_or(*bound));
        let all = leading.sum::<f64>() + direct.later.iter().map(|(_, bound)| bound).sum::<f64>();
        let mut at = 0;
        while let Some((clause, bound)) = direct.later.get(at) {
            if !self.top.excludes(all - bound) {
                at += 1;
                continue;
            }
            let matcher = &mut self.root.clauses[*clause].matcher;
            let (before, mut state) = (direct.found.len(), Filtering::default());
            let asked = matcher.filter(Role::Required, &mut direct.found, &mut state, pages);
            direct.found.drop_between(state);
            self.total += (before - direct.found.len()) as u64;
            match asked {
                Err(Stop::Pages) => return Ok(false),
                asked => asked?,
            }
            direct.later.remove(at);
        }
        Ok(true)
    }

    /// Asks the other clauses for what can enter with what they may add. Tells whether all pages were at hand.
    fn ask_later(&mut self, direct: &mut Direct, pages: &mut Pages<'_>) -> Step<bool> {
        for (clause, Clause { formula, .. }) in self.root.clauses.iter().enumerate() {
            if !direct.is_later(clause) {
                direct.add(formula, &self.score);
            }
        }
        for at in 0..direct.later.len() {
            let rest = direct.later[at..].iter().map(|(_, bound)| bound).sum();
            self.total += direct.keep_above(self.top.least_sum(rest)) as u64;
            let Clause { matcher, formula } = &mut self.root.clauses[direct.later[at].0];
            let mut state = Filtering::default();
            match matcher.filter(Role::Optional, &mut direct.found, &mut state, pages) {
                Err(Stop::Pages) => return Ok(false),
                asked => asked?,
            }
            direct.add(formula, &self.score);
        }
        Ok(true)
    }

    /// The clauses that are still to be asked for what was found in a window, the one that can add most first.
    fn order_later(&self, later: &mut Vec<(usize, f64)>, window: usize) {
        let window = &self.windows[window];
        later.clear();
        let rest = (0..window.bounds.len()).filter(|clause| !window.essential[*clause]);
        later.extend(rest.map(|clause| (clause, window.bounds[clause])));
        later.extend(self.union.to_be_asked());
        later.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    }

    /// Offers what can enter by its sum.
    fn offer_best(&mut self, direct: &mut Direct) {
        let mut least = self.top.least_sum(0.0);
        for at in 0..direct.sums.len() {
            if direct.sums[at] > least {
                let score = self.formula.evaluate(direct.score(at, &self.score));
                self.top.offer(direct.found.docs()[at], score);
                least = self.top.least_sum(0.0);
            }
        }
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
