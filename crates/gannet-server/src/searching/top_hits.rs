//! `top_hits`: the best hits of each bucket. Once the buckets are known, each is searched for its
//! hits. So they are exact, in any order, and scored and shown as all hits are.

use gannet::Reservation;
use serde_json::{Map, Value, json};

use super::asked::{AskedAggregation, AskedKind};
use super::buckets::BucketKind;
use super::condition::Condition;
use super::hits::shown_hits;
use super::inner::InnerRequest;
use super::page::Targets;
use super::request::SearchRequest;
use crate::fault::{Fault, Outcome};
use crate::json::{JsonArray, JsonObject};

/// Buckets of one answer that have hits.
const BUCKETS_MAX: usize = 1_000;

/// The value of `aggregations` with the hits of its buckets, and the memory that they take.
pub fn with_top_hits(
    targets: &Targets<'_>,
    request: &SearchRequest,
    aggregations: &Value,
) -> Outcome<(String, Vec<Reservation>)> {
    let mut filler = Filler {
        targets,
        request,
        held: Vec::new(),
        searches: 0,
    };
    let all = Bucket {
        conditions: Vec::new(),
        is_of_all: false,
        is_empty: false,
    };
    let none = Map::new();
    let members = aggregations.as_object().unwrap_or(&none);
    let text = filler.members(&request.top_hits, members, &all)?;
    Ok((text, filler.held))
}

/// The documents of a bucket.
struct Bucket {
    conditions: Vec<Condition>,
    /// Set if they are of all documents, whatever the query finds.
    is_of_all: bool,
    is_empty: bool,
}

/// Writes an answer with hits in it.
struct Filler<'a> {
    targets: &'a Targets<'a>,
    request: &'a SearchRequest,
    held: Vec<Reservation>,
    searches: usize,
}

impl Filler<'_> {
    /// Writes the members of a bucket, and its hits behind them.
    fn members(
        &mut self,
        asked: &[AskedAggregation<SearchRequest>],
        found: &Map<String, Value>,
        bucket: &Bucket,
    ) -> Outcome<String> {
        let mut json = JsonObject::new();
        for (name, value) in found {
            let plain = match name.split_once('#') {
                Some((_, plain)) if self.request.has_types => plain,
                _ => name.as_str(),
            };
            let below = asked.iter().find_map(|own| match &own.kind {
                AskedKind::Buckets(kind, children) if own.name == plain => Some((kind, children)),
                _ => None,
            });
            json = match below {
                None => json.put(name, value),
                Some((kind, children)) => {
                    json.raw(name, &self.buckets(kind, children, value, bucket)?)
                }
            };
        }
        for own in asked {
            let AskedKind::Hits(hits) = &own.kind else {
                continue;
            };
            let name = if self.request.has_types {
                format!("top_hits#{}", own.name)
            } else {
                own.name.clone()
            };
            json = json.raw(&name, &self.hits(hits, bucket)?);
        }
        Ok(json.end())
    }

    /// Writes the answer of an aggregation of buckets.
    fn buckets(
        &mut self,
        kind: &BucketKind,
        children: &[AskedAggregation<SearchRequest>],
        answer: &Value,
        above: &Bucket,
    ) -> Outcome<String> {
        let none = Map::new();
        let answer = answer.as_object().unwrap_or(&none);
        let is_single = matches!(
            kind,
            BucketKind::Filter(_) | BucketKind::Missing(_) | BucketKind::Global
        );
        if is_single {
            return self.bucket(kind, "", children, answer, above);
        }
        let mut json = JsonObject::new();
        for (name, value) in answer {
            json = match (name.as_str(), value) {
                ("buckets", Value::Array(list)) => {
                    let mut written = JsonArray::new();
                    for (at, bucket) in list.iter().enumerate() {
                        let bucket = bucket.as_object().unwrap_or(&none);
                        written.push(&self.bucket(
                            kind,
                            &at.to_string(),
                            children,
                            bucket,
                            above,
                        )?);
                    }
                    json.raw(name, &written.end())
                }
                ("buckets", Value::Object(named)) => {
                    let mut written = JsonObject::new();
                    for (key, bucket) in named {
                        let bucket = bucket.as_object().unwrap_or(&none);
                        let text = self.bucket(kind, key, children, bucket, above)?;
                        written = written.raw(key, &text);
                    }
                    json.raw(name, &written.end())
                }
                (name, value) => json.put(name, value),
            };
        }
        Ok(json.end())
    }

    fn bucket(
        &mut self,
        kind: &BucketKind,
        name: &str,
        children: &[AskedAggregation<SearchRequest>],
        found: &Map<String, Value>,
        above: &Bucket,
    ) -> Outcome<String> {
        let mut conditions = above.conditions.clone();
        conditions.extend(kind.conditions(name, found)?);
        let bucket = Bucket {
            conditions,
            is_of_all: above.is_of_all || matches!(kind, BucketKind::Global),
            is_empty: found.get("doc_count") == Some(&json!(0)),
        };
        self.members(children, found, &bucket)
    }

    /// Writes the hits of a bucket.
    fn hits(&mut self, asked: &InnerRequest<SearchRequest>, bucket: &Bucket) -> Outcome<String> {
        if bucket.is_empty {
            return Ok(no_hits(self.request.total_is_number).to_string());
        }
        self.searches += 1;
        if self.searches > BUCKETS_MAX {
            return Err(Fault::illegal(format!(
                "[top_hits] of more than {BUCKETS_MAX} buckets: ask for fewer buckets, or for a page of them by [composite]"
            )));
        }
        let search = asked.within(self.request, bucket.conditions.clone(), bucket.is_of_all);
        let page = self.targets.page(&search)?;
        let mut shown = shown_hits(self.targets, &search, &page)?;
        self.held.append(&mut shown.held);
        Ok(JsonObject::new().raw("hits", &shown.json).end())
    }
}

/// The hits of no documents.
fn no_hits(total_is_number: bool) -> Value {
    let total = if total_is_number {
        json!(0)
    } else {
        json!({ "value": 0, "relation": "eq" })
    };
    json!({ "hits": { "total": total, "max_score": null, "hits": [] } })
}
