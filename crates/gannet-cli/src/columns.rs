//! Values out of columns as JSON and as text: one value as it is, several as a list.

use gannet::values::Value;
use gannet::{ColumnBatch, Snapshot};
use serde_json::{Value as Json, json};

use crate::failure::Outcome;

/// The name of the external ID among columns.
pub const ID: &str = "id";

/// The values of some documents by column.
#[derive(Default)]
pub struct HitColumns {
    names: Vec<String>,
    batches: Vec<ColumnBatch>,
    /// The documents in the order of their numbers.
    docs: Vec<u32>,
}

impl HitColumns {
    /// Those of some documents.
    pub fn of(names: &[String], mut docs: Vec<u32>, snapshot: &Snapshot) -> Outcome<HitColumns> {
        docs.sort_unstable();
        let batches = names.iter().map(|name| snapshot.column_values(&docs, name));
        Ok(HitColumns {
            batches: batches.collect::<gannet::Result<_>>()?,
            names: names.to_vec(),
            docs,
        })
    }

    /// Returns true if none are asked for.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names with the values of a document; null where it has none.
    pub fn of_doc(&self, doc: u32) -> impl Iterator<Item = (&str, Json)> {
        let at = self.docs.binary_search(&doc).ok();
        let each = self.names.iter().zip(&self.batches);
        each.map(move |(name, batch)| {
            let values = at.map_or(&[][..], |at| batch.of(at));
            (name.as_str(), json_of_all(values))
        })
    }
}

/// A value as JSON: dates in ISO 8601.
pub fn json_of(value: &Value<'_>) -> Json {
    match value {
        Value::Long(value) => json!(value),
        Value::Double(value) => json!(value),
        Value::Boolean(value) => json!(value),
        other => json!(other.to_string()),
    }
}

/// The values of a document as JSON.
pub fn json_of_all(values: &[Value<'_>]) -> Json {
    match values {
        [] => Json::Null,
        [one] => json_of(one),
        several => several.iter().map(json_of).collect(),
    }
}

/// The values of a document as text, empty where there are none.
pub fn text_of(values: &Json) -> String {
    match values {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
