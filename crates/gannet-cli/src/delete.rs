//! `gannet delete`: documents by their IDs, or by a query.

use std::collections::HashSet;
use std::path::Path;

use gannet::{Index, Operator, Parsed, Snapshot};
use serde_json::{Value, json};

use crate::arguments::{Common, DeleteArguments};
use crate::failure::{Failure, Outcome, remark};
use crate::opening::{open_to_read, open_to_write};
use crate::output::{Output, harmless};
use crate::size::counted;
use crate::spinner::spinner;

/// The most IDs that a sentence names.
const NAMED_MAX: usize = 10;

/// Deletes documents and says how many they were, and which IDs the index does not have.
pub fn run(common: &Common, arguments: &DeleteArguments, output: &mut Output) -> Outcome<()> {
    check_order(arguments)?;
    if arguments.dry_run {
        return tell(&open_to_read(&arguments.index, common)?, arguments, output);
    }
    let index = open_to_write(&arguments.index, common)?;
    // Nothing goes if the query is wrong.
    let query = query(arguments, &index.snapshot(), output)?;
    let ids: Vec<&str> = arguments.ids.iter().map(String::as_str).collect();
    let (_, missing) = present_and_missing(&index, &ids)?;
    let mut deleted = index.delete(&ids)?.deleted;
    if let Some(Parsed { query, .. }) = &query {
        let bar = spinner();
        let tell = |deleted| bar.set_message(format!("{} deleted", counted(deleted, "document")));
        let limit = arguments.timeout.time();
        deleted += index.delete_matching_within(query, limit, &tell)?.deleted;
        bar.finish_and_clear();
    }
    index.close()?;
    match output.is_json() {
        true => output.json(&json!({
            "deleted": deleted,
            "missing": missing.len(),
            "missing_ids": missing,
            "notes": notes_of(query.as_ref()),
        })),
        false => output.line(format!(
            "{} deleted{}",
            counted(deleted, "document"),
            absence(&missing)
        )),
    }
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

/// The IDs that the index has and those that it does not have, each once, in the order given.
fn present_and_missing<'i>(
    index: &Index,
    ids: &[&'i str],
) -> Outcome<(Vec<&'i str>, Vec<&'i str>)> {
    let (mut present, mut missing, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for id in ids.iter().filter(|id| seen.insert(**id)) {
        match index.contains(id)? {
            true => present.push(*id),
            false => missing.push(*id),
        }
    }
    Ok((present, missing))
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

fn notes_of(parsed: Option<&Parsed>) -> &[String] {
    parsed.map_or(&[], |parsed| &parsed.notes)
}

/// Says which documents would be deleted, and how many; the index was opened for reading only.
fn tell(index: &Index, arguments: &DeleteArguments, output: &mut Output) -> Outcome<()> {
    let snapshot = index.snapshot();
    let query = query(arguments, &snapshot, output)?;
    let mut told = Told::begin(output)?;
    let ids: Vec<&str> = arguments.ids.iter().map(String::as_str).collect();
    let (present, missing) = present_and_missing(index, &ids)?;
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
    told.end(&missing, notes_of(query.as_ref()))
}

/// What is told of a deletion that does not happen: each ID at once, so that they may be many.
struct Told<'o> {
    output: &'o mut Output,
    count: u64,
}

impl Told<'_> {
    fn begin(output: &mut Output) -> Outcome<Told<'_>> {
        if output.is_json() {
            output.bytes(br#"{"deleted":0,"ids":["#)?;
        }
        Ok(Told { output, count: 0 })
    }

    fn id(&mut self, id: &str) -> Outcome<()> {
        self.count += 1;
        if !self.output.is_json() {
            return self.output.line(harmless(id));
        }
        let comma = if self.count > 1 { "," } else { "" };
        self.output
            .bytes(format!("{comma}{}", json!(id)).as_bytes())
    }

    fn end(self, missing: &[&str], notes: &[String]) -> Outcome<()> {
        let count = self.count;
        self.output.line(match self.output.is_json() {
            true => format!(
                r#"],"would_delete":{count},"missing":{},"missing_ids":{},"notes":{}}}"#,
                missing.len(),
                Value::from(missing),
                json!(notes)
            ),
            false => format!(
                "{} would be deleted; nothing was changed{}",
                counted(count, "document"),
                absence(missing)
            ),
        })
    }
}
