//! The terms that a field of internet addresses is asked for. Their bytes are in the order of
//! addresses.

use std::ops::Bound;

use gannet_values::Address;

use crate::analysis::Field;
use crate::base::Result;
use crate::search::query::addresses::range_of;
use crate::search::query::pattern::Pattern;

/// Returns the terms of some addresses and networks.
pub fn pattern_of_addresses(values: &[String], field: &Field) -> Result<Pattern> {
    let mut forms = Vec::new();
    let mut terms = Vec::new();
    for value in values {
        let range = range_of(value, field)?;
        if range.first == range.last {
            terms.push(term(range.first));
        } else {
            let (from, to) = (term(range.first), term(range.last));
            forms.push(Pattern::Range(Bound::Included(from), Bound::Included(to)));
        }
    }
    if !terms.is_empty() {
        terms.sort_unstable();
        terms.dedup();
        forms.push(Pattern::OneOf(terms));
    }
    Ok(Pattern::Either(forms))
}

/// Returns the terms of the addresses in a range. A network as an end stands for all that it has.
pub fn pattern_between_addresses(
    lower: &Bound<String>,
    upper: &Bound<String>,
    field: &Field,
) -> Result<Pattern> {
    let from = match lower {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(text) => Bound::Included(term(range_of(text, field)?.first)),
        Bound::Excluded(text) => Bound::Excluded(term(range_of(text, field)?.last)),
    };
    let to = match upper {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(text) => Bound::Included(term(range_of(text, field)?.last)),
        Bound::Excluded(text) => Bound::Excluded(term(range_of(text, field)?.first)),
    };
    Ok(Pattern::Either(vec![Pattern::Range(from, to)]))
}

fn term(address: Address) -> Vec<u8> {
    address.to_column_string().into_bytes()
}
