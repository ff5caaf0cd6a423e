//! Sets of queries, as files that every engine's `bench` reads: lines of `KIND<TAB>WORDS`.

use std::fmt;
use std::fs;
use std::path::Path;

use gannet::Operator;
use serde_json::json;

use crate::Outcome;

/// What a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One word.
    Term,
    /// All words.
    And,
    /// The words, one after the other.
    Phrase,
    /// Any word.
    Or,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Term, Kind::And, Kind::Phrase, Kind::Or];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Term => "term",
            Kind::And => "and",
            Kind::Phrase => "phrase",
            Kind::Or => "or",
        })
    }
}

/// One query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    /// What it asks for.
    pub kind: Kind,
    /// Its words with a space between them.
    pub words: String,
}

/// Queries that are asked in one run.
#[derive(Debug)]
pub struct Set {
    /// The name of its file, without the ending.
    pub name: String,
    /// The queries, in the order in which they are asked; no two are equal.
    pub queries: Vec<Query>,
}

impl Query {
    /// The query as the engine takes it.
    pub fn for_field(&self, field: &str) -> gannet::Query {
        let (field, text) = (Some(field.to_owned()), self.words.clone());
        let operator = match self.kind {
            Kind::Phrase => {
                return gannet::Query::Phrase {
                    field,
                    text,
                    slop: 0,
                };
            }
            Kind::And => Operator::And,
            Kind::Term | Kind::Or => Operator::Or,
        };
        gannet::Query::Text {
            field,
            text,
            operator,
        }
    }
}

/// Reads the queries of a set.
pub fn read(path: &Path) -> Outcome<Vec<Query>> {
    let text = fs::read_to_string(path)?;
    let queries = text.lines().map(|line| {
        let (name, words) = line.split_once('\t').unwrap_or((line, ""));
        let kind = Kind::ALL.into_iter().find(|kind| kind.to_string() == name);
        let rejected = || {
            format!(
                "{}: expected a kind, a tab and words, found {line:?}",
                path.display()
            )
        };
        Ok(Query {
            kind: kind.ok_or_else(rejected)?,
            words: words.to_owned(),
        })
    });
    queries.collect()
}

/// Writes each set into a file of its own and prints how many queries each one has.
pub fn write(folder: &Path, sets: &[Set]) -> Outcome {
    fs::create_dir_all(folder)?;
    let mut counts = serde_json::Map::new();
    for set in sets {
        let lines = set.queries.iter();
        let text: String = lines
            .map(|q| format!("{}\t{}\n", q.kind, q.words))
            .collect();
        fs::write(folder.join(format!("{}.tsv", set.name)), text)?;
        counts.insert(set.name.clone(), json!(set.queries.len()));
    }
    println!("{}", json!({ "queries": counts }));
    Ok(())
}
