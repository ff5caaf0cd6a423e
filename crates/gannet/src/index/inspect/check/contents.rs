//! The postings of lists against those that the stored documents give.
//!
//! All postings of live documents are added up as digests, and those that the documents give when
//! they are analysed again are taken off; what is left must be nothing. There is a sum for each run
//! of documents, so that memory is bounded and a finding tells where to look. This is the only way
//! to know that a phrase filter is right: any bits may stand for some word.
//!
//! A list may lack filters in a field that has them, since it has most of the documents or had when
//! its postings came. Where such postings lie is kept, and their digests are taken without.

use std::collections::HashMap;

use crate::base::{DocId, PhraseFilters};
use crate::postings::Tokens;

/// The most sums: 512 KiB.
const SUMS_MAX: usize = 1 << 16;

/// The sums of digests of all live documents.
pub(crate) struct DigestSums {
    sums: Vec<u64>,
    /// Documents of a sum.
    documents: DocId,
    below: DocId,
    /// Runs of postings without a filter in fields that have them, by the digest of the term.
    unfiltered: HashMap<u64, Vec<(DocId, DocId)>>,
}

/// The position of the walk through a part of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListPart {
    /// The digest of the term.
    pub(crate) term: u64,
    /// The filters of the field.
    pub(crate) filters: PhraseFilters,
    /// Set if the posting before had no filter.
    in_run: bool,
}

impl ListPart {
    pub(crate) fn new(term: u64, filters: PhraseFilters) -> ListPart {
        ListPart {
            term,
            filters,
            in_run: false,
        }
    }
}

impl DigestSums {
    /// Sums for documents below `below`.
    pub(crate) fn new(below: DocId) -> DigestSums {
        let documents = (below as usize).div_ceil(SUMS_MAX).max(1);
        DigestSums {
            sums: vec![0; (below as usize).div_ceil(documents)],
            documents: documents as DocId,
            below,
            unfiltered: HashMap::new(),
        }
    }

    /// Adds the next posting of a list, of a live document.
    pub(crate) fn add(&mut self, part: &mut ListPart, doc: DocId, tokens: &Tokens) {
        let keeps_filters = part.filters != PhraseFilters::None;
        let with_filter = keeps_filters && tokens.has_filter();
        if keeps_filters {
            self.note_unfiltered(part, doc, with_filter);
        }
        let digest = tokens.digest(part.term, doc, with_filter);
        if let Some(sum) = self.sum(doc) {
            *sum = sum.wrapping_add(digest);
        }
    }

    /// Takes off a digest that a stored document gives.
    pub(crate) fn take(&mut self, doc: DocId, digest: u64) {
        if let Some(sum) = self.sum(doc) {
            *sum = sum.wrapping_sub(digest);
        }
    }

    /// The digest of a posting that a stored document gives.
    pub(crate) fn digest(&self, term: u64, doc: DocId, tokens: &Tokens) -> u64 {
        let runs = self.unfiltered.get(&term);
        let lacks = |runs: &Vec<(DocId, DocId)>| {
            let mut runs = runs.iter();
            runs.any(|(first, last)| (*first..=*last).contains(&doc))
        };
        let with_filter = tokens.has_filter() && !runs.is_some_and(lacks);
        tokens.digest(term, doc, with_filter)
    }

    /// The first and the last document of each run whose postings are not those of its stored
    /// documents.
    pub(crate) fn different(&self) -> impl Iterator<Item = (DocId, DocId)> {
        let sums = (0..).zip(&self.sums).filter(|(_, sum)| **sum != 0);
        sums.map(|(number, _): (DocId, _)| {
            let first = number * self.documents;
            let end = first.saturating_add(self.documents);
            (first, end.min(self.below) - 1)
        })
    }

    fn sum(&mut self, doc: DocId) -> Option<&mut u64> {
        self.sums.get_mut((doc / self.documents) as usize)
    }

    fn note_unfiltered(&mut self, part: &mut ListPart, doc: DocId, with_filter: bool) {
        if !with_filter {
            let runs = self.unfiltered.entry(part.term).or_default();
            match runs.last_mut() {
                Some((_, last)) if part.in_run => *last = doc,
                _ => runs.push((doc, doc)),
            }
        }
        part.in_run = !with_filter;
    }
}
