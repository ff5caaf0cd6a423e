//! `gannet delete`: documents by their IDs, or by a query.

use gannet::{Index, Operator};
use serde_json::json;

use crate::arguments::{Common, DeleteArguments};
use crate::failure::Outcome;
use crate::output::Output;
use crate::size::grouped;
use crate::spinner::spinner;

/// Deletes documents and says how many they were; IDs that the index does not have are passed over.
pub fn run(common: &Common, arguments: &DeleteArguments, output: &mut Output) -> Outcome<()> {
    // Nothing may be made by deleting from what is not there.
    crate::search::open_to_read(&arguments.index, common)?;
    let options = Index::options().memory(common.memory.bytes());
    let index = options
        .backend(common.backend.into())
        .open(&arguments.index)?;
    let query = arguments.query.as_deref();
    // Nothing goes if the query is wrong.
    let query = query.map(|query| index.snapshot().parse(query, Operator::Or));
    let query = query.transpose()?;
    let ids: Vec<&str> = arguments.ids.iter().map(String::as_str).collect();
    let mut deleted = index.delete(&ids)?.deleted;
    if let Some(query) = &query {
        let bar = spinner();
        let tell = |deleted| bar.set_message(format!("{} documents deleted", grouped(deleted)));
        let limit = arguments.timeout.time();
        deleted += index.delete_matching_within(query, limit, &tell)?.deleted;
        bar.finish_and_clear();
    }
    index.close()?;
    match output.is_json() {
        true => output.json(&json!({ "deleted": deleted })),
        false => output.line(match deleted {
            1 => "1 document deleted".to_owned(),
            _ => format!("{} documents deleted", grouped(deleted)),
        }),
    }
}
