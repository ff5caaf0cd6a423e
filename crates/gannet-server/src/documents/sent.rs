//! The documents of a body of Gannet's own API: lines of JSON, an array, one object, or CSV. Each
//! has the place at which it stands, so that an error names it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::rows::Rows;
use crate::fault::{Fault, Outcome, Place};
use crate::http::{CSV, is_json_media};

/// Documents of one body.
const DOCUMENTS_MAX: usize = 1_000_000;

/// A document of a body.
pub struct SentDocument<'a> {
    /// The line at which it begins.
    pub line: usize,
    /// The object, or the reason why it is none.
    pub source: Outcome<Cow<'a, [u8]>>,
}

/// The documents of a body, one after the other.
pub type SentDocuments<'a> = Box<dyn Iterator<Item = SentDocument<'a>> + 'a>;

/// Reads the documents of a body of a media type.
pub fn sent_documents<'a>(body: &'a [u8], media: &str) -> Outcome<SentDocuments<'a>> {
    if body.trim_ascii().is_empty() {
        return Err(Fault::parsing(
            "the body has no documents: send lines of JSON, a JSON array, or CSV with a header",
        ));
    }
    if media == CSV {
        let rows = Rows::new(body)?;
        return Ok(Box::new(rows.map(|(line, source)| SentDocument {
            line,
            source: source.map(Cow::Owned),
        })));
    }
    if is_json_media(media) {
        return objects(body);
    }
    Ok(Box::new(lines(body)))
}

fn lines(body: &[u8]) -> impl Iterator<Item = SentDocument<'_>> {
    let lines = body.split(|byte| *byte == b'\n').zip(1..);
    let lines = lines.map(|(line, number)| (line.trim_ascii(), number));
    let lines = lines.filter(|(line, _)| !line.is_empty());
    lines.map(|(line, number)| SentDocument {
        line: number,
        source: Ok(Cow::Borrowed(line)),
    })
}

/// One object, or an array of some.
fn objects(body: &[u8]) -> Outcome<SentDocuments<'_>> {
    if body.trim_ascii_start().first() != Some(&b'[') {
        let line = lines_before(body, body.len() - body.trim_ascii_start().len()) + 1;
        let source = Ok(Cow::Borrowed(body.trim_ascii()));
        return Ok(Box::new(std::iter::once(SentDocument { line, source })));
    }
    let mut from = serde_json::Deserializer::from_slice(body);
    let read = from.deserialize_seq(Elements);
    let elements = read.and_then(|elements| from.end().map(|()| elements));
    let elements = elements.map_err(|error| {
        Fault::parsing(format!("the body cannot be read as JSON: {error}"))
            .at(Place::in_body(error.line(), error.column()))
    })?;
    let start = body.as_ptr() as usize;
    let (mut line, mut seen) = (1, 0);
    let documents = elements.into_iter().map(move |element| {
        let text = element.get().as_bytes();
        let at = (text.as_ptr() as usize).saturating_sub(start);
        line += lines_before(body.get(seen..).unwrap_or_default(), at - seen);
        seen = at;
        SentDocument {
            line,
            source: Ok(Cow::Borrowed(text)),
        }
    });
    Ok(Box::new(documents))
}

fn lines_before(body: &[u8], end: usize) -> usize {
    let before = body.iter().take(end);
    before.filter(|byte| **byte == b'\n').count()
}

/// The elements of an array as they are written.
struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an array of documents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = array.next_element()? {
            elements.push(element);
            if elements.len() > DOCUMENTS_MAX {
                let reason = format!("more than {DOCUMENTS_MAX} documents: send several bodies");
                return Err(serde::de::Error::custom(reason));
            }
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, media: &str) -> Vec<(usize, String)> {
        let documents = sent_documents(body.as_bytes(), media).unwrap();
        let documents = documents.map(|document| {
            let source = document.source.unwrap();
            (
                document.line,
                String::from_utf8(source.into_owned()).unwrap(),
            )
        });
        documents.collect()
    }

    #[test]
    fn each_document_has_the_line_at_which_it_begins() {
        let found = |pairs: &[(usize, &str)]| -> Vec<(usize, String)> {
            let pairs = pairs.iter();
            pairs
                .map(|(line, text)| (*line, (*text).to_owned()))
                .collect()
        };
        let expected = found(&[(1, r#"{"a":1}"#), (3, r#"{"b":"x"}"#)]);
        let lines = "{\"a\":1}\n\n  {\"b\":\"x\"}\r\n";
        assert_eq!(read(lines, "application/x-ndjson"), expected);
        let array = "[{\"a\":1},\n\n{\"b\":\"x\"}\n]\n";
        assert_eq!(read(array, "application/json"), expected);
        let one = "\n {\"a\":1}\n";
        assert_eq!(read(one, "application/json"), found(&[(2, r#"{"a":1}"#)]));
        let rows = "a,b\n1,\n\n,\"x\ny\"\n2,z\n";
        let expected = found(&[
            (2, r#"{"a":1}"#),
            (4, r#"{"b":"x\ny"}"#),
            (6, r#"{"a":2,"b":"z"}"#),
        ]);
        assert_eq!(read(rows, CSV), expected);
    }

    #[test]
    fn what_is_no_array_is_an_error_with_its_place() {
        let fault = sent_documents(b"[{},\n {]", "application/json")
            .err()
            .unwrap();
        let place = fault.place.unwrap();
        assert_eq!((place.line, place.part), (Some(2), "body"));
        assert!(sent_documents(b" \n", CSV).is_err());
    }
}
