//! `/v1/indexes/{index}/documents`: writes the documents of a body. Those that cannot be written
//! are told with their lines; all others are durable once the answer is sent.

use std::borrow::Cow;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::documents::{
    Action, Change, Done, ItemResult, Precondition, SentDocument, carry_out, sent_documents,
};
use crate::fault::{Fault, Outcome, Place};
use crate::http::{Answer, Call};
use crate::indexes::OpenIndex;
use crate::service::Service;

/// Documents, and bytes of them, that are written together.
const BATCH_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 1 << 20;

/// Documents that an answer names: those that were rejected, and the IDs of those written.
const NAMED_MAX: usize = 100;

/// `POST /v1/indexes/{index}/documents`.
pub fn write(call: &Call, service: &Service) -> Outcome<Answer> {
    let start = Instant::now();
    let before = match call.parameter("if_exists") {
        None | Some("replace") => Precondition::Any,
        Some("reject") => Precondition::Absent,
        Some(other) => {
            return Err(Fault::illegal(format!(
                "if_exists is replace or reject, not {other:?}"
            )));
        }
    };
    let documents = sent_documents(&call.body, &call.media)?;
    let open = service
        .indexes
        .get_or_make(call.part("index"), &call.caller)?;
    let mut written = Written::default();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for document in documents {
        bytes += document.source.as_ref().map_or(0, |source| source.len());
        batch.push(document);
        if batch.len() >= BATCH_MAX || bytes >= BATCH_BYTES_MAX {
            written.write(&open, std::mem::take(&mut batch), before);
            bytes = 0;
        }
    }
    written.write(&open, batch, before);
    open.sync()?;
    written.answer(&open.name, start)
}

/// Counts of the documents so far, and the errors of those that were rejected.
#[derive(Default)]
struct Written {
    created: u64,
    replaced: u64,
    rejected: u64,
    ids: Vec<String>,
    errors: Vec<Value>,
    /// The first error.
    first: Option<Fault>,
}

/// The member of a document by which it is known.
#[derive(Deserialize)]
struct Identified<'a> {
    #[serde(borrow)]
    id: Option<WrittenId<'a>>,
}

/// An ID as documents write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenId<'a> {
    Whole(i64),
    Large(u64),
    Text(#[serde(borrow)] Cow<'a, str>),
    Other(Value),
}

impl Written {
    fn write(&mut self, open: &OpenIndex, batch: Vec<SentDocument<'_>>, before: Precondition) {
        let mut lines = Vec::with_capacity(batch.len());
        let mut sources = Vec::with_capacity(batch.len());
        for SentDocument { line, source } in batch {
            let read = source.and_then(|source| Ok((id_of(&source, line)?, source)));
            match read {
                Ok(read) => {
                    lines.push(line);
                    sources.push(read);
                }
                Err(fault) => self.reject(line, None, fault),
            }
        }
        let actions: Vec<Action<'_>> = sources
            .iter()
            .map(|(id, source)| Action {
                id: id.clone(),
                before,
                change: Change::Put(source),
            })
            .collect();
        let actions: Vec<&Action<'_>> = actions.iter().collect();
        let results = carry_out(open, &actions).into_iter();
        for ((result, action), line) in results.zip(&actions).zip(lines) {
            match result {
                Ok(done) => self.note(done),
                Err(fault) => self.reject(line, action.id.as_deref(), fault),
            }
        }
    }

    fn note(&mut self, done: Done) {
        match done.result {
            ItemResult::Created => self.created += 1,
            _ => self.replaced += 1,
        }
        if self.ids.len() < NAMED_MAX {
            self.ids.push(done.id);
        }
    }

    fn reject(&mut self, line: usize, id: Option<&str>, fault: Fault) {
        self.rejected += 1;
        let fault = fault.at(Place::in_body(line, 0));
        if self.errors.len() < NAMED_MAX {
            let mut error = fault.own_json()["error"].take();
            error["id"] = json!(id);
            self.errors.push(error);
        }
        self.first.get_or_insert(fault);
    }

    fn answer(self, index: &str, start: Instant) -> Outcome<Answer> {
        let written = self.created + self.replaced;
        if let (0, Some(fault)) = (written, self.first) {
            return Err(fault.of_index(index));
        }
        Ok(Answer::of(&json!({
            "index": index,
            "created": self.created,
            "replaced": self.replaced,
            "rejected": self.rejected,
            "ids": self.ids,
            "errors": self.errors,
            "took_us": start.elapsed().as_micros() as u64,
        })))
    }
}

/// The ID that a document brings, if it brings one.
fn id_of(source: &[u8], line: usize) -> Outcome<Option<String>> {
    let read = serde_json::from_slice::<Identified<'_>>(source);
    let read = read.map_err(|error| {
        let place = Place::in_body(line + error.line().saturating_sub(1), error.column());
        Fault::document(format!("the document cannot be read: {error}")).at(place)
    })?;
    match read.id {
        None => Ok(None),
        Some(WrittenId::Text(text)) => Ok(Some(text.into_owned())),
        Some(WrittenId::Whole(number)) => Ok(Some(number.to_string())),
        Some(WrittenId::Large(number)) => Ok(Some(number.to_string())),
        Some(WrittenId::Other(Value::Null)) => Ok(None),
        Some(WrittenId::Other(_)) => Err(Fault::document(
            "the id of a document is a string or a whole number",
        )),
    }
}
