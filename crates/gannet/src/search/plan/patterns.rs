//! Patterns in the words of a field: cut where its analyzer cuts, stemmed where it stems.
//!
//! A pattern of several words is a phrase whose last word is the pattern. A wildcard before the
//! last word has no such phrase: in a field that is named, or in all that are searched, it is an
//! error.

use super::cut::{CutPattern, cut, literal};
use super::forms::{FieldWords, Form, written};
use super::notes::{Remark, short};
use super::{PlanNode, PlanSlot, PlannedPattern, Planner, check_positions};
use crate::analysis::{Field, split_term_key};
use crate::base::{Error, Result};
use crate::search::query::pattern::Pattern;
use crate::search::query::{PatternPart, Query, automatic_distance, pattern_parts};

/// A pattern as it was written.
struct WrittenPattern<'q> {
    leaf: &'q Query,
    parts: Vec<PatternPart>,
    slop: u32,
    /// The distance of a fuzzy word, or that it is automatic.
    fuzzy: Option<Option<u8>>,
}

impl<'q> WrittenPattern<'q> {
    fn of(leaf: &'q Query) -> Option<WrittenPattern<'q>> {
        let (mut slop_of, mut fuzzy) = (0, None);
        let mut parts = Vec::new();
        match leaf {
            Query::Prefix { prefix, .. } => {
                parts.extend(literals(prefix));
                parts.push(PatternPart::Many);
            }
            Query::Wildcard { pattern, .. } => parts.extend(pattern_parts(pattern)),
            Query::PhrasePattern {
                text,
                pattern,
                slop,
                ..
            } => {
                slop_of = *slop;
                parts.extend(literals(text));
                parts.extend(pattern_parts(pattern));
            }
            Query::Fuzzy { text, distance, .. } => {
                fuzzy = Some(*distance);
                parts.extend(literals(text));
            }
            _ => return None,
        }
        Some(WrittenPattern {
            leaf,
            parts,
            slop: slop_of,
            fuzzy,
        })
    }
}

impl WrittenPattern<'_> {
    /// The pattern as people write it, without the backslashes that keep signs from being read as
    /// others.
    fn shown(&self) -> String {
        let parts = written(&self.parts);
        let (field, shown) = match self.leaf {
            Query::PhrasePattern { field, .. } => (field, format!("\"{parts}\"")),
            Query::Fuzzy {
                field, distance, ..
            } => {
                let distance = distance.map_or(String::new(), |distance| distance.to_string());
                (field, format!("{parts}~{distance}"))
            }
            Query::Prefix { field, .. } | Query::Wildcard { field, .. } => (field, parts),
            _ => (&None, parts),
        };
        match field {
            Some(field) => format!("{field}:{shown}"),
            None => shown,
        }
    }
}

fn literals(text: &str) -> impl Iterator<Item = PatternPart> {
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
    pub(super) fn terms_like(
        &mut self,
        leaf: &Query,
        field: &Field,
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        let Some(asked) = WrittenPattern::of(leaf) else {
            return Ok(Some(PlanNode::None));
        };
        let analyzer = field.analyzer.unstemmed();
        let Some(cut) = cut(&asked.parts, &analyzer, &mut self.scratch) else {
            self.unasked += 1;
            self.notes.say(&asked.shown(), Remark::Unasked, &field.name);
            return Ok(Some(PlanNode::None));
        };
        self.cut_pattern(&asked, cut, field, boost)
    }

    fn cut_pattern(
        &mut self,
        asked: &WrittenPattern<'_>,
        cut: CutPattern,
        field: &Field,
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        let CutPattern { before, last } = cut;
        // An empty text is a whole value of the analyzer keyword.
        let (words, place) = if before.is_empty() {
            (Vec::new(), 0)
        } else {
            self.words(&before, field, true)?
        };
        let has_last = last.iter().any(|part| *part != PatternPart::Many);
        if !before.is_empty() && !has_last {
            self.say_asked(asked, &words, None, field);
            return self.phrase_of(words, asked.slop, field, boost);
        }
        let formed = self.formed(asked, &last, field)?;
        self.say_asked(asked, &words, Some(&formed), field);
        let ends_phrase = !words.is_empty();
        let slot = self.add_pattern(asked.leaf, formed.pattern, field, ends_phrase)?;
        if !ends_phrase {
            return Ok(Some(PlanNode::Pattern(slot, boost)));
        }
        check_positions(field)?;
        Ok(Some(PlanNode::Phrase {
            words,
            last: Some((slot, place)),
            slop: asked.slop,
            boost,
        }))
    }

    /// The last word of a pattern in the forms that the field has.
    fn formed(
        &mut self,
        asked: &WrittenPattern<'_>,
        last: &[PatternPart],
        field: &Field,
    ) -> Result<Formed> {
        if let Some(distance) = asked.fuzzy {
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

    pub(super) fn add_pattern(
        &mut self,
        leaf: &Query,
        pattern: Pattern,
        field: &Field,
        ends_phrase: bool,
    ) -> Result<PlanSlot> {
        let written = leaf.to_string();
        self.allowance
            .leaf(pattern.memory_bytes() + written.len())?;
        self.patterns.push(PlannedPattern {
            field: field.id,
            pattern,
            written,
            ends_phrase,
            stems: field.analyzer.stems(),
        });
        Ok(self.patterns.len() - 1)
    }

    /// Says how a pattern is asked, where that is not as it was written.
    fn say_asked(
        &mut self,
        asked: &WrittenPattern<'_>,
        words: &[(PlanSlot, u32)],
        last: Option<&Formed>,
        field: &Field,
    ) {
        let is_phrase = matches!(asked.leaf, Query::PhrasePattern { .. });
        let is_cut = !words.is_empty() && !is_phrase;
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
        self.notes.say(&asked.shown(), remark, &field.name);
    }

    /// The error where no field can be asked for a pattern.
    pub(super) fn impossible(&self, leaf: &Query) -> Error {
        let shown = WrittenPattern::of(leaf).map_or(String::new(), |asked| asked.shown());
        Error::invalid(format!(
            "{} is several words, and a wildcard stands before the last of them: write wildcards only \
             in the last word, or the words apart, joined by AND",
            short(&shown)
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
