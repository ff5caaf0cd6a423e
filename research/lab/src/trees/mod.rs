//! Ordered indexes of the literature behind one interface, on the engine's device layer.
//!
//! Each is real: it keeps its nodes in files, under a limit of memory, and what it does with the
//! device is counted and priced by a model of another device beside ([`gannet_ssd`]). So they can
//! be compared with the paper that compared them (Kim, Roh, Lee, Park, "AS B-tree: A Study of an
//! Efficient B+-tree for SSDs", 2014), with each other, and with Gannet's own tree.
//!
//! [`BTree`] is one B+-tree over three ways to keep nodes. [`InPlace`] writes a node back to where
//! it was read. [`Sequential`] writes changed nodes to the end of the file (the AS B-tree).
//! [`Units`] writes only what changed in them there (BFTL). [`FdTree`] merges sorted runs,
//! [`LaTree`] lets operations wait above the leaves. Gannet's own is [`Rolling`] over the engine's
//! tree ([`Packed`]), or over [`Sequential`] nodes, which are those of the others.

mod btree;
mod cache;
mod device;
mod fd_tree;
mod in_place;
mod la_tree;
mod node;
mod packed;
mod rolling;
mod run;
mod sequential;
#[cfg(test)]
mod tests;
mod units;
mod waiting;

pub use btree::BTree;
pub use fd_tree::FdTree;
pub use gannet_ssd::Work;
pub use in_place::InPlace;
pub use la_tree::LaTree;
pub use node::{KEY_MAX, NODE_BYTES};
pub use packed::Packed;
pub use rolling::Rolling;
pub use run::{Arguments, run};
pub use sequential::Sequential;
pub use units::Units;

use gannet::{Error, Result};

/// The value of a key, below [`VALUE_END`]: what a row of a table or a document has as its number.
pub type Value = u64;

/// One past the largest value: two bits are left for what structures note beside one.
pub const VALUE_END: Value = 1 << 62;

/// What every structure can do.
pub trait OrderedIndex {
    /// Adds a key, or gives one that is there another value.
    fn insert(&mut self, key: &[u8], value: Value) -> Result<()>;

    /// The value of a key.
    fn search(&mut self, key: &[u8]) -> Result<Option<Value>>;

    /// Removes a key, if it is there.
    fn delete(&mut self, key: &[u8]) -> Result<()>;

    /// Up to `most` keys from `from` on, ascending, with their values.
    fn range(&mut self, from: &[u8], most: usize) -> Result<Vec<(Vec<u8>, Value)>>;

    /// Writes out what only memory has.
    fn settle(&mut self) -> Result<()>;

    /// What it did with the device.
    fn work(&self) -> Work;

    /// Bytes of its files.
    fn file_bytes(&self) -> u64;

    /// Bytes of memory that it holds: nodes, changes that wait, tables of where nodes are, and what
    /// a merge takes. Buffers of operations under way do not count, for no structure.
    fn memory(&self) -> usize;

    /// Changes that wait in memory.
    fn waiting(&self) -> usize {
        0
    }

    /// What cleaning has to do and did.
    fn cleaning(&self) -> Cleaning {
        Cleaning::default()
    }
}

/// How nodes that count are spread over files, and how many were moved to empty some.
#[derive(Clone, Debug, Default)]
pub struct Cleaning {
    /// Of each subfile its number, its nodes, and how many of these count.
    pub subfiles: Vec<[u32; 3]>,
    /// Nodes that were moved.
    pub moved: u64,
}

/// What a B+-tree of the paper is given.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Keys of a node at most.
    pub fan_out: usize,
    /// Changed nodes that memory keeps until they are written together.
    pub write_buffer: usize,
    /// Nodes of the buffer cache.
    pub cache: usize,
    /// Nodes of a subfile.
    pub subfile: u32,
    /// A subfile of which fewer than so many percent of the nodes are valid is cleaned.
    pub valid_percent: u32,
    /// Sectors that a node of BFTL lies in at most, before it is gathered.
    pub sectors: usize,
    /// Whether BFTL gives a node that it gathers sectors of its own, or packs several into one.
    pub apart: bool,
    /// How many times larger a level of an FD-tree is than the one above it.
    pub ratio: usize,
    /// Nodes that the head tree of an FD-tree takes at most.
    pub head: usize,
    /// Levels between nodes of an LA-tree that have buffers.
    pub buffered_every: usize,
    /// Nodes that the parts of its buffers in memory take together.
    pub buffers: usize,
    /// Pages of one of its buffers at most.
    pub buffer_most: usize,
    /// Whether nodes that lie apart are written one after the other, as the paper's programs did,
    /// or in one batch.
    pub one_by_one: bool,
    /// Whether all that is done is written down, see [`gannet_ssd::Entry`].
    pub trace: bool,
}

/// Whether a key and its value can be kept.
fn entry_fits(key: &[u8], value: Value) -> Result<()> {
    if key.len() > KEY_MAX {
        return Err(Error::invalid(format!(
            "a key of {} bytes is too long: at most {KEY_MAX} are possible",
            key.len()
        )));
    }
    if value < VALUE_END {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "the value {value} is too large: it must be below {VALUE_END}"
        )))
    }
}

impl Default for Settings {
    /// The paper's own.
    fn default() -> Settings {
        Settings {
            fan_out: 256,
            write_buffer: 32,
            cache: 0,
            subfile: (64 << 20) / NODE_BYTES as u32,
            valid_percent: 5,
            sectors: 3,
            apart: false,
            ratio: 128,
            head: 112,
            buffered_every: 2,
            buffers: 32,
            buffer_most: 256,
            one_by_one: true,
            trace: false,
        }
    }
}
