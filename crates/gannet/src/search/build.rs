//! From a plan and the lists of its terms to what is run: matchers, the formula and its leaves.
//!
//! Parts that match nothing are left out, and what needs them with them. The root is taken apart
//! into clauses where that lets the ranking prune.

use super::lists::{OpenLists, OpenPattern, OpenTerm};
use super::plan::PlanNode;
use super::view::SearchView;
use crate::analysis::{FieldId, split_term_key};
use crate::base::{Budget, PhraseFilters, Result};
use crate::postings::TermList;
use crate::search::matching::disjunction::Disjunction;
use crate::search::matching::matcher::Matcher;
use crate::search::matching::sets::{ConstantMatcher, Source};
use crate::search::matching::term::TermMatcher;
use crate::search::rank::root::{Clause, Root};
use crate::search::rank::score::Score;
use crate::search::scoring::bm25::Statistics;
use crate::search::scoring::explanation::LeafNote;
use crate::search::scoring::formula::{Formula, Leaf, LeafId};
use crate::search::scoring::scorer::Scorer;

/// A query that is ready to run.
pub struct Built {
    /// The clauses.
    pub root: Root,
    /// The leaves.
    pub score: Score,
    /// Set if any clause may find deleted documents that have left the lists.
    pub has_all: bool,
    /// The description of each leaf, if notes were to be taken.
    pub notes: Vec<LeafNote>,
}

/// Options of building, beside the query.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Set to ask phrase filters.
    pub filters: bool,
    /// Set to take notes of the leaves.
    pub notes: bool,
    /// Set if the statistics were given.
    pub is_given: bool,
    /// Set if the ranking verifies the matches of a phrase that is the whole query.
    pub two_phases: bool,
}

/// Builds the root of a plan, whose scores take what they need to know of fields from `statistics`.
pub fn build(
    node: &PlanNode,
    lists: &OpenLists,
    view: &SearchView,
    statistics: &Statistics,
    budget: &Budget,
    options: BuildOptions,
) -> Result<Built> {
    let mut builder = Builder {
        lists,
        view,
        statistics,
        budget,
        options,
        width: leaf_count(node, lists),
        leaves: Vec::new(),
        has_all: false,
        notes: Vec::new(),
    };
    let mut root = node.as_kind(|kind| kind.root(&mut builder))?;
    if root.clauses.len() > 1 || !options.two_phases {
        let clauses = root.clauses.into_iter();
        root.clauses = clauses.map(Clause::verified).collect();
    }
    Ok(Built {
        root,
        score: Score::new(builder.leaves),
        has_all: builder.has_all,
        notes: builder.notes,
    })
}

/// Bytes of a clause beside its cursor: the matcher, the leaf, its part of the formula.
pub const CLAUSE_BYTES: usize = 1 << 10;

/// The services by which the nodes of a plan build what is run of them.
pub struct Builder<'a> {
    /// The lists of the plan.
    pub lists: &'a OpenLists,
    /// The snapshot.
    pub view: &'a SearchView,
    /// The memory of the index.
    pub budget: &'a Budget,
    /// The most leaves that the query can have.
    pub width: usize,
    /// Set by a node that may find deleted documents that have left the lists.
    pub has_all: bool,
    statistics: &'a Statistics,
    options: BuildOptions,
    leaves: Vec<Leaf>,
    notes: Vec<LeafNote>,
}

/// The most leaves that a node can have.
fn leaf_count(node: &PlanNode, lists: &OpenLists) -> usize {
    let each = node.nodes();
    each.map(|node| node.as_kind(|kind| kind.leaves(lists)))
        .sum()
}

/// Bytes that what is built of a node takes: cursors, matchers, leaves.
pub fn cursor_bytes(node: &PlanNode, lists: &OpenLists) -> usize {
    let each = node.nodes();
    each.map(|node| node.as_kind(|kind| kind.cursor_bytes(lists)))
        .sum()
}

/// Bytes that the clause of a term takes.
pub fn term_bytes(term: &OpenTerm) -> usize {
    list_bytes(&term.list)
}

/// Bytes that the clause of a list takes.
pub fn list_bytes(list: &TermList) -> usize {
    CLAUSE_BYTES + list.cursor_bytes()
}

impl Builder<'_> {
    /// The clause of a node, unless it matches nothing.
    pub fn clause(&mut self, node: &PlanNode) -> Result<Option<Clause>> {
        node.as_kind(|kind| kind.build(self))
    }

    /// The nodes that match anything.
    pub fn clauses(&mut self, nodes: &[PlanNode]) -> Result<Vec<Clause>> {
        let built = nodes.iter().map(|node| self.clause(node).transpose());
        built.flatten().collect()
    }

    /// Clauses at least `minimum` of which must match, with their scores joined.
    pub fn any(
        &self,
        mut clauses: Vec<Clause>,
        minimum: usize,
        join: impl Fn(Vec<Formula>) -> Formula,
    ) -> Option<Clause> {
        if clauses.is_empty() || clauses.len() < minimum {
            return None;
        }
        if clauses.len() == 1 {
            return clauses.pop();
        }
        let (matchers, formulas) = split(clauses);
        let matcher = Box::new(Disjunction::new(matchers, minimum));
        Some(Clause::new(matcher, join(formulas)))
    }

    /// Lets a clause that is one ranked leaf leave documents out by their own scores.
    pub fn prefilter(&self, clause: &mut Clause) {
        if let Formula::Leaf(leaf) = clause.formula
            && let Some(field) = self.leaves[leaf].field()
            && let Some(list) = clause.matcher.list()
        {
            let norms = self.view.tables.norm_cursor(field);
            list.score().prefilter(norms);
        }
    }

    /// The clause of a term.
    pub fn term(&mut self, term: &OpenTerm, boost: Option<f32>) -> Result<Clause> {
        let boost = boost.map(|boost| boost * term.similarity);
        let (field, _) = split_term_key(&term.key)?;
        let scored = self.ranked(field, &[term], None, boost);
        let formula = formula_of(&scored);
        let matcher = TermMatcher::new(term.list.cursor(), scored);
        Ok(Clause::new(Box::new(matcher), formula))
    }

    /// A leaf for terms that stand together in a field, and one that `last` stands for behind them.
    pub fn ranked(
        &mut self,
        field: FieldId,
        terms: &[&OpenTerm],
        last: Option<&OpenPattern>,
        boost: Option<f32>,
    ) -> Option<(LeafId, Leaf)> {
        let boost = boost?;
        let frequencies = terms.iter().map(|term| term.frequency);
        let of_last = last.map_or_else(Vec::new, OpenPattern::frequencies);
        let frequencies = frequencies.chain(of_last);
        let scorer = Scorer::new(self.statistics, field, frequencies, boost);
        if self.options.notes {
            let name = self.view.schema.field(field);
            let names = terms.iter().map(|term| term.name_and_frequency());
            self.notes.push(LeafNote {
                field: name.map_or(String::new(), |field| field.name.clone()),
                terms: names
                    .chain(last.map_or_else(Vec::new, names_of_last))
                    .collect(),
                boost,
                statistics: self.statistics.of(field),
                is_given: self.options.is_given,
                is_whole: self.statistics.is_whole(field),
            });
        }
        Some(self.leaf(Leaf::Ranked { field, scorer }))
    }

    /// The number of leaves so far.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    fn leaf(&mut self, leaf: Leaf) -> (LeafId, Leaf) {
        self.leaves.push(leaf.clone());
        (self.leaves.len() - 1, leaf)
    }

    /// The clause of documents that all have the same score; `what` says which they are.
    pub fn constant(
        &mut self,
        source: impl Source + 'static,
        boost: Option<f32>,
        what: impl FnOnce() -> String,
    ) -> Clause {
        let leaf = boost.map(|boost| {
            if self.options.notes {
                self.notes.push(LeafNote {
                    field: what(),
                    boost,
                    ..LeafNote::default()
                });
            }
            (self.leaf(Leaf::Constant(boost)).0, boost)
        });
        let formula = leaf.map_or(Formula::zero(), |(leaf, _)| Formula::Leaf(leaf));
        Clause::new(Box::new(ConstantMatcher::new(source, leaf)), formula)
    }

    /// The phrase filters that a field keeps, if they are asked.
    pub fn filters_of(&self, field: FieldId) -> PhraseFilters {
        let field = self.view.schema.field(field);
        let kept = field.map(|field| field.options.phrase_filters());
        let asked = kept.filter(|_| self.options.filters);
        asked.unwrap_or(PhraseFilters::None)
    }
}

/// The terms of a pattern whose idfs count, with their documents, for people to read.
fn names_of_last(pattern: &OpenPattern) -> Vec<(String, u64)> {
    let Some(each) = &pattern.each else {
        return vec![name_of_any(pattern)];
    };
    if each.len() == pattern.terms.len() {
        let terms = pattern.terms.iter();
        return terms.map(OpenTerm::name_and_frequency).collect();
    }
    // Some of those that were given are in no document of the index.
    let name = |documents: &u64| ("a term of all indexes".to_owned(), *documents);
    each.iter().map(name).collect()
}

/// The most frequent term of a pattern with its documents, for people to read.
fn name_of_any(pattern: &OpenPattern) -> (String, u64) {
    let (documents, term) = pattern.most_frequent();
    let name = term.map_or(String::new(), |term| term.name_and_frequency().0);
    let name = match pattern.terms.len() {
        1 => name,
        count => format!("{name}, the most frequent of {count} words"),
    };
    (name, documents)
}

/// The formula of a leaf, or of what only filters.
pub fn formula_of(scored: &Option<(LeafId, Leaf)>) -> Formula {
    let leaf = scored.as_ref().map(|(leaf, _)| Formula::Leaf(*leaf));
    leaf.unwrap_or_else(Formula::zero)
}

/// Takes clauses apart.
pub fn split(clauses: Vec<Clause>) -> (Vec<Box<dyn Matcher>>, Vec<Formula>) {
    let parts = clauses.into_iter().map(Clause::verified);
    parts.map(|clause| (clause.matcher, clause.formula)).unzip()
}
