//! The commonest words of English.
//!
//! Most phrases that are asked for have one of them. What an index keeps of the words around a
//! token names these, so that such phrases are found without the lists of their commonest words
//! (see `fingerprints`). The words were counted in an encyclopedia and are those that say least of
//! a subject. Other languages have no such list yet, and lose nothing but speed. What indexes hold
//! depends on it: the format's version changes with it.

/// The number of common words.
pub const COMMON_WORDS: usize = WORDS.len();

/// The longest.
const LENGTH_MAX: usize = 7;

/// Ascending.
#[rustfmt::skip]
const WORDS: [&str; 94] = [
    "a", "about", "after", "all", "also", "an", "and", "are", "as", "at", "be", "because", "been",
    "before", "between", "but", "by", "can", "could", "during", "each", "first", "for", "from",
    "had", "has", "have", "he", "her", "him", "his", "how", "however", "if", "in", "into", "is",
    "it", "its", "like", "made", "many", "may", "more", "most", "no", "not", "of", "on", "one",
    "only", "or", "other", "out", "over", "she", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "three", "through", "time",
    "to", "two", "under", "until", "up", "used", "was", "we", "well", "were", "what", "when",
    "where", "which", "while", "who", "will", "with", "would", "years", "you",
];

/// The number of a lowercase word among the common ones, below [`COMMON_WORDS`].
pub fn common_word(word: &str) -> Option<usize> {
    if word.len() <= LENGTH_MAX {
        WORDS.binary_search(&word).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_found_and_others_not() {
        for (at, word) in WORDS.iter().enumerate() {
            assert_eq!(common_word(word), Some(at));
        }
        for word in ["", "aa", "whale", "The", "thethethe"] {
            assert_eq!(common_word(word), None);
        }
    }
}
