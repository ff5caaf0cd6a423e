//! Answers for people: a hit is a line with rank, score, ID and title, and below it what was found
//! in it.

use std::collections::HashMap;

use gannet::diagnostics::{AnswerFileFigures, AnswersOnFlash, RequestCounts, ResultCacheFigures};
use gannet::{AnswerPlace, Hit};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Answer, aggregations, json, order};
use crate::columns::{HitColumns, text_of};
use crate::failure::Outcome;
use crate::fields::Fields;
use crate::output::{Output, harmless};
use crate::size::{counted, grouped, human};

/// The marks that the engine puts around matches.
const MARKS: (&str, &str) = ("<em>", "</em>");

/// Prints hits, the plan if it was asked for, and a footer.
pub fn print(answer: &mut Answer, output: &mut Output) -> Outcome<()> {
    let skipped = answer.skipped;
    let columns = std::mem::take(&mut answer.columns);
    answer.each_hit(|fields, place, hit| {
        print_hit(skipped + place + 1, hit, fields, &columns, output)
    })?;
    aggregations::print(answer, output)?;
    if let Some(plan) = &answer.results.plan {
        let heading = output.bold("plan");
        output.line(heading)?;
        indented(&plan.to_string(), output)?;
        if let Some(figures) = &answer.result_cache {
            indented(&reused_of(figures), output)?;
        }
        if let Some(AnswersOnFlash::Used(figures)) = &answer.answers_on_flash {
            indented(&kept_on_flash(figures), output)?;
        }
        output.line("")?;
    }
    if let (Some(_), Some([opening, query])) = (&answer.results.plan, answer.requests) {
        for (what, counts) in [("opening", opening), ("query", query)] {
            output.line(format!("remote, {what}: {}", asked(counts)))?;
        }
        output.line("")?;
    }
    let footer = output.dim(&footer(answer));
    output.line(footer)
}

fn print_hit(
    rank: usize,
    hit: &Hit,
    fields: &Fields,
    columns: &HitColumns,
    output: &mut Output,
) -> Outcome<()> {
    let id = output.accent(&harmless(&hit.id));
    let title = output.bold(&harmless(&title(hit)));
    let mut place = if hit.sort.is_empty() {
        format!("{:>8.4}", hit.score)
    } else {
        harmless(&order::text_of(&hit.sort))
    };
    if let Some(group) = &hit.group {
        place += &format!("  {}", harmless(&group.to_string()));
    }
    output.line(format!("{rank:>3}. {place}  {id}  {title}").trim_end())?;
    if let Some(error) = &hit.error {
        output.line(format!("     {}", harmless(&error.to_string())))?;
    }
    if let (false, Some(source)) = (fields.are_all(), json::source(hit)) {
        print_fields(source.get(), fields, output)?;
    }
    for (name, value) in columns
        .of_doc(hit.doc)
        .filter(|(_, value)| !value.is_null())
    {
        let name = output.dim(&format!("{}:", harmless(name)));
        let value = harmless(&text_of(&value));
        output.line(format!("     {name} {value}"))?;
    }
    for (field, snippets) in hit.snippets.iter().filter(|(field, _)| field != "title") {
        for snippet in snippets {
            let field = output.dim(&format!("{}:", harmless(field)));
            let snippet = marked(snippet, output);
            output.line(format!("     {field} {snippet}"))?;
        }
    }
    if let Some(explanation) = &hit.explanation {
        indented(&explanation.to_string(), output)?;
    }
    output.line("")
}

/// A line for each field that was asked for and that the document has.
fn print_fields(source: &str, fields: &Fields, output: &mut Output) -> Outcome<()> {
    for (name, value) in fields.values(source) {
        let name = output.dim(&format!("{}:", harmless(name)));
        output.line(format!("     {name} {}", harmless(&value)))?;
    }
    Ok(())
}

fn title(hit: &Hit) -> String {
    let members = json::source(hit).map(|source| serde_json::from_str(source.get()));
    let members: HashMap<String, &RawValue> = members.and_then(Result::ok).unwrap_or_default();
    let title = members
        .get("title")
        .map(|title| serde_json::from_str(title.get()));
    match title.and_then(Result::ok) {
        Some(Value::String(title)) => title,
        Some(Value::Array(titles)) => titles
            .first()
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned(),
        _ => String::new(),
    }
}

/// A snippet on one line, with what was found in bold, or in square brackets where there is no
/// colour.
fn marked(snippet: &str, output: &Output) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some((before, (inside, after))) = next_mark(rest) {
        text += &harmless(before);
        text += &output.found(&harmless(inside));
        rest = after;
    }
    text + &harmless(rest)
}

fn next_mark(text: &str) -> Option<(&str, (&str, &str))> {
    let (before, rest) = text.split_once(MARKS.0)?;
    Some((before, rest.split_once(MARKS.1)?))
}

fn indented(text: &str, output: &mut Output) -> Outcome<()> {
    let mut lines = text.lines();
    lines.try_for_each(|line| output.line(format!("     {}", harmless(line)).trim_end()))
}

/// Returns the requests to a store behind a network, in words.
pub fn asked(counts: RequestCounts) -> String {
    let retries = match counts.retries {
        0 => String::new(),
        some => format!(", {some} of them made again"),
    };
    format!(
        "{} in {}{retries}, {} received",
        counted(counts.requests(), "request"),
        counted(counts.rounds, "round"),
        human(counts.got_bytes)
    )
}

fn footer(answer: &Answer) -> String {
    let results = &answer.results;
    let at_least = match (results.total_is_exact, results.cut_expansions.is_empty()) {
        (true, _) => "",
        (false, true) => "at least ",
        (false, false) => "about ",
    };
    let found = match results.total {
        0 => "no documents".to_owned(),
        total => format!("{at_least}{}", counted(total, "document")),
    };
    format!(
        "{found} found in {:.1} ms{}{}; {}, {}, {} read{} ({})",
        answer.took_us as f64 / 1_000.0,
        shown(answer),
        reused(answer),
        counted(results.io.rounds.into(), "round"),
        counted(results.io.reads.into(), "read"),
        human(results.io.bytes),
        from_cache(results.io.tier_hits),
        answer.backend,
    )
}

/// Returns the age of the answer in words, if it was reused.
fn reused(answer: &Answer) -> String {
    let Some(reused) = answer.results.reused else {
        return String::new();
    };
    let changed = if reused.is_older {
        ", the index has changed since"
    } else {
        ""
    };
    let age = reused.age.as_secs_f64();
    let place = match reused.from {
        AnswerPlace::Memory => "",
        AnswerPlace::Flash => " from flash",
    };
    format!(", reused{place} after {age:.1} s{changed}")
}

/// Returns the content of the answers on flash, and what was read and written of them, in words.
pub fn kept_on_flash(figures: &AnswerFileFigures) -> String {
    let stopped = match &figures.stopped {
        Some(reason) => format!("; nothing more is written: {reason}"),
        None => String::new(),
    };
    format!(
        "answers on flash: {} of at most {}, {} read, {} written in {}{stopped}",
        counted(figures.answers, "answer"),
        human(figures.capacity_bytes),
        grouped(figures.read_answers),
        grouped(figures.written_answers),
        human(figures.written_bytes),
    )
}

/// Returns the number of answers that the result cache has reused, and its content, in words.
pub fn reused_of(figures: &ResultCacheFigures) -> String {
    let asked = figures.reused + figures.computed;
    format!(
        "result cache: {} of {} reused; it holds {} in {}",
        grouped(figures.reused),
        counted(asked, "answer"),
        counted(figures.answers, "answer"),
        human(figures.bytes)
    )
}

/// Returns the number of pages read from the flash tier in words, if there are any.
fn from_cache(pages: u32) -> String {
    match pages {
        0 => String::new(),
        pages => format!(", {} from the cache", counted(pages.into(), "page")),
    }
}

/// Returns the numbers of the documents that are shown, unless they are the first.
fn shown(answer: &Answer) -> String {
    let (first, shown) = (answer.skipped + 1, answer.shown);
    match (answer.skipped, shown) {
        (0, _) => String::new(),
        (_, 0) => format!(", none from number {first} on"),
        _ => format!(", numbers {first} to {} shown", answer.skipped + shown),
    }
}
