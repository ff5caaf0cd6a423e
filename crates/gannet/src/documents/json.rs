//! The one JSON door: a line of JSON becomes a [`Document`].

use crate::base::{Error, Result};

/// Bytes of the largest document's source: 16 MiB.
pub const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// Bytes of the longest external ID.
pub const ID_BYTES_MAX: usize = 512;

/// A document as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The external ID; one is made where there is none.
    pub id: Option<String>,
    /// The values of all fields in order of appearance, objects flattened with dots.
    pub fields: Vec<(String, Value)>,
    /// The JSON object, byte for byte.
    pub source: Vec<u8>,
}

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text, to be analysed.
    Text(String),
    /// A number or a boolean, matched exactly as one term.
    Exact(String),
}

impl Document {
    /// Reads one JSON object; its member `id` is the external ID, not a field.
    pub fn parse(line: &[u8]) -> Result<Document> {
        let _ = line;
        Err(Error::invalid("not written yet"))
    }

    /// Reads one JSON object whose external ID is known (or to be made); a member `id` is an ordinary field.
    pub fn parse_as(id: Option<String>, line: &[u8]) -> Result<Document> {
        let _ = (id, line);
        Err(Error::invalid("not written yet"))
    }

    /// Builds a document, source included, from an external ID and values of fields.
    pub fn new<N: Into<String>, V: Into<Value>>(
        id: impl Into<String>,
        fields: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Document> {
        let _ = (id, fields);
        Err(Error::invalid("not written yet"))
    }
}

/// The one spelling of a JSON number under which it is matched, or nothing if `text` is no number.
pub fn exact_number(text: &str) -> Option<String> {
    let _ = text;
    None
}
