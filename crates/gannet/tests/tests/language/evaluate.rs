//! The answer to a tree by the rules of the grammar, document by document.
//!
//! Only what a single leaf finds and how it scores is left to the oracle.

use gannet::{Operator, Query};

use super::super::oracle::Rejection;
use super::super::oracle::view::View;
use super::tree::{Asked, Leaf, Sign, Tree};

/// Scores by document, nothing where it does not match.
pub type Column = Vec<Option<f32>>;

/// Why the engine may reject a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    Leaf(Rejection),
    /// An external ID is asked for in part.
    Id,
    /// It can be read in two ways.
    Unclear,
}

impl Wrong {
    /// Whether an error is about that.
    pub fn is_said_by(self, error: &str) -> bool {
        match self {
            Wrong::Leaf(rejection) => rejection.is_said_by(error),
            Wrong::Id => error.contains("external IDs are only found whole"),
            Wrong::Unclear => error.contains("unclear how far"),
        }
    }
}

/// Evaluates trees over the documents of a view.
pub struct Evaluator<'a> {
    pub view: &'a View<'a>,
    /// The IDs of the documents of the view.
    pub ids: &'a [String],
    /// What joins clauses that nothing else joins.
    pub operator: Operator,
    pub wrongs: Vec<Wrong>,
    pub is_cut: bool,
}

impl Evaluator<'_> {
    /// The score of each document that matches; without meaning where something is wrong. Nothing
    /// where the analyzers leave no word of the tree: it is as if it were not there.
    pub fn column(&mut self, tree: &Tree, field: Option<&str>, boost: f32) -> Option<Column> {
        match tree {
            Tree::Leaf(leaf) => self.leaf(leaf, field, boost),
            Tree::Boost(inner, factor) => self.column(inner, field, boost * factor),
            Tree::In(field, inner) => {
                if self.view.field(field).is_none() {
                    self.wrongs.push(Wrong::Leaf(Rejection::Field));
                }
                self.column(inner, Some(field), boost)
            }
            Tree::Not(inner) => match &**inner {
                Tree::Not(twice) => self.column(twice, field, boost),
                _ => self.others(inner, field),
            },
            Tree::And(parts) => {
                let columns = self.columns(parts, field, boost);
                self.at_least(&columns, columns.len())
            }
            Tree::Or(parts) => {
                let columns = self.columns(parts, field, boost);
                self.at_least(&columns, 1)
            }
            Tree::AtLeast(count, parts) => {
                let columns = self.columns(parts, field, boost);
                self.at_least(&columns, columns.len().min(*count))
            }
            Tree::Side(items) => self.side(items, field, boost),
        }
    }

    fn columns(&mut self, parts: &[Tree], field: Option<&str>, boost: f32) -> Vec<Column> {
        let each = parts.iter();
        each.filter_map(|part| self.column(part, field, boost))
            .collect()
    }

    /// All documents that do not match.
    fn others(&mut self, tree: &Tree, field: Option<&str>) -> Option<Column> {
        let each = self.column(tree, field, 1.0)?.into_iter();
        Some(each.map(|score| score.is_none().then_some(0.0)).collect())
    }

    fn at_least(&self, columns: &[Column], count: usize) -> Option<Column> {
        let sum = |doc: usize| {
            let scores: Vec<f32> = columns.iter().filter_map(|column| column[doc]).collect();
            (scores.len() >= count).then(|| sum(&scores))
        };
        (!columns.is_empty()).then(|| (0..self.ids.len()).map(sum).collect())
    }

    fn side(&mut self, items: &[(Sign, Tree)], field: Option<&str>, boost: f32) -> Option<Column> {
        let (mut needed, mut optional, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        for (sign, item) in items {
            let Some(column) = self.column(item, field, boost) else {
                continue;
            };
            match (sign, self.operator) {
                (Sign::Must, _) | (Sign::None, Operator::And) => needed.push(column),
                (Sign::None, Operator::Or) => optional.push(column),
                (Sign::MustNot, _) => excluded.push(column),
                (Sign::Filter, _) => {
                    let unscored = column.into_iter().map(|score| score.map(|_| 0.0));
                    needed.push(unscored.collect());
                }
            }
        }
        if needed.is_empty() && optional.is_empty() && excluded.is_empty() {
            return None;
        }
        let one_optional = usize::from(needed.is_empty() && !optional.is_empty());
        let score = |doc: usize| {
            let of = |columns: &[Column]| -> Vec<f32> {
                columns.iter().filter_map(|column| column[doc]).collect()
            };
            let (all, some) = (of(&needed), of(&optional));
            let matches =
                all.len() == needed.len() && of(&excluded).is_empty() && some.len() >= one_optional;
            matches.then(|| sum(&[all, some].concat()))
        };
        Some((0..self.ids.len()).map(score).collect())
    }

    fn leaf(&mut self, leaf: &Leaf, outer: Option<&str>, boost: f32) -> Option<Column> {
        let field = leaf.field.as_deref().or(outer);
        if let Asked::Everything = leaf.asked {
            return Some(vec![Some(boost); self.ids.len()]);
        }
        if field == Some("id") {
            return Some(self.id(&leaf.asked, boost));
        }
        match self.view.column(&self.query(&leaf.asked, field)) {
            Ok((column, is_cut)) => {
                self.is_cut |= is_cut;
                let column = column?.into_iter();
                Some(column.map(|score| Some(score? * boost)).collect())
            }
            Err(rejection) => {
                self.wrongs.push(Wrong::Leaf(rejection));
                Some(vec![None; self.ids.len()])
            }
        }
    }

    fn id(&mut self, asked: &Asked, boost: f32) -> Column {
        let is_wanted = |id: &String| match asked {
            Asked::Word(text) | Asked::Phrase(text, 0) => id == text,
            _ => matches!(asked, Asked::Exists),
        };
        if !matches!(asked, Asked::Word(_) | Asked::Phrase(_, 0) | Asked::Exists) {
            self.wrongs.push(Wrong::Id);
        }
        let each = self.ids.iter();
        each.map(|id| is_wanted(id).then_some(boost)).collect()
    }

    fn query(&self, asked: &Asked, field: Option<&str>) -> Query {
        let field = field.map(str::to_owned);
        match asked.clone() {
            Asked::Word(text) => Query::Text {
                field,
                text,
                operator: self.operator,
            },
            Asked::Phrase(text, slop) => Query::Phrase { field, text, slop },
            Asked::Pattern(pattern) => Query::Wildcard { field, pattern },
            Asked::Fuzzy(text, distance) => Query::Fuzzy {
                field,
                text,
                distance,
            },
            Asked::Range(lower, upper) => Query::Range {
                field,
                lower,
                upper,
            },
            Asked::Exists => field.map_or(Query::MatchAll, |field| Query::Exists { field }),
            Asked::Everything => Query::MatchAll,
        }
    }
}

fn sum(scores: &[f32]) -> f32 {
    scores.iter().map(|score| f64::from(*score)).sum::<f64>() as f32
}
