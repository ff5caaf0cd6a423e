//! `gannet clean` and `gannet vacuum`: give the space back that nothing needs any more.

use gannet::{BytesByPart, Index, Order};
use serde_json::json;

use crate::arguments::{Common, IndexPath, VacuumArguments};
use crate::failure::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::size::{grouped, human};
use crate::spinner::spinner;

/// A part of the work.
enum Work {
    /// Steps, each of which tells whether another would do more.
    Steps(fn(&Index) -> gannet::Result<bool>),
    /// Writing the index anew.
    Anew(Order),
}

/// Cleans step by step until nothing is left to give back or the caller asks for the end, and says how much it was.
pub fn clean(common: &Common, arguments: &IndexPath, output: &mut Output) -> Outcome<()> {
    run(common, arguments, &[Work::Steps(Index::clean)], output)
}

/// Takes out what deleted documents have left, then cleans.
pub fn vacuum(common: &Common, arguments: &VacuumArguments, output: &mut Output) -> Outcome<()> {
    let first = match arguments.full {
        true => Work::Anew(arguments.order.into()),
        false => Work::Steps(Index::vacuum),
    };
    let work = [first, Work::Steps(Index::clean)];
    run(common, &arguments.index, &work, output)
}

fn run(common: &Common, arguments: &IndexPath, work: &[Work], output: &mut Output) -> Outcome<()> {
    // Nothing may be made by cleaning what is not there.
    crate::search::open_to_read(&arguments.index, common)?;
    let options = Index::options().memory(common.memory.bytes());
    let index = options
        .backend(common.backend.into())
        .open(&arguments.index)?;
    interrupt::catch()?;
    let before = index.stats()?;
    let bar = spinner();
    for work in work {
        match work {
            Work::Steps(step) => loop {
                bar.set_message(sentence(&before.bytes, &index.stats()?.bytes));
                if !step(&index)? || interrupt::asked() {
                    break;
                }
            },
            Work::Anew(order) => index.vacuum_fully(*order, &mut |what, done, all| {
                bar.set_message(format!("{what}: {} of {}", grouped(done), grouped(all)));
            })?,
        }
    }
    bar.finish_and_clear();
    let after = index.stats()?;
    let written = index.counters().written_bytes;
    index.close()?;
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
    let sentence = sentence(&before.bytes, &after.bytes);
    let gone = match before.dead_documents - after.dead_documents {
        0 => String::new(),
        1 => "1 document taken out; ".to_owned(),
        gone => format!("{} documents taken out; ", grouped(gone)),
    };
    output.line(format!("{gone}{sentence}, {} written", human(written)))
}

fn sentence(before: &BytesByPart, now: &BytesByPart) -> String {
    format!(
        "{} of {} are left, {} of them free",
        human(now.allocated),
        human(before.allocated),
        human(now.dead)
    )
}
