//! The cursor over one term's list: chunks, tail and memory part as one run of postings in doc
//! order.
//!
//! It skips chunks by the entry, pages by the heads, blocks by a page's directory. It decodes only
//! the block it stands in, and the frequencies only on request.
//!
//! Invariants:
//! 1. `doc` and the decoded block change only once every page needed for the change is at hand; a
//!    step that stops for pages leaves the cursor where it stood, and calling it again goes on.
//! 2. While a block is decoded, `page` is the docs page it came from (for a chunk).
//! 3. Until it is rewound docs never go back: a target at or before the current doc gives the
//!    current doc.
//!
//! Memory: one docs page, one index page and one position page, as frames. Beside these the docs
//! page's directory (28 bytes a block) and 1.5 KiB of decoded numbers. Each chunk has a decoded
//! index (see `postings::codec::head`) of at most 10 KiB.

mod bounds;
mod decoded;
mod filter;
mod filter_pieces;
mod filter_scratch;
mod list;
mod occurrences;
pub(super) mod parts;
mod positions;
mod prefetch;

use std::sync::Arc;

use crate::postings::codec::block::{BLOCK, Numbers};
use crate::postings::codec::docs_page::{BlockEntry, DocsPage, GroupRef};
use crate::postings::codec::head::{HeadFound, PageFound, PageIndex};

use crate::base::{DocId, END, Error, Result};
use crate::cache::{Pages, Step, Stop};
pub use bounds::BlocksAhead;
use decoded::Decoded;
use filter_scratch::FilterScratch;
pub use list::TermList;
pub use parts::Reach;
use parts::{Part, noted, read};
use positions::PositionScratch;

/// The memory of a cursor with the numbers of a block.
const CURSOR_BYTES: usize = size_of::<TermCursor>() + 4 * size_of::<Numbers>();

/// Blocks of a page at most, about.
const PAGE_BLOCKS: usize = 1024;

/// Reads one term's list in doc order.
#[derive(Clone, Debug)]
pub struct TermCursor {
    parts: Vec<Part>,
    document_frequency: u64,
    reach: Reach,
    opened: bool,
    started: bool,
    doc: DocId,
    /// The part that the decoded block belongs to.
    part: usize,
    page: Option<LoadedPage>,
    /// The number of pages that were taken to hand.
    pages_taken: u64,
    index_page: Option<(usize, u32, PageIndex)>,
    decoded: Decoded,
    positions: PositionScratch,
    filter: FilterScratch,
}

/// A docs page at hand.
#[derive(Clone, Debug)]
struct LoadedPage {
    part: usize,
    docs: Arc<DocsPage>,
}

impl LoadedPage {
    /// Returns true if the first doc of the list from `doc` on is in it.
    #[inline]
    fn holds(&self, part: usize, doc: DocId) -> bool {
        self.part == part && self.docs.spans(doc)
    }
}

impl TermList {
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

    /// A cursor at its start.
    pub fn cursor(&self) -> TermCursor {
        TermCursor::new(self.clone())
    }
}

impl TermCursor {
    /// A cursor at the start of a list.
    pub fn new(list: TermList) -> TermCursor {
        TermCursor {
            document_frequency: list.document_frequency(),
            parts: list.parts,
            reach: Reach::default(),
            opened: false,
            started: false,
            doc: 0,
            part: 0,
            page: None,
            pages_taken: 0,
            index_page: None,
            decoded: Decoded::default(),
            positions: PositionScratch::default(),
            filter: FilterScratch::default(),
        }
    }

    /// Goes back to the start of the list. Heads stay open.
    pub fn rewind(&mut self) {
        self.started = false;
        self.doc = 0;
        self.part = 0;
        (self.decoded.at, self.decoded.length) = (0, 0);
        for part in &mut self.parts {
            if let Part::Fragment(fragment) = part {
                fragment.rewind();
            }
        }
    }

    /// Says what will be needed of the list, before it is opened: short lists are read that far at
    /// once.
    pub fn will_need(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// Documents that have the term.
    pub fn document_frequency(&self) -> u64 {
        self.document_frequency
    }

    /// The current doc; `END` after the last. Before the first move it is 0 and means nothing.
    #[inline]
    pub fn doc(&self) -> DocId {
        self.doc
    }

    /// Moves to the first doc `>= target` and gives it; stays where it is if it is there or beyond.
    #[inline]
    pub fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        if self.started && target <= self.doc {
            return Ok(self.doc);
        }
        match self.decoded.find(target) {
            Some(at) => Ok(self.stand(at)),
            None => self.seek(target, pages),
        }
    }

    /// Moves to the next doc (at the start: to the first) and gives it.
    #[inline]
    pub fn next(&mut self, pages: &mut Pages<'_>) -> Step<DocId> {
        let at = self.decoded.at + 1;
        if at < self.decoded.length {
            return Ok(self.stand(at));
        }
        let target = if self.started {
            self.doc.saturating_add(1)
        } else {
            0
        };
        self.advance(target, pages)
    }

    /// The current doc's frequency; 0 when there is no current doc. Reads nothing.
    #[inline]
    pub fn frequency(&mut self) -> u32 {
        if self.decoded.length == 0 {
            return 0;
        }
        self.decode_frequencies();
        self.decoded.frequencies[self.decoded.at % BLOCK]
    }

    /// Docs and frequencies from the current doc to the end of its block; advancing to the last doc
    /// + 1 goes on behind them. Empty at the start and at the end. Reads nothing.
    #[inline]
    pub fn block(&mut self) -> (&[DocId], &[u32]) {
        if self.decoded.length == 0 {
            return (&[], &[]);
        }
        self.decode_frequencies();
        let rest = self.decoded.at..self.decoded.length;
        (
            &self.decoded.docs[rest.clone()],
            &self.decoded.frequencies[rest],
        )
    }

    /// Docs from the current doc to the end of its block, as [`TermCursor::block`].
    #[inline]
    pub fn block_docs(&self) -> &[DocId] {
        &self.decoded.docs[self.decoded.at.min(self.decoded.length)..self.decoded.length]
    }

    #[inline]
    fn stand(&mut self, at: usize) -> DocId {
        self.decoded.at = at;
        self.doc = self.decoded.docs[at % BLOCK];
        self.doc
    }

    fn decode_frequencies(&mut self) {
        if self.decoded.has_frequencies {
            return;
        }
        self.decoded.has_frequencies = true;
        let block = self.decoded.block;
        if let Some(page) = &self.page {
            // The shapes were checked with the directory, so that decoding can only give other
            // numbers.
            if page
                .docs
                .frequencies(block, &mut self.decoded.frequencies)
                .is_err()
            {
                self.decoded.frequencies.fill(1);
            }
        }
    }

    /// Goes to the first doc `>= target`, which lies behind the decoded block.
    fn seek(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        self.open(pages)?;
        let part = self.part_of(target);
        match self.parts.get_mut(part) {
            None => {
                self.decoded.length = 0;
                self.doc = END;
            }
            Some(Part::Fragment(_)) => self.seek_fragment(part, target)?,
            Some(Part::Chunk(_)) => self.seek_chunk(part, target, pages)?,
        }
        self.started = true;
        Ok(self.doc)
    }

    fn seek_fragment(&mut self, part: usize, target: DocId) -> Result<()> {
        if let Part::Fragment(fragment) = &mut self.parts[part] {
            fragment.decode_to(target, &mut self.decoded)?;
        }
        self.enter(part, target)
    }

    fn seek_chunk(&mut self, part: usize, target: DocId, pages: &mut Pages<'_>) -> Step<()> {
        self.go_to_page(part, target, pages)?;
        if let Some(page) = &self.page {
            let block = page.docs.find(target, self.decoded.block);
            self.decoded.load(&page.docs, block)?;
        }
        Ok(self.enter(part, target)?)
    }

    /// Makes the page at hand the one of a chunk that would hold `target`.
    fn go_to_page(&mut self, part: usize, target: DocId, pages: &mut Pages<'_>) -> Step<()> {
        let here = self.page.as_ref();
        if !here.is_some_and(|page| page.holds(part, target)) {
            let found = self.locate(part, target, pages)?;
            let docs = self.load(part, found, pages)?;
            self.decoded.length = 0;
            self.page = Some(docs);
            self.pages_taken += 1;
        }
        Ok(())
    }

    /// Stands on the first doc `>= target` of the block just decoded.
    fn enter(&mut self, part: usize, target: DocId) -> Result<()> {
        self.part = part;
        self.positions.forget_block();
        match self.decoded.find(target) {
            Some(at) => {
                self.stand(at);
                Ok(())
            }
            None => Err(Error::damaged(
                "a postings list",
                format!("expected a doc from {target} on where the list names one"),
            )),
        }
    }

    /// The first part that may hold `target` or a later doc.
    #[inline]
    fn part_of(&self, target: DocId) -> usize {
        let ends_before = |part: &Part| part.last() < target;
        let (before, from) = self.parts.split_at(self.part.min(self.parts.len()));
        if from.first().is_some_and(|part| !ends_before(part))
            && before.last().is_none_or(ends_before)
        {
            return self.part;
        }
        self.parts.partition_point(|part| part.last() < target)
    }

    /// Reads the heads of all chunks, in one round.
    pub fn open(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        if self.opened {
            return Ok(());
        }
        let mut complete = true;
        for part in &mut self.parts {
            if let Part::Chunk(chunk) = part {
                complete &= noted(chunk.open(self.reach, pages))?.is_some();
            }
        }
        if !complete {
            return Err(Stop::Pages);
        }
        self.opened = true;
        Ok(())
    }

    /// Finds the docs page of a chunk that would hold `target`.
    fn locate(&mut self, part: usize, target: DocId, pages: &mut Pages<'_>) -> Step<PageFound> {
        let head = self.parts[part].head()?;
        let ordinal = match head.find(target) {
            HeadFound::Docs(found) => return Ok(found),
            HeadFound::IndexPage(ordinal) => ordinal,
        };
        match &self.index_page {
            Some((p, o, index)) if (*p, *o) == (part, ordinal) => Ok(index.find(target)),
            _ => {
                let bytes = read(head.index_page(ordinal)?, pages)?;
                let index = head.parse_index(ordinal, &bytes)?;
                let found = index.find(target);
                self.index_page = Some((part, ordinal, index));
                Ok(found)
            }
        }
    }

    /// Reads a docs page that was found.
    fn load(&self, part: usize, found: PageFound, pages: &mut Pages<'_>) -> Step<LoadedPage> {
        let bytes = read(self.parts[part].head()?.docs_page(found.page)?, pages)?;
        let length = bytes.len();
        let docs = DocsPage::parse(bytes, 0..length, self.parts[part].filters())?;
        if docs.last() != found.last {
            let reason = format!("expected doc {} last, got {}", found.last, docs.last());
            return Err(Error::damaged("a page of postings", reason).into());
        }
        Ok(LoadedPage {
            part,
            docs: Arc::new(docs),
        })
    }
}
