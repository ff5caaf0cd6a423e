//! Documents by their IDs.

use gannet::Query;
use serde_json::Value;

use super::{Translator, any_of, boosted};
use crate::fault::Outcome;
use crate::json::Members;

/// The name under which the engine knows IDs of documents, whatever their fields are.
pub const ID: &str = "_id";

/// `ids`.
pub fn ids(value: &Value, _: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("ids", value)?;
    members.check(&["values", "boost"], &["_name"])?;
    let ids = members.texts("values")?.unwrap_or_default();
    boosted(any(&ids), &members)
}

/// The documents with these IDs.
pub fn any<S: AsRef<str>>(ids: &[S]) -> Query {
    let each = ids.iter().map(|id| Query::Text {
        field: Some(ID.to_owned()),
        text: id.as_ref().to_owned(),
        operator: gannet::Operator::Or,
    });
    let mut each: Vec<Query> = each.collect();
    match each.len() {
        0 => Query::MatchNone,
        1 => each.remove(0),
        _ => any_of(each, 1),
    }
}
