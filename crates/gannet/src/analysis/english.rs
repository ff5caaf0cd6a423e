//! The filters of Lucene's `EnglishAnalyzer` before its stemmer: possessives and stop words.

use super::forms::is_apostrophe;

/// `word` without the `'s` at its end, whichever apostrophe it has.
pub(super) fn without_possessive(word: &str) -> &str {
    let Some(owner) = word.strip_suffix(['s', 'S']) else {
        return word;
    };
    owner.strip_suffix(is_apostrophe).unwrap_or(word)
}

/// Returns true for the 33 stop words of Lucene's analyzer; `word` is in lowercase.
#[inline]
pub fn is_stop_word(word: &str) -> bool {
    word.len() <= 5
        && matches!(
            word,
            "a" | "an"
                | "and"
                | "are"
                | "as"
                | "at"
                | "be"
                | "but"
                | "by"
                | "for"
                | "if"
                | "in"
                | "into"
                | "is"
                | "it"
                | "no"
                | "not"
                | "of"
                | "on"
                | "or"
                | "such"
                | "that"
                | "the"
                | "their"
                | "then"
                | "there"
                | "these"
                | "they"
                | "this"
                | "to"
                | "was"
                | "will"
                | "with"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possessives_lose_their_ending() {
        for (word, expected) in [
            ("dog's", "dog"),
            ("DOG'S", "DOG"),
            ("dog’s", "dog"),
            ("dog‘s", "dog"),
            ("dog＇s", "dog"),
            ("dogs", "dogs"),
            ("'s", ""),
            ("s", "s"),
            ("", ""),
        ] {
            assert_eq!(without_possessive(word), expected);
        }
    }
}
