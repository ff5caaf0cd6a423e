//! The run of a query over hot lists.

use std::sync::Arc;

use super::candidates::{CANDIDATES, FoundPlaces, HotCandidates, NOWHERE};
use super::count::count;
use super::list::HotList;
use super::norms::NormColumn;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::LiveCursor;
use crate::search::matching::matcher::BLOCK_STEPS;
use crate::search::scoring::scorer::Scorer;
use crate::search::scoring::term_scorer::TermScorer;
use crate::search::scoring::top::{Top, excludes, least_sum};
use crate::search::words::{Other, Pass, WordsFound};

/// Candidates that are looked at before there is a threshold.
const FIRST: usize = 16;

/// The postings of a list of which the best are looked at before the others.
const FIRST_OF: usize = 4096;

/// Scores of less are rounded too much for bounds.
const LEAST: f32 = 1e-30;

/// Bounds what rounding adds to a bound: a little more than that of the steps.
const SLACK: f32 = 1e-5;

/// A word with its list.
pub struct HotWord {
    list: Arc<HotList>,
    scorer: Scorer,
    /// The most that a step adds to a score.
    worth: f32,
    /// The least that a score is for its share of the most.
    least: f32,
}

/// A query of words whose lists are hot.
pub struct HotRun {
    words: Vec<HotWord>,
    norms: Arc<NormColumn>,
    all_required: bool,
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
    /// A word that `scorer` scores, in a field of this mean length. The share that a score has of
    /// the most grows by no more than the mean length does, and shrinks by no more. Nothing if it
    /// gives no scores.
    pub fn new(list: Arc<HotList>, scorer: Scorer, mean_length: f32) -> Option<HotWord> {
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
            scorer,
        })
    }

    /// The most that it adds.
    fn most(&self) -> f64 {
        f64::from(self.worth) * f64::from(u8::MAX)
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
    /// Finds the best `k` documents that have all of the words, or any.
    pub fn new(
        words: Vec<HotWord>,
        all_required: bool,
        norms: Arc<NormColumn>,
        live: Option<LiveCursor>,
        k: usize,
    ) -> HotRun {
        HotRun {
            candidates: HotCandidates::new(words.len()),
            found_places: FoundPlaces::default(),
            words,
            norms,
            all_required,
            live,
            top: Top::new(k),
            is_exact: true,
            found: 0,
            counts: false,
        }
    }

    /// Bytes that it takes for so many words.
    pub fn memory_bytes(words: usize) -> usize {
        let pass = size_of::<Pass>() + 2 * words * size_of::<Other>();
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
        let mut order: Vec<usize> = (0..self.words.len()).collect();
        order.sort_by_key(|word| self.words[*word].list.postings());
        if !self.all_required || order.len() == 1 {
            self.expect_best();
        }
        let passes = if self.all_required {
            Pass::all(&order)
        } else {
            Pass::any(&order)
        };
        let lists = order.iter().map(|word| Arc::clone(&self.words[*word].list));
        let lists: Vec<Arc<HotList>> = lists.collect();
        // Documents that are looked up one by one are counted as they are ranked.
        let leads_sparse = lists.first().is_some_and(|list| list.docs().is_some());
        let are_ranked = self.top.wanted() > 0;
        self.counts = counts && are_ranked && self.all_required && leads_sparse && lists.len() > 1;
        for pass in &passes {
            self.go_through(pass, pages)?;
        }
        if counts && !self.counts {
            self.found = count(&lists, self.all_required, self.until(), pages)?;
            self.is_exact = true;
        }
        Ok(WordsFound {
            top: self.top,
            found: self.found,
            is_exact: self.is_exact,
        })
    }

    /// Takes as threshold what the best documents of one word have by that word alone.
    fn expect_best(&mut self) {
        if self.live.is_none() {
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
        let list = &self.words[pass.leader].list;
        let is_one = pass.requires_none() || self.counts;
        let between = if is_one || list.postings() < FIRST_OF {
            0
        } else {
            list.step_of_best()
        };
        if between > 0 {
            self.go_through_steps(pass, between, u8::MAX, pages)?;
        }
        let greatest = if between > 0 { between } else { u8::MAX };
        self.go_through_steps(pass, 0, greatest, pages)
    }

    /// Goes through the postings of the leading list whose steps are above `lowest`, but not above
    /// `greatest`.
    fn go_through_steps(
        &mut self,
        pass: &Pass,
        lowest: u8,
        greatest: u8,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let others = pass.scored_others();
        let rest: f64 = others.map(|word| self.words[word].most()).sum();
        let goes_back = pass.goes_back || greatest < u8::MAX;
        let leader = &self.words[pass.leader];
        let (list, worth) = (Arc::clone(&leader.list), leader.worth);
        let most = f64::from(worth) * f64::from(greatest);
        let (mut next, until) = (Some(0), self.until());
        while let Some(from) = next {
            pages.count_steps(BLOCK_STEPS)?;
            let threshold = self.threshold(goes_back);
            if excludes(threshold, most + rest) && !self.counts {
                self.is_exact = false;
                break;
            }
            let is_first = threshold == f32::NEG_INFINITY && pass.requires_none();
            let count = if is_first { FIRST } else { CANDIDATES };
            let least = if self.counts {
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
            self.ask_others(pass, threshold, rest);
            let asked = pass.others.iter().map(|other| other.word);
            if let Some(live) = &mut self.live {
                self.candidates.keep_live(live, asked, pages)?;
            }
            self.found += self.candidates.length() as u64;
            if self.counts {
                let asked = pass.others.iter().map(|other| other.word);
                self.candidates.keep_above(least_sum(threshold, 0.0), asked);
            }
            self.offer(pass);
        }
        Ok(())
    }

    /// Asks the other words of a pass, which add at most `rest`.
    fn ask_others(&mut self, pass: &Pass, threshold: f32, rest: f64) {
        let mut rest = rest;
        for (at, other) in pass.others.iter().enumerate() {
            if self.candidates.length() == 0 {
                return;
            }
            let word = &self.words[other.word];
            let worth = if other.scores() {
                rest -= word.most();
                word.worth
            } else {
                0.0
            };
            let least = if self.counts {
                f32::NEG_INFINITY
            } else {
                least_sum(threshold, rest.max(0.0))
            };
            let asked = pass.others[..at].iter().map(|other| other.word);
            self.is_exact &= least < 0.0;
            let (found, candidates) = (&mut self.found_places, &mut self.candidates);
            let hits = word.list.find_all(candidates.docs(), found);
            candidates.take_found(*other, found, hits, worth, least, asked);
        }
    }

    /// Scores the candidates and offers them.
    fn offer(&mut self, pass: &Pass) {
        let candidates = &self.candidates;
        for (at, doc) in candidates.docs().iter().enumerate() {
            let norm = self.norms.of(*doc);
            let mut sum = 0.0;
            for word in &pass.scored {
                let place = if *word == pass.leader {
                    candidates.leading(at)
                } else {
                    candidates.place(*word, at)
                };
                let HotWord { list, scorer, .. } = &self.words[*word];
                if place != NOWHERE {
                    sum += f64::from(scorer.score(list.frequency(place) as f32, norm));
                }
            }
            self.top.offer(*doc, sum as f32);
        }
    }
}
