//! Reads a text in the syntax of Lucene's simple parser, in which every text has a meaning: words,
//! quotes, `+` and `|` between clauses, `-` before one, `*` and `~` behind a word, parentheses.

use gannet::{Operator, Query};

use super::asked_fields::AskedFields;
use super::joined::{all_but, joined};
use crate::fault::{Fault, Outcome};

/// The most parentheses in each other.
const DEPTH_MAX: usize = 16;

/// The clauses of a text, or of what is in parentheses.
#[derive(Default)]
pub struct Group {
    /// Those that the last operator joins.
    pub clauses: Vec<Query>,
    /// The operator that joins them, once there are two.
    pub operator: Operator,
    /// The operator that stands before the next clause.
    next: Option<Operator>,
    is_negated: bool,
}

/// Reads a text.
pub fn parse_simple(text: &[char], fields: &AskedFields<'_>, depth: usize) -> Outcome<Group> {
    if depth > DEPTH_MAX {
        return Err(Fault::parsing(format!(
            "[simple_query_string] has more than {DEPTH_MAX} parentheses in each other"
        )));
    }
    let mut group = Group::default();
    let mut rest = text;
    while let Some(&character) = rest.first() {
        let (query, taken) = match character {
            '-' => {
                group.is_negated = !group.is_negated;
                rest = &rest[1..];
                continue;
            }
            '(' => match closing(rest) {
                None => (None, 1),
                Some(end) => {
                    let inner = parse_simple(&rest[1..end], fields, depth + 1)?;
                    (inner.query(), end + 1)
                }
            },
            '"' => phrase(rest, fields)?,
            '+' => (group.joins(Operator::And), 1),
            '|' => (group.joins(Operator::Or), 1),
            ')' => (None, 1),
            other if is_space(other) => (None, 1),
            _ => word(rest, fields)?,
        };
        if let Some(query) = query {
            group.add(query, fields.operator);
        }
        group.is_negated = false;
        rest = &rest[taken..];
    }
    Ok(group)
}

impl Group {
    /// Notes an operator; the first one before a clause counts.
    fn joins(&mut self, operator: Operator) -> Option<Query> {
        if !self.clauses.is_empty() {
            self.next.get_or_insert(operator);
        }
        None
    }

    /// Adds a clause. Where the operator changes, all clauses before it become one.
    fn add(&mut self, query: Query, default: Operator) {
        let query = if self.is_negated {
            all_but(query)
        } else {
            query
        };
        let operator = self.next.take().unwrap_or(default);
        if self.clauses.len() > 1 && operator != self.operator {
            let before = joined(std::mem::take(&mut self.clauses), self.operator);
            self.clauses.push(before);
        }
        self.operator = operator;
        self.clauses.push(query);
    }

    /// The query of all clauses; nothing if there are none.
    pub fn query(mut self) -> Option<Query> {
        match self.clauses.len() {
            0 | 1 => self.clauses.pop(),
            _ => Some(joined(self.clauses, self.operator)),
        }
    }
}

/// The place of the parenthesis that closes the first one.
fn closing(text: &[char]) -> Option<usize> {
    let mut open = 0;
    let mut is_escaped = false;
    for (at, character) in text.iter().enumerate() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// Quotes, and a slop behind them; those that are not closed mean nothing.
fn phrase(text: &[char], fields: &AskedFields<'_>) -> Outcome<(Option<Query>, usize)> {
    let mut words = String::new();
    let mut at = 1;
    while let Some(&character) = text.get(at) {
        at += 1;
        match character {
            '\\' => {
                words.extend(text.get(at));
                at += 1;
            }
            '"' => {
                let (slop, taken) = number_behind(&text[at..]);
                if words.is_empty() {
                    return Ok((None, at));
                }
                let slop = slop.flatten().unwrap_or(0);
                let query = fields.phrase(None, &words, slop)?;
                return Ok((Some(query), at + taken));
            }
            other => words.push(other),
        }
    }
    Ok((None, 1))
}

/// A word, with `*` or `~` behind it.
fn word(text: &[char], fields: &AskedFields<'_>) -> Outcome<(Option<Query>, usize)> {
    let mut word = String::new();
    let mut at = 0;
    let mut is_prefix = false;
    while let Some(&character) = text.get(at) {
        if is_space(character) || matches!(character, '"' | '|' | '+' | '(' | ')') {
            break;
        }
        if character == '~' && !word.is_empty() {
            let (number, taken) = number_behind(&text[at..]);
            if let Some(number) = number {
                let distance = number.map(|number| number.min(2) as u8);
                let query = fields.fuzzy(None, &word, distance)?;
                return Ok((Some(query), at + taken));
            }
        }
        at += 1;
        is_prefix = character == '*';
        if character == '\\' {
            word.extend(text.get(at));
            at += 1;
        } else {
            word.push(character);
        }
    }
    let query = match word.strip_suffix('*') {
        Some(prefix) if is_prefix && !prefix.is_empty() => fields.prefix(None, prefix)?,
        _ => fields.words(None, &word)?,
    };
    Ok((Some(query), at.min(text.len())))
}

/// A tilde with a number or without one, up to the end of the word, and how long it is.
fn number_behind(text: &[char]) -> (Option<Option<u32>>, usize) {
    let Some(rest) = text.strip_prefix(&['~']) else {
        return (None, 0);
    };
    let digits: String = rest.iter().take_while(|c| c.is_ascii_digit()).collect();
    let is_end = |c: &char| is_space(*c) || matches!(c, '"' | '|' | '+' | '(' | ')');
    match rest.get(digits.len()) {
        Some(next) if !is_end(next) => (None, 0),
        _ => (Some(digits.parse().ok()), 1 + digits.len()),
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}
