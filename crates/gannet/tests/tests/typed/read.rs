//! Reads a text of the query language, by the documented grammar and with code of its own.
//!
//! It only says what a text means or that it has no meaning; what words of it find is up to
//! `find`.

use gannet::Operator;

/// What a text means.
#[derive(Clone, Debug)]
pub enum Node {
    Everything,
    Nothing,
    Exists(String),
    Leaf {
        field: Option<String>,
        leaf: Leaf,
    },
    Bool {
        must: Vec<Node>,
        should: Vec<Node>,
        must_not: Vec<Node>,
        minimum: usize,
    },
}

/// What stands for a query by itself, but for its field.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// A written word, of which `all` says whether all parts of a long run of CJK must match.
    Word {
        text: String,
        all: bool,
    },
    /// The parts of a word in any order: all of them, or any.
    Parts {
        text: String,
        all: bool,
    },
    Phrase {
        text: String,
        slop: u32,
    },
    /// A pattern, in quotes or not, of which only the last word may have wildcards.
    Pattern {
        pieces: Vec<Piece>,
        slop: u32,
        quoted: bool,
    },
    Fuzzy {
        text: String,
        distance: Option<u8>,
    },
}

/// A character and whether a backslash stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub character: char,
    pub escaped: bool,
}

/// Why a text has no meaning.
pub type Wrong = &'static str;

/// Reads a text; `operator` joins what nothing else joins.
pub fn read(text: &str, operator: Operator, fields: &[&str]) -> Result<Node, Wrong> {
    let tokenizer = Tokenizer {
        pieces: pieces(text),
        at: 0,
        fields,
        field: None,
        behind_phrase: false,
        has_words: false,
        is_first: true,
        is_star: text.trim() == "*",
    };
    let tokens = settled(tokenizer.tokens()?)?;
    let is_known = |name: &str| fields.contains(&name) || name == "_exists_";
    let mut names = tokens.iter().filter_map(|token| match token {
        Token::Field { name, .. } => Some(name),
        _ => None,
    });
    if names.any(|name| !is_known(name)) {
        return Err("a field that does not exist");
    }
    let mut reader = Reader {
        tokens,
        at: 0,
        operator,
        fields,
    };
    reader.check_balance()?;
    let items = reader.items(None)?;
    Ok(joined(items, operator, 0))
}

#[derive(Clone, Debug)]
enum Token {
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
enum Sign {
    Require,
    Exclude,
    Filter,
}

impl Piece {
    pub fn is(self, character: char) -> bool {
        !self.escaped && self.character == character
    }

    fn opens_quote(self) -> bool {
        self.is('"') || self.is('“')
    }

    fn is_white(self) -> bool {
        !self.escaped && self.character.is_whitespace()
    }

    fn is_stop(self) -> bool {
        self.is_white() || self.is('(') || self.is(')') || self.opens_quote()
    }

    pub fn is_wildcard(self) -> bool {
        self.is('*') || self.is('?')
    }
}

/// A backslash before a letter, a digit or an underscore stands for itself.
fn pieces(text: &str) -> Vec<Piece> {
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

fn is_plain(pieces: &[Piece], text: &str) -> bool {
    pieces.iter().all(|piece| !piece.escaped) && text_of(pieces) == text
}

struct Tokenizer<'a> {
    pieces: Vec<Piece>,
    at: usize,
    fields: &'a [&'a str],
    /// The field right before.
    field: Option<String>,
    /// Whether a phrase or a parenthesis ended right before.
    behind_phrase: bool,
    /// Whether there was an operand that is more than wildcards.
    has_words: bool,
    /// Whether there was no operand yet between these parentheses.
    is_first: bool,
    /// Whether the whole text is a star.
    is_star: bool,
}

impl Tokenizer<'_> {
    fn tokens(mut self) -> Result<Vec<Token>, Wrong> {
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

    /// Whether nothing follows but white space and parentheses.
    fn is_end(&self, at: usize) -> bool {
        self.pieces[at..]
            .iter()
            .all(|piece| piece.is_white() || piece.is(')'))
    }

    /// What stands behind a parenthesis or a quote: `~2`, `^3`.
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

/// What stands in a web address, where a backslash is one.
fn unescaped(word: &[Piece]) -> Vec<Piece> {
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
fn address(rest: &[Piece]) -> Option<usize> {
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

/// Whether a word is a web address: by its scheme, or by what is asked for.
fn is_address(word: &[Piece]) -> bool {
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
fn without_backslash(word: &[Piece]) -> &[Piece] {
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
fn in_quotes(inner: Vec<Piece>, slop: u32) -> Result<Leaf, Wrong> {
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

fn is_factor(text: &str) -> bool {
    text.parse::<f32>()
        .is_ok_and(|factor| factor.is_finite() && factor > 0.0)
}

/// What a word without a boost is.
fn leaf(word: &[Piece]) -> Result<Leaf, Wrong> {
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

/// Checks that operators and signs have something to act on; fields without anything are text.
fn settled(mut tokens: Vec<Token>) -> Result<Vec<Token>, Wrong> {
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

/// A clause and the signs before it.
struct Clause {
    node: Node,
    required: bool,
    excluded: bool,
    filters: bool,
    signed: bool,
    boosted: bool,
    is_group: bool,
}

impl Clause {
    /// Of a long run of CJK, all pairs must match where the word itself must, or must not.
    fn demanding(self) -> Node {
        match self.node {
            Node::Leaf {
                field,
                leaf: Leaf::Word { text, .. },
            } if !self.is_group => Node::Leaf {
                field,
                leaf: Leaf::Word { text, all: true },
            },
            other => other,
        }
    }
}

/// Alternatives that OR joins, each a row of clauses that AND joins.
type Item = Vec<Vec<Clause>>;

struct Reader<'a> {
    tokens: Vec<Token>,
    at: usize,
    operator: Operator,
    fields: &'a [&'a str],
}

impl Reader<'_> {
    fn check_balance(&self) -> Result<(), Wrong> {
        let mut open = 0;
        for token in &self.tokens {
            match token {
                Token::Open => open += 1,
                Token::Close { .. } if open == 0 => return Err("nothing to close"),
                Token::Close { .. } => open -= 1,
                _ => {}
            }
        }
        if open > 0 {
            Err("a parenthesis that is not closed")
        } else {
            Ok(())
        }
    }

    fn takes(&mut self, is_wanted: fn(&Token) -> bool) -> bool {
        let takes = self.tokens.get(self.at).is_some_and(is_wanted);
        self.at += usize::from(takes);
        takes
    }

    fn items(&mut self, field: Option<&str>) -> Result<Vec<Item>, Wrong> {
        let mut items = Vec::new();
        while self
            .tokens
            .get(self.at)
            .is_some_and(|token| !matches!(token, Token::Close { .. }))
        {
            let mut item = vec![self.conjunction(field)?];
            while self.takes(|token| matches!(token, Token::Or)) {
                item.push(self.conjunction(field)?);
            }
            items.push(item);
        }
        check_reach(&items)?;
        Ok(items)
    }

    fn conjunction(&mut self, field: Option<&str>) -> Result<Vec<Clause>, Wrong> {
        let mut clauses = vec![self.clause(field)?];
        while self.takes(|token| matches!(token, Token::And)) {
            clauses.push(self.clause(field)?);
        }
        Ok(clauses)
    }

    fn clause(&mut self, field: Option<&str>) -> Result<Clause, Wrong> {
        let (mut required, mut excluded, mut filters, mut signed) = (false, false, false, false);
        while let Some(Token::Sign(sign)) = self.tokens.get(self.at) {
            match sign {
                Sign::Require => required = true,
                Sign::Exclude => excluded = !excluded,
                Sign::Filter => filters = true,
            }
            self.at += 1;
        }
        // Two negations cancel each other.
        signed |= required || excluded || filters;
        let is_group = self.is_group();
        let (node, boosted) = self.primary(field)?;
        if boosted && (excluded || filters) {
            return Err("a boost where nothing scores");
        }
        Ok(Clause {
            node,
            required,
            excluded,
            filters,
            signed,
            boosted,
            is_group,
        })
    }

    /// Whether parentheses come next, behind a field or not.
    fn is_group(&self) -> bool {
        let behind = usize::from(matches!(
            self.tokens.get(self.at),
            Some(Token::Field { .. })
        ));
        matches!(self.tokens.get(self.at + behind), Some(Token::Open))
    }

    fn primary(&mut self, field: Option<&str>) -> Result<(Node, bool), Wrong> {
        let token = self.tokens[self.at].clone();
        self.at += 1;
        match token {
            Token::Field { name, .. } => self.primary(Some(&name)),
            Token::Open => self.group(field),
            Token::Everything { boosted } => Ok((Node::Everything, boosted)),
            Token::Star { boosted } => match field {
                None => Ok((Node::Everything, boosted)),
                Some("_exists_") => Err("a pattern of field names"),
                Some(name) => Ok((Node::Exists(name.to_owned()), boosted)),
            },
            Token::Leaf { leaf, boosted } => Ok((self.leaf(leaf, field)?, boosted)),
            _ => Err("unreachable"),
        }
    }

    fn group(&mut self, field: Option<&str>) -> Result<(Node, bool), Wrong> {
        let items = self.items(field)?;
        let Some(Token::Close { minimum, boosted }) = self.tokens.get(self.at).cloned() else {
            return Err("unreachable");
        };
        self.at += 1;
        let operator = if minimum > 0 {
            Operator::Or
        } else {
            self.operator
        };
        let boosted = boosted || minimum == 0 && is_boosted_alone(&items);
        let node = joined(items, operator, minimum);
        match &node {
            Node::Bool { should, .. } if should.len() < minimum => Err("more than there are"),
            _ => Ok((node, boosted)),
        }
    }

    fn leaf(&self, leaf: Leaf, field: Option<&str>) -> Result<Node, Wrong> {
        let is_value = field.is_some_and(|name| name == "id" || name == "_exists_");
        let leaf = match leaf {
            Leaf::Pattern {
                pieces,
                slop,
                quoted: true,
            } if is_value => Leaf::Phrase {
                text: text_of(&pieces),
                slop,
            },
            Leaf::Word { text, .. } => Leaf::Word {
                text,
                all: self.operator == Operator::And,
            },
            other => other,
        };
        match (&leaf, field) {
            (Leaf::Word { text, .. } | Leaf::Phrase { text, slop: 0 }, Some("_exists_"))
                if !self.fields.contains(&text.as_str()) =>
            {
                Err("a field that does not exist")
            }
            (Leaf::Word { text, .. } | Leaf::Phrase { text, slop: 0 }, Some("_exists_")) => {
                Ok(Node::Exists(text.clone()))
            }
            (_, Some("_exists_")) => Err("a field that does not exist"),
            (Leaf::Word { .. } | Leaf::Parts { .. } | Leaf::Phrase { slop: 0, .. }, Some("id"))
            | (_, None) => Ok(Node::Leaf {
                field: field.map(str::to_owned),
                leaf,
            }),
            (_, Some("id")) => Err("an ID in part"),
            (_, Some(name)) => Ok(Node::Leaf {
                field: Some(name.to_owned()),
                leaf,
            }),
        }
    }
}

/// Whether parentheses stand around a single clause with a boost.
fn is_boosted_alone(items: &[Item]) -> bool {
    let [item] = items else {
        return false;
    };
    let mut clauses = item.iter().flatten();
    let first = clauses.next();
    clauses.next().is_none()
        && first.is_some_and(|one| one.boosted && !one.required && !one.filters && !one.excluded)
}

/// How far a sign reaches must be clear.
fn check_reach(items: &[Item]) -> Result<(), Wrong> {
    for item in items {
        let clauses = || item.iter().flatten();
        if clauses().count() < 2 {
            continue;
        }
        if items.len() > 1 && clauses().next().is_some_and(|clause| clause.signed) {
            return Err("a sign of unclear reach");
        }
        let is_conjunction = items.len() == 1 && item.len() == 1;
        let forces = |clause: &Clause| !clause.excluded && (clause.required || clause.filters);
        if !is_conjunction && clauses().any(forces) {
            return Err("a + among alternatives");
        }
    }
    Ok(())
}

fn joined(items: Vec<Item>, operator: Operator, minimum: usize) -> Node {
    let alone = items.len() == 1;
    let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        let is_or = item.len() > 1;
        if is_or {
            let alternatives: Vec<Node> = item.into_iter().map(conjunction).collect();
            if alone || operator == Operator::Or {
                should.extend(alternatives);
            } else {
                must.push(lists(Vec::new(), alternatives, Vec::new(), 0));
            }
            continue;
        }
        let clauses: Vec<Clause> = item.into_iter().flatten().collect();
        let is_and = clauses.len() > 1;
        if is_and && !alone && operator == Operator::Or {
            should.push(conjunction(clauses));
            continue;
        }
        for clause in clauses {
            let needed =
                clause.required || clause.filters || is_and || !alone && operator == Operator::And;
            match (clause.excluded, needed) {
                (true, _) => must_not.push(clause.demanding()),
                (_, true) => must.push(clause.demanding()),
                _ => should.push(clause.node),
            }
        }
    }
    lists(must, should, must_not, minimum)
}

fn conjunction(clauses: Vec<Clause>) -> Node {
    let several = clauses.len() > 1;
    let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
    for clause in clauses {
        match (
            clause.excluded,
            several || clause.required || clause.filters,
        ) {
            (true, _) => must_not.push(clause.demanding()),
            (_, true) => must.push(clause.demanding()),
            _ => should.push(clause.node),
        }
    }
    lists(must, should, must_not, 0)
}

fn lists(must: Vec<Node>, mut should: Vec<Node>, must_not: Vec<Node>, minimum: usize) -> Node {
    match (must.len() + must_not.len(), should.len(), minimum) {
        (0, 0, _) => Node::Nothing,
        (0, 1, 0) => should.remove(0),
        _ => Node::Bool {
            must,
            should,
            must_not,
            minimum,
        },
    }
}
