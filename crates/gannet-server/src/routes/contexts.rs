//! Searches page by page in one state: scrolls and points in time.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::place::Where;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call, tree_bytes};
use crate::json::Members;
use crate::searching::{Context, Scroll, SearchRequest, Targets, duration, search_answer, shards};
use crate::service::Service;

/// A search whose state is kept for its next pages.
pub fn begin_scroll(
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
    if request.collapse.is_some() {
        return rejected("cannot use `collapse` in a scroll context");
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
        scroll: Some(Mutex::new(Scroll {
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

fn next_page(id: &str, keep: Option<Duration>, call: &Call, service: &Service) -> Outcome<Answer> {
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
    request.shape_answer(call)?;
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
    let body = call.json()?;
    Members::of("open_point_in_time", &body)?.check(&[], &["index_filter"])?;
    let (id, count) = open(call, service)?;
    Ok(Answer::of(&json!({ "id": id, "_shards": shards(count) })))
}

/// `POST /{index}/_search/point_in_time`, as OpenSearch has it.
pub fn open_point_in_time(call: &Call, service: &Service) -> Outcome<Answer> {
    let (id, count) = open(call, service)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Ok(Answer::of(&json!({
        "pit_id": id,
        "_shards": shards(count),
        "creation_time": now.map_or(0, |now| now.as_millis() as u64),
    })))
}

/// Keeps the state of indexes; gives its name, and how many they are.
fn open(call: &Call, service: &Service) -> Outcome<(String, usize)> {
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
    Ok((id, count))
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

/// `DELETE /_search/point_in_time`, as OpenSearch has it.
pub fn close_points_in_time(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("delete_pit", &body)?;
    members.check(&["pit_id"], &[])?;
    let ids = members
        .texts("pit_id")?
        .ok_or_else(|| Fault::parsing("[delete_pit] needs [pit_id]"))?;
    let closed = ids.into_iter().map(|id| {
        let freed = service.contexts.remove(Some(&[id]), &call.caller);
        json!({ "pit_id": id, "successful": freed > 0 })
    });
    Ok(Answer::of(
        &json!({ "pits": closed.collect::<Vec<Value>>() }),
    ))
}
