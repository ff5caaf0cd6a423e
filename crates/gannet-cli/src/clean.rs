//! `gannet clean`: gives the space back that nothing needs any more.

use std::io::{self, IsTerminal};
use std::time::Duration;

use gannet::{BytesByPart, Index};
use indicatif::ProgressBar;
use serde_json::json;

use crate::arguments::{Common, IndexPath};
use crate::failure::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::size::human;

/// Cleans step by step until nothing is left to give back or the caller asks for the end, and says how much it was.
pub fn run(common: &Common, arguments: &IndexPath, output: &mut Output) -> Outcome<()> {
    // Nothing may be made by cleaning what is not there.
    crate::search::open_to_read(&arguments.index, common)?;
    let options = Index::options().memory(common.memory.bytes());
    let index = options
        .backend(common.backend.into())
        .open(&arguments.index)?;
    interrupt::catch()?;
    let before = index.stats()?.bytes;
    let bar = match io::stderr().is_terminal() {
        true => ProgressBar::new_spinner(),
        false => ProgressBar::hidden(),
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    loop {
        bar.set_message(sentence(&before, &index.stats()?.bytes));
        if !index.clean()? || interrupt::asked() {
            break;
        }
    }
    bar.finish_and_clear();
    let (after, written) = (index.stats()?.bytes, index.counters().written_bytes);
    index.close()?;
    match output.is_json() {
        true => output.json(&json!({
            "allocated_before": before.allocated,
            "allocated": after.allocated,
            "free": after.dead,
            "bytes_written": written,
        })),
        false => output.line(format!(
            "{}, {} written",
            sentence(&before, &after),
            human(written)
        )),
    }
}

fn sentence(before: &BytesByPart, now: &BytesByPart) -> String {
    format!(
        "{} of {} are left, {} of them free",
        human(now.allocated),
        human(before.allocated),
        human(now.dead)
    )
}
