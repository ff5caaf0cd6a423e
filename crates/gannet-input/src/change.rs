//! The operations that lines ask for: most are documents, others change or delete one.

/// The operation of a line that is no whole document, or is one with a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The operation.
    pub kind: ChangeKind,
    /// The line that asks for it, from 1.
    pub asked_at: u64,
}

/// The operations on a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The line is a document, which is written unless there is one with its ID.
    Create,
    /// Of the line so many bytes are the members that change; what follows is written if there is
    /// no document with this ID.
    Merge(String, usize),
    /// The document with this ID is deleted.
    Delete(String),
}

/// The operation for the documents of all lines without a [`Change`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Write {
    /// Each takes the place of the one with its ID.
    #[default]
    Whole,
    /// The members of each take the place of those of the one with its ID; one that is not there
    /// is rejected.
    Merge,
    /// The same, where one that is not there is added.
    MergeOrAdd,
}
