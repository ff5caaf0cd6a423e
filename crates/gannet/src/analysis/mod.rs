//! From text to terms: tokenizers, filters and the analyzers made of them, and the schema that says
//! which field uses which.
//!
//! The room is pure: no input or output, no clock, no state but the buffers a caller lends.
//! Indexing, queries and highlighting all go through [`Analyzer::analyze`], so the same text always
//! gives the same terms. Changing what an analyzer gives makes existing indexes miss documents:
//! [`VERSION`] must change with it, and with how often a document has a term. An index of another
//! version is rejected.

mod analyzer;
mod common;
mod emoji;
mod english;
mod fingerprints;
mod forms;
mod plain;
mod porter;
mod schema;
mod stems;
mod value_rules;
mod words;

pub use analyzer::{Analyzer, Scratch, Token, VERSION};
pub use common::COMMON_WORDS;
pub use fingerprints::{fingerprint, is_exact};
pub(crate) use forms::other_forms;
pub(crate) use schema::in_nfc;
pub use schema::{
    Field, FieldKind, FieldOptions, MAX_FIELDS, Schema, SchemaOptions, split_term_key, term_key,
};
pub use value_rules::{FieldId, NullValue, ValueRules, has_more_characters};

/// The longest token in characters; a longer one is cut, and the rest is analyzed as if it began
/// there.
///
/// It is Lucene's number, so that both engines find the same documents.
pub const MAX_TOKEN_CHARACTERS: usize = 255;

/// The length in bytes of the first `characters` characters of `text`, or of all of it.
fn prefix_length(text: &str, characters: usize) -> usize {
    let end = text.char_indices().nth(characters);
    end.map_or(text.len(), |(at, _)| at)
}
