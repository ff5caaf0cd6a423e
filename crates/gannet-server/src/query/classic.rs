//! Reads a text in the syntax of Lucene's classic parser: words, quotes, `*`, `?`, `~`, `^`,
//! ranges, fields before a colon, parentheses, `AND`, `OR`, `NOT` and their signs.

use std::iter::Peekable;
use std::str::CharIndices;

use gannet::Query;
use serde_json::json;

use super::asked_fields::AskedFields;
use super::boosted_by;
use super::joined::{Clauses, Conjunction, Sign};
use crate::fault::{Fault, Outcome};

/// The most parentheses in each other.
const DEPTH_MAX: usize = 16;

/// Reads a text; `minimum` says how many of so many optional clauses must match.
pub fn parse_classic(
    text: &str,
    fields: &AskedFields<'_>,
    minimum: impl FnOnce(usize) -> Outcome<Option<u32>>,
) -> Outcome<Query> {
    let mut reader = Reader {
        text,
        characters: text.char_indices().peekable(),
        fields,
    };
    let clauses = reader.clauses(None, 0)?;
    match reader.peek() {
        None => clauses.query(true, minimum),
        Some(other) => Err(reader.wrong(&format!("[{other}] without its beginning"))),
    }
}

struct Reader<'t> {
    text: &'t str,
    characters: Peekable<CharIndices<'t>>,
    fields: &'t AskedFields<'t>,
}

/// The letters of a word, with what a backslash made of some.
#[derive(Default)]
struct Word {
    /// The letters without their backslashes.
    text: String,
    /// The same as a pattern, in which those that had a backslash have one.
    pattern: String,
    /// The number of `*` and `?`.
    wildcards: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.characters.peek().map(|(_, character)| *character)
    }

    /// Takes a text if it comes next.
    fn takes(&mut self, what: &str) -> bool {
        let is_next = self.rest().starts_with(what);
        if is_next {
            what.chars().for_each(|_| {
                self.characters.next();
            });
        }
        is_next
    }

    fn rest(&mut self) -> &str {
        match self.characters.peek() {
            None => "",
            Some((at, _)) => self.text.get(*at..).unwrap_or_default(),
        }
    }

    fn skip_space(&mut self) {
        while self.characters.next_if(|(_, c)| is_space(*c)).is_some() {}
    }

    fn wrong(&self, what: &str) -> Fault {
        Fault::new(
            400,
            "query_shard_exception",
            format!(
                "Failed to parse query [{}]: found {what}; a backslash makes a letter of a sign",
                self.text
            ),
        )
    }

    /// Clauses up to a parenthesis that closes, or to the end.
    fn clauses(&mut self, field: Option<&str>, depth: usize) -> Outcome<Clauses> {
        if depth > DEPTH_MAX {
            return Err(self.wrong(&format!("more than {DEPTH_MAX} parentheses in each other")));
        }
        let mut clauses = Clauses::default();
        let mut is_first = true;
        loop {
            self.skip_space();
            if is_first && depth == 0 && self.peek().is_none() {
                return Err(self.wrong("no clause"));
            }
            if !is_first && matches!(self.peek(), None | Some(')')) {
                return Ok(clauses);
            }
            let conjunction = if is_first {
                Conjunction::None
            } else {
                self.conjunction()
            };
            self.skip_space();
            let sign = self.sign();
            self.skip_space();
            let query = self.clause(field, depth)?;
            clauses.add(query, conjunction, sign, self.fields.operator);
            is_first = false;
        }
    }

    fn conjunction(&mut self) -> Conjunction {
        if self.takes_word("AND") || self.takes_word("&&") {
            Conjunction::And
        } else if self.takes_word("OR") || self.takes_word("||") {
            Conjunction::Or
        } else {
            Conjunction::None
        }
    }

    fn sign(&mut self) -> Sign {
        if self.takes("+") {
            Sign::Required
        } else if self.takes("-") || self.takes("!") || self.takes_word("NOT") {
            Sign::Prohibited
        } else {
            Sign::None
        }
    }

    /// Takes a word that stands alone.
    fn takes_word(&mut self, word: &str) -> bool {
        let next = self
            .rest()
            .strip_prefix(word)
            .map(|rest| rest.chars().next());
        let is_alone = next.is_some_and(|next| next.is_none_or(|next| !is_letter(next)));
        is_alone && self.takes(word)
    }

    fn clause(&mut self, field: Option<&str>, depth: usize) -> Outcome<Query> {
        match self.peek() {
            None => Err(self.wrong("the end in place of a clause")),
            Some('(') => {
                self.characters.next();
                let clauses = self.clauses(field, depth + 1)?;
                if !self.takes(")") {
                    return Err(self.wrong("a parenthesis that is not closed"));
                }
                let query = clauses.query(false, |_| Ok(None))?;
                self.boosted(query)
            }
            Some('"') => {
                let text = self.quoted()?;
                let slop = self.number_behind('~')?.flatten().unwrap_or(0.0);
                let query = self.fields.phrase(field, &text, slop as u32)?;
                self.boosted(query)
            }
            Some('[' | '{') => {
                let query = self.range(field)?;
                self.boosted(query)
            }
            Some('/') => Err(Fault::query_not_there(
                "[query_string] with a regular expression",
            )),
            _ => self.word_or_field(field, depth),
        }
    }

    fn word_or_field(&mut self, field: Option<&str>, depth: usize) -> Outcome<Query> {
        let word = self.word()?;
        if matches!(word.pattern.as_str(), "AND" | "OR" | "NOT" | "&&" | "||") {
            return Err(self.wrong(&format!("[{}] without a clause before it", word.text)));
        }
        if !self.takes(":") {
            let query = self.word_query(field, &word)?;
            return self.boosted(query);
        }
        self.skip_space();
        if word.wildcards > 0 && word.text != "*" {
            return Err(self.wrong("a pattern in place of a field"));
        }
        let name = word.text;
        if name == "_exists_" {
            let field = self.word()?;
            return self.fields.exists(&field.text);
        }
        if name == "*" && self.takes("*") {
            return self.boosted(Query::MatchAll);
        }
        self.clause(Some(&name), depth)
    }

    fn word_query(&mut self, field: Option<&str>, word: &Word) -> Outcome<Query> {
        if word.wildcards > 0 {
            if word.text == "*" {
                return self.any_value(field);
            }
            let is_prefix = word.wildcards == 1 && word.pattern.ends_with('*');
            return match word.text.strip_suffix('*') {
                Some(prefix) if is_prefix => self.fields.prefix(field, prefix),
                _ => self.fields.wildcard(field, &word.pattern),
            };
        }
        // As in Elasticsearch, a comparison begins a word.
        let signs = [(">=", "gte"), ("<=", "lte"), (">", "gt"), ("<", "lt")];
        let compared = signs
            .into_iter()
            .find_map(|(sign, end)| Some((end, word.text.strip_prefix(sign)?)));
        match self.number_behind('~')? {
            None => match compared {
                Some((end, value)) => self.fields.range(field, &json!({ end: value })),
                None => self.fields.words(field, &word.text),
            },
            Some(None) => self.fields.fuzzy(field, &word.text, None),
            Some(Some(number)) if number < 1.0 => self.fields.fuzzy(field, &word.text, None),
            Some(Some(number)) if number.fract() > 0.0 => {
                Err(self.wrong("a fraction of differences"))
            }
            Some(Some(number)) => self
                .fields
                .fuzzy(field, &word.text, Some(number.min(2.0) as u8)),
        }
    }

    /// `*` alone: documents that have any of the fields that are asked for.
    fn any_value(&mut self, field: Option<&str>) -> Outcome<Query> {
        let name = match (field, self.fields.default.as_slice()) {
            (Some(name), _) => name,
            (None, [(name, _)]) => name,
            _ => "*",
        };
        match name {
            "*" => Ok(Query::MatchAll),
            name => self.fields.exists(name),
        }
    }

    /// `[a TO b]` and its like.
    fn range(&mut self, field: Option<&str>) -> Outcome<Query> {
        let lower = if self.takes("[") { "gte" } else { "gt" };
        self.takes("{");
        let from = self.end_of_range()?;
        self.skip_space();
        if !self.takes("TO") {
            return Err(self.wrong("a range without TO"));
        }
        let to = self.end_of_range()?;
        self.skip_space();
        let upper = match self.characters.next() {
            Some((_, ']')) => "lte",
            Some((_, '}')) => "lt",
            _ => return Err(self.wrong("a range that is not closed")),
        };
        let mut ends = json!({});
        for (name, end) in [(lower, from), (upper, to)] {
            if end != "*" {
                ends[name] = json!(end);
            }
        }
        self.fields.range(field, &ends)
    }

    fn end_of_range(&mut self) -> Outcome<String> {
        self.skip_space();
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let mut end = String::new();
        let is_part = |c: char| !is_space(c) && !matches!(c, ']' | '}');
        while let Some((_, character)) = self.characters.next_if(|(_, c)| is_part(*c)) {
            end.push(character);
        }
        if end.is_empty() {
            return Err(self.wrong("a range without an end"));
        }
        Ok(end)
    }

    fn quoted(&mut self) -> Outcome<String> {
        self.characters.next();
        let mut text = String::new();
        while let Some((_, character)) = self.characters.next() {
            match character {
                '"' => return Ok(text),
                '\\' => text.extend(self.characters.next().map(|(_, next)| next)),
                other => text.push(other),
            }
        }
        Err(self.wrong("quotes that are not closed"))
    }

    fn word(&mut self) -> Outcome<Word> {
        let mut word = Word::default();
        while let Some(character) = self.peek() {
            match character {
                '\\' => {
                    self.characters.next();
                    let Some((_, next)) = self.characters.next() else {
                        return Err(self.wrong("a backslash at the end"));
                    };
                    word.text.push(next);
                    word.pattern.extend(['\\', next]);
                }
                '*' | '?' => word.push_wildcard(character, &mut self.characters),
                '-' | '+' if !word.text.is_empty() => word.push(character, &mut self.characters),
                other if is_letter(other) => word.push(other, &mut self.characters),
                _ => break,
            }
        }
        if word.text.is_empty() {
            let next = self
                .peek()
                .map_or_else(|| "the end".to_owned(), |c| format!("[{c}]"));
            return Err(self.wrong(&next));
        }
        Ok(word)
    }

    /// A boost behind a clause.
    fn boosted(&mut self, query: Query) -> Outcome<Query> {
        match self.number_behind('^')? {
            None => Ok(query),
            Some(Some(factor)) => boosted_by(query, factor),
            Some(None) => Err(self.wrong("[^] without a number")),
        }
    }

    /// A sign that a number may stand behind.
    fn number_behind(&mut self, sign: char) -> Outcome<Option<Option<f32>>> {
        if self.characters.next_if(|(_, c)| *c == sign).is_none() {
            return Ok(None);
        }
        let mut digits = String::new();
        while let Some((_, digit)) = self
            .characters
            .next_if(|(_, c)| c.is_ascii_digit() || *c == '.')
        {
            digits.push(digit);
        }
        if digits.is_empty() {
            return Ok(Some(None));
        }
        match digits.parse::<f32>() {
            Ok(number) => Ok(Some(Some(number))),
            Err(_) => Err(self.wrong(&format!("[{sign}{digits}], which is no number"))),
        }
    }
}

impl Word {
    fn push(&mut self, letter: char, characters: &mut Peekable<CharIndices<'_>>) {
        characters.next();
        self.text.push(letter);
        self.pattern.push(letter);
    }

    fn push_wildcard(&mut self, sign: char, characters: &mut Peekable<CharIndices<'_>>) {
        self.push(sign, characters);
        self.wildcards += 1;
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{3000}')
}

/// Returns true for what needs no backslash in a word.
fn is_letter(character: char) -> bool {
    !is_space(character)
        && !matches!(
            character,
            '+' | '-'
                | '!'
                | '('
                | ')'
                | ':'
                | '^'
                | '['
                | ']'
                | '"'
                | '{'
                | '}'
                | '~'
                | '*'
                | '?'
                | '\\'
                | '/'
        )
}
