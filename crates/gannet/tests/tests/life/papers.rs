//! Makes documents, as the oracle takes them with their JSON, and the results of partial updates.

use serde_json::{Map, Value as Json};

use gannet::{Document, Expected};
use gannet_testkit::oracle::{PlainDocument, Value};
use gannet_testkit::random::{Documents, Rng, to_json};

/// A document to be written.
#[derive(Clone, Debug)]
pub(super) struct Paper {
    pub(super) document: PlainDocument,
    pub(super) source: String,
    pub(super) expected: Option<Expected>,
}

impl Paper {
    pub(super) fn new(document: PlainDocument) -> Paper {
        Paper {
            source: to_json(&document),
            document,
            expected: None,
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.document.id
    }

    /// The document as the index takes it.
    pub(super) fn parsed(&self) -> Document {
        let document = Document::parse(self.source.as_bytes()).expect("a document");
        match self.expected {
            Some(expected) => document.expecting(expected),
            None => document,
        }
    }

    /// Returns the result of a partial update of the document `source`.
    pub(super) fn merged(id: &str, source: &str, partial: &Map<String, Json>) -> Paper {
        let Ok(Json::Object(mut members)) = serde_json::from_str(source) else {
            panic!("{source} is no object");
        };
        merge(&mut members, partial);
        let mut fields = Vec::new();
        for (name, value) in members.iter().filter(|(name, _)| *name != "id") {
            flatten(name, value, &mut fields);
        }
        Paper {
            document: PlainDocument {
                id: id.to_owned(),
                fields,
            },
            source: Json::Object(members).to_string(),
            expected: None,
        }
    }
}

fn merge(old: &mut Map<String, Json>, new: &Map<String, Json>) {
    for (name, value) in new {
        match (old.get_mut(name), value) {
            (Some(Json::Object(old)), Json::Object(new)) => merge(old, new),
            _ => drop(old.insert(name.clone(), value.clone())),
        }
    }
}

/// The fields of a member: arrays are several values, objects have dots in their names, null is
/// nothing.
fn flatten(name: &str, value: &Json, out: &mut Vec<(String, Value)>) {
    match value {
        Json::Null => {}
        Json::String(text) => out.push((name.to_owned(), Value::Text(text.clone()))),
        Json::Array(values) => values.iter().for_each(|value| flatten(name, value, out)),
        Json::Object(members) => members
            .iter()
            .for_each(|(inner, value)| flatten(&format!("{name}.{inner}"), value, out)),
        other => out.push((name.to_owned(), Value::Exact(other.to_string()))),
    }
}

/// Some members of another document, or nothing in place of one.
pub(super) fn partial(documents: &Documents, rng: &mut Rng) -> Map<String, Json> {
    let other = to_json(&documents.document(rng, "other"));
    let Ok(Json::Object(members)) = serde_json::from_str(&other) else {
        panic!("{other} is no object");
    };
    let all = members.into_iter().filter(|(name, _)| name != "id");
    let some = all.filter(|_| rng.chance(40));
    let mut some: Map<String, Json> = some.collect();
    if rng.chance(10) {
        some.insert("title".to_owned(), Json::Null);
    }
    some
}
