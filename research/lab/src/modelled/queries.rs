//! The queries of `gannet-lab bench`: sets as every engine reads them, or lines of plain words.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use clap::ValueEnum;
use gannet::Query as Tree;

use crate::Outcome;
use crate::queries::{self, Kind, Query};

/// The kinds of query that plain words may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlainKind {
    /// All of them
    And,
    /// Any of them
    Or,
}

/// Reads all queries, for a field; blank lines of plain words are passed over.
pub fn read(path: &Path, plain: Option<PlainKind>, field: &str) -> Outcome<Vec<Tree>> {
    let queries = match plain {
        Some(PlainKind::And) => read_plain(path, Kind::And)?,
        Some(PlainKind::Or) => read_plain(path, Kind::Or)?,
        None => queries::read(path)?,
    };
    if queries.is_empty() {
        return Err(format!("{}: there is no query in it", path.display()).into());
    }
    Ok(queries.iter().map(|query| query.for_field(field)).collect())
}

/// Reads lines of words, or of NAME<TAB>WORDS, where the name is passed over.
fn read_plain(path: &Path, kind: Kind) -> Outcome<Vec<Query>> {
    let text = fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let words = lines.map(|line| {
        line.split_once('\t')
            .map_or(line, |(_, words)| words)
            .trim()
    });
    let queries = words.map(|words| Query {
        kind,
        words: words.to_owned(),
    });
    Ok(queries.collect())
}

/// Drops queries that were there before.
pub fn keep_distinct(queries: &mut Vec<Tree>) {
    let mut seen = HashSet::new();
    queries.retain(|query| seen.insert(format!("{query:?}")));
}
