//! `gannet man`: the man pages, a page for the command and one for each of its commands.
//!
//! Only the command that is built for a release has it: see scripts/dist.

use std::fs;

use clap::CommandFactory;

use crate::arguments::{Given, ManArguments};
use crate::failure::{Failure, Outcome};

/// Writes the pages, made from the same table as the help.
pub fn run(arguments: &ManArguments) -> Outcome<()> {
    let folder = &arguments.folder;
    let written = fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Given::command(), folder));
    written.map_err(|error| Failure::caller(format!("{}: {error}", folder.display())))
}
