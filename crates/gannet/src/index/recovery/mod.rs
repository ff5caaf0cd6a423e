//! Opening an index: its root, the log behind it, and reading beside a writer.

mod answers;
mod open;
mod reading;
mod recover;
mod replay;
mod roots;
mod tier;
mod waiting;

pub use answers::AnswersOnFlash;
pub(crate) use roots::{draw_number, read_root, unfinished};
pub use tier::CacheState;
