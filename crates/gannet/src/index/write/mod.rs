//! The one writer: batches, checkpoints, and what waits for whom.

mod checkpoint;
mod flushing;
mod idle_thread;
mod leases;
mod lock;
mod restored;
mod retention;
mod space;
mod tasks;
mod waiting;
mod writer;

pub(crate) use idle_thread::IdleMaintenance;
pub(crate) use leases::{Leases, expire_before};
pub(crate) use lock::{Gate, WriterLock};
pub(crate) use restored::{Restored, Restoring};
pub(crate) use space::reserve_for_steps;
pub(crate) use writer::Writer;
pub use writer::Written;
