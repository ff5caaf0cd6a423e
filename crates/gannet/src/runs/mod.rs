//! Sorted runs: entries from byte strings to byte strings, written once in the order of their keys.
//!
//! The entries of a flush become a *run*: a tree that is built from its first leaf to its last and
//! never changes again. A newer run takes precedence over an older one with the same key, and an
//! empty value says that the key was removed. Eight runs of a *level* are merged into one of the
//! next, together with what the flush brings, so an entry is written once for each level. A tree
//! that is changed in place costs a leaf of 4 KiB for each entry that comes, once there are more
//! leaves than entries in a flush.
//!
//! Each run has a Bloom filter of its keys. The filters stay in memory as long as they take no more
//! than they may; of the largest runs they are given up first. So looking up a key that is in no
//! run reads nothing, or a leaf of each run that has no filter.
//!
//! Source: O'Neil et al., "The Log-Structured Merge-Tree", 1996; Jagadish et al., "Incremental
//! Organization for Data Recording and Warehousing" (runs merged by levels), 1997.

mod check;
mod filter;
mod merging;
#[cfg(test)]
mod tests;
mod view;
mod walk;
mod writer;

pub use check::check;
pub use view::RunsView;
pub use walk::RunsWalk;
pub use writer::Runs;
#[cfg(any(test, feature = "testing"))]
pub(crate) use writer::decode;
