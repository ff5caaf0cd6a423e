//! Searches of Gannet's own API: the query language as the command has it, one index at a time.

mod answer;
mod cost;
mod counts;
mod request;
mod words;

pub use request::OwnSearch;
