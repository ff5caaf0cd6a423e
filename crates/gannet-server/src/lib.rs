//! A server for Gannet's indexes: an API of its own, a page, and what clients of Elasticsearch ask.
//!
//! It serves a folder of ordinary indexes, one subfolder each. Its own API is in `docs/server.md`.
//! Elasticsearch's API is there as far as `docs/compatibility.md` says; everything else is an error
//! that says so.
//!
//! From top to bottom, each using only those below it:
//!
//! | part | what it does |
//! |---|---|
//! | `server` | listens, queues requests, ends |
//! | `routes` | the table of routes, and their handlers by family |
//! | `service` | what all requests share |
//! | `searching` | the body of a search, its answer, states that are kept between searches |
//! | `documents` | changes of documents: lines of a bulk, batches |
//! | `query` | queries become those of the engine |
//! | `keys` | who may ask, for what: a file of keys, and requests held against it |
//! | `settings` | what a server is started with |
//! | `indexes` | the folder: names, mappings, aliases, templates, which indexes are open |
//! | `http` | parameters, media types, bodies, who may ask |
//! | `json` | JSON in and out |
//! | `metrics` | figures of requests |
//! | `fault`, `near` | errors, and the names that were meant |
//!
//! The engine's calls block, so handlers run on threads of their own.

mod documents;
mod fault;
mod http;
mod indexes;
mod json;
mod keys;
mod metrics;
mod near;
mod query;
mod routes;
mod searching;
mod server;
mod service;
mod settings;
mod tasks;

pub use fault::{Fault, Outcome};
pub use keys::{KeyFile, KeyListing, NewKey};
pub use routes::{compatibility, own_routes};
pub use server::{Ended, Server, Stopper};
pub use settings::{CONNECTIONS_MAX, ES_VERSION, Settings, TlsFiles};

/// Begins to log to standard error, a line of JSON each: from `level` on, one of `error`, `warn`,
/// `info` and `debug`. Requests are logged at `debug`, slow ones at `warn`.
pub fn log_to_standard_error(level: &str) -> Outcome<()> {
    let parsed = level.parse::<tracing::Level>();
    let level = parsed.map_err(|_| {
        Fault::illegal(format!(
            "--log {level} is none of error, warn, info and debug"
        ))
    })?;
    let logging = tracing_subscriber::fmt()
        .json()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .try_init();
    // Whoever began to log before goes on.
    drop(logging);
    Ok(())
}
