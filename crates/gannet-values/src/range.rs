//! Ranges of numbers, and the keys of a type that they hold exactly.

use std::ops::{Bound, RangeInclusive};

use crate::keys::{key_of_double, key_of_long};
use crate::number::Number;
use crate::types::ValueType;

/// A range of numbers. Each end is included, excluded, or open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// The lower end.
    pub lower: Bound<Number>,
    /// The upper end.
    pub upper: Bound<Number>,
}

impl NumberRange {
    /// The range of all numbers.
    pub const ALL: NumberRange = NumberRange {
        lower: Bound::Unbounded,
        upper: Bound::Unbounded,
    };

    /// Returns the range of one number.
    pub fn of(number: Number) -> NumberRange {
        NumberRange {
            lower: Bound::Included(number),
            upper: Bound::Included(number),
        }
    }

    /// Returns if the range holds a number. NaN is in none.
    pub fn contains(&self, number: Number) -> bool {
        let is_nan = matches!(number, Number::Double(double) if double.is_nan());
        !is_nan && is_above(self.lower, number) && is_below(self.upper, number)
    }

    /// Returns the keys of the values of a type that are in the range. None if no value of the type
    /// is in it, as none of keywords and addresses is.
    pub fn keys(&self, value_type: ValueType) -> Option<RangeInclusive<u64>> {
        if is_nan(self.lower) || is_nan(self.upper) {
            return None;
        }
        let (least, greatest) = match value_type {
            ValueType::Ip | ValueType::Keyword => return None,
            ValueType::Boolean => self.boolean_keys()?,
            ValueType::Double => (least_double(self.lower)?, greatest_double(self.upper)?),
            ValueType::Date | ValueType::Long => {
                let (least, greatest) = (least_long(self.lower)?, greatest_long(self.upper)?);
                (key_of_long(least), key_of_long(greatest))
            }
        };
        (least <= greatest).then_some(least..=greatest)
    }

    fn boolean_keys(&self) -> Option<(u64, u64)> {
        let has = [0, 1].map(|key| self.contains(Number::Long(key)));
        match has {
            [true, true] => Some((0, 1)),
            [true, false] => Some((0, 0)),
            [false, true] => Some((1, 1)),
            [false, false] => None,
        }
    }
}

fn is_nan(bound: Bound<Number>) -> bool {
    match bound {
        Bound::Included(Number::Double(double)) | Bound::Excluded(Number::Double(double)) => {
            double.is_nan()
        }
        _ => false,
    }
}

fn is_above(lower: Bound<Number>, number: Number) -> bool {
    match lower {
        Bound::Included(end) => number >= end,
        Bound::Excluded(end) => number > end,
        Bound::Unbounded => true,
    }
}

fn is_below(upper: Bound<Number>, number: Number) -> bool {
    match upper {
        Bound::Included(end) => number <= end,
        Bound::Excluded(end) => number < end,
        Bound::Unbounded => true,
    }
}

/// Returns the least long that is above a lower end.
fn least_long(lower: Bound<Number>) -> Option<i64> {
    let (Bound::Included(end) | Bound::Excluded(end)) = lower else {
        return Some(i64::MIN);
    };
    let least = match end {
        Number::Long(long) => long,
        // The conversion saturates, so an end above all longs gives the greatest of them.
        Number::Double(double) => double.ceil() as i64,
    };
    if is_above(lower, Number::Long(least)) {
        return Some(least);
    }
    let next = least.checked_add(1)?;
    is_above(lower, Number::Long(next)).then_some(next)
}

/// Returns the greatest long that is below an upper end.
fn greatest_long(upper: Bound<Number>) -> Option<i64> {
    let (Bound::Included(end) | Bound::Excluded(end)) = upper else {
        return Some(i64::MAX);
    };
    let greatest = match end {
        Number::Long(long) => long,
        Number::Double(double) => double.floor() as i64,
    };
    if is_below(upper, Number::Long(greatest)) {
        return Some(greatest);
    }
    let next = greatest.checked_sub(1)?;
    is_below(upper, Number::Long(next)).then_some(next)
}

/// Returns the key of the least double that is above a lower end.
fn least_double(lower: Bound<Number>) -> Option<u64> {
    let (Bound::Included(end) | Bound::Excluded(end)) = lower else {
        return key_of_double(f64::NEG_INFINITY);
    };
    // The nearest double is at most one step from the one wanted.
    let nearest = end.nearest_double();
    if is_above(lower, Number::Double(nearest)) {
        return key_of_double(nearest);
    }
    let next = nearest.next_up();
    is_above(lower, Number::Double(next))
        .then(|| key_of_double(next))
        .flatten()
}

/// Returns the key of the greatest double that is below an upper end.
fn greatest_double(upper: Bound<Number>) -> Option<u64> {
    let (Bound::Included(end) | Bound::Excluded(end)) = upper else {
        return key_of_double(f64::INFINITY);
    };
    let nearest = end.nearest_double();
    if is_below(upper, Number::Double(nearest)) {
        return key_of_double(nearest);
    }
    let next = nearest.next_down();
    is_below(upper, Number::Double(next))
        .then(|| key_of_double(next))
        .flatten()
}
