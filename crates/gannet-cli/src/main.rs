//! The `gannet` command.
//!
//! Each command is a module with one function `run`, which takes its arguments as they were given
//! ([`arguments`]), resolves them into what it works with, and prints to an [`output::Output`].
//! Nothing but [`main`] ends the process: failures travel up as a [`Failure`], which knows its
//! sentence and its exit code.

mod allocator;
mod analyze;
mod arguments;
mod backup;
mod bench;
mod check;
mod columns;
mod completions;
mod delete;
mod export;
mod failure;
mod fields;
mod get;
mod index;
mod inspect;
mod interrupt;
#[cfg(feature = "server")]
mod keys;
mod listing;
mod maintenance;
#[cfg(feature = "man")]
mod man;
mod members;
mod opening;
mod output;
mod process;
mod remote;
mod search;
#[cfg(feature = "server")]
mod serve;
mod size;
mod spinner;
mod stats;
mod time;

use std::process::ExitCode;

use arguments::{Command, Common, Given};
use failure::{Failure, Outcome, remark};
use gannet::{MEMORY_BESIDE, MEMORY_MIN};
use output::Output;
use size::human;

/// Resident bytes of the process beside the memory budget: code, stacks, what the allocator keeps.
const RESIDENT_BESIDE: usize = 64 << 20;

/// Bytes that may be allocated beside the budget, for each thread and for each file that is read.
const HEAP_BESIDE: usize = 32 << 20;

fn main() -> ExitCode {
    allocator::give_memory_back();
    let given = match Given::from_command_line() {
        Ok(given) => given,
        Err(failure) => return failure.report(),
    };
    let done = run(&given).and_then(|()| held_memory(&given.common));
    done.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}

fn run(given: &Given) -> Outcome<()> {
    let common = &given.common;
    fits_limit(common)?;
    remote::reject_to_write(&given.command)?;
    let mut output = Output::new(common);
    match &given.command {
        Command::Index(arguments) => index::run(common, arguments, &mut output)?,
        Command::Update(arguments) => index::update(common, arguments, &mut output)?,
        Command::Search(arguments) => search::run(common, arguments, &mut output)?,
        Command::Get(arguments) => get::run(common, arguments, &mut output)?,
        Command::Export(arguments) => export::run(common, arguments, &mut output)?,
        Command::Bench(arguments) => bench::run(common, arguments, &mut output)?,
        Command::Stats(arguments) => stats::run(common, arguments, &mut output)?,
        Command::Fields(arguments) => listing::run(common, arguments, &mut output)?,
        Command::Delete(arguments) => delete::run(common, arguments, &mut output)?,
        Command::Vacuum(arguments) => maintenance::vacuum(common, arguments, &mut output)?,
        Command::Rebuild(arguments) => maintenance::rebuild(common, arguments, &mut output)?,
        Command::Backup(arguments) => backup::run(common, arguments, &mut output)?,
        Command::Publish(arguments) => remote::publish(common, arguments, &mut output)?,
        Command::Restore(arguments) => backup::restore(common, arguments, &mut output)?,
        #[cfg(feature = "server")]
        Command::Serve(arguments) => serve::run(common, arguments, &mut output)?,
        #[cfg(feature = "server")]
        Command::Keys(arguments) => keys::run(arguments, &mut output)?,
        Command::Check(arguments) => check::run(common, arguments, &mut output)?,
        Command::Inspect(arguments) => inspect::run(common, arguments, &mut output)?,
        Command::Analyze(arguments) => analyze::run(common, arguments, &mut output)?,
        Command::Completions(arguments) => completions::run(arguments, &mut output)?,
        #[cfg(feature = "man")]
        Command::Man(arguments) => man::run(arguments)?,
    }
    output.finish()
}

/// Fails if the budget is more than the process may have. Says so where it leaves too little.
fn fits_limit(common: &Common) -> Outcome<()> {
    let Some(limit) = gannet::memory_limit() else {
        return Ok(());
    };
    let budget = common.memory().bytes() as u64;
    let owner = if limit.is_of_group {
        "container or memory group (cgroup)"
    } else {
        "machine"
    };
    let of = format!("{} of memory of this {owner}", human(limit.bytes));
    if budget > limit.bytes {
        let cure = too_much(common);
        return Err(Failure::caller(format!(
            "--memory {} is more than the {of}: {cure}",
            common.memory()
        )));
    }
    if budget > limit.bytes.saturating_sub(MEMORY_BESIDE as u64) {
        remark(&format!(
            "--memory {} leaves less than {} of the {of}, so the process may be killed: give less to one, or more to \
             the other",
            common.memory(),
            human(MEMORY_BESIDE as u64),
        ));
    }
    Ok(())
}

/// Returns the advice for a budget that is more than the process may have.
fn too_much(common: &Common) -> String {
    if common.memory().bytes() > MEMORY_MIN {
        return "give less".to_owned();
    }
    let least = (MEMORY_MIN + MEMORY_BESIDE) as u64;
    format!(
        "an index needs no less, so let the process have {}",
        human(least)
    )
}

/// With `--assert-memory`, fails if the process ever held more than its budget and the stated
/// constants.
fn held_memory(common: &Common) -> Outcome<()> {
    let budget = common.memory().bytes() as u64;
    let held = [
        ("resident", process::peak_memory(), RESIDENT_BESIDE),
        ("allocated", allocator::peak(), HEAP_BESIDE),
    ];
    for (what, peak, beside) in held {
        let limit = budget + beside as u64;
        if common.assert_memory && peak > limit {
            return Err(Failure::fault(format!(
                "the process had {peak} bytes {what} at its peak, more than the {limit} that it may have"
            )));
        }
    }
    Ok(())
}
