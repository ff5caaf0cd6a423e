//! A number of documents.

/// Parses a number of documents.
pub fn count(text: &str) -> Result<usize, &'static str> {
    let number = text.parse();
    number.map_err(|_| "expected a whole number of documents, 0 or more")
}
