//! A run: the passes over the documents of one index that a tree needs.
//!
//! A run does no input or output. It says what it wants, and the caller gives it: numbers of terms,
//! batches of documents with their values, terms of numbers. Buckets of terms and of composites are
//! chosen after a pass, and what is below them is collected in the next one for those alone.

use std::collections::{BTreeMap, BTreeSet};

use gannet_values::ValueType;

use crate::batch::{Batch, CHUNK, Chunk, Pair, Pairs, are_in};
use crate::error::{Error, Result};
use crate::memory::{Full, Ledger, Reserve};
use crate::state::State;
use crate::tree::{Aggregations, FilterId};

mod below;
mod buckets;
pub(crate) mod composite;
mod context;
pub(crate) mod cut;
mod export;
mod finder;
mod hashing;
mod metric;
mod node;
mod partitions;
mod plan;
mod plan_buckets;
mod request;
mod sources;
mod winners;

use below::Below;
use context::Context;
use finder::Finder;
pub(crate) use finder::number_of_interval;
use node::{Node, Work};
use plan::{Numbers, Plan, Planner, terms_needed};

/// The documents that a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All documents: buckets that are not answered are dropped.
    Alone,
    /// One of several shards: all buckets are kept, so that states merge. They must fit in memory.
    Shard,
}

/// The next wish of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// The numbers of terms: [`Run::give_numbers`].
    Numbers {
        /// The field.
        field: String,
        /// The terms, ascending.
        terms: Vec<String>,
    },
    /// The terms of numbers: [`Run::give_terms`].
    Terms {
        /// The field.
        field: String,
        /// The numbers, ascending.
        numbers: Vec<u32>,
    },
    /// All documents in batches: [`Run::feed`], then [`Run::end_of_pass`].
    Pass(Pass),
    /// Nothing more: [`Run::into_state`].
    Nothing,
}

/// The fields, filters and documents that a pass wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// The fields whose values are wanted.
    pub fields: Vec<String>,
    /// The filters whose documents are wanted.
    pub filters: Vec<FilterId>,
    /// If documents are wanted that do not match, too.
    pub all_documents: bool,
}

/// The passes that a tree needs. See the crate for an example.
pub struct Run<'m> {
    tree: Aggregations,
    types: BTreeMap<String, ValueType>,
    needed: Vec<(String, Vec<String>)>,
    numbers: Numbers,
    plan: Option<Plan>,
    context: Context<'m>,
    passes: u64,
    has_failed: bool,
}

impl<'m> Run<'m> {
    /// Prepares a run. `type_of` gives the type of a field, none if it has no column. `reserve` is
    /// asked to make the reservation of the run so many bytes large, before they are taken.
    pub fn new(
        tree: &Aggregations,
        scope: Scope,
        type_of: &dyn Fn(&str) -> Option<ValueType>,
        reserve: Reserve<'m>,
    ) -> Result<Run<'m>> {
        let mut needed = BTreeMap::new();
        terms_needed(tree, type_of, &mut needed);
        let mut run = Run {
            tree: tree.clone(),
            types: BTreeMap::new(),
            needed: needed
                .into_iter()
                .map(|(field, terms)| (field, terms.into_iter().collect()))
                .collect(),
            numbers: Numbers::new(),
            plan: None,
            context: Context {
                ledger: Ledger::new(reserve),
                documents: 0,
                is_whole: scope == Scope::Shard,
                short: None,
            },
            passes: 0,
            has_failed: false,
        };
        // Mistakes are found before anything is looked up.
        let plan = run.plan(type_of)?;
        let fields = plan.fields.iter().cloned().zip(plan.types.iter().copied());
        run.types = fields.collect();
        let scratch = CHUNK * (16 * (1 + plan.fields.len()) + plan.filters.len());
        if run.context.ledger.add(scratch).is_err() {
            let first = tree.list.first().map_or("", |own| own.name.as_str());
            run.context.note_short(first);
            return Err(run.memory_error());
        }
        run.plan_if_ready()?;
        Ok(run)
    }

    fn plan(&self, type_of: &dyn Fn(&str) -> Option<ValueType>) -> Result<Plan> {
        Planner::new(type_of, &self.numbers, self.context.is_whole).plan(&self.tree)
    }

    fn plan_if_ready(&mut self) -> Result<()> {
        if self.needed.is_empty() {
            let types = self.types.clone();
            self.plan = Some(self.plan(&|field| types.get(field).copied())?);
        }
        Ok(())
    }

    /// Returns what is wanted next.
    pub fn wants(&self) -> Want {
        if let Some((field, terms)) = self.needed.last() {
            return Want::Numbers {
                field: field.clone(),
                terms: terms.clone(),
            };
        }
        let Some(plan) = &self.plan else {
            return Want::Nothing;
        };
        if let Some(request) = plan.nodes.iter().find_map(Node::request) {
            return Want::Terms {
                field: plan.fields.get(request.column).cloned().unwrap_or_default(),
                numbers: request.numbers,
            };
        }
        if plan.nodes.iter().any(Below::wants_pass) {
            return Want::Pass(plan.pass());
        }
        Want::Nothing
    }

    /// Returns the number of passes so far.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Returns the bytes that are reserved now.
    pub fn held_bytes(&self) -> usize {
        self.context.ledger.held()
    }

    /// Returns the most bytes that were reserved at once.
    pub fn most_bytes(&self) -> usize {
        self.context.ledger.most()
    }

    /// Gives the numbers of the terms that are wanted, none of a term that the index does not have.
    pub fn give_numbers(&mut self, numbers: &[Option<u32>]) -> Result<()> {
        let (field, terms) = self
            .needed
            .pop()
            .filter(|(_, terms)| terms.len() == numbers.len())
            .ok_or_else(|| Error::given("numbers are given that were not asked for"))?;
        for (term, number) in terms.into_iter().zip(numbers) {
            self.numbers.insert((field.clone(), term), *number);
        }
        self.plan_if_ready()
    }

    /// Gives the terms of the numbers that are wanted.
    pub fn give_terms(&mut self, terms: &[String]) -> Result<()> {
        let count = match self.wants() {
            Want::Terms { numbers, .. } => numbers.len(),
            _ => 0,
        };
        let Some(plan) = self
            .plan
            .as_mut()
            .filter(|_| count == terms.len() && count > 0)
        else {
            return Err(Error::given("terms are given that were not asked for"));
        };
        for node in &mut plan.nodes {
            match node.give(terms, &mut self.context) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(Full) => return Err(self.memory_error()),
            }
        }
        Ok(())
    }

    /// Reads a batch of documents. Batches of a pass follow each other in ascending doc IDs.
    pub fn feed(&mut self, batch: &Batch<'_>) -> Result<()> {
        let Some(plan) = self.plan.as_mut() else {
            return Err(Error::given(
                "documents are given before they are asked for",
            ));
        };
        batch.check(&plan.pass().filters)?;
        for documents in batch.documents.chunks(CHUNK) {
            self.context.documents += documents.len() as u64;
            if !self.has_failed && plan.collect(batch, documents, &mut self.context).is_err() {
                // The rest of the pass only counts documents, to say how much memory suffices.
                self.has_failed = true;
            }
        }
        Ok(())
    }

    /// Ends a pass over all documents.
    pub fn end_of_pass(&mut self) -> Result<()> {
        self.passes += 1;
        let mut result = if self.has_failed { Err(Full) } else { Ok(()) };
        for node in self.plan.iter_mut().flat_map(|plan| &mut plan.nodes) {
            result = result.and_then(|()| node.end_of_pass(1, &mut self.context));
        }
        if result.is_err() {
            return Err(self.memory_error());
        }
        self.context.documents = 0;
        self.context.short = None;
        Ok(())
    }

    /// Returns what was found, once nothing more is wanted.
    pub fn into_state(mut self) -> Result<State> {
        if self.wants() != Want::Nothing {
            return Err(Error::given("the run is not at its end"));
        }
        let types = self.types.iter();
        let types = types
            .map(|(field, own)| (field.clone(), own.code()))
            .collect();
        let nodes = self.plan.take().map(|plan| plan.nodes).unwrap_or_default();
        let exported = export::export(&self.tree, &nodes, &mut self.context);
        let Ok(exported) = exported else {
            return Err(self.memory_error());
        };
        Ok(State {
            is_whole: self.context.is_whole,
            types,
            nodes: exported,
        })
    }

    /// Says how much memory is expected to suffice: as much more as there are more documents than
    /// it did suffice for, and a half for lists that grow.
    fn memory_error(&self) -> Error {
        let all = self.context.documents.max(1);
        let (aggregation, wanted, documents) = match &self.context.short {
            Some(short) => (short.aggregation.clone(), short.wanted, short.documents),
            None => {
                let first = self.tree.list.first();
                let name = first.map(|own| own.name.clone()).unwrap_or_default();
                (name, self.context.ledger.rejected(), all)
            }
        };
        let share = wanted as u128 * u128::from(all) / u128::from(documents.max(1));
        let bytes = u64::try_from(share * 2).unwrap_or(u64::MAX);
        // A first list may be all that was rejected.
        let bytes = bytes.max(1 << 20);
        Error::Memory { aggregation, bytes }
    }
}

impl Plan {
    fn pass(&self) -> Pass {
        let (mut columns, mut filters) = (BTreeSet::new(), BTreeSet::new());
        let mut all_documents = false;
        for node in &self.nodes {
            node.for_each_reading(&mut |node| match &node.work {
                Work::Metric(own) => {
                    columns.insert(own.column);
                }
                Work::Hashing(_) => {}
                Work::Composite(own) => columns.extend(own.sources.iter().map(|own| own.column)),
                Work::Buckets(own) => match &own.finder {
                    Finder::Terms(own) => {
                        columns.insert(own.column);
                    }
                    Finder::Ranges(own) => {
                        columns.insert(own.column);
                    }
                    Finder::Histogram(own) => {
                        columns.insert(own.column);
                    }
                    Finder::Dates(own) => {
                        columns.insert(own.column);
                    }
                    Finder::Missing(column) => {
                        columns.insert(*column);
                    }
                    Finder::Filter(filter) => {
                        filters.insert(*filter);
                    }
                    Finder::Filters(own, _) => filters.extend(own),
                    Finder::Global => all_documents = true,
                },
            });
        }
        let field = |number: usize| self.fields.get(number).cloned();
        let filter = |number: usize| self.filters.get(number).copied();
        Pass {
            fields: columns.into_iter().filter_map(field).collect(),
            filters: filters.into_iter().filter_map(filter).collect(),
            all_documents,
        }
    }

    fn collect<'b>(
        &mut self,
        batch: &Batch<'b>,
        documents: &'b [u32],
        context: &mut Context<'_>,
    ) -> std::result::Result<(), Full> {
        let chunk = Chunk::of(batch, documents, &self.fields, &self.filters);
        let pair = |document: usize| Pair {
            document: document as u32,
            bucket: 0,
        };
        if self.all.is_empty() {
            self.all = (0..CHUNK).map(pair).collect();
        }
        let all = &self.all[..documents.len().min(CHUNK)];
        let matching = batch.matching.map(|matching| {
            let is_in = are_in(documents, matching).into_iter();
            let both = all.iter().zip(is_in).filter(|(_, is_in)| *is_in);
            both.map(|(pair, _)| *pair).collect::<Vec<Pair>>()
        });
        let all = Pairs {
            list: all,
            are_all: true,
        };
        let matching = matching.as_deref().map_or(all, Pairs::found);
        for node in &mut self.nodes {
            let is_global = matches!(
                &node.work,
                Work::Buckets(own) if matches!(own.finder, Finder::Global)
            );
            let pairs = if is_global { all } else { matching };
            node.collect(&chunk, pairs, context)?;
        }
        Ok(())
    }
}
