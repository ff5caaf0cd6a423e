//! The server from outside: each test starts a real one on loopback and sends it requests.

mod aliases;
mod bulk;
mod by_query;
mod client;
mod compatibility;
mod connections;
mod dates;
mod documents;
mod guards;
mod hostile;
mod indexes;
mod inspect;
mod keys;
mod life;
mod mappings;
mod model;
mod own;
mod page_request;
mod queries;
mod scrolls;
mod searches;
mod several;
mod sorting;
mod status;
mod syntax;
mod templates;
