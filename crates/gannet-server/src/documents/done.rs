//! The result of a change, and its JSON.

use gannet::DocumentVersion;
use serde_json::{Map, Value, json};

use super::action::sequence_number;
use crate::fault::Outcome;

/// The result of a change of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemResult {
    /// There was none of its ID.
    Created,
    /// There was one.
    Updated,
    /// It is gone.
    Deleted,
    /// There was none to delete.
    NotFound,
    /// It is as it was.
    Noop,
}

/// A change that was carried out.
#[derive(Clone, Debug)]
pub struct Done {
    /// The ID of the document.
    pub id: String,
    /// The result of its change.
    pub result: ItemResult,
    /// Its version now; of one that is gone, the last.
    pub version: DocumentVersion,
}

/// The results of several actions, each in its place.
pub type Results = Vec<Outcome<Done>>;

impl ItemResult {
    /// The name that Elasticsearch gives it.
    pub fn name(self) -> &'static str {
        match self {
            ItemResult::Created => "created",
            ItemResult::Updated => "updated",
            ItemResult::Deleted => "deleted",
            ItemResult::NotFound => "not_found",
            ItemResult::Noop => "noop",
        }
    }

    /// The status of HTTP.
    pub fn status(self) -> u16 {
        match self {
            ItemResult::Created => 201,
            ItemResult::NotFound => 404,
            _ => 200,
        }
    }
}

impl Done {
    /// The members of an answer. Clients of version 7 need the `has_type` of the document, too.
    pub fn json(&self, index: &str, has_type: bool) -> Map<String, Value> {
        let mut members = Map::new();
        if has_type {
            members.insert("_type".to_owned(), json!("_doc"));
        }
        let successful = u64::from(self.result != ItemResult::Noop);
        for (name, value) in [
            ("_index", json!(index)),
            ("_id", json!(self.id)),
            ("_version", json!(self.version.version)),
            ("result", json!(self.result.name())),
            (
                "_shards",
                json!({ "total": successful, "successful": successful, "failed": 0 }),
            ),
            ("_seq_no", json!(sequence_number(self.version.sequence))),
            ("_primary_term", json!(1)),
        ] {
            members.insert(name.to_owned(), value);
        }
        members
    }
}
