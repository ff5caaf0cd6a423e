//! The body of an update: members that replace others, and what is written where nothing is there.

use gannet::{Document, ObjectMembers, StoredDocument};
use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::near::nearest;

const KNOWN: [&str; 4] = ["doc", "upsert", "doc_as_upsert", "detect_noop"];
const NOT_THERE: [&str; 4] = ["script", "scripted_upsert", "_source", "fields"];

/// The body of an update. Values stay as they are written.
#[derive(Clone, Debug, Default)]
pub struct UpdateBody<'a> {
    doc: Option<&'a str>,
    upsert: Option<&'a str>,
    keeps_noops: bool,
}

impl<'a> UpdateBody<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Outcome<UpdateBody<'a>> {
        let text = std::str::from_utf8(body)
            .map_err(|error| Fault::parsing(format!("the update is not UTF-8: {error}")))?;
        let ObjectMembers(members) = serde_json::from_str(text).map_err(|error| {
            Fault::new(
                400,
                "x_content_parse_exception",
                format!("the update is no object of JSON: {error}"),
            )
        })?;
        let mut update = UpdateBody::default();
        let mut is_upsert = false;
        for (name, value) in &members {
            match name.as_str() {
                "doc" => update.doc = Some(value),
                "upsert" => update.upsert = Some(value),
                "doc_as_upsert" => is_upsert = flag(name, value)?,
                "detect_noop" => update.keeps_noops = !flag(name, value)?,
                "_source" if *value == "false" => {}
                other if NOT_THERE.contains(&other) => {
                    return Err(Fault::not_there(&format!("[{other}] of an update")));
                }
                other => return Err(unknown(other)),
            }
        }
        if is_upsert {
            update.upsert = update.doc;
        }
        if update.doc.is_none() && update.upsert.is_none() {
            return Err(Fault::new(
                400,
                "action_request_validation_exception",
                "Validation Failed: 1: script or doc is missing;",
            ));
        }
        Ok(update)
    }

    /// Returns true if it writes a document where there is none.
    pub fn is_upsert(&self) -> bool {
        self.upsert.is_some()
    }

    /// The longer one of the texts that it has.
    pub fn text(&self) -> &'a str {
        let (doc, upsert) = (
            self.doc.unwrap_or_default(),
            self.upsert.unwrap_or_default(),
        );
        if doc.len() > upsert.len() {
            doc
        } else {
            upsert
        }
    }

    /// Returns the document as it becomes; nothing if it stays as it is.
    pub fn apply(&self, id: &str, found: Option<&StoredDocument>) -> Outcome<Option<Document>> {
        let Some(found) = found else {
            let upsert = self.upsert.ok_or_else(|| {
                Fault::new(
                    404,
                    "document_missing_exception",
                    format!("[{id}]: document missing"),
                )
            })?;
            return Document::parse_as(Some(id.to_owned()), upsert.as_bytes())
                .map(Some)
                .map_err(|error| Fault::document(format!("failed to parse: {error}")));
        };
        let Some(doc) = self.doc else {
            return Ok(None);
        };
        let merged = found
            .merged(doc.as_bytes())
            .map_err(|error| Fault::document(format!("failed to parse: {error}")))?;
        let is_same = !self.keeps_noops && is_same_json(merged.source(), &found.source);
        Ok((!is_same).then_some(merged))
    }
}

fn is_same_json(one: &[u8], other: &[u8]) -> bool {
    let parse = |bytes| serde_json::from_slice::<Value>(bytes).ok();
    one == other || parse(one).is_some_and(|one| Some(one) == parse(other))
}

fn flag(name: &str, value: &str) -> Outcome<bool> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(Fault::parsing(format!(
            "[UpdateRequest] failed to parse field [{name}]: expected true or false, found {other}"
        ))),
    }
}

fn unknown(name: &str) -> Fault {
    let proposal = nearest(name, KNOWN);
    let proposal = proposal.map_or_else(String::new, |near| format!(" did you mean [{near}]?"));
    Fault::new(
        400,
        "x_content_parse_exception",
        format!("[UpdateRequest] unknown field [{name}]{proposal}"),
    )
}
