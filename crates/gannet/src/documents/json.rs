//! The one JSON door: a JSON object becomes a [`Document`], or an error with column and reason.
//!
//! Strings are text, numbers and booleans terms that match exactly, null is nothing; arrays give
//! several values of one field, objects are flattened with dots. A key that occurs twice in one
//! object is rejected, as Elasticsearch does: whichever value were kept, the other would be lost in
//! silence. Parsing runs straight from the bytes into the fields (see `flatten`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::expected::Expected;
use super::flatten::id_fault;
use super::flatten::{Flattened, flatten, value_bytes};
use super::value::Value;
use super::value::exact_number;
use crate::base::{Error, Result};

/// Bytes of the largest document's source: 16 MiB.
pub const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// Memory for the values of a document beside their text, before more is asked for.
const ROOM_BESIDE_TEXT: usize = 16 << 10;

/// A document as it came. Nobody can change it, since what is indexed must be what a recovery makes
/// of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub(crate) id: Option<String>,
    pub(crate) fields: Vec<(String, Value)>,
    /// The fields that are null, and how often in a row: nothing, unless it is declared what a null
    /// counts as.
    pub(crate) nulls: Vec<(String, u32)>,
    pub(crate) source: Vec<u8>,
    /// Set if the source's member `id` is the external ID, and so no field.
    pub(crate) id_in_source: bool,
    /// The version that it must replace.
    pub(crate) expected: Option<Expected>,
    /// Its version, where the caller counts versions.
    pub(crate) version: Option<u64>,
}

impl Document {
    /// The external ID, if it brings one; else one is made when it is written.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The values of all fields in order of appearance, objects flattened with dots.
    pub fn fields(&self) -> &[(String, Value)] {
        &self.fields
    }

    /// The JSON object, byte for byte.
    pub fn source(&self) -> &[u8] {
        &self.source
    }

    /// Reads one JSON object. Its member `id` is the external ID and not a field: a string, or an
    /// integer that is taken as its decimal string. Without it one is made when the document is
    /// written, so that to write it again adds another.
    ///
    /// Strings are text, arrays are several values of one field, objects are flattened with dots,
    /// null is nothing unless a mapping says otherwise; numbers and booleans are matched exactly,
    /// `1`, `1.0` and `1e0` as the same.
    /// The type of a field, text or exact, is fixed by its first value in an index: strings in a
    /// field of numbers are then matched as a whole, and numbers in a field of text as words.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], with line and column, for what is no JSON object of at most 16 MiB. It
    /// may be nested 32 deep and have 100,000 values. It may have 1,000 fields, with names of at
    /// most 255 bytes, and an ID of at most 512 bytes.
    pub fn parse(line: &[u8]) -> Result<Document> {
        Document::parse_within(line, &mut |_| Ok(()))
    }

    /// The same, which asks `reserve` for memory before it takes any: for all that the document
    /// takes.
    pub(crate) fn parse_within(
        line: &[u8],
        reserve: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Document> {
        let (source, text) = admitted(line)?;
        let mut room = source.len() + ROOM_BESIDE_TEXT;
        let Flattened { id, fields, nulls } = loop {
            reserve(source.len() + room)?;
            match flatten(text, true, room) {
                Ok(Some(flattened)) => break flattened,
                Ok(None) => room *= 4,
                Err(error) => return Err(rejected(&error, line, text)),
            }
        };
        Ok(Document {
            id_in_source: id.is_some(),
            id,
            fields,
            nulls,
            source: source.to_vec(),
            expected: None,
            version: None,
        })
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let values = self.fields.iter();
        let values = values.map(|(name, value)| value_bytes(name, value.text().len()));
        let nulls = self.nulls.iter().map(|(name, _)| value_bytes(name, 0));
        self.source.capacity() + values.sum::<usize>() + nulls.sum::<usize>()
    }

    /// Reads one JSON object whose external ID is known, or is to be made; a member `id` is an
    /// ordinary field of it.
    pub fn parse_as(id: Option<String>, line: &[u8]) -> Result<Document> {
        if let Some(reason) = id.as_deref().and_then(id_fault) {
            return Err(Error::Invalid(reason));
        }
        let (source, text) = admitted(line)?;
        let Flattened { fields, nulls, .. } = flatten(text, false, usize::MAX)
            .map_err(|error| rejected(&error, line, text))?
            .unwrap_or_default();
        Ok(Document {
            id_in_source: false,
            id,
            fields,
            nulls,
            source: source.to_vec(),
            expected: None,
            version: None,
        })
    }

    /// The same document, which is written only if it replaces what is expected: else its whole
    /// batch is rejected with [`Error::Conflict`].
    #[must_use]
    pub fn expecting(mut self, expected: Expected) -> Document {
        self.expected = Some(expected);
        self
    }

    /// The same document, whose version is this one, whatever it replaces: that of the system from
    /// which it comes. Later writes without a version count on from it.
    #[must_use]
    pub fn with_version(mut self, version: u64) -> Document {
        self.version = Some(version);
        self
    }

    /// Builds a document from an external ID and values of fields, and writes its JSON source.
    /// Values of one name become an array.
    ///
    /// ```ignore
    /// Document::new("7", [("title", Value::from("Gannet")), ("year", Value::from(2026))])?;
    /// ```
    pub fn new<N: Into<String>, V: Into<Value>>(
        id: impl Into<String>,
        fields: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Document> {
        let mut members = vec![("id".to_owned(), vec![Value::Text(id.into())])];
        let mut places = HashMap::from([("id".to_owned(), 0)]);
        for (name, value) in fields {
            let (name, value) = (name.into(), value.into());
            match places.entry(name) {
                Entry::Occupied(place) if *place.get() == 0 => {
                    return Err(Error::invalid(
                        "the field name id is taken by the external ID",
                    ));
                }
                Entry::Occupied(place) => members[*place.get()].1.push(value),
                Entry::Vacant(place) => {
                    let name = place.key().clone();
                    place.insert(members.len());
                    members.push((name, vec![value]));
                }
            }
        }
        Document::parse(&write_object(&members)?)
    }
}

/// The line without white space around it, as bytes and as text.
fn admitted(line: &[u8]) -> Result<(&[u8], &str)> {
    let source = line.trim_ascii();
    if source.len() > DOCUMENT_BYTES_MAX {
        return Err(Error::invalid(format!(
            "the document has {} bytes, at most {DOCUMENT_BYTES_MAX} are allowed",
            source.len()
        )));
    }
    match std::str::from_utf8(source) {
        Ok(text) => Ok((source, text)),
        Err(error) => {
            let column = indent(line) + error.valid_up_to() + 1;
            Err(Error::invalid(format!("column {column}: not UTF-8")))
        }
    }
}

/// The reason of a failed parse, with its column in `line`, and its line if the object has several.
fn rejected(error: &serde_json::Error, line: &[u8], text: &str) -> Error {
    let (row, column) = (error.line(), error.column());
    let words = error.to_string();
    let place = format!(" at line {row} column {column}");
    let reason = words.strip_suffix(&place).unwrap_or(&words);
    let reason = advised(reason, text, error);
    Error::Invalid(match (text.contains('\n'), row) {
        (true, 2..) => format!("line {row}, column {column}: {reason}"),
        _ => format!("column {}: {reason}", indent(line) + column.max(1)),
    })
}

/// The reason in words that say what to do, where the parser's own do not.
fn advised(reason: &str, text: &str, error: &serde_json::Error) -> String {
    let row = text.lines().nth(error.line().saturating_sub(1));
    let at = error.column().saturating_sub(1);
    let rest = row
        .and_then(|row| row.as_bytes().get(at..))
        .unwrap_or_default();
    let sentence = match reason {
        _ if reason.contains("surrogate") || is_surrogate(reason, text, error) => {
            "half of a character, a lone surrogate such as \\ud83d, as a text has that was cut within an emoji: leave it out"
        }
        "trailing characters" if rest.first() == Some(&b',') => {
            "expected nothing behind the object, found a comma: leave it out, or put all objects between [ and ]"
        }
        "trailing characters" if rest.first() == Some(&b'{') => {
            "expected nothing behind the object, found another one: write each on a line of its own"
        }
        "trailing characters" => "expected nothing behind the object: leave out what follows it",
        "expected value"
            if is_word(
                rest,
                &[
                    "NaN",
                    "Infinity",
                    "-Infinity",
                    "None",
                    "True",
                    "False",
                    "undefined",
                ],
            ) =>
        {
            "expected a value of JSON, which has neither NaN nor infinity, and null, true and false in lower case"
        }
        "number out of range" => "a number beyond what JSON readers take: write it as a string",
        _ => return reason.to_owned(),
    };
    sentence.to_owned()
}

fn is_word(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word.as_bytes()))
}

/// Returns true if a text ends where the second half of a character is missing.
fn is_surrogate(reason: &str, text: &str, error: &serde_json::Error) -> bool {
    let row = text
        .lines()
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    let before = row.as_bytes().get(..error.column()).unwrap_or_default();
    let escape = before.iter().rposition(|byte| *byte == b'\\');
    let digits = escape.and_then(|at| row.as_bytes().get(at + 1..at + 4));
    reason.contains("hex escape")
        && digits.is_some_and(|digits| {
            digits.to_ascii_lowercase().starts_with(b"ud") && digits[2].to_ascii_lowercase() >= b'8'
        })
}

fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

fn write_object(members: &[(String, Vec<Value>)]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for (name, values) in members {
        out.push(if out.is_empty() { b'{' } else { b',' });
        write_text(name, &mut out)?;
        out.push(b':');
        match values.as_slice() {
            [value] => write_value(value, &mut out)?,
            values => write_array(values, &mut out)?,
        }
    }
    out.push(b'}');
    Ok(out)
}

fn write_array(values: &[Value], out: &mut Vec<u8>) -> Result<()> {
    for (ordinal, value) in values.iter().enumerate() {
        out.push(if ordinal == 0 { b'[' } else { b',' });
        write_value(value, out)?;
    }
    out.push(b']');
    Ok(())
}

fn write_value(value: &Value, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Text(text) => write_text(text, out),
        Value::Exact(term) => {
            let spelled = matches!(term.as_str(), "true" | "false") || exact_number(term).is_some();
            if !spelled {
                return Err(Error::invalid(format!(
                    "an exact value must be a number or a boolean, got {term:?}"
                )));
            }
            out.extend_from_slice(term.as_bytes());
            Ok(())
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(out, text).map_err(|error| Error::internal(error.to_string()))
}

#[cfg(test)]
mod tests;
