//! Finds the places of a text to mark.
//!
//! The terms of a phrase are marked only where the whole phrase stands, unless they are wanted by
//! themselves too. Of very many marks in one text the first [`MARKS_MAX`] are made, and phrases are
//! looked for among as many words.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::analysis::{Analyzer, Scratch, Token};
use crate::base::{Result, Steps};
use crate::search::query::pattern::{Pattern, Verdict};

/// The cost of a look at a token, in steps.
const TOKEN_STEPS: usize = 4;

/// The most marks of terms in one text, and of phrases; the most words of phrases that are looked
/// at.
pub const MARKS_MAX: usize = 8192;

/// The terms, patterns and phrases to mark in one field.
#[derive(Default)]
pub struct Wanted {
    /// Terms and their numbers.
    terms: FxHashMap<String, usize>,
    patterns: Vec<Arc<Pattern>>,
    /// The words of all phrases and their numbers.
    words: FxHashMap<String, usize>,
    /// Patterns that phrases end with.
    ends: Vec<Arc<Pattern>>,
    phrases: Vec<Phrase>,
}

/// A phrase as the field's analyzer gave it.
#[derive(Clone, Default)]
pub struct WantedPhrase {
    /// Its terms and their positions.
    pub terms: Vec<(String, u32)>,
    /// The pattern of a last word behind them, and its position.
    pub last: Option<(Arc<Pattern>, u32)>,
    /// The slop: positions that the terms may be moved in all.
    pub slop: u32,
}

/// The same with the numbers of its words.
struct Phrase {
    terms: Vec<(WordNumber, u32)>,
    slop: u32,
}

/// A word of phrases, or a pattern that some end with.
#[derive(Clone, Copy)]
enum WordNumber {
    Word(usize),
    End(usize),
}

/// A place to mark: bytes of the text, and the number of what is wanted there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub start: u32,
    pub end: u32,
    pub what: u32,
}

/// An occurrence of a word of a phrase.
pub(crate) struct WordPlace {
    position: u32,
    start: u32,
    end: u32,
    /// Set if it stands in the phrase that is being looked for.
    found: bool,
}

impl Mark {
    fn of(start: usize, end: usize, what: usize) -> Mark {
        // A text is part of a document, which has 16 MiB at most.
        let [start, end, what] = [start, end, what].map(|number| number as u32);
        Mark { start, end, what }
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Wanted {
    /// Wants a term as it is indexed.
    pub fn term(&mut self, term: impl Into<String>) {
        let next = self.terms.len();
        self.terms.entry(term.into()).or_insert(next);
    }

    /// Wants every term that `pattern` stands for.
    pub fn terms_like(&mut self, pattern: &Arc<Pattern>) {
        self.patterns.push(Arc::clone(pattern));
    }

    /// Wants the terms of a phrase where they stand together.
    pub fn phrase(&mut self, phrase: WantedPhrase) {
        let WantedPhrase { terms, last, slop } = phrase;
        let terms = terms.into_iter().map(|(word, place)| {
            let next = self.words.len();
            let number = *self.words.entry(word).or_insert(next);
            (WordNumber::Word(number), place)
        });
        let mut terms: Vec<(WordNumber, u32)> = terms.collect();
        if let Some((pattern, place)) = last {
            terms.push((WordNumber::End(self.ends.len()), place));
            self.ends.push(pattern);
        }
        self.phrases.push(Phrase { terms, slop });
    }

    /// Returns true if there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.patterns.is_empty() && self.phrases.is_empty()
    }

    /// The marks of `text` in order, none overlapping.
    pub(crate) fn marks(
        &self,
        analyzer: &Analyzer,
        text: &str,
        scratch: &mut Scratch,
        steps: &mut Steps<'_>,
    ) -> Result<Vec<Mark>> {
        let mut marks = Vec::new();
        if self.is_empty() {
            return Ok(marks);
        }
        let mut places = WordPlaces::new(self.words.len(), self.ends.len());
        let no_terms = self.terms.is_empty() && self.patterns.is_empty();
        let mut counted = Ok(());
        let patterns = self.patterns.iter().chain(&self.ends);
        let judging = patterns.map(|pattern| pattern.steps());
        let token_steps = TOKEN_STEPS + judging.sum::<usize>();
        analyzer.analyze_while(text, scratch, |token| {
            counted = steps.count(token_steps);
            if let Some(word) = self.words.get(token.text) {
                places.add(WordNumber::Word(*word), &token);
            }
            for (number, end) in self.ends.iter().enumerate() {
                if fits(end, token.text) {
                    places.add(WordNumber::End(number), &token);
                }
            }
            if let Some(what) = self
                .number_of(token.text)
                .filter(|_| marks.len() < MARKS_MAX)
            {
                marks.push(Mark::of(token.start, token.end, what));
            }
            counted.is_ok() && !(places.is_full() && (no_terms || marks.len() == MARKS_MAX))
        });
        counted?;
        let first = self.terms.len() + self.patterns.len();
        let most = marks.len() + MARKS_MAX;
        for (number, phrase) in self.phrases.iter().enumerate() {
            places.find(phrase, steps)?;
            places.mark(first + number, most, &mut marks);
        }
        marks.sort_unstable();
        marks.dedup_by_key(|mark| mark.start);
        Ok(marks)
    }

    fn number_of(&self, term: &str) -> Option<usize> {
        if let Some(&number) = self.terms.get(term) {
            return Some(number);
        }
        let mut patterns = self.patterns.iter();
        let pattern = patterns.position(|pattern| fits(pattern, term))?;
        Some(self.terms.len() + pattern)
    }
}

fn fits(pattern: &Pattern, term: &str) -> bool {
    matches!(pattern.judge(term.as_bytes()), Verdict::Match(_))
}

/// The places of the words of phrases in a text.
///
/// A term of a phrase has an *origin* at each of its word's places: where the phrase would begin by
/// it. Terms of one exact occurrence of the phrase share their origin, and slop is how far apart
/// origins may be.
pub(crate) struct WordPlaces {
    /// Of the words, and behind them of the patterns.
    of: Vec<Vec<WordPlace>>,
    words: usize,
    count: usize,
}

impl WordPlaces {
    fn new(words: usize, ends: usize) -> WordPlaces {
        WordPlaces {
            of: (0..words + ends).map(|_| Vec::new()).collect(),
            words,
            count: 0,
        }
    }

    fn number(&self, word: WordNumber) -> usize {
        match word {
            WordNumber::Word(number) => number,
            WordNumber::End(number) => self.words + number,
        }
    }

    fn is_full(&self) -> bool {
        self.count == MARKS_MAX || self.of.is_empty()
    }

    fn add(&mut self, word: WordNumber, token: &Token<'_>) {
        if self.is_full() {
            return;
        }
        self.count += 1;
        let word = self.number(word);
        let Mark { start, end, .. } = Mark::of(token.start, token.end, 0);
        self.of[word].push(WordPlace {
            position: token.position,
            start,
            end,
            found: false,
        });
    }

    /// Finds every occurrence of a phrase: one for each place that can be its least origin.
    fn find(&mut self, phrase: &Phrase, steps: &mut Steps<'_>) -> Result<()> {
        // Where all origins are the same, those of one term are all there are.
        let leading = if phrase.slop == 0 { 1 } else { usize::MAX };
        let mut together = Vec::with_capacity(phrase.terms.len());
        for (word, offset) in phrase.terms.iter().take(leading) {
            let word = self.number(*word);
            for at in 0..self.of[word].len() {
                let least = origin(&self.of[word][at], *offset);
                if self.together(phrase, least, &mut together, steps)? {
                    for ((word, _), at) in phrase.terms.iter().zip(&together) {
                        let word = self.number(*word);
                        self.of[word][*at].found = true;
                    }
                }
            }
        }
        Ok(())
    }

    /// For each term its first place with an origin within the slop from `least` on. Tells whether
    /// all have one.
    fn together(
        &self,
        phrase: &Phrase,
        least: i64,
        out: &mut Vec<usize>,
        steps: &mut Steps<'_>,
    ) -> Result<bool> {
        let greatest = least + i64::from(phrase.slop);
        out.clear();
        for (word, offset) in &phrase.terms {
            steps.count(TOKEN_STEPS)?;
            let places = &self.of[self.number(*word)];
            let at = places.partition_point(|place| origin(place, *offset) < least);
            match places.get(at) {
                Some(place) if origin(place, *offset) <= greatest => out.push(at),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Marks what was found, as long as there are fewer marks than `most`.
    fn mark(&mut self, what: usize, most: usize, marks: &mut Vec<Mark>) {
        for place in self.of.iter_mut().flatten() {
            if std::mem::take(&mut place.found) && marks.len() < most {
                marks.push(Mark {
                    start: place.start,
                    end: place.end,
                    what: what as u32,
                });
            }
        }
    }
}

/// The position at which a phrase would begin if a term `offset` behind its beginning stands here.
fn origin(place: &WordPlace, offset: u32) -> i64 {
    i64::from(place.position) - i64::from(offset)
}
