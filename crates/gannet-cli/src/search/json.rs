//! Answers as JSON.

use gannet::{Explanation, Hit, IoCounts, PlanReport, SearchResults};
use serde_json::{Map, Value, json};

use super::Answer;
use super::object::{Object, on_one_line};
use crate::failure::Outcome;
use crate::output::Output;

/// The whole answer as one object.
pub fn answer(answer: &Answer) -> String {
    let results = &answer.results;
    let hits: Vec<String> = results.hits.iter().map(hit).collect();
    let mut object = Object::new();
    object.member("total", results.total);
    object.member("total_is_exact", results.total_is_exact);
    object.member("cut_expansions", cut(results));
    object.written("hits", &format!("[{}]", hits.join(",")));
    object.member("took_us", answer.took_us);
    object.member("io", io(results.io));
    object.member("backend", answer.backend.to_string());
    if let Some(report) = &results.plan {
        object.member("plan", plan(report));
    }
    object.end()
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
        .try_for_each(|found| output.line(hit(found)))
}

fn cut(results: &SearchResults) -> Vec<Value> {
    let each = results
        .cut_expansions
        .iter()
        .map(|cut| json!({"field": cut.field, "pattern": cut.pattern, "searched": cut.searched}));
    each.collect()
}

fn hit(hit: &Hit) -> String {
    let snippets = hit
        .snippets
        .iter()
        .map(|(field, texts)| (field.clone(), json!(texts)));
    let mut object = Object::new();
    object.member("id", hit.id.as_str());
    object.member("score", score(hit.score));
    object.written("source", &written_source(hit));
    object.member("snippets", snippets.collect::<Map<_, _>>());
    if let Some(reason) = &hit.explanation {
        object.member("explanation", explanation(reason));
    }
    object.end()
}

/// The stored object as it was written, on one line.
fn written_source(hit: &Hit) -> String {
    let text = std::str::from_utf8(hit.source.as_deref().unwrap_or_default());
    let json = text.ok().filter(|_| !source(hit).is_null());
    json.map_or("null".to_owned(), on_one_line)
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
