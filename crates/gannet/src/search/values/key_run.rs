//! One key of an order: the values that documents have by it, window by window.

use std::ops::Range;

use gannet_values::{Number, Value, ValueType, parse_date};

use super::ranks::TermRanks;
use super::sort_key::{KEYS_MAX, Place, number_of};
use super::window::{DocumentValues, PlaceLimits, WindowValues};
use super::{SortBy, SortKey, SortValue, column_of};
use crate::base::{Budget, DocId, Error, Result};
use crate::cache::{Pages, Step};
use crate::columns::{ColumnReader, ColumnValues};
use crate::search::scoring::top::AllDocs;
use crate::search::view::SearchView;

/// One key.
pub(super) struct KeyRun {
    pub(super) key: SortKey,
    pub(super) column: Option<ColumnReader>,
    pub(super) ranks: Option<TermRanks>,
    /// The pass over the values of the window, until it has ended.
    pass: Option<ColumnValues>,
    values: DocumentValues,
    is_read: bool,
}

impl KeyRun {
    /// Will read the values of a key. Fails if it names a field of which no values are kept, unless
    /// `elsewhere` tells that other indexes have it: no document here has a value then. `after` is
    /// the value behind which the hits begin.
    pub(super) fn new(
        key: &SortKey,
        after: Option<&SortValue>,
        view: &SearchView,
        elsewhere: &dyn Fn(&str) -> bool,
        budget: &Budget,
    ) -> Result<KeyRun> {
        let column = match &key.by {
            SortBy::Field(name) => match column_of(name, view) {
                Err(_) if elsewhere(name) => None,
                column => Some(column?),
            },
            SortBy::Score | SortBy::Doc | SortBy::Id => None,
        };
        let is_keyword = |column: &&ColumnReader| column.column().value_type.has_strings();
        let ranks = column.as_ref().filter(is_keyword);
        let sought = match (after, ranks) {
            (Some(Some(value)), Some(column)) => Some(string_sought(value, column, key)?),
            _ => None,
        };
        let ranks = ranks.map(|column| TermRanks::new(column.clone(), sought, budget));
        Ok(KeyRun {
            key: key.clone(),
            ranks: ranks.transpose()?,
            column,
            pass: None,
            values: DocumentValues::default(),
            is_read: false,
        })
    }

    /// Returns a bit for each of 64 documents of the window, from 64 times `at` on, that may stand
    /// at `place` or before it: of those without a value that was read all do, or none.
    pub(super) fn may_reach(&self, place: Option<Place>, at: usize) -> u64 {
        if place.is_some_and(|place| self.key.place(None) > place) {
            self.values.word(at)
        } else {
            u64::MAX
        }
    }

    /// The place of a document by its place in the window.
    pub(super) fn place_at(&self, at: usize) -> Place {
        self.key.place(self.values.get(at))
    }

    /// The place of the value behind which the hits begin, once strings are ranked.
    pub(super) fn place_after(&self, value: &SortValue) -> Result<Place> {
        let number = match (value, &self.ranks) {
            (None, _) => None,
            (Some(Value::Ip(_) | Value::Keyword(_)), Some(ranks)) => ranks.place(),
            (Some(Value::Keyword(text)), None) => Some(self.date_of(text)?),
            (Some(value), None) => number_of(value),
            (Some(value), Some(_)) => return Err(wrong_after(value, &self.key)),
        };
        Ok(self.key.place(number))
    }

    /// Ends a window.
    pub(super) fn end_window(&mut self) {
        self.is_read = false;
    }

    /// The milliseconds of a date that is written, if the values are dates.
    fn date_of(&self, text: &str) -> Result<Number> {
        let is_date = |column: &ColumnReader| column.column().value_type == ValueType::Date;
        let date = parse_date(text).filter(|_| self.column.as_ref().is_some_and(is_date));
        let date = date.map(|date| Number::Long(date.first_ms));
        date.ok_or_else(|| wrong_after(&Value::Keyword(text.into()), &self.key))
    }

    /// Reads the values of a window.
    pub(super) fn read(
        &mut self,
        all: &AllDocs,
        docs: &Range<DocId>,
        limits: PlaceLimits,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if self.is_read {
            return Ok(());
        }
        if self.pass.is_none() {
            self.values.begin(docs.len());
            match (&self.column, &self.key.by) {
                (Some(column), _) => self.pass = Some(column.values(docs.clone())),
                (None, SortBy::Score) => {
                    for (at, doc) in docs.clone().enumerate() {
                        self.values.set(at, score_of(&all.scores, doc));
                    }
                }
                (None, SortBy::Field(_) | SortBy::Id) => {}
                (None, SortBy::Doc) => {
                    for (at, doc) in docs.clone().enumerate() {
                        self.values.set(at, Number::Long(i64::from(doc)));
                    }
                }
            }
        }
        if let Some(pass) = &mut self.pass {
            let mut visitor = WindowValues {
                docs: &all.docs,
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

    /// Notes the pages that a later window needs, as far as the round has room for them.
    pub(super) fn note(
        &self,
        all: &AllDocs,
        docs: &Range<DocId>,
        limits: PlaceLimits,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let Some(column) = &self.column else {
            return Ok(());
        };
        let visitor = WindowValues {
            docs: &all.docs,
            first: docs.start,
            values: &mut DocumentValues::default(),
            key: &self.key,
            ranks: self.ranks.as_ref(),
            limits,
        };
        column.note_values(docs.clone(), &visitor, pages)
    }

    /// The values of hits, as they are shown.
    pub(super) fn values_of(
        &self,
        hits: &[DocId],
        scores: &[f32],
        pages: &mut Pages<'_>,
    ) -> Step<Vec<SortValue>> {
        let Some(column) = &self.column else {
            let value = |doc: &DocId| match self.key.by {
                SortBy::Field(_) | SortBy::Id => None,
                SortBy::Score => Some(Value::Double(score_of(scores, *doc).nearest_double())),
                SortBy::Doc => Some(Value::Long(i64::from(*doc))),
            };
            return Ok(hits.iter().map(value).collect());
        };
        let choose = |value_type: ValueType, keys: &[u64]| {
            let number = |key: &u64| self.number(value_type, *key);
            if self.key.descending {
                keys.iter().copied().max_by_key(number)
            } else {
                keys.iter().copied().min_by_key(number)
            }
        };
        shown_values(column, hits, &choose, pages)
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

/// The values of hits in a column, as they are shown: `choose` takes one of several keys.
pub(super) fn shown_values(
    column: &ColumnReader,
    hits: &[DocId],
    choose: &dyn Fn(ValueType, &[u64]) -> Option<u64>,
    pages: &mut Pages<'_>,
) -> Step<Vec<SortValue>> {
    let mut ascending = hits.to_vec();
    ascending.sort_unstable();
    let read = column.values_of(&ascending, pages)?;
    let chosen = read
        .iter()
        .map(|(value_type, keys)| choose(*value_type, keys).map(|key| (*value_type, key)));
    let chosen: Vec<Option<(ValueType, u64)>> = chosen.collect();
    let of_strings = chosen.iter().flatten();
    let of_strings = of_strings.filter(|(value_type, _)| value_type.has_strings());
    let keys: Vec<u64> = of_strings.map(|(_, key)| *key).collect();
    let mut terms = column.term_strings(&keys, pages)?.into_iter();
    let values = chosen.iter().map(|chosen| match *chosen {
        None => None,
        Some((own, _)) if own.has_strings() => own.value_of_string(terms.next()?),
        Some((other, key)) => other.value_of_key(key),
    });
    let values: Vec<SortValue> = values.collect();
    let at = |doc: &DocId| ascending.binary_search(doc).ok();
    let of = |doc: &DocId| at(doc).and_then(|at| values.get(at).cloned().flatten());
    Ok(hits.iter().map(of).collect())
}

/// The string of a column behind which hits begin: of an address that is written, its digits.
fn string_sought(value: &Value<'_>, column: &ColumnReader, key: &SortKey) -> Result<Vec<u8>> {
    let value_type = column.column().value_type;
    let string = match value {
        Value::Keyword(text) => value_type.string_of_text(text),
        Value::Ip(address) if value_type == ValueType::Ip => {
            Some(address.to_column_string().into())
        }
        _ => None,
    };
    let string = string.map(|string| string.as_bytes().to_vec());
    string.ok_or_else(|| wrong_after(value, key))
}

/// The error for a value behind which no hits can begin.
pub(super) fn wrong_after(value: &Value<'_>, key: &SortKey) -> Error {
    let name = match &key.by {
        SortBy::Field(name) => name,
        SortBy::Score => "_score",
        SortBy::Doc => "_doc",
        SortBy::Id => "_id",
    };
    Error::invalid(format!(
        "the hits are to begin behind {value:?} by {name}, whose values are of another type: give the values \
         of the last hit as they were"
    ))
}

/// Checks the number of keys, and of the values behind which hits begin.
pub(super) fn check_keys(keys: &[SortKey], after: Option<&[SortValue]>) -> Result<()> {
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
