//! The one writer: batches, checkpoints, and what waits for whom.
//!
//! ```text
//! WriterLock ──▶ Writer: acts, flushes, checkpoints, what is given back where memory is too little
//!     parts: log, flushes, memory, space, roots, leases, life cycle, totals, act
//!     turns: MaintenanceTurn, CheckpointMaintenance, Anew: what maintenance may do with it
//! ```

mod act;
mod checkpoint_maintenance;
mod decisions;
mod flushing;
mod gate;
mod idle_thread;
mod leases;
mod life_cycle;
mod lock;
mod log;
mod memory;
mod restored;
mod roots;
mod shortage;
mod space;
mod totals;
mod turn;
mod writer;

pub(crate) use checkpoint_maintenance::CheckpointMaintenance;
pub(crate) use gate::Gate;
pub(crate) use idle_thread::IdleMaintenance;
pub(crate) use leases::expire_before;
pub(crate) use lock::WriterLock;
pub(crate) use restored::{Restored, Restoring};
pub(crate) use space::reserve_for_steps;
pub(crate) use turn::MaintenanceTurn;
pub use writer::Written;
pub(crate) use writer::{Anew, Writer};
