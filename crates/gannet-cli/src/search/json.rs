//! Answers as JSON.

use gannet::diagnostics::{
    AnswersOnFlash, Explanation, IoCounts, PlanReport, RequestCounts, ResultCacheFigures,
};
use gannet::{Hit, Reused, SearchResults};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Answer, aggregations, notes, order};
use crate::columns::HitColumns;
use crate::failure::Outcome;
use crate::fields::Fields;
use crate::output::Output;

/// Prints the whole answer as one object, hit by hit.
pub fn print(answer: &mut Answer, output: &mut Output) -> Outcome<()> {
    print_head(answer, output)?;
    let columns = std::mem::take(&mut answer.columns);
    answer.each_hit(|fields, at, hit| {
        write(if at > 0 { "," } else { "" }, output)?;
        print_hit(hit, fields, &columns, output)
    })?;
    print_rest(answer, output)
}

/// Prints what stands before the hits.
fn print_head(answer: &Answer, output: &mut Output) -> Outcome<()> {
    let results = &answer.results;
    let (total, is_exact) = (results.total, results.total_is_exact);
    let cut = Value::from(cut(results));
    let no_terms = results.has_no_terms;
    let unmatched = json!(results.unmatched_patterns);
    let notes = json!(notes(answer));
    let head = format!(
        r#"{{"total":{total},"total_is_exact":{is_exact},"has_no_terms":{no_terms},"cut_expansions":{cut},"unmatched_patterns":{unmatched},"notes":{notes},"#
    );
    write(&head, output)?;
    write(r#""hits":["#, output)
}

/// Prints what stands behind the hits.
fn print_rest(answer: &Answer, output: &mut Output) -> Outcome<()> {
    if let Some(counted) = aggregations::answered(answer)? {
        let both = format!(
            r#"],"facets":{},"aggregations":{}"#,
            json!(counted.facets),
            json!(counted.others)
        );
        write(&both, output)?;
    } else {
        write("]", output)?;
    }
    let results = &answer.results;
    let (io, backend) = (io(results.io), json!(answer.backend.to_string()));
    let took = answer.took_us;
    let reused = reused(results);
    write(
        &format!(r#","took_us":{took},"reused":{reused},"io":{io},"backend":{backend}"#),
        output,
    )?;
    let figures = result_cache(answer.result_cache);
    let flash = answers_on_flash(answer.answers_on_flash.as_ref());
    let both = format!(r#","result_cache":{figures},"answers_on_flash":{flash}"#);
    write(&both, output)?;
    if let Some([opening, query]) = answer.requests {
        write(&format!(r#","remote":{}"#, remote(opening, query)), output)?;
    }
    if let Some(report) = &results.plan {
        write(&format!(r#","plan":{}"#, plan(report)), output)?;
    }
    output.line("}")
}

/// Prints how many documents match.
pub fn print_count(answer: &Answer, output: &mut Output) -> Outcome<()> {
    let results = &answer.results;
    output.json(&json!({
        "total": results.total,
        "total_is_exact": results.total_is_exact,
        "cut_expansions": cut(results),
        "unmatched_patterns": results.unmatched_patterns,
        "notes": notes(answer),
        "took_us": answer.took_us,
        "reused": reused(results),
        "result_cache": result_cache(answer.result_cache),
        "answers_on_flash": answers_on_flash(answer.answers_on_flash.as_ref()),
        "io": io(results.io),
        "backend": answer.backend.to_string(),
        "remote": answer.requests.map(|[opening, query]| remote(opening, query)),
    }))
}

/// Returns the requests to a store behind a network: to open the index, and to answer.
fn remote(opening: RequestCounts, query: RequestCounts) -> Value {
    json!({"opening": requests(opening), "query": requests(query)})
}

/// Returns the age of a reused answer, whether the index has changed since, and which level of the
/// cache had it; null if it was computed.
fn reused(results: &SearchResults) -> Value {
    let told = |reused: Reused| {
        json!({
            "age_ms": reused.age.as_millis() as u64,
            "is_older": reused.is_older,
            "from": reused.from.to_string(),
        })
    };
    results.reused.map_or(Value::Null, told)
}

/// The figures of the result cache; null where there is none.
pub fn result_cache(figures: Option<ResultCacheFigures>) -> Value {
    let told = |figures: ResultCacheFigures| {
        json!({
            "capacity_bytes": figures.capacity_bytes,
            "bytes": figures.bytes,
            "answers": figures.answers,
            "reused": figures.reused,
            "reused_from_flash": figures.reused_from_flash,
            "reused_older": figures.reused_older,
            "computed": figures.computed,
        })
    };
    figures.map_or(Value::Null, told)
}

/// The figures of the answers on flash; null where none are kept there.
pub fn answers_on_flash(state: Option<&AnswersOnFlash>) -> Value {
    match state {
        None => Value::Null,
        Some(AnswersOnFlash::Past(reason)) => json!({"past": reason}),
        Some(AnswersOnFlash::Used(figures)) => json!({
            "capacity_bytes": figures.capacity_bytes,
            "answers": figures.answers,
            "memory_bytes": figures.memory_bytes,
            "read_answers": figures.read_answers,
            "read_bytes": figures.read_bytes,
            "written_answers": figures.written_answers,
            "written_bytes": figures.written_bytes,
            "known_answers": figures.known_answers,
            "passed_over_answers": figures.passed_over_answers,
            "unproven_answers": figures.unproven_answers,
            "writes": figures.writes,
            "stopped": figures.stopped,
        }),
    }
}

/// Patterns that stand for more terms than were searched.
fn cut(results: &SearchResults) -> Vec<Value> {
    let each = results
        .cut_expansions
        .iter()
        .map(|cut| json!({"field": cut.field, "pattern": cut.pattern, "searched": cut.searched}));
    each.collect()
}

/// Prints a hit. Its source is passed on and not taken apart, which would take many times its
/// memory.
fn print_hit(hit: &Hit, fields: &Fields, columns: &HitColumns, output: &mut Output) -> Outcome<()> {
    let (id, score) = (json!(hit.id), score(hit.score));
    write(&format!(r#"{{"id":{id},"score":{score},"#), output)?;
    if !hit.sort.is_empty() {
        let values: Vec<Value> = hit.sort.iter().map(order::json_of).collect();
        write(&format!(r#""sort":{},"#, json!(values)), output)?;
    }
    if hit.group.is_some() {
        write(
            &format!(r#""group":{},"#, order::json_of(&hit.group)),
            output,
        )?;
    }
    if !columns.is_empty() {
        let values: Map<String, Value> = columns
            .of_doc(hit.doc)
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        write(&format!(r#""columns":{},"#, json!(values)), output)?;
    }
    write(r#""source":"#, output)?;
    match source(hit) {
        Some(source) => fields.print(source.get(), output)?,
        None => write("null", output)?,
    }
    let snippets = hit.snippets.iter();
    let snippets = snippets.map(|(field, texts)| (field.clone(), json!(texts)));
    let snippets = Value::Object(snippets.collect::<Map<_, _>>());
    write(&format!(r#","snippets":{snippets}"#), output)?;
    if let Some(error) = &hit.error {
        write(&format!(r#","error":{}"#, json!(error.to_string())), output)?;
    }
    if let Some(reason) = &hit.explanation {
        write(
            &format!(r#","explanation":{}"#, explanation(reason)),
            output,
        )?;
    }
    write("}", output)
}

fn write(text: &str, output: &mut Output) -> Outcome<()> {
    output.bytes(text.as_bytes())
}

/// The stored object. Stored bytes were JSON when they came in; nothing if they no longer are.
pub fn source(hit: &Hit) -> Option<&RawValue> {
    serde_json::from_slice(hit.source.as_deref()?).ok()
}

/// The shortest decimal that reads back as the same score.
pub fn score(score: f32) -> Value {
    score
        .to_string()
        .parse::<f64>()
        .map_or(Value::Null, Value::from)
}

/// Returns the counts of reads.
pub fn io(io: IoCounts) -> Value {
    json!({
        "rounds": io.rounds,
        "reads": io.reads,
        "bytes": io.bytes,
        "frames_hit": io.frames_hit,
        "tier_hits": io.tier_hits,
    })
}

/// Returns the requests to a store behind a network.
pub fn requests(counts: RequestCounts) -> Value {
    json!({
        "rounds": counts.rounds,
        "requests": counts.requests(),
        "bytes": counts.got_bytes + counts.put_bytes,
        "retries": counts.retries,
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
