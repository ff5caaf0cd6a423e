//! The parts of the query language that are read in one go: signs, quotes, ranges, numbers, words.
//!
//! Each takes what it knows from the front of the text, or fails; [`attempt`] then leaves the text.

use std::ops::Bound;

use winnow::Parser;
use winnow::ascii::digit1;
use winnow::combinator::{alt, delimited, opt, peek, preceded, repeat, separated_pair, terminated};
use winnow::error::EmptyError;
use winnow::stream::{LocatingSlice, Stream};
use winnow::token::{any, one_of, take_while};

use super::chunk::{self, WordPiece};
use super::lexeme::Kind;
use super::lexeme::Operand;

/// A text that is read from the front.
pub(crate) type LexerInput<'a> = LocatingSlice<&'a str>;

type Scanned<T> = Result<T, EmptyError>;

/// The characters that end a word, besides white space.
pub(crate) const STOPS: &[char] = &['(', ')', '"', '“', '„', '«'];

/// Runs `parser`; if it finds nothing, nothing is consumed.
pub(crate) fn attempt<'a, T>(
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

pub(crate) fn open(input: &mut LexerInput<'_>) -> Scanned<Kind> {
    '('.map(|_| Kind::Open).parse_next(input)
}

pub(crate) fn close(input: &mut LexerInput<'_>) -> Scanned<Kind> {
    let (minimum, boost) = preceded(')', (opt(tilde_number), opt(boost))).parse_next(input)?;
    Ok(Kind::Close {
        minimum: minimum.unwrap_or(0),
        boost,
    })
}

/// The text in quotes, its slop, and its boost.
type Quoted = (Vec<WordPiece>, Option<u32>, Option<f32>);

pub(crate) fn phrase(input: &mut LexerInput<'_>) -> Scanned<Quoted> {
    (in_quotes, opt(tilde_number), opt(boost)).parse_next(input)
}

fn quoted(input: &mut LexerInput<'_>) -> Scanned<String> {
    in_quotes
        .map(|pieces| chunk::text(&pieces))
        .parse_next(input)
}

fn in_quotes(input: &mut LexerInput<'_>) -> Scanned<Vec<WordPiece>> {
    let quotes = ['"', '“', '”', '„', '«', '»'];
    let quote = one_of(quotes).parse_next(input)?;
    let ends = closing(quote);
    let inside = repeat(0.., piece(move |c| !ends.contains(&c)));
    terminated(inside, one_of(ends)).parse_next(input)
}

/// The characters that close a quote, the usual one first: people type „so“, “so”, ”so” and »so«.
pub(crate) fn closing(quote: char) -> &'static [char] {
    match quote {
        '“' => &['”', '“', '"'],
        '”' => &['”'],
        '„' => &['“', '”', '"'],
        '«' => &['»'],
        '»' => &['«', '»'],
        _ => &['"'],
    }
}

pub(crate) fn range(input: &mut LexerInput<'_>) -> Scanned<Kind> {
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
fn bound(input: &mut LexerInput<'_>) -> Scanned<Option<String>> {
    let bare = word(&[']', '}', '(', ')', '"']).verify_map(|pieces| match &pieces[..] {
        [only] if only.is('*') => Some(None),
        pieces if pieces.iter().any(|piece| piece.is('*')) => None,
        pieces => Some(Some(chunk::text(pieces))),
    });
    alt((quoted.map(Some), bare)).parse_next(input)
}

pub(crate) fn limit(value: Option<String>, included: bool) -> Bound<String> {
    match value {
        None => Bound::Unbounded,
        Some(value) if included => Bound::Included(value),
        Some(value) => Bound::Excluded(value),
    }
}

/// The value of a comparison.
pub(crate) enum ComparedValue {
    Quoted(String, Option<f32>),
    Bare(Vec<WordPiece>),
}

pub(crate) fn comparison<'a>(input: &mut LexerInput<'a>) -> Scanned<(&'a str, ComparedValue)> {
    let sign = alt((">=", "<=", ">", "<", "="));
    let quoted = (quoted, opt(boost)).map(|(value, boost)| ComparedValue::Quoted(value, boost));
    (sign, alt((quoted, word(STOPS).map(ComparedValue::Bare)))).parse_next(input)
}

/// The values of an equality of several.
pub(crate) type EqualValues = (Vec<ComparedValue>, Option<f32>);

/// The values of an equality in parentheses, and the boost behind them.
pub(crate) fn equal_values(input: &mut LexerInput<'_>) -> Scanned<EqualValues> {
    let quoted = quoted.map(|value| ComparedValue::Quoted(value, None));
    let value = alt((quoted, word(STOPS).map(ComparedValue::Bare)));
    let values = repeat(1.., delimited(white_space(0), value, white_space(0)));
    preceded("=(", (terminated(values, ')'), opt(boost))).parse_next(input)
}

/// A sign before a clause. Followed by a space, the end or another sign, it is ordinary text.
pub(crate) fn sign(input: &mut LexerInput<'_>) -> Scanned<Kind> {
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
pub(crate) fn word<'a>(
    stops: &'static [char],
) -> impl Parser<LexerInput<'a>, Vec<WordPiece>, EmptyError> {
    let plain = move |c: char| !c.is_whitespace() && !stops.contains(&c);
    repeat(1.., piece(plain))
}

/// A web address, which may have parentheses in it.
pub(crate) fn address(input: &mut LexerInput<'_>) -> Scanned<Vec<WordPiece>> {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (take_while(1.., in_scheme), "://")
        .take()
        .parse_peek(*input)?;
    let mut open = 0;
    let ends = |(_, c): &(usize, char)| {
        open += i32::from(*c == '(') - i32::from(*c == ')');
        open < 0 || c.is_whitespace() || matches!(c, '"' | '“' | '„' | '«')
    };
    let end = input.char_indices().find(ends);
    let address = input.next_slice(end.map_or(input.len(), |(end, _)| end));
    Ok(address.chars().map(WordPiece::plain).collect())
}

/// A character that `plain` allows, or any behind a backslash; the backslash stands for itself
/// before what needs none.
fn piece<'a>(plain: impl Fn(char) -> bool) -> impl Parser<LexerInput<'a>, WordPiece, EmptyError> {
    let needs_none = |c: char| c.is_alphanumeric() || c == '_';
    alt((
        terminated('\\', peek(one_of(needs_none))).map(|_| WordPiece::backslash()),
        preceded('\\', any).map(WordPiece::escaped),
        one_of(plain).map(WordPiece::plain),
    ))
}

pub(crate) fn white_space<'a>(least: usize) -> impl Parser<LexerInput<'a>, &'a str, EmptyError> {
    take_while(least.., char::is_whitespace)
}

fn tilde_number(input: &mut LexerInput<'_>) -> Scanned<u32> {
    preceded('~', digit1.parse_to()).parse_next(input)
}

fn boost(input: &mut LexerInput<'_>) -> Scanned<f32> {
    let number = take_while(1.., ('0'..='9', '.'));
    preceded('^', number.verify_map(chunk::factor)).parse_next(input)
}
