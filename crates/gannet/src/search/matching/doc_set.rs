//! Sets of documents: one bit each, in chunks that exist where the set has members. After the
//! bitmaps of Roaring (Chambi et al., 2016), without their other containers.

use crate::base::{Budget, DocId, END, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::postings::TermCursor;

/// Documents whose bits share a chunk.
const CHUNK_DOCS: usize = 1 << 16;
const WORDS: usize = CHUNK_DOCS / 64;

/// Words of a block of documents: 64 times 64 documents.
pub const BLOCK_WORDS: usize = 64;
const CHUNK_BLOCKS: usize = WORDS / BLOCK_WORDS;

/// A bit for each document of a block, the first in the lowest bit of the first word.
pub type MemberBits = [u64; BLOCK_WORDS];

type Chunk = Option<Box<[u64; WORDS]>>;

/// Pages of a list that are read ahead into a set.
pub const AHEAD_PAGES: usize = 64;

/// A set of documents.
pub struct DocSet {
    chunks: Vec<Chunk>,
    count: u64,
    reserved: Reservation,
}

impl DocSet {
    /// An empty set that takes its memory from `budget`.
    pub fn new(budget: &Budget) -> Result<DocSet> {
        Ok(DocSet {
            chunks: Vec::new(),
            count: 0,
            reserved: budget.reserve("the documents of a prefix, wildcard or range", 0)?,
        })
    }

    /// The number of members.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a document.
    pub fn insert(&mut self, doc: DocId) -> Result<()> {
        let at = doc as usize / CHUNK_DOCS;
        if !matches!(self.chunks.get(at), Some(Some(_))) {
            self.make_room(at)?;
        }
        if let Some(chunk) = &mut self.chunks[at] {
            let word = &mut chunk[doc as usize % CHUNK_DOCS / 64];
            let bit = 1 << (doc % 64);
            self.count += u64::from(*word & bit == 0);
            *word |= bit;
        }
        Ok(())
    }

    /// Adds documents 64 at a time: the first bit of the first word is the document `first`.
    pub fn insert_words(&mut self, first: DocId, words: &[u64]) -> Result<()> {
        let (mut at, shift) = (first as usize / 64, first % 64);
        for word in words {
            self.insert_word(at, word << shift)?;
            if shift > 0 {
                self.insert_word(at + 1, word >> (64 - shift))?;
            }
            at += 1;
        }
        Ok(())
    }

    fn insert_word(&mut self, at: usize, word: u64) -> Result<()> {
        if word == 0 {
            return Ok(());
        }
        if !matches!(self.chunks.get(at / WORDS), Some(Some(_))) {
            self.make_room(at / WORDS)?;
        }
        if let Some(chunk) = &mut self.chunks[at / WORDS] {
            let place = &mut chunk[at % WORDS];
            self.count += u64::from((word & !*place).count_ones());
            *place |= word;
        }
        Ok(())
    }

    /// Returns the members in a block.
    pub fn block(&self, block: usize) -> MemberBits {
        let chunk = self.chunks.get(block / CHUNK_BLOCKS);
        let blocks = chunk
            .and_then(Option::as_ref)
            .map(|chunk| chunk.as_chunks().0);
        let bits = blocks.and_then(|blocks| blocks.get(block % CHUNK_BLOCKS));
        bits.copied().unwrap_or([0; BLOCK_WORDS])
    }

    #[cold]
    fn make_room(&mut self, at: usize) -> Result<()> {
        let more = (at + 1).saturating_sub(self.chunks.len()) * size_of::<Chunk>();
        let bytes = self.reserved.bytes() + more + size_of::<[u64; WORDS]>();
        self.reserved.grow_to(bytes)?;
        if more > 0 {
            self.chunks.reserve_exact(at + 1 - self.chunks.len());
            self.chunks.resize_with(at + 1, || None);
        }
        self.chunks[at] = Some(Box::new([0; WORDS]));
        Ok(())
    }

    /// Adds all documents of a list; called again after a stop, it goes on behind the last.
    pub fn insert_all(&mut self, list: &mut TermCursor, pages: &mut Pages<'_>) -> Step<()> {
        let mut next = 0;
        loop {
            let doc = match list.advance(next, pages) {
                Ok(doc) => doc,
                Err(stop) => {
                    read_ahead(list, next, pages)?;
                    return Err(stop);
                }
            };
            if doc == END {
                return Ok(());
            }
            let docs = list.block_docs();
            pages.count_steps(docs.len())?;
            docs.iter().try_for_each(|doc| self.insert(*doc))?;
            next = docs.last().map_or(doc, |last| *last) + 1;
        }
    }

    /// The first member from `target` on, or [`END`].
    pub fn next(&self, target: DocId) -> DocId {
        let first = target as usize / CHUNK_DOCS;
        let mut word = target as usize % CHUNK_DOCS / 64;
        let mut mask = u64::MAX << (target % 64);
        for (at, chunk) in self.chunks.iter().enumerate().skip(first) {
            if let Some(chunk) = chunk {
                for (place, bits) in chunk.iter().enumerate().skip(word) {
                    let bits = bits & mask;
                    mask = u64::MAX;
                    if bits != 0 {
                        let bit = bits.trailing_zeros() as usize;
                        return (at * CHUNK_DOCS + place * 64 + bit) as DocId;
                    }
                }
            }
            (word, mask) = (0, u64::MAX);
        }
        END
    }
}

/// Notes the pages of a list from `next` on, as far as the round has room.
fn read_ahead(list: &mut TermCursor, next: DocId, pages: &mut Pages<'_>) -> Step<()> {
    if !pages.reads_ahead() || !pages.has_room() {
        return Ok(());
    }
    if list.docs_pages() <= AHEAD_PAGES as u64 {
        list.prefetch_whole(pages)?;
    }
    list.prefetch_from(next.max(list.doc()), AHEAD_PAGES, pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_its_members_in_order() {
        let mut set = DocSet::new(&Budget::new(1 << 20)).unwrap();
        let members = [0, 63, 64, 65_535, 65_536, 300_000];
        for doc in members {
            set.insert(doc).unwrap();
        }
        let mut found = Vec::new();
        let mut next = set.next(0);
        while next != END {
            found.push(next);
            next = set.next(next + 1);
        }
        assert_eq!(found, members);
        assert_eq!((set.next(66), set.next(300_001)), (65_535, END));
    }

    #[test]
    fn words_are_added_wherever_they_begin() {
        for first in [0, 1, 63, 64, 65_500, 65_535, 1 << 20] {
            let (mut set, mut other) = (
                DocSet::new(&Budget::new(1 << 20)).unwrap(),
                DocSet::new(&Budget::new(1 << 20)).unwrap(),
            );
            let words = [0x8000_0000_0000_0001, 0, u64::MAX, 6];
            for _ in 0..2 {
                set.insert_words(first, &words).unwrap();
            }
            for (at, word) in words.iter().enumerate() {
                let bits = (0..64).filter(|bit| word >> bit & 1 == 1);
                bits.for_each(|bit| other.insert(first + at as DocId * 64 + bit).unwrap());
            }
            assert_eq!(set.count(), other.count(), "{first}");
            let last = first as usize / (64 * BLOCK_WORDS) + 1;
            let are_equal = (0..=last).all(|block| set.block(block) == other.block(block));
            assert!(are_equal, "{first}");
        }
    }

    #[test]
    fn a_set_is_rejected_beyond_the_budget() {
        let mut set = DocSet::new(&Budget::new(10_000)).unwrap();
        set.insert(1).unwrap();
        assert!(set.insert(1 << 20).is_err());
    }
}
