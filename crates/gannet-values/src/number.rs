//! Longs and doubles in one exact order: 5 equals 5.0, and 2^53 + 1 is above 2^53 as a double.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The least power of two above all longs.
const LONGS_END: f64 = 9_223_372_036_854_775_808.0;

/// A long or a double.
///
/// Order, equality and hash are those of the numbers meant, whatever the variant. NaN, which no
/// column has, is equal to itself and above all others, so that the order is total.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A whole number of 64 bits.
    Long(i64),
    /// A 64-bit float.
    Double(f64),
}

impl Number {
    /// Reads a number as JSON spells it. Whole numbers of 64 bits are longs, others doubles. None
    /// if it is no number, or too large for a double.
    pub fn parse(text: &str) -> Option<Number> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !is_json_number(digits) {
            return None;
        }
        if let Ok(long) = text.parse::<i64>() {
            return Some(Number::Long(long));
        }
        let double = text.parse::<f64>().ok()?;
        double.is_finite().then_some(Number::Double(double + 0.0))
    }

    /// Returns the long that is exactly this number, if there is one.
    pub fn exact_long(self) -> Option<i64> {
        match self {
            Number::Long(long) => Some(long),
            Number::Double(double) => {
                let fits = (-LONGS_END..LONGS_END).contains(&double) && double.trunc() == double;
                fits.then_some(double as i64)
            }
        }
    }

    /// Returns the double that is exactly this number, if there is one.
    pub fn exact_double(self) -> Option<f64> {
        match self {
            Number::Long(long) => {
                let double = long as f64;
                (compare_long_and_double(long, double) == Ordering::Equal).then_some(double)
            }
            Number::Double(double) => Some(double + 0.0),
        }
    }

    /// Returns the nearest double.
    pub fn nearest_double(self) -> f64 {
        match self {
            Number::Long(long) => long as f64,
            Number::Double(double) => double + 0.0,
        }
    }
}

fn is_json_number(digits: &str) -> bool {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let exponent = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    let has_leading_zero = whole.len() > 1 && whole.starts_with('0');
    are_digits(whole)
        && !has_leading_zero
        && fraction.is_none_or(are_digits)
        && exponent.is_none_or(are_digits)
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (*self, *other) {
            (Number::Long(one), Number::Long(other)) => one.cmp(&other),
            (Number::Double(one), Number::Double(other)) => compare_doubles(one, other),
            (Number::Long(long), Number::Double(double)) => compare_long_and_double(long, double),
            (Number::Double(double), Number::Long(long)) => {
                compare_long_and_double(long, double).reverse()
            }
        }
    }
}

fn compare_doubles(one: f64, other: f64) -> Ordering {
    let by_value = one.partial_cmp(&other);
    by_value.unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
}

fn compare_long_and_double(long: i64, double: f64) -> Ordering {
    if double.is_nan() || double >= LONGS_END {
        return Ordering::Less;
    }
    if double < -LONGS_END {
        return Ordering::Greater;
    }
    // The whole part of a double in this range is a long exactly.
    let whole = double.trunc();
    let by_whole = long.cmp(&(whole as i64));
    by_whole.then_with(|| compare_doubles(whole, double))
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match (self.exact_long(), *self) {
            (Some(long), _) | (None, Number::Long(long)) => long.hash(state),
            (None, Number::Double(double)) if double.is_nan() => f64::NAN.to_bits().hash(state),
            (None, Number::Double(double)) => double.to_bits().hash(state),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Long(long) => write!(f, "{long}"),
            Number::Double(double) => write!(f, "{double:?}"),
        }
    }
}

impl From<i64> for Number {
    fn from(long: i64) -> Number {
        Number::Long(long)
    }
}

impl From<f64> for Number {
    fn from(double: f64) -> Number {
        Number::Double(double)
    }
}
