//! The values that a composite combines, one source after the other.

use gannet_values::{Number, ValueType, date_of_key, key_of_double, key_of_long};

use super::finder::{begin_of, number_of_interval};
use crate::batch::Chunk;
use crate::dates::fixed::date_of;
use crate::dates::rounding::Interval;
use crate::dates::zone::Instants;
use crate::tree::Scalar;
use crate::values::{ClassKey, MISSING, class_key};

pub(crate) struct SourceFinder {
    pub(crate) column: usize,
    pub(crate) field_type: ValueType,
    pub(crate) kind: SourceKeys,
    pub(crate) ascending: bool,
    pub(crate) missing_bucket: bool,
}

pub(crate) enum SourceKeys {
    Terms,
    Histogram(f64),
    Dates(Interval, (i64, i64)),
}

impl SourceFinder {
    pub(super) fn keys(&mut self, chunk: &Chunk<'_>, document: u32, keys: &mut Vec<ClassKey>) {
        keys.clear();
        let (piece, own) = chunk.keys(self.column, document);
        for key in own {
            let key = match &mut self.kind {
                SourceKeys::Terms => class_key(self.field_type, piece, *key),
                SourceKeys::Histogram(interval) => {
                    let number = piece.number_of_key(*key).map(Number::nearest_double);
                    let Some(number) = number.filter(|number| number.is_finite()) else {
                        continue;
                    };
                    let begin = number_of_interval(number, *interval, 0.0) as f64 * *interval;
                    (0, key_of_double(begin).unwrap_or_default())
                }
                SourceKeys::Dates(interval, last) => {
                    (0, key_of_long(begin_of(interval, last, date_of_key(*key))))
                }
            };
            if keys.last() != Some(&key) {
                keys.push(key);
            }
        }
        if keys.is_empty() && self.missing_bucket {
            keys.push(MISSING);
        }
    }

    /// Returns the key of a written one. Dates are written as clocks of the zone show them, unless
    /// they name a zone.
    pub(crate) fn after(&self, number: Number, scalar: &Scalar) -> Number {
        match (&self.kind, scalar, number) {
            (SourceKeys::Dates(interval, _), Scalar::Text(text), Number::Long(local))
                if !names_zone(text) =>
            {
                let instant = match interval.zone.instants(local) {
                    Instants::One(own) | Instants::Two(own, _) | Instants::Gap(own) => own,
                };
                Number::Long(interval.begin(instant))
            }
            _ => number,
        }
    }

    /// Returns the type of the keys.
    pub(super) fn key_type(&self) -> ValueType {
        match self.kind {
            SourceKeys::Terms => self.field_type,
            SourceKeys::Histogram(_) => ValueType::Double,
            SourceKeys::Dates(..) => ValueType::Date,
        }
    }
}

/// Returns if a date names its zone: then it has no place for another.
fn names_zone(text: &str) -> bool {
    text.contains(['T', ' ']) && date_of(&format!("{text}Z")).is_none()
}
