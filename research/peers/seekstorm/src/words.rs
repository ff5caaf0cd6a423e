//! The words of the Unicode standard (UAX #29), lowercased, with blanks between: SeekStorm then
//! splits a text at white space and has the very terms that Gannet has. Exceptions are emoji, and
//! words that Gannet brings to NFC or gives another apostrophe.

use unicode_segmentation::UnicodeSegmentation;

/// Words of this many bytes or more are left out: Gannet cuts them there instead.
pub const WORD_BYTES: usize = 256;

/// The words of a text, with a blank behind each.
pub fn spaced(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.unicode_words().filter(|word| word.len() < WORD_BYTES) {
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}
