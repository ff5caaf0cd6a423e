//! From files and programs into a Gannet index.
//!
//! An [`Input`] is a file, standard input or a folder. Whatever its format, it gives one document
//! after the other as JSON, and what is done with it. A [`Pipeline`] cuts these into batches,
//! prepares them on several threads and writes them in order. Where a program makes the documents,
//! it hands them to a [`Feeder`] of the pipeline.
//!
//! This crate prints nothing and knows no signals: a [`Watcher`] is told how far the pipeline came,
//! and a caller says by [`Asked`] when it has had enough.

mod batches;
mod bytes;
mod change;
mod changes;
mod compression;
mod feed;
mod format;
mod gate;
mod input;
mod pipeline;
mod rejection;
mod run;
mod signature;
mod source;

use std::sync::Arc;

pub use change::Write;
pub use feed::Feeder;
pub use format::InputFormat;
pub use input::{Input, InputOptions};
pub use pipeline::Pipeline;
pub use rejection::{Origin, Rejection};
pub use run::{Done, End, PipelineOptions, Watcher};
pub use source::{Line, Lines, Source};

/// Tells whether the caller asked for the end. It is asked often, and from any thread.
pub type Asked = Arc<dyn Fn() -> bool + Send + Sync>;
