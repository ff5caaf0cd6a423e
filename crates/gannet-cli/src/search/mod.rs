//! `gannet search`: one query, or each line of a file, answered for people or for programs.

mod aggregations;
mod hits;
mod json;
mod order;
mod queries;
mod text;

pub use json::{answers_on_flash, requests, result_cache, score};
pub use text::{asked, kept_on_flash, reused_of};

use std::time::{Duration, Instant};

use gannet::diagnostics::{AnswersOnFlash, RequestCounts, ResultCacheFigures};
use gannet::{
    Backend, FieldKind, Index, Operator, Parsed, Query, SearchOptions, SearchResults, Snapshot,
};

use crate::arguments::{Common, SearchArguments};
use crate::columns::HitColumns;
use crate::failure::{Failure, Outcome, remark};
use crate::fields::Fields;
use crate::opening::{open_with, reading};
use crate::output::{Form, Output, harmless};

/// An answer, and what it took to get it.
struct Answer {
    results: SearchResults,
    /// The arguments that produced it.
    asked: hits::Asked,
    /// Hits printed so far, and the error of the first of which the document could not be read.
    shown: usize,
    failed: Option<gannet::Error>,
    took_us: u64,
    backend: Backend,
    /// The requests to a store behind a network: to open the index, and to answer.
    requests: Option<[RequestCounts; 2]>,
    result_cache: Option<ResultCacheFigures>,
    answers_on_flash: Option<AnswersOnFlash>,
    /// The fields of the sources that are shown.
    fields: Fields,
    /// The values of columns that are shown.
    columns: HitColumns,
    /// Documents before the first hit.
    skipped: usize,
    /// Set if the index has no document at all.
    is_empty: bool,
    /// Set if the query has neither words nor anything else.
    asks_nothing: bool,
    /// The parser's notes on the query.
    parser_notes: Vec<String>,
}

/// An index, and what its opening asked of a store behind a network.
struct Opened {
    index: Index,
    requests: Option<RequestCounts>,
}

/// Searches and prints the answers.
pub fn run(common: &Common, arguments: &SearchArguments, output: &mut Output) -> Outcome<()> {
    let index = open(common, arguments)?;
    let opened = Opened {
        requests: index.requests(),
        index,
    };
    if let Some(file) = &arguments.queries {
        return queries::run(&opened, file, arguments, output);
    }
    let mut answer = ask(&opened, &arguments.query.join(" "), arguments)?;
    print(&mut answer, arguments, output)?;
    all_whole(answer)
}

/// Opens the index of a search, with a result cache if one is given.
fn open(common: &Common, arguments: &SearchArguments) -> Outcome<Index> {
    // clap waives a `requires` of an argument that conflicts with one that is given.
    let (results, cache) = (&arguments.results, &arguments.cache);
    if arguments.result_ttl.is_some()
        && results.result_cache.is_none()
        && cache.pages.cache_dir.is_none()
    {
        return Err(Failure::caller(
            "--result-ttl says how long answers are reused that --result-cache or --cache-dir keeps: give one of them",
        ));
    }
    let asks_once = arguments.queries.is_none() && cache.pages.cache_dir.is_none();
    if results.result_cache.is_some() && asks_once {
        return Err(Failure::caller(
            "--result-cache reuses answers of earlier queries, and there is only one: give a file of queries with \
             --queries, or a --cache-dir that outlives the command, or leave it out",
        ));
    }
    let mut options = arguments
        .timeout
        .of_log(reading(common, &arguments.results));
    if let Some(ttl) = arguments.result_ttl {
        options = options.result_ttl(ttl.time().unwrap_or(Duration::MAX));
    }
    Ok(open_with(
        options,
        &arguments.index,
        common,
        &arguments.cache,
    )?)
}

/// Prints an answer; for people its notes are on standard error.
fn print(answer: &mut Answer, arguments: &SearchArguments, output: &mut Output) -> Outcome<()> {
    match (output.form(), arguments.count) {
        (Form::Text, false) => text::print(answer, output),
        (Form::Text, true) => output.line(answer.results.total.to_string()),
        (Form::Json, false) => json::print(answer, output),
        (Form::Json, true) => json::print_count(answer, output),
    }?;
    output.finish()?;
    if output.form() == Form::Text {
        let notes = notes(answer);
        notes.iter().for_each(|note| remark(&harmless(note)));
    }
    Ok(())
}

/// Fails if a document of a hit could not be read; the hits say why.
fn all_whole(answer: Answer) -> Outcome<()> {
    answer.failed.map_or(Ok(()), |first| Err(first.into()))
}

/// Returns the notes on an answer that stand beside its hits.
fn notes(answer: &Answer) -> Vec<String> {
    let results = &answer.results;
    let mut notes = answer.parser_notes.clone();
    notes.extend_from_slice(&results.notes);
    notes.extend(results.cut_expansions.iter().map(ToString::to_string));
    notes.extend(
        results
            .unmatched_patterns
            .iter()
            .filter_map(|pattern| question(pattern)),
    );
    if results.has_no_terms {
        notes.push("the query holds no searchable terms after analysis".to_owned());
    }
    if answer.asks_nothing {
        notes.push(
            "the query is empty, so nothing was searched: name a word, or *:* for all documents"
                .to_owned(),
        );
    }
    if answer.is_empty {
        notes.push("the index has no documents".to_owned());
    }
    notes
}

/// Returns the text to write in place of a pattern that most likely is the last word of a question.
fn question(pattern: &str) -> Option<String> {
    let word = pattern.strip_suffix('?')?;
    let is_word = !word.is_empty() && !word.contains(['*', '?', '\\']);
    is_word.then(|| {
        format!(
            "{pattern} is a pattern, in which ? stands for one character, and no word fits it: for the word write \
             {word} or {word}\\?"
        )
    })
}

fn ask(opened: &Opened, text: &str, arguments: &SearchArguments) -> Outcome<Answer> {
    let index = &opened.index;
    let snapshot = index.snapshot();
    check_ranked(arguments)?;
    let fields = Fields::named(&arguments.fields, &snapshot)?;
    let before = index.requests();
    let started = Instant::now();
    let Parsed { query, notes } = parse(&snapshot, text, arguments)?;
    let asks_nothing = query == Query::MatchNone;
    let options = SearchOptions {
        k: if arguments.count { 0 } else { arguments.k },
        skip: arguments.offset,
        sort: order::keys(&arguments.sort)?,
        after: order::after(arguments.after.as_deref())?,
        collapse: arguments.collapse.clone(),
        aggregations: aggregations::asked(arguments, &snapshot)?,
        count: true,
        sources: arguments.columns.is_empty(),
        explain: arguments.explain,
        highlight: highlighted(&snapshot, arguments),
        deadline: arguments.timeout.time(),
        ..SearchOptions::default()
    };
    let is_empty = snapshot.documents() == 0;
    let mut answers = snapshot.search_all(std::slice::from_ref(&query), &options);
    let results = answers.swap_remove(0)?;
    let docs = results.hits.iter().map(|hit| hit.doc).collect();
    let columns = HitColumns::of(&arguments.columns, docs, &snapshot)?;
    Ok(Answer {
        results,
        asked: hits::Asked {
            snapshot,
            query,
            options,
        },
        shown: 0,
        failed: None,
        took_us: started.elapsed().as_micros() as u64,
        backend: index.backend(),
        requests: opened
            .requests
            .zip(before.zip(index.requests()))
            .map(|(opening, (before, all))| [opening, all.since(&before)]),
        result_cache: index.result_cache(),
        answers_on_flash: index.answers_on_flash(),
        fields,
        columns,
        skipped: arguments.offset,
        is_empty,
        asks_nothing,
        parser_notes: notes,
    })
}

/// Parses the query and the filters. Filters alone find all documents that match them.
fn parse(snapshot: &Snapshot, text: &str, arguments: &SearchArguments) -> Outcome<Parsed> {
    let mut parsed = if text.is_empty() && !arguments.filter.is_empty() {
        Parsed {
            query: Query::MatchAll,
            notes: Vec::new(),
        }
    } else {
        snapshot.parse_noting(text, Operator::Or)?
    };
    let mut filters = Vec::new();
    for text in &arguments.filter {
        let filter = snapshot
            .parse_noting(text, Operator::And)
            .map_err(|error| {
                Failure::from(error).within(|reason| format!("--filter {text}: {reason}"))
            })?;
        if filter.query == Query::MatchNone {
            return Err(Failure::caller(
                "--filter is empty: name what hits must match, or leave it out",
            ));
        }
        parsed.notes.extend(filter.notes);
        filters.push(filter.query);
    }
    if parsed.query != Query::MatchNone {
        parsed.query = parsed.query.filtered(filters);
    }
    Ok(parsed)
}

/// Rejects pages that lie behind what a search ranks.
fn check_ranked(arguments: &SearchArguments) -> Outcome<()> {
    let most = SearchOptions::RANKED_MAX;
    let last = arguments.offset.saturating_add(arguments.k);
    if last > most {
        return Err(Failure::caller(format!(
            "--offset {} and -k {} go to document {last}, and a search ranks at most the best {most}: \
             `gannet export INDEX QUERY` writes all documents that match, however many",
            arguments.offset, arguments.k
        )));
    }
    Ok(())
}

/// The fields to make snippets of: those that were named, or all text fields unless fields to show
/// were.
fn highlighted(snapshot: &Snapshot, arguments: &SearchArguments) -> Vec<String> {
    if arguments.count {
        Vec::new()
    } else if !arguments.highlight.is_empty() {
        arguments.highlight.clone()
    } else if arguments.fields.is_empty() && arguments.columns.is_empty() {
        text_fields(snapshot)
    } else {
        Vec::new()
    }
}

fn text_fields(snapshot: &Snapshot) -> Vec<String> {
    let fields = snapshot.schema().fields().iter();
    let text = fields.filter(|field| field.kind == FieldKind::Text);
    text.map(|field| field.name.clone()).collect()
}
