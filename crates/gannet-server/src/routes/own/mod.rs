//! Gannet's own routes: health, metrics, the page, and the API `/v1`.
//!
//! Bodies and answers are described in `docs/server.md`. Errors have one shape: a sentence with
//! a code and, where it is known, the place in the request.

mod document;
mod documents;
mod fields;
mod indexes;
mod multi;
mod openapi;
mod search;
mod statistics;
mod table;
mod tokens;

pub use table::ROUTES;

/// Returns true if a path can only be that of a route of the API.
pub fn is_own(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}
