//! The answer of a search in Elasticsearch's form. Sources pass through byte for byte.

use serde_json::{Value, json};

use super::hits::{ShownHits, shown_hits};
use super::page::{Page, Targets};
use super::request::SearchRequest;
use super::top_hits::with_top_hits;
use crate::fault::Outcome;
use crate::http::Answer;
use crate::json::JsonObject;

/// The shards that were asked: one of each index.
pub fn shards(count: usize) -> Value {
    json!({ "total": count, "successful": count, "skipped": 0, "failed": 0 })
}

/// The member that names a scroll or a point in time in an answer, and its value.
pub type Context<'a> = Option<(&'a str, &'a str)>;

/// Writes the answer, within the memory budgets of the indexes of the hits.
pub fn search_answer(
    targets: &Targets<'_>,
    request: &SearchRequest,
    page: &Page,
    context: Context<'_>,
    took: u64,
) -> Outcome<Answer> {
    let ShownHits { json, mut held } = shown_hits(targets, request, page)?;
    let mut body = JsonObject::new();
    if let Some((name, value)) = context {
        body = body.put(name, value);
    }
    let body = body
        .put("took", &took)
        .put("timed_out", &false)
        .put("_shards", &shards(targets.count()))
        .raw("hits", &json);
    let body = match &page.aggregations {
        None => body.end(),
        Some(aggregations) if request.top_hits.is_empty() => {
            body.put("aggregations", aggregations).end()
        }
        Some(aggregations) => {
            let (text, mut more) = with_top_hits(targets, request, aggregations)?;
            held.append(&mut more);
            body.raw("aggregations", &text).end()
        }
    };
    Ok(Answer {
        held,
        warnings: page.warnings.clone(),
        ..Answer::json(200, body)
    })
}
