//! The frame pool: verified pages in memory, and how a query asks for pages in rounds.
//!
//! Addresses are never reused, so a frame is never stale and never needs to be invalidated.

mod frames;
mod pages;
mod pinned;
mod reading;
mod sieve;

pub use frames::{Frame, FramePool};
pub use pages::{Bytes, Pages, Step, Stop, fetch_round, finish, gather};
pub use pinned::PinnedPages;
pub use reading::{IoCounts, Reading, UsedPage};
