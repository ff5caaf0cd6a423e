//! `gannet delete`: documents by their IDs, or by a query.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use gannet::{Index, Operator, Parsed, Query, Snapshot};
use serde_json::{Value, json};

use crate::arguments::{Common, DeleteArguments};
use crate::failure::{Failure, Outcome, remark};
use crate::get::other_form_of;
use crate::opening::{open_to_read_with, open_to_write_with};
use crate::output::{Output, harmless};
use crate::size::counted;
use crate::spinner::spinner;

/// The most IDs that a sentence names.
const NAMED_MAX: usize = 10;

/// Deletes documents and says how many they were, and which IDs the index does not have.
pub fn run(common: &Common, arguments: &DeleteArguments, output: &mut Output) -> Outcome<()> {
    check_order(arguments)?;
    if arguments.dry_run {
        let index = open_to_read_with(&arguments.index, common, &arguments.cache)?;
        return tell(&index, arguments, output);
    }
    let index = open_to_write_with(&arguments.index, common, &arguments.cache)?;
    // Nothing goes if the query is wrong.
    let query = query(arguments, &index.snapshot(), output)?;
    if let Some(Parsed { query, .. }) = &query {
        consent_to_all(arguments, query, index.snapshot().documents())?;
    }
    let Asked {
        present,
        missing,
        notes,
    } = Asked::of(&index, arguments)?;
    let ids: Vec<&str> = present.iter().map(String::as_str).collect();
    let mut deleted = index.delete(&ids)?.deleted;
    if let Some(Parsed { query, .. }) = &query {
        let bar = spinner();
        let tell = |deleted| bar.set_message(format!("{} deleted", counted(deleted, "document")));
        let limit = arguments.timeout.time();
        deleted += index.delete_matching_within(query, limit, &tell)?.deleted;
        bar.finish_and_clear();
    }
    index.close()?;
    say_notes(&notes, output);
    if output.is_json() {
        output.json(&json!({
            "deleted": deleted,
            "missing": missing.len(),
            "missing_ids": missing,
            "notes": all_notes(query.as_ref(), &notes),
        }))
    } else {
        output.line(format!(
            "{} deleted{}",
            counted(deleted, "document"),
            absence(&missing)
        ))
    }
}

/// Fails where a query takes every document, unless that is asked for: with --all, or by whoever
/// sits at the terminal.
fn consent_to_all(arguments: &DeleteArguments, query: &Query, documents: u64) -> Outcome<()> {
    if arguments.all || documents == 0 || !query.takes_all() {
        return Ok(());
    }
    let index = arguments.index.display();
    let what = format!(
        "this query finds every document, {} in {index}",
        counted(documents, "document")
    );
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::caller(format!(
            "{what}: add --all to delete them all, or --dry-run to see which they are; nothing was deleted"
        )));
    }
    let _ = write!(io::stderr(), "gannet: {what}. Delete them all? Type yes: ");
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    if read.is_ok() && answer.trim().eq_ignore_ascii_case("yes") {
        Ok(())
    } else {
        Err(Failure::caller("nothing was deleted"))
    }
}

/// Says notes on standard error, unless the JSON has them.
fn say_notes(notes: &[String], output: &Output) {
    let notes = notes.iter().filter(|_| !output.is_json());
    notes.for_each(|note| remark(note));
}

/// Rejects an ID before the index, which would be taken for a missing one.
fn check_order(arguments: &DeleteArguments) -> Outcome<()> {
    let given = &arguments.index;
    let index = arguments.ids.iter().find(|id| Path::new(id).is_dir());
    match index.filter(|_| !given.exists()) {
        None => Ok(()),
        Some(index) => Err(Failure::caller(format!(
            "{} does not exist, and {index} is a folder: the index comes first, as in `gannet delete {index} {}`",
            given.display(),
            given.display()
        ))),
    }
}

/// The IDs that were given, each once, in their order.
#[derive(Default)]
struct Asked<'i> {
    /// The IDs that the index has.
    present: Vec<String>,
    /// The IDs that it does not have in any form of Unicode.
    missing: Vec<&'i str>,
    /// Notes on IDs that are taken in another form than they were given.
    notes: Vec<String>,
}

impl<'i> Asked<'i> {
    fn of(index: &Index, arguments: &'i DeleteArguments) -> Outcome<Asked<'i>> {
        let (mut asked, mut seen) = (Asked::default(), HashSet::new());
        for id in arguments.ids.iter().filter(|id| seen.insert(*id)) {
            if index.contains(id)? {
                asked.present.push(id.clone());
            } else if let Some(other) = index.other_form_of_id(id)? {
                asked.notes.push(other_form_of(id, &other));
                asked.present.push(other);
            } else {
                asked.missing.push(id);
            }
        }
        Ok(asked)
    }
}

/// The end of a sentence that names the IDs that the index does not have.
fn absence(missing: &[&str]) -> String {
    let more = match missing.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = missing.iter().take(NAMED_MAX).map(|id| harmless(id));
    let named = named.collect::<Vec<_>>().join(", ");
    match missing.len() {
        0 => String::new(),
        1 => format!("; 1 ID is not in the index: {named}"),
        count => format!("; {count} IDs are not in the index: {named}{more}"),
    }
}

/// The query and what the parser says of it, which people are told before anything goes.
fn query(
    arguments: &DeleteArguments,
    snapshot: &Snapshot,
    output: &Output,
) -> Outcome<Option<Parsed>> {
    let query = arguments.query.as_deref();
    let query = query.map(|query| snapshot.parse_noting(query, Operator::Or));
    let parsed = query.transpose()?;
    if !output.is_json() {
        let notes = parsed.iter().flat_map(|parsed| &parsed.notes);
        notes.for_each(|note| remark(&harmless(note)));
    }
    Ok(parsed)
}

/// The notes of the query and those of IDs.
fn all_notes(parsed: Option<&Parsed>, of_ids: &[String]) -> Vec<String> {
    let of_query = parsed.map_or(&[][..], |parsed| &parsed.notes);
    [of_query, of_ids].concat()
}

/// Says which documents would be deleted, and how many; the index was opened for reading only.
fn tell(index: &Index, arguments: &DeleteArguments, output: &mut Output) -> Outcome<()> {
    let snapshot = index.snapshot();
    let query = query(arguments, &snapshot, output)?;
    let most = if arguments.name_all {
        u64::MAX
    } else {
        NAMED_MAX as u64
    };
    let mut told = Told::begin(output, most)?;
    let Asked {
        present,
        missing,
        notes,
    } = Asked::of(index, arguments)?;
    present.iter().try_for_each(|id| told.id(id))?;
    if let Some(Parsed { query, .. }) = &query {
        let found = snapshot.list(query).sources(false);
        let mut found = found.timeout(arguments.timeout.time());
        for hit in &mut found {
            told.id(&hit?.id)?;
        }
        let cut = found.cut_expansions().iter();
        cut.for_each(|cut| remark(&cut.to_string()));
        found.notes().iter().for_each(|note| remark(note));
    }
    say_notes(&notes, told.output);
    told.end(&missing, &all_notes(query.as_ref(), &notes))
}

/// Prints a deletion that does not happen, each ID at once, so that there may be many.
struct Told<'o> {
    output: &'o mut Output,
    count: u64,
    /// The greatest number of IDs to print.
    most: u64,
}

impl Told<'_> {
    fn begin(output: &mut Output, most: u64) -> Outcome<Told<'_>> {
        if output.is_json() {
            output.bytes(br#"{"deleted":0,"ids":["#)?;
        }
        Ok(Told {
            output,
            count: 0,
            most,
        })
    }

    fn id(&mut self, id: &str) -> Outcome<()> {
        self.count += 1;
        if self.count > self.most {
            return Ok(());
        }
        if !self.output.is_json() {
            return self.output.line(harmless(id));
        }
        let comma = if self.count > 1 { "," } else { "" };
        self.output
            .bytes(format!("{comma}{}", json!(id)).as_bytes())
    }

    fn end(self, missing: &[&str], notes: &[String]) -> Outcome<()> {
        let count = self.count;
        if count > self.most && !self.output.is_json() {
            let more = counted(count - self.most, "more document");
            self.output.line(format!("and {more}: --ids names all"))?;
        }
        self.output.line(if self.output.is_json() {
            format!(
                r#"],"would_delete":{count},"missing":{},"missing_ids":{},"notes":{}}}"#,
                missing.len(),
                Value::from(missing),
                json!(notes)
            )
        } else {
            format!(
                "{} would be deleted; nothing was changed{}",
                counted(count, "document"),
                absence(missing)
            )
        })
    }
}
