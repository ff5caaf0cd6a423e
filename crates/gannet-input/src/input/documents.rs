//! What readers of all formats give: documents, each as a line of JSON.

use std::io;
use std::sync::Arc;
use std::time::Instant;

/// Documents one after the other.
pub trait Documents {
    /// Appends the next document to `buffer` as one line of JSON, without its end.
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found>;

    /// Whether the next document may be long in coming: it is not at hand, and nothing more comes
    /// before `until`.
    fn pauses(&mut self, _until: Instant) -> bool {
        false
    }

    /// The number of the document that came last: its line, or of files their count.
    fn number(&self) -> u64;

    /// The file of the document that came last, where each has its own.
    fn file(&self) -> Option<Arc<str>> {
        None
    }
}

/// What came next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A document was appended.
    Document,
    /// Something that is no document, and why; the buffer is as it was.
    Rejected(String),
    /// There are no more.
    End,
}

/// What the IDs of the files of a folder are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderIds {
    /// Their paths below the folder.
    Below,
    /// Their paths with that of the folder in front, as it was given.
    WithFolder,
}

/// Why a document that has more than `limit` bytes is rejected.
pub fn too_long(what: &str, limit: usize) -> String {
    format!(
        "the {what} is longer than {limit} bytes, the most that this memory budget allows: \
         give more with --memory, or cut the document"
    )
}

/// Appends a text as JSON.
pub fn append_json(text: &str, buffer: &mut Vec<u8>) -> io::Result<()> {
    Ok(serde_json::to_writer(buffer, text)?)
}
