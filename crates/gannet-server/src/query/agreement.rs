//! Goes through a text in the query language, and fails at what two parsers read in two ways.

use std::iter::Peekable;
use std::str::CharIndices;

use gannet::Scratch;

use super::Translator;
use crate::fault::{Fault, Outcome};

/// Fails unless Gannet's parser and Lucene's read a text alike.
pub fn check_agreement(text: &str, translator: &Translator<'_>) -> Outcome<()> {
    let mut reader = Reader {
        characters: text.char_indices().peekable(),
        text,
        translator,
    };
    reader.group(0)
}

/// Returns true if a character of a field's name needs no backslash.
pub fn is_plain_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.')
}

/// The error for what is read in two ways.
pub fn disagrees(what: &str) -> Fault {
    Fault::query_not_there(&format!("[query_string] with {what}"))
}

/// Goes through a text and fails at what is read in two ways.
struct Reader<'t> {
    characters: Peekable<CharIndices<'t>>,
    text: &'t str,
    translator: &'t Translator<'t>,
}

/// The way in which the operands of a group are joined so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joining {
    None,
    And,
    Or,
    /// Side by side, with signs or without.
    Beside,
}

impl<'t> Reader<'t> {
    /// A group up to its parenthesis, or to the end.
    fn group(&mut self, depth: usize) -> Outcome<()> {
        let mut joining = Joining::None;
        let mut operands = 0;
        let mut word_before = Joining::None;
        let mut has_sign = false;
        while let Some(&(start, character)) = self.characters.peek() {
            match character {
                _ if character.is_whitespace() => {
                    self.characters.next();
                }
                ')' if depth > 0 => {
                    self.characters.next();
                    return self.end_of_group(operands, word_before);
                }
                ')' => return Err(disagrees("a parenthesis that is closed and not opened")),
                _ => {
                    let word = self.bare_word(start);
                    let said = match word {
                        "AND" => Joining::And,
                        "OR" => Joining::Or,
                        _ => Joining::None,
                    };
                    if said != Joining::None {
                        if operands == 0 || word_before != Joining::None || has_sign {
                            return Err(disagrees("AND or OR behind no clause, or beside signs"));
                        }
                        self.skip(word.len());
                        word_before = said;
                        continue;
                    }
                    let is_signed = matches!(character, '+' | '-') || word == "NOT";
                    let is_joined = matches!(joining, Joining::And | Joining::Or);
                    if is_signed && (word_before != Joining::None || is_joined) {
                        return Err(disagrees("a sign or NOT beside AND or OR: use parentheses"));
                    }
                    if operands > 0 {
                        let now = if word_before == Joining::None {
                            Joining::Beside
                        } else {
                            word_before
                        };
                        if joining != Joining::None && joining != now {
                            return Err(disagrees(
                                "AND, OR and clauses side by side in one: use parentheses",
                            ));
                        }
                        joining = now;
                    }
                    word_before = Joining::None;
                    has_sign |= is_signed;
                    if word == "NOT" {
                        self.skip(3);
                        self.skip_space();
                    } else if is_signed {
                        self.characters.next();
                    }
                    self.operand(depth)?;
                    operands += 1;
                }
            }
        }
        if depth > 0 {
            return Err(disagrees("a parenthesis that is not closed"));
        }
        self.end_of_group(operands, word_before)
    }

    fn end_of_group(&self, operands: usize, word_before: Joining) -> Outcome<()> {
        if operands == 0 || word_before != Joining::None {
            return Err(disagrees("a clause that is missing"));
        }
        Ok(())
    }

    /// A word, a phrase or a group, with a field before it and marks behind it.
    fn operand(&mut self, depth: usize) -> Outcome<()> {
        if depth > 16 {
            return Err(disagrees("more than 16 parentheses in each other"));
        }
        let Some(&(start, character)) = self.characters.peek() else {
            return Err(disagrees("a sign without a clause"));
        };
        match character {
            '(' => {
                self.characters.next();
                self.group(depth + 1)?;
                self.boost()
            }
            '"' => self.phrase(),
            _ if is_word(character) => {
                let word = self.word(start)?;
                if self.characters.next_if(|(_, next)| *next == ':').is_some() {
                    self.check_field(word)?;
                    return match self.characters.peek() {
                        Some((_, '"')) => self.phrase(),
                        Some((_, '(')) => {
                            self.characters.next();
                            self.group(depth + 1)?;
                            self.boost()
                        }
                        Some(&(start, next)) if is_word(next) => {
                            let word = self.word(start)?;
                            self.check_word(word)?;
                            self.marks()
                        }
                        _ => Err(disagrees("a field without a clause")),
                    };
                }
                self.check_word(word)?;
                self.marks()
            }
            other => Err(disagrees(&format!("[{other}]"))),
        }
    }

    /// A word with its wildcards.
    fn word(&mut self, start: usize) -> Outcome<&'t str> {
        let mut end = start;
        while let Some((at, character)) = self.characters.next_if(|(_, c)| is_word(*c) || *c == '.')
        {
            end = at + character.len_utf8();
        }
        Ok(self.text.get(start..end).unwrap_or_default())
    }

    /// Fails unless a word is one token in each text field.
    fn check_word(&self, word: &str) -> Outcome<()> {
        if word.contains(['*', '?']) {
            let bare = word.trim_end_matches('*');
            if bare.is_empty() || word.contains('.') || word.ends_with('?') {
                return Err(disagrees(&format!("[{word}]")));
            }
            return Ok(());
        }
        let mut scratch = Scratch::default();
        let fields = self.translator.fields.schema.fields().iter();
        for field in fields.filter(|field| field.rules.source.is_none()) {
            let mut tokens = 0;
            field.analyzer.analyze(word, &mut scratch, |_| tokens += 1);
            if tokens != 1 {
                return Err(disagrees(&format!(
                    "[{word}], of which the analyzer of field [{}] makes {tokens} tokens,",
                    field.name
                )));
            }
        }
        Ok(())
    }

    fn check_field(&self, name: &str) -> Outcome<()> {
        if !name.chars().all(is_plain_name) {
            return Err(disagrees(&format!("the field [{name}]")));
        }
        match self.translator.fields.target(name)? {
            Some(target) if target.is_there => target.check_terms("query_string"),
            _ => Err(disagrees(&format!(
                "the field [{name}], which no document has,"
            ))),
        }
    }

    fn phrase(&mut self) -> Outcome<()> {
        self.characters.next();
        for (_, character) in self.characters.by_ref() {
            match character {
                '"' => return self.marks(),
                '\\' | '*' | '?' => return Err(disagrees(&format!("[{character}] in quotes"))),
                _ => {}
            }
        }
        Err(disagrees("quotes that are not closed"))
    }

    /// `~`, `~2`, `^1.5` behind a clause.
    fn marks(&mut self) -> Outcome<()> {
        if self.characters.next_if(|(_, next)| *next == '~').is_some() {
            let mut digits = 0;
            while self
                .characters
                .next_if(|(_, c)| c.is_ascii_digit())
                .is_some()
            {
                digits += 1;
            }
            if digits > 2 {
                return Err(disagrees("a number of more than two digits behind ~"));
            }
        }
        self.boost()
    }

    fn boost(&mut self) -> Outcome<()> {
        if self.characters.next_if(|(_, next)| *next == '^').is_some() {
            let mut digits = 0;
            while self
                .characters
                .next_if(|(_, c)| c.is_ascii_digit() || *c == '.')
                .is_some()
            {
                digits += 1;
            }
            if digits == 0 {
                return Err(disagrees("[^] without a number"));
            }
        }
        match self.characters.peek() {
            None | Some((_, ')')) => Ok(()),
            Some((_, next)) if next.is_whitespace() => Ok(()),
            Some((_, next)) => Err(disagrees(&format!("[{next}] right behind a clause"))),
        }
    }

    /// The letters from a place on.
    fn bare_word(&self, start: usize) -> &'t str {
        let rest = self.text.get(start..).unwrap_or_default();
        let end = rest.find(|c: char| !c.is_alphanumeric());
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        // It stands alone only before white space.
        let next = rest.get(word.len()..).and_then(|rest| rest.chars().next());
        if next.is_none_or(char::is_whitespace) {
            word
        } else {
            ""
        }
    }

    fn skip(&mut self, bytes: usize) {
        for _ in 0..bytes {
            self.characters.next();
        }
    }

    fn skip_space(&mut self) {
        while self
            .characters
            .next_if(|(_, c)| c.is_whitespace())
            .is_some()
        {}
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '*' | '?')
}
