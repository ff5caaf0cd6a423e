//! What moves a full posting buffer to flash, and what it can be asked for beside.

mod flusher;
mod pace;
mod run;
mod sweep;

pub(crate) use flusher::{Flusher, ListMerger, TableNorms, lock};
pub(crate) use pace::{Backpressure, FlushProgress, PAUSE_STEP};
pub(crate) use run::Flush;
pub(crate) use sweep::{Sweep, Vacuum};
