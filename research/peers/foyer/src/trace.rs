//! The trace.

use std::path::Path;

/// Which prefix of a list is cached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prefix {
    /// The mean of those that were learned.
    Mean,
    /// The longest of them.
    Longest,
    /// The mean at first; it is replaced by a longer one when a query needs more.
    Grows,
}

/// A list that a query needs.
#[derive(Clone, Copy, Debug)]
pub struct List {
    pub term: u64,
    /// Bytes that are needed, and that are cached at first.
    pub used: usize,
    pub cached: usize,
}

/// A query.
#[derive(Debug)]
pub struct Query {
    pub number: u64,
    pub result: usize,
    pub lists: Vec<List>,
}

/// Reads a trace.
pub fn read(path: &Path, prefix: Prefix) -> Result<Vec<Query>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().enumerate();
    lines
        .map(|(at, line)| {
            let unreadable = || {
                format!(
                    "{}, line {}: expected QUERY, BYTES and TERM:USED:MEAN:LONGEST",
                    path.display(),
                    at + 1
                )
            };
            query(line, prefix).ok_or_else(unreadable)
        })
        .collect()
}

fn query(line: &str, prefix: Prefix) -> Option<Query> {
    let mut fields = line.split('\t');
    Some(Query {
        number: fields.next()?.parse().ok()?,
        result: fields.next()?.parse().ok()?,
        lists: fields
            .map(|field| list(field, prefix))
            .collect::<Option<_>>()?,
    })
}

fn list(field: &str, prefix: Prefix) -> Option<List> {
    let numbers: Vec<u64> = field
        .split(':')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    let [term, used, mean, longest] = numbers[..] else {
        return None;
    };
    let cached = match prefix {
        Prefix::Mean | Prefix::Grows => mean,
        Prefix::Longest => longest,
    };
    Some(List {
        term,
        used: used as usize,
        cached: cached as usize,
    })
}
