//! The hits of an answer in Elasticsearch's form, with those of their groups. Sources pass through
//! byte for byte.

use gannet::{DocumentVersion, Hit, Reservation, SearchResults, SortBy};
use serde_json::{Map, Value, json};

use super::condition::Condition;
use super::fetched::fetched;
use super::order::DocumentPlace;
use super::page::{Page, Targets};
use super::request::SearchRequest;
use super::sorting::sort_json;
use super::stand_ins::StandIns;
use crate::documents::sequence_number;
use crate::fault::{Fault, Outcome};
use crate::json::{JsonArray, JsonObject};

/// Bytes that a hit takes beside its source and its snippets.
const HIT_BYTES: usize = 256;

/// Hits as an answer has them: the value of the outer `hits`.
pub struct ShownHits {
    /// The object.
    pub json: String,
    /// The memory that they take.
    pub held: Vec<Reservation>,
}

/// Writes the hits of a page, within the memory budgets of their indexes.
pub fn shown_hits(
    targets: &Targets<'_>,
    request: &SearchRequest,
    page: &Page,
) -> Outcome<ShownHits> {
    let mut held = Vec::new();
    for (at, results) in &page.parts {
        held.push(targets.reserve(*at, "the answer of a search", answer_bytes(results))?);
    }
    let mut fields = Vec::new();
    for (at, results) in page.parts.iter().filter(|_| !request.values.is_empty()) {
        let (found, bytes) = targets.values_of(*at, &results.hits, &request.values)?;
        held.push(targets.reserve(*at, "the values of hits", 2 * bytes)?);
        fields.push(found);
    }
    let has_numbers = request.has_version || request.has_sequence;
    let mut versions = Vec::new();
    for (at, results) in page.parts.iter().filter(|_| has_numbers) {
        versions.push(targets.versions_of(*at, &results.hits)?);
    }
    let mut mappings = Vec::new();
    for (at, _) in page.parts.iter().filter(|_| !request.fetched.is_empty()) {
        mappings.push(targets.mapping(*at)?);
    }
    let mut stand_ins = Vec::new();
    for (at, _) in &page.parts {
        stand_ins.push(if request.keys.is_empty() {
            StandIns::default()
        } else {
            targets.stand_ins(*at, request)?
        });
    }
    let mut hits = JsonArray::new();
    for ((at, hit), (part, number)) in page.hits().zip(&page.order) {
        let fields = fields.get(*part).and_then(|hits| hits.get(*number));
        let mut fields = fields.cloned().unwrap_or_default();
        if let (Some(mapping), Some(source)) = (mappings.get(*part), &hit.source) {
            fields.extend(fetched(mapping, source, &request.fetched)?);
        }
        let version = versions.get(*part).and_then(|hits| hits[*number]);
        let head = head_of(&page.names[at], &hit.id, request, version);
        let inner = inner_hits(targets, request, hit, &mut held)?;
        let shown = HitParts {
            head,
            fields,
            sort: sort_of(request, at, hit, &stand_ins[*part]),
            inner,
        };
        hits.push(&hit_json(shown, &page.names[at], request, hit)?);
    }
    let mut json = JsonObject::new();
    if request.counts {
        let relation = if page.is_exact { "eq" } else { "gte" };
        json = if request.total_is_number {
            json.put("total", &page.total)
        } else {
            json.put(
                "total",
                &json!({ "value": page.total, "relation": relation }),
            )
        };
    }
    let max_score = if page.names.is_empty() {
        Some(0.0)
    } else {
        page.max_score
            .filter(|score| request.keys.is_empty() && !score.is_nan())
    };
    let json = json
        .put("max_score", &max_score)
        .raw("hits", &hits.end())
        .end();
    Ok(ShownHits { json, held })
}

/// The hits that the group of a hit shows beside its best, if any are wanted.
fn inner_hits(
    targets: &Targets<'_>,
    request: &SearchRequest,
    hit: &Hit,
    held: &mut Vec<Reservation>,
) -> Outcome<Option<String>> {
    let (Some(field), false) = (&request.collapse, request.inner_hits.is_empty()) else {
        return Ok(None);
    };
    let field = field.clone();
    let condition = match sort_json(std::slice::from_ref(&hit.group), &[]).pop() {
        None | Some(Value::Null) => Condition::Missing { field },
        Some(value) => Condition::Value { field, value },
    };
    let mut json = JsonObject::new();
    for asked in &request.inner_hits {
        let search = SearchRequest {
            post_filter: request.post_filter.clone(),
            ..asked.within(request, vec![condition.clone()], false)
        };
        let page = targets.page(&search)?;
        let mut shown = shown_hits(targets, &search, &page)?;
        held.append(&mut shown.held);
        let hits = JsonObject::new().raw("hits", &shown.json).end();
        json = json.raw(&asked.name, &hits);
    }
    Ok(Some(json.end()))
}

/// The bytes of hits in an answer, as a text doubles.
pub fn answer_bytes(results: &SearchResults) -> usize {
    let bytes = |hit: &Hit| {
        let snippets = hit.snippets.iter().flat_map(|(_, texts)| texts);
        let snippets: usize = snippets.map(|text| 2 * text.len()).sum();
        HIT_BYTES + hit.source.as_ref().map_or(0, Vec::len) + snippets
    };
    2 * results.hits.iter().map(bytes).sum::<usize>()
}

/// The members of a hit that say which document it is.
fn head_of(
    name: &str,
    id: &str,
    request: &SearchRequest,
    version: Option<DocumentVersion>,
) -> JsonObject {
    let mut head = JsonObject::new().put("_index", name).put("_id", id);
    if let Some(found) = version.filter(|_| request.has_version) {
        head = head.put("_version", &found.version);
    }
    if let Some(found) = version.filter(|_| request.has_sequence) {
        head = head
            .put("_seq_no", &sequence_number(found.sequence))
            .put("_primary_term", &1);
    }
    head
}

/// The parts of a hit that are known beside it.
struct HitParts {
    head: JsonObject,
    /// The values of its fields.
    fields: Map<String, Value>,
    /// Its values by the keys of the order.
    sort: Vec<Value>,
    /// The hits of its group.
    inner: Option<String>,
}

fn hit_json(parts: HitParts, name: &str, request: &SearchRequest, hit: &Hit) -> Outcome<String> {
    let HitParts {
        head,
        fields: mut shown,
        sort,
        inner,
    } = parts;
    if let Some(error) = &hit.error {
        return Err(Fault::from(error.clone()).of_index(name));
    }
    let has_score = !request.is_by_place && request.shows_scores() && !hit.score.is_nan();
    let mut json = head.put("_score", &has_score.then_some(hit.score));
    if let Some(source) = &hit.source
        && let Some(source) = request.source.apply(source)?
    {
        json = json.raw("_source", &source);
    }
    if let Some(field) = &request.collapse
        && hit.group.is_some()
    {
        let group = sort_json(std::slice::from_ref(&hit.group), &[]);
        shown.entry(field.clone()).or_insert_with(|| json!(group));
    }
    if !shown.is_empty() {
        json = json.put("fields", &shown);
    }
    let snippets = hit.snippets.iter().filter(|(_, texts)| !texts.is_empty());
    let snippets: Map<String, Value> = snippets
        .map(|(field, texts)| (field.clone(), json!(texts)))
        .collect();
    if !snippets.is_empty() {
        json = json.put("highlight", &snippets);
    }
    if !sort.is_empty() {
        json = json.put("sort", &sort);
    } else if request.shows_sort && !request.is_by_place {
        json = json.put("sort", &[hit.score]);
    }
    if let Some(inner) = inner {
        json = json.raw("inner_hits", &inner);
    }
    Ok(json.end())
}

/// A score as a double that is written with the digits of the score alone.
fn with_own_digits(score: f32) -> f64 {
    score.to_string().parse().unwrap_or(f64::from(score))
}

/// The values of a hit by the keys of the request; a place is one among all indexes.
fn sort_of(request: &SearchRequest, at: usize, hit: &Hit, stand_ins: &StandIns) -> Vec<Value> {
    let place = DocumentPlace {
        index: at,
        doc: hit.doc,
    };
    if request.is_by_place {
        return vec![json!(place.number())];
    }
    let mut values = sort_json(&hit.sort, &request.sort_formats);
    for (at, value) in values
        .iter_mut()
        .enumerate()
        .filter(|(_, value)| value.is_null())
    {
        *value = stand_ins.shown(at, request.sort_formats.get(at).and_then(Option::as_ref));
    }
    for (key, value) in request.keys.iter().zip(&mut values) {
        if key.by == SortBy::Score && !hit.score.is_nan() {
            *value = json!(with_own_digits(hit.score));
        }
        if key.by == SortBy::Doc {
            *value = json!(place.number());
        }
    }
    values
}
