//! A JSON array of documents, or JSON objects one after the other, over any number of lines.
//!
//! Only where a document ends is found here, by its brackets: what is in it, whoever reads the
//! document checks. So nothing nests, and of a document that is too long no more than the limit is
//! held. Every document has a number, from 1, since several may stand on one line.

use std::io::{self, BufRead};
use std::time::Instant;

use super::documents::{DocumentStart, Documents, Found, too_long};
use crate::bytes::Bytes;

/// Documents in arrays, or beside each other.
pub struct Values {
    reader: Bytes,
    limit: usize,
    number: u64,
    /// The place of the next byte.
    here: DocumentStart,
    /// The place at which the last document begins.
    began: DocumentStart,
    within: Within,
}

/// The surroundings of the next document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Nothing, and no array came yet.
    Beside,
    /// An array, in which the next document may stand at once, or behind a comma.
    Array { wants_comma: bool },
    /// Nothing, behind an array.
    Behind,
    /// Bytes that are no JSON, and are passed over.
    Nothing,
}

impl Values {
    /// Documents of at most `limit` bytes.
    pub fn new(reader: Bytes, limit: usize) -> Values {
        let start = DocumentStart { line: 1, indent: 0 };
        Values {
            reader,
            limit,
            number: 0,
            here: start,
            began: start,
            within: Within::Beside,
        }
    }

    /// The next byte that is no white space; it is not taken.
    fn next_byte(&mut self) -> io::Result<Option<u8>> {
        loop {
            let at_hand = self.reader.fill_buf()?;
            let Some(byte) = at_hand.first().copied() else {
                return Ok(None);
            };
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
            self.take_byte(byte);
        }
    }

    fn take_byte(&mut self, byte: u8) {
        self.take(1);
        if byte == b'\n' {
            self.here.line += 1;
            self.here.indent = 0;
        }
    }

    fn take(&mut self, count: usize) {
        self.reader.consume(count);
        self.here.indent += count;
    }

    /// Goes to the next document; gives what else is to be told before.
    fn advance(&mut self) -> io::Result<Option<Found>> {
        loop {
            let byte = self.next_byte()?;
            match (byte, self.within) {
                (None, Within::Array { .. }) => {
                    return Err(self.cut("the array ends before its ']'"));
                }
                (None, _) | (_, Within::Nothing) => return Ok(Some(Found::End)),
                (Some(b'['), Within::Beside | Within::Behind) => {
                    self.within = Within::Array { wants_comma: false };
                }
                (Some(b']'), Within::Array { .. }) => self.within = Within::Behind,
                (Some(b','), Within::Array { wants_comma: true }) => {
                    self.within = Within::Array { wants_comma: false };
                }
                (Some(b','), Within::Array { .. }) => {
                    self.take_byte(b',');
                    return Ok(Some(self.rejected("expected a document before this ','")));
                }
                (_, Within::Array { wants_comma: true }) => {
                    self.within = Within::Array { wants_comma: false };
                    return Ok(Some(self.rejected(
                        "expected ',' between two documents of the array, found none: the next one is read all the same",
                    )));
                }
                // Documents beside an array are none the worse for it.
                (Some(b'{'), Within::Behind) => {
                    self.within = Within::Beside;
                    return Ok(None);
                }
                (_, Within::Behind) => {
                    self.within = Within::Nothing;
                    return Ok(Some(self.rejected(
                        "expected nothing behind the ']' of the array: all from here on is passed over",
                    )));
                }
                (Some(b']' | b'}' | b','), Within::Beside) => {
                    self.take_byte(b']');
                    return Ok(Some(
                        self.rejected("expected a JSON object: this sign belongs to none"),
                    ));
                }
                _ => return Ok(None),
            }
            self.take_byte(b'[');
        }
    }

    fn rejected(&mut self, reason: &str) -> Found {
        self.number += 1;
        self.began = self.here;
        Found::Rejected(reason.to_owned())
    }

    fn cut(&self, what: &str) -> io::Error {
        let line = self.here.line;
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("line {line}: {what}: the file may have been cut off"),
        )
    }

    /// Appends a value up to its end; or passes over it, if it is too long.
    fn append(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        self.number += 1;
        self.began = self.here;
        let start = buffer.len();
        let mut end = End::default();
        let mut is_too_long = false;
        loop {
            let at_hand = self.reader.fill_buf()?;
            if at_hand.is_empty() && end.is_inside() && self.within != Within::Beside {
                return Err(self.cut("the array ends within its last document"));
            }
            let (count, is_end) = end.find(at_hand);
            is_too_long |= buffer.len() - start + count > self.limit;
            if is_too_long {
                buffer.truncate(start)
            } else {
                buffer.extend_from_slice(&at_hand[..count])
            }
            let lines = at_hand[..count]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            if let Some(last) = at_hand[..count].iter().rposition(|byte| *byte == b'\n') {
                self.here.line += lines as u64;
                self.here.indent = count - last - 1;
            } else {
                self.here.indent += count;
            }
            let is_last = is_end || at_hand.is_empty();
            self.reader.consume(count);
            if is_last {
                break;
            }
        }
        if let Within::Array { wants_comma } = &mut self.within {
            *wants_comma = true;
        }
        Ok(if is_too_long {
            Found::Rejected(too_long("document", self.limit))
        } else {
            Found::Document
        })
    }
}

impl Documents for Values {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        match self.advance()? {
            Some(found) => Ok(found),
            None => self.append(buffer),
        }
    }

    fn pauses(&mut self, until: Instant) -> bool {
        self.reader.pauses(until, b'}')
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn place(&self) -> Option<DocumentStart> {
        Some(self.began)
    }

    fn unit(&self) -> &'static str {
        "document"
    }
}

/// Finds the end of a value.
#[derive(Default)]
struct End {
    /// Brackets that are open.
    depth: usize,
    in_text: bool,
    after_backslash: bool,
    /// Set if the value is no object, array or text, and has begun.
    in_word: bool,
}

impl End {
    fn is_inside(&self) -> bool {
        self.depth > 0 || self.in_text
    }

    /// Returns the number of these bytes that belong to the value, and true if it ends behind them.
    fn find(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (at, byte) in bytes.iter().enumerate() {
            if self.in_text {
                let is_quote = *byte == b'"' && !self.after_backslash;
                self.after_backslash = *byte == b'\\' && !self.after_backslash;
                self.in_text = !is_quote;
                if is_quote && self.depth == 0 {
                    return (at + 1, true);
                }
                continue;
            }
            if self.in_word && self.depth == 0 && is_sign(*byte) {
                return (at, true);
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                _ => self.in_word |= self.depth == 0,
            }
        }
        (bytes.len(), false)
    }
}

/// Returns true if a byte ends a value like `12` or `true`.
fn is_sign(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b",]}[{\"".contains(&byte)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Reads a text of which `each` bytes come at once; returns documents, or reasons behind `!`.
    fn read(text: &str, each: usize, limit: usize) -> Vec<String> {
        let reader = BufReader::with_capacity(each, io::Cursor::new(text.to_owned()));
        let mut values = Values::new(Bytes::of(Box::new(reader), None), limit);
        let mut all = Vec::new();
        loop {
            let mut buffer = Vec::new();
            all.push(match values.next(&mut buffer) {
                Ok(Found::End) => return all,
                Ok(Found::Rejected(reason)) => {
                    assert!(buffer.is_empty());
                    format!("!{}: {reason}", values.began.line)
                }
                Ok(_) => String::from_utf8(buffer).unwrap(),
                Err(error) => {
                    all.push(format!("!!{error}"));
                    return all;
                }
            });
        }
    }

    fn check(text: &str, expected: &[&str]) {
        for each in 1..9 {
            let found = read(text, each, 40);
            assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn documents_of_arrays_are_found_over_lines() {
        check(
            "[\n{\"a\":1},\n{\"b\":\n[2]}\n]\n",
            &["{\"a\":1}", "{\"b\":\n[2]}"],
        );
        check(
            " [{\"a\":\"]}\\\"[{\"},{}]",
            &["{\"a\":\"]}\\\"[{\"}", "{}"],
        );
        check("[]", &[]);
        check(" ", &[]);
        check("[{}]\n[{\"a\":1}]", &["{}", "{\"a\":1}"]);
        check("[1]\n{\"a\":1}\n[{}]", &["1", "{\"a\":1}", "{}"]);
        check("[1,\"a b\",null,[2]]", &["1", "\"a b\"", "null", "[2]"]);
        check(
            "{\n\"a\":1\n}\n{\"b\":\n2}",
            &["{\n\"a\":1\n}", "{\"b\":\n2}"],
        );
        check("{\"a\":\n1", &["{\"a\":\n1"]);
    }

    #[test]
    fn what_is_wrong_with_an_array_is_told_and_the_others_are_read() {
        check("[{}\n{\"a\":1}]", &["{}", "!2: expected ','", "{\"a\":1}"]);
        check("[,{}]", &["!1: expected a document", "{}"]);
        check("[{},]", &["{}"]);
        check("[{}]\nrest {}", &["{}", "!2: expected nothing behind"]);
        check(
            "[{\"a\":1},\n{\"b\":",
            &["{\"a\":1}", "!!line 2: the array ends within"],
        );
        check(
            "[{\"a\":1},\n",
            &["{\"a\":1}", "!!line 2: the array ends before"],
        );
        let long = format!("[{{\"a\":\"{}\"}},{{}}]", "x".repeat(100));
        check(&long, &["!1: the document is longer than 40 bytes", "{}"]);
        let deep = format!("[{}{},{{}}]", "[".repeat(90_000), "]".repeat(90_000));
        check(&deep, &["!1: the document is longer", "{}"]);
        check("{\n}}\n{}", &["{\n}", "!2: expected a JSON object", "{}"]);
    }
}
