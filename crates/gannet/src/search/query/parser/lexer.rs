//! Cuts a query into lexemes, flatly: no nesting, no recursion, a time proportional to the text.

use std::ops::Bound;

use winnow::Parser;
use winnow::ascii::digit1;
use winnow::combinator::{alt, delimited, opt, peek, preceded, repeat, separated_pair, terminated};
use winnow::error::EmptyError;
use winnow::stream::{LocatingSlice, Location, Stream};
use winnow::token::{any, none_of, one_of, take_while};

use super::chunk::{self, WordPiece};
use super::lexeme::EXISTS;
use super::lexeme::Kind;
use super::lexeme::Lexeme;
use super::lexeme::Operand;
use super::lexeme::invalid;
use crate::analysis::Schema;
use crate::base::Result;
use crate::search::query::fields::is_known;

type LexerInput<'a> = LocatingSlice<&'a str>;
type Parsed<T> = std::result::Result<T, EmptyError>;

/// What ends a word besides white space.
const STOPS: &[char] = &['(', ')', '"'];

/// The lexemes of `text`.
pub(crate) fn lexemes(text: &str, schema: &Schema) -> Result<Vec<Lexeme>> {
    let has_letter = |name: &str| name.chars().any(char::is_alphabetic);
    let mut lexer = Lexer {
        text,
        input: LocatingSlice::new(text),
        schema,
        names_have_letters: schema.fields().iter().all(|f| has_letter(&f.name)),
        after_field: false,
    };
    let mut lexemes = Vec::new();
    while lexer.skip_white_space() {
        let start = lexer.input.current_token_start();
        let kind = lexer.lexeme(start)?;
        lexer.after_field = matches!(kind, Kind::Field(_));
        let end = lexer.input.current_token_start();
        lexemes.push(Lexeme { start, end, kind });
    }
    Ok(lexemes)
}

struct Lexer<'a> {
    text: &'a str,
    input: LexerInput<'a>,
    schema: &'a Schema,
    /// Whether every field has a letter in its name, so that no number can be a misspelt one.
    names_have_letters: bool,
    /// Whether the lexeme before was a field: no sign and no second field can follow, but a
    /// comparison can.
    after_field: bool,
}

impl Lexer<'_> {
    /// Goes to the next lexeme, if there is one.
    fn skip_white_space(&mut self) -> bool {
        let skipped: Parsed<&str> = white_space(0).parse_next(&mut self.input);
        skipped.is_ok() && !self.input.is_empty()
    }

    fn lexeme(&mut self, start: usize) -> Result<Kind> {
        if let Some(kind) = attempt(&mut self.input, alt((open, close, phrase, range))) {
            return match kind {
                Kind::Open => Ok(kind),
                _ => self.check_suffix(start).map(|()| kind),
            };
        }
        if self.input.starts_with('"') {
            let advice = "add a quote at its end or write \\\"";
            return Err(invalid("a quote is not closed", self.text, start, advice));
        }
        let special = match self.after_field {
            true => self.comparison(start)?,
            false => attempt(&mut self.input, sign),
        };
        match special {
            Some(kind) => Ok(kind),
            None => {
                self.check_range(start)?;
                self.word(start)
            }
        }
    }

    /// What follows a quote, a parenthesis or a range directly must be its number or its boost.
    fn check_suffix(&self, start: usize) -> Result<()> {
        let at = self.input.current_token_start();
        let has_suffix = !self.text[start..at].ends_with(['"', ')', ']', '}']);
        let (what, advice) = match self.input.chars().next() {
            Some('^') => chunk::BAD_BOOST,
            Some('~') => chunk::BAD_TILDE,
            Some(next) if has_suffix && !next.is_whitespace() && !STOPS.contains(&next) => (
                "something directly behind the number of a ~ or ^",
                "write a whole number after ~, a number like 0.5 after ^, and then a space",
            ),
            _ => return Ok(()),
        };
        Err(invalid(what, self.text, at, advice))
    }

    /// A comparison with the value behind it, if one comes next.
    fn comparison(&mut self, start: usize) -> Result<Option<Kind>> {
        let Some((sign, value)) = attempt(&mut self.input, comparison) else {
            return Ok(None);
        };
        let (value, boost) = match value {
            ComparedValue::Quoted(value, boost) => {
                self.check_suffix(start)?;
                (value, boost)
            }
            ComparedValue::Bare(pieces) => {
                let split = chunk::split_boost(&pieces);
                let (pieces, boost) =
                    split.map_err(|(what, advice)| invalid(what, self.text, start, advice))?;
                (chunk::text(pieces), boost)
            }
        };
        let limit = limit(Some(value), sign.len() == 2);
        let range = match sign.starts_with('>') {
            true => Operand::Range(limit, Bound::Unbounded),
            false => Operand::Range(Bound::Unbounded, limit),
        };
        Ok(Some(Kind::Operand(range, boost)))
    }

    /// What begins like a range of a field must be one.
    fn check_range(&self, start: usize) -> Result<()> {
        let advice = match self.input.chars().next() {
            Some('[' | '{') => {
                "write field:[a TO b], with {} for ends that are left out, or a backslash before it"
            }
            Some('<' | '>') => "write field:>a without a space, or a backslash before it",
            _ => return Ok(()),
        };
        match self.after_field {
            true => Err(invalid("an incomplete range", self.text, start, advice)),
            false => Ok(()),
        }
    }

    /// A field, an operator or an operand that is one word.
    fn word(&mut self, start: usize) -> Result<Kind> {
        let before = self.input.checkpoint();
        let Some(pieces) = attempt(&mut self.input, word(STOPS)) else {
            // Whatever is not a word here was a parenthesis or a quote; nothing is left to go
            // wrong.
            return Err(invalid(
                "something unreadable",
                self.text,
                start,
                "remove it",
            ));
        };
        if self.after_field {
            return self.operand(start, &pieces);
        }
        if let Some((name, length)) = self.field(&pieces) {
            self.input.reset(&before);
            self.input.next_slice(length);
            return Ok(Kind::Field(name));
        }
        match chunk::operator(&pieces) {
            Some(operator) => Ok(operator),
            None => self.operand(start, &pieces),
        }
    }

    /// The field, known or not, that a word begins with, and its length with the colon.
    fn field(&self, pieces: &[WordPiece]) -> Option<(String, usize)> {
        let (name, length) = chunk::field(pieces)?;
        let is_text = || chunk::is_text_with_colon(pieces, self.names_have_letters);
        let is_field = name == EXISTS || is_known(&name, self.schema) || !is_text();
        is_field.then_some((name, length))
    }

    fn operand(&self, start: usize, pieces: &[WordPiece]) -> Result<Kind> {
        let operand = chunk::operand(pieces, !self.after_field);
        operand.map_err(|(what, advice)| invalid(what, self.text, start, advice))
    }
}

/// What `parser` finds here; if it finds nothing, nothing is consumed.
fn attempt<'a, T>(
    input: &mut LexerInput<'a>,
    mut parser: impl Parser<LexerInput<'a>, T, EmptyError>,
) -> Option<T> {
    let before = input.checkpoint();
    let found = parser.parse_next(input).ok();
    if found.is_none() {
        input.reset(&before);
    }
    found
}

fn open(input: &mut LexerInput<'_>) -> Parsed<Kind> {
    '('.map(|_| Kind::Open).parse_next(input)
}

fn close(input: &mut LexerInput<'_>) -> Parsed<Kind> {
    let (minimum, boost) = preceded(')', (opt(tilde_number), opt(boost))).parse_next(input)?;
    Ok(Kind::Close {
        minimum: minimum.unwrap_or(0),
        boost,
    })
}

fn phrase(input: &mut LexerInput<'_>) -> Parsed<Kind> {
    let (text, slop, boost) = (quoted, opt(tilde_number), opt(boost)).parse_next(input)?;
    let slop = slop.unwrap_or(0);
    Ok(Kind::Operand(Operand::Phrase { text, slop }, boost))
}

fn quoted(input: &mut LexerInput<'_>) -> Parsed<String> {
    let character = alt((preceded('\\', any), none_of('"')));
    delimited('"', repeat(0.., character), '"').parse_next(input)
}

fn range(input: &mut LexerInput<'_>) -> Parsed<Kind> {
    let first = one_of(['[', '{']).parse_next(input)?;
    let between = (white_space(1), "TO", white_space(1));
    let bounds = separated_pair(bound, between, bound);
    let (lower, upper) = delimited(white_space(0), bounds, white_space(0)).parse_next(input)?;
    let last = one_of([']', '}']).parse_next(input)?;
    let boost = opt(boost).parse_next(input)?;
    let range = Operand::Range(limit(lower, first == '['), limit(upper, last == ']'));
    Ok(Kind::Operand(range, boost))
}

/// One end of a range, or nothing if it is open.
fn bound(input: &mut LexerInput<'_>) -> Parsed<Option<String>> {
    let bare = word(&[']', '}', '(', ')', '"']).map(|pieces| match &pieces[..] {
        [only] if only.is('*') => None,
        pieces => Some(chunk::text(pieces)),
    });
    alt((quoted.map(Some), bare)).parse_next(input)
}

fn limit(value: Option<String>, included: bool) -> Bound<String> {
    match value {
        None => Bound::Unbounded,
        Some(value) if included => Bound::Included(value),
        Some(value) => Bound::Excluded(value),
    }
}

/// What a comparison compares with.
enum ComparedValue {
    Quoted(String, Option<f32>),
    Bare(Vec<WordPiece>),
}

fn comparison<'a>(input: &mut LexerInput<'a>) -> Parsed<(&'a str, ComparedValue)> {
    let sign = alt((">=", "<=", ">", "<"));
    let quoted = (quoted, opt(boost)).map(|(value, boost)| ComparedValue::Quoted(value, boost));
    (sign, alt((quoted, word(STOPS).map(ComparedValue::Bare)))).parse_next(input)
}

/// A sign before a clause. Followed by a space, the end or another sign, it is ordinary text.
fn sign(input: &mut LexerInput<'_>) -> Parsed<Kind> {
    let applies = |c: char| !c.is_whitespace() && !")+-!&|=".contains(c);
    alt((
        terminated('+', peek(one_of(applies))).map(|_| Kind::Require),
        terminated('-', peek(one_of(applies))).map(|_| Kind::Prohibit),
        terminated('!', peek(one_of(applies))).map(|_| Kind::Not),
        terminated('#', peek('(')).map(|_| Kind::Filter),
    ))
    .parse_next(input)
}

/// Characters up to white space or one of `stops`, unless they are escaped.
fn word<'a>(stops: &'static [char]) -> impl Parser<LexerInput<'a>, Vec<WordPiece>, EmptyError> {
    let plain = move |c: char| !c.is_whitespace() && !stops.contains(&c);
    let piece = alt((
        preceded('\\', any).map(WordPiece::escaped),
        one_of(plain).map(WordPiece::plain),
    ));
    repeat(1.., piece)
}

fn white_space<'a>(least: usize) -> impl Parser<LexerInput<'a>, &'a str, EmptyError> {
    take_while(least.., char::is_whitespace)
}

fn tilde_number(input: &mut LexerInput<'_>) -> Parsed<u32> {
    preceded('~', digit1.parse_to()).parse_next(input)
}

fn boost(input: &mut LexerInput<'_>) -> Parsed<f32> {
    let number = take_while(1.., ('0'..='9', '.'));
    preceded('^', number.verify_map(chunk::factor)).parse_next(input)
}
