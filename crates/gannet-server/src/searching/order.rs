//! The order of hits by their places in an index: `_doc` and `_shard_doc`, with `search_after`.
//!
//! A place is a number: that of the index among those that are searched, and the document's there.

use gannet::Query;
use serde_json::{Value, json};

use crate::fault::{Fault, Outcome};
use crate::json::{Members, kind_of};

/// Bits of the number of a document.
const DOCUMENT_BITS: u32 = 32;

/// A document among those of several indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentPlace {
    /// The number of the index.
    pub index: usize,
    /// The number of the document.
    pub doc: u32,
}

impl DocumentPlace {
    /// Its number, as hits are told it.
    pub fn number(self) -> u64 {
        (self.index as u64) << DOCUMENT_BITS | u64::from(self.doc)
    }

    /// The place of a number.
    pub fn of_number(number: u64) -> DocumentPlace {
        DocumentPlace {
            index: usize::try_from(number >> DOCUMENT_BITS).unwrap_or(usize::MAX),
            doc: number as u32,
        }
    }

    /// The place behind it.
    pub fn next(self) -> DocumentPlace {
        DocumentPlace::behind(self.number())
    }

    /// The place behind the one of a number.
    fn behind(number: u64) -> DocumentPlace {
        DocumentPlace::of_number(number.saturating_add(1))
    }
}

/// Returns true if hits are to be in the order of their places.
pub fn is_by_place(sort: Option<&Value>) -> bool {
    let key = match sort {
        Some(Value::Array(keys)) => match keys.as_slice() {
            [key] => key,
            _ => return false,
        },
        Some(one) => one,
        None => return false,
    };
    let is_place = |name: &str| name == "_doc" || name == "_shard_doc";
    match key {
        Value::String(name) => is_place(name),
        Value::Object(members) => {
            let mut members = members.iter();
            let (Some((name, order)), None) = (members.next(), members.next()) else {
                return false;
            };
            let order = order.get("order").unwrap_or(order);
            is_place(name) && (*order == "asc" || *order == json!({}))
        }
        _ => false,
    }
}

/// The place at which hits begin.
pub fn after(members: &Members<'_>, is_by_place: bool) -> Outcome<Option<DocumentPlace>> {
    let Some(value) = members.get("search_after") else {
        return Ok(None);
    };
    if !is_by_place {
        return Err(Fault::query_not_there(
            "[search_after] with another [sort] than [_doc] or [_shard_doc]",
        ));
    }
    let number = match value {
        Value::Array(values) if values.len() == 1 => values[0].as_u64(),
        _ => None,
    };
    number.map(DocumentPlace::behind).map(Some).ok_or_else(|| {
        Fault::illegal(format!(
            "[search_after] is the [sort] of the last hit, a list of one number, and not {}",
            kind_of(value)
        ))
    })
}

/// The same documents without scores, so that they come in the order of their numbers.
pub fn without_scores(query: Query) -> Query {
    Query::Bool {
        must: Vec::new(),
        should: Vec::new(),
        must_not: Vec::new(),
        filter: vec![query],
        minimum_should_match: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_order_and_none_is_met_twice() {
        let place = |index, doc| DocumentPlace { index, doc };
        for (at, next) in [
            (place(0, 0), place(0, 1)),
            (place(3, 7), place(3, 8)),
            (place(0, u32::MAX), place(1, 0)),
        ] {
            assert_eq!(DocumentPlace::behind(at.number()), next);
            assert!(at.number() < next.number());
        }
        DocumentPlace::behind(u64::MAX);
    }

    #[test]
    fn only_rising_places_are_an_order() {
        for sort in [
            json!("_doc"),
            json!(["_doc"]),
            json!([{ "_shard_doc": "asc" }]),
            json!([{ "_shard_doc": { "order": "asc" } }]),
        ] {
            assert!(is_by_place(Some(&sort)), "{sort}");
        }
        for sort in [
            json!("_score"),
            json!([]),
            json!(["_doc", "_score"]),
            json!([{ "_doc": "desc" }]),
            json!({ "year": "asc" }),
        ] {
            assert!(!is_by_place(Some(&sort)), "{sort}");
        }
    }
}
