//! Aggregations against a naive evaluation of the same JSON on the same documents.

mod answers;
mod comparing;
mod intervals;
mod memory;
mod naive;
mod reading;
mod requests;
mod world;
