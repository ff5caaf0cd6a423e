//! Cuts a text into tokens: parentheses, signs, operators, fields and leaves.
//!
//! A token knows its suffixes. Only its place in the text decides if a mark ends a question.

use super::pieces::{Piece, is_plain, pieces, text_of};
use super::words::{address, in_quotes, is_address, is_factor, leaf, unescaped, without_backslash};
use super::{Leaf, Wrong};

#[derive(Clone, Debug)]
pub enum Token {
    Open,
    Close { minimum: usize, boosted: bool },
    Sign(Sign),
    And,
    Or,
    Field { name: String, written: String },
    Everything { boosted: bool },
    Star { boosted: bool },
    Leaf { leaf: Leaf, boosted: bool },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sign {
    Require,
    Exclude,
    Filter,
}

pub struct Tokenizer<'a> {
    pieces: Vec<Piece>,
    at: usize,
    fields: &'a [&'a str],
    /// The field right before.
    field: Option<String>,
    /// Set if a phrase or a parenthesis ended right before.
    behind_phrase: bool,
    /// Set once there was an operand that is more than wildcards.
    has_words: bool,
    /// Set until there was an operand between these parentheses.
    is_first: bool,
    /// Set if the whole text is a star.
    is_star: bool,
}

impl<'a> Tokenizer<'a> {
    pub fn new(text: &str, fields: &'a [&'a str]) -> Tokenizer<'a> {
        Tokenizer {
            pieces: pieces(text),
            at: 0,
            fields,
            field: None,
            behind_phrase: false,
            has_words: false,
            is_first: true,
            is_star: text.trim() == "*",
        }
    }

    pub fn tokens(mut self) -> Result<Vec<Token>, Wrong> {
        let mut tokens = Vec::new();
        loop {
            while self.next().is_some_and(Piece::is_white) {
                self.at += 1;
            }
            if self.at == self.pieces.len() {
                return Ok(tokens);
            }
            if let Some(token) = self.token()? {
                self.remember(&token);
                tokens.push(token);
            }
        }
    }

    fn remember(&mut self, token: &Token) {
        self.field = None;
        self.behind_phrase = false;
        match token {
            Token::Open => self.is_first = true,
            Token::Close { .. } => (self.is_first, self.behind_phrase) = (false, true),
            Token::Field { name, .. } => self.field = Some(name.clone()),
            Token::Leaf { leaf, .. } => {
                self.behind_phrase = matches!(leaf, Leaf::Phrase { .. });
                let is_marks = |pieces: &[Piece]| {
                    let inside = &pieces[..pieces.len() - 1];
                    let is_prefix = !inside.iter().any(|piece| piece.is_wildcard())
                        && pieces[inside.len()].is('*');
                    !is_prefix && !text_of(pieces).contains(char::is_alphanumeric)
                };
                self.has_words |= !matches!(leaf, Leaf::Pattern { pieces, .. } if is_marks(pieces));
                self.is_first = false;
            }
            Token::Everything { .. } | Token::Star { .. } => {
                (self.has_words, self.is_first) = (true, false);
            }
            _ => {}
        }
    }

    fn next(&self) -> Option<Piece> {
        self.pieces.get(self.at).copied()
    }

    fn takes(&mut self, character: char) -> bool {
        let takes = self.next().is_some_and(|piece| piece.is(character));
        self.at += usize::from(takes);
        takes
    }

    /// Nothing where only the mark of a question is left.
    fn token(&mut self) -> Result<Option<Token>, Wrong> {
        if self.takes('(') {
            return Ok(Some(Token::Open));
        }
        if self.takes(')') {
            let (minimum, boosted) = self.suffix()?;
            return Ok(Some(Token::Close {
                minimum: minimum as usize,
                boosted,
            }));
        }
        if self.next().is_some_and(Piece::opens_quote) {
            return self.quoted().map(Some);
        }
        if self.field.is_none()
            && let Some(sign) = self.sign()
        {
            return Ok(Some(Token::Sign(sign)));
        }
        self.word()
    }

    fn sign(&mut self) -> Option<Sign> {
        let next = self.pieces.get(self.at + 1)?;
        let applies =
            next.escaped || !next.character.is_whitespace() && !")+-!&|=".contains(next.character);
        let sign = match self.next()? {
            piece if piece.is('+') && applies => Sign::Require,
            piece if (piece.is('-') || piece.is('!')) && applies => Sign::Exclude,
            piece if piece.is('#') && next.is('(') => Sign::Filter,
            _ => return None,
        };
        self.at += 1;
        Some(sign)
    }

    /// Returns true if only white space and parentheses follow.
    fn is_end(&self, at: usize) -> bool {
        self.pieces[at..]
            .iter()
            .all(|piece| piece.is_white() || piece.is(')'))
    }

    /// Reads a suffix behind a parenthesis or a quote: `~2`, `^3`.
    fn suffix(&mut self) -> Result<(u32, bool), Wrong> {
        let before = self.at;
        let mut number = 0;
        if self.takes('~') {
            number = self
                .digits(|c| c.is_ascii_digit())
                .parse()
                .map_err(|_| "a number behind ~")?;
        }
        let boosted = self.takes('^');
        if boosted {
            is_factor(&self.digits(|c| c.is_ascii_digit() || c == '.'))
                .then_some(())
                .ok_or("a boost")?;
        }
        let marks = self.pieces[self.at..]
            .iter()
            .take_while(|piece| piece.is('?') || piece.is('!'));
        let is_question = self.is_end(self.at + marks.count());
        match self.next() {
            Some(next) if next.is('~') || next.is('^') => Err("a second suffix"),
            Some(next) if next.is('*') || next.is('?') && !is_question => {
                Err("a wildcard that is glued on")
            }
            Some(next) if self.at > before && !next.is_stop() && !next.is('?') => {
                Err("text behind a number")
            }
            _ => Ok((number, boosted)),
        }
    }

    fn digits(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut digits = String::new();
        while let Some(piece) = self
            .next()
            .filter(|piece| !piece.escaped && fits(piece.character))
        {
            digits.push(piece.character);
            self.at += 1;
        }
        digits
    }

    fn quoted(&mut self) -> Result<Token, Wrong> {
        let is_plain = self.pieces[self.at].is('"');
        self.at += 1;
        let closes = |piece: &Piece| piece.is('"') || !is_plain && (piece.is('“') || piece.is('”'));
        let rest = &self.pieces[self.at..];
        let length = rest
            .iter()
            .position(closes)
            .ok_or("a quote that is not closed")?;
        let inner = rest[..length].to_vec();
        self.at += length + 1;
        let (slop, boosted) = self.suffix()?;
        let is_value = self
            .field
            .as_deref()
            .is_some_and(|name| name == "id" || name == "_exists_");
        let leaf = if is_value {
            Leaf::Phrase {
                text: text_of(&inner),
                slop,
            }
        } else {
            in_quotes(inner, slop)?
        };
        Ok(Token::Leaf { leaf, boosted })
    }

    fn word(&mut self) -> Result<Option<Token>, Wrong> {
        let rest = &self.pieces[self.at..];
        let by_scheme = address(rest);
        let length = by_scheme
            .or_else(|| rest.iter().position(|piece| piece.is_stop()))
            .unwrap_or(rest.len());
        let mut word = rest[..length].to_vec();
        if by_scheme.is_some() {
            word = unescaped(&word);
        }
        if self.field.is_none()
            && let Some((name, taken)) = self.field(&word)
        {
            self.at += taken;
            return Ok(Some(Token::Field {
                name,
                written: text_of(&word[..taken]),
            }));
        }
        self.at += length;
        if self.field.is_none() && word.iter().all(|piece| !piece.escaped) {
            match text_of(&word).as_str() {
                "AND" | "&&" => return Ok(Some(Token::And)),
                "OR" | "||" => return Ok(Some(Token::Or)),
                "NOT" => return Ok(Some(Token::Sign(Sign::Exclude))),
                _ => {}
            }
        }
        let is_number = |pieces: &[Piece]| {
            !pieces.is_empty() && pieces.iter().all(|p| p.character.is_ascii_digit())
        };
        if self.behind_phrase && word[0].is('~') && is_number(&word[1..]) {
            return Err("a ~ behind a space");
        }
        let word = self.without_marks(without_backslash(&word));
        if word.is_empty() {
            return Ok(None);
        }
        self.check_stars(word)?;
        self.operand(word).map(Some)
    }

    /// A word without the mark of a question, which ends the query behind another word.
    fn without_marks<'p>(&self, word: &'p [Piece]) -> &'p [Piece] {
        let is_mark = |piece: &&Piece| piece.is('?') || piece.is('!');
        let count = word.iter().rev().take_while(is_mark).count();
        let (rest, marks) = word.split_at(word.len() - count);
        let asks = marks.iter().any(|piece| piece.is('?')) && !is_address(word);
        let exclaims = marks.iter().any(|piece| piece.is('!')) && !rest.is_empty();
        let is_sentence = self.has_words && !self.is_first || exclaims;
        let is_value = rest.is_empty() && self.field.is_some();
        if asks && is_sentence && !is_value && self.is_end(self.at) {
            rest
        } else {
            word
        }
    }

    fn check_stars(&self, word: &[Piece]) -> Result<(), Wrong> {
        let caret = word
            .iter()
            .position(|piece| piece.is('^'))
            .unwrap_or(word.len());
        let named = &word[..caret];
        let has_wildcard = word.iter().any(|piece| piece.is_wildcard());
        if !has_wildcard || is_plain(named, "*:*") || is_address(word) {
            return Ok(());
        }
        let is_glued = self
            .next()
            .is_some_and(|piece| piece.is('(') || piece.opens_quote());
        let is_alone = named.iter().all(|piece| piece.is('*'));
        let is_whole = match self.field {
            Some(_) => named.len() == 1,
            None => self.is_star,
        };
        match (is_glued, is_alone && !is_whole) {
            (true, _) => Err("a wildcard that is glued on"),
            (_, true) => Err("a star alone"),
            _ => Ok(()),
        }
    }

    /// The field before a colon, and its length with that.
    fn field(&self, word: &[Piece]) -> Option<(String, usize)> {
        let colon = word.iter().position(|piece| piece.is(':'))?;
        let (before, after) = (&word[..colon], &word[colon + 1..]);
        let name = text_of(before);
        if self.fields.contains(&name.as_str()) || name == "_exists_" {
            return Some((name, colon + 1));
        }
        let caret = word
            .iter()
            .position(|piece| piece.is('^'))
            .unwrap_or(word.len());
        let is_everything = is_plain(&word[..caret], "*:*");
        let has_letter = before
            .iter()
            .any(|piece| piece.character.is_alphabetic() || piece.is_wildcard());
        let is_address = after.len() > 1 && is_plain(&after[..2], "//");
        let is_path = after.first().is_some_and(|piece| piece.is(':'));
        if is_everything || !has_letter || is_address || is_path {
            return None;
        }
        Some((name, colon + 1))
    }

    fn operand(&self, word: &[Piece]) -> Result<Token, Wrong> {
        if is_address(word) {
            let leaf = Leaf::Word {
                text: text_of(word),
                all: false,
            };
            return Ok(Token::Leaf {
                leaf,
                boosted: false,
            });
        }
        let (word, boosted) = match word.iter().position(|piece| piece.is('^')) {
            None => (word, false),
            Some(at) => {
                let tail = &word[at + 1..];
                let is_number =
                    tail.iter().all(|piece| !piece.escaped) && is_factor(&text_of(tail));
                if at == 0 || !is_number {
                    return Err("a boost that is no number above 0");
                }
                (&word[..at], true)
            }
        };
        if self.field.is_none() && is_plain(word, "*:*") {
            return Ok(Token::Everything { boosted });
        }
        if is_plain(word, "*") {
            return Ok(Token::Star { boosted });
        }
        Ok(Token::Leaf {
            leaf: leaf(word)?,
            boosted,
        })
    }
}

/// Checks that operators and signs have something to act on; fields without anything are text.
pub fn settled(mut tokens: Vec<Token>) -> Result<Vec<Token>, Wrong> {
    let mut after_operand = false;
    for at in 0..tokens.len() {
        let next = tokens.get(at + 1);
        let is_end = matches!(
            next,
            None | Some(Token::And | Token::Or | Token::Close { .. })
        );
        match &tokens[at] {
            Token::And | Token::Or if !after_operand || is_end => return Err("an operator alone"),
            Token::Sign(_) if is_end => return Err("a sign alone"),
            Token::Field { written, .. } if is_end => {
                let leaf = Leaf::Word {
                    text: written.clone(),
                    all: false,
                };
                tokens[at] = Token::Leaf {
                    leaf,
                    boosted: false,
                };
            }
            _ => {}
        }
        after_operand = !matches!(
            tokens[at],
            Token::And | Token::Or | Token::Sign(_) | Token::Field { .. } | Token::Open
        );
    }
    Ok(tokens)
}
