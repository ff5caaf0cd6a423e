//! A term's list, ready to be read: its parts on the device, in its entry and in memory.

use super::parts::{ChunkPart, FragmentPart, Part};
use crate::base::{DocId, PhraseFilters};
use crate::postings::codec::entry::ChunkRef;
use crate::postings::codec::fragment::Fragment;
use crate::postings::terms::TermPostings;

/// The list of one term. Each cursor over it is made from a clone.
#[derive(Clone, Debug)]
pub struct TermList {
    pub(super) parts: Vec<Part>,
    pub(super) document_frequency: u64,
}

impl TermList {
    /// An entry's chunks and tail, then delta postings and what is in memory, whose docs lie after
    /// them.
    pub fn new(postings: TermPostings, memory: Vec<Fragment>) -> TermList {
        let counts = memory.iter().map(|fragment| u64::from(fragment.count));
        let document_frequency = postings.document_frequency() + counts.sum::<u64>();
        let TermPostings { entry, recent } = postings;
        let chunks = entry.chunks.into_iter();
        let chunks = chunks.map(|chunk| Part::Chunk(ChunkPart::new(chunk)));
        let recent = recent.into_iter().rev();
        let fragments = [entry.tail].into_iter().chain(recent).chain(memory);
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

    /// Returns true if all of the list has filters of this kind.
    pub fn has_filters(&self, filters: PhraseFilters) -> bool {
        self.parts.iter().all(|part| part.filters() == filters)
    }

    /// Bytes of memory that it holds.
    pub fn memory_bytes(&self) -> usize {
        let fragments = self.parts.iter().map(Part::fragment_bytes);
        self.parts.capacity() * size_of::<Part>() + fragments.sum::<usize>()
    }

    /// Its chunks, and the fragments behind them.
    pub fn parts(&self) -> (Vec<ChunkRef>, Vec<&Fragment>) {
        let (mut chunks, mut fragments) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Chunk(chunk) => chunks.push(*chunk.chunk()),
                Part::Fragment(part) => fragments.push(part.fragment()),
            }
        }
        (chunks, fragments)
    }

    /// This list with no other documents than these, which ascend and are in it, each with its
    /// frequency. No positions of them are known, and the document frequency stays.
    pub fn cut_to(&self, postings: impl Iterator<Item = (DocId, u32)>) -> TermList {
        let mut fragment = Fragment::new(0);
        postings.for_each(|(doc, frequency)| fragment.append_counted(doc, frequency));
        let fragments = Some(fragment).filter(|fragment| !fragment.is_empty());
        let parts = fragments.map(|fragment| Part::Fragment(FragmentPart::new(fragment)));
        TermList {
            parts: parts.into_iter().collect(),
            document_frequency: self.document_frequency,
        }
    }
}
