//! The routes: one table in two parts, from which the router, the lists in `docs/server.md` and
//! `docs/compatibility.md`, and the OpenAPI file are made.

mod absent;
mod alias;
mod analysis;
mod bulk;
mod by_query;
mod cat;
mod cluster;
mod contexts;
mod data_stream;
mod document;
mod index;
mod inspect;
mod legacy_template;
mod listing;
mod lists;
mod mapping;
mod metrics;
mod nodes;
mod own;
mod page;
mod parameters;
mod place;
mod reading;
mod route;
mod search;
mod statistics;
mod table;
mod task;
mod template;
mod termvectors;

pub use absent::absent;
pub use listing::{compatibility, own_routes};
pub use own::is_own;
pub use route::{Lane, Route};

/// All routes: Gannet's own, and those of Elasticsearch.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    own::ROUTES.iter().chain(table::ROUTES)
}
