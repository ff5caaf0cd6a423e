//! The routes: one table, from which the router and the list in `docs/compatibility.md` are made.

mod analysis;
mod bulk;
mod cat;
mod cluster;
mod document;
mod index;
mod lists;
mod mapping;
mod page;
mod route;
mod search;
mod statistics;
mod table;

pub use route::{Lane, Route};
pub use table::{ROUTES, compatibility};
