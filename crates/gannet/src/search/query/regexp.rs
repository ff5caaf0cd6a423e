//! Regular expressions over whole terms, in Lucene's syntax.
//!
//! An expression becomes an automaton whose states are the characters that it is written with
//! (Glushkov, "The abstract theory of automata", 1961): no step of it is without a character, and
//! when it dies inside a term, all terms with the same beginning are skipped.

use super::regexp_syntax::{Characters, RegexpPart, parse};
use crate::base::{Error, Result};

/// The most characters of an expression, its repetitions written out.
const STATES_MAX: usize = 1024;

const WORDS: usize = STATES_MAX / 64;

/// The relation of a term to an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It fits.
    Whole,
    /// It does not; a term that begins with it may.
    Beginning,
    /// Neither it nor any term that begins with so many bytes of it.
    None(usize),
}

/// A set of states.
#[derive(Clone, Copy, PartialEq, Eq)]
struct States([u64; WORDS]);

/// A compiled expression.
pub struct Regexp {
    /// The characters that lead to each state.
    into: Vec<Characters>,
    /// The states behind each state.
    behind: Vec<States>,
    first: States,
    last: States,
    takes_nothing: bool,
    prefix: Vec<u8>,
}

/// A part of an expression, compiled.
struct Compiled {
    first: States,
    last: States,
    takes_nothing: bool,
}

impl Regexp {
    /// Compiles an expression.
    pub fn new(text: &str) -> Result<Regexp> {
        let part = parse(text)?;
        let mut regexp = Regexp {
            into: Vec::new(),
            behind: Vec::new(),
            first: States::NONE,
            last: States::NONE,
            takes_nothing: false,
            prefix: part.prefix().into_bytes(),
        };
        let whole = regexp.compile(&part)?;
        regexp.first = whole.first;
        regexp.last = whole.last;
        regexp.takes_nothing = whole.takes_nothing;
        Ok(regexp)
    }

    /// The first term that may match.
    pub fn start(&self) -> &[u8] {
        &self.prefix
    }

    /// Bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        let sets = self.into.iter().map(Characters::memory_bytes);
        sets.sum::<usize>() + size_of_val(self.behind.as_slice()) + self.prefix.len()
    }

    /// About how much judging a term costs, in steps.
    pub fn steps(&self) -> usize {
        8 + self.into.len()
    }

    /// Compares a term.
    pub fn fit(&self, term: &str) -> Fit {
        let (mut next, mut accepts) = (self.first, self.takes_nothing);
        for (at, character) in term.char_indices() {
            let reached = next.filtered(|state| self.into[state].contains(character));
            if reached == States::NONE {
                return Fit::None(at + character.len_utf8());
            }
            accepts = reached.meets(&self.last);
            next = States::NONE;
            reached.each(|state| next.add_all(&self.behind[state]));
        }
        if accepts { Fit::Whole } else { Fit::Beginning }
    }

    fn compile(&mut self, part: &RegexpPart) -> Result<Compiled> {
        match part {
            RegexpPart::Nothing => Ok(Compiled::of_nothing(false)),
            RegexpPart::Empty => Ok(Compiled::of_nothing(true)),
            RegexpPart::One(characters) => self.state(characters),
            RegexpPart::All(parts) => {
                let mut all = Compiled::of_nothing(true);
                for part in parts {
                    let next = self.compile(part)?;
                    all = self.joined(all, &next);
                }
                Ok(all)
            }
            RegexpPart::Any(parts) => {
                let mut any = Compiled::of_nothing(false);
                for part in parts {
                    let next = self.compile(part)?;
                    any.first.add_all(&next.first);
                    any.last.add_all(&next.last);
                    any.takes_nothing |= next.takes_nothing;
                }
                Ok(any)
            }
            RegexpPart::Repeated(part, least, most) => self.repeated(part, *least, *most),
        }
    }

    fn state(&mut self, characters: &Characters) -> Result<Compiled> {
        let state = self.into.len();
        if state == STATES_MAX {
            return Err(Error::invalid(format!(
                "the regular expression stands for more than {STATES_MAX} characters, with its repetitions written out: \
                 make it shorter"
            )));
        }
        self.into.push(characters.clone());
        self.behind.push(States::NONE);
        let mut states = States::NONE;
        states.add(state);
        Ok(Compiled {
            first: states,
            last: states,
            takes_nothing: false,
        })
    }

    /// One part behind another.
    fn joined(&mut self, before: Compiled, next: &Compiled) -> Compiled {
        self.lead(&before.last, &next.first);
        let (mut first, mut last) = (before.first, next.last);
        if before.takes_nothing {
            first.add_all(&next.first);
        }
        if next.takes_nothing {
            last.add_all(&before.last);
        }
        Compiled {
            first,
            last,
            takes_nothing: before.takes_nothing && next.takes_nothing,
        }
    }

    fn repeated(&mut self, part: &RegexpPart, least: u32, most: Option<u32>) -> Result<Compiled> {
        let mut all = Compiled::of_nothing(true);
        let copies = most.unwrap_or(least.max(1));
        for copy in 0..copies {
            let states = self.into.len();
            let mut next = self.compile(part)?;
            if most.is_none() && copy + 1 == copies {
                self.lead(&next.last, &next.first);
            }
            next.takes_nothing |= copy >= least;
            all = self.joined(all, &next);
            if self.into.len() == states {
                // More of what has no characters is the same.
                break;
            }
        }
        Ok(all)
    }

    /// Has states lead to others.
    fn lead(&mut self, from: &States, to: &States) {
        from.each(|state| self.behind[state].add_all(to));
    }
}

impl Compiled {
    fn of_nothing(takes_nothing: bool) -> Compiled {
        Compiled {
            first: States::NONE,
            last: States::NONE,
            takes_nothing,
        }
    }
}

impl States {
    const NONE: States = States([0; WORDS]);

    fn add(&mut self, state: usize) {
        self.0[state / 64] |= 1 << (state % 64);
    }

    fn add_all(&mut self, others: &States) {
        for (word, other) in self.0.iter_mut().zip(&others.0) {
            *word |= other;
        }
    }

    fn meets(&self, others: &States) -> bool {
        self.0
            .iter()
            .zip(&others.0)
            .any(|(one, other)| one & other != 0)
    }

    fn each(&self, mut act: impl FnMut(usize)) {
        for (at, word) in self.0.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                act(at * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    fn filtered(&self, keeps: impl Fn(usize) -> bool) -> States {
        let mut kept = States::NONE;
        self.each(|state| {
            if keeps(state) {
                kept.add(state);
            }
        });
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(pattern: &str, term: &str) -> Fit {
        Regexp::new(pattern).unwrap().fit(term)
    }

    #[test]
    fn whole_terms_are_matched() {
        for (pattern, yes, no) in [
            ("be.*", "beta", "abet"),
            ("[a-s]hip", "ship", "whip"),
            ("s(ea|hip)", "sea", "seahip"),
            ("whal[ef]", "whalf", "whal"),
            ("[0-9]+", "1999", "19x"),
            ("ca.?e", "cabe", "café"),
            ("ca.?e", "cae", "cae2"),
            ("(ab){2,3}", "ababab", "ab"),
            ("(ab){2,3}", "abab", "abababab"),
            ("a{3}", "aaa", "aa"),
            ("a{2,}", "aaaaa", "a"),
            ("a{0}b", "b", "ab"),
            ("[^a-c]x?", "d", "b"),
            ("[a\\-c]+", "a-c", "b"),
            ("\\d\\w\\s?", "1a", "aa"),
            ("a\\.b", "a.b", "axb"),
            ("\"a.*\"", "a.*", "ab"),
            ("(a*)*b", "aab", "aac"),
            ("(ab)*", "abab", "aba"),
            ("a@", "anything", "b"),
            ("a()b", "ab", "a()b"),
            ("x<8-11>", "x10", "x12"),
            ("x<08-11>", "x09", "x9"),
            ("日.", "日本", "本日"),
            ("a*", "", "b"),
            ("a|#", "a", ""),
        ] {
            assert_eq!(fit(pattern, yes), Fit::Whole, "{pattern} {yes}");
            assert_ne!(fit(pattern, no), Fit::Whole, "{pattern} {no}");
        }
    }

    #[test]
    fn a_term_that_cannot_match_says_how_far_it_was_read() {
        let regexp = Regexp::new("ab[c-é]+x").unwrap();
        assert_eq!(regexp.start(), b"ab");
        assert_eq!(regexp.fit("abcde"), Fit::Beginning);
        assert_eq!(regexp.fit("abcBz"), Fit::None(4));
        assert_eq!(regexp.fit("abéêz"), Fit::None(6));
    }

    #[test]
    fn what_is_no_expression_or_too_long_is_rejected() {
        for (pattern, part) in [
            ("a(b", "closed"),
            ("[a", "closed"),
            ("[b-a]", "range"),
            ("*a", "before"),
            ("a{2", "closed"),
            ("a{3,2}", "most"),
            ("a{5000}", "1000"),
            ("(a{1000}){1000}", "1024"),
            ("a&b", "[&]"),
            ("~a", "[~]"),
            ("a)", "closed"),
            ("\\", "behind"),
        ] {
            let error = Regexp::new(pattern).err().unwrap().to_string();
            assert!(error.contains(part), "{pattern}: {error}");
        }
        assert!(Regexp::new(&"(".repeat(10_000)).is_err());
        assert!(Regexp::new("(((){1000}){1000}){1000}").is_ok());
    }
}
