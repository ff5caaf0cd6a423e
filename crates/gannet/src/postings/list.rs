//! A term's list, ready to be read: its parts on the device, in its entry and in memory.

use super::block::{BLOCK, Numbers};
use super::cursor::TermCursor;
use super::cursor::parts::{ChunkPart, FragmentPart, Part};
use super::dictionary::TermPostings;
use super::docs_page::{BlockEntry, GroupRef};
use super::entry::ChunkRef;
use super::fragment::Fragment;
use crate::base::{DocId, PhraseFilters};

/// What a cursor takes with the numbers of a block.
const CURSOR_BYTES: usize = size_of::<TermCursor>() + 4 * size_of::<Numbers>();

/// Blocks of a page at most, about.
const PAGE_BLOCKS: usize = 1024;

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

    /// Bytes of memory that it holds.
    pub fn memory_bytes(&self) -> usize {
        let fragments = self.parts.iter().map(Part::fragment_bytes);
        self.parts.capacity() * size_of::<Part>() + fragments.sum::<usize>()
    }

    /// Bytes that a cursor takes as it goes through the list: what it has decoded, the heads, and
    /// the directory of a page.
    pub fn cursor_bytes(&self) -> usize {
        let blocks = self.document_frequency as usize / BLOCK + 2;
        let heads = self.parts.iter().map(Part::head_bytes);
        CURSOR_BYTES
            + self.parts.len() * size_of::<Part>()
            + blocks.min(PAGE_BLOCKS) * (size_of::<BlockEntry>() + 2 * size_of::<GroupRef>())
            + heads.sum::<usize>()
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

    /// A cursor at its start.
    pub fn cursor(&self) -> TermCursor {
        TermCursor::new(self.clone())
    }
}
