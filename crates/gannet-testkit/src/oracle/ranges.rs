//! Ranges: by numbers in fields without words, by bytes in fields of whole strings.

use std::ops::Bound;

/// The number that a value of a field without words is compared by. Of the fields of random
/// documents `open` has booleans.
fn number(value: &str) -> Option<f64> {
    match value {
        "false" => Some(0.0),
        "true" => Some(1.0),
        number => number.parse().ok(),
    }
}

/// Returns true if the ends of a range are values of a field without words, and in order.
pub fn have_order(name: &str, lower: &Bound<String>, upper: &Bound<String>) -> bool {
    let end = |bound: &Bound<String>| match bound {
        Bound::Included(text) | Bound::Excluded(text) => Some(text.clone()),
        Bound::Unbounded => None,
    };
    let is_value = |text: &String| {
        let is_boolean = matches!(text.as_str(), "true" | "false");
        number(text).is_some_and(f64::is_finite) && is_boolean == (name == "open")
    };
    let (low, high) = (end(lower), end(upper));
    let are_values = [&low, &high].into_iter().flatten().all(is_value);
    let excludes = [lower, upper]
        .iter()
        .any(|end| matches!(end, Bound::Excluded(_)));
    let in_order = match (
        low.as_deref().and_then(number),
        high.as_deref().and_then(number),
    ) {
        (Some(low), Some(high)) => low < high || low == high && !excludes,
        _ => true,
    };
    are_values && in_order
}

/// Returns true if the number of a value is between two ends.
pub fn is_value_between(term: &str, lower: &Bound<String>, upper: &Bound<String>) -> bool {
    let value = number(term);
    let above = match lower {
        Bound::Included(least) => value >= number(least),
        Bound::Excluded(least) => value > number(least),
        Bound::Unbounded => true,
    };
    let below = match upper {
        Bound::Included(most) => value <= number(most),
        Bound::Excluded(most) => value < number(most),
        Bound::Unbounded => true,
    };
    above && below
}

/// Returns true if the bytes of a term are between two ends.
pub fn is_between(term: &str, lower: &Bound<String>, upper: &Bound<String>) -> bool {
    let above = match lower {
        Bound::Included(least) => term.as_bytes() >= least.as_bytes(),
        Bound::Excluded(least) => term.as_bytes() > least.as_bytes(),
        Bound::Unbounded => true,
    };
    let below = match upper {
        Bound::Included(most) => term.as_bytes() <= most.as_bytes(),
        Bound::Excluded(most) => term.as_bytes() < most.as_bytes(),
        Bound::Unbounded => true,
    };
    above && below
}
