//! `gannet vacuum` and `gannet rebuild`: the two verbs of maintenance.
//!
//! A vacuum works on the index in steps, where that is worth what it writes: it purges deleted
//! documents, then merges small chunks and returns space. A rebuild writes the index anew.

use gannet::Index;
use gannet::diagnostics::{BytesByPart, Stats};
use serde_json::json;

use crate::arguments::{Common, MaintenanceArguments};
use crate::failure::Outcome;
use crate::interrupt;
use crate::opening::open_to_write_with;
use crate::output::Output;
use crate::size::{counted, grouped, human};
use crate::spinner::spinner;

/// A part of the work.
#[derive(Clone, Copy)]
enum Work {
    /// Steps, each of which tells whether another would do more.
    Steps(fn(&Index) -> gannet::Result<bool>),
    /// Writing the index anew.
    Anew,
}

/// Purges deleted documents, merges small chunks and returns space, step by step until nothing is
/// left to do or the caller asks for the end; says what it gave back. A healthy index is left as it
/// is.
pub fn vacuum(
    common: &Common,
    arguments: &MaintenanceArguments,
    output: &mut Output,
) -> Outcome<()> {
    run(common, arguments, vacuum_work, output)
}

/// Writes the index anew, then returns the space of the old one.
pub fn rebuild(
    common: &Common,
    arguments: &MaintenanceArguments,
    output: &mut Output,
) -> Outcome<()> {
    let work = [Work::Anew, Work::Steps(Index::clean)];
    run(common, arguments, |_| Ok(work.to_vec()), output)
}

fn vacuum_work(index: &Index) -> gannet::Result<Vec<Work>> {
    let (vacuum, clean) = (Work::Steps(Index::vacuum), Work::Steps(Index::clean));
    Ok(match (index.needs_vacuum()?, index.needs_cleaning()?) {
        // What a vacuum leaves dead is cleaned.
        (true, _) => vec![vacuum, clean],
        (false, true) => vec![clean],
        (false, false) => Vec::new(),
    })
}

fn run(
    common: &Common,
    arguments: &MaintenanceArguments,
    work: impl FnOnce(&Index) -> gannet::Result<Vec<Work>>,
    output: &mut Output,
) -> Outcome<()> {
    let index = open_to_write_with(&arguments.index, common, &arguments.cache)?;
    interrupt::catch()?;
    let before = index.stats()?;
    let bar = spinner();
    let work = work(&index)?;
    let mut is_whole = true;
    for part in &work {
        match part {
            Work::Steps(step) => {
                while is_whole && step(&index)? {
                    bar.set_message(sentence(&before.bytes, &index.stats()?.bytes));
                    is_whole = !interrupt::asked();
                }
            }
            Work::Anew => index.rebuild(&mut |what, done, all| {
                bar.set_message(format!("{what}: {} of {}", grouped(done), grouped(all)));
            })?,
        }
    }
    bar.finish_and_clear();
    let after = index.stats()?;
    let written = index.counters().written_bytes;
    index.close()?;
    report(&before, &after, written, work.is_empty(), output)?;
    output.finish()?;
    if is_whole {
        Ok(())
    } else {
        Err(interrupt::failure(
            "interrupted; what was done is kept: run `gannet vacuum` to go on",
        ))
    }
}

/// Says what was given back.
fn report(
    before: &Stats,
    after: &Stats,
    written: u64,
    is_idle: bool,
    output: &mut Output,
) -> Outcome<()> {
    if output.is_json() {
        return output.json(&json!({
            "allocated_before": before.bytes.allocated,
            "allocated": after.bytes.allocated,
            "free": after.bytes.dead,
            "dead_documents_before": before.dead_documents,
            "dead_documents": after.dead_documents,
            "bytes_written": written,
        }));
    }
    if is_idle {
        return output.line(format!(
            "nothing to do: {}, {} of it free",
            human(after.bytes.allocated),
            human(after.bytes.dead)
        ));
    }
    let sentence = sentence(&before.bytes, &after.bytes);
    let gone = match before.dead_documents.saturating_sub(after.dead_documents) {
        0 => String::new(),
        gone => format!("{} purged; ", counted(gone, "deleted document")),
    };
    output.line(format!("{gone}{sentence}, {} written", human(written)))
}

fn sentence(before: &BytesByPart, now: &BytesByPart) -> String {
    format!(
        "{} before, {} now, {} of it free",
        human(before.allocated),
        human(now.allocated),
        human(now.dead)
    )
}
