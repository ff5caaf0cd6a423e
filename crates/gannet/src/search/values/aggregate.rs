//! Aggregations over the documents that a query finds: passes over their columns, window by window,
//! until the run has all that it wants.
//!
//! Keywords are counted by number. Those that only buffers have get numbers behind those of the
//! tree for as long as the run lasts.

use std::collections::BTreeMap;
use std::ops::{Bound, Range};
use std::sync::Arc;

use gannet_aggregate::{
    Aggregation, Aggregations, Batch, ColumnValues as FedValues, FilterDocuments, IpRange, Kind,
    Pass, Run, Scope, State, Terms, Want,
};
use gannet_values::{Address, ValueType};
use serde_json::Value as Json;

use super::{FEW, column_of, is_absent, now_ms};
use crate::base::{Budget, DocId, Error, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::columns::{
    ColumnReader, ColumnValues, KeywordNumbers, MapEntry, PieceUse, ValueVisitor,
};
use crate::search::matching::matcher::for_all;
use crate::search::query::Query;
use crate::search::query::fields::shown;
use crate::search::scoring::doc_bits::DocBits;
use crate::search::scoring::top::AllDocs;
use crate::search::view::SearchView;

/// Documents of a window: a multiple of those of a piece.
const WINDOW: DocId = 16 * 1024;

/// Numbers and terms that are looked up at once.
const LOOKED_UP: usize = 256;

/// Aggregations that are asked for beside hits.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregationRequest {
    /// The aggregations.
    pub tree: Aggregations,
    /// The queries of filters, by their numbers in the tree.
    pub filters: Vec<Query>,
    /// Set if all buckets are kept, so that states of several indexes can be merged.
    pub is_shard: bool,
}

/// Aggregations being computed.
pub struct AggregateRun {
    run: Option<Run<'static>>,
    all: Box<AllDocs>,
    /// The documents of each filter.
    filters: Vec<AllDocs>,
    /// All live documents, if a pass wants them.
    live: Option<Box<AllDocs>>,
    columns: BTreeMap<String, AggregatedColumn>,
    /// Fields that only other indexes have.
    absent: Vec<String>,
    pass: Option<WindowPass>,
    below: DocId,
    memory: Reservation,
    budget: Budget,
}

/// A column of the aggregations.
struct AggregatedColumn {
    reader: ColumnReader,
    numbers: KeywordNumbers,
    are_numbered: bool,
    /// Memory of these numbers.
    memory: Option<Reservation>,
    /// Terms or numbers that were looked up for the present wish.
    found_numbers: Vec<Option<u32>>,
    found_terms: Vec<String>,
}

/// A pass over all windows.
struct WindowPass {
    wanted: Pass,
    next: DocId,
    columns: Vec<WindowColumn>,
}

/// The values of a field in a window.
struct WindowColumn {
    field: String,
    /// The pass over all windows, once it has begun.
    pass: Option<ColumnValues>,
    /// Set while the window is being read, and once it was.
    is_begun: bool,
    is_read: bool,
    docs: Vec<DocId>,
    keys: Vec<u64>,
    /// Where values of another type begin: the place, and the type.
    parts: Vec<(usize, ValueType)>,
}

/// Takes values of documents that are wanted, from the first of a window on.
struct Taker<'w> {
    first: DocId,
    wanted: Option<&'w DocBits>,
    numbers: &'w KeywordNumbers,
    docs: &'w mut Vec<DocId>,
    keys: &'w mut Vec<u64>,
    parts: &'w mut Vec<(usize, ValueType)>,
}

impl AggregationRequest {
    /// Aggregations without filters, of one index.
    pub fn of(tree: Aggregations) -> AggregationRequest {
        AggregationRequest {
            tree,
            filters: Vec::new(),
            is_shard: false,
        }
    }

    /// Reads aggregations as Elasticsearch writes them. `parse` reads the query of a filter, or
    /// says what is wrong with it.
    pub fn from_json(
        json: &Json,
        parse: &mut dyn FnMut(&Json) -> std::result::Result<Query, String>,
    ) -> Result<AggregationRequest> {
        let mut filters = Vec::new();
        let mut filter = |query: &Json| {
            filters.push(parse(query)?);
            Ok(filters.len() as u32 - 1)
        };
        let mut tree = Aggregations::from_json(json, now_ms(), &mut filter).map_err(told)?;
        tree.number_addresses(&mut |field, range| {
            filters.push(of_addresses(field, range));
            filters.len() as u32 - 1
        });
        Ok(AggregationRequest {
            filters,
            ..AggregationRequest::of(tree)
        })
    }

    /// Adds the `size` most frequent values of a field, which are answered under `name`.
    pub fn add_terms(&mut self, name: String, field: &str, size: usize) {
        self.tree.list.push(Aggregation {
            name,
            kind: Kind::Terms(Terms {
                size,
                ..Terms::of(field)
            }),
            children: Aggregations::default(),
        });
    }

    /// The answer as Elasticsearch writes it.
    pub fn answer(&self, state: &State) -> Result<Json> {
        self.tree.answer(state).map_err(told)
    }

    /// The same with the type of each answer before its name, as in `sterms#kinds`.
    pub fn answer_by_types(&self, state: &State) -> Result<Json> {
        self.tree.answer_by_types(state).map_err(told)
    }
}

impl AggregateRun {
    /// Will compute what is asked for of some documents. Fails if a field has no values, unless it
    /// is one `of_others` that this index does not have.
    pub fn new(
        request: &AggregationRequest,
        all: Box<AllDocs>,
        view: &SearchView,
        of_others: &dyn Fn(&str) -> bool,
        budget: &Budget,
    ) -> Result<AggregateRun> {
        let known = std::cell::RefCell::new((BTreeMap::new(), Vec::new(), None));
        let type_of = |name: &str| {
            // Aggregations of filters have no field.
            if name.is_empty() {
                return None;
            }
            let (columns, absent, failed) = &mut *known.borrow_mut();
            match column_of(name, view) {
                Ok(reader) => {
                    let value_type = reader.column().value_type;
                    let column = AggregatedColumn {
                        reader,
                        numbers: KeywordNumbers::default(),
                        are_numbered: !value_type.has_strings(),
                        memory: None,
                        found_numbers: Vec::new(),
                        found_terms: Vec::new(),
                    };
                    columns.entry(name.to_owned()).or_insert(column);
                    Some(value_type)
                }
                Err(_) if of_others(name) && is_absent(name, view) => {
                    absent.push(name.to_owned());
                    Some(request.tree.fitting_type(name))
                }
                Err(error) => {
                    failed.get_or_insert(error);
                    None
                }
            }
        };
        let scope = if request.is_shard {
            Scope::Shard
        } else {
            Scope::Alone
        };
        let mut held = budget.reserve("aggregations", 0)?;
        let reserve = move |bytes: usize| held.grow_to(bytes).is_ok();
        let run = Run::new(&request.tree, scope, &type_of, Box::new(reserve));
        let (columns, absent, failed) = known.into_inner();
        if let Some(error) = failed {
            return Err(error);
        }
        Ok(AggregateRun {
            run: Some(run.map_err(told)?),
            all,
            filters: Vec::new(),
            live: None,
            columns,
            absent,
            pass: None,
            below: view.below,
            memory: budget.reserve("the values of a window of documents", 0)?,
            budget: budget.clone(),
        })
    }

    /// Gives the documents of the next filter.
    pub fn give_filter(&mut self, docs: AllDocs) {
        self.filters.push(docs);
    }

    /// Returns true if all live documents are wanted, which were not given yet.
    pub fn wants_live(&self) -> bool {
        let all = |run: &Run<'_>| matches!(run.wants(), Want::Pass(pass) if pass.all_documents);
        self.live.is_none() && self.run.as_ref().is_some_and(all)
    }

    /// Gives all live documents.
    pub fn give_live(&mut self, docs: Box<AllDocs>) {
        self.live = Some(docs);
    }

    /// Works until all is found, or all live documents are wanted.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while !self.wants_live() {
            let Some(run) = &mut self.run else {
                return Ok(());
            };
            match run.wants() {
                Want::Nothing => return Ok(()),
                Want::Numbers { field, terms } => {
                    let numbers = match self.columns.get_mut(&field) {
                        Some(column) => column.numbers_of(&terms, &self.budget, pages)?,
                        None => vec![None; terms.len()],
                    };
                    let given = run.give_numbers(&numbers);
                    given.map_err(|error| self.told(error))?;
                }
                Want::Terms { field, numbers } => {
                    let column = self.columns.get_mut(&field);
                    let column = column.ok_or_else(|| Error::internal("terms of no column"))?;
                    let terms = column.terms_of(&numbers, pages)?;
                    let given = run.give_terms(&terms);
                    given.map_err(|error| self.told(error))?;
                }
                Want::Pass(wanted) => {
                    self.pass(wanted, pages)?;
                    if let Some(run) = &mut self.run {
                        let ended = run.end_of_pass();
                        ended.map_err(|error| self.told(error))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn told(&self, error: gannet_aggregate::Error) -> Error {
        let held = self.run.as_ref().map_or(0, Run::held_bytes);
        told_within(error, held, &self.budget)
    }

    /// Returns the findings, and the documents of which they are.
    pub fn finish(mut self) -> Result<(State, Box<AllDocs>)> {
        let run = self.run.take();
        let run = run.ok_or_else(|| Error::internal("aggregations end once"))?;
        let held = run.held_bytes();
        let state = run.into_state();
        let mut state = state.map_err(|error| told_within(error, held, &self.budget))?;
        self.absent
            .iter()
            .for_each(|field| state.forget_type(field));
        Ok((state, self.all))
    }

    /// Feeds all documents to the run.
    fn pass(&mut self, wanted: Pass, pages: &mut Pages<'_>) -> Step<()> {
        for field in &wanted.fields {
            if let Some(column) = self.columns.get_mut(field) {
                column.number(&self.budget, pages)?;
            }
        }
        let mut pass = self.pass.take().unwrap_or_else(|| WindowPass::new(wanted));
        let done = self.go_on(&mut pass, pages);
        if done.is_err() {
            self.pass = Some(pass);
        }
        done
    }

    fn go_on(&mut self, pass: &mut WindowPass, pages: &mut Pages<'_>) -> Step<()> {
        while pass.next < self.below {
            let end = self.below.min(pass.next.saturating_add(WINDOW));
            let window = pass.next..end;
            let asked = match &self.live {
                Some(live) if pass.wanted.all_documents => &live.docs,
                _ => &self.all.docs,
            };
            if asked.has_any(window.clone()) {
                let columns = &self.columns;
                for_all(&mut pass.columns, |own| {
                    own.read(columns, asked, &window, pages)
                })?;
                let bytes = pass.columns.iter().map(WindowColumn::bytes).sum::<usize>();
                self.memory
                    .grow_to(bytes + window.len() * 2 * size_of::<DocId>())?;
                pages.count_steps(window.len())?;
                self.feed(pass, &window)?;
            }
            for column in &mut pass.columns {
                column.is_read = false;
            }
            pass.next = end;
        }
        Ok(())
    }

    /// Feeds a window, cut where values become those of another type.
    fn feed(&mut self, pass: &WindowPass, window: &Range<DocId>) -> Result<()> {
        let takes_all = pass.wanted.all_documents;
        let matching = self.all.docs.within(window.clone());
        let live = self.live.as_ref().filter(|_| takes_all);
        let live = live.map(|live| live.docs.within(window.clone()));
        let documents = live.as_ref().unwrap_or(&matching);
        let filters = pass.wanted.filters.iter().map(|id| {
            let docs = self.filters.get(*id as usize);
            let docs = docs.map(|all| all.docs.within(window.clone()));
            (*id, docs.unwrap_or_default())
        });
        let filters: Vec<(u32, Vec<DocId>)> = filters.collect();
        let filters: Vec<FilterDocuments<'_>> = filters
            .iter()
            .map(|(filter, documents)| FilterDocuments {
                filter: *filter,
                documents,
            })
            .collect();
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        let cuts = pass.cuts(window);
        for part in cuts.windows(2) {
            let part = part[0]..part[1];
            let columns = pass.columns.iter().filter_map(|own| own.part(&part));
            let columns: Vec<FedValues<'_>> = columns.collect();
            let fed = run.feed(&Batch {
                documents: within(documents, &part),
                matching: takes_all.then(|| within(&matching, &part)),
                columns: &columns,
                filters: &filters,
            });
            fed.map_err(told)?;
        }
        Ok(())
    }
}

/// The part of documents, which ascend, that is in a range.
fn within<'d>(docs: &'d [DocId], range: &Range<DocId>) -> &'d [DocId] {
    let from = docs.partition_point(|doc| *doc < range.start);
    let to = docs.partition_point(|doc| *doc < range.end);
    &docs[from..to]
}

impl AggregatedColumn {
    /// Gives numbers to the keywords that only buffers have.
    fn number(&mut self, budget: &Budget, pages: &mut Pages<'_>) -> Step<()> {
        if !self.are_numbered {
            if self.memory.is_none() {
                // Each may be one that the tree does not have, and vectors double as they grow.
                let bytes = self.reader.buffered_terms() * 2 * size_of::<(u32, usize, u32)>();
                self.memory = Some(budget.reserve("the keywords of new documents", bytes)?);
            }
            self.reader.number_buffers(&mut self.numbers, pages)?;
            self.are_numbered = true;
        }
        Ok(())
    }

    fn numbers_of(
        &mut self,
        terms: &[String],
        budget: &Budget,
        pages: &mut Pages<'_>,
    ) -> Step<Vec<Option<u32>>> {
        self.number(budget, pages)?;
        while self.found_numbers.len() < terms.len() {
            let from = self.found_numbers.len();
            let some = &terms[from..terms.len().min(from + LOOKED_UP)];
            let some: Vec<&[u8]> = some.iter().map(String::as_bytes).collect();
            let found = self.reader.numbers_of(&some, &self.numbers, pages)?;
            self.found_numbers.extend(found);
        }
        Ok(std::mem::take(&mut self.found_numbers))
    }

    fn terms_of(&mut self, numbers: &[u32], pages: &mut Pages<'_>) -> Step<Vec<String>> {
        while self.found_terms.len() < numbers.len() {
            let from = self.found_terms.len();
            let some = &numbers[from..numbers.len().min(from + LOOKED_UP)];
            let keys: Vec<u64> = some
                .iter()
                .map(|number| self.numbers.key(*number))
                .collect();
            let terms = self.reader.term_strings(&keys, pages)?;
            let terms = terms
                .iter()
                .map(|term| String::from_utf8_lossy(term).into_owned());
            self.found_terms.extend(terms);
        }
        Ok(std::mem::take(&mut self.found_terms))
    }
}

impl WindowPass {
    fn new(wanted: Pass) -> WindowPass {
        let columns = wanted.fields.iter().map(|field| WindowColumn {
            field: field.clone(),
            pass: None,
            is_begun: false,
            is_read: false,
            docs: Vec::new(),
            keys: Vec::new(),
            parts: Vec::new(),
        });
        WindowPass {
            columns: columns.collect(),
            wanted,
            next: 0,
        }
    }

    /// The documents at which a column goes on with values of another type, and both ends.
    fn cuts(&self, window: &Range<DocId>) -> Vec<DocId> {
        let mut cuts = vec![window.start, window.end];
        for column in &self.columns {
            let later = column.parts.iter().skip(1);
            cuts.extend(later.filter_map(|(at, _)| column.docs.get(*at)));
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }
}

impl WindowColumn {
    /// Reads the values of a window.
    fn read(
        &mut self,
        columns: &BTreeMap<String, AggregatedColumn>,
        wanted: &DocBits,
        window: &Range<DocId>,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let column = columns.get(&self.field).filter(|_| !self.is_read);
        let Some(column) = column else {
            return Ok(());
        };
        if !self.is_begun {
            self.docs.clear();
            self.keys.clear();
            self.parts.clear();
            self.is_begun = true;
        }
        // One pass for all windows, so that a round may ask for what later ones need.
        let begin = || column.reader.values(window.start..DocId::MAX);
        let pass = self.pass.get_or_insert_with(begin);
        let mut taker = Taker {
            first: window.start,
            wanted: Some(wanted),
            numbers: &column.numbers,
            docs: &mut self.docs,
            keys: &mut self.keys,
            parts: &mut self.parts,
        };
        while pass.advance_below(window.end, &mut taker, pages)? {}
        self.is_begun = false;
        self.is_read = true;
        Ok(())
    }

    /// The values of a part of the window in which all have one type.
    fn part(&self, docs: &Range<DocId>) -> Option<FedValues<'_>> {
        let from = self.docs.partition_point(|doc| *doc < docs.start);
        let to = self.docs.partition_point(|doc| *doc < docs.end);
        let begun = self.parts.partition_point(|(at, _)| *at <= from);
        let (_, value_type) = self.parts.get(begun.checked_sub(1)?)?;
        Some(FedValues {
            field: &self.field,
            value_type: *value_type,
            documents: &self.docs[from..to],
            keys: &self.keys[from..to],
        })
    }

    fn bytes(&self) -> usize {
        let values = self.docs.capacity() * size_of::<DocId>();
        values + self.keys.capacity() * size_of::<u64>()
    }
}

impl ValueVisitor for Taker<'_> {
    fn judge(&self, entry: &MapEntry) -> PieceUse {
        match self.wanted {
            Some(wanted) if !wanted.has_any(entry.first..entry.end()) => PieceUse::Skip,
            _ => PieceUse::Values,
        }
    }

    fn few_docs(&self, docs: Range<DocId>, found: &mut Vec<DocId>) -> bool {
        let wanted = self.wanted;
        wanted.is_some_and(|wanted| wanted.few_within(docs, FEW, found))
    }

    fn values(&mut self, value_type: ValueType, docs: &[DocId], keys: &[u64]) -> Result<()> {
        // Windows in which nothing is wanted are passed over.
        let from = docs.partition_point(|doc| *doc < self.first);
        let (docs, keys) = (&docs[from..], &keys[from..]);
        if docs.is_empty() {
            return Ok(());
        }
        if self
            .parts
            .last()
            .is_none_or(|(_, known)| *known != value_type)
        {
            self.parts.push((self.docs.len(), value_type));
        }
        self.docs.extend_from_slice(docs);
        if !value_type.has_strings() {
            self.keys.extend_from_slice(keys);
            return Ok(());
        }
        let begin = self.keys.len();
        if keys.iter().all(|key| *key <= u64::from(u32::MAX)) {
            // Numbers of the tree, which ascend in each document.
            self.keys.extend_from_slice(keys);
            return Ok(());
        }
        let numbers = keys.iter().map(|key| u64::from(self.numbers.number(*key)));
        self.keys.extend(numbers);
        // Numbers that buffers were given are in another order than their places there.
        let mut at = begin;
        for run in docs.chunk_by(|a, b| a == b) {
            if run.len() > 1 {
                self.keys[at..at + run.len()].sort_unstable();
            }
            at += run.len();
        }
        Ok(())
    }
}

/// The documents that have an address in a range.
fn of_addresses(field: &str, range: &IpRange) -> Query {
    // An open end below stands for all addresses, as one above does.
    let first = Address::of_bits(0);
    Query::Range {
        field: Some(field.to_owned()),
        lower: Bound::Included(range.from.unwrap_or(first).to_string()),
        upper: range
            .to
            .map_or(Bound::Unbounded, |end| Bound::Excluded(end.to_string())),
    }
}

/// The error of an aggregation as one of the engine.
/// The error of a run that holds so many bytes of the budget.
fn told_within(error: gannet_aggregate::Error, held: usize, budget: &Budget) -> Error {
    match error {
        gannet_aggregate::Error::Memory { aggregation, bytes } => {
            let free = budget.total().saturating_sub(budget.used()) + held;
            Error::Memory {
                what: format!("aggregation {} with those beside it", shown(&aggregation)).into(),
                // It is estimated, and was too much in any case.
                needed: usize::try_from(bytes).unwrap_or(usize::MAX).max(free + 1),
                free,
                budget: budget.total(),
            }
        }
        other => told(other),
    }
}

fn told(error: gannet_aggregate::Error) -> Error {
    match error {
        gannet_aggregate::Error::Given(reason) => Error::internal(reason),
        buckets @ gannet_aggregate::Error::Buckets { .. } => Error::Buckets(buckets.to_string()),
        other => Error::invalid(other.to_string()),
    }
}

/// The findings of aggregations, to be answered or to be merged with those of other indexes.
pub type AggregationState = Arc<State>;
