//! Recognizes the syntax of other languages: a comparison without a colon, a regular expression.
//! Taken as text it would give a wrong answer.

use super::chunk::Rejection;
use crate::analysis::Schema;
use crate::search::query::fields::is_id;

/// The characters that signs of comparisons are made of.
const SIGNS: &[char] = &['<', '>', '=', '!', '≤', '≥', '≠'];

/// The characters that end the name of a field, or a value, in a comparison.
const ENDS: &[char] = &['(', ')', '"', '\\', ':', '^', '~', '*', '?'];

/// The most characters of a value that an error shows.
const VALUE_CHARACTERS: usize = 30;

/// The signs that a value may follow behind a colon, and other ways to write them.
const COMPARISONS: [(&str, &[&str]); 6] = [
    ("", &["=", "==", "==="]),
    ("-", &["!=", "!==", "<>", "≠"]),
    (">", &[">", ">>"]),
    ("<", &["<", "<<"]),
    (">=", &[">=", "=>", "≥"]),
    ("<=", &["<=", "=<", "≤"]),
];

/// The advice for a comparison without a colon, if `text` begins with one.
pub(crate) fn comparison(text: &str, schema: &Schema) -> Option<String> {
    let ends = |c: char| c.is_whitespace() || SIGNS.contains(&c) || ENDS.contains(&c);
    let (name, rest) = text.split_at(text.find(ends)?);
    let is_field = schema.named(name).is_some() || is_id(name, schema) && !name.is_empty();
    let (sign, value) = sign_and_value(rest)?;
    is_field.then(|| written(name, sign, &value))
}

/// The advice for signs behind a colon that the language lacks, if `rest` begins with one.
pub(crate) fn sign_behind_colon(name: &str, rest: &str) -> Option<String> {
    let signs = &rest[..rest.len() - rest.trim_start_matches(SIGNS).len()];
    let (sign, value) = sign_and_value(rest)?;
    let is_right = matches!(signs, ">" | ">=" | "<" | "<=" | "=");
    (!is_right).then(|| written(name, sign, &value))
}

/// The sign that comes next, as the language has it, and the value behind it.
fn sign_and_value(text: &str) -> Option<(&'static str, String)> {
    let text = text.trim_start();
    let behind = text.trim_start_matches(SIGNS);
    let signs = &text[..text.len() - behind.len()];
    let (sign, _) = COMPARISONS.iter().find(|(_, all)| all.contains(&signs))?;
    let value = value(behind.trim_start());
    (!value.is_empty()).then_some((*sign, value))
}

/// The value that a text begins with, or a part of it.
fn value(text: &str) -> String {
    let end = match text.strip_prefix('"') {
        Some(quoted) => quoted.find('"').map_or(text.len(), |end| end + 2),
        None => text
            .find(|c: char| c.is_whitespace() || c == ')')
            .unwrap_or(text.len()),
    };
    match text[..end].char_indices().nth(VALUE_CHARACTERS) {
        None => text[..end].to_owned(),
        Some((cut, _)) => format!("{}...", &text[..cut]),
    }
}

fn written(name: &str, sign: &str, value: &str) -> String {
    match sign {
        "-" => format!("-{name}:{value}"),
        _ => format!("{name}:{sign}{value}"),
    }
}

/// The rejection of a text that begins with a regular expression, written between slashes as
/// elsewhere. A path is none.
pub(crate) fn expression(text: &str) -> Option<Rejection> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let word = text[..end].trim_end_matches(')');
    let (inside, flags) = word.strip_prefix('/')?.rsplit_once('/')?;
    let is_flag = |c: char| "gimsuxy".contains(c) && inside.contains(['.', '[', '\\', '$']);
    let is_one = flags.chars().all(is_flag)
        && !inside.contains('/')
        && inside.contains(|c| "*+?[](){}|^$\\".contains(c));
    is_one.then_some((
        "a regular expression, which is not supported,",
        "write hel* or h?l* for words of a form, or the text in quotes",
    ))
}
