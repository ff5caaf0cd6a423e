//! Queries of fields of internet addresses (type `ip`), whose terms are in the order of addresses.
//!
//! A value is an address or a network, such as `10.0.0.0/8`. Parts of addresses are no words, so
//! that patterns over them are errors.

use std::ops::Bound;

use gannet_values::AddressRange;

use super::Query;
use crate::analysis::{Analyzer, Field};
use crate::base::{Error, Result};

/// The longest address has so many characters: an error shows no more of a value.
const SHOWN_CHARACTERS: usize = 45;

/// Returns true if a field has addresses.
pub fn has_addresses(field: &Field) -> bool {
    field.analyzer == Analyzer::IP
}

/// Fails at a query that a field of addresses cannot answer.
pub fn check(query: &Query, field: &Field) -> Result<()> {
    match query {
        Query::Text { text, .. } | Query::Phrase { text, .. } => range_of(text, field).map(drop),
        Query::OneOf { values, .. } => values
            .iter()
            .try_for_each(|value| range_of(value, field).map(drop)),
        Query::Range { lower, upper, .. } => {
            [lower, upper].into_iter().try_for_each(|end| match end {
                Bound::Included(text) | Bound::Excluded(text) => range_of(text, field).map(drop),
                Bound::Unbounded => Ok(()),
            })
        }
        Query::PhrasePattern { .. }
        | Query::Prefix { .. }
        | Query::Wildcard { .. }
        | Query::Regexp { .. }
        | Query::Fuzzy { .. } => Err(no_patterns(field)),
        _ => Ok(()),
    }
}

/// Reads an address or a network that a query asks a field for.
pub fn range_of(text: &str, field: &Field) -> Result<AddressRange> {
    AddressRange::parse(text).ok_or_else(|| {
        let name = &field.name;
        let shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
        Error::invalid(format!(
            "the values of field {name:?} are internet addresses, and {shown:?} is none: write an address, as {name}:10.0.0.1 or \
             {name}:\"2001:db8::1\", or a network, as {name}:\"10.0.0.0/8\""
        ))
    })
}

fn no_patterns(field: &Field) -> Error {
    let name = &field.name;
    Error::invalid(format!(
        "the values of field {name:?} are internet addresses, which have no words or parts of words: write a network, as \
         {name}:\"10.0.0.0/8\", or a range, as {name}:[10.0.0.1 TO 10.0.0.9]"
    ))
}
