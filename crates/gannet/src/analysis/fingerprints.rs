//! What stands for a word in the phrase filters of the words around it.

use super::common::{COMMON_WORDS, common_word};
use super::english::is_stop_word;
use super::schema::split_term_key;
use crate::base::PhraseFilters;

/// The fingerprint of a term key: 1 to 255, of which each common word has one for itself; for Bloom filters 1 to 65,535,
/// and 0 for the stop words of English, which these leave out: beside them every word would have two, and nearly no
/// filter would be empty.
pub fn fingerprint(key: &[u8], filters: PhraseFilters) -> u16 {
    let term = split_term_key(key).ok();
    let word = term.and_then(|(_, term)| str::from_utf8(term).ok());
    let word = word.unwrap_or_default();
    let hashed = |from: u16, to: u16| (crc32c::crc32c(key) % (to - from) as u32) as u16 + 1 + from;
    match (filters, common_word(word)) {
        (PhraseFilters::None, _) => 0,
        (PhraseFilters::Fingerprints, Some(number)) => number as u16 + 1,
        (PhraseFilters::Fingerprints, None) => hashed(COMMON_WORDS as u16, u8::MAX as u16),
        (PhraseFilters::Bloom, _) if is_stop_word(word) => 0,
        (PhraseFilters::Bloom, _) => hashed(0, u16::MAX),
    }
}

/// Whether only one term of a field has this fingerprint.
pub fn is_exact(fingerprint: u16, filters: PhraseFilters) -> bool {
    filters == PhraseFilters::Fingerprints && (1..=COMMON_WORDS as u16).contains(&fingerprint)
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
    fn common_words_have_fingerprints_of_their_own() {
        let own = PhraseFilters::Fingerprints;
        assert!(of("the", own) != of("of", own));
        assert!(is_exact(of("the", own), own) && is_exact(of("of", own), own));
        for number in 0..10_000 {
            let hashed = of(&format!("word{number}"), own);
            assert!(!is_exact(hashed, own) && (1..=255).contains(&hashed));
        }
    }

    #[test]
    fn bloom_filters_name_nothing_exactly_and_leave_stop_words_out() {
        let bloom = PhraseFilters::Bloom;
        assert_eq!(of("the", bloom), 0);
        assert!(of("whale", bloom) > 0 && !is_exact(of("whale", bloom), bloom));
        assert_eq!(of("whale", PhraseFilters::None), 0);
    }
}
