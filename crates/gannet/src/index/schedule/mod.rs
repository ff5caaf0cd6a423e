//! The maintenance scheduler: one table of policies decides what runs, when, and how much of it.
//!
//! ```text
//! a flush, its end, an idle second, a call, a full device, readers ──▶ Occasion
//!     ──▶ the rows of the table that are due under the Condition
//!     ──▶ MaintenanceTask, with its bounds
//! ```
//!
//! 1. Nobody else decides whether maintenance runs: who has an occasion asks [`due`] for its rows.
//! 2. A new trigger is a new row of `policies`.
//! 3. [`Scheduler`] keeps what flushes are asked for and how far idle maintenance has come. It does
//!    no work itself: vacuum and cleaning are slices of a flush, and tasks for the writer are done
//!    under the writer lock.

mod condition;
mod policies;
mod scheduler;
mod task;

pub(crate) use condition::{Condition, dead_bytes, has_little_room, is_dense, victims};
pub(crate) use policies::{CLEAN, REBUILD_SPACE, VACUUM, due, rows};
pub(crate) use scheduler::{Requests, Scheduler};
pub(crate) use task::{CleaningPolicy, MaintenanceTask, Occasion, VacuumPolicy};
