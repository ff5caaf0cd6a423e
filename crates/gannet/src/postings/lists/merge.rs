//! Maintenance: what a flush brings is added to the lists, and chunks move out of sparse zones.
//!
//! The rules for what is rewritten are in `postings::lists::rules`.
//!
//! Old chunks are released, not erased: snapshots go on reading them.

use super::list_writer::{Added, ListWriter};
use super::norms::NormReader;
use super::norms::Norms;
use super::rules::{absorbed, chunk_limit, chunks_most, joined};
use super::spans::SpanReader;
use super::streams::ChunkStreams;
use super::window::{ChunksAhead, Placing, Rewriting, rewrite_all};
use crate::analysis::FieldId;
use crate::base::{Error, PhraseFilters, Result, on_all_cores};
use crate::postings::codec::entry::{ChunkRef, INLINE_LIMIT, TAIL_LIMIT, TermEntry};
use crate::postings::codec::fragment::Fragment;
use crate::postings::codec::short::{JOINED_MORE, ShortList, put_entry};
use crate::storage::Store;

/// Fewer lists than this without chunks are not worth a thread.
const WHOLE_AT_LEAST: usize = 512;

/// One term of a flush.
#[derive(Debug)]
pub struct MergeItem<'a> {
    /// The field, for the norms.
    pub field: FieldId,
    /// Bytes of the term's key: beside a long one an entry has room for fewer chunks.
    pub key_bytes: usize,
    /// The term's coded entry, if it has one.
    pub old: Option<&'a [u8]>,
    /// Postings behind all that the entry has.
    pub new: Fragment,
    /// Set if the small chunks at the list's end become one, though there may be nothing new.
    pub joins: bool,
}

impl ChunkStreams {
    /// Bytes that are read to join the small chunks at the end of a coded entry's list; 0 if there
    /// is nothing to join.
    pub fn joinable_bytes(&self, entry: &[u8]) -> Result<u64> {
        let chunks = TermEntry::decode_only_chunks(entry)?;
        let count = joined(&chunks, self.memory().chunk_bytes());
        let small = &chunks[chunks.len() - count..];
        Ok(small.iter().map(|chunk| chunk.length() as u64).sum())
    }
}

/// The plan for one item.
struct MergePlan<'a> {
    item: &'a MergeItem<'a>,
    entry: TermEntry,
    /// New postings and the tail, in bytes at most.
    fresh: usize,
    /// The most chunks that the entry has room for.
    most: usize,
    /// Bytes of a complete chunk, unless the list is very long.
    complete: usize,
    /// Set if the new postings join the tail.
    inline: bool,
    /// The entry's chunks that move, byte by byte.
    moved: Vec<usize>,
    absorbed: Vec<ChunkRef>,
}

/// Adds the new postings of each item to its list; gives the new entries, coded, in the items'
/// order.
///
/// All chunks that are rewritten must have been written out: flush the streams after each window
/// that a later one may read. It takes the memory that the streams were made with
/// ([`crate::postings::MergeMemory`]).
pub fn merge_window(
    store: &Store,
    streams: &ChunkStreams,
    norms: &dyn Norms,
    items: &[MergeItem<'_>],
) -> Result<Vec<Vec<u8>>> {
    let whole = on_all_cores(items.iter().collect(), WHOLE_AT_LEAST, |share| {
        share.into_iter().map(MergeItem::whole_entry).collect()
    });
    let whole = whole.into_iter().collect::<Result<Vec<_>>>()?;
    let others = items.iter().zip(&whole);
    let others: Vec<&MergeItem<'_>> = others
        .filter_map(|(item, whole)| whole.is_none().then_some(item))
        .collect();
    let rewritten = rewrite_all(store, streams, norms, &others, |item, streams| {
        MergePlan::new(item, streams)
    })?;
    let mut rewritten = rewritten.into_iter();
    let entries = whole.into_iter().map(|whole| {
        let entry = whole.or_else(|| rewritten.next());
        entry.ok_or_else(|| Error::internal("a list was not rewritten"))
    });
    entries.collect()
}

impl MergeItem<'_> {
    /// The new entry, coded, of a list that has no chunks and still needs none. Most lists are
    /// such.
    fn whole_entry(&self) -> Result<Option<Vec<u8>>> {
        let mut parts = Vec::with_capacity(2);
        match self.old {
            None => {}
            Some(bytes) if self.joins || TermEntry::has_chunks(bytes) => return Ok(None),
            Some(bytes) => parts.push(ShortList::decode(bytes)?),
        }
        let old_bytes = self.old.map_or(0, |old| old.len() + JOINED_MORE);
        if old_bytes + self.new.encoded_length_max() > INLINE_LIMIT {
            return Ok(None);
        }
        parts.push(ShortList::of(&self.new));
        let mut entry = Vec::with_capacity(old_bytes + self.new.encoded_length_max());
        put_entry(&parts, &mut entry)?;
        Ok(Some(entry))
    }
}

impl<'a> MergePlan<'a> {
    fn new(item: &'a MergeItem<'a>, streams: &ChunkStreams) -> Result<MergePlan<'a>> {
        let mut entry = match item.old {
            Some(bytes) => TermEntry::decode(bytes)?,
            None => TermEntry::default(),
        };
        let fresh = entry.tail.encoded_length_max() + item.new.encoded_length_max();
        let limit = if entry.chunks.is_empty() {
            INLINE_LIMIT
        } else {
            TAIL_LIMIT
        };
        let inline = fresh <= limit && !item.joins;
        let most = chunks_most(item.key_bytes);
        let complete = streams.memory().chunk_bytes();
        let absorbed = if inline {
            Vec::new()
        } else {
            let count = if item.joins {
                joined(&entry.chunks, complete)
            } else {
                absorbed(&entry.chunks, fresh, most, complete)
            };
            entry.chunks.split_off(entry.chunks.len() - count)
        };
        let kept = entry.chunks.iter().enumerate();
        let moved = kept.filter(|(_, chunk)| streams.leaves(chunk));
        Ok(MergePlan {
            item,
            moved: moved.map(|(at, _)| at).collect(),
            entry,
            fresh,
            most,
            complete,
            inline,
            absorbed,
        })
    }

    /// The phrase filters of what will be coded: of new postings their field's, which dense chunks
    /// have left out.
    fn filters(&self, tail: &Fragment) -> PhraseFilters {
        let fragments = [&self.item.new, tail].map(|fragment| fragment.filters);
        let chunks = self.absorbed.iter().map(|chunk| chunk.filters);
        let mut all = fragments.into_iter().chain(chunks);
        let kept = all.find(|filters| *filters != PhraseFilters::None);
        kept.unwrap_or(PhraseFilters::None)
    }

    /// Codes absorbed chunks, tail and new postings as one chunk (or several full ones).
    fn code_chunks(
        &self,
        tail: Fragment,
        ahead: &mut ChunksAhead<'_>,
        norms: &mut NormReader<'_>,
        streams: Option<&ChunkStreams>,
    ) -> Result<Vec<Added>> {
        let mut all = self.entry.chunks.clone();
        all.extend_from_slice(&self.absorbed);
        let (field, filters) = (self.item.field, self.filters(&tail));
        let limit = chunk_limit(&all, self.fresh, self.most, self.complete);
        let mut writer = ListWriter::new(field, filters, limit, streams, norms);
        writer.last = self.entry.chunks.last().map(|chunk| chunk.last);
        for chunk in &self.absorbed {
            writer.push_chunk(chunk, ahead.next(chunk)?)?;
        }
        writer.push_fragment(&tail)?;
        writer.push_fragment(&self.item.new)?;
        writer.finish()
    }
}

impl Rewriting for MergePlan<'_> {
    type Coded = MergedList;

    fn chunks(&self) -> Vec<ChunkRef> {
        let moved = self.moved.iter().map(|at| self.entry.chunks[*at]);
        moved.chain(self.absorbed.iter().copied()).collect()
    }

    fn code(
        mut self,
        ahead: &mut ChunksAhead<'_>,
        norms: &mut NormReader<'_>,
        streams: Option<&ChunkStreams>,
    ) -> Result<MergedList> {
        let mut moved = Vec::with_capacity(self.moved.len());
        for at in std::mem::take(&mut self.moved) {
            moved.push((at, ahead.next(&self.entry.chunks[at])?));
        }
        let tail = std::mem::take(&mut self.entry.tail);
        let mut added = Vec::new();
        if self.inline {
            self.entry.tail = tail.concat(&self.item.new)?;
        } else {
            added = self.code_chunks(tail, ahead, norms, streams)?;
        }
        Ok(MergedList {
            entry: self.entry,
            moved,
            added,
            replaced: self.absorbed,
        })
    }
}

/// A list whose changes are coded and not all placed.
struct MergedList {
    entry: TermEntry,
    /// Chunks to be moved: their places in the entry, and their bytes.
    moved: Vec<(usize, Vec<u8>)>,
    added: Vec<Added>,
    replaced: Vec<ChunkRef>,
}

impl Placing for MergedList {
    type Placed = Vec<u8>;

    /// Gives the coded entry.
    fn place(mut self, reader: &SpanReader<'_>, streams: &ChunkStreams) -> Result<Vec<u8>> {
        for (at, bytes) in self.moved {
            let chunk = &mut self.entry.chunks[at];
            *chunk = streams.leave(&bytes, *chunk, reader)?;
        }
        for chunk in self.added {
            self.entry.chunks.push(chunk.place(streams)?);
        }
        self.replaced.iter().for_each(|chunk| reader.release(chunk));
        self.entry.encode()
    }
}
