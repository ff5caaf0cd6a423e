//! Cuts a query into lexemes, flatly: no nesting, no recursion, a time proportional to the text.
//!
//! Text that looks like syntax and is none is rejected here, at its place. Only the mark that ends
//! a question is dropped, with a note.

use std::ops::Bound;

use winnow::combinator::alt;
use winnow::stream::{LocatingSlice, Location, Stream};

use super::chunk::{self, Rejection, WordPiece};
use super::lexeme::EXISTS;
use super::lexeme::Kind;
use super::lexeme::Lexeme;
use super::lexeme::Operand;
use super::lexeme::invalid;
use super::mistakes;
use super::scan::{
    ComparedValue, LexerInput, STOPS, address, attempt, close, closing, comparison, equal_values,
    limit, open, phrase, range, sign, white_space, word,
};
use crate::analysis::Schema;
use crate::base::{Error, Result};
use crate::search::query::fields::{is_id, is_known};

/// A note shows words of fewer characters.
const WORD_SHOWN: usize = 40;

/// Rejects a wildcard directly beside quotes, parentheses or a range.
const GLUED: Rejection = (
    "a * or ? directly beside a quote, a parenthesis or a range",
    "leave it out, write draft* for words of that form, or \\* for the character",
);

/// Rejects a `*` that is not the whole query or the whole value of a field.
const ALONE: Rejection = (
    "a * that stands alone",
    "write *:* for all documents, title:* for those with a title, or \\* for the character",
);

/// The lexemes of a query.
pub(crate) struct Lexemes {
    pub lexemes: Vec<Lexeme>,
    pub notes: Vec<String>,
}

/// The lexemes of `text`.
pub(crate) fn lexemes(text: &str, schema: &Schema) -> Result<Lexemes> {
    let has_letter = |name: &str| name.chars().any(char::is_alphabetic);
    let mut lexer = Lexer {
        text,
        input: LocatingSlice::new(text),
        schema,
        names_have_letters: schema.fields().iter().all(|f| has_letter(&f.name)),
        field: None,
        has_words: false,
        is_first: true,
        after_group: false,
        notes: Vec::new(),
    };
    let mut lexemes = Vec::new();
    while lexer.skip_white_space() {
        let start = lexer.input.current_token_start();
        let Some(kind) = lexer.lexeme(start)? else {
            continue;
        };
        lexer.remember(&kind);
        let end = lexer.input.current_token_start();
        lexemes.push(Lexeme { start, end, kind });
    }
    let notes = lexer.notes;
    Ok(Lexemes { lexemes, notes })
}

struct Lexer<'a> {
    text: &'a str,
    input: LexerInput<'a>,
    schema: &'a Schema,
    /// Set if every field has a letter in its name, so that no number can be a misspelt one.
    names_have_letters: bool,
    /// The field that the lexeme before was, if it was one: no sign and no second field can follow,
    /// but a comparison can.
    field: Option<String>,
    /// Set once there was a word or a phrase.
    has_words: bool,
    /// Set until an operand was read between the same parentheses.
    is_first: bool,
    /// Set if a phrase or a parenthesis ended right before.
    after_group: bool,
    notes: Vec<String>,
}

impl Lexer<'_> {
    /// Goes to the next lexeme, if there is one.
    fn skip_white_space(&mut self) -> bool {
        attempt(&mut self.input, white_space(0));
        !self.input.is_empty()
    }

    fn remember(&mut self, kind: &Kind) {
        self.after_group = matches!(
            kind,
            Kind::Close { .. } | Kind::Operand(Operand::Phrase { .. }, _)
        );
        match kind {
            Kind::Open => self.is_first = true,
            Kind::Close { .. } => self.is_first = false,
            Kind::Operand(operand, _) => {
                let marks = |pattern: &str| !pattern.contains(char::is_alphanumeric);
                let is_marks = matches!(operand, Operand::Wildcard(pattern) if marks(pattern));
                self.has_words |= !is_marks;
                self.is_first = false;
            }
            _ => {}
        }
        self.field = match kind {
            Kind::Field(name) => Some(name.clone()),
            _ => None,
        };
    }

    /// Reads the next lexeme; nothing if it only is a mark at the end.
    fn lexeme(&mut self, start: usize) -> Result<Option<Kind>> {
        if let Some(kind) = attempt(&mut self.input, alt((open, close, range))) {
            return match kind {
                Kind::Open => Ok(Some(kind)),
                _ => self.check_suffix(start).map(|()| Some(kind)),
            };
        }
        if let Some(kind) = self.phrase(start)? {
            return Ok(Some(kind));
        }
        let special = match &self.field {
            Some(_) => self.comparison(start)?,
            None => attempt(&mut self.input, sign),
        };
        match special {
            Some(kind) => Ok(Some(kind)),
            None => {
                self.check_range(start)?;
                self.word(start)
            }
        }
    }

    /// A phrase, if quotes come next.
    fn phrase(&mut self, start: usize) -> Result<Option<Kind>> {
        let first = self.input.chars().next();
        let Some((pieces, slop, boost)) = attempt(&mut self.input, phrase) else {
            // The other two close quotes, too, or stand alone.
            return match first {
                Some(quote @ ('"' | '“' | '„' | '«')) => Err(self.unclosed(quote, start)),
                _ => Ok(None),
            };
        };
        self.check_suffix(start)?;
        // External IDs and names of fields stand in quotes whole.
        let is_value = |name: &String| name == EXISTS || is_id(name, self.schema);
        if let Some(at) = chunk::early_star(&pieces)
            && !self.field.as_ref().is_some_and(is_value)
        {
            let at = start + first.map_or(0, char::len_utf8) + at;
            let what = "a * in quotes before their last word";
            let advice = "write \"black for*\" with it at the end, or \\* for the character";
            return Err(invalid(what, self.text, at, advice));
        }
        let operand = chunk::in_quotes(&pieces, slop.unwrap_or(0));
        Ok(Some(Kind::Operand(operand, boost)))
    }

    fn unclosed(&self, quote: char, start: usize) -> Error {
        let advice = match quote {
            '"' => "add a quote at its end or write \\\"".to_owned(),
            other => format!("add {} at its end or write \\{other}", closing(other)[0]),
        };
        invalid("a quote is not closed", self.text, start, &advice)
    }

    /// Checks that only a number or a boost directly follows a quote, a parenthesis or a range.
    fn check_suffix(&self, start: usize) -> Result<()> {
        let at = self.input.current_token_start();
        let closing = ['"', '”', '“', '»', '«', ')', ']', '}'];
        let has_suffix = !self.text[start..at].ends_with(closing);
        let (what, advice) = match self.input.chars().next() {
            Some('^') => chunk::BAD_BOOST,
            Some('~') => chunk::BAD_TILDE,
            Some('*') => GLUED,
            Some('?') if !self.is_question_mark() => GLUED,
            Some(next)
                if has_suffix && !next.is_whitespace() && !STOPS.contains(&next) && next != '?' =>
            {
                (
                    "something directly behind the number of a ~ or ^",
                    "write a whole number after ~, a number like 0.5 after ^, and then a space",
                )
            }
            _ => return Ok(()),
        };
        Err(invalid(what, self.text, at, advice))
    }

    /// Returns true if only marks follow.
    fn is_question_mark(&self) -> bool {
        let rest = self.input.trim_start_matches(['?', '!']);
        is_end(rest)
    }

    /// A comparison with the value behind it, if one comes next.
    fn comparison(&mut self, start: usize) -> Result<Option<Kind>> {
        let name = self.field.as_deref().unwrap_or_default();
        if let Some(right) = mistakes::sign_behind_colon(name, &self.input) {
            return Err(self.no_comparison(start, &right));
        }
        if let Some((values, boost)) = attempt(&mut self.input, equal_values) {
            self.check_suffix(start)?;
            let value = |value| Ok(self.compared(start, value)?.0);
            let values = values.into_iter().map(value).collect::<Result<_>>()?;
            return Ok(Some(Kind::Operand(Operand::OneOf(values), boost)));
        }
        let Some((sign, value)) = attempt(&mut self.input, comparison) else {
            return Ok(None);
        };
        if let ComparedValue::Quoted(..) = value {
            self.check_suffix(start)?;
        }
        let (value, boost) = self.compared(start, value)?;
        if sign == "=" {
            let operand = Operand::OneOf(vec![value]);
            return Ok(Some(Kind::Operand(operand, boost)));
        }
        let limit = limit(Some(value), sign.len() == 2);
        let range = if sign.starts_with('>') {
            Operand::Range(limit, Bound::Unbounded)
        } else {
            Operand::Range(Bound::Unbounded, limit)
        };
        Ok(Some(Kind::Operand(range, boost)))
    }

    /// A value that is compared, and its boost.
    fn compared(&self, start: usize, value: ComparedValue) -> Result<(String, Option<f32>)> {
        match value {
            ComparedValue::Quoted(value, boost) => Ok((value, boost)),
            ComparedValue::Bare(pieces) => {
                let split = chunk::split_boost(&pieces);
                let (pieces, boost) =
                    split.map_err(|(what, advice)| invalid(what, self.text, start, advice))?;
                if pieces.iter().any(|piece| piece.is('*')) {
                    self.no_star(start)?;
                }
                Ok((chunk::text(pieces), boost))
            }
        }
    }

    fn no_comparison(&self, start: usize, right: &str) -> Error {
        let advice = format!("write {right}, or the text in quotes");
        let what = "a comparison that is not in the language";
        invalid(what, self.text, start, &advice)
    }

    /// Rejects text that begins like a range of a field and is none.
    fn check_range(&self, start: usize) -> Result<()> {
        let advice = match self.input.chars().next() {
            Some('[' | '{') if is_star_within(&self.input) => return self.no_star(start),
            Some('[' | '{') => {
                "write field:[a TO b], with {} for ends that are left out, or a backslash before it"
            }
            Some('<' | '>' | '=') => {
                "write field:>a or field:=a without a space, or a backslash before it"
            }
            _ => return Ok(()),
        };
        match self.field {
            Some(_) => Err(invalid("an incomplete range", self.text, start, advice)),
            None => Ok(()),
        }
    }

    /// Rejects a `*` in a value that is compared, if there is a field.
    fn no_star(&self, start: usize) -> Result<()> {
        let what = "a * in a value of a range";
        let advice = "write whole values, [a TO *] where there is no end, or \\* for the character";
        match self.field {
            Some(_) => Err(invalid(what, self.text, start, advice)),
            None => Ok(()),
        }
    }

    /// A field, an operator or an operand that is one word.
    fn word(&mut self, start: usize) -> Result<Option<Kind>> {
        let before = self.input.checkpoint();
        self.check_syntax(start)?;
        let Some(pieces) = attempt(&mut self.input, alt((address, word(STOPS)))) else {
            // Whatever is not a word here was a parenthesis or a quote; nothing is left to go
            // wrong.
            return Err(invalid(
                "something unreadable",
                self.text,
                start,
                "remove it",
            ));
        };
        if self.field.is_none() {
            if let Some((name, length)) = self.field(&pieces) {
                self.input.reset(&before);
                self.input.next_slice(length);
                return Ok(Some(Kind::Field(name)));
            }
            if let Some(operator) = chunk::operator(&pieces) {
                return Ok(Some(operator));
            }
        }
        if self.after_group && chunk::is_tilde_number(&pieces) {
            let advice = "write \"a b\"~2 without one, or \\~ for the character";
            return Err(invalid("a ~ behind a space", self.text, start, advice));
        }
        let word = chunk::without_backslash(&pieces);
        let dropped = chunk::length(&pieces) - chunk::length(word);
        let pieces = self.without_marks(word);
        self.check_stars(start + dropped, pieces)?;
        if pieces.is_empty() {
            Ok(None)
        } else {
            self.operand(start, pieces).map(Some)
        }
    }

    /// Rejects what other languages would read as more than text.
    fn check_syntax(&self, start: usize) -> Result<()> {
        if let Some((what, advice)) = mistakes::expression(&self.input) {
            return Err(invalid(what, self.text, start, advice));
        }
        let right = match self.field {
            None => mistakes::comparison(&self.input, self.schema),
            Some(_) => None,
        };
        right.map_or(Ok(()), |right| Err(self.no_comparison(start, &right)))
    }

    /// A word without the marks that end a question: such as end the query, behind another word.
    fn without_marks<'p>(&mut self, pieces: &'p [WordPiece]) -> &'p [WordPiece] {
        let (rest, marks) = pieces.split_at(pieces.len() - chunk::closing_marks(pieces));
        let is_value = rest.is_empty() && self.field.is_some();
        let is_sentence = self.has_words && !self.is_first;
        let is_exclaimed = !rest.is_empty() && marks.iter().any(|mark| mark.is('!'));
        if marks.is_empty() || is_value || !is_end(&self.input) || !(is_sentence || is_exclaimed) {
            return pieces;
        }
        let (word, marks) = (chunk::text(rest), chunk::text(marks));
        let pattern = match rest.len() {
            1..WORD_SHOWN => format!("; for words with one more character write ({word}?)"),
            _ => String::new(),
        };
        let note = format!("the {marks} at the end is taken as punctuation{pattern}");
        self.notes.push(note);
        rest
    }

    /// Only `*` as the whole query, `*:*` and `field:*` are everything.
    fn check_stars(&self, start: usize, pieces: &[WordPiece]) -> Result<()> {
        let star = pieces.iter().position(|piece| piece.is_wildcard());
        let Some(star) =
            star.filter(|_| !chunk::is_everything(pieces) && !chunk::is_address(pieces))
        else {
            return Ok(());
        };
        let is_glued = self.input.starts_with(['(', '"', '“', '„', '«']);
        let named = chunk::split_boost(pieces).map_or(pieces, |(pieces, _)| pieces);
        let is_whole = || match self.field {
            None => self.text.trim() == "*",
            Some(_) => named.len() == 1,
        };
        let (what, advice) = if is_glued {
            GLUED
        } else if named.iter().all(|piece| piece.is('*')) && !is_whole() {
            ALONE
        } else {
            return Ok(());
        };
        let at = start + chunk::length(&pieces[..star]);
        Err(invalid(what, self.text, at, advice))
    }

    /// The field, known or not, that a word begins with, and its length with the colon.
    fn field(&self, pieces: &[WordPiece]) -> Option<(String, usize)> {
        let (name, length) = chunk::field(pieces)?;
        let is_text = || chunk::is_text_with_colon(pieces, self.names_have_letters);
        let is_field = name == EXISTS || is_known(&name, self.schema) || !is_text();
        is_field.then_some((name, length))
    }

    fn operand(&self, start: usize, pieces: &[WordPiece]) -> Result<Kind> {
        let operand = chunk::operand(pieces, self.field.is_none());
        operand.map_err(|(what, advice)| invalid(what, self.text, start, advice))
    }
}

/// Returns true if there is a `*` before the end of a range.
fn is_star_within(range: &str) -> bool {
    let range = range.split([']', '}']).next();
    range.is_some_and(|values| values.contains('*'))
}

/// Returns true if a query ends here, but for parentheses.
fn is_end(rest: &str) -> bool {
    rest.chars().all(|c| c.is_whitespace() || c == ')')
}
