//! Dates: UTC milliseconds since 1970, as text and back, and arithmetic with them.

pub(crate) mod arithmetic;
pub(crate) mod civil;
pub(crate) mod format;
pub(crate) mod formats;
pub(crate) mod parse;

pub use civil::{DATE_MAX_MS, DATE_MIN_MS};
