//! The cost of a search: rounds, reads, bytes, and where its pages were. On request the plan step
//! by step.

use gannet::diagnostics::{Explanation, IoCounts, PlanReport};
use serde_json::{Value, json};

/// The counts of reads. Pages come out of memory, out of the flash tier, or are read.
pub fn io_json(io: IoCounts) -> Value {
    json!({
        "rounds": io.rounds,
        "reads": io.reads,
        "bytes": io.bytes,
        "pages": {
            "memory": io.frames_hit,
            "tier": io.tier_hits,
        },
    })
}

/// The plan of a search as it was carried out.
pub fn plan_json(report: &PlanReport) -> Value {
    let steps = report.steps.iter().map(|step| {
        let mut told = json!({ "step": step.name });
        if let (Some(told), Value::Object(io)) = (told.as_object_mut(), io_json(step.io)) {
            told.extend(io);
        }
        told
    });
    let terms = report.terms.iter().map(|term| {
        json!({
            "field": term.field,
            "term": term.term,
            "document_frequency": term.document_frequency,
            "pages_in_list": term.pages_in_list,
        })
    });
    let patterns = report.patterns.iter().map(|pattern| {
        json!({
            "field": pattern.field,
            "pattern": pattern.pattern,
            "terms": pattern.terms,
            "documents": pattern.documents,
            "lists": pattern.lists,
            "pages": pattern.pages,
        })
    });
    json!({
        "steps": steps.collect::<Vec<_>>(),
        "terms": terms.collect::<Vec<_>>(),
        "patterns": patterns.collect::<Vec<_>>(),
        "windows_searched": report.windows_searched,
        "windows_skipped": report.windows_skipped,
    })
}

/// A score with the parts that it comes from.
pub fn explanation_json(explanation: &Explanation) -> Value {
    let details: Vec<Value> = explanation.details.iter().map(explanation_json).collect();
    json!({
        "value": score_json(explanation.value),
        "description": explanation.description,
        "details": details,
    })
}

/// The shortest decimal that reads back as the same score.
pub fn score_json(score: f32) -> Value {
    let shortest = score.to_string().parse::<f64>();
    shortest.map_or(Value::Null, Value::from)
}
