//! The keys of the buckets that a document is in, for all kinds but composites.

use std::ops::RangeInclusive;

use gannet_values::{Number, NumberRange, ValueType, date_of_key, key_of_long};
use rustc_hash::FxHashSet;

use crate::batch::Chunk;
use crate::dates::rounding::Interval;
use crate::tree::Bounds;
use crate::values::{ClassKey, class_key};

/// Finds the buckets of a document.
pub(crate) enum Finder {
    Terms(TermsFinder),
    Ranges(RangesFinder),
    Histogram(HistogramFinder),
    Dates(DatesFinder),
    /// One bucket, of the documents of a filter.
    Filter(usize),
    /// A bucket for each filter, and perhaps one for documents of none.
    Filters(Vec<usize>, bool),
    /// One bucket, of the documents without a value.
    Missing(usize),
    /// One bucket, of all documents.
    Global,
}

pub(crate) struct TermsFinder {
    pub(crate) column: usize,
    pub(crate) field_type: ValueType,
    pub(crate) missing: Option<ClassKey>,
    pub(crate) include: Option<FxHashSet<ClassKey>>,
    pub(crate) exclude: FxHashSet<ClassKey>,
}

pub(crate) struct RangesFinder {
    pub(crate) column: usize,
    /// The keys of each range, by the type of the values.
    keys: Vec<(ValueType, Vec<Option<RangeInclusive<u64>>>)>,
    /// The ranges that a missing value is in.
    missing: Vec<u64>,
}

pub(crate) struct HistogramFinder {
    pub(crate) column: usize,
    pub(crate) interval: f64,
    pub(crate) offset: f64,
    pub(crate) hard: Option<Bounds<f64>>,
    pub(crate) missing: Option<f64>,
}

pub(crate) struct DatesFinder {
    pub(crate) column: usize,
    pub(crate) interval: Interval,
    pub(crate) hard: Option<Bounds<i64>>,
    pub(crate) missing: Option<i64>,
    /// The interval of the value before, and its end: dates mostly rise with the documents.
    pub(crate) last: (i64, i64),
}

impl Finder {
    /// Lists the keys of the buckets of a document, each once.
    pub(crate) fn keys(&mut self, chunk: &Chunk<'_>, document: u32, keys: &mut Vec<ClassKey>) {
        keys.clear();
        match self {
            Finder::Terms(own) => own.keys(chunk, document, keys),
            Finder::Ranges(own) => own.keys(chunk, document, keys),
            Finder::Histogram(own) => own.keys(chunk, document, keys),
            Finder::Dates(own) => own.keys(chunk, document, keys),
            Finder::Filter(filter) => {
                if has(chunk, *filter, document) {
                    keys.push((0, 0));
                }
            }
            Finder::Filters(filters, has_other) => {
                for (number, filter) in filters.iter().enumerate() {
                    if has(chunk, *filter, document) {
                        keys.push((0, number as u64));
                    }
                }
                if *has_other && keys.is_empty() {
                    keys.push((0, filters.len() as u64));
                }
            }
            Finder::Missing(column) => {
                if chunk.keys(*column, document).1.is_empty() {
                    keys.push((0, 0));
                }
            }
            Finder::Global => keys.push((0, 0)),
        }
    }
}

fn has(chunk: &Chunk<'_>, filter: usize, document: u32) -> bool {
    let documents = chunk.filters.get(filter);
    documents.is_some_and(|own| own.get(document as usize) == Some(&true))
}

impl TermsFinder {
    fn keys(&self, chunk: &Chunk<'_>, document: u32, keys: &mut Vec<ClassKey>) {
        let (piece, own) = chunk.keys(self.column, document);
        if own.is_empty() {
            keys.extend(self.missing.filter(|key| self.is_wanted(*key)));
            return;
        }
        for key in own {
            let key = class_key(self.field_type, piece, *key);
            if keys.last() != Some(&key) && self.is_wanted(key) {
                keys.push(key);
            }
        }
    }

    /// Returns if all keys have buckets, and are those of the column.
    pub(crate) fn is_plain(&self) -> bool {
        self.include.is_none() && self.exclude.is_empty()
    }

    fn is_wanted(&self, key: ClassKey) -> bool {
        let is_included = self.include.as_ref().is_none_or(|keys| keys.contains(&key));
        is_included && !self.exclude.contains(&key)
    }
}

impl RangesFinder {
    pub(crate) fn new(
        column: usize,
        ranges: &[NumberRange],
        missing: Option<Number>,
    ) -> RangesFinder {
        let types = ValueType::ALL.into_iter();
        let keys = types.map(|own| (own, ranges.iter().map(|range| range.keys(own)).collect()));
        let numbered = (0..).zip(ranges);
        let has_missing =
            numbered.filter(|(_, range)| missing.is_some_and(|own| range.contains(own)));
        RangesFinder {
            column,
            keys: keys.collect(),
            missing: has_missing.map(|(number, _)| number).collect(),
        }
    }

    fn keys(&self, chunk: &Chunk<'_>, document: u32, keys: &mut Vec<ClassKey>) {
        let (piece, own) = chunk.keys(self.column, document);
        if own.is_empty() {
            keys.extend(self.missing.iter().map(|number| (0, *number)));
            return;
        }
        let mut types = self.keys.iter();
        let Some((_, ranges)) = types.find(|(value_type, _)| *value_type == piece) else {
            return;
        };
        for (number, range) in (0..).zip(ranges) {
            let is_in = |range: &RangeInclusive<u64>| own.iter().any(|key| range.contains(key));
            if range.as_ref().is_some_and(is_in) {
                keys.push((0, number));
            }
        }
    }
}

impl HistogramFinder {
    fn keys(&self, chunk: &Chunk<'_>, document: u32, keys: &mut Vec<ClassKey>) {
        let (piece, own) = chunk.keys(self.column, document);
        if own.is_empty() {
            self.add(self.missing, keys);
            return;
        }
        for key in own {
            self.add(piece.number_of_key(*key).map(Number::nearest_double), keys);
        }
    }

    fn add(&self, value: Option<f64>, keys: &mut Vec<ClassKey>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        let number = number_of_interval(value, self.interval, self.offset);
        let begin = number as f64 * self.interval + self.offset;
        let least = self.hard.and_then(|hard| hard.min);
        let most = self.hard.and_then(|hard| hard.max);
        let is_within = least.is_none_or(|least| value >= least || begin >= least)
            && most.is_none_or(|most| begin <= most);
        let key = (0, key_of_long(number));
        if is_within && keys.last() != Some(&key) {
            keys.push(key);
        }
    }
}

/// Returns the number of the interval that a value is in.
pub(crate) fn number_of_interval(value: f64, interval: f64, offset: f64) -> i64 {
    ((value - offset) / interval).floor() as i64
}

impl DatesFinder {
    fn keys(&mut self, chunk: &Chunk<'_>, document: u32, keys: &mut Vec<ClassKey>) {
        let (_, own) = chunk.keys(self.column, document);
        if own.is_empty() {
            if let Some(missing) = self.missing {
                self.add(missing, keys);
            }
            return;
        }
        for key in own {
            self.add(date_of_key(*key), keys);
        }
    }

    fn add(&mut self, date: i64, keys: &mut Vec<ClassKey>) {
        let begin = begin_of(&self.interval, &mut self.last, date);
        let least = self.hard.and_then(|hard| hard.min);
        let most = self.hard.and_then(|hard| hard.max);
        let is_within = least.is_none_or(|least| date >= least || begin >= least)
            && most.is_none_or(|most| begin <= most);
        let key = (0, key_of_long(begin));
        if is_within && keys.last() != Some(&key) {
            keys.push(key);
        }
    }
}

/// Returns the begin of the interval of a date. `last` is the interval that was found before.
pub(crate) fn begin_of(interval: &Interval, last: &mut (i64, i64), date: i64) -> i64 {
    if !(last.0..last.1).contains(&date) {
        let begin = interval.begin(date);
        *last = (begin, interval.next(begin));
    }
    last.0
}
