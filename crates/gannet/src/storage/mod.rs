//! Zones that are only appended to, the pages in them, paged tables, the log and the roots.
//!
//! Committed pages are never overwritten: every write goes to the end of an open zone, and a root
//! says where things live now. The only exception are the two root slots, of which a checkpoint
//! overwrites the older.

mod copy;
#[cfg(test)]
mod crash_tests;
mod history;
mod lineage;
pub(crate) mod log;
mod log_start;
#[cfg(test)]
mod log_tests;
mod pending;
mod proof;
mod records;
mod replay;
pub(crate) mod roots;
mod seal;
mod slots;
mod store;
mod stream;
mod table;
mod zones;

pub use history::History;
pub use lineage::Lineage;
pub use log::{Log, RecordKind, document_body, document_front, find_record, frame, record_length};
pub use log_start::LogStart;
pub use records::{ZoneRecord, read_records};
pub use replay::{LogReach, Recovery, ReplayEnd, has_log_behind, replay};
pub use roots::{
    EXPORT_FIRST, Found, RootSlot, SlotFaults, SlotKind, begin_copy, check_slots,
    create_superblock, find_root, identity_of_slot, settle_slot, write_slot,
};
pub use seal::{IndexIdentity, PageKind, first_record, prove_page};
#[cfg(any(test, feature = "testing"))]
pub use seal::{SealAddress, seal};
pub use slots::TablePage;
pub use store::{ReadPage, Store, Unsynced, wrong_kind};
pub use stream::StreamWriter;
pub use table::{Table, TableContent};
pub use zones::{Zone, ZoneTable};
