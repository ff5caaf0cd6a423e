//! Counts the occurrences of a phrase, given the positions of its terms in one document.
//!
//! Every term has its *place* in the phrase (words that analysis left out count), and every
//! occurrence of a term an *origin*: its position less its place. Where all origins are equal
//! stands the exact phrase.
//!
//! With slop, a match is a smallest window of origins that has one of each term and in which no
//! token serves two terms: a window that has no smaller one inside. Its width, the greatest origin
//! less the least, says how far the words must be moved; it counts if that is at most the slop,
//! with the weight 1 / (1 + width). This is Lucene's distance; for phrases that repeat a word
//! Lucene may pair the repetitions otherwise.

use rustc_hash::FxHashSet;

use crate::base::{Result, Steps};

/// One term of a phrase.
#[derive(Clone, Copy, Debug)]
pub struct PhraseTerm {
    /// Its place in the phrase.
    pub place: u32,
    /// The index of its word among the phrase's distinct words.
    pub word: usize,
}

/// A phrase in one document.
#[derive(Clone, Copy)]
pub struct Occurrences<'a> {
    /// The terms in the order of their places.
    pub terms: &'a [PhraseTerm],
    /// The positions of each distinct word in the document, ascending.
    pub positions: &'a [Vec<u32>],
    /// Set if two words may be the same token, because one stands for any of several terms.
    pub overlap: bool,
}

impl Occurrences<'_> {
    /// The frequency of the phrase with `slop`, weighted as said above.
    pub fn frequency(self, slop: u32, steps: &mut Steps<'_>) -> Result<f32> {
        match slop {
            0 => Ok(self.exact(steps)? as f32),
            _ => self.sloppy(slop, steps),
        }
    }

    /// Origins that all terms have: those of the rarest term, looked for among the others'.
    fn exact(self, steps: &mut Steps<'_>) -> Result<u32> {
        let by_count = |term: &&PhraseTerm| self.positions[term.word].len();
        let Some(rarest) = self.terms.iter().min_by_key(by_count) else {
            return Ok(0);
        };
        let mut count = 0;
        for position in &self.positions[rarest.word] {
            // Below 0 where the phrase would begin before the text.
            let origin = *position as i64 - rarest.place as i64;
            let mut terms = self.terms.iter();
            let missing = terms.position(|term| !self.has_origin(term, origin));
            steps.count(1 + missing.unwrap_or(self.terms.len()))?;
            count += u32::from(missing.is_none());
        }
        Ok(count)
    }

    fn has_origin(self, term: &PhraseTerm, origin: i64) -> bool {
        let position = u32::try_from(origin + term.place as i64);
        let positions = &self.positions[term.word];
        position.is_ok_and(|position| positions.binary_search(&position).is_ok())
    }

    fn origin(self, term: &PhraseTerm, at: usize) -> Option<i64> {
        let position = self.positions[term.word].get(at)?;
        Some(*position as i64 - term.place as i64)
    }

    /// Walks the windows by their least origins. Each term stands on its first origin from the
    /// least on, so that the greatest is as small as can be; a window is smallest if leaving its
    /// least origins makes it longer at the other end.
    fn sloppy(self, slop: u32, steps: &mut Steps<'_>) -> Result<f32> {
        let mut tokens = PhraseTokens::new(self);
        let mut frequency = 0f32;
        let mut here = tokens.window(steps)?;
        while let Some((least, greatest)) = here {
            tokens.leave(least);
            here = tokens.window(steps)?;
            let width = greatest - least;
            let smallest = here.is_none_or(|(_, next)| next > greatest);
            if smallest && width <= slop as i64 {
                frequency += 1.0 / (1.0 + width as f32);
            }
        }
        Ok(frequency)
    }
}

/// The tokens that the terms of a phrase stand on.
struct PhraseTokens<'a> {
    phrase: Occurrences<'a>,
    /// The place of each term's token among the positions of its word.
    at: Vec<usize>,
    /// Set if two terms may stand on one token.
    repeats: bool,
    /// Tokens that a term stands on: their words, or 0 where these overlap, and positions.
    taken: FxHashSet<(usize, u32)>,
}

impl<'a> PhraseTokens<'a> {
    /// Each term on the first token of its word.
    fn new(phrase: Occurrences<'a>) -> PhraseTokens<'a> {
        PhraseTokens {
            at: vec![0; phrase.terms.len()],
            repeats: phrase.overlap || phrase.terms.len() > phrase.positions.len(),
            taken: FxHashSet::default(),
            phrase,
        }
    }

    /// Moves the terms on that stand on this origin.
    fn leave(&mut self, origin: i64) {
        for (term, at) in self.phrase.terms.iter().zip(&mut self.at) {
            *at += usize::from(self.phrase.origin(term, *at) == Some(origin));
        }
    }

    /// The least and the greatest origin, once each term has a token of its own; nothing if one has
    /// none left.
    fn window(&mut self, steps: &mut Steps<'_>) -> Result<Option<(i64, i64)>> {
        steps.count(self.at.len())?;
        if self.repeats {
            self.part(steps)?;
        }
        let mut window = None;
        for (term, at) in self.phrase.terms.iter().zip(&self.at) {
            let Some(origin) = self.phrase.origin(term, *at) else {
                return Ok(None);
            };
            let (least, greatest) = window.unwrap_or((origin, origin));
            window = Some((origin.min(least), origin.max(greatest)));
        }
        Ok(window)
    }

    /// Separates terms that stand on one token: the later in the phrase moves on to the next free
    /// token.
    fn part(&mut self, steps: &mut Steps<'_>) -> Result<()> {
        self.taken.clear();
        for (term, at) in self.phrase.terms.iter().zip(&mut self.at) {
            let word = if self.phrase.overlap { 0 } else { term.word };
            let tokens = &self.phrase.positions[term.word];
            while let Some(position) = tokens.get(*at)
                && !self.taken.insert((word, *position))
            {
                *at += 1;
                steps.count(1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `phrase` and `text` are words of one letter.
    fn frequency(phrase: &str, text: &str, slop: u32) -> f32 {
        let positions_of = |wanted: char| -> Vec<u32> {
            let all = text.chars().enumerate();
            let found = all.filter(|(_, letter)| *letter == wanted);
            found.map(|(at, _)| at as u32).collect()
        };
        let places = phrase.chars().enumerate();
        let places = places.filter(|(_, letter)| *letter != '_');
        let mut words: Vec<char> = places.clone().map(|(_, letter)| letter).collect();
        words.sort_unstable();
        words.dedup();
        let terms: Vec<PhraseTerm> = places
            .map(|(place, letter)| PhraseTerm {
                place: place as u32,
                word: words.binary_search(&letter).unwrap(),
            })
            .collect();
        let positions: Vec<Vec<u32>> = words.iter().map(|word| positions_of(*word)).collect();
        let occurrences = Occurrences {
            terms: &terms,
            positions: &positions,
            overlap: false,
        };
        occurrences.frequency(slop, &mut Steps::default()).unwrap()
    }

    #[test]
    fn exact_phrases_are_counted_and_holes_are_kept() {
        assert_eq!(frequency("ab", "abxab", 0), 2.0);
        assert_eq!(frequency("ab", "axb", 0), 0.0);
        assert_eq!(frequency("a_b", "axbab", 0), 1.0);
        assert_eq!(frequency("aa", "aaa", 0), 2.0);
    }

    #[test]
    fn slop_weighs_by_distance() {
        assert_eq!(frequency("ab", "axb", 1), 0.5);
        assert_eq!(frequency("ab", "axxb", 1), 0.0);
        assert_eq!(frequency("ab", "ba", 2), 1.0 / 3.0);
        assert_eq!(frequency("ab", "ab", 3), 1.0);
        assert_eq!(frequency("abc", "acb", 2), 1.0 / 3.0);
        assert_eq!(frequency("ab", "abxxxa", 4), 1.0);
    }

    #[test]
    fn a_word_that_is_any_of_several_terms_shares_no_token_with_another() {
        let terms = [0, 1].map(|at| PhraseTerm {
            place: at as u32,
            word: at,
        });
        let sloppy = |positions: [Vec<u32>; 2]| {
            let occurrences = Occurrences {
                terms: &terms,
                positions: &positions,
                overlap: true,
            };
            occurrences.frequency(3, &mut Steps::default()).unwrap()
        };
        assert_eq!(sloppy([vec![0], vec![0]]), 0.0);
        assert_eq!(sloppy([vec![0], vec![0, 1]]), 1.0);
        assert_eq!(sloppy([vec![0, 4], vec![0, 4]]), 0.25);
    }

    #[test]
    fn no_token_serves_twice() {
        assert_eq!(frequency("aa", "a", 5), 0.0);
        assert_eq!(frequency("aa", "axa", 1), 0.5);
        // Without its first two tokens, the third `a` of the phrase has none left.
        assert_eq!(frequency("abaa", "aaxaxxxxb", 8), 1.0 / 9.0);
    }
}
