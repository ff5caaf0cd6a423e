//! Vacuum: postings of dead documents leave their lists.
//!
//! Of a list only the chunks are written anew that have such a posting; what lies in a row becomes
//! one chunk, full ones apart. A chunk of which every document in its range is dead goes without
//! being read. A list that has become short gives its chunks up and is whole in its entry again.

use super::chunk_reader::ChunkReader;
use super::list_writer::{Added, ListWriter};
use super::norms::{NormReader, Norms};
use super::rules::{chunk_limit, chunks_most};
use super::spans::SpanReader;
use super::streams::ChunkStreams;
use super::window::{ChunksAhead, Placing, Rewriting, rewrite_all};
use crate::analysis::FieldId;
use crate::base::{PhraseFilters, Result};
use crate::postings::codec::dead::DeadDocs;
use crate::postings::codec::entry::{ChunkRef, INLINE_LIMIT, TermEntry};
use crate::postings::codec::fragment::Fragment;
use crate::postings::codec::tokens::Tokens;
use crate::storage::Store;

/// A list to be swept, or delta postings.
#[derive(Debug)]
pub struct SweepItem<'a> {
    /// The field, for the norms.
    pub field: FieldId,
    /// The kind of phrase filters that the field keeps.
    pub filters: PhraseFilters,
    /// Bytes of the term's key, as of a [`MergeItem`](crate::postings::MergeItem).
    pub key_bytes: usize,
    /// The coded entry.
    pub entry: &'a [u8],
}

/// The result of sweeping a list.
#[derive(Debug, PartialEq, Eq)]
pub struct Swept {
    /// The new entry.
    pub entry: SweptEntry,
    /// Tokens of the postings that are gone.
    pub tokens: u64,
}

/// The entry of a list that was swept.
#[derive(Debug, PartialEq, Eq)]
pub enum SweptEntry {
    /// None of its documents is dead.
    Same,
    /// The new entry, coded. It may have lost its chunks.
    New(Vec<u8>),
    /// No posting is left.
    Gone,
}

/// Bytes that sweeping a coded entry reads, the entry's own included.
pub fn sweep_bytes(entry: &[u8], dead: &DeadDocs) -> Result<u64> {
    let chunks = TermEntry::decode_only_chunks(entry)?;
    let read = chunks
        .iter()
        .filter(|chunk| Touch::of(chunk, dead) == Touch::Read);
    let bytes: u64 = read.map(|chunk| chunk.length() as u64).sum();
    Ok(bytes + entry.len() as u64)
}

/// Takes the postings of dead documents out of lists.
///
/// The chunks must have been written out, as for [`crate::postings::merge_window`], and it takes as
/// much memory.
pub fn vacuum_window(
    store: &Store,
    streams: &ChunkStreams,
    norms: &dyn Norms,
    dead: &DeadDocs,
    items: &[SweepItem<'_>],
) -> Result<Vec<Swept>> {
    rewrite_all(store, streams, norms, items, |item, streams| {
        SweepPlan::new(item, dead, streams.memory().chunk_bytes())
    })
}

/// The treatment of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    /// None of the documents in its range is dead.
    Keep,
    /// Some are; whether it has any of these its postings tell.
    Read,
    /// All are.
    Drop,
}

impl Touch {
    fn of(chunk: &ChunkRef, dead: &DeadDocs) -> Touch {
        if !dead.has_any(chunk.first, chunk.last) {
            Touch::Keep
        } else if dead.has_all(chunk.first, chunk.last) {
            Touch::Drop
        } else {
            Touch::Read
        }
    }
}

/// The plan of sweeping one list.
struct SweepPlan<'a> {
    field: FieldId,
    filters: PhraseFilters,
    /// The most chunks that the entry has room for.
    most: usize,
    /// Bytes of a complete chunk, unless the list is very long.
    complete: usize,
    dead: &'a DeadDocs,
    entry: TermEntry,
    touches: Vec<Touch>,
}

impl<'a> SweepPlan<'a> {
    fn new(item: &SweepItem<'_>, dead: &'a DeadDocs, complete: usize) -> Result<SweepPlan<'a>> {
        let entry = TermEntry::decode(item.entry)?;
        let touches = entry.chunks.iter().map(|chunk| Touch::of(chunk, dead));
        Ok(SweepPlan {
            field: item.field,
            filters: item.filters,
            most: chunks_most(item.key_bytes),
            complete,
            dead,
            touches: touches.collect(),
            entry,
        })
    }

    /// The kind of phrase filters that chunks which are read have; dense ones have left them out.
    fn kept_filters(&self) -> PhraseFilters {
        let kinds = self.chunks().into_iter().map(|chunk| chunk.filters);
        let mut kept = kinds.filter(|kind| *kind != PhraseFilters::None);
        kept.next().unwrap_or(PhraseFilters::None)
    }
}

impl<'a> Rewriting for SweepPlan<'a> {
    type Coded = SweptList;

    fn chunks(&self) -> Vec<ChunkRef> {
        let chunks = self.entry.chunks.iter().zip(&self.touches);
        let read = chunks.filter(|(_, touch)| **touch == Touch::Read);
        read.map(|(chunk, _)| *chunk).collect()
    }

    fn code(
        self,
        ahead: &mut ChunksAhead<'_>,
        norms: &mut NormReader<'_>,
        streams: Option<&ChunkStreams>,
    ) -> Result<SweptList> {
        let mut list = Rest::new(&self);
        let mut at = 0;
        while at < self.touches.len() {
            match self.touches[at] {
                Touch::Keep => {
                    list.keep(self.entry.chunks[at]);
                    at += 1;
                }
                Touch::Drop | Touch::Read => {
                    at = list.code_run(&self, at, ahead, norms, streams)?;
                }
            }
        }
        list.finish(self.entry.tail, self.dead)
    }
}

/// The rest of a list.
struct Rest {
    parts: Vec<SweptPart>,
    /// All of it, as long as that may be short.
    short: Option<Fragment>,
    replaced: Vec<ChunkRef>,
    /// Tokens that are gone.
    tokens: u64,
    /// The kind of phrase filters that chunks in the making have.
    filters: PhraseFilters,
    limit: usize,
}

enum SweptPart {
    Kept(ChunkRef),
    SweptList(Added),
}

impl Rest {
    fn new(plan: &SweepPlan<'_>) -> Rest {
        let short = Fragment {
            filters: plan.filters,
            ..Fragment::default()
        };
        Rest {
            parts: Vec::new(),
            short: Some(short),
            replaced: Vec::new(),
            tokens: 0,
            filters: plan.kept_filters(),
            limit: chunk_limit(&plan.entry.chunks, 0, plan.most, plan.complete),
        }
    }

    fn keep(&mut self, chunk: ChunkRef) {
        self.short = None;
        self.parts.push(SweptPart::Kept(chunk));
    }

    /// Codes what is left of the chunks from one on that have dead documents; gives the first
    /// behind them.
    fn code_run(
        &mut self,
        plan: &SweepPlan<'_>,
        from: usize,
        ahead: &mut ChunksAhead<'_>,
        norms: &mut NormReader<'_>,
        streams: Option<&ChunkStreams>,
    ) -> Result<usize> {
        let mut writer = ListWriter::new(plan.field, self.filters, self.limit, streams, norms);
        let (mut at, mut kept) = (from, None);
        while at < plan.touches.len() && kept.is_none() {
            let chunk = plan.entry.chunks[at];
            match plan.touches[at] {
                Touch::Keep => break,
                Touch::Drop => self.tokens += chunk.total_frequency as u64,
                Touch::Read => {
                    let bytes = ahead.next(&chunk)?;
                    let (has_dead, bytes) = ChunkReader::new(&chunk, bytes)?.find(plan.dead)?;
                    if has_dead {
                        self.filter(&chunk, bytes, plan.dead, &mut writer)?
                    } else {
                        kept = Some(chunk);
                    }
                }
            }
            if kept.is_none() {
                self.replaced.push(chunk);
            }
            at += 1;
        }
        self.parts
            .extend(writer.finish()?.into_iter().map(SweptPart::SweptList));
        kept.into_iter().for_each(|chunk| self.keep(chunk));
        Ok(at)
    }

    /// Adds what is left of a chunk.
    fn filter(
        &mut self,
        chunk: &ChunkRef,
        bytes: Vec<u8>,
        dead: &DeadDocs,
        writer: &mut ListWriter<'_, '_>,
    ) -> Result<()> {
        writer.check_filters(chunk.filters)?;
        self.short.take_if(|short| short.filters != chunk.filters);
        let (mut reader, mut tokens) = (ChunkReader::new(chunk, bytes)?, Tokens::default());
        while let Some(doc) = reader.next(&mut tokens)? {
            if dead.has(doc) {
                self.tokens += tokens.positions.len() as u64;
                continue;
            }
            writer.push(doc, &tokens)?;
            let fits = |short: &mut Fragment| {
                short.append_tokens(doc, &tokens) && short.encoded_length_max() <= INLINE_LIMIT
            };
            self.short.take_if(|short| !fits(short));
        }
        Ok(())
    }

    fn finish(mut self, tail: Fragment, dead: &DeadDocs) -> Result<SweptList> {
        let swept = tail.without(dead)?;
        let same = self.replaced.is_empty() && swept.is_none();
        let tail = match swept {
            None => tail,
            Some((tail, tokens)) => {
                self.tokens += tokens;
                tail
            }
        };
        let whole = match self.short {
            Some(short) if !same => Some(short.concat(&tail)?),
            _ => None,
        };
        let whole = whole.filter(|whole| whole.encoded_length_max() <= INLINE_LIMIT);
        Ok(SweptList {
            same,
            is_short: whole.is_some(),
            tail: whole.unwrap_or(tail),
            parts: self.parts,
            replaced: self.replaced,
            tokens: self.tokens,
        })
    }
}

/// A list that was swept, with chunks that are not all placed.
struct SweptList {
    same: bool,
    /// Set if the tail has all of it, and the chunks are not needed.
    is_short: bool,
    tail: Fragment,
    parts: Vec<SweptPart>,
    replaced: Vec<ChunkRef>,
    tokens: u64,
}

impl SweptList {
    /// The chunks that are left.
    fn place_parts(
        parts: Vec<SweptPart>,
        reader: &SpanReader<'_>,
        streams: &ChunkStreams,
        is_short: bool,
    ) -> Result<Vec<ChunkRef>> {
        let mut chunks = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                SweptPart::SweptList(Added::Placed(chunk)) if is_short => reader.release(&chunk),
                _ if is_short => {}
                SweptPart::Kept(chunk) => chunks.push(chunk),
                SweptPart::SweptList(chunk) => chunks.push(chunk.place(streams)?),
            }
        }
        Ok(chunks)
    }
}

impl Placing for SweptList {
    type Placed = Swept;

    fn place(self, reader: &SpanReader<'_>, streams: &ChunkStreams) -> Result<Swept> {
        let chunks = SweptList::place_parts(self.parts, reader, streams, self.is_short)?;
        self.replaced.iter().for_each(|chunk| reader.release(chunk));
        let entry = TermEntry {
            chunks,
            tail: self.tail,
        };
        let entry = if self.same {
            SweptEntry::Same
        } else if entry.chunks.is_empty() && entry.tail.is_empty() {
            SweptEntry::Gone
        } else {
            SweptEntry::New(entry.encode()?)
        };
        Ok(Swept {
            entry,
            tokens: self.tokens,
        })
    }
}
