//! The texts of a search become a query. An error says at which character of which text it is.

use gannet::{Error, Operator, Parsed, Query, Snapshot};

use super::request::OwnSearch;
use crate::fault::{Fault, Outcome, Place};

/// The words before the number of a character in errors of the parser.
const AT: &str = "at character ";

/// The longest text.
const BYTES_MAX: usize = 64 << 10;

impl OwnSearch {
    /// The query with its filters, and the notes of the parser.
    pub fn parsed(&self, snapshot: &Snapshot) -> Outcome<Parsed> {
        let mut parsed = match &self.query {
            None => all(),
            Some(text) => read(snapshot, "query", text, self.operator)?,
        };
        let mut filters = Vec::new();
        for text in &self.filters {
            let filter = read(snapshot, "filter", text, Operator::And)?;
            if filter.query == Query::MatchNone {
                return Err(Fault::illegal(
                    "a [filter] is empty: name what hits must match, or leave it out",
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
}

fn all() -> Parsed {
    Parsed {
        query: Query::MatchAll,
        notes: Vec::new(),
    }
}

fn read(
    snapshot: &Snapshot,
    part: &'static str,
    text: &str,
    operator: Operator,
) -> Outcome<Parsed> {
    if text.len() > BYTES_MAX {
        return Err(Fault::illegal(format!(
            "[{part}] has {} bytes, at most {BYTES_MAX} are read",
            text.len()
        )));
    }
    snapshot
        .parse_noting(text, operator)
        .map_err(|error| misread(part, error))
}

fn misread(part: &'static str, error: Error) -> Fault {
    let fault = Fault::from(error);
    let place = Place {
        part,
        line: None,
        position: character(&fault.reason),
    };
    fault.at(place)
}

/// The character that an error of the parser names.
fn character(reason: &str) -> Option<usize> {
    let (_, behind) = reason.rsplit_once(AT)?;
    let digits = behind.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_is_that_of_the_error() {
        let reason = "'(' is not closed at character 12 of the query: add ')' or write \\(";
        assert_eq!(character(reason), Some(12));
        assert_eq!(character("the query is too long"), None);
    }
}
