//! The queries of a benchmark, from lines of text.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use gannet::{Operator, Query};
use gannet_input::{Line, Lines, Source};

use crate::arguments::{BenchArguments, PlainKind};
use crate::failure::{Failure, Outcome};

/// Bytes of the longest line of queries.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Stands for all fields that are text.
pub const ALL_FIELDS: &str = "*";

/// Reads all queries; blank lines are passed over.
pub fn read(arguments: &BenchArguments) -> Outcome<Vec<Query>> {
    let source = Source::at(&arguments.queries)?;
    let unreadable = |error| Failure::caller(format!("{source}: {error}"));
    let mut lines = source
        .lines(&Arc::new(AtomicU64::new(0)), LINE_BYTES_MAX)
        .map_err(unreadable)?;
    let mut queries = Vec::new();
    let mut buffer = Vec::new();
    while lines.next(&mut buffer).map_err(unreadable)? != Line::End {
        queries.extend(
            parse(&buffer, arguments).map_err(|reason| rejected(&source, &lines, &reason))?,
        );
        buffer.clear();
    }
    if queries.is_empty() {
        Err(Failure::caller(format!(
            "{source}: there is no query in it"
        )))
    } else {
        Ok(queries)
    }
}

fn rejected(source: &Source, lines: &Lines, reason: &str) -> Failure {
    Failure::caller(format!("{source}, line {}: {reason}", lines.number()))
}

/// Drops queries that were there before.
pub fn keep_distinct(queries: &mut Vec<Query>) {
    let mut seen = HashSet::new();
    queries.retain(|query| seen.insert(format!("{query:?}")));
}

fn parse(line: &[u8], arguments: &BenchArguments) -> Result<Option<Query>, String> {
    let line = std::str::from_utf8(line).map_err(|_| "the line is no UTF-8".to_owned())?;
    if line.trim().is_empty() {
        return Ok(None);
    }
    let (name, words) = line.split_once('\t').unwrap_or(("", line));
    let kind = match arguments.plain {
        Some(PlainKind::And) => "and",
        Some(PlainKind::Or) => "or",
        None => name,
    };
    query(kind, words.trim(), &arguments.field).map(Some)
}

/// A query of one field, or of all fields that are text.
fn query(kind: &str, words: &str, field: &str) -> Result<Query, String> {
    if field != ALL_FIELDS {
        return query_of(kind, words, Some(field.to_owned()));
    }
    match kind {
        // Each word may be in another field, as where a person searches.
        "and" | "or" => {
            let clauses = words.split_whitespace();
            let clauses = clauses.map(|word| query_of("term", word, None));
            let clauses: Vec<Query> = clauses.collect::<Result<_, String>>()?;
            let (must, should) = if kind == "and" {
                (clauses, Vec::new())
            } else {
                (Vec::new(), clauses)
            };
            Ok(Query::Bool {
                must,
                should,
                must_not: Vec::new(),
                filter: Vec::new(),
                minimum_should_match: 0,
            })
        }
        _ => query_of(kind, words, None),
    }
}

fn query_of(kind: &str, words: &str, field: Option<String>) -> Result<Query, String> {
    let text = words.to_owned();
    let operator = match kind {
        "term" | "or" => Operator::Or,
        "and" => Operator::And,
        "phrase" => {
            return Ok(Query::Phrase {
                field,
                text,
                slop: 0,
            });
        }
        _ => {
            return Err("expected term, and, or, phrase, then a tab and words; \
                        for plain words, say --as and or --as or"
                .to_owned());
        }
    };
    Ok(Query::Text {
        field,
        text,
        operator,
    })
}
