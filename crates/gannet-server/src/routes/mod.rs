//! The routes: one table, from which the router and the list in `docs/compatibility.md` are made.

mod alias;
mod analysis;
mod bulk;
mod by_query;
mod cat;
mod cluster;
mod contexts;
mod document;
mod index;
mod inspect;
mod listing;
mod lists;
mod mapping;
mod metrics;
mod page;
mod parameters;
mod place;
mod reading;
mod route;
mod search;
mod statistics;
mod table;
mod template;

pub use listing::compatibility;
pub use route::{Lane, Route};
pub use table::ROUTES;
