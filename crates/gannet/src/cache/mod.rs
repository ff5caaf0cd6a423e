//! The frame pool: verified pages in memory, and how a query asks for pages in rounds.
//!
//! Addresses are never reused, so a frame is never stale and never needs to be invalidated.

pub(crate) mod answers;
mod claims;
pub(crate) mod flash;
mod frames;
mod known_damage;
mod page_hash;
mod pages;
mod pinned;
mod pins;
pub(crate) mod policy;
mod reading;
mod request;
mod sieve;
mod spare;

pub use answers::{
    ANSWERS_BYTES_MIN, AnswerFile, AnswerFileFigures, AnswerFound, AnswerRecord, AnswerState,
    OpenAnswers, micros_since_1970,
};
pub use flash::{FlashTier, OpenTier, TIER_BYTES_MIN, TierFigures, TierRoot};
pub use frames::{Frame, FramePool};
pub use known_damage::DamageNotes;
pub use pages::{Bytes, Pages, Step, Stop, Whereabouts, fetch_round, finish, gather};
pub use pinned::PinnedPages;
pub use reading::{IoCounts, Reading, UsedPage};
pub use request::{PageRequest, PageSource};
pub use sieve::Sieve;
pub use spare::{SpareBytes, SpareMemory};
