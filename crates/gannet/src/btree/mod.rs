//! The ordered index: an always-sequential B+-tree from byte strings to byte strings.
//!
//! Such trees are the term dictionary (field and term -> term entry) and the external IDs (->
//! document). A node is one page and is named by a [`NodeId`]; a resident mapping table says where
//! each node is now. A changed node is appended to the stream and its mapping entry changes. So a
//! rewritten leaf does not touch its parent, and no page is ever overwritten. A clone of the
//! mapping is a snapshot of the whole tree.
//!
//! Source: Kim, Roh, Lee, Park, "AS B-tree: A Study of an Efficient B+-tree for SSDs", 2014. Its
//! parts here: the sequential writer and write buffer are `storage::StreamWriter`, the address
//! mapping table is `mapping.rs`, the node validation manager is [`Tree::move_out_of`]. Beyond it:
//! packed, prefix-compressed nodes, changes applied in windows of leaves that are read in one
//! batch, snapshots, a persisted mapping.
//!
//! Measured (2 cores, memory device, release; a million keys of 8 bytes with values of 40, in ten
//! changes of 100,000 keys that interleave, so that each rewrites all leaves): 1.06 s in all, 4 to
//! 6 million entries rewritten a second, leaves 93 % full, 275 MiB written. A `get` of three
//! levels, all frames in memory: 1.3 us while 400 leaves take turns (CPU caches hit), 2.4 us at
//! random over 12,950 leaves (they do not). A scan: 14 million entries a second.
//!
//! Nodes are described to the byte in `docs/format.md`.

mod check;
mod cursor;
mod entries;
mod fill;
mod inner;
mod last;
mod mapping;
mod merge;
pub(crate) mod node;
mod nodes;
mod pack;
mod plan;
mod rebuild;
mod scan;
mod tree;
mod view;
mod widen;
mod window;

#[cfg(test)]
mod tests;

pub use check::check;
pub use fill::fill;
pub use inner::inner_pages;
pub use scan::Scan;
pub use tree::Tree;
pub use view::{NearNodes, TreeView};
pub use window::{Change, KeyWindow};

use crate::base::{Error, Result, varint_length};

/// The name of a node: an index into the mapping table.
pub type NodeId = u32;

/// The longest key in bytes.
pub const KEY_MAX: usize = 1024;

/// The most bytes that key, value and their lengths take in a leaf: two such entries fit, also
/// where room for more is left.
pub const ENTRY_MAX: usize = (pack::FILL - node::HEADER - 2) / 2;

/// The most levels of a tree. Even three children a node give 3^24 leaves, more than there are node
/// IDs.
const HEIGHT_MAX: usize = 24;

/// Checks that an entry can be stored.
pub fn entry_fits(key: &[u8], value: &[u8]) -> Result<()> {
    if key.len() > KEY_MAX {
        return Err(Error::internal(format!(
            "a key of {} bytes is too long: at most {KEY_MAX} bytes are possible",
            key.len()
        )));
    }
    let bytes = entry_bytes(key.len(), value.len());
    if bytes > ENTRY_MAX {
        return Err(Error::internal(format!(
            "a key of {} bytes with a value of {} bytes takes {bytes} bytes: at most {ENTRY_MAX} are possible",
            key.len(),
            value.len()
        )));
    }
    Ok(())
}

/// The longest value that a key of `key_bytes` bytes can have.
pub fn value_max(key_bytes: usize) -> usize {
    // One byte for nothing shared, two for the length of the value.
    ENTRY_MAX.saturating_sub(3 + varint_length(key_bytes as u64) + key_bytes)
}

/// Bytes of an uncompressed leaf entry.
fn entry_bytes(key: usize, value: usize) -> usize {
    1 + varint_length(key as u64) + key + varint_length(value as u64) + value
}
