//! Reads a single word, or the text in quotes: plain text, a pattern, a fuzzy word, a web address.

use super::pieces::{Piece, is_plain, text_of};
use super::{Leaf, Wrong};

/// The text of a web address, where a backslash is one.
pub fn unescaped(word: &[Piece]) -> Vec<Piece> {
    let plain = |character| Piece {
        character,
        escaped: false,
    };
    let behind = |piece: &Piece| piece.escaped && piece.character != '\\';
    let each = word.iter().flat_map(|piece| {
        let backslash = behind(piece).then(|| plain('\\'));
        backslash.into_iter().chain([plain(piece.character)])
    });
    each.collect()
}

/// The length of a web address, which may have parentheses in it.
pub fn address(rest: &[Piece]) -> Option<usize> {
    let scheme = rest.iter().take_while(|piece| {
        !piece.escaped && {
            let c = piece.character;
            c.is_ascii_alphanumeric() || "+-.".contains(c)
        }
    });
    let scheme = scheme.count();
    if scheme == 0 || rest.len() < scheme + 3 || !is_plain(&rest[scheme..scheme + 3], "://") {
        return None;
    }
    let mut open = 0;
    let end = rest.iter().position(|piece| {
        open += i32::from(piece.is('(')) - i32::from(piece.is(')'));
        open < 0 || piece.is_white() || piece.opens_quote()
    });
    Some(end.unwrap_or(rest.len()))
}

/// Returns true if a word is a web address: by its scheme, or by what is asked for.
pub fn is_address(word: &[Piece]) -> bool {
    let asks = word
        .iter()
        .position(|piece| piece.is('?'))
        .is_some_and(|at| {
            word[..at]
                .iter()
                .any(|piece| piece.is('.') || piece.is('/'))
                && word[at..].iter().any(|piece| piece.is('='))
        });
    asks || word.windows(3).any(|three| is_plain(three, "://"))
}

/// A word without the backslash that makes a word of an operator.
pub fn without_backslash(word: &[Piece]) -> &[Piece] {
    let letters = word
        .iter()
        .skip(1)
        .take_while(|piece| piece.character.is_alphanumeric());
    let letters: String = letters.map(|piece| piece.character).collect();
    let is_operator = matches!(&letters[..], "AND" | "OR" | "NOT");
    match word.first() {
        Some(first) if first.escaped && first.character == '\\' && is_operator => &word[1..],
        _ => word,
    }
}

/// Text in quotes, whose last word may be a pattern.
pub fn in_quotes(inner: Vec<Piece>, slop: u32) -> Result<Leaf, Wrong> {
    let is_blank = |piece: &Piece| piece.character.is_whitespace();
    let end = inner
        .iter()
        .rposition(|piece| !is_blank(piece))
        .map_or(0, |at| at + 1);
    let start = inner[..end]
        .iter()
        .rposition(is_blank)
        .map_or(0, |at| at + 1);
    if inner[..start].iter().any(|piece| piece.is('*')) {
        return Err("a star before the last word of quotes");
    }
    let last = &inner[start..end];
    if is_address(last) {
        return Ok(Leaf::Phrase {
            text: text_of(&inner),
            slop,
        });
    }
    let marks = last.iter().rev().take_while(|piece| piece.is('?')).count();
    if !last[..last.len() - marks]
        .iter()
        .any(|piece| piece.is_wildcard())
    {
        return Ok(Leaf::Phrase {
            text: text_of(&inner),
            slop,
        });
    }
    if last.iter().all(|piece| piece.is_wildcard()) {
        return Err("quotes whose last word is only a wildcard");
    }
    let literal = |piece: &Piece| Piece {
        escaped: true,
        ..*piece
    };
    let pieces = inner[..start]
        .iter()
        .map(literal)
        .chain(last.iter().copied());
    Ok(Leaf::Pattern {
        pieces: pieces.collect(),
        slop,
        quoted: true,
    })
}

pub fn is_factor(text: &str) -> bool {
    text.parse::<f32>()
        .is_ok_and(|factor| factor.is_finite() && factor > 0.0)
}

/// Reads a word without a boost.
pub fn leaf(word: &[Piece]) -> Result<Leaf, Wrong> {
    let tilde = word
        .iter()
        .rposition(|piece| piece.is('~'))
        .filter(|at| *at > 0);
    let tail = tilde.map(|at| &word[at + 1..]);
    let tail = tail
        .filter(|tail| tail.iter().all(|piece| !piece.escaped))
        .map(text_of);
    let has_wildcard = word.iter().any(|piece| piece.is_wildcard());
    let head = || text_of(&word[..tilde.unwrap_or(0)]);
    match (tail.as_deref(), has_wildcard) {
        (Some(tail), true) if is_distance(tail) => Err("a fuzzy pattern"),
        (_, true) => Ok(Leaf::Pattern {
            pieces: word.to_vec(),
            slop: 0,
            quoted: false,
        }),
        (Some(tail @ ("" | "0" | "1" | "2")), false) => Ok(Leaf::Fuzzy {
            text: head(),
            distance: tail.parse().ok(),
        }),
        (Some(tail @ ("and" | "or")), false) => Ok(Leaf::Parts {
            text: head(),
            all: tail == "and",
        }),
        (Some(tail), false) if is_distance(tail) => Err("a fuzzy distance other than 0, 1, 2"),
        _ => Ok(Leaf::Word {
            text: text_of(word),
            all: false,
        }),
    }
}

fn is_distance(tail: &str) -> bool {
    let number = tail.trim_start_matches(['-', '+', '.']);
    tail.is_empty()
        || tail.eq_ignore_ascii_case("auto")
        || number.starts_with(|first: char| first.is_ascii_digit())
}
