//! The first documents of a set in the order of their values.
//!
//! The documents are gone through in windows. Of each window the values of all keys are read in
//! common rounds, and each document is offered to a heap of the best. Zone maps tell which pieces
//! of the first key need not be read. Nothing in such a piece can come before the worst of a full
//! heap, or before a place that `bound` has found beforehand; or all of it comes before the place
//! behind which hits begin. Where the first key descends, windows are gone through from the last
//! to the first, since values mostly rise with the documents, as dates do.

use std::collections::BinaryHeap;
use std::ops::Range;

use gannet_values::{Number, Value, ValueType, parse_date};

use super::bound::BoundRun;
use super::ranks::TermRanks;
use super::sort_key::{KEYS_MAX, Place, PlacedDoc, number_of};
use super::window::{PlaceLimits, WindowValues};
use super::{SortBy, SortKey, SortValue, column_of};
use crate::base::{Budget, DocId, Error, Reservation, Result};
use crate::cache::{Pages, Step, gather};
use crate::columns::{ColumnReader, ColumnValues};
use crate::search::matching::matcher::for_all;
use crate::search::scoring::top::AllDocs;
use crate::search::view::SearchView;

/// Documents of a window: a multiple of those of a piece, and few enough that the values of all
/// keys take little memory.
const WINDOW: DocId = 32 * 1024;

/// Documents whose values are read at once at the end.
const SHOWN_AT_ONCE: usize = 256;

/// Documents that are to be put in order.
pub struct SortTask {
    /// The documents, and their scores if these are among the keys.
    pub all: Box<AllDocs>,
    /// The number of first documents that are wanted.
    pub wanted: usize,
}

/// A document with its values by the keys.
#[derive(Debug)]
pub struct SortedHit {
    /// The document.
    pub doc: DocId,
    /// Its score; not a number unless scores are among the keys.
    pub score: f32,
    /// Its values.
    pub values: Vec<SortValue>,
}

/// Documents being put in order.
pub struct SortRun {
    task: SortTask,
    keys: Vec<KeyRun>,
    /// Documents up to and including this place are passed over.
    after: Option<Vec<Place>>,
    after_values: Option<Vec<SortValue>>,
    /// Looks for a place that the last wanted hit is not behind by the first key.
    bound: Option<BoundRun>,
    /// That place.
    limit: Option<Place>,
    below: DocId,
    /// The windows that are left to do.
    windows: Range<DocId>,
    is_backward: bool,
    heap: BinaryHeap<PlacedDoc>,
    /// The best documents once all were seen, and how many of them have values.
    best: Vec<PlacedDoc>,
    shown: Vec<SortedHit>,
    state: SortState,
    memory: Reservation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SortState {
    Rank,
    Bound,
    Offer,
    Show,
    Done,
}

/// One key.
struct KeyRun {
    key: SortKey,
    column: Option<ColumnReader>,
    ranks: Option<TermRanks>,
    /// The pass over the values of the window, until it has ended.
    pass: Option<ColumnValues>,
    values: Vec<Option<Number>>,
    is_read: bool,
}

impl SortRun {
    /// Will put documents in order. Fails if a key names a field of which no values are kept,
    /// unless `elsewhere` tells that other indexes have it: no document here has a value then.
    pub fn new(
        task: SortTask,
        keys: &[SortKey],
        after: Option<&[SortValue]>,
        view: &SearchView,
        elsewhere: &dyn Fn(&str) -> bool,
        budget: &Budget,
    ) -> Result<SortRun> {
        check_keys(keys, after)?;
        let runs = keys.iter().enumerate().map(|(at, key)| {
            let column = match &key.by {
                SortBy::Field(name) => match column_of(name, view) {
                    Err(_) if elsewhere(name) => None,
                    column => Some(column?),
                },
                SortBy::Score | SortBy::Doc => None,
            };
            let is_keyword =
                |column: &&ColumnReader| column.column().value_type == ValueType::Keyword;
            let after = after.and_then(|after| after.get(at)?.as_ref());
            let sought = after.and_then(|value| match value {
                Value::Keyword(text) => Some(text.as_bytes().to_vec()),
                _ => None,
            });
            let ranks = column.as_ref().filter(is_keyword);
            let ranks = ranks.map(|column| TermRanks::new(column.clone(), sought, budget));
            Ok(KeyRun {
                key: key.clone(),
                ranks: ranks.transpose()?,
                column,
                pass: None,
                values: Vec::new(),
                is_read: false,
            })
        });
        let runs = runs.collect::<Result<Vec<KeyRun>>>()?;
        let places = keys.len() * size_of::<Place>();
        let entry = size_of::<PlacedDoc>() + places + keys.len() * size_of::<SortValue>();
        let window = keys.len() * WINDOW.min(view.below) as usize * size_of::<Option<Number>>();
        let wanted = task.wanted.min(view.below as usize);
        let memory = budget.reserve("the order of hits", window + 2 * wanted * entry)?;
        let by_number = runs.first().filter(|run| run.ranks.is_none());
        let column = by_number.and_then(|run| run.column.as_ref());
        let bound = match (keys.first(), column) {
            (Some(key), Some(column)) => BoundRun::new(key, column, wanted, view.below, budget)?,
            _ => None,
        };
        Ok(SortRun {
            is_backward: keys.first().is_some_and(|key| key.descending),
            windows: 0..view.below.div_ceil(WINDOW),
            below: view.below,
            keys: runs,
            bound,
            limit: None,
            after: None,
            after_values: after.map(<[SortValue]>::to_vec),
            heap: BinaryHeap::new(),
            best: Vec::new(),
            shown: Vec::new(),
            state: SortState::Rank,
            task,
            memory,
        })
    }

    /// Works until the first documents are known with their values.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        loop {
            match self.state {
                SortState::Rank => {
                    let ranks = self.keys.iter_mut().filter_map(|key| key.ranks.as_mut());
                    for_all(ranks, |ranks| ranks.step(pages))?;
                    self.after = self.after_places()?;
                    self.state = SortState::Bound;
                }
                SortState::Bound => {
                    if let Some(bound) = &mut self.bound {
                        let after = self.after.as_ref().and_then(|after| after.first());
                        bound.step(&self.task.all.docs, after.copied(), pages)?;
                    }
                    self.limit = self.bound.take().and_then(BoundRun::finish);
                    self.state = SortState::Offer;
                }
                SortState::Offer => {
                    self.offer_windows(pages)?;
                    self.best = std::mem::take(&mut self.heap).into_sorted_vec();
                    self.state = SortState::Show;
                }
                SortState::Show => {
                    self.show(pages)?;
                    self.state = SortState::Done;
                }
                SortState::Done => return Ok(()),
            }
        }
    }

    /// The documents in their order, once [`SortRun::step`] came to its end.
    pub fn finish(self) -> Vec<SortedHit> {
        self.shown
    }

    /// The places of the values behind which the hits begin.
    fn after_places(&self) -> Result<Option<Vec<Place>>> {
        let Some(values) = &self.after_values else {
            return Ok(None);
        };
        let places = self.keys.iter().zip(values).map(|(run, value)| {
            let number = match (value, &run.ranks) {
                (None, _) => None,
                (Some(Value::Keyword(_)), Some(ranks)) => ranks.place(),
                (Some(Value::Keyword(text)), None) => Some(run.date_of(text)?),
                (Some(value), None) => number_of(value),
                (Some(value), Some(_)) => return Err(wrong_after(value, &run.key)),
            };
            Ok(run.key.place(number))
        });
        places.collect::<Result<_>>().map(Some)
    }

    fn offer_windows(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while !self.windows.is_empty() && self.task.wanted > 0 {
            let window = if self.is_backward {
                self.windows.end - 1
            } else {
                self.windows.start
            };
            let first = window * WINDOW;
            let docs = first..self.below.min(first.saturating_add(WINDOW));
            if self.task.all.docs.has_any(docs.clone()) {
                self.read_window(&docs, pages)?;
                self.offer_window(&docs, pages)?;
            }
            for key in &mut self.keys {
                key.is_read = false;
            }
            if self.is_backward {
                self.windows.end -= 1;
            } else {
                self.windows.start += 1;
            }
        }
        Ok(())
    }

    fn read_window(&mut self, docs: &Range<DocId>, pages: &mut Pages<'_>) -> Step<()> {
        let worst = match self.heap.peek() {
            Some(worst) if self.heap.len() == self.task.wanted => worst.places.first().copied(),
            _ => None,
        };
        let after = self.after.as_ref().and_then(|after| after.first());
        let limits = PlaceLimits {
            from: after.copied(),
            to: [worst, self.limit].into_iter().flatten().min(),
        };
        let task = &self.task;
        for_all(self.keys.iter_mut().enumerate(), |(at, run)| {
            let limits = if at == 0 {
                limits
            } else {
                PlaceLimits::default()
            };
            run.read(task, docs, limits, pages)
        })
    }

    fn offer_window(&mut self, docs: &Range<DocId>, pages: &mut Pages<'_>) -> Result<()> {
        pages.count_steps(docs.len() / 16)?;
        if self.is_beyond_limit() {
            return Ok(());
        }
        for word in docs.start / 64..docs.end.div_ceil(64) {
            let mut bits = self.task.all.docs.word(word as usize);
            while bits != 0 {
                let doc = word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                self.offer(doc, (doc - docs.start) as usize);
            }
        }
        Ok(())
    }

    /// Returns true if the window has no value before the limit: others were not read.
    fn is_beyond_limit(&self) -> bool {
        let first = self.keys.first();
        let has_none = first.is_some_and(|run| run.values.iter().all(Option::is_none));
        self.limit.is_some() && has_none
    }

    /// Offers a document whose values stand at `at` of the window.
    fn offer(&mut self, doc: DocId, at: usize) {
        let place = |run: &KeyRun| run.key.place(run.values.get(at).copied().flatten());
        let first = self.keys.first().map(place);
        if self.limit.is_some() && first > self.limit {
            return;
        }
        let is_full = self.heap.len() == self.task.wanted;
        if let (true, Some(worst)) = (is_full, self.heap.peek())
            && first.as_ref() > worst.places.first()
        {
            return;
        }
        let places: Vec<Place> = self.keys.iter().map(place).collect();
        if self.after.as_ref().is_some_and(|after| places <= *after) {
            return;
        }
        let offered = PlacedDoc { places, doc };
        if !is_full {
            self.heap.push(offered);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && offered < *worst
        {
            *worst = offered;
        }
    }

    /// Reads the values of the best documents.
    fn show(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while self.shown.len() < self.best.len() {
            let from = self.shown.len();
            let to = self.best.len().min(from + SHOWN_AT_ONCE);
            let hits: Vec<DocId> = self.best[from..to].iter().map(|hit| hit.doc).collect();
            let scores = &self.task.all.scores;
            let keys: Vec<&KeyRun> = self.keys.iter().collect();
            let columns = gather(&keys, |run| run.values_of(&hits, scores, pages))?;
            for (at, doc) in hits.iter().enumerate() {
                let values = columns.iter().map(|values| values[at].clone()).collect();
                let score = self.task.all.scores.get(*doc as usize).copied();
                self.shown.push(SortedHit {
                    doc: *doc,
                    score: score.unwrap_or(f32::NAN),
                    values,
                });
            }
        }
        let text = |hit: &SortedHit| {
            let of_value = |value: &SortValue| match value {
                Some(Value::Keyword(text)) => text.len(),
                _ => 0,
            };
            hit.values.iter().map(of_value).sum::<usize>()
        };
        let texts: usize = self.shown.iter().map(text).sum();
        self.memory.grow_to(self.memory.bytes() + texts)?;
        Ok(())
    }
}

impl KeyRun {
    /// The milliseconds of a date that is written, if the values are dates.
    fn date_of(&self, text: &str) -> Result<Number> {
        let is_date = |column: &ColumnReader| column.column().value_type == ValueType::Date;
        let date = parse_date(text).filter(|_| self.column.as_ref().is_some_and(is_date));
        let date = date.map(|date| Number::Long(date.first_ms));
        date.ok_or_else(|| wrong_after(&Value::Keyword(text.into()), &self.key))
    }

    /// Reads the values of a window.
    fn read(
        &mut self,
        task: &SortTask,
        docs: &Range<DocId>,
        limits: PlaceLimits,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if self.is_read {
            return Ok(());
        }
        if self.pass.is_none() {
            self.values.clear();
            match (&self.column, &self.key.by) {
                (Some(column), _) => {
                    self.values.resize(docs.len(), None);
                    self.pass = Some(column.values(docs.clone()));
                }
                (None, SortBy::Score) => {
                    let scores = docs.clone().map(|doc| score_of(&task.all.scores, doc));
                    self.values.extend(scores.map(Some));
                }
                (None, SortBy::Field(_)) => self.values.resize(docs.len(), None),
                (None, SortBy::Doc) => {
                    let numbers = docs.clone().map(|doc| Some(Number::Long(i64::from(doc))));
                    self.values.extend(numbers);
                }
            }
        }
        if let Some(pass) = &mut self.pass {
            let mut visitor = WindowValues {
                docs: &task.all.docs,
                first: docs.start,
                values: &mut self.values,
                key: &self.key,
                ranks: self.ranks.as_ref(),
                limits,
            };
            while pass.advance(&mut visitor, pages)? {}
        }
        self.pass = None;
        self.is_read = true;
        Ok(())
    }

    /// The values of hits, as they are shown.
    fn values_of(
        &self,
        hits: &[DocId],
        scores: &[f32],
        pages: &mut Pages<'_>,
    ) -> Step<Vec<SortValue>> {
        let Some(column) = &self.column else {
            let value = |doc: &DocId| match self.key.by {
                SortBy::Field(_) => None,
                SortBy::Score => Some(Value::Double(score_of(scores, *doc).nearest_double())),
                SortBy::Doc => Some(Value::Long(i64::from(*doc))),
            };
            return Ok(hits.iter().map(value).collect());
        };
        let mut ascending = hits.to_vec();
        ascending.sort_unstable();
        let read = column.values_of(&ascending, pages)?;
        let chosen = read.iter().map(|(value_type, keys)| {
            let number = |key: &u64| self.number(*value_type, *key);
            if self.key.descending {
                keys.iter().copied().max_by_key(number)
            } else {
                keys.iter().copied().min_by_key(number)
            }
        });
        let chosen: Vec<Option<u64>> = chosen.collect();
        let mut terms = Vec::new();
        if self.ranks.is_some() {
            let keys: Vec<u64> = chosen.iter().flatten().copied().collect();
            terms = column.term_strings(&keys, pages)?;
        }
        let mut terms = terms.into_iter();
        let values = read.iter().zip(&chosen).map(|((value_type, _), key)| {
            let key = (*key)?;
            match value_type {
                ValueType::Keyword => {
                    let text = String::from_utf8_lossy(&terms.next()?).into_owned();
                    Some(Value::Keyword(text.into()))
                }
                other => other.value_of_key(key),
            }
        });
        let values: Vec<SortValue> = values.collect();
        let at = |doc: &DocId| ascending.binary_search(doc).ok();
        let of = |doc: &DocId| at(doc).and_then(|at| values.get(at).cloned().flatten());
        Ok(hits.iter().map(of).collect())
    }

    fn number(&self, value_type: ValueType, key: u64) -> Option<Number> {
        match &self.ranks {
            Some(ranks) => Some(ranks.of_key(key)),
            None => value_type.number_of_key(key),
        }
    }
}

fn score_of(scores: &[f32], doc: DocId) -> Number {
    let score = scores.get(doc as usize).copied().unwrap_or(0.0);
    Number::Double(f64::from(score))
}

fn wrong_after(value: &Value<'_>, key: &SortKey) -> Error {
    let name = match &key.by {
        SortBy::Field(name) => name,
        SortBy::Score => "_score",
        SortBy::Doc => "_doc",
    };
    Error::invalid(format!(
        "the hits are to begin behind {value:?} by {name}, whose values are of another type: give the values \
         of the last hit as they were"
    ))
}

fn check_keys(keys: &[SortKey], after: Option<&[SortValue]>) -> Result<()> {
    if keys.len() > KEYS_MAX {
        return Err(Error::invalid(format!(
            "an order has at most {KEYS_MAX} keys, not {}",
            keys.len()
        )));
    }
    match after {
        Some(after) if after.len() != keys.len() => Err(Error::invalid(format!(
            "hits that begin behind a place need a value for each of the {} keys, and there are {}",
            keys.len(),
            after.len()
        ))),
        _ => Ok(()),
    }
}
