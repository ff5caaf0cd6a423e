//! Hot lists: lists of words that are asked for often, decoded for the processor.
//!
//! A list that was used twice is decoded, a stretch with each use, into arrays that a query goes
//! through without a page, a directory or a bit of unpacking. Of each posting it has a byte that
//! bounds the score. So sixteen postings are compared with the threshold at once, and only what may
//! enter is looked at: the other lists are asked for it, and what is left gets its exact score.
//!
//! Documents never change and new ones come behind. So a list stays right for all documents below
//! the one up to which it was made. It is used in the state that it was made from and in later
//! ones, since a vacuum may have removed postings that an earlier one has. Documents behind are
//! left to the words in pages (see `words`). Deletions are asked of the live set. A list is dropped
//! when documents get other numbers.
//!
//! Memory is that of frames which were never used (see `cache::spare`): an index that fills its
//! frames has no hot lists. Source of byte-wide bounds in the place of scores: Anh, de Kretser and
//! Moffat, "Vector-Space Ranking with Effective Early Termination", SIGIR 2001.

mod builder;
mod candidates;
mod count;
mod groups;
mod list;
mod norms;
mod run;
mod store;

pub use list::Origin;
pub use norms::NormColumn;
pub use run::{HotRun, HotWord};
pub use store::{Decodable, HotEntry, HotLists};
