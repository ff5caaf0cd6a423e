//! `/v1/indexes/{index}/documents/{id}`: one document. A write can ask for the version that it is
//! to replace; version 0 means that there must be none.

use serde_json::json;

use crate::documents::{Action, Change, Done, ItemResult, Precondition, carry_out};
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::OpenIndex;
use crate::json::JsonObject;
use crate::service::Service;

/// `GET /v1/indexes/{index}/documents/{id}`.
pub fn get(call: &Call, service: &Service) -> Outcome<Answer> {
    let id = call.part("id");
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    let found = open.index.get(id)?.ok_or_else(|| missing(&open, id))?;
    // As a text doubles.
    let bytes = 2 * found.source.len();
    let held = open.index.reserve("the answer with a document", bytes)?;
    let source = str::from_utf8(&found.source)
        .map_err(|_| Fault::internal("a stored document is not UTF-8"))?;
    let body = JsonObject::new()
        .put("index", &open.name)
        .put("id", &found.id)
        .put("version", &found.version)
        .put("sequence", &found.sequence)
        .raw("document", source)
        .end();
    Ok(Answer {
        held: vec![held],
        ..Answer::json(200, body)
    })
}

/// `PUT /v1/indexes/{index}/documents/{id}`.
pub fn put(call: &Call, service: &Service) -> Outcome<Answer> {
    let before = precondition(call)?;
    let open = service
        .indexes
        .get_or_make(call.part("index"), &call.caller)?;
    let done = change(call, &open, before, Change::Put(&call.body))?;
    Ok(answer(&open, &done))
}

/// `DELETE /v1/indexes/{index}/documents/{id}`.
pub fn delete(call: &Call, service: &Service) -> Outcome<Answer> {
    let before = precondition(call)?;
    let open = service
        .indexes
        .get_to_write(call.part("index"), &call.caller)?;
    let done = change(call, &open, before, Change::Delete)?;
    match done.result {
        ItemResult::NotFound => Err(missing(&open, &done.id)),
        _ => Ok(answer(&open, &done)),
    }
}

fn precondition(call: &Call) -> Outcome<Precondition> {
    Ok(match call.count("version")? {
        None => Precondition::Any,
        Some(0) => Precondition::Absent,
        Some(version) => Precondition::Version(version),
    })
}

fn change(
    call: &Call,
    open: &OpenIndex,
    before: Precondition,
    change: Change<'_>,
) -> Outcome<Done> {
    let action = Action {
        id: Some(call.part("id").to_owned()),
        before,
        change,
    };
    let done = carry_out(open, &[&action]).pop();
    let done = done.unwrap_or_else(|| Err(Fault::internal("nothing was carried out")));
    let done = done.map_err(|fault| fault.of_index(&open.name))?;
    open.sync()?;
    Ok(done)
}

fn answer(open: &OpenIndex, done: &Done) -> Answer {
    Answer {
        status: done.result.status(),
        ..Answer::of(&json!({
            "index": open.name,
            "id": done.id,
            "result": match done.result {
                ItemResult::Updated => "replaced",
                other => other.name(),
            },
            "version": done.version.version,
            "sequence": done.version.sequence,
        }))
    }
}

fn missing(open: &OpenIndex, id: &str) -> Fault {
    let shown: String = id.chars().take(100).collect();
    Fault::new(
        404,
        "resource_not_found_exception",
        format!("there is no document {shown:?} in the index {}", open.name),
    )
    .of_index(&open.name)
}
