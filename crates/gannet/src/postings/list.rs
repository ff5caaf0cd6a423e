//! A term's list, ready to be read: its parts on the device, in its entry and in memory.

use super::cursor::TermCursor;
use super::cursor::parts::{ChunkPart, FragmentPart, Part};
use super::dictionary::TermPostings;
use super::fragment::Fragment;
use crate::base::PhraseFilters;

/// The list of one term. Each cursor over it is made from a clone.
#[derive(Clone, Debug)]
pub struct TermList {
    pub(super) parts: Vec<Part>,
    document_frequency: u64,
}

impl TermList {
    /// An entry's chunks and tail, then recent postings and the memory part, whose docs lie after them.
    pub fn new(postings: TermPostings, memory: Option<Fragment>) -> TermList {
        let memory = memory.unwrap_or_default();
        let document_frequency = postings.document_frequency() + memory.count as u64;
        let TermPostings { entry, recent } = postings;
        let chunks = entry.chunks.into_iter();
        let chunks = chunks.map(|chunk| Part::Chunk(ChunkPart::new(chunk)));
        let recent = recent.into_iter().rev();
        let fragments = [entry.tail].into_iter().chain(recent).chain([memory]);
        let fragments = fragments.filter(|fragment| !fragment.is_empty());
        let fragments = fragments.map(|fragment| Part::Fragment(FragmentPart::new(fragment)));
        TermList {
            parts: chunks.chain(fragments).collect(),
            document_frequency,
        }
    }

    /// Documents that have the term.
    pub fn document_frequency(&self) -> u64 {
        self.document_frequency
    }

    /// Whether all of the list has filters of this kind.
    pub fn has_filters(&self, filters: PhraseFilters) -> bool {
        self.parts.iter().all(|part| part.filters() == filters)
    }

    /// A cursor at its start.
    pub fn cursor(&self) -> TermCursor {
        TermCursor::new(self.clone())
    }
}
