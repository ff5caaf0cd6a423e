//! `gannet delete`: documents by their IDs, or by a query.

use std::collections::HashSet;

use gannet::{Error, Index, Operator, Query, Snapshot};
use serde_json::json;

use crate::arguments::{Common, DeleteArguments};
use crate::failure::{Outcome, remark};
use crate::output::{Output, harmless};
use crate::search::{open_to_read, open_to_write};
use crate::size::counted;
use crate::spinner::spinner;

/// Deletes documents and says how many they were; IDs that the index does not have are passed over.
pub fn run(common: &Common, arguments: &DeleteArguments, output: &mut Output) -> Outcome<()> {
    if arguments.dry_run {
        return tell(&open_to_read(&arguments.index, common)?, arguments, output);
    }
    let index = open_to_write(&arguments.index, common)?;
    // Nothing goes if the query is wrong.
    let query = query(arguments, &index.snapshot())?;
    let ids: Vec<&str> = arguments.ids.iter().map(String::as_str).collect();
    let mut deleted = index.delete(&ids)?.deleted;
    if let Some(query) = &query {
        let bar = spinner();
        let tell = |deleted| bar.set_message(format!("{} deleted", counted(deleted, "document")));
        let limit = arguments.timeout.time();
        deleted += index.delete_matching_within(query, limit, &tell)?.deleted;
        bar.finish_and_clear();
    }
    index.close()?;
    match output.is_json() {
        true => output.json(&json!({ "deleted": deleted })),
        false => output.line(format!("{} deleted", counted(deleted, "document"))),
    }
}

fn query(arguments: &DeleteArguments, snapshot: &Snapshot) -> Outcome<Option<Query>> {
    let query = arguments.query.as_deref();
    let query = query.map(|query| snapshot.parse(query, Operator::Or));
    Ok(query.transpose()?)
}

/// Says which documents would be deleted, and how many; the index was opened for reading only.
fn tell(index: &Index, arguments: &DeleteArguments, output: &mut Output) -> Outcome<()> {
    let snapshot = index.snapshot();
    let query = query(arguments, &snapshot)?;
    let mut told = Told::begin(output)?;
    let named: HashSet<&str> = arguments.ids.iter().map(String::as_str).collect();
    let mut seen = HashSet::new();
    for id in &arguments.ids {
        if seen.insert(id) && exists(index, id)? {
            told.id(id)?;
        }
    }
    if let Some(query) = &query {
        let found = snapshot.list(query).sources(false);
        let mut found = found.timeout(arguments.timeout.time());
        for hit in &mut found {
            let id = hit?.id;
            if !named.contains(id.as_str()) {
                told.id(&id)?;
            }
        }
        let cut = found.cut_expansions().iter();
        cut.for_each(|cut| remark(&cut.to_string()));
    }
    told.end()
}

fn exists(index: &Index, id: &str) -> Outcome<bool> {
    match index.get(id) {
        Ok(document) => Ok(document.is_some()),
        // It is deleted without being read.
        Err(Error::DocumentMemory { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
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

    fn end(self) -> Outcome<()> {
        let count = self.count;
        self.output.line(match self.output.is_json() {
            true => format!(r#"],"would_delete":{count}}}"#),
            false => format!(
                "{} would be deleted; nothing was changed",
                counted(count, "document")
            ),
        })
    }
}
