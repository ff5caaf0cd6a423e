//! Fingerprints: short numbers that stand for a word in the phrase filters of its neighbours.

use super::common::common_word;
use super::schema::split_term_key;
use crate::base::PhraseFilters;

/// The fingerprint of a term key. Filters of common neighbours have a number from 1 on for each
/// common word, and 0 for every other.
pub fn fingerprint(key: &[u8], filters: PhraseFilters) -> u16 {
    let term = split_term_key(key).ok();
    let word = term.and_then(|(_, term)| str::from_utf8(term).ok());
    let word = word.unwrap_or_default();
    match filters {
        PhraseFilters::None => 0,
        PhraseFilters::Common => common_word(word).map_or(0, |number| number as u16 + 1),
    }
}

/// Returns true if only one term of a field has this fingerprint.
pub fn is_exact(fingerprint: u16, filters: PhraseFilters) -> bool {
    filters == PhraseFilters::Common && fingerprint != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::term_key;

    fn of(word: &str, filters: PhraseFilters) -> u16 {
        let mut key = Vec::new();
        term_key(3, word.as_bytes(), &mut key);
        fingerprint(&key, filters)
    }

    #[test]
    fn common_words_have_fingerprints_of_their_own_and_others_none() {
        let common = PhraseFilters::Common;
        assert!(of("the", common) != of("of", common));
        assert!(is_exact(of("the", common), common) && is_exact(of("of", common), common));
        assert_eq!([of("a", common), of("you", common)], [1, 94]);
        for word in ["whale", "The", ""] {
            assert!(of(word, common) == 0 && !is_exact(of(word, common), common));
        }
    }

    #[test]
    fn without_filters_there_are_no_fingerprints() {
        assert_eq!(of("the", PhraseFilters::None), 0);
    }
}
