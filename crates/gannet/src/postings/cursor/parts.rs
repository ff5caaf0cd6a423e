//! The parts of a list: chunks on the device and fragments in memory.

use std::sync::Arc;

use super::decoded::Decoded;
use crate::base::{
    ByteReader, DocId, Error, PAGE_PAYLOAD, PageAddress, PhraseFilters, Result, Span,
};
use crate::cache::{Bytes, Frame, Pages, Step, Stop};
use crate::postings::codec::block::BLOCK;
use crate::postings::codec::entry::{ChunkRef, Layout};
use crate::postings::codec::fragment::{Fragment, read_posting, read_tokens, skip_tokens};
use crate::postings::codec::head::Head;
use crate::postings::codec::impacts::{Impacts, Pair};
use crate::postings::codec::tokens::{Neighbours, Tokens};
use crate::storage::{PageKind, wrong_kind};

const WHAT: &str = "a postings fragment";

/// The part of a chunk that is needed, from its front on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Documents and frequencies.
    #[default]
    Docs,
    /// The phrase filter too.
    Filter,
    /// All.
    Positions,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub(in crate::postings) enum Part {
    Chunk(ChunkPart),
    Fragment(FragmentPart),
}

/// A chunk and its head once that was read.
#[derive(Clone, Debug)]
pub(in crate::postings) struct ChunkPart {
    chunk: ChunkRef,
    head: Option<Box<Head>>,
}

/// A fragment, decoded forward a block at a time.
#[derive(Clone, Debug)]
pub(in crate::postings) struct FragmentPart {
    /// Shared, so that cursors are cloned without its bytes.
    fragment: Arc<Fragment>,
    /// Postings decoded so far, the last of them, and the bytes they took.
    decoded: u32,
    previous: DocId,
    docs_at: usize,
    /// Numbers of the first position of the decoded block and of the next.
    block_number: u64,
    next_number: u64,
    /// A position's number and where it starts: skipping goes on from here.
    known: (u64, usize),
}

/// Reads a span of postings pages.
pub(super) fn read(span: Span, pages: &mut Pages<'_>) -> Step<Bytes> {
    let bytes = pages.span(span)?;
    match &bytes {
        Bytes::Frame(frame, _) => check_kind(span.first(), frame)?,
        Bytes::Owned(_) => {
            for address in span.pages() {
                check_kind(address, &pages.page(address)?)?;
            }
        }
    }
    Ok(bytes)
}

fn check_kind(address: PageAddress, frame: &Frame) -> Result<()> {
    match frame.kind() {
        PageKind::Postings => Ok(()),
        other => Err(wrong_kind(address, PageKind::Postings, other)),
    }
}

impl Part {
    /// The last doc.
    pub(super) fn last(&self) -> DocId {
        match self {
            Part::Chunk(part) => part.chunk.last,
            Part::Fragment(part) => part.fragment.last,
        }
    }

    /// Returns the number of pages of the head and the docs pages, by the entry; none in memory.
    pub(super) fn docs_pages(&self) -> u32 {
        match self {
            Part::Chunk(part) => part.docs().page_count(),
            Part::Fragment(_) => 0,
        }
    }

    /// Bytes of a fragment, which all cursors share.
    pub(in crate::postings) fn fragment_bytes(&self) -> usize {
        match self {
            Part::Chunk(_) => 0,
            Part::Fragment(part) => {
                let Fragment {
                    docs, positions, ..
                } = &*part.fragment;
                size_of::<Fragment>() + docs.capacity() + positions.capacity()
            }
        }
    }

    /// Bytes that a decoded head takes, about: an entry of its index is coded in three bytes or
    /// more. What lies across pages is copied.
    pub(in crate::postings) fn head_bytes(&self) -> usize {
        match self {
            Part::Chunk(part) => {
                let is_copied =
                    part.docs().page_count() > 1 && part.chunk.layout == Layout::Grouped;
                let copied = if is_copied { PAGE_PAYLOAD } else { 0 };
                size_of::<Head>() + 5 * part.chunk.head_length as usize + copied
            }
            Part::Fragment(_) => 0,
        }
    }

    /// The phrase filter that it has.
    pub(in crate::postings) fn filters(&self) -> PhraseFilters {
        match self {
            Part::Chunk(part) => part.chunk.filters,
            Part::Fragment(part) => part.fragment.filters,
        }
    }

    /// The head of a chunk that was opened.
    pub(super) fn head(&self) -> Result<&Head> {
        match self {
            Part::Chunk(ChunkPart {
                head: Some(head), ..
            }) => Ok(head),
            _ => Err(Error::internal("a list was used before it was opened")),
        }
    }

    /// The bound on the part's scores.
    pub(super) fn impacts(&self) -> Result<Impacts> {
        match self {
            Part::Chunk(_) => Ok(self.head()?.impacts),
            Part::Fragment(part) => Ok(part.impacts()),
        }
    }
}

impl ChunkPart {
    pub(in crate::postings) fn new(chunk: ChunkRef) -> ChunkPart {
        ChunkPart { chunk, head: None }
    }

    /// Returns the chunk's entry.
    pub(in crate::postings) fn chunk(&self) -> &ChunkRef {
        &self.chunk
    }

    /// Reads the head. What will be needed of a grouped chunk is asked for with it, since that is
    /// one read.
    pub(super) fn open(&mut self, reach: Reach, pages: &mut Pages<'_>) -> Step<()> {
        if self.head.is_some() {
            return Ok(());
        }
        if self.chunk.layout == Layout::Grouped {
            self.want(reach, pages)?;
        }
        let head = self.chunk.place.part(0, self.chunk.head_length);
        let bytes = read(head, pages)?;
        self.head = Some(Box::new(Head::parse(&self.chunk, &bytes)?));
        Ok(())
    }

    /// Notes the docs pages, unless the head was read, which knows better.
    pub(super) fn note_docs(&self, pages: &mut Pages<'_>) -> Step<()> {
        if self.head.is_none() {
            note(self.docs(), pages)?;
        }
        Ok(())
    }

    /// The head and the docs pages.
    fn docs(&self) -> Span {
        self.chunk.place.part(0, self.chunk.docs_length)
    }

    /// Notes the pages of a grouped chunk as far as this. Stops if any is missing.
    fn want(&self, reach: Reach, pages: &mut Pages<'_>) -> Step<()> {
        let docs = self.chunk.docs_length;
        let end = match reach {
            Reach::Docs => docs,
            Reach::Filter => self.chunk.filter().end as u32,
            Reach::Positions => self.chunk.length(),
        };
        let mut complete = note(self.docs(), pages)?;
        if end > docs {
            complete &= note(self.chunk.place.part(docs, end - docs), pages)?;
        }
        if complete { Ok(()) } else { Err(Stop::Pages) }
    }
}

/// Notes the pages of a span. Tells whether all are at hand.
pub(super) fn note(span: Span, pages: &mut Pages<'_>) -> Step<bool> {
    let mut complete = true;
    for address in span.pages() {
        complete &= pages.want(address)?;
    }
    Ok(complete)
}

impl FragmentPart {
    pub(in crate::postings) fn new(fragment: Fragment) -> FragmentPart {
        FragmentPart {
            decoded: 0,
            previous: fragment.base,
            docs_at: 0,
            block_number: 0,
            next_number: 0,
            known: (0, 0),
            fragment: Arc::new(fragment),
        }
    }

    /// Goes back to its start.
    pub(super) fn rewind(&mut self) {
        self.decoded = 0;
        self.previous = self.fragment.base;
        self.docs_at = 0;
        (self.block_number, self.next_number) = (0, 0);
        self.known = (0, 0);
    }

    /// Returns the fragment that it reads.
    pub(in crate::postings) fn fragment(&self) -> &Fragment {
        &self.fragment
    }

    /// Norms are not kept beside a fragment, so the bound has to take the shortest field there can
    /// be.
    pub(super) fn impacts(&self) -> Impacts {
        Impacts::of(Pair {
            frequency: self.fragment.max_frequency,
            norm: 0,
        })
    }

    /// Decodes blocks until one reaches `target`.
    pub(super) fn decode_to(&mut self, target: DocId, out: &mut Decoded) -> Result<()> {
        out.length = 0;
        while self.decoded < self.fragment.count {
            self.decode_block(out)?;
            if self.previous >= target {
                break;
            }
        }
        Ok(())
    }

    fn decode_block(&mut self, out: &mut Decoded) -> Result<()> {
        let count = ((self.fragment.count - self.decoded) as usize).min(BLOCK);
        let mut reader = ByteReader::new(&self.fragment.docs[self.docs_at..], WHAT);
        self.block_number = self.next_number;
        for i in 0..count {
            let first = self.decoded == 0 && i == 0;
            let (doc, frequency) = read_posting(&mut reader, self.previous, first)?;
            (out.docs[i], out.frequencies[i]) = (doc, frequency);
            self.previous = doc;
            self.next_number += frequency as u64;
        }
        self.docs_at += reader.position();
        self.decoded += count as u32;
        (out.at, out.length, out.has_frequencies) = (0, count, true);
        Ok(())
    }

    /// Reads `frequency` tokens, of a posting before which the block has `skip` tokens.
    pub(super) fn tokens(&mut self, skip: u64, frequency: u32, out: &mut Tokens) -> Result<()> {
        out.clear();
        let filters = self.fragment.filters;
        read_tokens(&mut self.stream_from(skip), frequency, filters, out)
    }

    /// Puts into `fit` which of the `count` tokens behind the first `skip` of the block may stand
    /// between the `wanted` words; false if the fragment does not know.
    pub(super) fn between(
        &mut self,
        skip: u64,
        count: u64,
        wanted: Neighbours,
        fit: &mut Vec<bool>,
    ) -> Result<bool> {
        let filters = self.fragment.filters;
        if filters == PhraseFilters::None {
            return Ok(false);
        }
        fit.clear();
        let mut reader = self.stream_from(skip);
        for _ in 0..count {
            reader.varint_u32()?;
            fit.push(Neighbours::decode(filters, &mut reader)?.may_be(wanted));
        }
        Ok(true)
    }

    /// The positions stream behind the first `skip` tokens of the block.
    fn stream_from(&mut self, skip: u64) -> ByteReader<'_> {
        let (number, filters) = (self.block_number + skip, self.fragment.filters);
        if self.known.0 > number {
            self.known = (0, 0);
        }
        let stream = &self.fragment.positions[self.known.1..];
        let skipped = skip_tokens(stream, number - self.known.0, filters);
        self.known = (number, self.known.1 + skipped);
        ByteReader::new(&self.fragment.positions[self.known.1..], WHAT)
    }
}

/// Nothing if the step noted pages; so that a caller can go on and note more.
pub(super) fn noted<T>(step: Step<T>) -> Result<Option<T>> {
    match step {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Pages) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}
