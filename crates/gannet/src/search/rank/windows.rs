//! Windows: stretches of doc IDs for which bounds of all clauses are known, and what must be read
//! in them.
//!
//! Bounds come from list heads, one for each page of a list. A window ends where the first page of
//! a clause that can matter ends, so in a window such a clause has one page. Clauses are ordered by
//! their bounds; those that together cannot lift a document above the threshold are *not
//! essential*: documents that only they match need not be found. Source: MaxScore (Turtle and
//! Flood, "Query Evaluation: Strategies and Optimizations", 1995), with the bounds of pages instead
//! of lists as in block-max methods (Ding and Suel, "Faster Top-k Document Retrieval Using
//! Block-Max Indexes", 2011). Here the page is the unit of I/O: what is skipped is not read.

use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
use crate::search::matching::matcher::{Matcher, for_all};
use crate::search::matching::phrase::{PhraseCheck, PhraseMatcher};
use crate::search::scoring::formula::Formula;
use crate::search::scoring::top::Top;

/// What is left of the threshold for rounding when a floor is taken from it.
const FLOOR: f64 = 1.0 - 4e-6;

/// One clause of the root: a matcher and its part of the score.
pub struct Clause {
    /// Which documents.
    pub matcher: Box<dyn Matcher>,
    /// Its score.
    pub formula: Formula,
    /// What tells which of the documents match, where the matcher only approximates them.
    pub check: Option<PhraseCheck>,
}

impl Clause {
    /// A clause whose documents all match.
    pub fn new(matcher: Box<dyn Matcher>, formula: Formula) -> Clause {
        Clause {
            matcher,
            formula,
            check: None,
        }
    }

    /// Lets the list that leads leave out documents that score at most `floor`. Tells whether it
    /// may.
    pub fn skip_below(&mut self, floor: f32) -> bool {
        let list = self.matcher.list();
        list.is_some_and(|list| list.score().skip_below(floor))
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
}

/// The root of a query: clauses whose scores are added up, or of which the best counts.
pub struct Root {
    /// The clauses.
    pub clauses: Vec<Clause>,
    /// Whether every document must match the first clause; the others then only add to the score.
    pub driven: bool,
    /// What clauses that are not the best add: 1 for a sum.
    pub tie: f32,
}

/// A stretch of doc IDs with the bounds that hold in it.
#[derive(Clone, Debug)]
pub struct Window {
    /// The first doc ID.
    pub first: DocId,
    /// The last doc ID.
    pub last: DocId,
    /// Bounds of the clauses' scores.
    pub bounds: Vec<f64>,
    /// Which clauses find candidates; empty when no document of the window can enter.
    pub essential: Vec<bool>,
}

impl Window {
    /// Bytes that a window takes for each clause.
    pub const CLAUSE_BYTES: usize = size_of::<f64>() + size_of::<bool>();

    /// Whether any document of the window can come among the best.
    pub fn matters(&self) -> bool {
        self.essential.contains(&true)
    }

    /// Whether all clauses find candidates.
    pub fn leaves_none(&self) -> bool {
        !self.essential.contains(&false)
    }

    /// The clause that finds all candidates, if one alone does.
    pub fn only_essential(&self) -> Option<usize> {
        let mut essential = (0..self.essential.len()).filter(|clause| self.essential[*clause]);
        essential.next().filter(|_| essential.next().is_none())
    }

    /// What those of `clauses` that are not essential may add.
    pub fn rest(&self, clauses: impl IntoIterator<Item = usize>) -> KnownScore {
        let mut rest = KnownScore::default();
        let later = clauses
            .into_iter()
            .filter(|clause| !self.essential[*clause]);
        later.for_each(|clause| rest.add(self.bounds[clause]));
        rest
    }

    /// The score of `clause` up to which no document can enter whatever the other clauses add.
    pub fn floor(&self, clause: usize, pruning: Pruning<'_>) -> f32 {
        let others = (0..self.bounds.len()).filter(|other| *other != clause);
        let mut known = KnownScore::default();
        others.for_each(|other| known.add(self.bounds[other]));
        pruning.floor(known)
    }

    /// Whether a clause that may find candidates here had to wait in `earlier`: its cursor would
    /// have to go back.
    pub fn goes_back(&self, earlier: &Window) -> bool {
        let both = self.essential.iter().zip(&earlier.essential);
        both.into_iter().any(|(now, before)| *now && !before)
    }
}

/// What is known of a document's score.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownScore {
    /// The sum of what clauses give.
    sum: f64,
    /// The best of them.
    most: f64,
}

/// What may be left out, given the documents found so far.
#[derive(Clone, Copy)]
pub struct Pruning<'a> {
    /// The best documents so far; nothing when all must be found.
    pub top: Option<&'a Top>,
    /// As [`Root::tie`].
    pub tie: f64,
}

impl KnownScore {
    /// Adds the score, or the bound, of one more clause.
    pub fn add(&mut self, score: f64) {
        self.sum += score;
        // Not `max`, which would have to mind numbers that are none.
        self.most = if score > self.most { score } else { self.most };
    }

    /// What the clauses give in all.
    pub fn sum(self) -> f64 {
        self.sum
    }

    /// The best of what the clauses give.
    pub fn best(self) -> f64 {
        self.most
    }

    /// What both are together.
    pub fn and(self, other: KnownScore) -> KnownScore {
        KnownScore {
            sum: self.sum + other.sum,
            most: self.most.max(other.most),
        }
    }

    /// The score: the best clause and `tie` times the others.
    fn score(&self, tie: f64) -> f64 {
        self.most + (self.sum - self.most) * tie
    }
}

impl Pruning<'_> {
    /// The score up to which a clause lifts no document over the threshold if `others` is what the
    /// other clauses give; negative if there is none, or if the clauses are neither added up nor
    /// the best taken.
    pub fn floor(&self, others: KnownScore) -> f32 {
        let threshold = match self.top {
            Some(top) if top.excludes(0.0) => top.threshold() as f64 * FLOOR,
            _ => return -1.0,
        };
        match self.tie {
            1.0 => (threshold - others.sum) as f32,
            0.0 if others.most <= threshold => threshold as f32,
            _ => -1.0,
        }
    }

    /// The score up to which one leaf of a clause lifts no document over the threshold if the
    /// clause's other leaves add up to at most `leaves`, and `others` is what the other clauses
    /// give; negative if there is none.
    pub fn floor_beside(&self, others: KnownScore, leaves: f64) -> f32 {
        match self.tie {
            1.0 => self.floor(others) - (leaves / FLOOR) as f32,
            _ => -1.0,
        }
    }

    /// Whether there are documents enough for anything to be left out.
    pub fn has_threshold(&self) -> bool {
        self.excludes(KnownScore::default())
    }

    /// Whether a document with at most this score can be left out.
    pub fn excludes(&self, known: KnownScore) -> bool {
        self.top
            .is_some_and(|top| top.excludes(known.score(self.tie)))
    }
}

impl Root {
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
        match self.tie == 1.0 {
            true => Formula::Sum(parts),
            false => Formula::Best {
                parts,
                tie: self.tie,
            },
        }
    }

    /// How many clauses, from the first on, find candidates as long as there is no threshold.
    pub fn sought(&self) -> usize {
        let most = if self.driven { 1 } else { usize::MAX };
        self.clauses.len().min(most)
    }

    /// Bounds of the clauses over their whole lists. Opens every list: one round for all heads.
    pub fn list_bounds(&mut self, leaves: usize, pages: &mut Pages<'_>) -> Step<Vec<f64>> {
        let mut bounds = vec![0.0; self.clauses.len()];
        let mut scores = vec![0.0; leaves];
        for_all(
            self.clauses.iter_mut().zip(&mut bounds),
            |(clause, bound)| {
                scores.fill(0.0);
                clause.matcher.bound_within((0, END), pages, &mut scores)?;
                *bound = clause.formula.evaluate(&scores) as f64;
                Ok(())
            },
        )?;
        Ok(bounds)
    }

    /// The window that begins at `first`. `leading` are the clauses that are essential by `lists`,
    /// the bounds of whole lists.
    pub fn window(
        &mut self,
        first: DocId,
        lists: &[f64],
        leading: &[bool],
        pruning: Pruning<'_>,
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
        let clauses = self.clauses.iter_mut().zip(leading);
        for_all(clauses.filter(|(_, leads)| **leads), |(clause, _)| {
            let last = clause.matcher.page_end(first, pages)?;
            window.last = window.last.min(last);
            Ok(())
        })?;
        let range = (first, window.last);
        let clauses = self.clauses.iter_mut().zip(&mut window.bounds);
        for_all(
            clauses,
            |(
                Clause {
                    matcher, formula, ..
                },
                bound,
            )| {
                scores.fill(0.0);
                matcher.bound_within(range, pages, scores)?;
                *bound = formula.evaluate(scores) as f64;
                Ok(())
            },
        )?;
        self.partition(&window.bounds, pruning, &mut window.essential);
        Ok(window)
    }

    /// Writes which clauses are essential, given bounds of all.
    pub fn partition(&self, bounds: &[f64], pruning: Pruning<'_>, essential: &mut [bool]) {
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
