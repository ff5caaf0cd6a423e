//! `gannet get`: documents by their IDs, one JSON object a line.

use gannet::{Index, StoredDocument};

use crate::arguments::{Common, GetArguments};
use crate::failure::{Failure, Outcome, remark, say};
use crate::fields::Fields;
use crate::opening::open_cached;
use crate::output::Output;

/// Prints the documents in the order of the IDs. Those that are missing are told on standard error,
/// and fail the command.
pub fn run(common: &Common, arguments: &GetArguments, output: &mut Output) -> Outcome<()> {
    let index = open_cached(&arguments.index, common, &arguments.cache)?;
    let fields = Fields::named(&arguments.fields, &index.snapshot())?;
    let mut missing = false;
    let mut failed = None;
    for id in &arguments.ids {
        match line(&index, id, &fields) {
            Ok(Some(line)) => output.line(line)?,
            Ok(None) => {
                missing = true;
                say(&format!("there is no document with the ID {id:?}"));
            }
            // The others may fit the memory that this one does not.
            Err(error) => {
                say(&error.to_string());
                failed = Some(error);
            }
        }
    }
    output.finish()?;
    match (failed, missing) {
        (Some(error), _) => Err(Failure::from(error).but_said()),
        (None, false) => Ok(()),
        (None, true) => Err(Failure::said(1)),
    }
}

fn line(index: &Index, id: &str, fields: &Fields) -> gannet::Result<Option<String>> {
    let document = match index.get(id)? {
        None => other_form(index, id)?,
        found => found,
    };
    Ok(document.map(|document| {
        let source = String::from_utf8_lossy(&document.source);
        fields.document(&document.id, &source)
    }))
}

/// The document whose ID is the same text in another Unicode form, which is said.
fn other_form(index: &Index, id: &str) -> gannet::Result<Option<StoredDocument>> {
    let Some(other) = index.other_form_of_id(id)? else {
        return Ok(None);
    };
    remark(&other_form_of(id, &other));
    index.get(&other)
}

/// Tells which ID is taken in place of one that the index does not have.
pub fn other_form_of(id: &str, other: &str) -> String {
    let form = if other.chars().count() > id.chars().count() {
        "NFD, accents as characters of their own"
    } else {
        "NFC, accents and letters in one character"
    };
    format!(
        "no document has the ID {id:?} as it was written; taken is the same ID in another form of Unicode ({form})"
    )
}
