//! `gannet check`: whether an index is sound; the exit code is 2 if it is not.

use serde_json::json;

use crate::arguments::{CheckArguments, Common, ResultCacheArguments};
use crate::failure::{Failure, Outcome};
use crate::opening::{open, reading};
use crate::output::Output;
use crate::size::counted;

/// Reads the whole index and prints what is wrong with it.
pub fn run(common: &Common, arguments: &CheckArguments, output: &mut Output) -> Outcome<()> {
    let options = reading(common, &ResultCacheArguments::default()).to_check();
    let options = arguments.log.log_time.of_log(options);
    let index = open(options, &arguments.index, common)?;
    let report = index.check(&|_, _| {})?;
    let sound = report.findings.is_empty();
    if output.is_json() {
        output.json(&json!({
            "sound": sound,
            "pages": report.pages,
            "documents": report.documents,
            "terms": report.terms,
            "ids": report.ids,
            "values": report.values,
            "findings": report.findings,
            "notes": report.notes,
            "backend": index.backend().to_string(),
        }))?;
    } else {
        let notes = report.notes.iter().map(|note| format!("note: {note}"));
        let lines = report.findings.iter().cloned().chain(notes);
        lines.into_iter().try_for_each(|line| output.line(line))?;
        let pages = counted(report.pages, "page");
        let documents = counted(report.documents, "document");
        let terms = counted(report.terms, "term");
        let verdict = if sound { "OK" } else { "damaged" };
        output.line(format!(
            "{verdict}: {pages}, {documents} and {terms} looked at"
        ))?;
    }
    output.finish()?;
    match report.findings.len() as u64 {
        0 => Ok(()),
        places => Err(Failure::fault(format!(
            "the index is damaged in {}; restore it from a backup or build it again",
            counted(places, "place")
        ))),
    }
}
