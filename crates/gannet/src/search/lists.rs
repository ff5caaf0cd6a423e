//! The lists that a query found, for building what is run and for marking what was wanted.

use crate::analysis::{FieldId, split_term_key};
use crate::base::{DocId, Reservation};
use crate::postings::TermList;

/// A term with its list, ready to be read as often as needed.
#[derive(Clone)]
pub struct OpenTerm {
    /// Its key.
    pub key: Vec<u8>,
    /// Its list.
    pub list: TermList,
    /// 1, or less for a fuzzy term that differs.
    pub similarity: f32,
    /// Chunks that the list has on the device.
    pub chunks_in_list: u64,
    /// Pages of these chunks.
    pub pages_in_list: u64,
}

impl OpenTerm {
    /// The term and the number of its documents, for people to read.
    pub fn name_and_frequency(&self) -> (String, u64) {
        let text = split_term_key(&self.key).map_or(&self.key[..], |(_, text)| text);
        let name = String::from_utf8_lossy(text).into_owned();
        (name, self.list.document_frequency())
    }
}

impl OpenLists {
    /// All terms that were found.
    pub fn all(&self) -> impl Iterator<Item = &OpenTerm> {
        let patterns = self.patterns.iter().flat_map(|(_, terms)| terms);
        self.terms.iter().flatten().chain(patterns)
    }
}

/// The terms of a plan and those that its patterns stand for. A term without documents is `None`.
#[derive(Default)]
pub struct OpenLists {
    /// As [`super::plan::Plan::terms`].
    pub terms: Vec<Option<OpenTerm>>,
    /// As [`super::plan::Plan::patterns`], and whether each is fuzzy.
    pub patterns: Vec<(bool, Vec<OpenTerm>)>,
    /// Fields and patterns, as they were written, that stand for more terms than were taken.
    pub cut: Vec<(FieldId, String)>,
    /// As [`super::plan::Plan::ids`].
    pub ids: Vec<Option<DocId>>,
    /// The memory of all this.
    pub memory: Option<Reservation>,
}
