//! Signs that are words: emoji, as in Lucene's standard tokenizer.
//!
//! The rules that cut text into words (UAX #29) keep an emoji whole with its skin tone, its
//! variation selector, the keycap around it and what is joined to it; two flags are two. So all
//! that is to be told is whether what they cut off is an emoji. Signs of business and typography
//! that may be shown as emoji (`©`, `™`, `#`, `*`, digits) are not.

use unicode_properties::UnicodeEmoji;
use unicode_properties::emoji::is_regional_indicator;

use super::forms::{is_nfc, nfc};

/// The square of a keycap, around the character before it.
const KEYCAP: char = '\u{20e3}';

/// Below it, no sign is an emoji.
const FIRST_EMOJI: char = '\u{203c}';

/// Reports whether `piece`, a piece of text without a letter or a digit, is an emoji.
pub(super) fn is_emoji(piece: &str) -> bool {
    let mut characters = piece.chars();
    match characters.next() {
        Some('#' | '*') => characters.any(|c| c == KEYCAP),
        Some('™' | '〰' | '〽') => false,
        Some(first) if is_regional_indicator(first) => characters.any(is_regional_indicator),
        Some(first) => first >= FIRST_EMOJI && first.is_emoji_char() && is_whole(first, piece),
        None => false,
    }
}

/// Reports whether `piece` begins with `first` in NFC too: a sign that is struck through is
/// another.
fn is_whole(first: char, piece: &str) -> bool {
    is_nfc(piece) || nfc(piece).starts_with(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_their_own_are_emoji_and_those_of_typography_are_not() {
        for yes in [
            "🚀",
            "❤",
            "❤️",
            "#️⃣",
            "*⃣",
            "🇩🇪",
            "👩‍👩‍👧",
            "👍🏽",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
            "🏽",
            "☎",
        ] {
            assert!(is_emoji(yes), "{yes}");
        }
        for no in [
            "",
            "↔\u{338}",
            "#",
            "*",
            "#\u{fe0f}",
            "©",
            "®",
            "™",
            "©️",
            "🇩",
            "—",
            "’",
            "→",
            "€",
            "★",
            "\u{fe0f}",
        ] {
            assert!(!is_emoji(no), "{no}");
        }
    }
}
