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

fn query(kind: &str, words: &str, field: &str) -> Result<Query, String> {
    let (field, text) = (Some(field.to_owned()), words.to_owned());
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
