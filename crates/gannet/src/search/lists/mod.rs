//! The lists that a query found, for building what is run and for marking what was wanted.

pub(crate) mod collector;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::analysis::{FieldId, split_term_key};
use crate::base::{DocId, Reservation};
use crate::postings::TermList;
use crate::search::matching::doc_set::DocSet;
use crate::search::query::pattern::Pattern;

/// A term with its list, ready to be read as often as needed.
#[derive(Clone)]
pub struct OpenTerm {
    /// Its key.
    pub key: Vec<u8>,
    /// Its list.
    pub list: TermList,
    /// Documents that have it, as scores count them.
    pub frequency: u64,
    /// 1, or less for a fuzzy term that differs.
    pub similarity: f32,
    /// Chunks that the list has on the device.
    pub chunks_in_list: u64,
    /// Pages of these chunks.
    pub pages_in_list: u64,
}

impl OpenTerm {
    /// Bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<OpenTerm>() + self.key.len() + self.list.memory_bytes()
    }

    /// The term and the number of its documents that scores take, for people to read.
    pub fn name_and_frequency(&self) -> (String, u64) {
        let text = split_term_key(&self.key).map_or(&self.key[..], |(_, text)| text);
        let name = String::from_utf8_lossy(text).into_owned();
        (name, self.frequency)
    }
}

/// The expansion of a pattern: its terms, or a set of documents if the terms are many.
pub struct OpenPattern {
    /// Set if it is fuzzy, so that its terms count by their similarity.
    pub is_fuzzy: bool,
    /// The pattern.
    pub pattern: Arc<Pattern>,
    /// The terms, if they are few or end a phrase.
    pub terms: Vec<OpenTerm>,
    /// The documents of all its terms, if these are many.
    pub documents: Option<PatternDocuments>,
    /// The number of documents of its most frequent term, if that was given.
    pub most: Option<u64>,
    /// The documents of each term, as scores count them, if each counts for itself.
    pub each: Option<Vec<u64>>,
}

impl OpenPattern {
    /// Returns true if each of its terms has a score of its own, where it is no part of a phrase.
    pub fn scores_terms(&self) -> bool {
        self.is_fuzzy || self.each.is_some()
    }

    /// The documents of the terms whose idfs the last word of a phrase counts.
    pub fn frequencies(&self) -> Vec<u64> {
        let each = self.each.clone();
        each.unwrap_or_else(|| vec![self.most_frequent().0])
    }

    /// The number of documents of its most frequent term, as scores count them, and that term if it
    /// is here.
    pub fn most_frequent(&self) -> (u64, Option<&OpenTerm>) {
        let most = self.terms.iter().rev().max_by_key(|term| term.frequency);
        let counted = most.map_or(0, |term| term.frequency);
        (self.most.unwrap_or(counted), most)
    }
}

/// A pattern that stands for more terms of a field than were taken.
pub struct PartialExpansion {
    /// The field.
    pub field: FieldId,
    /// The pattern as it was written.
    pub written: String,
    /// Set if the most similar terms were taken in place of the most frequent.
    pub is_fuzzy: bool,
}

/// The documents of all terms that a pattern stands for.
#[derive(Clone)]
pub struct PatternDocuments {
    /// The field.
    pub field: FieldId,
    /// The pattern.
    pub pattern: Arc<Pattern>,
    /// The pattern as it was written.
    pub written: String,
    /// The documents, deleted ones included until a vacuum.
    pub set: Arc<DocSet>,
    /// Set if values were looked at in place of terms: these have deleted documents until a
    /// rebuild.
    pub of_values: bool,
    /// The terms and lists that were read to find them.
    pub sources: Sources,
}

/// The sets of documents that were made for a query, to be used when it is asked again of the same
/// documents, from another one on.
#[derive(Default)]
pub struct KnownPatterns(Mutex<Vec<PatternDocuments>>);

impl KnownPatterns {
    /// The documents of a pattern in a field.
    pub fn find(&self, field: FieldId, written: &str) -> Option<PatternDocuments> {
        let is_it = |known: &&PatternDocuments| known.field == field && known.written == written;
        self.locked().iter().find(is_it).cloned()
    }

    /// Keeps the documents of a pattern.
    pub fn keep(&self, documents: &PatternDocuments) {
        if self.find(documents.field, &documents.written).is_none() {
            self.locked().push(documents.clone());
        }
    }

    fn locked(&self) -> MutexGuard<'_, Vec<PatternDocuments>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the sources of a set of documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources {
    /// Terms. One counts once more for each place in which it has newer postings.
    pub terms: u64,
    /// Lists among theirs that have chunks.
    pub lists: u64,
    /// Pages of these chunks with docs.
    pub pages: u64,
}

impl OpenLists {
    /// All terms that were found.
    pub fn all(&self) -> impl Iterator<Item = &OpenTerm> {
        let patterns = self.patterns.iter().flat_map(|pattern| &pattern.terms);
        self.terms.iter().flatten().chain(patterns)
    }
}

/// The terms of a plan and those that its patterns stand for. A term without documents is `None`.
#[derive(Default)]
pub struct OpenLists {
    /// See [`super::plan::Plan::terms`].
    pub terms: Vec<Option<OpenTerm>>,
    /// See [`super::plan::Plan::patterns`].
    pub patterns: Vec<OpenPattern>,
    /// Patterns that stand for more terms than were taken.
    pub cut: Vec<PartialExpansion>,
    /// Patterns, as they were written, that stand for no term of any field.
    pub unmatched: Vec<String>,
    /// Sentences for the user on these patterns.
    pub notes: Vec<String>,
    /// See [`super::plan::Plan::ids`].
    pub ids: Vec<Option<DocId>>,
    /// The memory of all this.
    pub memory: Option<Reservation>,
}
