//! Patterns over terms: prefix, wildcard, range and fuzzy, each as a walk over the ordered terms of
//! a field.
//!
//! A pattern says for each term whether it matches, and if not, where the next match may be, so
//! that the walk can skip. Fuzzy terms are found by a Levenshtein automaton (Schulz and Mihov,
//! "Fast String Correction with Levenshtein Automata", 2002): when it dies inside a term, all terms
//! with the same beginning are skipped.

use std::ops::Bound;
use std::sync::Arc;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};

use super::PatternPart;
#[cfg(test)]
use super::pattern_parts;
use super::ranges::{DateSpan, successor};
use super::regexp::{Fit, Regexp};
use crate::base::{Error, Result};

/// The most edits that a fuzzy term may be away.
pub const DISTANCE_MAX: u8 = 2;

/// The similarity of terms of which one edit leaves nothing; two edits leave half of it. Terms that
/// keep a character have a third or more.
const SIMILARITY_MIN: f32 = 0.25;

/// The most characters of a fuzzy term: its automaton takes 10 to 400 KiB for each. No word that an
/// analyzer cuts is longer.
pub const FUZZY_CHARACTERS_MAX: usize = 255;

/// The most characters of a wildcard pattern. No term that is indexed has more.
pub const WILDCARD_CHARACTERS_MAX: usize = 1024;

/// States that an automaton has for each character of its term, by its distance and the bytes of
/// the character, at most. A test measures it.
const STATES_PER_CHARACTER: [[usize; 4]; DISTANCE_MAX as usize + 1] =
    [[2, 7, 16, 24], [10, 30, 64, 88], [33, 116, 250, 340]];

/// Bytes that building an automaton takes beside its states, for each character and for any.
const BUILDING_BYTES: (usize, usize) = (4 << 10, 64 << 10);

/// Bytes of a state: where each byte leads, and what the state says.
const STATE_BYTES: usize = 256 * size_of::<u32>() + size_of::<Distance>();

/// States that are made room for at first; the room then doubles.
const STATES_MIN: usize = 100;

/// The result of matching a pattern against a term.
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
    /// Terms of this form: `*` stands for any characters, `?` for one, `\` takes the next
    /// literally.
    Wildcard(Wildcard),
    /// Terms that fit a regular expression.
    Regexp(Box<Regexp>),
    /// Terms between two, in the order of their bytes.
    Range(Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// These terms, ascending.
    OneOf(Vec<Vec<u8>>),
    /// Terms that go on from a date.
    Span(DateSpan),
    /// Terms within some edits.
    Fuzzy(Fuzzy),
    /// Terms that any of these stands for; as similar as the one says that finds most of it.
    Either(Vec<Pattern>),
}

/// A compiled wildcard pattern.
pub struct Wildcard {
    parts: Vec<PatternPart>,
    prefix: Vec<u8>,
}

/// A term with its automaton, which clones share.
#[derive(Clone)]
pub struct Fuzzy {
    automaton: Arc<DFA>,
    characters: usize,
    prefix: Vec<u8>,
}

impl Pattern {
    /// The first term that may match.
    pub fn start(&self) -> &[u8] {
        match self {
            Pattern::Prefix(prefix) => prefix,
            Pattern::Wildcard(wildcard) => &wildcard.prefix,
            Pattern::Regexp(regexp) => regexp.start(),
            Pattern::Range(Bound::Included(from) | Bound::Excluded(from), _) => from,
            Pattern::Range(Bound::Unbounded, _) => &[],
            Pattern::OneOf(values) => values.first().map_or(&[], Vec::as_slice),
            Pattern::Span(span) => span.start(),
            Pattern::Fuzzy(fuzzy) => &fuzzy.prefix,
            Pattern::Either(forms) => forms.iter().map(Pattern::start).min().unwrap_or(&[]),
        }
    }

    /// Judges a term that is not before [`Pattern::start`].
    pub fn judge(&self, term: &[u8]) -> Verdict {
        match self {
            Pattern::Prefix(prefix) if term.starts_with(prefix) => Verdict::Match(1.0),
            Pattern::Prefix(_) => Verdict::End,
            Pattern::Wildcard(wildcard) => wildcard.judge(term),
            Pattern::Regexp(regexp) => judge_regexp(term, regexp),
            Pattern::Range(from, to) => judge_range(term, from, to),
            Pattern::OneOf(values) => judge_values(term, values),
            Pattern::Span(span) => judge_span(term, span),
            Pattern::Fuzzy(fuzzy) => fuzzy.judge(term),
            Pattern::Either(forms) => {
                let each = forms.iter().map(|form| form.judge_any(term));
                each.reduce(either).unwrap_or(Verdict::End)
            }
        }
    }

    /// Judges any term.
    fn judge_any(&self, term: &[u8]) -> Verdict {
        let start = self.start();
        if term < start {
            Verdict::SkipTo(start.to_vec())
        } else {
            self.judge(term)
        }
    }

    /// Bytes that its texts take, an automaton apart.
    pub fn memory_bytes(&self) -> usize {
        let limit = |limit: &Bound<Vec<u8>>| match limit {
            Bound::Included(text) | Bound::Excluded(text) => text.len(),
            Bound::Unbounded => 0,
        };
        match self {
            Pattern::Prefix(prefix) => prefix.len(),
            Pattern::Wildcard(wildcard) => {
                wildcard.prefix.len() + wildcard.parts.len() * size_of::<PatternPart>()
            }
            Pattern::Regexp(regexp) => regexp.memory_bytes(),
            Pattern::Range(from, to) => limit(from) + limit(to),
            Pattern::OneOf(values) => {
                let texts = values.iter().map(Vec::len);
                size_of_val(values.as_slice()) + texts.sum::<usize>()
            }
            Pattern::Span(span) => span.start().len(),
            Pattern::Fuzzy(fuzzy) => fuzzy.prefix.len(),
            Pattern::Either(forms) => {
                let each = forms.iter().map(Pattern::memory_bytes);
                size_of_val(forms.as_slice()) + each.sum::<usize>()
            }
        }
    }

    /// About how much judging a term costs, in steps.
    pub fn steps(&self) -> usize {
        match self {
            Pattern::Prefix(_) | Pattern::Range(..) | Pattern::Span(_) => 1,
            Pattern::Wildcard(wildcard) => 8 + 4 * wildcard.parts.len(),
            Pattern::Regexp(regexp) => regexp.steps(),
            Pattern::Fuzzy(_) | Pattern::OneOf(_) => 4,
            Pattern::Either(forms) => forms.iter().map(Pattern::steps).sum(),
        }
    }

    /// Returns true if it adds terms to one that was asked for, or is such terms. If the index has
    /// none, the user need not know.
    pub fn is_of_words(&self) -> bool {
        matches!(self, Pattern::Span(_) | Pattern::OneOf(_))
    }

    /// Returns true if matches differ in similarity, so that the best are to be kept.
    pub fn is_fuzzy(&self) -> bool {
        match self {
            Pattern::Either(forms) => forms.iter().any(Pattern::is_fuzzy),
            other => matches!(other, Pattern::Fuzzy(_)),
        }
    }
}

/// Joins the verdicts of two patterns on a term.
fn either(one: Verdict, other: Verdict) -> Verdict {
    use Verdict::{End, Match, Next, SkipTo};
    match (one, other) {
        (Match(one), Match(other)) => Match(one.max(other)),
        (Match(similarity), _) | (_, Match(similarity)) => Match(similarity),
        (Next, _) | (_, Next) => Next,
        (SkipTo(one), SkipTo(other)) => SkipTo(one.min(other)),
        (SkipTo(next), End) | (End, SkipTo(next)) => SkipTo(next),
        (End, End) => End,
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

fn judge_values(term: &[u8], values: &[Vec<u8>]) -> Verdict {
    match values.binary_search_by(|value| value.as_slice().cmp(term)) {
        Ok(_) => Verdict::Match(1.0),
        Err(at) => values
            .get(at)
            .map_or(Verdict::End, |next| Verdict::SkipTo(next.clone())),
    }
}

fn judge_regexp(term: &[u8], regexp: &Regexp) -> Verdict {
    if !term.starts_with(regexp.start()) {
        return Verdict::End;
    }
    match std::str::from_utf8(term).map(|text| regexp.fit(text)) {
        Ok(Fit::Whole) => Verdict::Match(1.0),
        Ok(Fit::None(read)) => successor(&term[..read]).map_or(Verdict::End, Verdict::SkipTo),
        Ok(Fit::Beginning) | Err(_) => Verdict::Next,
    }
}

fn judge_span(term: &[u8], span: &DateSpan) -> Verdict {
    if span.goes_on(term) {
        Verdict::Match(1.0)
    } else if term.starts_with(span.start()) {
        Verdict::Next
    } else {
        Verdict::End
    }
}

impl Wildcard {
    /// Compiles a pattern.
    #[cfg(test)]
    pub fn new(pattern: &str) -> Result<Wildcard> {
        Wildcard::of(pattern_parts(pattern).collect())
    }

    /// Compiles the parts of a pattern.
    pub fn of(parts: Vec<PatternPart>) -> Result<Wildcard> {
        check_characters("a wildcard pattern", parts.len(), WILDCARD_CHARACTERS_MAX)?;
        Ok(Wildcard::compile(parts))
    }

    fn compile(mut parts: Vec<PatternPart>) -> Wildcard {
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
        check_length("a fuzzy term", term, FUZZY_CHARACTERS_MAX)?;
        if distance > DISTANCE_MAX {
            return Err(Error::invalid(format!(
                "a fuzzy term may be at most {DISTANCE_MAX} edits away, not {distance}"
            )));
        }
        let builder = LevenshteinAutomatonBuilder::new(distance, true);
        let end = term.char_indices().nth(prefix_length);
        let prefix = &term[..end.map_or(term.len(), |(at, _)| at)];
        Ok(Fuzzy {
            automaton: Arc::new(builder.build_dfa(term)),
            characters: term.chars().count(),
            prefix: prefix.as_bytes().to_vec(),
        })
    }

    /// Bytes that [`Fuzzy::new`] takes at most for a term, if it is not too long.
    pub fn memory_bytes(term: &str, distance: u8) -> Result<usize> {
        check_length("a fuzzy term", term, FUZZY_CHARACTERS_MAX)?;
        let each = STATES_PER_CHARACTER[distance.min(DISTANCE_MAX) as usize];
        let characters = term.chars();
        let states = characters.clone().map(|c| each[c.len_utf8() - 1]);
        let states = 3 * each[0] + states.sum::<usize>();
        let room = STATES_MIN * states.div_ceil(STATES_MIN).next_power_of_two();
        let (of_character, of_any) = BUILDING_BYTES;
        Ok(room * STATE_BYTES + characters.count() * of_character + of_any)
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
            Distance::Exact(edits) => Verdict::Match(self.similarity(edits, term)),
            Distance::AtLeast(_) => Verdict::Next,
        }
    }

    /// Lucene's rule: 1 - edits / length of the shorter term, in characters. Where that is 0 or
    /// less, which Lucene takes for no match, a term that differs so has less than any other: no
    /// word is too short to be found.
    fn similarity(&self, edits: u8, term: &[u8]) -> f32 {
        let characters = String::from_utf8_lossy(term).chars().count();
        let shorter = characters.min(self.characters);
        if usize::from(edits) < shorter || edits == 0 {
            1.0 - f32::from(edits) / shorter.max(1) as f32
        } else {
            SIMILARITY_MIN / f32::from(edits)
        }
    }
}

/// Rejects what is longer than anything it could match, or than there is memory for.
fn check_length(what: &str, text: &str, most: usize) -> Result<()> {
    check_characters(what, text.chars().count(), most)
}

fn check_characters(what: &str, count: usize, most: usize) -> Result<()> {
    match count {
        count if count > most => Err(Error::invalid(format!(
            "{what} may have at most {most} characters, this one has {count}: make it shorter"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &Pattern, term: &str) -> bool {
        matches!(pattern.judge(term.as_bytes()), Verdict::Match(_))
    }

    #[test]
    fn wildcards() {
        let wildcard = |pattern| Pattern::Wildcard(Wildcard::new(pattern).unwrap());
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
    fn regular_expressions_skip_what_cannot_match() {
        let pattern = Pattern::Regexp(Box::new(Regexp::new("ab[cd]+x").unwrap()));
        assert_eq!(pattern.start(), b"ab");
        assert_eq!(pattern.judge(b"abcdx"), Verdict::Match(1.0));
        assert_eq!(pattern.judge(b"abcd"), Verdict::Next);
        assert_eq!(pattern.judge(b"abca"), Verdict::SkipTo(b"abcb".to_vec()));
        assert_eq!(pattern.judge(b"b"), Verdict::End);
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
    fn short_terms_are_found_within_their_edits_and_the_nearest_come_first() {
        let similarity = |word: &str, distance, term: &str| match Fuzzy::new(word, distance, 0)
            .unwrap()
            .judge(term.as_bytes())
        {
            Verdict::Match(similarity) => Some(similarity),
            _ => None,
        };
        for (word, terms) in [
            ("a", ["a", "ab", "abc"]),
            ("ac", ["ac", "abc", "b"]),
            ("né", ["né", "nó", "és"]),
        ] {
            let each = terms.map(|term| similarity(word, 2, term).unwrap());
            assert!(
                each[0] > each[1] && each[1] > each[2] && each[2] > 0.0,
                "{word}: {each:?}"
            );
        }
        for (word, term) in [
            ("a", "b"),
            ("a", "ba"),
            ("a", ""),
            ("ac", "a"),
            ("ac", "ab"),
        ] {
            assert!(similarity(word, 1, term).is_some(), "{word} {term}");
        }
        assert_eq!(similarity("a", 1, "bc"), None);
    }

    #[test]
    fn an_automaton_has_no_more_states_than_are_reserved() {
        let units = [
            "a",
            "ab",
            "aé漢😀",
            "ab漢c",
            "ߐéжאق",
            "漢字かな한あ๑ก",
            "😀𐀀𠀀🀀𝐀𒀀𖠀𰀀𞤀",
        ];
        for distance in 0..=DISTANCE_MAX {
            for (unit, length) in units
                .iter()
                .flat_map(|unit| [1, 2, 7, 60].map(|n| (unit, n)))
            {
                let term: String = unit.chars().cycle().take(length).collect();
                let automaton = Fuzzy::new(&term, distance, 0).unwrap().automaton;
                let doublings = automaton.num_states().div_ceil(STATES_MIN);
                let bytes = STATES_MIN * doublings.next_power_of_two() * STATE_BYTES;
                let reserved = Fuzzy::memory_bytes(&term, distance).unwrap();
                assert!(
                    bytes <= reserved,
                    "{term} {distance}: {bytes} of {reserved}"
                );
            }
        }
    }

    #[test]
    fn patterns_longer_than_terms_are_rejected() {
        let long = |count| "é".repeat(count);
        assert!(Fuzzy::new(&long(FUZZY_CHARACTERS_MAX), 0, 0).is_ok());
        for (error, most) in [
            (
                Fuzzy::new(&long(FUZZY_CHARACTERS_MAX + 1), 2, 0).err(),
                "255",
            ),
            (
                Wildcard::new(&long(WILDCARD_CHARACTERS_MAX + 1)).err(),
                "1024",
            ),
        ] {
            let error = error.unwrap().to_string();
            assert!(error.contains(most) && error.contains("shorter"), "{error}");
        }
    }

    #[test]
    fn either_of_several_forms_matches_what_any_does_and_skips_what_none_does() {
        let prefix = |text: &str| Pattern::Prefix(text.as_bytes().to_vec());
        let either = Pattern::Either(vec![prefix("fly"), prefix("fli")]);
        assert_eq!(either.start(), b"fli");
        for (term, expected) in [
            ("flies", Verdict::Match(1.0)),
            ("flo", Verdict::SkipTo(b"fly".to_vec())),
            ("flying", Verdict::Match(1.0)),
            ("fma", Verdict::End),
        ] {
            assert_eq!(either.judge(term.as_bytes()), expected, "{term}");
        }
        let fuzzy = |text| Pattern::Fuzzy(Fuzzy::new(text, 1, 0).unwrap());
        let either = Pattern::Either(vec![fuzzy("flies"), fuzzy("fli")]);
        assert!(either.is_fuzzy());
        assert_eq!(either.judge(b"fli"), Verdict::Match(1.0));
        assert_eq!(either.judge(b"flie"), Verdict::Match(0.75));
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
