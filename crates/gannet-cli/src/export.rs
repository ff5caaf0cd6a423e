//! `gannet export`: all documents, or all that a query finds, as JSON lines or CSV.
//!
//! The documents are those of one moment, in the order in which they were written. However many
//! they are, no more than a batch of them is in memory.

use gannet::{Hit, Operator, Parsed, Query, Snapshot};
use indicatif::ProgressBar;
use serde_json::Value as Json;

use crate::arguments::{Common, ExportArguments, ExportFormat};
use crate::columns::{ID, json_of_all, text_of};
use crate::failure::{Failure, Outcome, remark, say};
use crate::fields::Fields;
use crate::opening::open_cached;
use crate::output::{Output, harmless};
use crate::size::{counted, grouped};
use crate::spinner::spinner;

/// The number of documents between two updates of the progress.
const SHOWN_EVERY: u64 = 256;

/// Writes the documents. One that cannot be read is told on standard error and fails the command,
/// after the others.
pub fn run(common: &Common, arguments: &ExportArguments, output: &mut Output) -> Outcome<()> {
    if common.json && arguments.format == ExportFormat::Csv {
        return Err(Failure::caller(
            "--json and --format csv ask for two formats: leave one of them out",
        ));
    }
    let index = open_cached(&arguments.index, common, &arguments.cache)?;
    let snapshot = index.snapshot();
    let query = query(arguments, &snapshot)?;
    if !arguments.columns.is_empty() {
        return write_columns(&query, arguments, &snapshot, output);
    }
    let fields = Fields::named(&arguments.fields, &snapshot)?;
    // Beside the documents themselves a terminal needs no progress.
    let bar = if output.is_terminal() {
        ProgressBar::hidden()
    } else {
        spinner()
    };
    let mut export = match arguments.format {
        ExportFormat::Jsonl => Export::Lines(fields),
        ExportFormat::Csv => Export::Rows(fields.one_by_one(&snapshot)),
    };
    export.begin(output)?;
    let (mut written, mut failed) = (0, None);
    let mut found = snapshot.list(&query).timeout(arguments.timeout.time());
    for hit in &mut found {
        let hit = hit.map_err(|error| {
            Failure::from(error).and_say(&format!(
                "{} written before it",
                counted(written, "document")
            ))
        })?;
        match &hit.error {
            None => export.write(&hit, output)?,
            Some(error) => {
                bar.suspend(|| say(&error.to_string()));
                failed.get_or_insert(error.clone());
            }
        }
        if output.is_closed() {
            break;
        }
        written += u64::from(hit.error.is_none());
        show(&bar, written, arguments, &snapshot);
    }
    bar.finish_and_clear();
    output.finish()?;
    let cut = found.cut_expansions().iter();
    cut.for_each(|cut| remark(&cut.to_string()));
    found.notes().iter().for_each(|note| remark(note));
    if written == 0 && failed.is_none() && !output.is_closed() {
        remark("no documents found");
    }
    failed.map_or(Ok(()), |error| Err(Failure::from(error).but_said()))
}

/// Writes values of columns, with the external ID where it is named among them.
fn write_columns(
    query: &Query,
    arguments: &ExportArguments,
    snapshot: &Snapshot,
    output: &mut Output,
) -> Outcome<()> {
    let names = &arguments.columns;
    let of_columns: Vec<String> = names.iter().filter(|name| *name != ID).cloned().collect();
    let with_ids = names.len() > of_columns.len();
    let table = snapshot.table(query, &of_columns, with_ids)?;
    let mut table = table.timeout(arguments.timeout.time());
    if arguments.format == ExportFormat::Csv {
        row(names.iter().cloned(), output)?;
    }
    let mut written = 0;
    while let Some(batch) = table.next_batch()? {
        for at in 0..batch.docs.len() {
            let mut columns = batch.columns.iter();
            let values = names.iter().map(|name| match name.as_str() {
                ID => Json::from(batch.ids[at].as_str()),
                _ => columns
                    .next()
                    .map_or(Json::Null, |one| json_of_all(one.of(at))),
            });
            match arguments.format {
                ExportFormat::Csv => row(values.map(|value| text_of(&value)), output)?,
                ExportFormat::Jsonl => {
                    let members = names.iter().cloned().zip(values);
                    let members = members.filter(|(_, value)| !value.is_null());
                    output.line(Json::Object(members.collect()).to_string())?;
                }
            }
        }
        written += batch.docs.len();
        if output.is_closed() {
            break;
        }
    }
    output.finish()?;
    let cut = table.cut_expansions().iter();
    cut.for_each(|cut| remark(&cut.to_string()));
    table.notes().iter().for_each(|note| remark(note));
    if written == 0 && !output.is_closed() {
        remark("no documents found");
    }
    Ok(())
}

fn query(arguments: &ExportArguments, snapshot: &Snapshot) -> Outcome<Query> {
    if arguments.query.is_empty() {
        Ok(Query::MatchAll)
    } else {
        let text = arguments.query.join(" ");
        let Parsed { query, notes } = snapshot.parse_noting(&text, Operator::Or)?;
        notes.iter().for_each(|note| remark(&harmless(note)));
        Ok(query)
    }
}

fn show(bar: &ProgressBar, written: u64, arguments: &ExportArguments, snapshot: &Snapshot) {
    if !written.is_multiple_of(SHOWN_EVERY) {
        return;
    }
    bar.set_message(if arguments.query.is_empty() {
        format!(
            "{} of {} written",
            grouped(written),
            counted(snapshot.documents(), "document")
        )
    } else {
        format!("{} written", counted(written, "document"))
    });
}

/// The writers of the formats.
enum Export {
    /// One JSON object a line.
    Lines(Fields),
    /// CSV with a header.
    Rows(Fields),
}

impl Export {
    fn begin(&mut self, output: &mut Output) -> Outcome<()> {
        match self {
            Export::Lines(_) => Ok(()),
            Export::Rows(fields) => row(fields.names().iter().cloned(), output),
        }
    }

    fn write(&mut self, hit: &Hit, output: &mut Output) -> Outcome<()> {
        let source = String::from_utf8_lossy(hit.source.as_deref().unwrap_or(b"{}"));
        match self {
            Export::Lines(fields) => output.line(fields.document(&hit.id, &source)),
            Export::Rows(fields) => row(fields.cells(&hit.id, &source), output),
        }
    }
}

/// Writes a row as RFC 4180 has it, but with the line ends of the system's other tools.
fn row(cells: impl Iterator<Item = String>, output: &mut Output) -> Outcome<()> {
    let (mut line, mut columns) = (String::new(), 0);
    for mut cell in cells {
        if output.is_terminal() {
            cell = harmless(&cell);
        }
        line.push_str(if columns > 0 { "," } else { "" });
        columns += 1;
        if cell.contains([',', '"', '\n', '\r']) {
            line.push_str(&format!("\"{}\"", cell.replace('"', "\"\"")))
        } else {
            line.push_str(&cell)
        }
    }
    // A row of one empty cell would be read as no row.
    if line.is_empty() && columns == 1 {
        output.line("\"\"")
    } else {
        output.line(line)
    }
}
