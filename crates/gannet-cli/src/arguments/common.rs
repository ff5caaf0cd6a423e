//! The options that every command has.

use clap::{Args, ValueEnum};

use super::remote::RemoteArguments;
use crate::size::Size;

/// The options that every command has.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Common {
    /// The memory budget, at least 16MiB; the process holds at most 64 MiB more (512MiB, 64MB,
    /// 1GiB, or bytes) [default: 512MiB, or less where the machine or its container has little]
    #[arg(
        long = "memory",
        global = true,
        value_name = "SIZE",
        allow_negative_numbers = true
    )]
    pub given_memory: Option<Size>,
    /// The way the files are read and written
    #[arg(
        long,
        global = true,
        value_name = "BACKEND",
        default_value = "auto",
        hide_short_help = true
    )]
    pub backend: BackendName,
    /// Print the answer as one line of JSON; an error is a sentence on standard error all the same
    #[arg(long, global = true)]
    pub json: bool,
    /// Colours the text always, never, or on a terminal; NO_COLOR is respected
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    pub color: ColorChoice,
    /// Fail if the process ever held more memory than the budget and 64 MiB, or allocated 32 MiB
    /// more than it
    #[arg(long, global = true, hide = true)]
    pub assert_memory: bool,
    /// The options for reading URLs
    #[command(flatten)]
    pub remote: RemoteArguments,
}

impl Common {
    /// The memory budget: what was given, or what fits the memory that the process may have.
    pub fn memory(&self) -> Size {
        let default = || Size::of(gannet::default_memory());
        self.given_memory.unwrap_or_else(default)
    }
}

/// A backend by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    /// io_uring where it works, else pread
    Auto,
    /// io_uring
    Uring,
    /// pread on a pool of threads
    Pread,
}

/// The choices for colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<BackendName> for gannet::BackendChoice {
    fn from(name: BackendName) -> gannet::BackendChoice {
        match name {
            BackendName::Auto => gannet::BackendChoice::Auto,
            BackendName::Uring => gannet::BackendChoice::Uring,
            BackendName::Pread => gannet::BackendChoice::Pread,
        }
    }
}
