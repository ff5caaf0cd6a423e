//! The figures and notes of an answer beside its hits.

use std::time::Duration;

use gannet::diagnostics::{IoCounts, PlanReport};
use gannet::{Query, SearchOptions, SearchResults};

use crate::asking::Searched;
use crate::room::Columns;
use crate::sharded::ShardParts;

/// The figures and notes of an answer beside its hits.
pub struct Told {
    /// The handle and the options for asking again; unpickled hits have none.
    pub again: Option<(Searched, SearchOptions)>,
    pub query: Query,
    pub total: u64,
    pub total_is_exact: bool,
    pub notes: Vec<String>,
    pub io: IoCounts,
    pub plan: Option<Explained>,
    pub took: Duration,
    /// The level of the cache that had it: "memory" or "flash"; nothing if it was computed.
    pub reused: Option<String>,
    /// Facets and aggregations as JSON, if any were asked for.
    pub aggregations: Option<String>,
    pub columns: Columns,
    /// Findings to merge with those of other shards, if the index is one of several.
    pub parts: ShardParts,
}

/// One step of a plan: its name, rounds, reads, bytes and frames hit.
pub type Step = (String, u32, u32, u64, u32);

/// A plan, and why each hit has its score.
#[derive(Clone)]
pub struct Explained {
    pub text: String,
    pub steps: Vec<Step>,
}

impl Explained {
    fn of(plan: &PlanReport, hits: &[gannet::Hit]) -> Explained {
        let mut text = plan.to_string();
        for hit in hits {
            if let Some(explanation) = &hit.explanation {
                text.push_str(&format!("\n{}\n{explanation}", hit.id));
            }
        }
        let steps = plan.steps.iter().map(|step| {
            let io = step.io;
            let name = step.name.to_owned();
            (name, io.rounds, io.reads, io.bytes, io.frames_hit)
        });
        Explained {
            text,
            steps: steps.collect(),
        }
    }

    pub fn of_results(results: &SearchResults) -> Option<Explained> {
        let plan = results.plan.as_ref();
        plan.map(|plan| Explained::of(plan, &results.hits))
    }
}
