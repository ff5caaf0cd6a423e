//! The server: listening, queues, the end.

mod connections;
mod dispatch;
mod lanes;
mod listen;
mod run;
mod tls;

pub use run::{Ended, Server, Stopper};
