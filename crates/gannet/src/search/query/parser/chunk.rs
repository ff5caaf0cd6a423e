//! Reads a single word of a query: an operator, text, or text with wildcards, a tilde or a boost.
//!
//! A word comes as pieces, each a character and whether it was escaped; only those that were not
//! mean anything but themselves. A backslash before a letter, digit or underscore stands for
//! itself, but for `\AND`, `\OR` and `\NOT`. A web address is text, whatever is in it.
//!
//! A name before a colon is a field, and an error if there is none of that name. The colon is text
//! only where nobody means a field: in `*:*`, `http://x`, `std::vec`, `C:\Users`, and behind a name
//! without a letter (`12:30`, `:)`).

use super::lexeme::Kind;
use super::lexeme::Operand;
use crate::search::query::Operator;

/// A character of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordPiece {
    character: char,
    escaped: bool,
    /// Its length in the query in bytes.
    length: usize,
}

impl WordPiece {
    pub fn plain(character: char) -> WordPiece {
        WordPiece {
            character,
            escaped: false,
            length: character.len_utf8(),
        }
    }

    /// A character behind a backslash.
    pub fn escaped(character: char) -> WordPiece {
        WordPiece {
            character,
            escaped: true,
            length: 1 + character.len_utf8(),
        }
    }

    /// A backslash that stands for itself.
    pub fn backslash() -> WordPiece {
        WordPiece {
            character: '\\',
            escaped: true,
            length: 1,
        }
    }

    /// Returns true if this is `character`, not escaped.
    pub fn is(self, character: char) -> bool {
        self.character == character && !self.escaped
    }

    pub fn is_wildcard(self) -> bool {
        self.is('*') || self.is('?')
    }
}

/// The length of pieces in the query in bytes.
pub(crate) fn length(pieces: &[WordPiece]) -> usize {
    pieces.iter().map(|piece| piece.length).sum()
}

/// Why a word cannot be, and what to do about it.
pub(crate) type Rejection = (&'static str, &'static str);

/// The text of a word.
pub(crate) fn text(pieces: &[WordPiece]) -> String {
    pieces.iter().map(|piece| piece.character).collect()
}

/// Rejects a `^` that no factor follows.
pub(crate) const BAD_BOOST: Rejection = (
    "a boost that is no number above 0",
    "write whale^2 or whale^0.5, or \\^ for the character",
);

/// Rejects a `~` that no number follows.
pub(crate) const BAD_TILDE: Rejection = (
    "a ~ that no whole number follows",
    "write \"a b\"~3 for a phrase, (a b c)~2 for at least two of them, or \\~ for the character",
);

/// Rejects a distance that is none.
const BAD_DISTANCE: Rejection = (
    "a fuzzy distance other than 0, 1 and 2",
    "write whale~, whale~1 or whale~2, \"a b\"~3 for a phrase, or \\~ for the character",
);

/// Rejects wildcards before a distance.
const PATTERN_AND_FUZZY: Rejection = (
    "a pattern with a fuzzy distance",
    "write whal* for words of that form or whale~1 for words like it, or \\~ for the character",
);

/// Returns true if a word is a `~` and a number, which belong to the text before it.
pub(crate) fn is_tilde_number(pieces: &[WordPiece]) -> bool {
    let is_digit = |piece: &WordPiece| piece.character.is_ascii_digit();
    matches!(pieces, [first, number @ ..] if first.is('~') && !number.is_empty() && number.iter().all(is_digit))
}

/// The factor of a boost, if `number` is one.
pub(crate) fn factor(number: &str) -> Option<f32> {
    let is_decimal = number
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'.'));
    let factor: f32 = number.parse().ok().filter(|_| is_decimal)?;
    (factor.is_finite() && factor > 0.0).then_some(factor)
}

/// The text before the first colon, and its length in the query with the colon.
pub(crate) fn field(pieces: &[WordPiece]) -> Option<(String, usize)> {
    let colon = pieces.iter().position(|piece| piece.is(':'))?;
    Some((text(&pieces[..colon]), length(&pieces[..=colon])))
}

/// Returns true if the first colon of a word is text, given that no field has the name before it.
pub(crate) fn is_text_with_colon(pieces: &[WordPiece], names_have_letters: bool) -> bool {
    let mut parts = pieces.splitn(2, |piece| piece.is(':'));
    let (before, after) = (parts.next().unwrap_or(&[]), parts.next().unwrap_or(&[]));
    let starts = |with: &str| after.len() >= with.len() && is_plain(&after[..with.len()], with);
    let is_number = names_have_letters
        && !before
            .iter()
            .any(|piece| piece.character.is_alphabetic() || piece.is_wildcard());
    is_everything(pieces) || is_number || starts("//") || starts(":") || is_drive(before, after)
}

/// Returns true if a colon is that of a path like `C:\Users`.
fn is_drive(before: &[WordPiece], after: &[WordPiece]) -> bool {
    let is_letter = |piece: &WordPiece| piece.character.is_ascii_alphabetic();
    matches!(before, [only] if is_letter(only))
        && after
            .first()
            .is_some_and(|first| matches!(first.character, '\\' | '/'))
}

/// Returns true if a word is `*:*`.
pub(crate) fn is_everything(pieces: &[WordPiece]) -> bool {
    split_boost(pieces).is_ok_and(|(pieces, _)| is_plain(pieces, "*:*"))
}

/// The operator that the whole word is.
pub(crate) fn operator(pieces: &[WordPiece]) -> Option<Kind> {
    if pieces.iter().any(|piece| piece.escaped) {
        return None;
    }
    match text(pieces).as_str() {
        "AND" | "&&" => Some(Kind::And),
        "OR" | "||" => Some(Kind::Or),
        "NOT" => Some(Kind::Not),
        _ => None,
    }
}

/// A word without the backslash that makes a word of an operator.
pub(crate) fn without_backslash(pieces: &[WordPiece]) -> &[WordPiece] {
    let Some((&first, rest)) = pieces.split_first() else {
        return pieces;
    };
    let letters = rest
        .iter()
        .take_while(|piece| piece.character.is_alphanumeric());
    let is_operator = matches!(&text(&rest[..letters.count()])[..], "AND" | "OR" | "NOT");
    if first == WordPiece::backslash() && is_operator {
        rest
    } else {
        pieces
    }
}

/// Counts the marks that end a word, if one of them is a `?`.
pub(crate) fn closing_marks(pieces: &[WordPiece]) -> usize {
    let is_mark = |piece: &&WordPiece| piece.is('?') || piece.is('!');
    let marks = pieces.iter().rev().take_while(is_mark).count();
    let has_question = pieces[pieces.len() - marks..]
        .iter()
        .any(|mark| mark.is('?'));
    if has_question && !is_address(pieces) {
        marks
    } else {
        0
    }
}

/// Finds a `*` in quotes before their last word; returns its place in bytes.
pub(crate) fn early_star(pieces: &[WordPiece]) -> Option<usize> {
    let is_blank = |piece: &WordPiece| piece.character.is_whitespace();
    let end = pieces.iter().rposition(|piece| !is_blank(piece))?;
    let last_word = pieces[..end].iter().rposition(is_blank)?;
    let star = pieces[..last_word].iter().position(|piece| piece.is('*'))?;
    Some(length(&pieces[..star]))
}

/// The operand that the word is; `everything` says whether it may be `*:*`.
pub(crate) fn operand(pieces: &[WordPiece], everything: bool) -> Result<Kind, Rejection> {
    if is_address(pieces) {
        return Ok(Kind::Operand(plain_text(pieces), None));
    }
    let (pieces, boost) = split_boost(pieces)?;
    let operand = if everything && is_plain(pieces, "*:*") {
        Operand::Everything
    } else {
        unboosted(pieces)?
    };
    Ok(Kind::Operand(operand, boost))
}

/// A word without its `^factor`.
pub(crate) fn split_boost(pieces: &[WordPiece]) -> Result<(&[WordPiece], Option<f32>), Rejection> {
    let Some(at) = pieces.iter().position(|piece| piece.is('^')) else {
        return Ok((pieces, None));
    };
    let (head, tail) = (&pieces[..at], &pieces[at + 1..]);
    let is_escaped = tail.iter().any(|piece| piece.escaped);
    match factor(&text(tail)) {
        Some(factor) if !is_escaped && !head.is_empty() => Ok((head, Some(factor))),
        _ => Err(BAD_BOOST),
    }
}

fn unboosted(pieces: &[WordPiece]) -> Result<Operand, Rejection> {
    let is_pattern = pieces.iter().any(|piece| piece.is_wildcard());
    let Some((head, tail)) = split_at_last(pieces, '~') else {
        return Ok(if is_pattern {
            with_wildcards(pieces)
        } else {
            plain_text(pieces)
        });
    };
    match (is_pattern, is_like_distance(&tail)) {
        (true, true) => return Err(PATTERN_AND_FUZZY),
        (true, false) => return Ok(with_wildcards(pieces)),
        _ => {}
    }
    let text = text(head);
    let operator = match tail.as_str() {
        "and" => Operator::And,
        "or" => Operator::Or,
        "" => {
            return Ok(Operand::Fuzzy {
                text,
                distance: None,
            });
        }
        "0" | "1" | "2" => {
            let distance = tail.parse().ok();
            return Ok(Operand::Fuzzy { text, distance });
        }
        number if is_like_distance(number) => return Err(BAD_DISTANCE),
        _ => return Ok(plain_text(pieces)),
    };
    Ok(Operand::Parts { text, operator })
}

/// Returns true if the text behind a `~` is meant to be a distance.
fn is_like_distance(tail: &str) -> bool {
    let is_digit = |first: char| first.is_ascii_digit();
    tail.is_empty()
        || tail.eq_ignore_ascii_case("auto")
        || tail
            .trim_start_matches(['-', '+', '.'])
            .starts_with(is_digit)
}

fn with_wildcards(pieces: &[WordPiece]) -> Operand {
    let (last, head) = (pieces[pieces.len() - 1], &pieces[..pieces.len() - 1]);
    if pieces.iter().all(|piece| piece.is('*')) {
        Operand::Anything
    } else if last.is('*') && !head.iter().any(|piece| piece.is_wildcard()) {
        Operand::Prefix(text(head))
    } else {
        Operand::Wildcard(pattern(pieces))
    }
}

/// Reads the text in quotes; its last word may be a pattern. A `?` at the end of a text is a mark,
/// and a web address is text.
pub(crate) fn in_quotes(pieces: &[WordPiece], slop: u32) -> Operand {
    let is_blank = |piece: &WordPiece| piece.character.is_whitespace();
    let end = pieces.iter().rposition(|piece| !is_blank(piece));
    let words = &pieces[..end.map_or(0, |last| last + 1)];
    let start = words
        .iter()
        .rposition(is_blank)
        .map_or(0, |blank| blank + 1);
    let (before, last) = words.split_at(start);
    if is_pattern_in_quotes(last) {
        return Operand::PhrasePattern {
            text: text(before),
            pattern: pattern(last),
            slop,
        };
    }
    Operand::Phrase {
        text: text(pieces),
        slop,
    }
}

fn is_pattern_in_quotes(last_word: &[WordPiece]) -> bool {
    let marks = last_word.iter().rev().take_while(|piece| piece.is('?'));
    let word = &last_word[..last_word.len() - marks.count()];
    word.iter().any(|piece| piece.is_wildcard()) && !is_address(last_word)
}

/// Returns true if a `?` of `text` in quotes would be a wildcard. A `*` has a backslash there.
pub(crate) fn has_wildcard_in_quotes(text: &str) -> bool {
    let last_word = text.split_whitespace().next_back().unwrap_or_default();
    let pieces = last_word.chars().map(|character| match character {
        '*' => WordPiece::escaped(character),
        other => WordPiece::plain(other),
    });
    is_pattern_in_quotes(&pieces.collect::<Vec<_>>())
}

/// The pattern with backslashes only where they matter, as `pattern_parts` reads it.
fn pattern(pieces: &[WordPiece]) -> String {
    let mut pattern = String::new();
    for piece in pieces {
        if !piece.is_wildcard() && matches!(piece.character, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(piece.character);
    }
    pattern
}

fn plain_text(pieces: &[WordPiece]) -> Operand {
    Operand::Word(text(pieces))
}

/// Splits at the last `mark` into the pieces before it and the unescaped text behind it, if neither
/// begins with the mark nor has an escaped character after it.
fn split_at_last(pieces: &[WordPiece], mark: char) -> Option<(&[WordPiece], String)> {
    let at = pieces.iter().rposition(|piece| piece.is(mark))?;
    let (head, tail) = (&pieces[..at], &pieces[at + 1..]);
    let fits = !head.is_empty() && !tail.iter().any(|piece| piece.escaped);
    fits.then(|| (head, text(tail)))
}

/// Returns true if a word is a web address: it has `://`, or `?name=` behind a dot or slash.
pub(crate) fn is_address(pieces: &[WordPiece]) -> bool {
    let has = |pieces: &[WordPiece], marks: [char; 2]| {
        pieces
            .iter()
            .any(|piece| marks.iter().any(|mark| piece.is(*mark)))
    };
    let asks = pieces.iter().position(|piece| piece.is('?'));
    let has_query = |at: usize| has(&pieces[..at], ['.', '/']) && has(&pieces[at..], ['=', '=']);
    pieces.windows(3).any(|three| is_plain(three, "://")) || asks.is_some_and(has_query)
}

fn is_plain(pieces: &[WordPiece], text: &str) -> bool {
    pieces
        .iter()
        .copied()
        .eq(text.chars().map(WordPiece::plain))
}
