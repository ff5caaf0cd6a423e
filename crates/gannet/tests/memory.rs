//! Memory and time: an allocator counts what the process holds while an index is asked hostile and
//! normal queries.
//!
//! A binary of its own, since the allocator counts for all tests of one. They take turns (see
//! [`counting::alone`]).

#[path = "memory/corpus.rs"]
mod corpus;
#[path = "memory/counting.rs"]
mod counting;
#[path = "memory/documents.rs"]
mod documents;
#[path = "memory/opening.rs"]
mod opening;
#[path = "memory/queries.rs"]
mod queries;
#[path = "memory/searching.rs"]
mod searching;
#[path = "memory/writing.rs"]
mod writing;
