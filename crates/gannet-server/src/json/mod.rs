//! JSON in and out: members that are known, answers that are written as they come, filters.

mod filter;
mod members;
mod object;
mod pretty;
mod strict;

pub use filter::{FilterPaths, SourceFilter, fits};
pub use members::{Members, kind_of, parse_json};
pub use object::{JsonArray, JsonObject};
pub use pretty::pretty;
pub use strict::parse_strictly;
