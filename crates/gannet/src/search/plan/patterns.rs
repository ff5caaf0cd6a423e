//! Patterns in the words of a field: cut where its analyzer cuts, stemmed where it stems.
//!
//! A pattern of several words is a phrase whose last word is the pattern. A wildcard before the
//! last word has no such phrase: in a field that is named, or in all that are searched, it is an
//! error.

use super::cut::{CutPattern, cut, literal};
use super::field_query::FieldQuery;
use super::forms::{FieldWords, Form, written};
use super::node::{PlanNode, PlanSlot, WantedTerms};
use super::notes::{Remark, short};
use super::planner::{Planner, check_positions};
use crate::analysis::{Field, split_term_key};
use crate::base::{Error, Result};
use crate::search::query::pattern::Pattern;
use crate::search::query::{PatternPart, automatic_distance};

/// A pattern as it was written, in which backslashes no longer keep signs from being read as
/// others.
pub struct WrittenPattern {
    /// Its parts, with those of the text before it.
    pub parts: Vec<PatternPart>,
    /// The slop, if it was written as a phrase.
    pub phrase: Option<u32>,
    /// The number of terms that it stands for at most, the first in their order, if that is given.
    pub first: Option<usize>,
    /// The distance of a fuzzy word, or that it is automatic.
    pub fuzzy: Option<Option<u8>>,
}

impl WrittenPattern {
    /// A pattern that is one word or more, not in quotes.
    pub fn of(parts: Vec<PatternPart>) -> WrittenPattern {
        WrittenPattern {
            parts,
            phrase: None,
            first: None,
            fuzzy: None,
        }
    }

    /// The pattern as people write it.
    fn shown(&self, asked: &FieldQuery<'_>) -> String {
        let parts = written(&self.parts);
        let shown = match (self.phrase, self.fuzzy) {
            (Some(_), _) => format!("\"{parts}\""),
            (None, Some(None)) => format!("{parts}~"),
            (None, Some(Some(distance))) => format!("{parts}~{distance}"),
            (None, None) => parts,
        };
        if asked.is_named {
            format!("{}:{shown}", asked.field.name)
        } else {
            shown
        }
    }
}

/// A text as parts of a pattern.
pub fn literals(text: &str) -> impl Iterator<Item = PatternPart> {
    text.chars().map(PatternPart::Literal)
}

/// A pattern in a field, and how one would write it.
struct Formed {
    pattern: Pattern,
    written: String,
    /// The result of the stemmer, if it was asked.
    stemmed: Option<Stemmed>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stemmed {
    Changed,
    Same,
}

impl Planner<'_> {
    /// The terms that a pattern stands for, or a phrase that ends with them. Nothing where analysis
    /// leaves nothing.
    pub fn terms_like(
        &mut self,
        pattern: &WrittenPattern,
        asked: &FieldQuery<'_>,
    ) -> Result<Option<PlanNode>> {
        let field = asked.field;
        let analyzer = field.analyzer.unstemmed();
        let Some(cut) = cut(&pattern.parts, &analyzer, &mut self.scratch) else {
            let shown = pattern.shown(asked);
            self.notes.say(&shown, Remark::Unasked, &field.name);
            self.unasked += 1;
            self.last_unasked = shown;
            return Ok(Some(PlanNode::None));
        };
        self.cut_pattern(pattern, cut, asked)
    }

    fn cut_pattern(
        &mut self,
        pattern: &WrittenPattern,
        cut: CutPattern,
        asked: &FieldQuery<'_>,
    ) -> Result<Option<PlanNode>> {
        let (field, boost, slop) = (asked.field, asked.boost, pattern.phrase.unwrap_or(0));
        let CutPattern { before, last } = cut;
        // An empty text is a whole value of the analyzer keyword.
        let (words, place) = if before.is_empty() {
            (Vec::new(), 0)
        } else {
            self.words(&before, field, true)?
        };
        let has_last = last.iter().any(|part| *part != PatternPart::Many);
        if !before.is_empty() && !has_last {
            self.say_asked(pattern, asked, &words, None);
            return self.phrase_of(words, slop, asked);
        }
        let formed = self.formed(pattern, &last, field)?;
        self.say_asked(pattern, asked, &words, Some(&formed));
        let wanted = match pattern.first {
            Some(first) => WantedTerms::First(first),
            None if words.is_empty() => WantedTerms::All,
            None => WantedTerms::MostFrequent,
        };
        let slot = self.pattern(asked, formed.pattern, wanted)?;
        if words.is_empty() {
            return Ok(Some(PlanNode::Pattern(slot, boost)));
        }
        check_positions(field)?;
        Ok(Some(PlanNode::Phrase {
            words,
            last: Some((slot, place)),
            slop,
            boost,
        }))
    }

    /// The last word of a pattern in the forms that the field has.
    fn formed(
        &mut self,
        written: &WrittenPattern,
        last: &[PatternPart],
        field: &Field,
    ) -> Result<Formed> {
        if let Some(distance) = written.fuzzy {
            return self.fuzzy_word(last, distance, field);
        }
        let mut words = FieldWords {
            analyzer: &field.analyzer,
            scratch: &mut self.scratch,
        };
        let forms = words.forms(last);
        let shown: Vec<String> = forms.iter().map(Form::written).collect();
        let stemmed = match (&forms[..], field.analyzer.stems()) {
            (_, false) => None,
            ([Form::Prefix(prefix)], _) if is_prefix(last, &words.word(prefix)) => None,
            ([Form::Parts(_)], _) => Some(Stemmed::Same),
            _ => Some(Stemmed::Changed),
        };
        let patterns = forms.into_iter().map(Form::pattern);
        Ok(Formed {
            pattern: one_or_either(patterns.collect::<Result<_>>()?),
            written: shown.join(" and "),
            stemmed,
        })
    }

    /// A fuzzy word as it is, and its stem.
    fn fuzzy_word(
        &mut self,
        last: &[PatternPart],
        distance: Option<u8>,
        field: &Field,
    ) -> Result<Formed> {
        let text: String = last.iter().filter_map(literal).collect();
        let mut words = FieldWords {
            analyzer: &field.analyzer,
            scratch: &mut self.scratch,
        };
        let word = words.word(&text);
        let stem = words.stem(&word);
        let distance = distance.unwrap_or_else(|| automatic_distance(&word));
        let mut forms = vec![(word, distance)];
        // The fewer letters, the more a few edits leave nothing of them.
        forms.extend(stem.map(|stem| {
            let most = automatic_distance(&stem);
            (stem, distance.min(most))
        }));
        let shown = forms
            .iter()
            .map(|(word, distance)| format!("{word}~{distance}"));
        let shown: Vec<String> = shown.collect();
        let stemmed = (forms.len() > 1).then_some(Stemmed::Changed);
        let patterns = forms.into_iter().map(|(word, distance)| {
            let fuzzy = self.fuzzy(word, distance)?;
            Ok(Pattern::Fuzzy(fuzzy))
        });
        Ok(Formed {
            pattern: one_or_either(patterns.collect::<Result<_>>()?),
            written: shown.join(" and "),
            stemmed,
        })
    }

    /// Says how a pattern is asked, where that is not as it was written.
    fn say_asked(
        &mut self,
        pattern: &WrittenPattern,
        asked: &FieldQuery<'_>,
        words: &[(PlanSlot, u32)],
        last: Option<&Formed>,
    ) {
        let is_cut = !words.is_empty() && pattern.phrase.is_none();
        let stemmed = last.and_then(|last| last.stemmed);
        let texts = words.iter().map(|(slot, _)| {
            let key = &self.terms[*slot].key;
            let text = split_term_key(key).map_or(&key[..], |(_, text)| text);
            String::from_utf8_lossy(text).into_owned()
        });
        let texts = texts.chain(last.map(|last| last.written.clone()));
        let form = || {
            let form: Vec<String> = texts.collect();
            if words.is_empty() || last.is_none() && words.len() == 1 {
                form.concat()
            } else {
                format!("\"{}\"", form.join(" "))
            }
        };
        let remark = match stemmed {
            Some(Stemmed::Changed) => Remark::Stemmed(form()),
            _ if is_cut || last.is_none() => Remark::Asked(form()),
            Some(Stemmed::Same) => Remark::Compared,
            None => return,
        };
        self.notes
            .say(&pattern.shown(asked), remark, &asked.field.name);
    }

    /// The error where no field can be asked for a pattern.
    pub(super) fn impossible(&self) -> Error {
        Error::invalid(format!(
            "{} is several words, and a wildcard stands before the last of them: write wildcards only \
             in the last word, or the words apart, joined by AND",
            short(&self.last_unasked)
        ))
    }
}

/// Returns true if a pattern is this prefix as it stands.
fn is_prefix(parts: &[PatternPart], prefix: &str) -> bool {
    written(parts).to_lowercase() == format!("{prefix}*")
}

fn one_or_either(mut patterns: Vec<Pattern>) -> Pattern {
    match patterns.len() {
        1 => patterns.remove(0),
        _ => Pattern::Either(patterns),
    }
}
