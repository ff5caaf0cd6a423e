//! Several documents by their IDs: `_mget`.

use serde_json::Value;

use super::document::found;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::json::{JsonArray, JsonObject, Members};
use crate::searching::SourceChoice;
use crate::service::Service;

/// Documents of one request.
const DOCUMENTS_MAX: usize = 10_000;

/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// `POST /{index}/_mget`.
pub fn mget(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("mget", &body)?;
    members.check(&["docs", "ids"], &[])?;
    let common = SourceChoice::of_call(call);
    let index = Some(call.part("index")).filter(|name| !name.is_empty());
    let wanted = wanted(&members, index)?;
    if wanted.is_empty() {
        return Err(Fault::new(
            400,
            "action_request_validation_exception",
            "Validation Failed: 1: no documents to get;",
        ));
    }
    if wanted.len() > DOCUMENTS_MAX {
        return Err(Fault::illegal(format!(
            "_mget of {} documents, at most {DOCUMENTS_MAX} are returned at once",
            wanted.len()
        )));
    }
    let mut docs = JsonArray::new();
    let (mut bytes, mut held) = (0, Vec::new());
    for WantedDocument { index, id, source } in wanted {
        let source = source.or_else(|| common.clone()).unwrap_or_default();
        let json = match service.indexes.get(&index, &call.caller).and_then(|open| {
            let found = found(&open, &id, &source)?;
            // As a text doubles.
            let bytes = 2 * found.json.len();
            held.push(open.index.reserve("the answer of _mget", bytes)?);
            Ok(found)
        }) {
            Ok(found) => found.json,
            Err(fault) => JsonObject::new()
                .put("_index", &index)
                .put("_id", &id)
                .put("error", &fault.json(false)["error"])
                .end(),
        };
        bytes += json.len();
        if bytes > ANSWER_BYTES_MAX {
            return Err(Fault::illegal(format!(
                "the documents of _mget have more than {ANSWER_BYTES_MAX} bytes: ask for fewer at once"
            )));
        }
        docs.push(&json);
    }
    Ok(Answer {
        held,
        ..Answer::json(200, JsonObject::new().raw("docs", &docs.end()).end())
    })
}

struct WantedDocument {
    index: String,
    id: String,
    source: Option<SourceChoice>,
}

fn wanted(members: &Members<'_>, index: Option<&str>) -> Outcome<Vec<WantedDocument>> {
    let no_index = || {
        Fault::new(
            400,
            "action_request_validation_exception",
            "Validation Failed: 1: index is missing for doc 0;",
        )
    };
    let id_of = |value: &Value| match value {
        Value::String(id) => Ok(id.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(members.misfit("_id", "a string", other)),
    };
    let list = |name: &str| match members.get(name) {
        None => Ok(&[][..]),
        Some(Value::Array(list)) => Ok(list.as_slice()),
        Some(other) => Err(members.misfit(name, "an array", other)),
    };
    let mut all = Vec::new();
    for id in list("ids")? {
        all.push(WantedDocument {
            index: index.ok_or_else(no_index)?.to_owned(),
            id: id_of(id)?,
            source: None,
        });
    }
    for doc in list("docs")? {
        let doc = Members::of("docs", doc)?;
        let known = ["_index", "_id", "_source", "routing", "_type"];
        doc.check(&known, &["stored_fields", "version", "version_type"])?;
        let id = doc.get("_id").ok_or_else(|| {
            Fault::new(
                400,
                "action_request_validation_exception",
                "Validation Failed: 1: id is missing for doc 0;",
            )
        })?;
        let of_doc = doc.text("_index")?.or(index);
        all.push(WantedDocument {
            index: of_doc.ok_or_else(no_index)?.to_owned(),
            id: id_of(id)?,
            source: doc.get("_source").map(SourceChoice::parse).transpose()?,
        });
    }
    if members.get("docs").is_none() && members.get("ids").is_none() {
        return Ok(Vec::new());
    }
    Ok(all)
}
