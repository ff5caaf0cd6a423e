//! Puts lexemes together into a query, as Lucene's classic parser does.
//!
//! Nothing here fails: parentheses are known to match and to be shallow, and an operator that stands where none
//! can is taken as text.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::lexer::{EXISTS, Kind, Lexeme, Operand};
use crate::search::query::{Operator, Query};

/// The query that settled and checked `lexemes` make.
pub(super) fn query(lexemes: Vec<Lexeme>, operator: Operator) -> Query {
    let mut grammar = Grammar {
        lexemes: lexemes.into_iter().peekable(),
        operator,
    };
    grammar.clauses(None).into_query(0)
}

/// Makes text of the operators, signs and fields that have nothing to act on.
pub(super) fn settle(text: &str, lexemes: &mut [Lexeme]) {
    let mut after_operand = false;
    for at in 0..lexemes.len() {
        let next = lexemes.get(at + 1).map(|lexeme| &lexeme.kind);
        if !acts(&lexemes[at].kind, after_operand, next) {
            let word = text[lexemes[at].start..lexemes[at].end].to_string();
            lexemes[at].kind = Kind::Operand(text_of(word), None);
        }
        after_operand = matches!(lexemes[at].kind, Kind::Operand(..) | Kind::Close { .. });
    }
}

fn acts(kind: &Kind, after_operand: bool, next: Option<&Kind>) -> bool {
    use Kind::*;
    match kind {
        And | Or => after_operand && !matches!(next, None | Some(And | Or | Close { .. })),
        Require | Prohibit | Not | Filter => {
            matches!(next, Some(Operand(..) | Open | Field(_)))
        }
        Field(_) => matches!(next, Some(Operand(..) | Open)),
        Open | Close { .. } | Operand(..) => true,
    }
}

fn text_of(text: String) -> Operand {
    Operand::Text { text, all: false }
}

struct Grammar {
    lexemes: Peekable<IntoIter<Lexeme>>,
    operator: Operator,
}

impl Grammar {
    /// Clauses up to the end or the parenthesis that closes them, which is left.
    fn clauses(&mut self, field: Option<&str>) -> Clauses {
        let mut clauses = Clauses::default();
        while !self.at_end() {
            let conjunction = self.conjunction();
            let sign = self.sign();
            let occurs = self.occurs(conjunction, sign);
            if let Some(last) = clauses.list.last_mut() {
                self.join(last, conjunction);
            }
            let query = self.primary(field);
            clauses.signed |= sign.is_some();
            clauses.list.push((occurs, query));
        }
        clauses
    }

    fn at_end(&mut self) -> bool {
        let next = self.lexemes.peek();
        next.is_none_or(|lexeme| matches!(lexeme.kind, Kind::Close { .. }))
    }

    fn conjunction(&mut self) -> Option<Operator> {
        let operator = match self.lexemes.peek()?.kind {
            Kind::And => Operator::And,
            Kind::Or => Operator::Or,
            _ => return None,
        };
        self.lexemes.next();
        Some(operator)
    }

    fn sign(&mut self) -> Option<Occurs> {
        let occurs = match self.lexemes.peek()?.kind {
            Kind::Require => Occurs::Must,
            Kind::Prohibit | Kind::Not => Occurs::MustNot,
            Kind::Filter => Occurs::Filter,
            _ => return None,
        };
        self.lexemes.next();
        Some(occurs)
    }

    fn occurs(&self, conjunction: Option<Operator>, sign: Option<Occurs>) -> Occurs {
        sign.unwrap_or(match conjunction.unwrap_or(self.operator) {
            Operator::And => Occurs::Must,
            Operator::Or => Occurs::Should,
        })
    }

    /// What the conjunction after a clause makes of it.
    fn join(&self, (occurs, _): &mut (Occurs, Query), conjunction: Option<Operator>) {
        match (conjunction, *occurs) {
            (Some(Operator::And), Occurs::Should) => *occurs = Occurs::Must,
            (Some(Operator::Or), Occurs::Must) if self.operator == Operator::And => {
                *occurs = Occurs::Should;
            }
            _ => {}
        }
    }

    fn primary(&mut self, field: Option<&str>) -> Query {
        match self.lexemes.next().map(|lexeme| lexeme.kind) {
            Some(Kind::Field(name)) => self.primary(Some(&name)),
            Some(Kind::Open) => self.group(field),
            Some(Kind::Operand(operand, boost)) => boosted(self.leaf(operand, field), boost),
            // Signs and operators always have something to act on, so this is the end.
            _ => Query::MatchNone,
        }
    }

    fn group(&mut self, field: Option<&str>) -> Query {
        let clauses = self.clauses(field);
        match self.lexemes.next().map(|lexeme| lexeme.kind) {
            Some(Kind::Close { minimum, boost }) => boosted(clauses.into_query(minimum), boost),
            _ => clauses.into_query(0),
        }
    }

    fn leaf(&self, operand: Operand, field: Option<&str>) -> Query {
        let name = field;
        let field = field.map(str::to_string);
        match operand {
            Operand::Everything => Query::MatchAll,
            Operand::Anything => field.map_or(Query::MatchAll, |field| Query::Exists { field }),
            Operand::Text { text, .. } if name == Some(EXISTS) => Query::Exists { field: text },
            Operand::Text { text, all } => Query::Text {
                field,
                text,
                operator: if all { Operator::And } else { self.operator },
            },
            Operand::Phrase { text, slop } => Query::Phrase { field, text, slop },
            Operand::Prefix(prefix) => Query::Prefix { field, prefix },
            Operand::Wildcard(pattern) => Query::Wildcard { field, pattern },
            Operand::Fuzzy { text, distance } => Query::Fuzzy {
                field,
                text,
                distance,
            },
            Operand::Range(lower, upper) => Query::Range {
                field,
                lower,
                upper,
            },
        }
    }
}

fn boosted(query: Query, boost: Option<f32>) -> Query {
    match boost {
        None => query,
        Some(factor) => Query::Boost {
            query: Box::new(query),
            factor,
        },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurs {
    Must,
    Should,
    MustNot,
    Filter,
}

/// The clauses of one level.
#[derive(Default)]
struct Clauses {
    list: Vec<(Occurs, Query)>,
    /// Whether one of them was given a sign.
    signed: bool,
}

impl Clauses {
    /// The clauses as one query; a lone one without a sign stands for itself.
    fn into_query(mut self, minimum_should_match: u32) -> Query {
        if self.list.len() == 1 && !self.signed && minimum_should_match == 0 {
            return self.list.pop().map_or(Query::MatchNone, |(_, query)| query);
        }
        if self.list.is_empty() {
            return Query::MatchNone;
        }
        Query::Bool {
            must: self.take(Occurs::Must),
            should: self.take(Occurs::Should),
            must_not: self.take(Occurs::MustNot),
            filter: self.take(Occurs::Filter),
            minimum_should_match,
        }
    }

    fn take(&mut self, wanted: Occurs) -> Vec<Query> {
        let taken = self.list.extract_if(.., |(occurs, _)| *occurs == wanted);
        taken.map(|(_, query)| query).collect()
    }
}
