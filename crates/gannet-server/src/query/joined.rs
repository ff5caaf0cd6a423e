//! Clauses of a text that stand side by side, as Lucene's classic parser joins them: a word between
//! two of them changes what the one before it and the one behind it are.

use gannet::{Operator, Query};

use super::any_of;
use crate::fault::Outcome;

/// The word before a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conjunction {
    None,
    And,
    Or,
}

/// The sign of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    None,
    Required,
    Prohibited,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Occurs {
    Must,
    Should,
    MustNot,
}

/// Clauses, and what each is for the documents that are found.
#[derive(Default)]
pub struct Clauses {
    clauses: Vec<(Occurs, Query)>,
}

impl Clauses {
    /// Adds a clause behind the others.
    pub fn add(&mut self, query: Query, conjunction: Conjunction, sign: Sign, operator: Operator) {
        if let Some((before, _)) = self.clauses.last_mut()
            && *before != Occurs::MustNot
        {
            match (conjunction, operator) {
                (Conjunction::And, _) => *before = Occurs::Must,
                (Conjunction::Or, Operator::And) => *before = Occurs::Should,
                _ => {}
            }
        }
        let is_required = match operator {
            Operator::Or => sign == Sign::Required || conjunction == Conjunction::And,
            Operator::And => conjunction != Conjunction::Or,
        };
        let occurs = match sign {
            Sign::Prohibited => Occurs::MustNot,
            _ if is_required => Occurs::Must,
            _ => Occurs::Should,
        };
        self.clauses.push((occurs, query));
    }

    /// The query of all; `is_whole` if they are the whole text, of which a prohibited clause alone
    /// finds all other documents. `minimum` says how many of the optional ones must match.
    pub fn query(
        mut self,
        is_whole: bool,
        minimum: impl FnOnce(usize) -> Outcome<Option<u32>>,
    ) -> Outcome<Query> {
        if let [(Occurs::Must | Occurs::Should, _)] = self.clauses.as_slice() {
            return Ok(self.clauses.pop().map_or(Query::MatchNone, |(_, one)| one));
        }
        let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
        for (occurs, query) in self.clauses {
            match occurs {
                Occurs::Must => must.push(query),
                Occurs::Should => should.push(query),
                Occurs::MustNot => must_not.push(query),
            }
        }
        if must.is_empty() && should.is_empty() && !is_whole {
            return Ok(Query::MatchNone);
        }
        let minimum = minimum(should.len())?.unwrap_or(0);
        if minimum as usize > should.len() {
            return Ok(Query::MatchNone);
        }
        let filter = Vec::new();
        Ok(Query::Bool {
            must,
            should,
            must_not,
            filter,
            minimum_should_match: minimum,
        })
    }
}

/// Clauses that are joined alike.
pub fn joined(queries: Vec<Query>, operator: Operator) -> Query {
    let count = queries.len() as u32;
    any_of(
        queries,
        match operator {
            Operator::And => count,
            Operator::Or => 1,
        },
    )
}

/// All documents that a query does not find.
pub fn all_but(query: Query) -> Query {
    Query::Bool {
        must: vec![Query::MatchAll],
        should: Vec::new(),
        must_not: vec![query],
        filter: Vec::new(),
        minimum_should_match: 0,
    }
}
