//! One form for text that can be written in several.
//!
//! Unicode writes `é` as one character (NFC) or as a letter and an accent (NFD, as some systems
//! name files). An apostrophe is `'` or one of the quotation marks that keyboards and programs put
//! in its place. Terms have NFC and `'`. A variation selector, which only says whether a sign is
//! shown in colour, is no part of a word.
//!
//! Tokens are changed one by one, so that offsets are those of the source. Invariant: texts that
//! are canonically equivalent give the same terms. A quick check leaves text alone that is in NFC
//! already; text in ASCII does not come here.

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::prefix_length;

/// Below it, every text is in NFC.
const FIRST_MARK: char = '\u{300}';

/// The most bytes of a character of NFC that is written in another form.
const BYTES_OF_CHARACTER_MAX: usize = 12;

/// Appends `text` in its one form to `out`, each character as `change` makes it.
#[inline]
pub(super) fn push_word(text: &str, change: impl Fn(char) -> char, out: &mut String) {
    let kept = |c: &char| !is_variation_selector(*c);
    let change = |c| change(plain_apostrophe(c));
    // Marks on both sides of a selector come to stand side by side, and may be in no order.
    if is_nfc(text) && !text.contains(is_variation_selector) {
        out.extend(text.chars().map(change));
    } else {
        // Once more behind: a changed letter may compose with what follows.
        out.extend(text.nfc().filter(kept).map(change).nfc());
    }
}

/// `text` in NFC and with plain apostrophes, in `buffer` if it was not.
pub(super) fn canonical<'a>(text: &'a str, buffer: &'a mut String) -> &'a str {
    if text.is_ascii() || !text.contains(is_apostrophe) && is_nfc(text) {
        return text;
    }
    buffer.clear();
    buffer.extend(text.nfc().map(plain_apostrophe));
    buffer
}

/// The same text in NFC and in NFD, as far as these are not how it is written.
pub(crate) fn other_forms(text: &str) -> impl Iterator<Item = String> {
    let forms = [text.nfc().collect::<String>(), text.nfd().collect()];
    forms.into_iter().filter(move |form| form != text)
}

/// `text` in NFC.
pub(super) fn nfc(text: &str) -> String {
    text.nfc().collect()
}

/// Returns true if a quick check proves that `text` is in NFC.
pub(super) fn is_nfc(text: &str) -> bool {
    text.chars().all(|c| c < FIRST_MARK) || is_nfc_quick(text.chars()) == IsNormalized::Yes
}

/// Returns true if `c` is a mark that belongs to the letter before it.
pub(super) fn is_mark(c: char) -> bool {
    c >= FIRST_MARK && is_combining_mark(c)
}

/// One of the signs that stand for an apostrophe; between letters, each joins them.
#[inline]
pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '‘' | '’' | '＇')
}

#[inline]
fn plain_apostrophe(c: char) -> char {
    if is_apostrophe(c) { '\'' } else { c }
}

#[inline]
fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// The most bytes that a text takes which has `characters` characters in NFC.
pub(super) const fn bytes_of(characters: usize) -> usize {
    characters * BYTES_OF_CHARACTER_MAX
}

/// The length in bytes of the longest beginning of `text` that has at most `characters` characters
/// in NFC and ends where one of these ends. A letter with more marks than that is cut inside.
pub(super) fn composed_prefix(text: &str, characters: usize) -> usize {
    if text.len() <= characters {
        return text.len();
    }
    let text = &text[..floor_boundary(text, bytes_of(characters + 1))];
    if is_nfc(text) {
        return prefix_length(text, characters);
    }
    let inner = text.char_indices().skip(1);
    let inner = inner
        .filter(|(_, c)| begins_character(*c))
        .map(|(at, _)| at);
    let (mut end, mut count) = (0, 0);
    for next in inner.chain([text.len()]) {
        count += text[end..next].nfc().count();
        if count > characters {
            break;
        }
        end = next;
    }
    match end {
        0 => prefix_length(text, characters),
        _ => end,
    }
}

/// Returns true if `c` never composes with the character before it.
fn begins_character(c: char) -> bool {
    c < FIRST_MARK
        || canonical_combining_class(c) == 0
            && is_nfc_quick(std::iter::once(c)) == IsNormalized::Yes
}

/// The last boundary between characters at or before byte `at`.
pub(super) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_in_lowercase_needs_no_second_look_where_the_quick_check_passed() {
        let lower = |c: char| c.to_lowercase().next().unwrap_or(c);
        let all = ('\0'..=char::MAX).filter(|c| is_nfc(c.encode_utf8(&mut [0; 4])));
        for c in all {
            assert!(is_nfc(lower(c).encode_utf8(&mut [0; 4])), "{c:?}");
        }
    }

    #[test]
    fn other_forms_are_those_that_differ() {
        let of = |text| other_forms(text).collect::<Vec<_>>();
        assert_eq!(of("plain-1"), Vec::<String>::new());
        assert_eq!(of("é"), ["e\u{301}"]);
        assert_eq!(of("e\u{301}"), ["é"]);
        assert_eq!(of("éo\u{308}"), ["éö", "e\u{301}o\u{308}"]);
    }

    #[test]
    fn a_beginning_ends_between_characters_of_nfc() {
        let nfd = "e\u{301}".repeat(4);
        assert_eq!(composed_prefix("abcd", 3), 3);
        assert_eq!(composed_prefix("éééé", 3), 6);
        assert_eq!(composed_prefix(&nfd, 3), 9);
        assert_eq!(composed_prefix(&nfd, 9), nfd.len());
        let marked = format!("e{}", "\u{316}".repeat(9));
        assert_eq!(composed_prefix(&marked, 3), 5, "a letter with many marks");
    }
}
