//! What to mark in a text, and where it is.
//!
//! The terms of a phrase are marked only where the whole phrase stands, unless they are wanted by themselves
//! too.

use rustc_hash::FxHashMap;

use crate::analysis::{Analyzer, Scratch, Token};

/// A condition on a term: a prefix, a pattern, a distance.
type Condition = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// What a query looks for in one field.
#[derive(Default)]
pub struct Wanted {
    /// Terms and their numbers.
    terms: FxHashMap<String, usize>,
    conditions: Vec<Condition>,
    phrases: Vec<WantedPhrase>,
}

/// A phrase as the field's analyzer gave it.
#[derive(Clone, Debug, Default)]
pub struct WantedPhrase {
    /// Its terms and their positions.
    pub terms: Vec<(String, u32)>,
    /// How many positions the terms may be moved in all.
    pub slop: u32,
}

/// A place to mark: bytes of the text, and the number of what is wanted there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub start: usize,
    pub end: usize,
    pub what: usize,
}

impl Wanted {
    /// Wants a term as it is indexed.
    pub fn term(&mut self, term: impl Into<String>) {
        let next = self.terms.len();
        self.terms.entry(term.into()).or_insert(next);
    }

    /// Wants every term for which `condition` holds.
    #[cfg(test)]
    pub fn terms_that(&mut self, condition: impl Fn(&str) -> bool + Send + Sync + 'static) {
        self.conditions.push(Box::new(condition));
    }

    /// Wants the terms of a phrase where they stand together.
    pub fn phrase(&mut self, phrase: WantedPhrase) {
        self.phrases.push(phrase);
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.conditions.is_empty() && self.phrases.is_empty()
    }

    /// The marks of `text` in order, none overlapping.
    pub(super) fn marks(
        &self,
        analyzer: &Analyzer,
        text: &str,
        scratch: &mut Scratch,
    ) -> Vec<Mark> {
        let mut marks = Vec::new();
        if self.is_empty() {
            return marks;
        }
        let mut sightings: Vec<Sightings<'_>> = self.phrases.iter().map(Sightings::new).collect();
        analyzer.analyze(text, scratch, |token| {
            let Token { start, end, .. } = token;
            if let Some(what) = self.number_of(token.text) {
                marks.push(Mark { start, end, what });
            }
            sightings.iter_mut().for_each(|seen| seen.see(&token));
        });
        let first = self.terms.len() + self.conditions.len();
        for (number, seen) in sightings.iter().enumerate() {
            seen.marks(first + number, &mut marks);
        }
        marks.sort_unstable();
        marks.dedup_by_key(|mark| mark.start);
        marks
    }

    fn number_of(&self, term: &str) -> Option<usize> {
        if let Some(&number) = self.terms.get(term) {
            return Some(number);
        }
        let condition = self.conditions.iter().position(|holds| holds(term))?;
        Some(self.terms.len() + condition)
    }
}

/// Where the terms of a phrase were seen.
struct Sightings<'a> {
    phrase: &'a WantedPhrase,
    /// For each term of the phrase its occurrences in order.
    places: Vec<Vec<Place>>,
}

/// An occurrence of a term. `origin` is where the phrase would begin by it; terms of one exact occurrence of
/// the phrase share their origin, and slop is how far apart origins may be.
#[derive(Clone, Copy)]
struct Place {
    origin: i64,
    start: usize,
    end: usize,
}

impl<'a> Sightings<'a> {
    fn new(phrase: &'a WantedPhrase) -> Sightings<'a> {
        let places = vec![Vec::new(); phrase.terms.len()];
        Sightings { phrase, places }
    }

    fn see(&mut self, token: &Token<'_>) {
        for ((term, position), places) in self.phrase.terms.iter().zip(&mut self.places) {
            if token.text == term {
                places.push(Place {
                    origin: i64::from(token.position) - i64::from(*position),
                    start: token.start,
                    end: token.end,
                });
            }
        }
    }

    /// Marks every occurrence of the phrase: one for each place that can be its least origin.
    fn marks(&self, what: usize, marks: &mut Vec<Mark>) {
        for place in self.places.iter().flatten() {
            if let Some(together) = self.together(place.origin) {
                marks.extend(together.iter().map(|&Place { start, end, .. }| Mark {
                    start,
                    end,
                    what,
                }));
            }
        }
    }

    /// For each term its first place with an origin within the slop from `least` on, if all have one.
    fn together(&self, least: i64) -> Option<Vec<Place>> {
        let greatest = least + i64::from(self.phrase.slop);
        let nearest = |places: &Vec<Place>| {
            let at = places.partition_point(|place| place.origin < least);
            places
                .get(at)
                .copied()
                .filter(|place| place.origin <= greatest)
        };
        self.places.iter().map(nearest).collect()
    }
}
