//! The root of a query: its clauses, and what they may give.

use std::ops::Range;

use super::pruning::{KnownScore, Pruning};
use super::windows::Window;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
use crate::search::matching::matcher::{Matcher, for_all};
use crate::search::matching::matches::DocRange;
use crate::search::matching::page_ends::PageEnds;
use crate::search::matching::phrase::{PhraseCheck, PhraseMatcher};
use crate::search::scoring::formula::{Formula, LeafId};

/// One clause of the root: a matcher and its part of the score.
pub struct Clause {
    /// The matcher of its documents.
    pub matcher: Box<dyn Matcher>,
    /// Its score.
    pub formula: Formula,
    /// The leaves of the formula.
    pub leaves: Range<LeafId>,
    /// The check that verifies its documents, if the matcher only approximates them.
    pub check: Option<PhraseCheck>,
}

/// The root of a query: clauses whose scores are added up, or of which the best counts.
pub struct Root {
    /// The clauses.
    pub clauses: Vec<Clause>,
    /// Set if every document must match the first clause; the others then only add to the score.
    pub driven: bool,
    /// The weight of clauses that are not the best: 1 for a sum.
    pub tie: f32,
}

impl Clause {
    /// A clause whose documents all match.
    pub fn new(matcher: Box<dyn Matcher>, formula: Formula) -> Clause {
        Clause {
            matcher,
            leaves: formula.leaves(),
            formula,
            check: None,
        }
    }

    /// The clause with a matcher that gives only what matches.
    pub fn verified(self) -> Clause {
        match self.check {
            Some(check) => {
                let matcher = PhraseMatcher::new(self.matcher, check);
                Clause::new(Box::new(matcher), self.formula)
            }
            None => self,
        }
    }

    /// Lets the list that leads leave out documents that score at most `floor`. Tells whether it
    /// may.
    pub fn skip_below(&mut self, floor: f32) -> bool {
        let list = self.matcher.list();
        list.is_some_and(|list| list.score().skip_below(floor))
    }

    /// Writes the bound of the score in a range; `scores` has room for all leaves.
    fn bound_within(
        &mut self,
        range: DocRange,
        bound: &mut f64,
        scores: &mut [f32],
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        scores[self.leaves.clone()].fill(0.0);
        self.matcher.bound_within(range, pages, scores)?;
        *bound = self.formula.evaluate(scores) as f64;
        Ok(())
    }
}

impl Root {
    /// A root whose clauses are added up.
    pub fn of(clauses: Vec<Clause>) -> Root {
        Root {
            clauses,
            driven: false,
            tie: 1.0,
        }
    }

    /// The score of a document as a formula. What every document must match is added up with the
    /// others in one sum, as where the same query is part of another.
    pub fn formula(&self) -> Formula {
        if let [only] = self.clauses.as_slice() {
            return only.formula.clone();
        }
        let parts = self.clauses.iter().enumerate().flat_map(|(at, clause)| {
            match (&clause.formula, at == 0 && self.driven) {
                (Formula::Sum(parts), true) => parts.clone(),
                (formula, _) => vec![formula.clone()],
            }
        });
        let parts = parts.collect();
        if self.tie == 1.0 {
            Formula::Sum(parts)
        } else {
            Formula::Best {
                parts,
                tie: self.tie,
            }
        }
    }

    /// The number of clauses, from the first on, that find candidates as long as there is no
    /// threshold.
    pub fn sought(&self) -> usize {
        let most = if self.driven { 1 } else { usize::MAX };
        self.clauses.len().min(most)
    }

    /// Bounds of the clauses over their whole lists. Opens every list: one round for all heads.
    pub fn list_bounds(&mut self, leaves: usize, pages: &mut Pages<'_>) -> Step<Vec<f64>> {
        let mut bounds = vec![0.0; self.clauses.len()];
        let mut scores = vec![0.0; leaves];
        let all = DocRange {
            first: 0,
            last: END,
        };
        for_all(
            self.clauses.iter_mut().zip(&mut bounds),
            |(clause, bound)| clause.bound_within(all, bound, &mut scores, pages),
        )?;
        Ok(bounds)
    }

    /// The window that begins at `first`. `leading` are the clauses that are essential by `lists`,
    /// the bounds of whole lists; `scores` has room for all leaves.
    pub fn window(
        &mut self,
        first: DocId,
        lists: &[f64],
        leading: &[bool],
        pruning: Pruning,
        scores: &mut [f32],
        pages: &mut Pages<'_>,
    ) -> Step<Window> {
        let mut window = Window {
            first,
            last: END,
            bounds: lists.to_vec(),
            essential: leading.to_vec(),
        };
        if !window.matters() {
            return Ok(window);
        }
        let mut ends = PageEnds::of(leading.iter().filter(|leads| **leads).count());
        let clauses = self.clauses.iter_mut().zip(leading);
        for_all(clauses.filter(|(_, leads)| **leads), |(clause, _)| {
            ends.add(clause.matcher.page_end(first, pages)?);
            Ok(())
        })?;
        window.last = ends.end();
        let range = DocRange {
            first,
            last: window.last,
        };
        for_all(
            self.clauses.iter_mut().zip(&mut window.bounds),
            |(clause, bound)| clause.bound_within(range, bound, scores, pages),
        )?;
        self.partition(&window.bounds, pruning, &mut window.essential);
        Ok(window)
    }

    /// Writes which clauses are essential, given bounds of all.
    pub fn partition(&self, bounds: &[f64], pruning: Pruning, essential: &mut [bool]) {
        essential.fill(!self.driven);
        if self.driven {
            let mut all = KnownScore::default();
            bounds.iter().for_each(|bound| all.add(*bound));
            essential[0] = !pruning.excludes(all);
        } else if pruning.has_threshold() {
            let mut ascending: Vec<usize> = (0..bounds.len()).collect();
            ascending.sort_unstable_by(|a, b| bounds[*a].total_cmp(&bounds[*b]));
            let mut known = KnownScore::default();
            for clause in ascending {
                known.add(bounds[clause]);
                if !pruning.excludes(known) {
                    break;
                }
                essential[clause] = false;
            }
        }
    }
}
