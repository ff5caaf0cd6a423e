//! Answers as JSON.

use gannet::{Explanation, Hit, IoCounts, PlanReport};
use serde_json::{Map, Value, json};

use super::Answer;
use crate::failure::Outcome;
use crate::output::Output;

/// The whole answer as one object.
pub fn answer(answer: &Answer) -> Value {
    let results = &answer.results;
    let mut object = json!({
        "total": results.total,
        "total_is_exact": results.total_is_exact,
        "hits": results.hits.iter().map(hit).collect::<Vec<_>>(),
        "took_us": answer.took_us,
        "io": io(results.io),
        "backend": answer.backend.to_string(),
    });
    if let Some(report) = &results.plan {
        object["plan"] = plan(report);
    }
    object
}

/// A line for each hit, and one for the plan if it was asked for.
pub fn print_lines(answer: &Answer, output: &mut Output) -> Outcome<()> {
    let results = &answer.results;
    if let Some(report) = &results.plan {
        output.json(&json!({"plan": plan(report), "io": io(results.io)}))?;
    }
    results
        .hits
        .iter()
        .try_for_each(|found| output.json(&hit(found)))
}

fn hit(hit: &Hit) -> Value {
    let snippets = hit
        .snippets
        .iter()
        .map(|(field, texts)| (field.clone(), json!(texts)));
    let mut object = json!({
        "id": hit.id,
        "score": score(hit.score),
        "source": source(hit),
        "snippets": snippets.collect::<Map<_, _>>(),
    });
    if let Some(error) = &hit.error {
        object["error"] = error.to_string().into();
    }
    if let Some(reason) = &hit.explanation {
        object["explanation"] = explanation(reason);
    }
    object
}

/// The stored object. Stored bytes were JSON when they came in; `null` if they no longer are.
pub fn source(hit: &Hit) -> Value {
    let bytes = hit.source.as_deref().unwrap_or(b"null");
    serde_json::from_slice(bytes).unwrap_or(Value::Null)
}

/// The shortest decimal that reads back as the same score.
pub fn score(score: f32) -> Value {
    score
        .to_string()
        .parse::<f64>()
        .map_or(Value::Null, Value::from)
}

/// What was read.
pub fn io(io: IoCounts) -> Value {
    json!({
        "rounds": io.rounds,
        "reads": io.reads,
        "bytes": io.bytes,
        "frames_hit": io.frames_hit,
    })
}

fn plan(report: &PlanReport) -> Value {
    let steps = report.steps.iter().map(|step| {
        let mut object = json!({"step": step.name});
        merge(&mut object, io(step.io));
        object
    });
    let terms = report.terms.iter().map(|term| {
        json!({
            "field": term.field,
            "term": term.term,
            "document_frequency": term.document_frequency,
            "pages_in_list": term.pages_in_list,
        })
    });
    json!({
        "steps": steps.collect::<Vec<_>>(),
        "terms": terms.collect::<Vec<_>>(),
        "windows_searched": report.windows_searched,
        "windows_skipped": report.windows_skipped,
    })
}

fn merge(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

fn explanation(reason: &Explanation) -> Value {
    json!({
        "value": score(reason.value),
        "description": reason.description,
        "details": reason.details.iter().map(explanation).collect::<Vec<_>>(),
    })
}
