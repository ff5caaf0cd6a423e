//! A bounded memory of stems: text repeats its words, and a Snowball stemmer takes far longer than a look-up.

use std::hash::BuildHasher;

use frostem::{Algorithm, Stemmer};
use rustc_hash::FxBuildHasher;

/// Places for words; a word has one place and takes it from whatever was there.
const PLACES: usize = 4096;

/// Longer words are stemmed afresh, which bounds what the memory can grow to (about half a mebibyte).
const MAX_WORD_BYTES: usize = 32;

/// The stems of the words seen last, for one algorithm at a time.
#[derive(Debug, Default)]
pub(super) struct Memo {
    algorithm: Option<Algorithm>,
    places: Vec<Place>,
    long: String,
}

#[derive(Clone, Debug, Default)]
struct Place {
    word: String,
    stem: String,
}

impl Memo {
    /// The stem of the lowercase, non-empty `word`.
    pub fn stem(&mut self, algorithm: Algorithm, word: &str) -> &str {
        if word.len() > MAX_WORD_BYTES {
            self.long = Stemmer::new(algorithm).stem(word).into_owned();
            return &self.long;
        }
        self.prepare(algorithm);
        let hash = FxBuildHasher.hash_one(word) as usize;
        let place = &mut self.places[hash % PLACES];
        if place.word != word {
            place.learn(algorithm, word);
        }
        &place.stem
    }

    fn prepare(&mut self, algorithm: Algorithm) {
        if self.algorithm != Some(algorithm) {
            self.algorithm = Some(algorithm);
            self.places.clear();
            self.places.resize(PLACES, Place::default());
        }
    }
}

impl Place {
    fn learn(&mut self, algorithm: Algorithm, word: &str) {
        self.word.clear();
        self.word.push_str(word);
        self.stem.clear();
        self.stem.push_str(&Stemmer::new(algorithm).stem(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_for_one_algorithm_at_a_time() {
        let mut memo = Memo::default();
        for _ in 0..2 {
            assert_eq!(memo.stem(Algorithm::English, "running"), "run");
            assert_eq!(memo.stem(Algorithm::German, "running"), "running");
        }
        let long = format!("{}ing", "ab".repeat(30));
        assert_eq!(memo.stem(Algorithm::English, &long), "ab".repeat(30));
    }
}
