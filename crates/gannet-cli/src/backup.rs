//! `gannet backup` and `gannet restore`: a copy of an index that is checked on its way, and an
//! index of such a copy.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use gannet::{Backend, BackupReport, Index, Options};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::arguments::{BackupArguments, Common, RestoreArguments};
use crate::failure::{Failure, Outcome};
use crate::opening::is_url;
use crate::output::Output;
use crate::size::{counted, human};

/// Copies the state of an index into a folder, where an earlier backup of it may be.
pub fn run(common: &Common, arguments: &BackupArguments, output: &mut Output) -> Outcome<()> {
    let started = Instant::now();
    reject_inside(&arguments.destination, &arguments.index)?;
    let index = open_settled(common, &arguments.index)?;
    let bar = bar();
    let copied = index.backup(&arguments.destination, &mut |done, total| {
        show(&bar, done, total);
    });
    bar.finish_and_clear();
    let (copied, backend) = (copied?, index.backend());
    if output.is_json() {
        return output.json(&figures(&copied, started, backend));
    }
    let folder = arguments.destination.display();
    output.line(format!("{} are in {folder}", sentence(&copied)))
}

/// Makes an index of a backup and checks all of it.
pub fn restore(common: &Common, arguments: &RestoreArguments, output: &mut Output) -> Outcome<()> {
    let started = Instant::now();
    let bar = bar();
    let (from, to) = (&arguments.backup, &arguments.index);
    reject_inside(to, from)?;
    if !from.exists() && !is_url(from) {
        return Err(Failure::caller(format!(
            "{} does not exist: give the folder of a backup, which `gannet backup` made",
            from.display()
        )));
    }
    let source = crate::opening::open_to_read(from, common)?;
    let mut progress = |done, total| show(&bar, done, total);
    let restored = options(common).restore_from(source, to, &mut progress);
    bar.finish_and_clear();
    let restored = restored?;
    let findings = &restored.checked.findings;
    if output.is_json() {
        let mut object = figures(&restored.copied, started, restored.backend);
        object["sound"] = json!(findings.is_empty());
        object["findings"] = json!(findings);
        output.json(&object)?;
    } else {
        findings
            .iter()
            .try_for_each(|finding| output.line(finding))?;
        let copied = sentence(&restored.copied);
        let checked = counted(restored.checked.pages, "page");
        output.line(format!(
            "{copied} are in {}; all of it was checked: {checked}",
            to.display()
        ))?;
    }
    output.finish()?;
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure::fault(format!(
            "the restored index is damaged in {count} places, as the backup is: restore another backup"
        ))),
    }
}

/// A copy in the folder of what is copied would be of that folder's files.
fn reject_inside(copy: &Path, of: &Path) -> Outcome<()> {
    // What is not there yet is inside if what is above it is.
    let mut above = copy.ancestors().filter_map(|path| match path.as_os_str() {
        name if name.is_empty() => Path::new(".").canonicalize().ok(),
        _ => path.canonicalize().ok(),
    });
    let (above, of_path) = (above.next(), of.canonicalize().ok());
    match (above, of_path) {
        (Some(above), Some(of_path)) if above.starts_with(&of_path) => {
            Err(Failure::caller(format!(
                "{} is inside {}, which is to be copied: choose another folder",
                copy.display(),
                of.display()
            )))
        }
        _ => Ok(()),
    }
}

fn options(common: &Common) -> Options {
    let options = Index::options().memory(common.memory().bytes());
    options.backend(common.backend.into()).create(false)
}

/// Opens the index for reading, beside other readers; for writing only where it was not closed, to
/// recover it.
pub fn open_settled(common: &Common, path: &Path) -> Outcome<Index> {
    let index = crate::opening::open_to_read(path, common)?;
    if index.is_settled()? {
        return Ok(index);
    }
    drop(index);
    Ok(options(common).open(path)?)
}

pub fn figures(copied: &BackupReport, started: Instant, backend: Backend) -> Value {
    json!({
        "documents": copied.documents,
        "bytes": copied.bytes,
        "bytes_copied": copied.bytes_copied,
        "incremental": copied.incremental,
        "seconds": started.elapsed().as_secs_f64(),
        "backend": backend.to_string(),
    })
}

pub fn sentence(copied: &BackupReport) -> String {
    format!(
        "{}, {}, {} of them copied now,",
        counted(copied.documents, "document"),
        human(copied.bytes),
        human(copied.bytes_copied)
    )
}

pub fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar:.cyan} {percent}% {msg}, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

pub fn show(bar: &ProgressBar, done: u64, total: u64) {
    bar.set_length(total);
    bar.set_position(done);
    bar.set_message(human(done));
}
