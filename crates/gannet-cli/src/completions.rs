//! `gannet completions`: what a shell needs to complete the command's arguments.

use clap::CommandFactory;

use crate::arguments::{CompletionsArguments, Given};
use crate::failure::Outcome;
use crate::output::Output;

/// Prints the completions of a shell, made from the same table as the help.
pub fn run(arguments: &CompletionsArguments, output: &mut Output) -> Outcome<()> {
    let mut script = Vec::new();
    let mut command = Given::command();
    clap_complete::generate(arguments.shell, &mut command, "gannet", &mut script);
    output.bytes(&script)
}
