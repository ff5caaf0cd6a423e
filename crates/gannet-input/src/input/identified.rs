//! Documents whose external ID is in a field of another name: the field is called `id` in the
//! index.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use super::documents::{DocumentStart, Documents, Found, append_json};
use super::members::members_of;

/// Documents of which the member `field` is the external ID.
pub struct Identified {
    inner: Box<dyn Documents + Send>,
    field: String,
}

impl Identified {
    /// Of lines that are JSON objects.
    pub fn new(inner: Box<dyn Documents + Send>, field: &str) -> Identified {
        Identified {
            inner,
            field: field.to_owned(),
        }
    }

    /// Gives the member its name, or says why the document has no ID.
    fn name_id(&self, line: &mut Vec<u8>, start: usize) -> io::Result<Result<(), String>> {
        let document = line.split_off(start);
        let Ok(members) = members_of(&document) else {
            // What is wrong is told with its column by whoever reads it.
            line.extend_from_slice(&document);
            return Ok(Ok(()));
        };
        let field = &self.field;
        if members.value(field).is_none() {
            return Ok(Err(format!(
                "expected an ID in the field {field:?}, found none: every document needs one where --id names the field"
            )));
        }
        if field != "id" && members.has("id") {
            return Ok(Err(format!(
                "the document has a field \"id\" beside the ID in {field:?}: rename it, since \"id\" is the ID in the \
                 index"
            )));
        }
        for (at, (name, value)) in members.0.iter().enumerate() {
            line.push(if at == 0 { b'{' } else { b',' });
            append_json(if name == field { "id" } else { name }, line)?;
            line.push(b':');
            line.extend_from_slice(value.as_bytes());
        }
        line.push(b'}');
        Ok(Ok(()))
    }
}

impl Documents for Identified {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        let start = buffer.len();
        let found = self.inner.next(buffer)?;
        if found != Found::Document || buffer[start..].trim_ascii().is_empty() {
            return Ok(found);
        }
        Ok(match self.name_id(buffer, start)? {
            Ok(()) => Found::Document,
            Err(reason) => Found::Rejected(reason),
        })
    }

    fn pauses(&mut self, until: Instant) -> bool {
        self.inner.pauses(until)
    }

    fn number(&self) -> u64 {
        self.inner.number()
    }

    fn place(&self) -> Option<DocumentStart> {
        self.inner.place()
    }

    fn unit(&self) -> &'static str {
        self.inner.unit()
    }

    fn file(&self) -> Option<Arc<str>> {
        self.inner.file()
    }

    fn notes(&mut self) -> Vec<String> {
        self.inner.notes()
    }
}
