//! The conditions under which an act gets the writer.

/// A condition for which an act waits before it gets the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Nothing.
    Open,
    /// The flush under way leaves room for a write.
    Backpressure,
    /// The same for a write that has waited for its pace.
    Room,
    /// No flush is under way.
    NoFlush,
}
