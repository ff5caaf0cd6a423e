//! Stems of words, remembered: text repeats its words, and stemming one takes several times as long
//! as finding it in a small table.
//!
//! Each word has one place in the table and takes it from whatever was there, so the table never
//! grows. A place is half a cache line; words or stems that do not fit are stemmed afresh.

use std::hash::BuildHasher;

use frostem::{Algorithm, Stemmer};
use rustc_hash::FxBuildHasher;

use super::porter::Porter;

/// Places in the table, which takes 512 KiB: with a quarter of them English is a third slower.
const PLACES: usize = 16384;

/// The longest word and stem that a place holds.
const PLACE_BYTES: usize = 15;

/// The choice of a stemmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stemming {
    /// Lucene's form of Porter's.
    Porter,
    /// One of Snowball's.
    Snowball(Algorithm),
}

/// A stemmer with a memory, for one kind of stemming at a time.
#[derive(Debug, Default)]
pub(super) struct Stems {
    stemming: Option<Stemming>,
    places: Vec<StemPlace>,
    porter: Porter,
    long: String,
}

impl Stems {
    /// Bytes that the table takes.
    pub const MEMORY_BYTES: usize = PLACES * size_of::<StemPlace>();

    /// The stem of the lowercase `word`.
    #[inline]
    pub fn stem(&mut self, stemming: Stemming, word: &str) -> &str {
        if self.stemming != Some(stemming) {
            self.start(stemming);
        }
        let at = FxBuildHasher.hash_one(word) as usize % PLACES;
        if !self.places[at].word.holds(word) {
            let stem = match stemming {
                Stemming::Porter => self.porter.stem(word),
                Stemming::Snowball(algorithm) => {
                    self.long = Stemmer::new(algorithm).stem(word).into_owned();
                    &self.long
                }
            };
            if word.len() > PLACE_BYTES || stem.len() > PLACE_BYTES {
                return stem;
            }
            self.places[at].word.set(word);
            self.places[at].stem.set(stem);
        }
        self.places[at].stem.text()
    }

    fn start(&mut self, stemming: Stemming) {
        self.stemming = Some(stemming);
        self.places.clear();
        self.places.resize(PLACES, StemPlace::default());
    }
}

/// A word and its stem; before the first word both are empty, as the stem of an empty word is.
#[derive(Clone, Debug, Default)]
#[repr(align(32))]
struct StemPlace {
    word: Short,
    stem: Short,
}

/// A text of at most [`PLACE_BYTES`].
#[derive(Clone, Debug, Default)]
struct Short {
    length: u8,
    bytes: [u8; PLACE_BYTES],
}

impl Short {
    #[inline]
    fn holds(&self, text: &str) -> bool {
        self.bytes[..self.length as usize] == *text.as_bytes()
    }

    fn set(&mut self, text: &str) {
        self.length = text.len() as u8;
        self.bytes[..text.len()].copy_from_slice(text.as_bytes());
    }

    #[inline]
    fn text(&self) -> &str {
        // It was set from text, so this cannot fail; the check is what safe code pays for it.
        std::str::from_utf8(&self.bytes[..self.length as usize]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_for_one_stemmer_at_a_time() {
        let mut stems = Stems::default();
        let mut check = |stemming, word: &str, expected: &str| {
            for _ in 0..2 {
                assert_eq!(stems.stem(stemming, word), expected);
            }
        };
        for _ in 0..2 {
            check(Stemming::Snowball(Algorithm::English), "running", "run");
            check(Stemming::Snowball(Algorithm::German), "running", "running");
            check(Stemming::Porter, "as", "as");
            check(Stemming::Porter, "", "");
        }
        let long = "ab".repeat(8);
        check(Stemming::Porter, &format!("{long}ing"), &long);
    }

    #[test]
    fn words_that_share_a_place_keep_their_own_stems() {
        let mut stems = Stems::default();
        for round in 0..2 {
            for number in 0..20_000 {
                let word = format!("word{number}ing");
                let stem = Porter::default().stem(&word).to_string();
                assert_eq!(stems.stem(Stemming::Porter, &word), stem, "round {round}");
            }
        }
    }
}
