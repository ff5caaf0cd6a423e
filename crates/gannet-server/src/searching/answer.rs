//! The answer of a search in Elasticsearch's form. Sources pass through byte for byte.

use gannet::{Hit, Reservation, SearchResults};
use serde_json::{Map, Value, json};

use super::request::SearchRequest;
use crate::fault::{Fault, Outcome};
use crate::http::Answer;
use crate::indexes::OpenIndex;
use crate::json::{JsonArray, JsonObject};

/// Bytes that a hit takes beside its source and its snippets.
const HIT_BYTES: usize = 256;

/// The one shard that an index has.
pub fn one_shard() -> Value {
    json!({ "total": 1, "successful": 1, "skipped": 0, "failed": 0 })
}

/// Writes the answer, within the memory budget of its index.
pub fn search_answer(
    open: &OpenIndex,
    request: &SearchRequest,
    results: &SearchResults,
) -> Outcome<Answer> {
    let held = reserve(open, results)?;
    let mut hits = JsonArray::new();
    for hit in &results.hits {
        hits.push(&hit_json(open, request, hit)?);
    }
    let max_score = results.hits.first().map(|hit| hit.score);
    let mut inner = JsonObject::new();
    if request.counts {
        let total = json!({ "value": results.total, "relation": relation(results) });
        inner = if request.total_is_number {
            inner.put("total", &results.total)
        } else {
            inner.put("total", &total)
        };
    }
    // The first hit of a page is not the best of all.
    let max_score = max_score.filter(|_| request.from == 0);
    let inner = inner
        .put("max_score", &max_score)
        .raw("hits", &hits.end())
        .end();
    let body = JsonObject::new()
        .put("took", &(results.took.as_millis() as u64))
        .put("timed_out", &false)
        .put("_shards", &one_shard())
        .raw("hits", &inner)
        .end();
    let cut = results.cut_expansions.iter().map(ToString::to_string);
    Ok(Answer {
        held: vec![held],
        warnings: cut.collect(),
        ..Answer::json(200, body)
    })
}

/// Patterns of which not all terms were searched make a total a guess.
fn relation(results: &SearchResults) -> &'static str {
    if results.total_is_exact && results.cut_expansions.is_empty() {
        "eq"
    } else {
        "gte"
    }
}

fn reserve(open: &OpenIndex, results: &SearchResults) -> Outcome<Reservation> {
    let bytes = |hit: &Hit| {
        let snippets = hit.snippets.iter().flat_map(|(_, texts)| texts);
        let snippets: usize = snippets.map(|text| 2 * text.len()).sum();
        HIT_BYTES + hit.source.as_ref().map_or(0, Vec::len) + snippets
    };
    let bytes: usize = results.hits.iter().map(bytes).sum();
    // As a text doubles.
    let reserved = open.index.reserve("the answer of a search", 2 * bytes);
    reserved.map_err(|error| Fault::from(error).of_index(&open.name))
}

fn hit_json(open: &OpenIndex, request: &SearchRequest, hit: &Hit) -> Outcome<String> {
    if let Some(error) = &hit.error {
        return Err(Fault::from(error.clone()).of_index(&open.name));
    }
    let mut json = JsonObject::new()
        .put("_index", &open.name)
        .put("_id", &hit.id)
        .put("_score", &hit.score);
    if let Some(source) = &hit.source
        && let Some(source) = request.source.apply(source)?
    {
        json = json.raw("_source", &source);
    }
    let snippets = hit.snippets.iter().filter(|(_, texts)| !texts.is_empty());
    let snippets: Map<String, Value> = snippets
        .map(|(field, texts)| (field.clone(), json!(texts)))
        .collect();
    if !snippets.is_empty() {
        json = json.put("highlight", &snippets);
    }
    if request.shows_sort {
        json = json.put("sort", &[hit.score]);
    }
    Ok(json.end())
}
