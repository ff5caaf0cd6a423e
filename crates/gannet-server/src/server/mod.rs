//! The server: listening, queues, the end.

mod dispatch;
mod lanes;
mod run;

pub use run::{Ended, Server, Stopper};
