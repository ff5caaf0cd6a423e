//! The keys by which hits are ordered, and where a hit stands by them.

use std::cmp::{Ordering, Reverse};

use gannet_values::{Number, Value};

use crate::base::{DocId, Error, Result};
use crate::search::query::fields::shown;

/// The most keys of an order.
pub const KEYS_MAX: usize = 8;

/// A thing that hits are ordered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The values of a field: of several the least, or the greatest where the order descends.
    Field(String),
    /// The score.
    Score,
    /// The doc ID.
    Doc,
    /// The external ID, by its bytes.
    Id,
}

/// A key by which hits are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The value that is compared.
    pub by: SortBy,
    /// Set if the greatest comes first.
    pub descending: bool,
    /// Set if documents without a value come first, in both directions.
    pub missing_first: bool,
    /// The whole number whose documents stand beside those without a value, if there is one: the
    /// extreme of a type of numbers, at the end where these stand.
    pub missing_like: Option<i64>,
}

/// The value of a hit by a key of its order; `None` where it has none.
pub type SortValue = Option<Value<'static>>;

/// The place of a hit by one key: what comes first is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// It has no value, and such come first.
    First,
    /// Its value ascends.
    Ascending(Number),
    /// Its value descends.
    Descending(Reverse<Number>),
    /// It has no value, and such come last.
    Last,
}

impl SortKey {
    /// Reads a key as it is written: a field, `_score` (the best first), `_doc` or `_id`, and `-`
    /// before it for the other direction. Documents without a value come last.
    pub fn parse(text: &str) -> Result<SortKey> {
        let (name, turned) = match text.strip_prefix('-') {
            Some(name) => (name, true),
            None => (text, false),
        };
        if name.is_empty() {
            return Err(Error::invalid(format!(
                "{} is no key to sort by: write a field, -field for the greatest first, _score, _doc or _id",
                shown(text)
            )));
        }
        let by = match name {
            "_score" => SortBy::Score,
            "_doc" => SortBy::Doc,
            "_id" => SortBy::Id,
            field => SortBy::Field(field.to_owned()),
        };
        Ok(SortKey {
            descending: turned != (by == SortBy::Score),
            by,
            missing_first: false,
            missing_like: None,
        })
    }

    /// Compares the values of two hits, of one index or of several, as an order by this key does.
    pub fn compare(&self, one: &SortValue, other: &SortValue) -> Ordering {
        match (one, other) {
            (Some(Value::Keyword(one)), Some(Value::Keyword(other))) => {
                let ascending = one.as_bytes().cmp(other.as_bytes());
                if self.descending {
                    ascending.reverse()
                } else {
                    ascending
                }
            }
            (Some(Value::Ip(one)), Some(Value::Ip(other))) => {
                if self.descending {
                    other.cmp(one)
                } else {
                    one.cmp(other)
                }
            }
            // Any value stands before or behind one that is missing, also a string.
            (Some(_), None) | (None, Some(_)) => {
                let number = |value: &Value<'_>| number_of(value).unwrap_or(Number::Double(0.0));
                let place = |value: &SortValue| self.place(value.as_ref().map(number));
                place(one).cmp(&place(other))
            }
            _ => {
                let number = |value: &SortValue| value.as_ref().and_then(number_of);
                self.place(number(one)).cmp(&self.place(number(other)))
            }
        }
    }

    /// Where a value stands.
    pub(super) fn place(&self, value: Option<Number>) -> Place {
        match value.filter(|value| !self.is_like_missing(*value)) {
            None if self.missing_first => Place::First,
            None => Place::Last,
            Some(value) if self.descending => Place::Descending(Reverse(value)),
            Some(value) => Place::Ascending(value),
        }
    }

    /// Returns true if a value stands where documents without one do.
    fn is_like_missing(&self, value: Number) -> bool {
        self.missing_like
            .is_some_and(|like| value == Number::Long(like))
    }
}

/// The number that a value is compared by, if it is no string.
pub(super) fn number_of(value: &Value<'_>) -> Option<Number> {
    match value {
        Value::Long(number) | Value::Date(number) => Some(Number::Long(*number)),
        Value::Double(number) => Some(Number::Double(*number)),
        Value::Boolean(value) => Some(Number::Long(i64::from(*value))),
        Value::Ip(_) | Value::Keyword(_) => None,
    }
}

/// A document and its place by all keys. Of two with the same the smaller doc ID comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlacedDoc {
    pub(super) places: Vec<Place>,
    pub(super) doc: DocId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = |text: &str| SortKey::parse(text).map(|key| (key.by, key.descending));
        let field = |name: &str| SortBy::Field(name.to_owned());
        assert_eq!(key("date").unwrap(), (field("date"), false));
        assert_eq!(key("-date").unwrap(), (field("date"), true));
        assert_eq!(key("_score").unwrap(), (SortBy::Score, true));
        assert_eq!(key("-_score").unwrap(), (SortBy::Score, false));
        assert_eq!(key("_doc").unwrap(), (SortBy::Doc, false));
        assert_eq!(key("-_id").unwrap(), (SortBy::Id, true));
        for wrong in ["", "-"] {
            assert!(key(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn values_of_two_hits_are_compared_with_missing_ones() {
        let text = |text: &'static str| Some(Value::Keyword(text.into()));
        for (text_of_key, is_first) in [("a", false), ("-a", false), ("a", true), ("-a", true)] {
            let key = SortKey {
                missing_first: is_first,
                ..SortKey::parse(text_of_key).unwrap()
            };
            let some_is = if is_first {
                Ordering::Greater
            } else {
                Ordering::Less
            };
            for value in [
                text("x"),
                Some(Value::Long(i64::MAX)),
                Some(Value::Boolean(true)),
            ] {
                assert_eq!(key.compare(&value, &None), some_is);
                assert_eq!(key.compare(&None, &value), some_is.reverse());
            }
            assert_eq!(key.compare(&None, &None), Ordering::Equal);
            let wanted = text_of_key == "a";
            assert_eq!(key.compare(&text("x"), &text("y")).is_lt(), wanted);
        }
    }

    #[test]
    fn documents_without_a_value_stand_at_the_end_that_was_asked_for() {
        let place = |descending, missing_first, value: Option<i64>| {
            let key = SortKey {
                by: SortBy::Doc,
                descending,
                missing_first,
                missing_like: None,
            };
            key.place(value.map(Number::Long))
        };
        for descending in [false, true] {
            for value in [i64::MIN, 0, i64::MAX] {
                let with = |missing_first| place(descending, missing_first, Some(value));
                assert!(place(descending, true, None) < with(true));
                assert!(place(descending, false, None) > with(false));
            }
        }
        assert!(place(true, false, Some(2)) < place(true, false, Some(1)));
        assert!(place(false, false, Some(1)) < place(false, false, Some(2)));
    }

    #[test]
    fn the_extreme_of_a_type_may_stand_beside_documents_without_a_value() {
        for (descending, missing_first) in [(false, false), (false, true), (true, false)] {
            let like = if descending != missing_first {
                i64::from(i32::MIN)
            } else {
                i64::from(i32::MAX)
            };
            let key = SortKey {
                by: SortBy::Field("n".to_owned()),
                descending,
                missing_first,
                missing_like: Some(like),
            };
            let place = |value| key.place(Some(Number::Long(value)));
            assert_eq!(place(like), key.place(None));
            assert_ne!(place(like + 1), key.place(None));
            assert_ne!(place(like - 1), key.place(None));
            let long = |value| Some(Value::Long(value));
            assert_eq!(key.compare(&long(like), &None), Ordering::Equal);
            assert_ne!(key.compare(&long(0), &None), Ordering::Equal);
        }
    }
}
