//! `top_hits` in a request: they are taken out of the tree of aggregations.

use serde_json::{Map, Value};

use super::buckets::BucketKind;
use super::inner::{InnerRequest, NestedSearch};
use crate::fault::{Fault, Outcome};

/// An aggregation that is `top_hits`, or has some below it.
#[derive(Clone, Debug)]
pub struct AskedAggregation<S> {
    /// Its name.
    pub name: String,
    /// The kind.
    pub kind: AskedKind<S>,
}

/// The kind of such an aggregation.
#[derive(Clone, Debug)]
pub enum AskedKind<S> {
    /// The hits of the bucket above.
    Hits(Box<InnerRequest<S>>),
    /// Buckets, and what is below each of them.
    Buckets(Box<BucketKind>, Vec<AskedAggregation<S>>),
}

/// Takes `top_hits` out of aggregations: gives the aggregations that are left, and those that were
/// taken out with all above them.
pub fn take_top_hits<S: NestedSearch>(
    aggs: &Value,
    min_score: Option<&Value>,
) -> Outcome<(Value, Vec<AskedAggregation<S>>)> {
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
