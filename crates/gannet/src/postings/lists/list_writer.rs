//! A list's postings coded as chunks.

use super::chunk::{BuiltChunk, ChunkBuilder};
use super::chunk_reader::ChunkReader;
use super::norms::NormReader;
use super::streams::ChunkStreams;
use crate::analysis::FieldId;
use crate::base::{DocId, Error, PhraseFilters, Result};
use crate::postings::codec::entry::ChunkRef;
use crate::postings::codec::fragment::Fragment;
use crate::postings::codec::tokens::Tokens;

/// The number of tokens of a posting before which the size of the chunk is looked at, as it is at
/// the beginning of each block.
const MANY_TOKENS: u32 = 64;

/// Codes postings as chunks.
pub(crate) struct ListWriter<'a, 'n> {
    field: FieldId,
    filters: PhraseFilters,
    limit: usize,
    streams: Option<&'a ChunkStreams>,
    norms: &'a mut NormReader<'n>,
    builder: ChunkBuilder,
    added: Vec<Added>,
    /// The doc that all must lie behind.
    pub(crate) last: Option<DocId>,
}

/// A chunk of a list that was coded.
pub(crate) enum Added {
    Placed(ChunkRef),
    Built(BuiltChunk),
}

impl Added {
    /// Appends it to its stream, unless that was done; gives the reference with its place.
    pub(crate) fn place(self, streams: &ChunkStreams) -> Result<ChunkRef> {
        match self {
            Added::Placed(chunk) => Ok(chunk),
            Added::Built(chunk) => chunk.place(streams),
        }
    }
}

impl<'a, 'n> ListWriter<'a, 'n> {
    /// Takes postings of `field`, whose phrase filters are of this kind. Full chunks have `limit`
    /// bytes; `streams` takes them at once, without it they are kept.
    pub(crate) fn new(
        field: FieldId,
        filters: PhraseFilters,
        limit: usize,
        streams: Option<&'a ChunkStreams>,
        norms: &'a mut NormReader<'n>,
    ) -> ListWriter<'a, 'n> {
        ListWriter {
            field,
            filters,
            limit,
            streams,
            norms,
            builder: ChunkBuilder::new(filters),
            added: Vec::new(),
            last: None,
        }
    }

    /// Adds all postings of a chunk.
    pub(crate) fn push_chunk(&mut self, chunk: &ChunkRef, bytes: Vec<u8>) -> Result<()> {
        self.check_filters(chunk.filters)?;
        let mut reader = ChunkReader::new(chunk, bytes)?;
        while let Some((doc, frequency)) = reader.next_posting()? {
            let builder = self.begin(doc, frequency, chunk.filters)?;
            reader.each_token(frequency, |distance, neighbours| {
                builder.push_token(distance, neighbours);
            })?;
            self.end(doc, frequency)?;
        }
        Ok(())
    }

    /// Adds all postings of a fragment, token by token as they are coded.
    pub(crate) fn push_fragment(&mut self, fragment: &Fragment) -> Result<()> {
        self.check_filters(fragment.filters)?;
        let mut reader = fragment.reader();
        while let Some((doc, frequency)) = reader.next_posting()? {
            let builder = self.begin(doc, frequency, fragment.filters)?;
            reader.each_token(frequency, |distance, neighbours| {
                builder.push_token(distance, neighbours);
            })?;
            self.end(doc, frequency)?;
        }
        Ok(())
    }

    /// The parts of a list have phrase filters of one kind, or none.
    pub(crate) fn check_filters(&self, filters: PhraseFilters) -> Result<()> {
        if filters == self.filters || filters == PhraseFilters::None {
            Ok(())
        } else {
            Err(Error::damaged(
                "a postings list",
                format!(
                    "expected phrase filters of kind {:?}, got {filters:?}",
                    self.filters
                ),
            ))
        }
    }

    /// Adds a posting.
    pub(crate) fn push(&mut self, doc: DocId, tokens: &Tokens) -> Result<()> {
        let frequency = tokens.positions.len() as u32;
        self.make_room(doc, frequency)?;
        let norm = (self.norms)(self.field, doc)?;
        self.builder.push(doc, norm, tokens);
        Ok(())
    }

    /// Begins a posting whose tokens, with neighbours of this kind, are pushed to what is given.
    fn begin(
        &mut self,
        doc: DocId,
        frequency: u32,
        filters: PhraseFilters,
    ) -> Result<&mut ChunkBuilder> {
        self.make_room(doc, frequency)?;
        if filters == PhraseFilters::None {
            self.builder.give_up_filter();
        }
        Ok(&mut self.builder)
    }

    /// Ends the posting that was begun.
    fn end(&mut self, doc: DocId, frequency: u32) -> Result<()> {
        let norm = (self.norms)(self.field, doc)?;
        self.builder.end_posting(doc, frequency, norm);
        Ok(())
    }

    /// Makes room for a posting with so many tokens, which must lie behind the last.
    fn make_room(&mut self, doc: DocId, frequency: u32) -> Result<()> {
        if self.last.is_some_and(|last| doc <= last) || frequency == 0 {
            let reason = format!("expected a doc after {:?}, got {doc}", self.last);
            return Err(Error::damaged("a postings list", reason));
        }
        // Between these moments a chunk grows by little.
        let is_asked = self.builder.begins_block() || frequency >= MANY_TOKENS;
        let is_full = is_asked && self.builder.bytes() >= self.limit;
        if is_full || !self.builder.has_room(frequency as usize) {
            self.end_chunk()?;
        }
        self.last = Some(doc);
        Ok(())
    }

    fn end_chunk(&mut self) -> Result<()> {
        let fresh = ChunkBuilder::new(self.filters);
        if let Some(chunk) = std::mem::replace(&mut self.builder, fresh).finish() {
            self.added.push(match &mut self.streams {
                Some(streams) => Added::Placed(chunk.place(streams)?),
                None => Added::Built(chunk),
            });
        }
        Ok(())
    }

    /// The chunks.
    pub(crate) fn finish(mut self) -> Result<Vec<Added>> {
        self.end_chunk()?;
        Ok(self.added)
    }
}
