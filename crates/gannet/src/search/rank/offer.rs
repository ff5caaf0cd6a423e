//! Offering documents as they are found, before a batch is full.

use super::Ranker;
use super::direct::CLAUSES_A_STEP;
use super::direct::Direct;
use super::windows::Clause;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::matching::matcher::Role;
use crate::search::matching::matches::Filtering;
use crate::search::matching::scored::Offers;

impl Ranker {
    /// Whether scores may be offered as soon as they are known: clauses are added up, and what is
    /// found counts as it is.
    pub(super) fn can_be_direct(&self) -> bool {
        let adds_up = self.root.tie == 1.0 && !self.approximate;
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
        let Some(list) = self.root.clauses[0].matcher.list() else {
            return Ok(self.next);
        };
        let mut offers = Offers {
            top: &mut self.top,
            seen: 0,
            passed_over: false,
        };
        let offered = self.candidates.gather(window as u32, |left| {
            list.offer(range, limit, &mut offers, left, pages)
        });
        self.total += offers.seen;
        self.total_is_exact &= !offers.passed_over;
        offered
    }

    /// Offers what was found in a stretch of a window, if all that the scores need is at hand; else
    /// makes candidates of it. Called again after a stop.
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

    /// Offers what was found, if that is possible. If not, clauses may have been asked for some of
    /// it.
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

    /// Asks clauses without which no document can enter, so that only those stay that match. Tells
    /// whether all pages were at hand.
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

    /// Asks the other clauses for what can enter with what they may add. Tells whether all pages
    /// were at hand.
    fn ask_later(&mut self, direct: &mut Direct, pages: &mut Pages<'_>) -> Step<bool> {
        for (clause, Clause { formula, .. }) in self.root.clauses.iter().enumerate() {
            if !direct.is_later(clause) {
                direct.add(formula, &self.score);
            }
        }
        for at in 0..direct.later.len() {
            let rest = direct.later[at..].iter().map(|(_, bound)| bound).sum();
            self.total += direct.keep_above(self.top.least_sum(rest)) as u64;
            let Clause {
                matcher, formula, ..
            } = &mut self.root.clauses[direct.later[at].0];
            let mut state = Filtering::default();
            match matcher.filter(Role::Optional, &mut direct.found, &mut state, pages) {
                Err(Stop::Pages) => return Ok(false),
                asked => asked?,
            }
            direct.add(formula, &self.score);
        }
        Ok(true)
    }

    /// The clauses that are still to be asked for what was found in a window, the one that can add
    /// most first.
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
