//! Words as the Unicode standard cuts them (UAX #29), the tokenizer under `standard` and the
//! languages.
//!
//! The rules themselves are the `unicode-segmentation` crate's. Most text is ASCII, though, where
//! they come down to a table of byte classes, and that is several times faster. Invariant:
//! [`Words`] gives exactly the words of `unicode_word_indices` and the emoji between them, whatever
//! the mixture, up to the cut of words longer than 255 characters. A property test compares them.
//! It holds because a word depends only on the text from its own start on: wherever the fast path
//! sees, or would have to look at, a character outside ASCII, the crate decides.

use unicode_segmentation::UnicodeSegmentation;

use super::MAX_TOKEN_CHARACTERS;
use super::emoji::is_emoji;
use super::forms::{bytes_of, composed_prefix, floor_boundary};

/// A word's place in the text in bytes, and what it takes to lowercase it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub start: usize,
    pub end: usize,
    pub case: Case,
}

/// The case of a word's letters, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// ASCII without capitals: its own lowercase.
    Lower,
    /// ASCII with capitals.
    Capitals,
    /// Anything else.
    Unicode,
}

/// The words of a text in order.
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str) -> Words<'a> {
        Words { text, at: 0 }
    }

    /// The word that the full rules find here, if what they find is a word.
    #[cold]
    fn by_full_rules(&mut self) -> Option<Word> {
        let start = self.at;
        let piece = first_piece(&self.text[start..]);
        self.at += piece.len();
        let is_word = piece.contains(char::is_alphanumeric) || is_emoji(piece);
        is_word.then_some(Word {
            start,
            end: self.at,
            case: Case::Unicode,
        })
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    #[inline]
    fn next(&mut self) -> Option<Word> {
        let bytes = self.text.as_bytes();
        while let Some(&first) = bytes.get(self.at) {
            let start = self.at;
            let piece = match CLASS[first as usize] & CORE {
                0 => ascii_gap(&bytes[start..]),
                _ => ascii_word(&bytes[start..bytes.len().min(start + MAX_TOKEN_CHARACTERS)]),
            };
            let Some((length, seen)) = piece else {
                match self.by_full_rules() {
                    Some(word) => return Some(word),
                    None => continue,
                }
            };
            self.at += length;
            if seen & (LOWER | CAPITAL | DIGIT) != 0 {
                let case = match seen & CAPITAL {
                    0 => Case::Lower,
                    _ => Case::Capitals,
                };
                let end = self.at;
                return Some(Word { start, end, case });
            }
        }
        None
    }
}

const LOWER: u8 = 1;
const CAPITAL: u8 = 2;
const DIGIT: u8 = 4;
const UNDERSCORE: u8 = 8;
/// Joins two letters.
const MID_LETTER: u8 = 16;
/// Joins two digits.
const MID_NUMBER: u8 = 32;
const OUTSIDE_ASCII: u8 = 64;

const LETTER: u8 = LOWER | CAPITAL;
/// The classes of characters that words are made of.
const CORE: u8 = LETTER | DIGIT | UNDERSCORE;

/// The word-break property of every byte.
const CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => CAPITAL,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' | b'\'' => MID_LETTER | MID_NUMBER,
            b':' => MID_LETTER,
            b',' | b';' => MID_NUMBER,
            0x80.. => OUTSIDE_ASCII,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// The length of the word that `window` begins with and the classes seen in it, or nothing if that
/// depends on a character outside ASCII.
#[inline]
fn ascii_word(window: &[u8]) -> Option<(usize, u8)> {
    let mut seen = 0;
    let mut last = 0;
    let mut end = 0;
    while let Some(&byte) = window.get(end) {
        let class = CLASS[byte as usize];
        if class & CORE != 0 {
            seen |= class;
        } else if class == 0 {
            break;
        } else if class == OUTSIDE_ASCII {
            return None;
        } else {
            let next = window.get(end + 1).map_or(0, |&next| CLASS[next as usize]);
            if next == OUTSIDE_ASCII {
                return None;
            }
            if !joins(class, last, next) {
                break;
            }
        }
        last = class;
        end += 1;
    }
    Some((end, seen))
}

/// Returns true if punctuation of `class` joins the neighbours `last` and `next`.
#[inline]
fn joins(class: u8, last: u8, next: u8) -> bool {
    let both = |kind: u8| last & kind != 0 && next & kind != 0;
    (class & MID_LETTER != 0 && both(LETTER)) || (class & MID_NUMBER != 0 && both(DIGIT))
}

/// The length of what lies between words here, or nothing if a character outside ASCII could attach
/// itself.
///
/// Spaces are one piece (WB3d), so that what follows them attaches to the whole run.
#[inline]
fn ascii_gap(rest: &[u8]) -> Option<(usize, u8)> {
    let mut end = 1;
    while rest[0] == b' ' && rest.get(end) == Some(&b' ') {
        end += 1;
    }
    let attaches = !rest[0].is_ascii() || rest.get(end).is_some_and(|byte| !byte.is_ascii());
    (!attaches).then_some((end, 0))
}

/// The piece that the full rules cut off the front of `rest`, at most 255 characters of NFC.
fn first_piece(rest: &str) -> &str {
    // The crate sees only as much as a piece can need: a text of one word would cost its length at
    // each cut.
    let clipped = &rest[..floor_boundary(rest, bytes_of(MAX_TOKEN_CHARACTERS + 1))];
    let piece = front(clipped);
    let limit = composed_prefix(piece, MAX_TOKEN_CHARACTERS);
    if limit < piece.len() {
        front(&piece[..limit])
    } else {
        piece
    }
}

fn front(text: &str) -> &str {
    text.split_word_bounds().next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<(usize, &str)> {
        let words = Words::new(text);
        words.map(|w| (w.start, &text[w.start..w.end])).collect()
    }

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = words(text).into_iter().map(|(_, word)| word).collect();
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(words(text), by_the_crate(text), "{text:?}");
    }

    /// The words that the crate finds, and the pieces between them that are emoji.
    fn by_the_crate(text: &str) -> Vec<(usize, &str)> {
        let is_word = |piece: &str| piece.contains(char::is_alphanumeric) || is_emoji(piece);
        let pieces = text.split_word_bound_indices();
        pieces.filter(|(_, piece)| is_word(piece)).collect()
    }

    #[test]
    fn words_of_many_scripts() {
        check("", &[]);
        check(" \r\n\t..__ '' ", &[]);
        check(
            "The foxes' don't, e.g. 3.14 1,000;5 a:b",
            &["The", "foxes", "don't", "e.g", "3.14", "1,000;5", "a:b"],
        );
        check(
            "foo_bar _x_ 10.0.0.1:80 a.1 1.a U.S.A.",
            &[
                "foo_bar", "_x_", "10.0.0.1", "80", "a", "1", "1", "a", "U.S.A",
            ],
        );
        check("naïve café’s — dash", &["naïve", "café’s", "dash"]);
        check("Привет, мир!", &["Привет", "мир"]);
        check("שלום עולם צה\"ל", &["שלום", "עולם", "צה\"ל"]);
        check("東京タワー", &["東", "京", "タワー"]);
        check("ひら 한국어", &["ひ", "ら", "한국어"]);
        check("x\u{301}y 👩‍👩‍👧 ok", &["x\u{301}y", "👩‍👩‍👧", "ok"]);
        check("a.\u{301}b a'é", &["a.\u{301}b", "a'é"]);
    }

    #[test]
    fn a_word_of_more_than_255_characters_is_cut() {
        let lengths = |text: &str| {
            let words = Words::new(text);
            words
                .map(|w| text[w.start..w.end].chars().count())
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&"a".repeat(255)), [255]);
        assert_eq!(lengths(&"a".repeat(600)), [255, 255, 90]);
        assert_eq!(lengths(&"é".repeat(600)), [255, 255, 90]);
        assert_eq!(
            lengths(&format!("{}.b", "a".repeat(254))),
            [254, 1],
            "a dot that joins across the cut is between words"
        );
        assert_eq!(lengths(&"𝒳".repeat(256)), [255, 1]);
        assert_eq!(
            lengths(&"e\u{301}".repeat(256)),
            [510, 2],
            "as the same in NFC"
        );
        let syllable = "\u{1112}\u{1161}\u{11ab}";
        assert_eq!(lengths(&syllable.repeat(256)), [765, 3]);
        let marked = format!("e{}", "\u{316}".repeat(600));
        assert_eq!(lengths(&marked)[0], 255);
    }

    #[test]
    fn an_emoji_is_one_word_whatever_stands_beside_it() {
        check("🚀🚀 go🚀!", &["🚀", "🚀", "go", "🚀"]);
        check("🇩🇪🇫🇷 👍🏽👍", &["🇩🇪", "🇫🇷", "👍🏽", "👍"]);
        check("❤️‍🔥—🏴󠁧󠁢󠁥󠁮󠁧󠁿", &["❤️‍🔥", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]);
        check("1️⃣ #️⃣ # 3 * ©™ ©️", &["1️⃣", "#️⃣", "3"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn the_fast_path_gives_the_words_of_the_full_rules(
            text in "([a-zA-Z]{1,4}|[0-9]{1,3}|['.,:;_\"]|[ ]{1,2}|[\r\n\t!-]|[éßñİǅ]|[’‘“—…・]|[\u{300}\u{301}\u{345}\u{ad}\u{200d}]|[👩🏽🇩🇪❤\u{fe0f}]|[אבגد٣]|[東京あアー]|[한국ไทक्]|[²①Ⅳ½]|[\u{a0}\u{2003}\u{2028}\u{85}]){0,24}"
        ) {
            prop_assert_eq!(words(&text), by_the_crate(&text));
        }

        #[test]
        fn any_text_is_cut_as_by_the_full_rules(text in "\\PC{0,40}") {
            prop_assert_eq!(words(&text), by_the_crate(&text));
        }
    }
}
