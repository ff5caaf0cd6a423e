//! Terms that are asked for.

/// The most terms that are asked for at once.
pub(super) const TERMS_AT_ONCE: usize = 4_096;

/// Terms that a node asks for.
pub(crate) struct Request {
    pub(crate) column: usize,
    /// Ascending, each once.
    pub(crate) numbers: Vec<u32>,
}
