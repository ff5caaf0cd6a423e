//! What a single word of a query is: an operator, text, or text with wildcards, a tilde or a boost.
//!
//! A word comes as pieces, each a character and whether it was escaped; only those that were not
//! mean anything but themselves. A web address is text, whatever is in it.
//!
//! What stands before a colon is a field, and an error if there is none of that name. Only where
//! nobody means a field is the colon text: `*:*`, `http://x`, `std::vec`, and behind what has no
//! letter (`12:30`, `:)`).

use super::lexeme::Kind;
use super::lexeme::Operand;

/// A character of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordPiece {
    character: char,
    escaped: bool,
}

impl WordPiece {
    pub fn plain(character: char) -> WordPiece {
        WordPiece {
            character,
            escaped: false,
        }
    }

    pub fn escaped(character: char) -> WordPiece {
        WordPiece {
            character,
            escaped: true,
        }
    }

    /// Whether this is `character`, not escaped.
    pub fn is(self, character: char) -> bool {
        self == WordPiece::plain(character)
    }

    fn is_wildcard(self) -> bool {
        self.is('*') || self.is('?')
    }

    /// Its length in the query in bytes.
    fn length(self) -> usize {
        self.character.len_utf8() + usize::from(self.escaped)
    }
}

/// Why a word cannot be, and what to do about it.
pub(crate) type Rejection = (&'static str, &'static str);

/// The text of a word.
pub(crate) fn text(pieces: &[WordPiece]) -> String {
    pieces.iter().map(|piece| piece.character).collect()
}

/// What is wrong with a `^` that no factor follows.
pub(crate) const BAD_BOOST: Rejection = (
    "a boost that is no number above 0",
    "write whale^2 or whale^0.5, or \\^ for the character",
);

/// What is wrong with a `~` that no number follows.
pub(crate) const BAD_TILDE: Rejection = (
    "a ~ that no whole number follows",
    "write \"a b\"~3 for a phrase, (a b c)~2 for at least two of them, or \\~ for the character",
);

/// The factor of a boost, if `number` is one.
pub(crate) fn factor(number: &str) -> Option<f32> {
    let is_decimal = number
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'.'));
    let factor: f32 = number.parse().ok().filter(|_| is_decimal)?;
    (factor.is_finite() && factor > 0.0).then_some(factor)
}

/// What stands before the first colon, and its length in the query with the colon.
pub(crate) fn field(pieces: &[WordPiece]) -> Option<(String, usize)> {
    let colon = pieces.iter().position(|piece| piece.is(':'))?;
    let length = pieces[..=colon].iter().map(|piece| piece.length()).sum();
    Some((text(&pieces[..colon]), length))
}

/// Whether the first colon of a word is text, if no field is called like what stands before it.
pub(crate) fn is_text_with_colon(pieces: &[WordPiece], names_have_letters: bool) -> bool {
    let mut parts = pieces.splitn(2, |piece| piece.is(':'));
    let (before, after) = (parts.next().unwrap_or(&[]), parts.next().unwrap_or(&[]));
    let starts = |with: &str| after.len() >= with.len() && is_plain(&after[..with.len()], with);
    let is_number = names_have_letters
        && !before
            .iter()
            .any(|piece| piece.character.is_alphabetic() || piece.is_wildcard());
    is_everything(pieces) || is_number || starts("//") || starts(":")
}

fn is_everything(pieces: &[WordPiece]) -> bool {
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

/// The operand that the word is; `everything` says whether it may be `*:*`.
pub(crate) fn operand(pieces: &[WordPiece], everything: bool) -> Result<Kind, Rejection> {
    if is_address(pieces) {
        return Ok(Kind::Operand(plain_text(pieces), None));
    }
    let (pieces, boost) = split_boost(pieces)?;
    let operand = match everything && is_plain(pieces, "*:*") {
        true => Operand::Everything,
        false => unboosted(pieces)?,
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
    if pieces.iter().any(|piece| piece.is_wildcard()) {
        return Ok(with_wildcards(pieces));
    }
    let Some((head, tail)) = split_at_last(pieces, '~') else {
        return Ok(plain_text(pieces));
    };
    let distance = match tail.as_str() {
        "" => None,
        "0" => Some(0),
        "1" => Some(1),
        "2" => Some(2),
        "and" => {
            let (text, all) = (text(head), true);
            return Ok(Operand::Text { text, all });
        }
        number if number.starts_with(|first: char| first.is_ascii_digit()) => {
            return Err((
                "a fuzzy distance other than 0, 1 and 2",
                "write whale~, whale~1 or whale~2, \"a b\"~3 for a phrase, or \\~ for the character",
            ));
        }
        _ => return Ok(plain_text(pieces)),
    };
    let text = text(head);
    Ok(Operand::Fuzzy { text, distance })
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
    let (text, all) = (text(pieces), false);
    Operand::Text { text, all }
}

/// What stands before the last `mark` and the unescaped text after it, if neither begins with the
/// mark nor has an escaped character after it.
fn split_at_last(pieces: &[WordPiece], mark: char) -> Option<(&[WordPiece], String)> {
    let at = pieces.iter().rposition(|piece| piece.is(mark))?;
    let (head, tail) = (&pieces[..at], &pieces[at + 1..]);
    let fits = !head.is_empty() && !tail.iter().any(|piece| piece.escaped);
    fits.then(|| (head, text(tail)))
}

fn is_address(pieces: &[WordPiece]) -> bool {
    pieces.windows(3).any(|three| is_plain(three, "://"))
}

fn is_plain(pieces: &[WordPiece], text: &str) -> bool {
    pieces
        .iter()
        .copied()
        .eq(text.chars().map(WordPiece::plain))
}
