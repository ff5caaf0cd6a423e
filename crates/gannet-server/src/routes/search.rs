//! Searches.

use std::time::Instant;

use serde_json::json;

use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call, Caller, IndexOptions, tree_bytes};
use crate::json::{JsonArray, JsonObject, Members, parse_json};
use crate::searching::{
    Context, Scroll, SearchRequest, SearchedIndex, Targets, duration, search_answer, shards,
};
use crate::service::Service;

/// Searches of one `_msearch`.
const SEARCHES_MAX: usize = 1_000;

/// Bytes of an answer of `_msearch`.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The indexes that a search is about.
pub struct Where<'a> {
    /// The expression for them.
    pub expression: &'a str,
    /// The way in which it stands for them.
    pub options: IndexOptions,
    /// Who asks.
    pub caller: &'a Caller,
}

impl Where<'_> {
    /// Those that a request names.
    pub fn of_call(call: &Call) -> Outcome<Where<'_>> {
        Ok(Where {
            expression: call.part("index"),
            options: IndexOptions::of_call(call)?,
            caller: &call.caller,
        })
    }

    /// The names of the indexes.
    pub fn names(&self, service: &Service) -> Outcome<Vec<String>> {
        service
            .indexes
            .resolve(self.expression, self.options, self.caller)
    }

    /// Has a function search them.
    pub fn search<T>(
        &self,
        service: &Service,
        act: impl FnOnce(&Targets<'_>) -> Outcome<T>,
    ) -> Outcome<T> {
        let open = |name: &str| {
            let open = service.indexes.get(name, self.caller)?;
            Ok(SearchedIndex::new(open, service.ends()))
        };
        // The other half is left for other searches.
        let at_once = (service.indexes.open_most() / 2).max(1);
        act(&Targets::new(self.names(service)?, at_once, &open)?)
    }

    /// The states of them as they are now, to be kept.
    pub fn fixed(&self, service: &Service) -> Outcome<Vec<SearchedIndex>> {
        let names = self.names(service)?;
        let states = names.iter().map(|name| {
            let open = service.indexes.get(name, self.caller)?;
            Ok(SearchedIndex::new(open, service.ends()).fixed())
        });
        states.collect()
    }
}

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

fn begin_scroll(
    call: &Call,
    keep: &str,
    request: SearchRequest,
    service: &Service,
) -> Outcome<Answer> {
    let rejected = |what: &str| {
        let reason = format!("Validation Failed: 1: {what};");
        Err(Fault::new(
            400,
            "action_request_validation_exception",
            reason,
        ))
    };
    if request.from > 0 {
        return rejected("using [from] is not allowed in a scroll context");
    }
    if request.size == 0 {
        return rejected("[size] cannot be [0] in a scroll context");
    }
    if request.pit.is_some() || request.after.is_some() {
        return rejected(
            "using [point in time] or [search_after] is not allowed in a scroll context",
        );
    }
    let keep = duration("scroll", keep)?;
    let searched = Where::of_call(call)?.fixed(service)?;
    let (mut request, bytes) = (request, tree_bytes(&call.body));
    let memory = match searched.first() {
        Some(first) => Some(first.open.index.reserve("the search of a scroll", bytes)?),
        None => {
            // Nothing is asked, whatever it is.
            request.query = None;
            None
        }
    };
    let context = Context {
        searched,
        _memory: memory,
        scroll: Some(std::sync::Mutex::new(Scroll {
            request,
            total: None,
            is_done: false,
        })),
    };
    let id = service.contexts.add(context, keep, &call.caller)?;
    let answered = next_page(&id, None, call, service);
    if answered.is_err() {
        service.contexts.remove(Some(&[&id]), &call.caller);
    }
    answered
}

/// `POST /_search/scroll`.
pub fn scroll(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("search_scroll_request", &body)?;
    members.check(&["scroll", "scroll_id"], &[])?;
    let of_path = Some(call.part("scroll_id")).filter(|id| !id.is_empty());
    let id = match members.text("scroll_id")? {
        Some(id) => Some(id),
        None => of_path.or(call.parameter("scroll_id")),
    };
    let id = id.ok_or_else(|| {
        let reason = "Validation Failed: 1: scrollId is missing;";
        Fault::new(400, "action_request_validation_exception", reason)
    })?;
    let keep = members.text("scroll")?.or(call.parameter("scroll"));
    let keep = keep.map(|text| duration("scroll", text)).transpose()?;
    next_page(id, keep, call, service)
}

fn next_page(
    id: &str,
    keep: Option<std::time::Duration>,
    call: &Call,
    service: &Service,
) -> Outcome<Answer> {
    let start = Instant::now();
    let context = service.contexts.get(id, keep, &call.caller)?;
    let missing = || Fault::illegal(format!("[{id}] is a point in time, and no scroll"));
    let scroll = context.scroll.as_ref().ok_or_else(missing)?;
    let mut scroll = scroll
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let targets = Targets::held(&context.searched);
    let mut request = scroll.request.clone();
    if scroll.is_done {
        request.size = 0;
    } else if !request.is_by_place {
        let left = gannet::SearchOptions::RANKED_MAX - request.from;
        if left == 0 {
            return Err(Fault::illegal(format!(
                "a scroll in the order of scores has {} hits at most: give [sort] by [_doc] for all",
                request.from
            )));
        }
        request.size = request.size.min(left);
    }
    let mut page = targets.page(&request)?;
    if let Some((total, is_exact)) = scroll.total {
        (page.total, page.is_exact) = (total, is_exact);
        request.counts = true;
    } else if request.counts {
        scroll.total = Some((page.total, page.is_exact));
    }
    let took = start.elapsed().as_millis() as u64;
    request.total_is_number |= call.flag("rest_total_hits_as_int")?.unwrap_or(false);
    let named = Some(("_scroll_id", id));
    let answer = search_answer(&targets, &request, &page, named, took)?;
    if !scroll.is_done {
        let (hits, last) = (page.order.len(), page.last());
        scroll.pass(request.size, hits, last);
    }
    Ok(answer)
}

/// `DELETE /_search/scroll`.
pub fn end_scroll(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("clear_scroll_request", &body)?;
    members.check(&["scroll_id"], &[])?;
    let of_path = call
        .part("scroll_id")
        .split(',')
        .filter(|id| !id.is_empty());
    let mut ids: Vec<&str> = of_path.collect();
    ids.extend(members.texts("scroll_id")?.unwrap_or_default());
    if ids.is_empty() {
        let reason = "Validation Failed: 1: no scroll ids specified;";
        return Err(Fault::new(
            400,
            "action_request_validation_exception",
            reason,
        ));
    }
    let wanted = (ids != ["_all"]).then_some(ids.as_slice());
    let freed = service.contexts.remove(wanted, &call.caller);
    let status = if freed == 0 && wanted.is_some() {
        404
    } else {
        200
    };
    Ok(Answer {
        status,
        ..Answer::of(&json!({ "succeeded": true, "num_freed": freed }))
    })
}

/// `POST /{index}/_pit`.
pub fn open_pit(call: &Call, service: &Service) -> Outcome<Answer> {
    let keep = call.parameter("keep_alive").ok_or_else(|| {
        let reason = "Validation Failed: 1: [keep_alive] is not specified;";
        Fault::new(400, "action_request_validation_exception", reason)
    })?;
    let keep = duration("keep_alive", keep)?;
    let searched = Where::of_call(call)?.fixed(service)?;
    let count = searched.len();
    let context = Context {
        searched,
        _memory: None,
        scroll: None,
    };
    let id = service.contexts.add(context, keep, &call.caller)?;
    Ok(Answer::of(&json!({ "id": id, "_shards": shards(count) })))
}

/// `DELETE /_pit`.
pub fn close_pit(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("close_point_in_time", &body)?;
    members.check(&["id"], &[])?;
    let id = members
        .text("id")?
        .ok_or_else(|| Fault::parsing("[close_point_in_time] needs an [id]"))?;
    let freed = service.contexts.remove(Some(&[id]), &call.caller);
    Ok(Answer {
        status: if freed == 0 { 404 } else { 200 },
        ..Answer::of(&json!({ "succeeded": freed > 0, "num_freed": freed }))
    })
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
    let mut responses = JsonArray::new();
    let (mut bytes, mut held) = (0, Vec::new());
    for pair in lines.chunks_exact(2) {
        let json = match one_of_many(call, pair[0], pair[1], service) {
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

fn one_of_many(call: &Call, header: &[u8], body: &[u8], service: &Service) -> Outcome<Answer> {
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
    request.total_is_number = call.flag("rest_total_hits_as_int")?.unwrap_or(false);
    let place = Where {
        expression: index.as_deref().unwrap_or(call.part("index")),
        options: IndexOptions::of_call(call)?.with(&header)?,
        caller: &call.caller,
    };
    run(&place, &request, service)
}
