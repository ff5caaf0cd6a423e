//! What writer and readers share: options, the parts of the memory budget, the state that readers
//! see, and the record of it on flash.

mod buffers;
mod held_root;
mod ids;
mod lifetime;
mod memory;
mod options;
mod published;
mod room;
pub(crate) mod root;
mod shared;
mod shortage;
mod vacuumed;

pub(crate) use buffers::Buffers;
pub(crate) use held_root::HeldRoot;
pub(crate) use ids::{ENTRY_BYTES, IdEntry, NewIds};
pub use lifetime::{BytesWritten, Lifetime};
pub(crate) use memory::MemoryPlan;
pub(crate) use options::CacheOptions;
pub use options::{Durability, Limits, MEMORY_DEFAULT, MEMORY_MIN, Options, Phase};
pub(crate) use published::{
    Epoch, HeldState, Published, RetentionLimits, RetiredZones, State, statistics_of,
};
pub(crate) use room::{Room, no_space};
pub(crate) use root::{Covered, RootRecord, decode_root, encode_root};
pub(crate) use shared::Shared;
pub(crate) use shortage::{Relief, SEARCHES_END, with_relief};
pub(crate) use vacuumed::Vacuumed;
