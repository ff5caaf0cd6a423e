//! Memory and time: an allocator counts what the process holds while an index is asked hostile and
//! normal queries.
//!
//! A binary of its own, since the allocator counts for all tests of one. They take turns (see
//! [`counting::alone`]).

mod corpus;
mod counting;
mod documents;
mod opening;
mod queries;
mod searching;
mod writing;
