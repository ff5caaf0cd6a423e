//! From a plan and the lists of its terms to what is run: matchers, the formula and its leaves.
//!
//! Parts that match nothing are left out, and what needs them with them. The root is taken apart
//! into clauses where that lets the ranking prune.

use std::sync::Arc;

use super::lists::{OpenLists, OpenPattern, OpenTerm};
use super::plan::{PlanNode, PlanSlot};
use super::view::SearchView;
use crate::analysis::{FieldId, fingerprint, split_term_key};
use crate::base::{Budget, PhraseFilters, Result};
use crate::postings::{Neighbours, TermList};
use crate::search::matching::conjunction::Conjunction;
use crate::search::matching::disjunction::Disjunction;
use crate::search::matching::doc_set::DocSet;
use crate::search::matching::matcher::Matcher;
use crate::search::matching::phrase::{LastWord, PhraseCheck, PhraseWord};
use crate::search::matching::phrase_lists::{PhraseLists, phrase_cursor_bytes};
use crate::search::matching::sets::{
    ConstantMatcher, Everything, HasField, One, SetMembers, Source, Union,
};
use crate::search::matching::term::TermMatcher;
use crate::search::rank::root::{Clause, Root};
use crate::search::rank::score::Score;
use crate::search::scoring::bm25::{Bm25, FieldStatistics, Statistics, idf};
use crate::search::scoring::formula::{Formula, Leaf, LeafId};

/// Describes a leaf for explanations: a term, a phrase, or something whose score is constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeafNote {
    /// The field, or for a constant what it is.
    pub field: String,
    /// The terms with their document frequencies; none for a constant.
    pub terms: Vec<(String, u64)>,
    /// The boost.
    pub boost: f32,
    /// The statistics of the field.
    pub statistics: FieldStatistics,
    /// Set if these and the frequencies were given, so that they are not those of the index.
    pub is_given: bool,
}

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
    let root = builder.root(node)?;
    Ok(Built {
        root,
        score: Score::new(builder.leaves),
        has_all: builder.has_all,
        notes: builder.notes,
    })
}

/// Of several clauses those are prefiltered that have more than one in so many documents. Rarer
/// ones lose by it (2 to 3 % more instructions): sums leave out as much.
const SCREENED: u64 = 16;

/// Bytes of a clause beside its cursor: the matcher, the leaf, its part of the formula.
const CLAUSE_BYTES: usize = 1 << 10;

struct Builder<'a> {
    lists: &'a OpenLists,
    view: &'a SearchView,
    statistics: &'a Statistics,
    budget: &'a Budget,
    options: BuildOptions,
    width: usize,
    leaves: Vec<Leaf>,
    has_all: bool,
    notes: Vec<LeafNote>,
}

/// The most leaves that a node can have.
fn leaf_count(node: &PlanNode, lists: &OpenLists) -> usize {
    let all = |nodes: &[PlanNode]| -> usize { nodes.iter().map(|n| leaf_count(n, lists)).sum() };
    match node {
        PlanNode::None => 0,
        PlanNode::Pattern(slot, _) => lists.patterns[*slot].terms.len().max(1),
        PlanNode::All(_) | PlanNode::Term(..) | PlanNode::Phrase { .. } => 1,
        PlanNode::Exists(..) | PlanNode::Id(..) => 1,
        PlanNode::Any { parts, .. } | PlanNode::Best(parts) => all(parts),
        PlanNode::Filtered {
            required,
            excluded,
            optional,
        } => all(required) + all(excluded) + all(optional),
    }
}

/// Bytes that what is built of a node takes: cursors, matchers, leaves.
pub fn cursor_bytes(node: &PlanNode, lists: &OpenLists) -> usize {
    let all = |nodes: &[PlanNode]| -> usize { nodes.iter().map(|n| cursor_bytes(n, lists)).sum() };
    let cursor = |open: &OpenTerm| CLAUSE_BYTES + open.list.cursor_bytes();
    match node {
        PlanNode::None | PlanNode::All(_) | PlanNode::Exists(..) | PlanNode::Id(..) => CLAUSE_BYTES,
        PlanNode::Term(slot, _) => lists.terms[*slot].as_ref().map_or(0, cursor),
        PlanNode::Pattern(slot, _) => {
            let terms = lists.patterns[*slot].terms.iter();
            CLAUSE_BYTES + terms.map(cursor).sum::<usize>()
        }
        PlanNode::Phrase { words, last, .. } => {
            let mut slots: Vec<PlanSlot> = words.iter().map(|(slot, _)| *slot).collect();
            slots.sort_unstable();
            slots.dedup();
            let open = slots.iter().filter_map(|slot| lists.terms[*slot].as_ref());
            let each = |list: &TermList| CLAUSE_BYTES + list.cursor_bytes();
            let ends = last
                .iter()
                .flat_map(|(slot, _)| &lists.patterns[*slot].terms);
            // For their documents, and for the positions.
            let ends = ends.map(|term| size_of::<&TermList>() + 2 * cursor(term));
            words.len() * size_of::<PhraseWord<'_>>()
                + phrase_cursor_bytes(open.map(|term| &term.list), each)
                + ends.sum::<usize>()
        }
        PlanNode::Any { parts, .. } | PlanNode::Best(parts) => CLAUSE_BYTES + all(parts),
        PlanNode::Filtered {
            required,
            excluded,
            optional,
        } => CLAUSE_BYTES + all(required) + all(excluded) + all(optional),
    }
}

impl Builder<'_> {
    fn root(&mut self, node: &PlanNode) -> Result<Root> {
        let mut root = Root {
            clauses: Vec::new(),
            driven: false,
            tie: 1.0,
        };
        match node {
            PlanNode::Any { parts, minimum: 1 } => {
                root.clauses = self.clauses(parts)?;
                self.prefilter_dense(&mut root.clauses);
            }
            PlanNode::Best(parts) => {
                root.clauses = self.clauses(parts)?;
                root.tie = 0.0;
            }
            PlanNode::Pattern(slot, Some(boost)) if self.lists.patterns[*slot].is_fuzzy => {
                root.clauses = self.fuzzy(*slot, Some(*boost))?;
            }
            PlanNode::Filtered {
                required,
                excluded,
                optional,
            } if !optional.is_empty() => {
                root.driven = true;
                if let Some(driver) = self.filtered(required, excluded, &[])? {
                    root.clauses.push(driver);
                    root.clauses.extend(self.clauses(optional)?);
                }
            }
            other => root.clauses.extend(self.node(other)?),
        }
        if root.clauses.len() > 1 || !self.options.two_phases {
            let clauses = root.clauses.into_iter();
            root.clauses = clauses.map(Clause::verified).collect();
        }
        Ok(root)
    }

    /// The nodes that match anything.
    fn clauses(&mut self, nodes: &[PlanNode]) -> Result<Vec<Clause>> {
        let built = nodes.iter().map(|node| self.node(node).transpose());
        built.flatten().collect()
    }

    fn node(&mut self, node: &PlanNode) -> Result<Option<Clause>> {
        match node {
            PlanNode::None => Ok(None),
            PlanNode::Term(slot, boost) => {
                let lists = self.lists;
                let term = lists.terms[*slot].as_ref();
                term.map(|term| self.term(term, *boost)).transpose()
            }
            PlanNode::Phrase {
                words,
                last,
                slop,
                boost,
            } => self.phrase(words, *last, *slop, *boost),
            PlanNode::Pattern(slot, boost) => self.pattern(*slot, *boost),
            PlanNode::All(boost) => {
                self.has_all = true;
                let all = Everything(self.view.below);
                Ok(Some(
                    self.constant(all, *boost, || "all documents".to_owned()),
                ))
            }
            PlanNode::Exists(field, boost) => Ok(Some(self.exists(*field, *boost))),
            PlanNode::Id(slot, boost) => Ok(self.id(*slot, *boost)),
            PlanNode::Any { parts, minimum } => {
                let clauses = self.clauses(parts)?;
                Ok(self.any(clauses, *minimum, Formula::Sum))
            }
            PlanNode::Best(parts) => {
                let clauses = self.clauses(parts)?;
                Ok(self.any(clauses, 1, |parts| Formula::Best { parts, tie: 0.0 }))
            }
            PlanNode::Filtered {
                required,
                excluded,
                optional,
            } => self.filtered(required, excluded, optional),
        }
    }

    fn any(
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

    fn filtered(
        &mut self,
        required: &[PlanNode],
        excluded: &[PlanNode],
        optional: &[PlanNode],
    ) -> Result<Option<Clause>> {
        let before = self.leaves.len();
        let mut all = self.clauses(required)?;
        if all.len() < required.len() {
            return Ok(None);
        }
        all.iter_mut().for_each(|clause| self.prefilter(clause));
        let (all, mut formulas) = split(all);
        let (none, _) = split(self.clauses(excluded)?);
        let (some, more) = split(self.clauses(optional)?);
        formulas.extend(more);
        let leaves = self.leaves.len() - before;
        let below = self.view.below.into();
        let matcher = Conjunction::new(all, none, some, self.width, leaves, below);
        Ok(Some(Clause::new(Box::new(matcher), Formula::Sum(formulas))))
    }

    /// Lets a clause that is one ranked leaf leave documents out by their own scores.
    fn prefilter(&self, clause: &mut Clause) {
        if let Formula::Leaf(leaf) = clause.formula
            && let Some(field) = self.leaves[leaf].field()
            && let Some(list) = clause.matcher.list()
        {
            let norms = self.view.tables.norm_cursor(field);
            list.score().prefilter(norms);
        }
    }

    /// Screens the dense of several clauses.
    fn prefilter_dense(&self, clauses: &mut [Clause]) {
        let several = clauses.len() > 1;
        let is_dense =
            |clause: &&mut Clause| clause.matcher.cost() * SCREENED > self.view.below as u64;
        let dense = clauses.iter_mut().filter(is_dense);
        dense
            .filter(|_| several)
            .for_each(|clause| self.prefilter(clause));
    }

    fn term(&mut self, term: &OpenTerm, boost: Option<f32>) -> Result<Clause> {
        let boost = boost.map(|boost| boost * term.similarity);
        let (field, _) = split_term_key(&term.key)?;
        let scored = self.ranked(field, &[term], None, boost);
        let formula = formula_of(&scored);
        let matcher = TermMatcher::new(term.list.cursor(), scored);
        Ok(Clause::new(Box::new(matcher), formula))
    }

    /// A leaf for terms that stand together in a field, and one that `last` stands for behind them.
    fn ranked(
        &mut self,
        field: FieldId,
        terms: &[&OpenTerm],
        last: Option<&OpenPattern>,
        boost: Option<f32>,
    ) -> Option<(LeafId, Leaf)> {
        let boost = boost?;
        let statistics = self.statistics.of(field);
        let frequencies = terms.iter().map(|term| term.frequency);
        let frequencies = frequencies.chain(last.map(|last| last.most_frequent().0));
        let each = frequencies.map(|frequency| idf(statistics.documents, frequency));
        let sum = each.map(f64::from).sum::<f64>() as f32;
        let bm25 = Bm25::new(sum, boost, self.statistics.norms(field));
        if self.options.notes {
            let name = self.view.schema.field(field);
            let names = terms.iter().map(|term| term.name_and_frequency());
            self.notes.push(LeafNote {
                field: name.map_or(String::new(), |field| field.name.clone()),
                terms: names.chain(last.map(name_of_any)).collect(),
                boost,
                statistics,
                is_given: self.options.is_given,
            });
        }
        Some(self.leaf(Leaf::Ranked { field, bm25 }))
    }

    fn leaf(&mut self, leaf: Leaf) -> (LeafId, Leaf) {
        self.leaves.push(leaf.clone());
        (self.leaves.len() - 1, leaf)
    }

    fn constant(
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

    fn exists(&mut self, field: FieldId, boost: Option<f32>) -> Clause {
        let view = self.view;
        let documents = view.statistics.of(field).documents;
        let source = HasField::new(view.tables.norm_cursor(field), view.below, documents);
        let what = || "documents that have the field".to_owned();
        self.constant(source, boost, what)
    }

    fn id(&mut self, slot: PlanSlot, boost: Option<f32>) -> Option<Clause> {
        let doc = self.lists.ids[slot]?;
        // The newest with an ID may be deleted.
        self.has_all = true;
        let what = || "the document with the external ID".to_owned();
        Some(self.constant(One(doc), boost, what))
    }

    fn pattern(&mut self, slot: PlanSlot, boost: Option<f32>) -> Result<Option<Clause>> {
        let OpenPattern {
            is_fuzzy,
            terms,
            documents,
            ..
        } = &self.lists.patterns[slot];
        if *is_fuzzy && boost.is_some() {
            let clauses = self.fuzzy(slot, boost)?;
            return Ok(self.any(clauses, 1, Formula::Sum));
        }
        if let Some(documents) = documents {
            let members = SetMembers(Arc::clone(&documents.set));
            let what = || format!("{} terms of a pattern", documents.sources.terms);
            return Ok(Some(self.constant(members, boost, what)));
        }
        if terms.is_empty() {
            return Ok(None);
        }
        let cursors = terms.iter().map(|term| term.list.cursor()).collect();
        let union = Union::new(cursors, DocSet::new(self.budget)?);
        let what = || format!("{} terms of a pattern", terms.len());
        Ok(Some(self.constant(union, boost, what)))
    }

    fn fuzzy(&mut self, slot: PlanSlot, boost: Option<f32>) -> Result<Vec<Clause>> {
        let terms = &self.lists.patterns[slot].terms;
        terms.iter().map(|term| self.term(term, boost)).collect()
    }

    fn phrase(
        &mut self,
        words: &[(PlanSlot, u32)],
        last: Option<(PlanSlot, u32)>,
        slop: u32,
        boost: Option<f32>,
    ) -> Result<Option<Clause>> {
        let lists = self.lists;
        let last = last.map(|(slot, place)| (&lists.patterns[slot], place));
        if last.is_some_and(|(pattern, _)| pattern.terms.is_empty()) {
            return Ok(None);
        }
        let open: Option<Vec<&OpenTerm>> = words
            .iter()
            .map(|(slot, _)| lists.terms[*slot].as_ref())
            .collect();
        let Some(open) = open else {
            return Ok(None);
        };
        let Some(first) = open.first() else {
            return Ok(None);
        };
        let field = split_term_key(&first.key)?.0;
        let scored = self.ranked(field, &open, last.map(|(pattern, _)| pattern), boost);
        let formula = formula_of(&scored);
        let filters = match slop {
            0 => self.filters_of(field),
            _ => PhraseFilters::None,
        };
        let words = words.iter().zip(open);
        let words = words.map(|((slot, place), term)| PhraseWord {
            place: *place,
            word: *slot,
            fingerprint: fingerprint(&term.key, filters),
            proves: Neighbours::default(),
            list: &term.list,
        });
        let lists = PhraseLists {
            words: words.collect(),
            last: last.map(|(pattern, place)| LastWord {
                place,
                lists: pattern.terms.iter().map(|term| &term.list).collect(),
            }),
            filters,
            slop,
        };
        let below = self.view.below.into();
        let (matcher, check) = lists.matcher(scored, self.width, below, self.budget)?;
        let clause = Clause {
            check,
            ..Clause::new(matcher, formula)
        };
        // Only the frequency of a leaf is bounded by what its approximation tells.
        let bounded = |check: &PhraseCheck| check.is_bounded() && clause.formula.is_leaf();
        if clause.check.as_ref().is_none_or(bounded) {
            Ok(Some(clause))
        } else {
            Ok(Some(clause.verified()))
        }
    }

    /// The phrase filters that a field keeps, if they are asked.
    fn filters_of(&self, field: FieldId) -> PhraseFilters {
        let field = self.view.schema.field(field);
        let kept = field.map(|field| field.options.phrase_filters());
        let asked = kept.filter(|_| self.options.filters);
        asked.unwrap_or(PhraseFilters::None)
    }
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

fn formula_of(scored: &Option<(LeafId, Leaf)>) -> Formula {
    let leaf = scored.as_ref().map(|(leaf, _)| Formula::Leaf(*leaf));
    leaf.unwrap_or_else(Formula::zero)
}

fn split(clauses: Vec<Clause>) -> (Vec<Box<dyn Matcher>>, Vec<Formula>) {
    let parts = clauses.into_iter().map(Clause::verified);
    parts.map(|clause| (clause.matcher, clause.formula)).unzip()
}
