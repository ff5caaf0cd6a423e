//! A naive search engine, against which Gannet's answers are compared.
//!
//! It shares nothing with Gannet but the tokens of the analyzers and the `Query` tree. Documents
//! are token vectors, and every part of a query is tried on every document; no list, no pruning, no
//! cleverness.
//!
//! The rules are Lucene's and Elasticsearch's (`query_string`, `bool`, BM25 of Lucene 10) and,
//! where those leave a choice, the documented ones of Gannet:
//! - documents that were replaced or deleted count in all statistics, and their terms in
//!   expansions;
//! - a query without a field takes the best of all text fields, leaf by leaf;
//! - a field without a single token is no value: `exists` does not find it;
//! - `Bool` without any clause matches nothing;
//! - without a field, the analyzers of some fields may leave a word of a text and those of others
//!   none; such a text is not required, unless nothing else is asked for;
//! - nor is what has no clauses but such texts;
//! - a clause of which the analyzer leaves no word is as if it were not there; a query of which
//!   none is left matches nothing;
//! - a field that does not exist is an error, as is a range on anything but strings that are kept
//!   whole;
//! - a pattern of several words is a phrase whose last word is the pattern, for whose idf its most
//!   frequent term counts; it stands for the 1,024 most frequent ones, or for so many first ones,
//!   of which each idf counts. A wildcard before the last word is an error where no field that is
//!   searched has it in one word;
//! - in a field of stems the end of a pattern is stemmed too, see `asked`;
//! - a fuzzy term stands for the 50 most similar ones, each with its similarity as the boost and
//!   the frequency of the most frequent one; the total is not exact if there are more.

mod asked;
mod bm25;
mod check;
mod evaluate;
pub mod model;
pub mod patterns;
pub mod phrase;
mod ranges;
pub mod regexp;
pub mod view;

pub use check::Rejection;
pub use evaluate::Answer;
pub use model::{Model, PlainDocument, PlainField, Value};
