//! Parts of an index alone, for research beside the public API, so that structures of
//! the literature are measured on the reads and writes of the engine, beside its own.
//!
//! Each part is what it is in an index, on the same device, store and frames; only documents and
//! log are missing. No part of what a version promises.

mod coding;
mod frames;
mod inverting;
mod lists;
mod tree;

pub use self::coding::{BlockCodec, Norm};
pub use self::frames::empty_frames;
pub use self::inverting::FlushInverter;
pub use self::lists::{TermLists, write_chunks};
pub use self::tree::LoneTree;
pub use crate::base::PageAddress;
pub use crate::cache::policy::{RoundShares, TierPolicy};
pub use crate::cache::{FramePool, Pages, Sieve, Stop, finish};
pub use crate::postings::{TermCursor, TermList};
