//! What moves a full posting buffer to flash, and what it can be asked for beside.

mod flusher;
mod pace;
mod policy;
mod run;
mod sweep;
mod tasks;

pub(crate) use flusher::{Flusher, ListMerger, TableNorms, lock};
pub(crate) use pace::{Backpressure, FlushProgress, PAUSE_STEP};
pub(crate) use policy::{
    AT_REST, BESIDE_WASTE, BESIDE_WRITING, CleaningPolicy, FOR_SPACE, THOROUGH, WASTE_SHARE,
};
pub(crate) use run::Flush;
pub(crate) use sweep::{Sweep, Vacuum};
pub(crate) use tasks::{IdleProgress, MaintenanceTask, RequestedTasks, TaskBoard};
