//! The state that writer and readers share: options, the parts of the memory budget, the state that
//! readers see.

mod buffers;
mod bytes_by_part;
mod caches;
mod changes;
mod default_memory;
mod held_root;
mod ids;
mod lifetime;
mod log_work;
mod memory;
mod options;
mod published;
mod room;
mod shared;
mod shortage;
mod vacuumed;

pub(crate) use buffers::Buffers;
pub use bytes_by_part::BytesByPart;
pub use default_memory::{MEMORY_BESIDE, MEMORY_DEFAULT, MEMORY_MIN, default_memory};
pub(crate) use held_root::HeldRoot;
pub(crate) use ids::{IdEntry, NewIds};
pub use lifetime::{BytesWritten, Lifetime};
pub(crate) use log_work::{work_of_deletion, work_of_documents};
pub(crate) use memory::MemoryPlan;
pub(crate) use options::CacheOptions;
pub use options::{Durability, Limits, Options, Phase};
pub(crate) use published::{
    Epoch, HeldState, Pinned, Published, RetentionLimits, RetiredZones, StandingRoot, State,
    statistics_of,
};
pub(crate) use room::{Claim, Room, no_space};
pub(crate) use shared::Shared;
pub(crate) use shortage::{Relief, SEARCHES_END, with_relief};
pub(crate) use vacuumed::Vacuumed;
