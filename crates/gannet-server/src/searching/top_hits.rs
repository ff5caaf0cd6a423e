//! `top_hits`: the best hits of each bucket. They are taken out of the tree of aggregations, and
//! once its buckets are known, each is searched for its hits. So they are exact, in any order, and
//! scored and shown as all hits are.

use gannet::Reservation;
use serde_json::{Map, Value, json};

use super::answer::shown_hits;
use super::buckets::BucketKind;
use super::condition::Condition;
use super::inner::InnerRequest;
use super::page::Targets;
use super::request::SearchRequest;
use crate::fault::{Fault, Outcome};
use crate::json::{JsonArray, JsonObject};

/// Buckets of one answer that have hits.
const BUCKETS_MAX: usize = 1_000;

/// An aggregation that is `top_hits`, or has some below it.
#[derive(Clone, Debug)]
pub struct AskedAggregation {
    name: String,
    kind: AskedKind,
}

#[derive(Clone, Debug)]
enum AskedKind {
    Hits(Box<InnerRequest>),
    Buckets(Box<BucketKind>, Vec<AskedAggregation>),
}

/// Takes `top_hits` out of aggregations: gives the aggregations that are left, and those that were
/// taken out with all above them.
pub fn take_top_hits(
    aggs: &Value,
    min_score: Option<&Value>,
) -> Outcome<(Value, Vec<AskedAggregation>)> {
    let Value::Object(all) = aggs else {
        return Ok((aggs.clone(), Vec::new()));
    };
    let (mut left, mut asked) = (Map::new(), Vec::new());
    for (name, value) in all {
        let members = value.as_object();
        let mut kinds = members
            .into_iter()
            .flatten()
            .filter(|(member, _)| !is_around(member));
        let (Some(members), Some((kind, parameters))) = (members, kinds.next()) else {
            left.insert(name.clone(), value.clone());
            continue;
        };
        if kind == "top_hits" {
            check_alone(name, members)?;
            let hits = InnerRequest::top_hits(name, parameters, min_score)?;
            asked.push(AskedAggregation {
                name: name.clone(),
                kind: AskedKind::Hits(Box::new(hits)),
            });
            continue;
        }
        let mut members = members.clone();
        for below in ["aggs", "aggregations"] {
            let Some(children) = members.get(below) else {
                continue;
            };
            let (others, taken) = take_top_hits(children, min_score)?;
            if taken.is_empty() {
                continue;
            }
            let buckets = BucketKind::parse(name, kind, parameters)?;
            asked.push(AskedAggregation {
                name: name.clone(),
                kind: AskedKind::Buckets(Box::new(buckets), taken),
            });
            members.insert(below.to_owned(), others);
        }
        left.insert(name.clone(), Value::Object(members));
    }
    Ok((Value::Object(left), asked))
}

/// Returns true for members that stand beside the kind of an aggregation.
fn is_around(member: &str) -> bool {
    matches!(member, "aggs" | "aggregations" | "meta")
}

fn check_alone(name: &str, members: &Map<String, Value>) -> Outcome<()> {
    if members.contains_key("meta") {
        return Err(Fault::query_not_there(&format!("[meta] of [{name}]")));
    }
    let below = ["aggs", "aggregations"].map(|below| members.get(below)?.as_object());
    if below.into_iter().flatten().any(|below| !below.is_empty()) {
        return Err(Fault::new(
            400,
            "aggregation_initialization_exception",
            format!("Aggregator [{name}] of type [top_hits] cannot accept sub-aggregations"),
        ));
    }
    Ok(())
}

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
        asked: &[AskedAggregation],
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
        children: &[AskedAggregation],
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
        children: &[AskedAggregation],
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
    fn hits(&mut self, asked: &InnerRequest, bucket: &Bucket) -> Outcome<String> {
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
