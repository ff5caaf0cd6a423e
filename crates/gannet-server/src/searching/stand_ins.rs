//! Values that stand for missing ones in the `sort` of hits, as Lucene has them: the extremes of
//! the types of fields, nothing for strings.
//!
//! A document that has such a value stands beside those without one, so that `search_after` can
//! take it back.

use gannet::aggregations::{DateFormat, Zone};
use gannet::values::Value as Sorted;
use gannet::{SortBy, SortKey, SortValue};
use serde_json::{Value, json};

use crate::indexes::{FieldType, Mapping};

/// The value that stands for a missing one by each key of an order, in one index.
#[derive(Default)]
pub struct StandIns(Vec<StandIn>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum StandIn {
    Null,
    Whole(i64),
    /// Milliseconds.
    Date(i64),
    /// Infinite.
    Fraction(f64),
}

impl StandIns {
    /// Those of an index with a mapping, whose other fields have the types of `unmapped`.
    pub fn new(
        keys: &[SortKey],
        mapping: &Mapping,
        unmapped: &[(String, Option<FieldType>)],
    ) -> StandIns {
        let kind = |name: &String| match mapping.field(name) {
            Some(field) => Some(field.kind),
            None => unmapped.iter().find(|(other, _)| other == name)?.1,
        };
        let each = keys.iter().map(|key| match &key.by {
            SortBy::Field(name) => kind(name).map_or(StandIn::Null, |kind| StandIn::of(kind, key)),
            SortBy::Score | SortBy::Doc | SortBy::Id => StandIn::Null,
        });
        StandIns(each.collect())
    }

    /// The keys, by which the documents that have a stand-in as their value stand beside those that
    /// have none.
    pub fn keys(&self, keys: &[SortKey]) -> Vec<SortKey> {
        let each = keys.iter().zip(&self.0).map(|(key, stand_in)| SortKey {
            missing_like: match stand_in {
                StandIn::Whole(number) => Some(*number),
                StandIn::Null | StandIn::Date(_) | StandIn::Fraction(_) => None,
            },
            ..key.clone()
        });
        each.collect()
    }

    /// The values of a hit, of which stand-ins are missing ones.
    pub fn read(&self, values: &[SortValue]) -> Vec<SortValue> {
        let read = values.iter().enumerate().map(|(at, value)| {
            // Of a number of values that does not fit the keys the engine tells.
            let stand_in = self.0.get(at).copied().unwrap_or(StandIn::Null);
            stand_in.read(value.as_ref()?)
        });
        read.collect()
    }

    /// The stand-in by the key of a place, as a hit shows it; dates in the format of the key.
    pub fn shown(&self, at: usize, format: Option<&DateFormat>) -> Value {
        match (self.0.get(at), format) {
            (None | Some(StandIn::Null), _) => Value::Null,
            (Some(StandIn::Date(ms)), Some(format)) => json!(format.print(*ms, &Zone::utc())),
            (Some(StandIn::Whole(number) | StandIn::Date(number)), _) => json!(number),
            (Some(StandIn::Fraction(number)), _) if *number < 0.0 => json!("-Infinity"),
            (Some(StandIn::Fraction(_)), _) => json!("Infinity"),
        }
    }
}

impl StandIn {
    /// That of a field of a type: what stands last of all, or first, as the key has missing values.
    fn of(kind: FieldType, key: &SortKey) -> StandIn {
        let is_least = key.missing_first != key.descending;
        let long = if is_least { i64::MIN } else { i64::MAX };
        match kind {
            FieldType::Text | FieldType::Keyword | FieldType::Ip => StandIn::Null,
            // Numbers of 32 bits and less are compared as such.
            FieldType::Whole(_, least, _) if least > i64::MIN => StandIn::Whole(if is_least {
                i64::from(i32::MIN)
            } else {
                i64::from(i32::MAX)
            }),
            FieldType::Whole(..) | FieldType::Boolean => StandIn::Whole(long),
            FieldType::Date => StandIn::Date(long),
            FieldType::Fraction(_) if is_least => StandIn::Fraction(f64::NEG_INFINITY),
            FieldType::Fraction(_) => StandIn::Fraction(f64::INFINITY),
        }
    }

    /// A value, which is missing if it is the stand-in. Numbers may be written as strings, and be
    /// rounded to doubles, as some clients do with large ones.
    fn read(self, value: &Sorted<'static>) -> SortValue {
        let value = match (self, value) {
            (StandIn::Whole(_), Sorted::Keyword(text)) => {
                text.parse().map_or_else(|_| value.clone(), Sorted::Long)
            }
            // Other strings are dates.
            (StandIn::Date(own), Sorted::Keyword(text)) if text.parse() == Ok(own) => {
                Sorted::Long(own)
            }
            (StandIn::Fraction(_), Sorted::Keyword(text)) => {
                text.parse().map_or_else(|_| value.clone(), Sorted::Double)
            }
            _ => value.clone(),
        };
        let is_own = match (self, &value) {
            (
                StandIn::Whole(own) | StandIn::Date(own),
                Sorted::Long(number) | Sorted::Date(number),
            ) => own == *number,
            (StandIn::Whole(own) | StandIn::Date(own), Sorted::Double(number)) => {
                own as f64 == *number
            }
            (StandIn::Fraction(own), Sorted::Double(number)) => own == *number,
            _ => false,
        };
        (!is_own).then_some(value)
    }
}
