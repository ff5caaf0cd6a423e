//! Columns: the values of documents by field, beside the words that find them.
//!
//! ```text
//! FoundValues (a batch, any thread) ──▶ ValueBuffer (in order) ──flush──▶ ColumnTree
//!                                            │                               │
//!                     ColumnsView: ──── newer documents ──── older documents ┘
//! ```
//!
//! One tree has all columns. Consecutive documents of a column make a *piece*, an entry of the
//! tree. A *map* names the pieces of a span of documents, with the least and the greatest value of
//! each, so that pieces without a wanted value are not read. The strings of a keyword column have
//! numbers, which stand in the pieces in their place. A number is given when a string is first
//! flushed, and never again.
//!
//! 1. Pieces, maps and numbers change in a flush alone. The last piece of a column is replaced with
//!    its map as long as its block of documents has room. Others are replaced by a vacuum, without
//!    the values of deleted documents.
//! 2. A document is in the tree or in one of the buffers, and all documents of the tree come before
//!    those of the buffers.
//! 3. The type of a column is a decision that was recorded ([`Columns`]). Where whole numbers
//!    became fractions, older pieces stay what they are, and each says its type.
//!
//! Entries are described to the byte in `docs/format.md`.

mod blocks;
mod buffer;
mod check;
mod column;
mod compare;
mod entries;
mod flush;
mod found;
mod map;
mod names;
mod ordered;
mod pieces;
mod present;
mod select;
mod terms;
#[cfg(test)]
mod tests;
mod tree;
mod vacuum;
mod values;
mod view;

pub use blocks::DocBlocks;
pub use buffer::{ValueBuffer, work_of_values};
#[cfg(any(test, feature = "testing"))]
pub(crate) use check::decode_entry;
pub use check::{check_columns, column_bytes};
pub use column::{Column, ColumnChanges, ColumnId, Columns};
pub use compare::{ComparedDocuments, compare_values};
pub use found::{FoundValue, FoundValues, KEYWORD_BYTES_MAX, TEXT_BYTES_MAX, VALUES_MAX};
pub use map::MapEntry;
pub use names::{KEYWORD_SUFFIX, VALUES_FIRST};
pub use ordered::OrderedTerms;
pub use pieces::PieceUse;
pub use present::PresentDocs;
pub use select::{Selection, TermKeys};
#[cfg(any(test, feature = "testing"))]
pub(crate) use tree::decode;
pub use tree::{ColumnTree, ColumnTreeView};
pub use vacuum::{ColumnSweep, SweepLimits};
pub use values::{ColumnValues, ValueVisitor};
pub use view::{ColumnReader, ColumnsView, KeywordNumbers};
