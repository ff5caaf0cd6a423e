//! The figures of the bytes on flash. The owner of a kind of page says which is its own.

/// Bytes on flash. Parts count what lives; `dead` is what cleaning or the next checkpoint gives
/// back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesByPart {
    /// Nodes of the trees: terms, short lists, external IDs.
    pub nodes: u64,
    /// Chunks of long lists, positions included.
    pub postings: u64,
    /// Documents, in the log's zones and moved.
    pub documents: u64,
    /// Document table, norms, live set, node mappings.
    pub tables: u64,
    /// The newest root record.
    pub roots: u64,
    /// Pages written that hold nothing live, padding included.
    pub dead: u64,
    /// All of it: what the index takes on flash.
    pub allocated: u64,
}
