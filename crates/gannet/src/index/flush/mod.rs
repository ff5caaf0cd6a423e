//! What moves a full posting buffer to flash, and what it can be asked for beside.

mod backpressure;
mod flusher;
mod progress;
mod run;
mod sweep;

pub(crate) use backpressure::{Backpressure, Pause};
pub(crate) use flusher::{Flusher, ListMerger, TableNorms, lock};
pub(crate) use progress::FlushProgress;
pub(crate) use run::Flush;
pub(crate) use sweep::{Sweep, Vacuum};
