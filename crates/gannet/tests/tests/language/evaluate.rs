//! The answer to a tree by the rules of the grammar, document by document.
//!
//! Only what a single leaf finds and how it scores is left to the oracle.

use std::ops::Bound;

use gannet::{Operator, Query};

use super::tree::{Asked, Leaf, Sign, Tree};
use gannet_testkit::oracle::Rejection;
use gannet_testkit::oracle::view::View;

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
    /// No value is in a range.
    EmptyRange,
    /// A boost where nothing scores.
    Boost,
}

impl Wrong {
    /// Returns true if an error is about this.
    pub fn is_said_by(self, error: &str) -> bool {
        match self {
            Wrong::Leaf(rejection) => rejection.is_said_by(error),
            Wrong::Id => error.contains("external IDs are only found whole"),
            Wrong::Unclear => error.contains("unclear how far"),
            Wrong::EmptyRange => error.contains("a range without values"),
            Wrong::Boost => error.contains("a boost behind -, NOT, ! or #"),
        }
    }
}

/// Evaluates trees over the documents of a view.
pub struct Evaluator<'a> {
    pub view: &'a View<'a>,
    /// The IDs of the documents of the view.
    pub ids: &'a [String],
    /// The operator of clauses that nothing else joins.
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
                let (adding, needed): (Vec<_>, Vec<_>) =
                    parts.iter().partition(|part| self.is_partial(part, field));
                let adding = self.columns(adding, field, boost);
                let needed = self.columns(needed, field, boost);
                if needed.is_empty() {
                    self.at_least(&adding, 1, &[])
                } else {
                    self.at_least(&needed, needed.len(), &adding)
                }
            }
            Tree::Or(parts) => {
                let columns = self.columns(parts, field, boost);
                self.at_least(&columns, 1, &[])
            }
            Tree::AtLeast(count, parts) => {
                let columns = self.columns(parts, field, boost);
                self.at_least(&columns, columns.len().min(*count), &[])
            }
            Tree::Side(items) => self.side(items, field, boost),
        }
    }

    /// Returns true if only some of the fields have a word of a tree, and it asks for nothing else.
    fn is_partial(&self, tree: &Tree, field: Option<&str>) -> bool {
        let all = |parts: &[&Tree]| {
            let mut left = parts
                .iter()
                .filter(|part| self.is_left(part, field))
                .peekable();
            left.peek().is_some() && left.all(|part| self.is_partial(part, field))
        };
        match tree {
            Tree::Leaf(leaf) => {
                let field = leaf.field.as_deref().or(field);
                self.view.is_partial(&self.query(&leaf.asked, field))
            }
            Tree::Not(inner) => match &**inner {
                Tree::Not(twice) => self.is_partial(twice, field),
                _ => false,
            },
            Tree::Boost(inner, _) => self.is_partial(inner, field),
            Tree::In(field, inner) => self.is_partial(inner, Some(field)),
            Tree::And(parts) | Tree::Or(parts) | Tree::AtLeast(_, parts) => {
                all(&parts.iter().collect::<Vec<_>>())
            }
            Tree::Side(items) => {
                let mut excluded = items.iter().filter(|(sign, _)| *sign == Sign::MustNot);
                !excluded.any(|(_, item)| self.is_left(item, field))
                    && all(&items.iter().map(|(_, item)| item).collect::<Vec<_>>())
            }
        }
    }

    /// Returns true if the analyzers leave anything of a tree.
    fn is_left(&self, tree: &Tree, field: Option<&str>) -> bool {
        match tree {
            Tree::Leaf(leaf) => {
                let field = leaf.field.as_deref().or(field);
                let asked = self.query(&leaf.asked, field);
                field == Some("id") || !matches!(self.view.column(&asked), Ok((None, _)))
            }
            Tree::Not(inner) | Tree::Boost(inner, _) => self.is_left(inner, field),
            Tree::In(field, inner) => self.is_left(inner, Some(field)),
            Tree::And(parts) | Tree::Or(parts) | Tree::AtLeast(_, parts) => {
                parts.iter().any(|part| self.is_left(part, field))
            }
            Tree::Side(items) => items.iter().any(|(_, item)| self.is_left(item, field)),
        }
    }

    fn columns<'t>(
        &mut self,
        parts: impl IntoIterator<Item = &'t Tree>,
        field: Option<&str>,
        boost: f32,
    ) -> Vec<Column> {
        let each = parts.into_iter();
        each.filter_map(|part| self.column(part, field, boost))
            .collect()
    }

    /// All documents that do not match.
    fn others(&mut self, tree: &Tree, field: Option<&str>) -> Option<Column> {
        self.check_unscored(tree);
        let each = self.column(tree, field, 1.0)?.into_iter();
        Some(each.map(|score| score.is_none().then_some(0.0)).collect())
    }

    /// Notes a boost as wrong, because the tree does not score.
    fn check_unscored(&mut self, tree: &Tree) {
        if is_boosted(tree) {
            self.wrongs.push(Wrong::Boost);
        }
    }

    /// The documents that at least `count` of `columns` match; the columns of `adding` add to the
    /// score.
    fn at_least(&self, columns: &[Column], count: usize, adding: &[Column]) -> Option<Column> {
        let sum = |doc: usize| {
            let of = |columns: &[Column]| -> Vec<f32> {
                columns.iter().filter_map(|column| column[doc]).collect()
            };
            let scores = of(columns);
            (scores.len() >= count).then(|| sum(&[scores, of(adding)].concat()))
        };
        (!columns.is_empty()).then(|| (0..self.ids.len()).map(sum).collect())
    }

    fn side(&mut self, items: &[(Sign, Tree)], field: Option<&str>, boost: f32) -> Option<Column> {
        let (mut needed, mut optional, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut adding, mut has_whole) = (Vec::new(), false);
        for (sign, item) in items {
            if matches!(sign, Sign::MustNot | Sign::Filter) {
                self.check_unscored(item);
            }
            let Some(column) = self.column(item, field, boost) else {
                continue;
            };
            let is_partial = *sign != Sign::MustNot && self.is_partial(item, field);
            has_whole |= !is_partial;
            match (sign, self.operator) {
                (Sign::Must, _) | (Sign::None, Operator::And) if is_partial => adding.push(column),
                (Sign::Must, _) | (Sign::None, Operator::And) => needed.push(column),
                (Sign::None, Operator::Or) => optional.push(column),
                (Sign::MustNot, _) => excluded.push(column),
                (Sign::Filter, _) => {
                    let unscored = column.into_iter().map(|score| score.map(|_| 0.0));
                    let list = if is_partial { &mut adding } else { &mut needed };
                    list.push(unscored.collect());
                }
            }
        }
        if !has_whole {
            optional.append(&mut adding);
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
            matches.then(|| sum(&[all, some, of(&adding)].concat()))
        };
        Some((0..self.ids.len()).map(score).collect())
    }

    fn leaf(&mut self, leaf: &Leaf, outer: Option<&str>, boost: f32) -> Option<Column> {
        let field = leaf.field.as_deref().or(outer);
        if let Asked::Everything = leaf.asked {
            return Some(vec![Some(boost); self.ids.len()]);
        }
        if let Asked::Range(lower, upper) = &leaf.asked
            && is_empty(lower, upper)
        {
            self.wrongs.push(Wrong::EmptyRange);
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
            // The parts of a word are in a row.
            Asked::Word(text) => Query::Phrase {
                field,
                text,
                slop: 0,
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

/// Returns true if a tree is written as a single clause with a boost.
fn is_boosted(tree: &Tree) -> bool {
    match tree {
        Tree::Boost(..) => true,
        Tree::In(_, inner) => is_boosted(inner),
        Tree::Not(inner) => matches!(&**inner, Tree::Not(twice) if is_boosted(twice)),
        _ => false,
    }
}

fn is_empty(lower: &Bound<String>, upper: &Bound<String>) -> bool {
    let value = |bound: &Bound<String>| match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value.clone()),
        Bound::Unbounded => None,
    };
    let is_open = [lower, upper]
        .iter()
        .any(|bound| matches!(bound, Bound::Excluded(_)));
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    let (lower, upper) = (value(lower), value(upper));
    if let (Some(lower), Some(upper)) = (number(&lower), number(&upper)) {
        return lower > upper || is_open && lower == upper;
    }
    match (lower, upper) {
        (Some(lower), Some(upper)) => lower > upper || is_open && lower == upper,
        _ => false,
    }
}

fn sum(scores: &[f32]) -> f32 {
    scores.iter().map(|score| f64::from(*score)).sum::<f64>() as f32
}
