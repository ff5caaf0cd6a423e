//! The forms in which a field may have the words that a pattern stands for.
//!
//! In a field that stems, words have lost their endings. The letters of a pattern that are the end
//! of a word, as far as one wrote it, go through the stemmer too: `house*` is asked as `hous*`,
//! `*house` as `*hous` too.
//!
//! - A prefix is asked by its stem. A stem that is no beginning of it (`chevaux*`, `cheval`) is
//!   asked beside it. One of few letters (`running*`, `run`) is asked only as a whole word, since
//!   too much begins so.
//! - Of any other pattern the last letters are asked as they are and as they are in a stem. A `?`
//!   at its end may be an ending, which is not there.
//! - A fuzzy word is asked as it is, since a misspelt word is not stemmed as the right one is. It
//!   is asked as its stem too, from which the stem of the right word may be fewer edits away.

use std::ops::Bound;

use super::cut::literal;
use crate::analysis::{Analyzer, Scratch};
use crate::base::Result;
use crate::search::query::PatternPart;
use crate::search::query::pattern::{Pattern, Wildcard};

/// A stem with fewer characters is asked as a whole word.
const STEM_CHARACTERS_MIN: usize = 4;

/// The most `?` at the end of a pattern that are left out one by one.
const ENDING_MAX: usize = 3;

/// One form of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Terms that begin so.
    Prefix(String),
    /// This term.
    Term(String),
    /// Terms that the parts fit.
    Parts(Vec<PatternPart>),
}

/// The words of a field.
pub struct FieldWords<'a> {
    /// The analyzer.
    pub analyzer: &'a Analyzer,
    /// Buffers of the analyzers.
    pub scratch: &'a mut Scratch,
}

impl FieldWords<'_> {
    /// The forms of a pattern that is one word.
    pub fn forms(&mut self, parts: &[PatternPart]) -> Vec<Form> {
        match parts {
            [before @ .., PatternPart::Many]
                if before.iter().all(|part| literal(part).is_some()) =>
            {
                self.prefix_forms(&before.iter().filter_map(literal).collect::<String>())
            }
            _ => self.wildcard_forms(parts),
        }
    }

    fn prefix_forms(&mut self, prefix: &str) -> Vec<Form> {
        let prefix = self.word(prefix);
        let Some(stem) = self.stem(&prefix) else {
            return vec![Form::Prefix(prefix)];
        };
        if stem.chars().count() < STEM_CHARACTERS_MIN {
            return vec![Form::Prefix(prefix), Form::Term(stem)];
        }
        if prefix.starts_with(&stem) {
            return vec![Form::Prefix(stem)];
        }
        vec![Form::Prefix(prefix), Form::Prefix(stem)]
    }

    fn wildcard_forms(&mut self, parts: &[PatternPart]) -> Vec<Form> {
        let parts = self.as_in_terms(parts);
        let mut forms = vec![parts.clone()];
        if self.analyzer.stems() {
            forms.extend(self.without_ending(&parts));
            let ones = parts
                .iter()
                .rev()
                .take_while(|part| **part == PatternPart::One);
            let ones = ones.count().min(ENDING_MAX).min(parts.len() - 1);
            forms.extend((1..=ones).map(|count| parts[..parts.len() - count].to_vec()));
        }
        forms.into_iter().map(Form::Parts).collect()
    }

    /// The pattern with its last letters as they are in a stem, if these are others. The stem is
    /// that of a word in which letters of the pattern stand for its wildcards.
    fn without_ending(&mut self, parts: &[PatternPart]) -> Option<Vec<PatternPart>> {
        let end = parts.iter().rposition(|part| *part != PatternPart::Many)? + 1;
        let letters = parts[..end].iter().rev().map_while(literal).count();
        let start = end - letters;
        let last: String = parts[start..end].iter().filter_map(literal).collect();
        let first = last.chars().next()?;
        let mut before = String::new();
        for part in &parts[..start] {
            match part {
                PatternPart::Many => before.push_str(&last),
                PatternPart::One => before.push(first),
                PatternPart::Literal(character) => before.push(*character),
            }
        }
        let stem = self.stem(&(before.clone() + &last))?;
        let left = stem.strip_prefix(&before).filter(|left| !left.is_empty())?;
        let mut form = parts[..start].to_vec();
        form.extend(left.chars().map(PatternPart::Literal));
        form.extend_from_slice(&parts[end..]);
        Some(form)
    }

    /// A word as it is in the field, but for its ending.
    pub fn word(&mut self, text: &str) -> String {
        let analyzer = self.analyzer.unstemmed();
        let term = only_term(text, &analyzer, self.scratch);
        term.unwrap_or_else(|| self.analyzer.part(text))
    }

    /// The stem of a word, if the field has another than the word.
    pub fn stem(&mut self, word: &str) -> Option<String> {
        if !self.analyzer.stems() {
            return None;
        }
        let stem = only_term(word, self.analyzer, self.scratch);
        stem.filter(|stem| stem != word && !stem.is_empty())
    }

    /// A pattern whose letters are written as they stand in terms.
    fn as_in_terms(&self, parts: &[PatternPart]) -> Vec<PatternPart> {
        let runs = parts.chunk_by(|one, next| literal(one).is_some() && literal(next).is_some());
        let written = runs.flat_map(|run| match run {
            [wildcard @ (PatternPart::Many | PatternPart::One)] => vec![*wildcard],
            letters => {
                let text: String = letters.iter().filter_map(literal).collect();
                let text = self.analyzer.part(&text);
                text.chars().map(PatternPart::Literal).collect()
            }
        });
        written.collect()
    }
}

/// The term that the whole of a text is.
fn only_term(text: &str, analyzer: &Analyzer, scratch: &mut Scratch) -> Option<String> {
    let (mut term, mut count) = (None, 0);
    analyzer.analyze(text, scratch, |token| {
        count += 1;
        let is_whole = (token.start, token.end) == (0, text.len());
        term = is_whole.then(|| token.text.to_owned());
    });
    term.filter(|_| count == 1)
}

impl Form {
    /// The pattern over terms.
    pub fn pattern(self) -> Result<Pattern> {
        Ok(match self {
            Form::Prefix(prefix) => Pattern::Prefix(prefix.into_bytes()),
            Form::Term(term) => {
                let only = || Bound::Included(term.clone().into_bytes());
                Pattern::Range(only(), only())
            }
            Form::Parts(parts) => Pattern::Wildcard(Wildcard::of(parts)?),
        })
    }

    /// Writes it for people.
    pub fn written(&self) -> String {
        match self {
            Form::Prefix(prefix) => format!("{prefix}*"),
            Form::Term(term) => term.clone(),
            Form::Parts(parts) => written(parts),
        }
    }
}

/// Writes the parts of a pattern for people.
pub fn written(parts: &[PatternPart]) -> String {
    let each = parts.iter().map(|part| match part {
        PatternPart::Many => '*',
        PatternPart::One => '?',
        PatternPart::Literal(character) => *character,
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::pattern_parts;

    fn forms(analyzer: &str, pattern: &str) -> String {
        let analyzer = Analyzer::named(analyzer).unwrap();
        let mut words = FieldWords {
            analyzer: &analyzer,
            scratch: &mut Scratch::default(),
        };
        let parts: Vec<PatternPart> = pattern_parts(pattern).collect();
        let forms = words.forms(&parts);
        let written: Vec<String> = forms.iter().map(Form::written).collect();
        written.join(" ")
    }

    #[test]
    fn a_field_that_stems_is_asked_for_stems() {
        for (pattern, expected) in [
            ("house*", "hous*"),
            ("Houses*", "hous*"),
            ("running*", "running* run"),
            ("hous*", "hous* hou"),
            ("happy*", "happy* happi*"),
            ("the*", "the*"),
            ("dog's*", "dog's* dog"),
            ("whale*", "whale*"),
            ("*house", "*house *hous"),
            ("ho*se", "ho*se ho*s"),
            ("h?use*", "h?use* h?us*"),
            ("*ing", "*ing"),
            ("hous?", "hous? hous"),
        ] {
            assert_eq!(forms("english", pattern), expected, "{pattern}");
        }
        assert_eq!(forms("french", "Chevaux*"), "chevaux* cheval*");
    }

    #[test]
    fn other_fields_are_asked_as_it_is_written() {
        for (analyzer, pattern, expected) in [
            ("standard", "House*", "house*"),
            ("standard", "É*E", "é*e"),
            ("whitespace", "House*", "House*"),
            ("keyword", "Two W*", "Two W*"),
        ] {
            assert_eq!(forms(analyzer, pattern), expected, "{analyzer} {pattern}");
        }
    }
}
