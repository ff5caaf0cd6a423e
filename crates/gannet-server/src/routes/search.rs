//! Searches.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::OpenIndex;
use crate::json::{JsonArray, JsonObject, parse_json};
use crate::searching::{SearchRequest, SearchedIndex};
use crate::service::Service;

/// Searches of one `_msearch`.
const SEARCHES_MAX: usize = 1_000;

/// Bytes of an answer of `_msearch`.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// `POST /{index}/_search`.
pub fn search(call: &Call, service: &Service) -> Outcome<Answer> {
    let request = SearchRequest::of_call(call)?;
    let ignores = call.flag("ignore_unavailable")?.unwrap_or(false);
    run(call.part("index"), ignores, &request, service)
}

fn run(
    expression: &str,
    ignores_missing: bool,
    request: &SearchRequest,
    service: &Service,
) -> Outcome<Answer> {
    let Some(open) = one_index(expression, ignores_missing, service)? else {
        return Ok(Answer::of(&nothing(request)));
    };
    let searched = SearchedIndex::new(&open, service.ends());
    crate::searching::search(&searched, request)
}

/// The index that an expression stands for, which is one, or none.
fn one_index(
    expression: &str,
    ignores_missing: bool,
    service: &Service,
) -> Outcome<Option<Arc<OpenIndex>>> {
    let names = service.indexes.matching(expression, ignores_missing)?;
    match names.as_slice() {
        [] => Ok(None),
        [name] => service.indexes.get(name).map(Some),
        several => Err(Fault::not_there(&format!(
            "a search of several indexes, as [{expression}] stands for {},",
            several.len()
        ))),
    }
}

/// The answer where there is no index.
fn nothing(request: &SearchRequest) -> Value {
    let mut answer = json!({
        "took": 0,
        "timed_out": false,
        "_shards": { "total": 0, "successful": 0, "skipped": 0, "failed": 0 },
        "hits": { "total": { "value": 0, "relation": "eq" }, "max_score": 0.0, "hits": [] },
    });
    if request.total_is_number {
        answer["hits"]["total"] = json!(0);
    }
    answer
}

/// `POST /{index}/_count`.
pub fn count(call: &Call, service: &Service) -> Outcome<Answer> {
    let request = SearchRequest::of_call(&Call {
        path: call.path.clone(),
        parts: call.parts.clone(),
        parameters: call.parameters.clone(),
        body: Default::default(),
    })?;
    let ignores = call.flag("ignore_unavailable")?.unwrap_or(false);
    let count = match one_index(call.part("index"), ignores, service)? {
        None => 0,
        Some(open) => {
            let searched = SearchedIndex::new(&open, service.ends());
            crate::searching::count(&searched, &call.json()?, request)?
        }
    };
    Ok(Answer::of(&json!({
        "count": count,
        "_shards": { "total": 1, "successful": 1, "skipped": 0, "failed": 0 },
    })))
}

/// `POST /_msearch`.
pub fn msearch(call: &Call, service: &Service) -> Outcome<Answer> {
    let start = Instant::now();
    let lines = call
        .body
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii);
    let mut lines: Vec<&[u8]> = lines.collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    if lines.is_empty() || !lines.len().is_multiple_of(2) {
        return Err(Fault::illegal(
            "The msearch request needs two lines for each search, a header and a body, and a newline [\\n] at its end",
        ));
    }
    if lines.len() / 2 > SEARCHES_MAX {
        return Err(Fault::illegal(format!(
            "_msearch of {} searches, at most {SEARCHES_MAX} are carried out at once",
            lines.len() / 2
        )));
    }
    let total_is_number = call.flag("rest_total_hits_as_int")?.unwrap_or(false);
    let mut responses = JsonArray::new();
    let (mut bytes, mut held) = (0, Vec::new());
    for pair in lines.chunks_exact(2) {
        let answered = one_of_many(
            call.part("index"),
            pair[0],
            pair[1],
            total_is_number,
            service,
        );
        let json = match answered {
            Ok(mut answer) => {
                held.append(&mut answer.held);
                with_status(&answer.body, 200)
            }
            Err(fault) => fault.json(false).to_string(),
        };
        bytes += json.len();
        if bytes > ANSWER_BYTES_MAX {
            return Err(Fault::illegal(format!(
                "the answers of _msearch have more than {ANSWER_BYTES_MAX} bytes: ask for less at once"
            )));
        }
        responses.push(&json);
    }
    let body = JsonObject::new()
        .put("took", &(start.elapsed().as_millis() as u64))
        .raw("responses", &responses.end())
        .end();
    Ok(Answer {
        held,
        ..Answer::json(200, body)
    })
}

/// An object of JSON with one more member.
fn with_status(object: &str, status: u16) -> String {
    let members = object.strip_suffix('}').unwrap_or(object);
    format!("{members},\"status\":{status}}}")
}

fn one_of_many(
    of_url: &str,
    header: &[u8],
    body: &[u8],
    total_is_number: bool,
    service: &Service,
) -> Outcome<Answer> {
    let header = parse_json(header)?;
    let header = crate::json::Members::of("msearch", &header)?;
    let known = [
        "index",
        "ignore_unavailable",
        "allow_no_indices",
        "expand_wildcards",
        "preference",
        "routing",
        "search_type",
        "request_cache",
        "allow_partial_search_results",
        "max_concurrent_shard_requests",
        "ccs_minimize_roundtrips",
    ];
    header.check(&known, &[])?;
    let index = header.texts("index")?.map(|names| names.join(","));
    let ignores = header.flag("ignore_unavailable")?.unwrap_or(false);
    let mut request = SearchRequest::parse(&parse_json(body)?)?;
    request.total_is_number = total_is_number;
    run(
        index.as_deref().unwrap_or(of_url),
        ignores,
        &request,
        service,
    )
}
