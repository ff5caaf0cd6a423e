//! What moves a full posting buffer to flash, and what it can be asked for beside.

mod flusher;
mod pace;
mod policy;
mod run;
mod sweep;
mod tasks;

pub(crate) use flusher::{Flusher, Lists, TableNorms, lock};
pub(crate) use pace::{Filling, PAUSE_STEP, Pace};
pub(crate) use policy::{
    AT_REST, BESIDE_WASTE, BESIDE_WRITING, FOR_SPACE, THOROUGH, WASTE_SHARE, Worth,
};
pub(crate) use run::Flush;
pub(crate) use sweep::{Sweep, Vacuum};
pub(crate) use tasks::{Asked, Chore, Chores, IdleProgress};
