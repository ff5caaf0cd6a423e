//! Patterns over terms: prefix, wildcard, range and fuzzy, each as a walk over the ordered terms of a field.
//!
//! A pattern says for each term whether it matches, and if not, where the next match may be, so that the walk
//! can skip. Fuzzy terms are found by a Levenshtein automaton (Schulz and Mihov, "Fast String Correction with
//! Levenshtein Automata", 2002): when it dies inside a term, all terms with the same beginning are skipped.

use std::ops::Bound;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};

use super::query::{PatternPart, pattern_parts};
use crate::base::{Error, Result};

/// The most edits that a fuzzy term may be away.
pub const DISTANCE_MAX: u8 = 2;

/// What a pattern says of a term.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It matches; with its similarity, 1 unless the pattern is fuzzy.
    Match(f32),
    /// It does not; the next that may is the next term.
    Next,
    /// Neither it nor any term before this one.
    SkipTo(Vec<u8>),
    /// Neither it nor any term after it.
    End,
}

/// A set of terms.
pub enum Pattern {
    /// Terms that begin so.
    Prefix(Vec<u8>),
    /// Terms of this form: `*` stands for any characters, `?` for one, `\` takes the next literally.
    Wildcard(Wildcard),
    /// Terms between two, in the order of their bytes.
    Range(Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// Terms within some edits.
    Fuzzy(Fuzzy),
}

/// A compiled wildcard pattern.
pub struct Wildcard {
    parts: Vec<PatternPart>,
    prefix: Vec<u8>,
}

/// A term with its automaton.
pub struct Fuzzy {
    automaton: DFA,
    characters: usize,
    prefix: Vec<u8>,
}

impl Pattern {
    /// The first term that may match.
    pub fn start(&self) -> &[u8] {
        match self {
            Pattern::Prefix(prefix) => prefix,
            Pattern::Wildcard(wildcard) => &wildcard.prefix,
            Pattern::Range(Bound::Included(from) | Bound::Excluded(from), _) => from,
            Pattern::Range(Bound::Unbounded, _) => &[],
            Pattern::Fuzzy(fuzzy) => &fuzzy.prefix,
        }
    }

    /// Judges a term that is not before [`Pattern::start`].
    pub fn judge(&self, term: &[u8]) -> Verdict {
        match self {
            Pattern::Prefix(prefix) if term.starts_with(prefix) => Verdict::Match(1.0),
            Pattern::Prefix(_) => Verdict::End,
            Pattern::Wildcard(wildcard) => wildcard.judge(term),
            Pattern::Range(from, to) => judge_range(term, from, to),
            Pattern::Fuzzy(fuzzy) => fuzzy.judge(term),
        }
    }

    /// Whether matches differ in similarity, so that the best are to be kept.
    pub fn is_fuzzy(&self) -> bool {
        matches!(self, Pattern::Fuzzy(_))
    }
}

fn judge_range(term: &[u8], from: &Bound<Vec<u8>>, to: &Bound<Vec<u8>>) -> Verdict {
    let ended = match to {
        Bound::Included(to) => term > to.as_slice(),
        Bound::Excluded(to) => term >= to.as_slice(),
        Bound::Unbounded => false,
    };
    match from {
        _ if ended => Verdict::End,
        Bound::Excluded(from) if term <= from.as_slice() => Verdict::Next,
        Bound::Included(from) if term < from.as_slice() => Verdict::Next,
        _ => Verdict::Match(1.0),
    }
}

impl Wildcard {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Wildcard {
        let mut parts: Vec<PatternPart> = pattern_parts(pattern).collect();
        parts.dedup_by(|a, b| *a == PatternPart::Many && a == b);
        let literal = parts.iter().map_while(|part| match part {
            PatternPart::Literal(character) => Some(*character),
            _ => None,
        });
        let prefix = literal.collect::<String>().into_bytes();
        Wildcard { parts, prefix }
    }

    fn judge(&self, term: &[u8]) -> Verdict {
        if !term.starts_with(&self.prefix) {
            return Verdict::End;
        }
        match std::str::from_utf8(term) {
            Ok(text) if self.matches(text) => Verdict::Match(1.0),
            _ => Verdict::Next,
        }
    }

    /// Greedy matching that goes back to the last `*` only, which is enough.
    fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut part, mut at) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while at < text.len() {
            match self.parts.get(part) {
                Some(PatternPart::Many) => {
                    star = Some((part, at));
                    part += 1;
                }
                Some(PatternPart::One) => (part, at) = (part + 1, at + 1),
                Some(PatternPart::Literal(wanted)) if *wanted == text[at] => {
                    (part, at) = (part + 1, at + 1);
                }
                _ => {
                    let Some((starred, from)) = star else {
                        return false;
                    };
                    star = Some((starred, from + 1));
                    (part, at) = (starred + 1, from + 1);
                }
            }
        }
        self.parts[part..]
            .iter()
            .all(|part| *part == PatternPart::Many)
    }
}

impl Fuzzy {
    /// Terms within `distance` edits of `term` (a swap of neighbours is one) that share its first
    /// `prefix_length` characters.
    pub fn new(term: &str, distance: u8, prefix_length: usize) -> Result<Fuzzy> {
        if distance > DISTANCE_MAX {
            return Err(Error::invalid(format!(
                "a fuzzy term may be at most {DISTANCE_MAX} edits away, not {distance}"
            )));
        }
        let builder = LevenshteinAutomatonBuilder::new(distance, true);
        let end = term.char_indices().nth(prefix_length);
        let prefix = &term[..end.map_or(term.len(), |(at, _)| at)];
        Ok(Fuzzy {
            automaton: builder.build_dfa(term),
            characters: term.chars().count(),
            prefix: prefix.as_bytes().to_vec(),
        })
    }

    fn judge(&self, term: &[u8]) -> Verdict {
        if !term.starts_with(&self.prefix) {
            return Verdict::End;
        }
        let mut state = self.automaton.initial_state();
        for (at, byte) in term.iter().enumerate() {
            state = self.automaton.transition(state, *byte);
            if state == SINK_STATE {
                return successor(&term[..=at]).map_or(Verdict::End, Verdict::SkipTo);
            }
        }
        match self.automaton.distance(state) {
            Distance::Exact(edits) => self.similarity(edits, term),
            Distance::AtLeast(_) => Verdict::Next,
        }
    }

    /// Lucene's rule: 1 - edits / length of the shorter term, in characters; 0 and less is no match.
    fn similarity(&self, edits: u8, term: &[u8]) -> Verdict {
        let characters = String::from_utf8_lossy(term).chars().count();
        let shorter = characters.min(self.characters);
        let similarity = 1.0 - edits as f32 / shorter.max(1) as f32;
        match similarity > 0.0 || edits == 0 {
            true => Verdict::Match(similarity),
            false => Verdict::Next,
        }
    }
}

/// The least bytes that are above everything that begins with `prefix`.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let at = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut above = prefix[..=at].to_vec();
    above[at] += 1;
    Some(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &Pattern, term: &str) -> bool {
        matches!(pattern.judge(term.as_bytes()), Verdict::Match(_))
    }

    #[test]
    fn wildcards() {
        let wildcard = |pattern| Pattern::Wildcard(Wildcard::new(pattern));
        for (pattern, yes, no) in [
            ("a*c", "abbc", "abcd"),
            ("a?c", "aöc", "ac"),
            ("*b*b*", "abcb", "abc"),
            ("a\\*", "a*", "ab"),
        ] {
            assert!(is_match(&wildcard(pattern), yes), "{pattern} {yes}");
            assert!(
                no.is_empty() || !is_match(&wildcard(pattern), no),
                "{pattern} {no}"
            );
        }
        assert_eq!(wildcard("ab*c").start(), b"ab");
    }

    #[test]
    fn fuzzy_terms_know_their_similarity_and_skip() {
        let fuzzy = Pattern::Fuzzy(Fuzzy::new("flash", 1, 1).unwrap());
        assert_eq!(fuzzy.judge(b"flash"), Verdict::Match(1.0));
        assert_eq!(fuzzy.judge(b"flsah"), Verdict::Match(0.8));
        assert_eq!(fuzzy.judge(b"fxyz"), Verdict::SkipTo(b"fxz".to_vec()));
        assert_eq!(fuzzy.judge(b"glash"), Verdict::End);
        assert!(Fuzzy::new("flash", 3, 0).is_err());
    }

    #[test]
    fn ranges() {
        let range = Pattern::Range(
            Bound::Excluded(b"b".to_vec()),
            Bound::Included(b"d".to_vec()),
        );
        assert!(!is_match(&range, "b") && is_match(&range, "ba") && is_match(&range, "d"));
        assert_eq!(range.judge(b"da"), Verdict::End);
        assert_eq!(successor(&[1, 255]), Some(vec![2]));
    }
}
