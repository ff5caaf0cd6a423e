//! The run of a query over hot lists.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::candidates::{CANDIDATES, FoundPlaces, HotCandidates, NOWHERE};
use super::count::{CountedLists, count};
use super::list::HotList;
use super::norms::NormColumn;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::LiveCursor;
use crate::search::matching::matcher::{BLOCK_STEPS, Role};
use crate::search::scoring::scorer::Scorer;
use crate::search::scoring::term_scorer::TermScorer;
use crate::search::scoring::top::{Top, excludes, least_sum};
use crate::search::words::{
    FIRST, FIRSTS, Other, OthersAdd, Pass, PassBounds, WordClause, WordsFound,
};

/// The postings of a list of which the best are looked at before the others.
const FIRST_OF: usize = 4096;

/// Scores of less are rounded too much for bounds.
const LEAST: f32 = 1e-30;

/// Bounds what rounding adds to a bound: a little more than that of the steps.
const SLACK: f32 = 1e-5;

/// A word with its list.
pub struct HotWord {
    list: Arc<HotList>,
    norms: Arc<NormColumn>,
    scorer: Scorer,
    /// The most that a step adds to a score.
    worth: f32,
    /// The least that a score is for its share of the most.
    least: f32,
    /// The number of its clause.
    clause: usize,
}

/// A query of words whose lists are hot.
pub struct HotRun {
    words: Vec<HotWord>,
    clauses: Vec<WordClause>,
    /// Tells live documents, unless all are.
    live: Option<LiveCursor>,
    top: Top,
    is_exact: bool,
    found: u64,
    /// Set if all matches are looked at, since they are counted.
    counts: bool,
    candidates: HotCandidates,
    found_places: FoundPlaces,
}

impl HotWord {
    /// A word that `scorer` scores, in a field of these norms and of this mean length. The share
    /// that a score has of the most grows by no more than the mean length does, and shrinks by no
    /// more. Nothing if it gives no scores.
    pub fn new(
        list: Arc<HotList>,
        norms: Arc<NormColumn>,
        scorer: Scorer,
        mean_length: f32,
    ) -> Option<HotWord> {
        let (worth, change) = (
            list.step() * scorer.most(),
            mean_length / list.origin.mean_length,
        );
        let worth = worth * change.max(1.0) * (1.0 + SLACK);
        let least = scorer.most() * change.min(1.0) * (1.0 - SLACK);
        let is_usual = |number: f32| number > LEAST && number.is_finite();
        (is_usual(worth) && is_usual(least)).then_some(HotWord {
            worth,
            least,
            list,
            norms,
            scorer,
            clause: 0,
        })
    }

    /// The most that it adds.
    fn most(&self) -> f32 {
        self.worth * f32::from(u8::MAX)
    }

    /// A score that at least `k` documents exceed or reach by this word alone; 0 if none is known.
    fn score_of_best(&self, k: usize) -> f32 {
        self.list.share_of_best(k) * self.least
    }

    /// The greatest step with which a posting has no more than `floor`.
    fn step_below(&self, floor: f32) -> u8 {
        // Negative ones are 0, and what is too much is 255.
        (floor / self.worth * (1.0 - SLACK)) as u8
    }
}

impl HotRun {
    /// Finds the best `k` documents of a query of these clauses.
    pub fn new(
        mut words: Vec<HotWord>,
        clauses: &[WordClause],
        live: Option<LiveCursor>,
        k: usize,
    ) -> HotRun {
        for (at, clause) in clauses.iter().enumerate() {
            let its = words[clause.words.clone()].iter_mut();
            its.for_each(|word| word.clause = at);
        }
        HotRun {
            candidates: HotCandidates::new(words.len()),
            found_places: FoundPlaces::default(),
            words,
            clauses: clauses.to_vec(),
            live,
            top: Top::new(k),
            is_exact: true,
            found: 0,
            counts: false,
        }
    }

    /// Bytes that it takes for so many words.
    pub fn memory_bytes(words: usize) -> usize {
        let other = size_of::<Other>() + size_of::<usize>() + size_of::<f64>();
        let pass = size_of::<Pass>() + size_of::<WordClause>() + words * other;
        size_of::<HotRun>()
            + words * (size_of::<HotWord>() + pass)
            + HotCandidates::memory_bytes(words)
    }

    /// One past the last document that is looked at.
    pub fn until(&self) -> DocId {
        let lists = self.words.iter().map(|word| word.list.until);
        lists.min().unwrap_or(0)
    }

    /// Returns true if it can count matches: deleted documents are not told apart for that.
    pub fn can_count(&self) -> bool {
        self.live.is_none()
    }

    /// Works to the end, or until a page of the live set is missing. Counts all matches if they are
    /// to be counted.
    pub fn run(mut self, counts: bool, pages: &mut Pages<'_>) -> Step<WordsFound> {
        let passes = Pass::of(&self.clauses, |word| {
            self.words[word].list.postings() as u64
        });
        self.expect_best();
        // Documents that are looked up one by one are counted as they are ranked.
        let is_sparse = |pass: &Pass| self.words[pass.leader].list.docs().is_some();
        let mut roles = self.clauses.iter().map(|clause| clause.role);
        let decisive = roles.clone().filter(|role| *role != Role::Optional).count();
        let has_required = roles.any(|role| role == Role::Required);
        let are_looked_up = has_required && decisive > 1 && passes.iter().all(is_sparse);
        self.counts = counts && self.top.wanted() > 0 && are_looked_up;
        for pass in &passes {
            self.go_through(pass, pages)?;
        }
        if counts && !self.counts {
            self.found = count(self.lists(), self.until(), pages)?;
            self.is_exact = true;
        }
        Ok(WordsFound {
            top: self.top,
            found: self.found,
            is_exact: self.is_exact,
        })
    }

    /// The lists of each clause.
    fn lists(&self) -> Vec<CountedLists<'_>> {
        let clauses = self.clauses.iter().map(|clause| CountedLists {
            role: clause.role,
            lists: self.words[clause.words.clone()]
                .iter()
                .map(|word| &*word.list)
                .collect(),
        });
        clauses.collect()
    }

    /// Takes as threshold what the best documents of one word have by that word alone, if every
    /// document with the word is found.
    fn expect_best(&mut self) {
        let mut decisive = self.clauses.iter();
        let is_free = match self.clauses.as_slice() {
            [only] => only.role != Role::Excluded,
            _ => decisive.all(|clause| clause.role == Role::Optional),
        };
        if is_free && self.live.is_none() {
            let k = self.top.wanted();
            let best = self.words.iter().map(|word| word.score_of_best(k));
            self.top.expect(best.fold(0.0, f32::max));
        }
    }

    /// The score that must be exceeded; a little less if earlier documents may have been looked at.
    fn threshold(&self, goes_back: bool) -> f32 {
        let threshold = self.top.threshold();
        if goes_back {
            threshold.next_down()
        } else {
            threshold
        }
    }

    /// Goes through the documents of the leading list. If others are required, the best of its
    /// postings come first, for the threshold.
    fn go_through(&mut self, pass: &Pass, pages: &mut Pages<'_>) -> Step<()> {
        let mut bounds = PassBounds::default();
        bounds.take(pass, |word| Ok(self.words[word].most()))?;
        let list = &self.words[pass.leader].list;
        let is_one = pass.requires_none() || self.counts;
        let between = if is_one || list.postings() < FIRST_OF {
            0
        } else {
            list.step_of_best()
        };
        if between > 0 {
            self.go_through_steps(pass, &bounds, between..=u8::MAX, pages)?;
        }
        let greatest = if between > 0 { between } else { u8::MAX };
        self.go_through_steps(pass, &bounds, 0..=greatest, pages)
    }

    /// Goes through the postings of the leading list whose steps are above the first of `steps`,
    /// but not above the last.
    fn go_through_steps(
        &mut self,
        pass: &Pass,
        bounds: &PassBounds,
        steps: RangeInclusive<u8>,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let (lowest, greatest) = steps.into_inner();
        let OthersAdd { own, rest } = bounds.others;
        let goes_back = pass.goes_back || greatest < u8::MAX;
        let leader = &self.words[pass.leader];
        let (list, worth) = (Arc::clone(&leader.list), leader.worth);
        let most = bounds.others.with(worth * f32::from(greatest));
        let (mut next, mut turn, until) = (Some(0), 0, self.until());
        while let Some(from) = next {
            pages.count_steps(BLOCK_STEPS)?;
            let threshold = self.threshold(goes_back);
            if excludes(threshold, most) && !self.counts {
                self.is_exact = false;
                break;
            }
            turn += 1;
            let has_none = threshold == f32::NEG_INFINITY;
            let is_first = has_none && pass.requires_none() && turn <= FIRSTS;
            let count = if is_first { FIRST } else { CANDIDATES };
            let least = if self.counts || !excludes(threshold, own + rest) {
                0
            } else {
                self.words[pass.leader].step_below(least_sum(threshold, rest))
            };
            self.is_exact &= least == 0;
            let (least, candidates) = (least.max(lowest), &mut self.candidates);
            next = list.take_above(least, greatest, from, count, candidates);
            if candidates.cut(until) {
                next = None;
            }
            candidates.begin_sums(worth);
            self.ask_others(pass, threshold, bounds);
            if let Some(live) = &mut self.live {
                self.candidates.keep_live(live, &pass.others, pages)?;
            }
            self.found += self.candidates.length() as u64;
            if self.counts {
                let least = least_sum(threshold, 0.0);
                self.candidates.keep_above(least, &pass.others);
            }
            self.offer(pass);
        }
        Ok(())
    }

    /// Asks the other words of a pass.
    fn ask_others(&mut self, pass: &Pass, threshold: f32, bounds: &PassBounds) {
        for (at, other) in pass.others.iter().enumerate() {
            if self.candidates.length() == 0 {
                return;
            }
            let word = &self.words[other.word];
            let worth = if other.scores() { word.worth } else { 0.0 };
            let least = if self.counts {
                f32::NEG_INFINITY
            } else {
                least_sum(threshold, bounds.from(at + 1))
            };
            self.is_exact &= least < 0.0;
            let (found, candidates) = (&mut self.found_places, &mut self.candidates);
            let hits = word.list.find_all(candidates.docs(), found);
            candidates.take_found(*other, found, hits, worth, least, &pass.others[..at]);
        }
    }

    /// Scores the candidates and offers them: of each clause the best word counts.
    fn offer(&mut self, pass: &Pass) {
        let candidates = &self.candidates;
        for (at, doc) in candidates.docs().iter().enumerate() {
            let (mut sum, mut best, mut clause) = (0.0, 0.0, 0);
            for word in &pass.scored {
                let place = if *word == pass.leader {
                    candidates.leading(at)
                } else {
                    candidates.place(*word, at)
                };
                if place == NOWHERE {
                    continue;
                }
                let word = &self.words[*word];
                let frequency = word.list.frequency(place) as f32;
                let score = word.scorer.score(frequency, word.norms.of(*doc));
                if word.clause != clause {
                    sum += f64::from(best);
                    (best, clause) = (0.0, word.clause);
                }
                best = f32::max(best, score);
            }
            self.top.offer(*doc, (sum + f64::from(best)) as f32);
        }
    }
}
