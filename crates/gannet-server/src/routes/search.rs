//! Searches.

use std::time::Instant;

use serde_json::json;

use super::contexts::begin_scroll;
use super::place::Where;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call, IndexOptions};
use crate::json::{JsonArray, JsonObject, Members, parse_json};
use crate::searching::{SearchRequest, Targets, search_answer, shards};
use crate::service::Service;

/// Searches of one `_msearch`.
const SEARCHES_MAX: usize = 1_000;

/// Bytes of an answer of `_msearch`.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// `POST /{index}/_search`.
pub fn search(call: &Call, service: &Service) -> Outcome<Answer> {
    let request = SearchRequest::of_call(call)?;
    match call.parameter("scroll") {
        Some(keep) => begin_scroll(call, keep, request, service),
        None => run(&Where::of_call(call)?, &request, service),
    }
}

fn run(place: &Where<'_>, request: &SearchRequest, service: &Service) -> Outcome<Answer> {
    let start = Instant::now();
    let took = || start.elapsed().as_millis() as u64;
    let Some((id, keep)) = &request.pit else {
        return place.search(service, |targets| {
            let page = targets.page(request)?;
            search_answer(targets, request, &page, None, took())
        });
    };
    if !place.expression.is_empty() {
        return Err(Fault::new(
            400,
            "action_request_validation_exception",
            "Validation Failed: 1: [indices] cannot be used with point in time. Do not specify any index with point in time.;",
        ));
    }
    let context = service.contexts.get(id, *keep, place.caller)?;
    let targets = Targets::held(&context.searched);
    let page = targets.page(request)?;
    search_answer(&targets, request, &page, Some(("pit_id", id)), took())
}

/// `POST /{index}/_count`.
pub fn count(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("count", &body)?;
    members.check(&["query"], &[])?;
    let request = SearchRequest {
        query: members.get("query").cloned(),
        ..SearchRequest::of_call(&call.without_body())?
    };
    let place = Where::of_call(call)?;
    let (count, indexes) = place.search(service, |targets| {
        Ok((targets.total(&request)?, targets.count()))
    })?;
    Ok(Answer::of(
        &json!({ "count": count, "_shards": shards(indexes) }),
    ))
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
    // As in Elasticsearch a search that cannot be read is an error of all. They are read once more
    // when they are carried out, and not kept until then.
    for pair in lines.chunks_exact(2) {
        match AskedSearch::of(call, pair[0], pair[1]) {
            Err(fault) if !fault.is_not_there() => return Err(fault),
            _ => {}
        }
    }
    let mut responses = JsonArray::new();
    let (mut bytes, mut held) = (0, Vec::new());
    for pair in lines.chunks_exact(2) {
        let asked = AskedSearch::of(call, pair[0], pair[1]);
        let json = match asked.and_then(|search| search.run(call, service)) {
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

/// One of several searches.
struct AskedSearch {
    index: Option<String>,
    options: IndexOptions,
    request: SearchRequest,
}

impl AskedSearch {
    /// Reads the two lines of a search.
    fn of(call: &Call, header: &[u8], body: &[u8]) -> Outcome<AskedSearch> {
        let header = parse_json(header)?;
        let header = Members::of("msearch", &header)?;
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
        let mut request = SearchRequest::parse(&parse_json(body)?)?;
        request.shape_answer(call)?;
        Ok(AskedSearch {
            index,
            options: IndexOptions::of_call(call)?.with(&header)?,
            request,
        })
    }

    fn run(&self, call: &Call, service: &Service) -> Outcome<Answer> {
        let place = Where {
            expression: self.index.as_deref().unwrap_or(call.part("index")),
            options: self.options,
            caller: &call.caller,
        };
        run(&place, &self.request, service)
    }
}
