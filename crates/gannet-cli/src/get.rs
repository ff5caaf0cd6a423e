//! `gannet get`: documents by their IDs, one JSON object a line.

use gannet::Index;

use crate::arguments::{Common, GetArguments};
use crate::failure::{Failure, Outcome, say};
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
    let Some(document) = index.get(id)? else {
        return Ok(None);
    };
    let source = String::from_utf8_lossy(&document.source);
    Ok(Some(fields.document(id, &source)))
}
