//! Types that every room shares: identifiers, addresses on the device, sizes, errors, the memory
//! budget, kinds of phrase filters and little-endian codecs.
//!
//! Nothing here reads or writes; the room knows no other.

mod address;
mod bloom;
mod budget;
mod codec;
mod error;
mod events;
mod interrupt;
mod parallel;
mod permits;
mod phrase_filters;
mod sizes;
mod traffic;

pub use address::{PAGE_PAYLOAD, PAGE_SIZE, PageAddress, Span, ZoneNumber};
pub use bloom::KeyHash;
pub use budget::{Budget, Reservation};
pub use codec::{ByteReader, put_bytes, put_u16, put_u32, put_u64, put_varint, varint_length};
pub use error::{Error, Result};
pub use events::EventCount;
pub use interrupt::{Interrupt, Steps};
pub use parallel::{alone, both, on_all_cores};
pub use permits::MemoryPermit;
pub use phrase_filters::PhraseFilters;
pub use sizes::parse_bytes;
pub use traffic::{ForegroundLoad, back_off, yield_to_foreground};

/// A document's internal number: ascending in the order of writing, never reused until a full
/// vacuum.
pub type DocId = u32;

/// One past every valid doc ID; what a cursor stands on when its list has ended.
pub const END: DocId = u32::MAX;

/// The number of an operation (a document written or deleted) in the order in which the index took
/// it.
pub type Sequence = u64;
