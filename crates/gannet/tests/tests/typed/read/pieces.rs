//! Characters of a text, each with or without a backslash before it.

/// A character, and true if a backslash stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub character: char,
    pub escaped: bool,
}

impl Piece {
    pub fn is(self, character: char) -> bool {
        !self.escaped && self.character == character
    }

    pub fn opens_quote(self) -> bool {
        self.is('"') || self.is('“')
    }

    pub fn is_white(self) -> bool {
        !self.escaped && self.character.is_whitespace()
    }

    pub fn is_stop(self) -> bool {
        self.is_white() || self.is('(') || self.is(')') || self.opens_quote()
    }

    pub fn is_wildcard(self) -> bool {
        self.is('*') || self.is('?')
    }
}

/// A backslash before a letter, a digit or an underscore stands for itself.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut characters = text.chars().peekable();
    let mut pieces = Vec::new();
    while let Some(character) = characters.next() {
        let needs_one = |next: &char| !next.is_alphanumeric() && *next != '_';
        let next = characters.next_if(|next| character == '\\' && needs_one(next));
        let stands_for_itself = character == '\\' && next.is_none() && characters.peek().is_some();
        pieces.push(match next {
            Some(character) => Piece {
                character,
                escaped: true,
            },
            None => Piece {
                character,
                escaped: stands_for_itself,
            },
        });
    }
    pieces
}

pub fn text_of(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.character).collect()
}

pub fn is_plain(pieces: &[Piece], text: &str) -> bool {
    pieces.iter().all(|piece| !piece.escaped) && text_of(pieces) == text
}
