//! Queries that have no answer: a field that does not exist, or that cannot be asked so.

use gannet::Query;

use super::asked::{Asked, asked};
use super::model::Field;
use super::patterns::{Glyph, glyphs};
use super::ranges::have_order;
use super::view::View;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A field does not exist, or cannot be asked for a range or a pattern.
    Field,
}

impl Rejection {
    /// Returns true if an error is about this.
    pub fn is_said_by(self, error: &str) -> bool {
        match self {
            Rejection::Field => [
                "there is no field",
                "ranges are not possible",
                "a range needs a field",
                "the values of field",
                "the range of field",
                "a wildcard stands before the last",
            ]
            .iter()
            .any(|part| error.contains(part)),
        }
    }
}

/// Checks that all fields exist and can answer what they are asked.
pub fn check(view: &View<'_>, query: &Query) -> Result<(), Rejection> {
    let is_right = match query {
        Query::Range { field: None, .. } => false,
        Query::Range {
            field: Some(name),
            lower,
            upper,
        } => view.field(name).is_some_and(|at| {
            let field = &view.fields[at];
            if field.is_text {
                field.analyzer.name() == "keyword"
            } else {
                have_order(name, lower, upper)
            }
        }),
        Query::Exists { field } => view.field(field).is_some(),
        Query::OneOf { field, values } => {
            view.field(field)
                .is_some_and(|at| is_whole(&view.fields[at]))
                && !values.is_empty()
        }
        Query::Regexp { field, .. } => view.field(field).is_some(),
        Query::Text { field, .. }
        | Query::Phrase { field, .. }
        | Query::PhrasePattern { field, .. }
        | Query::Prefix { field, .. }
        | Query::Wildcard { field, .. }
        | Query::Fuzzy { field, .. } => field.iter().all(|name| view.field(name).is_some()),
        Query::MatchAll
        | Query::MatchNone
        | Query::Bool { .. }
        | Query::Best { .. }
        | Query::Boost { .. } => true,
    };
    let is_right = is_right && can_be_asked(view, query);
    let mut parts = query.children();
    if is_right {
        parts.try_for_each(|part| check(view, part))
    } else {
        Err(Rejection::Field)
    }
}

/// Returns true if the terms of a field are whole strings.
fn is_whole(field: &Field) -> bool {
    field.is_text && field.analyzer.name() == "keyword"
}

/// Returns true if a pattern is possible in a field that is searched, unless no field has a word of
/// it.
fn can_be_asked(view: &View<'_>, query: &Query) -> bool {
    let Some((name, glyphs, fuzzy)) = pattern_of(query) else {
        return true;
    };
    let searched = view.fields.iter().filter(|field| match name {
        Some(name) => field.name == name,
        None => field.is_text,
    });
    let (mut left, mut impossible) = (0, 0);
    for field in searched {
        match asked(field, &glyphs, fuzzy) {
            Asked::Nothing => {}
            Asked::Impossible => (left, impossible) = (left + 1, impossible + 1),
            Asked::Words(..) => left += 1,
        }
    }
    impossible == 0 || impossible < left
}

/// The field, the glyphs and the distance of a pattern.
pub type AskedPattern<'q> = (Option<&'q str>, Vec<Glyph>, Option<Option<u8>>);

/// The parts of a query that is a pattern.
pub fn pattern_of(query: &Query) -> Option<AskedPattern<'_>> {
    let text = |text: &str| text.chars().map(Glyph::Exactly).collect::<Vec<_>>();
    let (field, glyphs, fuzzy) = match query {
        Query::Prefix { field, prefix } => {
            let mut glyphs = text(prefix);
            glyphs.push(Glyph::Any);
            (field, glyphs, None)
        }
        Query::Wildcard { field, pattern } => (field, glyphs(pattern), None),
        Query::PhrasePattern {
            field,
            text: before,
            pattern,
            ..
        } => {
            let mut all = text(before);
            all.extend(glyphs(pattern));
            (field, all, None)
        }
        Query::Fuzzy {
            field,
            text: word,
            distance,
        } => (field, text(word), Some(*distance)),
        Query::MatchAll
        | Query::MatchNone
        | Query::Text { .. }
        | Query::Phrase { .. }
        | Query::Range { .. }
        | Query::OneOf { .. }
        | Query::Regexp { .. }
        | Query::Exists { .. }
        | Query::Bool { .. }
        | Query::Best { .. }
        | Query::Boost { .. } => return None,
    };
    Some((field.as_deref(), glyphs, fuzzy))
}
