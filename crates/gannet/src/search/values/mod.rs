//! Values of fields in a search: which column a name stands for, and hits in the order of values.

mod aggregate;
mod best;
mod bound;
mod by_id;
mod groups;
mod id_order;
mod key_run;
mod key_scan;
mod ranks;
mod sort;
mod sort_key;
mod window;

pub use aggregate::{AggregateRun, AggregationRequest, AggregationState};
pub use sort::{SortRun, SortTask};
pub use sort_key::{SortBy, SortKey, SortValue};

use std::time::{SystemTime, UNIX_EPOCH};

use crate::base::{Error, Result};
use crate::columns::{ColumnReader, KEYWORD_SUFFIX, VALUES_FIRST};
use crate::search::query::fields::{check_name, shown};
use crate::search::view::SearchView;

/// Documents of a piece are looked up one by one if at most one in so many is wanted: this takes
/// about as long as eight values that are decoded together.
const FEW: usize = 8;

/// The most fields that an error names.
const NAMES_SHOWN: usize = 8;

/// The column that a name stands for; of dates that are written as strings those, and not the
/// strings. Fails if there is none, and names those that there are.
pub fn column_of(name: &str, view: &SearchView) -> Result<ColumnReader> {
    let columns = view.columns.columns();
    let field = match view.schema.named(name) {
        Some(_) => name,
        None => name.strip_suffix(KEYWORD_SUFFIX).unwrap_or(name),
    };
    check_name(field, &view.schema)?;
    if columns.named(name, &view.schema).is_empty() {
        return Err(without_values(name, view));
    }
    let found = columns.find(name, &view.schema, &VALUES_FIRST)?;
    let lost = || Error::internal(format!("column {found} is not there"));
    view.columns.reader(found).ok_or_else(lost)
}

/// Returns true if the index has no field for the name of a column.
pub fn is_absent(name: &str, view: &SearchView) -> bool {
    let base = name.strip_suffix(KEYWORD_SUFFIX).unwrap_or(name);
    [name, base]
        .iter()
        .all(|name| view.schema.named(name).is_none())
}

/// The error for a field of which no values are kept.
fn without_values(name: &str, view: &SearchView) -> Error {
    let columns = view.columns.columns().all().iter();
    let open = columns.filter(|column| !column.closed);
    let names = open.filter_map(|column| view.schema.field(column.field));
    let mut names: Vec<&str> = names.map(|field| field.name.as_str()).collect();
    names.dedup();
    names.truncate(NAMES_SHOWN);
    let others = match names.as_slice() {
        [] => "the index keeps those of no field".to_owned(),
        some => format!("fields that have them are {}", some.join(", ")),
    };
    Error::invalid(format!(
        "no values are kept of field {}, which is words: {others}",
        shown(name)
    ))
}

/// Returns the present time, which `now` means in a date: milliseconds since 1970.
pub fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as i64)
}
