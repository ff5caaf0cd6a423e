//! The documents that a query is asked of, some of them deleted, and the statistics that they are
//! scored by.

use super::check::Rejection;
use super::evaluate::{Answer, Column, answer, column, is_partial};
use super::model::{Field, Occurrence, Statistics};
use gannet::Query;

/// A document of a view; `fields` runs parallel to the fields of the view.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The place in the order of writing.
    pub number: usize,
    /// Set unless it was deleted or replaced.
    pub is_live: bool,
    /// For each field the occurrences of its terms.
    pub fields: &'a [Vec<Occurrence>],
}

/// Documents in the order of their numbers, and statistics by field.
pub struct View<'a> {
    /// The fields.
    pub fields: &'a [Field],
    /// The counts of each field.
    pub statistics: &'a [Statistics],
    /// The documents.
    pub documents: Vec<Seen<'a>>,
}

impl View<'_> {
    /// The documents that are not deleted and match `query`.
    pub fn answer(&self, query: &Query) -> Result<Answer, Rejection> {
        answer(self, query)
    }

    /// The score of each document that `query` matches, deleted ones too, and whether a fuzzy word
    /// was cut. There is no column where the analyzers leave no word of the query.
    pub fn column(&self, query: &Query) -> Result<(Option<Column>, bool), Rejection> {
        column(self, query)
    }

    /// Returns true if the analyzers of only some of the fields that `query` searches leave a word
    /// of it.
    pub fn is_partial(&self, query: &Query) -> bool {
        is_partial(self, query)
    }

    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}
