//! Puts lexemes together into a query; `super` has the grammar.
//!
//! Parentheses are known to match and to be shallow, and operators to have something to act on. The
//! grammar still rejects queries that could be read in two ways, operands that their field cannot
//! answer, and parts that would have no effect.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::lexeme::EXISTS;
use super::lexeme::Kind;
use super::lexeme::Lexeme;
use super::lexeme::Operand;
use super::lexeme::character;
use super::lexeme::invalid;
use super::parsed::MAX_CLAUSES;
use super::word::{WordQuery, leaves, word};
use crate::analysis::Schema;
use crate::base::{Error, Result};
use crate::search::query::fields;
use crate::search::query::{Operator, PatternPart, Query, pattern_parts};

/// The query that settled and checked `lexemes` of `text` make.
pub(crate) fn query(
    text: &str,
    lexemes: Vec<Lexeme>,
    operator: Operator,
    schema: &Schema,
) -> Result<Query> {
    let mut grammar = Grammar {
        text,
        schema,
        lexemes: lexemes.into_iter().peekable(),
        operator,
    };
    let level = grammar.level(None)?;
    Ok(level.into_query(0, operator))
}

struct Grammar<'a> {
    text: &'a str,
    schema: &'a Schema,
    lexemes: Peekable<IntoIter<Lexeme>>,
    operator: Operator,
}

impl Grammar<'_> {
    /// Items up to the end or the parenthesis that closes them, which is left.
    fn level(&mut self, field: Option<&str>) -> Result<Nesting> {
        let mut items = Vec::new();
        while !self.at_end() {
            items.push(self.disjunction(field)?);
        }
        let level = Nesting { items };
        self.check(&level)?;
        Ok(level)
    }

    fn at_end(&mut self) -> bool {
        let next = self.lexemes.peek();
        next.is_none_or(|lexeme| matches!(lexeme.kind, Kind::Close { .. }))
    }

    fn disjunction(&mut self, field: Option<&str>) -> Result<Item> {
        let mut alternatives = vec![self.conjunction(field)?];
        while self.takes(Operator::Or) {
            alternatives.push(self.conjunction(field)?);
        }
        Ok(Item { alternatives })
    }

    fn conjunction(&mut self, field: Option<&str>) -> Result<Vec<SignedClause>> {
        let mut clauses = vec![self.clause(field)?];
        while self.takes(Operator::And) {
            clauses.push(self.clause(field)?);
        }
        Ok(clauses)
    }

    /// Takes an operator if it comes next.
    fn takes(&mut self, operator: Operator) -> bool {
        let is_next = |lexeme: &Lexeme| match operator {
            Operator::And => matches!(lexeme.kind, Kind::And),
            Operator::Or => matches!(lexeme.kind, Kind::Or),
        };
        self.lexemes.next_if(is_next).is_some()
    }

    fn clause(&mut self, field: Option<&str>) -> Result<SignedClause> {
        let start = self.lexemes.peek().map_or(0, |lexeme| lexeme.start);
        let signs = self.signs();
        let query = self.primary(field, None)?;
        let occurs = signs.occurs();
        let scores = !matches!(occurs, Occurs::MustNot | Occurs::Filter);
        if matches!(query.as_optional(), Query::Boost { .. }) && !scores {
            let what = "a boost behind -, NOT, ! or #, where nothing scores";
            return Err(invalid(what, self.text, start, "leave the ^ out"));
        }
        Ok(SignedClause {
            start,
            occurs,
            is_signed: signs != Signs::default(),
            query,
        })
    }

    fn signs(&mut self) -> Signs {
        let mut signs = Signs::default();
        while let Some(lexeme) = self.lexemes.peek() {
            match lexeme.kind {
                Kind::Require => signs.required = true,
                Kind::Filter => signs.filter = true,
                Kind::Prohibit | Kind::Not => signs.negated = !signs.negated,
                _ => break,
            }
            self.lexemes.next();
        }
        signs
    }

    /// `start` is where the field before an operand stands.
    fn primary(&mut self, field: Option<&str>, start: Option<usize>) -> Result<WordQuery> {
        let Some(lexeme) = self.lexemes.next() else {
            return Ok(WordQuery::from(Query::MatchNone));
        };
        let start = start.unwrap_or(lexeme.start);
        match lexeme.kind {
            Kind::Field(name) => self.primary(Some(&name), Some(start)),
            Kind::Open => self.group(field).map(WordQuery::from),
            Kind::Operand(operand, boost) => {
                let leaf = self.leaf(operand, field);
                self.check_leaf(leaf.as_optional(), start)?;
                Ok(leaf.boosted(boost))
            }
            // Signs and operators always have something to act on.
            _ => Ok(WordQuery::from(Query::MatchNone)),
        }
    }

    /// Fails if the field cannot answer, or nothing can.
    fn check_leaf(&self, leaf: &Query, start: usize) -> Result<()> {
        let checked = fields::check(leaf, self.schema, &|_| false);
        checked.map_err(|error| located(&error, self.text, start))?;
        leaf.as_kind(|kind| kind.check_written())
            .map_err(|(what, advice)| invalid(what, self.text, start, advice))?;
        if leaves(leaf) > MAX_CLAUSES {
            let what = format!("a word of more than {MAX_CLAUSES} pairs of characters");
            let advice = "ask for a part of it, or in several queries";
            return Err(invalid(&what, self.text, start, advice));
        }
        Ok(())
    }

    fn group(&mut self, field: Option<&str>) -> Result<Query> {
        let level = self.level(field)?;
        let Some(Lexeme {
            kind: Kind::Close { minimum, boost },
            start,
            ..
        }) = self.lexemes.next()
        else {
            return Ok(level.into_query(0, self.operator));
        };
        // Of how many is asked, those are optional.
        let operator = if minimum > 0 {
            Operator::Or
        } else {
            self.operator
        };
        let query = level.into_query(minimum, operator);
        if let Query::Bool { should, .. } = &query
            && should.len() < minimum as usize
        {
            let what = format!("at least {minimum} of {} optional clauses", should.len());
            let advice = "ask for fewer, or write more without a sign or AND";
            return Err(invalid(&what, self.text, start, advice));
        }
        Ok(WordQuery::from(query).boosted(boost).optional())
    }

    /// Nothing may depend on how far a sign reaches.
    fn check(&self, level: &Nesting) -> Result<()> {
        let alone = level.items.len() == 1;
        for item in level.items.iter().filter(|item| item.is_joined()) {
            let first = item.clauses().next();
            let first = first.filter(|clause| clause.is_signed && !alone);
            if let Some(clause) = first {
                let what = "it is unclear how far the sign or NOT reaches";
                let advice = "write parentheses around what AND and OR join";
                return Err(invalid(what, self.text, clause.start, advice));
            }
            let is_conjunction = alone && item.alternatives.len() == 1;
            let mut clauses = item.clauses().filter(|_| !is_conjunction);
            let wrong = clauses.find(|c| matches!(c.occurs, Occurs::Must | Occurs::Filter));
            if let Some(clause) = wrong {
                let what = "a + or # before what AND and OR join with others";
                let advice = "leave the sign out, or write parentheses around what it is for";
                return Err(invalid(what, self.text, clause.start, advice));
            }
        }
        Ok(())
    }

    fn leaf(&self, operand: Operand, field: Option<&str>) -> WordQuery {
        let name = field;
        let field = field.map(str::to_string);
        let is_value = name.is_some_and(|name| name == EXISTS || fields::is_id(name, self.schema));
        let operand = if is_value { plain(operand) } else { operand };
        WordQuery::from(match operand {
            Operand::Word(text) if name != Some(EXISTS) => {
                return word(text, name, self.operator, self.schema);
            }
            Operand::Word(field) => Query::Exists { field },
            Operand::Phrase { text, slop: 0 } if name == Some(EXISTS) => {
                Query::Exists { field: text }
            }
            Operand::Everything => Query::MatchAll,
            Operand::Anything => field.map_or(Query::MatchAll, |field| Query::Exists { field }),
            Operand::Parts { text, operator } => Query::Text {
                field,
                text,
                operator,
            },
            Operand::Phrase { text, slop } => Query::Phrase { field, text, slop },
            Operand::PhrasePattern {
                text,
                pattern,
                slop,
            } => Query::PhrasePattern {
                field,
                text,
                pattern,
                slop,
                first: None,
            },
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
            // The sign stands behind the colon of a field.
            Operand::OneOf(values) => {
                field.map_or(Query::MatchNone, |field| Query::OneOf { field, values })
            }
        })
    }
}

/// Makes plain text of a pattern in quotes: external IDs and names are only whole.
fn plain(operand: Operand) -> Operand {
    let Operand::PhrasePattern {
        mut text,
        pattern,
        slop,
    } = operand
    else {
        return operand;
    };
    text.extend(pattern_parts(&pattern).map(|part| match part {
        PatternPart::Many => '*',
        PatternPart::One => '?',
        PatternPart::Literal(character) => character,
    }));
    Operand::Phrase { text, slop }
}

/// An error of an operand with the place where that stands.
fn located(error: &Error, text: &str, at: usize) -> Error {
    let character = character(text, at);
    Error::invalid(format!("{error} (at character {character} of the query)"))
}

/// The signs before a clause; two negations cancel each other.
#[derive(Default, PartialEq, Eq)]
struct Signs {
    negated: bool,
    required: bool,
    filter: bool,
}

impl Signs {
    fn occurs(&self) -> Occurs {
        match self {
            Signs { negated: true, .. } => Occurs::MustNot,
            Signs { filter: true, .. } => Occurs::Filter,
            Signs { required: true, .. } => Occurs::Must,
            _ => Occurs::Plain,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurs {
    Plain,
    Must,
    MustNot,
    Filter,
}

/// A query and the signs before it.
struct SignedClause {
    start: usize,
    occurs: Occurs,
    is_signed: bool,
    query: WordQuery,
}

/// Conjunctions that OR joins: one, of one clause, unless AND or OR stands in it.
struct Item {
    alternatives: Vec<Vec<SignedClause>>,
}

impl Item {
    /// Returns true if it contains AND or OR.
    fn is_joined(&self) -> bool {
        self.alternatives.len() > 1 || self.alternatives[0].len() > 1
    }

    fn clauses(&self) -> impl Iterator<Item = &SignedClause> {
        self.alternatives.iter().flatten()
    }
}

/// The clauses side by side, up to a parenthesis.
struct Nesting {
    items: Vec<Item>,
}

impl Nesting {
    /// The items as one query; a lone clause without a sign stands for itself.
    fn into_query(self, minimum_should_match: u32, operator: Operator) -> Query {
        let mut lists = ClauseLists::default();
        let alone = self.items.len() == 1;
        for item in self.items {
            lists.add(item, alone, operator);
        }
        lists.into_query(minimum_should_match)
    }
}

/// The clauses of a level by what they mean for a match.
#[derive(Default)]
struct ClauseLists {
    must: Vec<Query>,
    should: Vec<Query>,
    must_not: Vec<Query>,
    filter: Vec<Query>,
}

impl ClauseLists {
    fn add(&mut self, mut item: Item, alone: bool, operator: Operator) {
        if item.alternatives.len() == 1 {
            let mut clauses = item.alternatives.swap_remove(0);
            match clauses.len() {
                1 if alone => self.add_clause(clauses.swap_remove(0), Operator::Or),
                1 => self.add_clause(clauses.swap_remove(0), operator),
                // What AND joins is required of this level too, if nothing else or only AND is
                // beside it.
                _ if alone || operator == Operator::And => self.add_all(clauses),
                _ => self.should.push(all(clauses)),
            }
            return;
        }
        let any = item.alternatives.into_iter().map(all);
        if operator == Operator::Or || alone {
            self.should.extend(any);
        } else {
            self.must.push(ClauseLists::of_should(any.collect()));
        }
    }

    fn of_should(should: Vec<Query>) -> Query {
        let lists = ClauseLists {
            should,
            ..ClauseLists::default()
        };
        lists.into_query(0)
    }

    fn add_all(&mut self, clauses: Vec<SignedClause>) {
        for clause in clauses {
            self.add_clause(clause, Operator::And);
        }
    }

    /// Adds a clause; `operator` says what it is without a sign.
    fn add_clause(&mut self, clause: SignedClause, operator: Operator) {
        let (list, query) = match (clause.occurs, operator) {
            (Occurs::Plain, Operator::Or) => (&mut self.should, clause.query.optional()),
            (Occurs::Must, _) | (Occurs::Plain, Operator::And) => {
                (&mut self.must, clause.query.required())
            }
            (Occurs::MustNot, _) => (&mut self.must_not, clause.query.required()),
            (Occurs::Filter, _) => (&mut self.filter, clause.query.required()),
        };
        list.push(query);
    }

    fn into_query(mut self, minimum_should_match: u32) -> Query {
        let signed = self.must.len() + self.must_not.len() + self.filter.len();
        match (signed, self.should.len(), minimum_should_match) {
            (0, 0, _) => Query::MatchNone,
            (0, 1, 0) => self.should.swap_remove(0),
            _ => Query::Bool {
                must: self.must,
                should: self.should,
                must_not: self.must_not,
                filter: self.filter,
                minimum_should_match,
            },
        }
    }
}

/// One query that all clauses of a conjunction make.
fn all(clauses: Vec<SignedClause>) -> Query {
    let mut lists = ClauseLists::default();
    match <[SignedClause; 1]>::try_from(clauses) {
        Ok([clause]) => lists.add_clause(clause, Operator::Or),
        Err(clauses) => lists.add_all(clauses),
    }
    lists.into_query(0)
}
