//! Maintenance: what a flush brings is added to the lists, and chunks move out of sparse zones.
//!
//! What is rewritten is decided in `postings::rules`.
//!
//! Old chunks are released, not erased: snapshots go on reading them.

use super::chunk::{BuiltChunk, ChunkBuilder};
use super::chunk_reader::ChunkReader;
use super::entry::{ChunkRef, INLINE_LIMIT, TAIL_LIMIT, TermEntry};
use super::fragment::Fragment;
use super::rules::{CHUNK_BYTES, absorbed, chunk_limit, joined};
use super::spans::{BATCH_MEMORY, SpanReader};
use super::streams::ChunkStreams;
use super::tokens::Tokens;
use crate::base::{DocId, Error, PhraseFilters, Result, on_all_cores};
use crate::storage::Store;

/// The number of a field in the schema.
pub type FieldId = u16;

/// Chunk bytes that are read ahead for many lists together.
pub(super) const WINDOW_BYTES: usize = 2 << 20;

/// Memory that a merge needs at most, beside the items themselves: pages in flight, chunks read ahead, and
/// for a long list the chunk being read and the chunk in the making, in pages and put together. (A list of
/// more than `8 * CHUNK_BYTES` needs half of its size in place of the latter.)
pub const MERGE_MEMORY: usize = BATCH_MEMORY + WINDOW_BYTES + 4 * CHUNK_BYTES;

/// Tells the norms of documents: those of new postings and of postings that are rewritten.
pub trait Norms: Sync {
    /// A reader of norms for one thread.
    fn reader(&self) -> NormReader<'_>;
}

/// Gives the norm of a field of a document.
pub type NormReader<'a> = Box<dyn FnMut(FieldId, DocId) -> Result<u8> + 'a>;

impl<F: Fn(FieldId, DocId) -> Result<u8> + Sync> Norms for F {
    fn reader(&self) -> NormReader<'_> {
        Box::new(self)
    }
}

/// One term of a flush.
#[derive(Debug)]
pub struct MergeItem<'a> {
    /// The field, for the norms.
    pub field: FieldId,
    /// The term's coded entry, if it has one.
    pub old: Option<&'a [u8]>,
    /// Postings behind all that the entry has.
    pub new: Fragment,
    /// Whether the small chunks at the list's end become one, though there may be nothing new.
    pub joins: bool,
}

/// Bytes that are read to join the small chunks at the end of a coded entry's list; 0 if there is nothing to join.
pub fn joinable_bytes(entry: &[u8]) -> Result<u64> {
    let chunks = TermEntry::decode_only_chunks(entry)?;
    let small = &chunks[chunks.len() - joined(&chunks)..];
    Ok(small.iter().map(|chunk| chunk.length() as u64).sum())
}

/// What is to be done for one item.
struct Plan<'a> {
    item: &'a MergeItem<'a>,
    entry: TermEntry,
    /// Whether the new postings join the tail.
    inline: bool,
    /// Which of the entry's chunks move, byte by byte.
    moved: Vec<usize>,
    absorbed: Vec<ChunkRef>,
}

/// Chunks that were read ahead, in the order in which a plan needs them.
type Ahead = Option<std::vec::IntoIter<Vec<u8>>>;

/// Fewer lists than this are not worth a thread.
const LISTS_AT_LEAST: usize = 64;

/// Adds the new postings of each item to its list; gives the new entries, coded, in the items' order.
///
/// All chunks that are rewritten must have been written out: flush the streams after each window that a later
/// one may read. Takes up to [`MERGE_MEMORY`] bytes.
pub fn merge_window(
    store: &Store,
    streams: &mut ChunkStreams,
    norms: &dyn Norms,
    items: &[MergeItem<'_>],
) -> Result<Vec<Vec<u8>>> {
    let reader = SpanReader::new(store);
    let (mut entries, mut plans, mut bytes) = (Vec::with_capacity(items.len()), Vec::new(), 0);
    for item in items {
        let plan = Plan::new(item, streams)?;
        if bytes + plan.bytes() > WINDOW_BYTES && !plans.is_empty() {
            run(
                std::mem::take(&mut plans),
                &reader,
                streams,
                norms,
                &mut entries,
            )?;
            bytes = 0;
        }
        bytes += plan.bytes();
        plans.push(plan);
    }
    run(plans, &reader, streams, norms, &mut entries)?;
    Ok(entries)
}

impl<'a> Plan<'a> {
    fn new(item: &'a MergeItem<'a>, streams: &ChunkStreams) -> Result<Plan<'a>> {
        let mut entry = match item.old {
            Some(bytes) => TermEntry::decode(bytes)?,
            None => TermEntry::default(),
        };
        let fresh = entry.tail.encoded_length_max() + item.new.encoded_length_max();
        let limit = match entry.chunks.is_empty() {
            true => INLINE_LIMIT,
            false => TAIL_LIMIT,
        };
        let inline = fresh <= limit && !item.joins;
        let absorbed = match inline {
            true => Vec::new(),
            false => {
                let count = match item.joins {
                    true => joined(&entry.chunks),
                    false => absorbed(&entry.chunks, fresh),
                };
                entry.chunks.split_off(entry.chunks.len() - count)
            }
        };
        let kept = entry.chunks.iter().enumerate();
        let moved = kept.filter(|(_, chunk)| streams.leaves(chunk));
        Ok(Plan {
            item,
            moved: moved.map(|(at, _)| at).collect(),
            entry,
            inline,
            absorbed,
        })
    }

    /// The chunks that it reads, in this order.
    fn chunks(&self) -> impl Iterator<Item = ChunkRef> + '_ {
        let moved = self.moved.iter().map(|at| self.entry.chunks[*at]);
        moved.chain(self.absorbed.iter().copied())
    }

    /// Bytes of chunks that it reads.
    fn bytes(&self) -> usize {
        self.chunks().map(|chunk| chunk.length() as usize).sum()
    }

    /// Does all that needs no stream: decodes and codes. `streams` takes full chunks at once; without it they
    /// are kept, in memory that the window's bounds limit.
    fn code(
        mut self,
        mut ahead: Ahead,
        reader: &SpanReader<'_>,
        norms: &mut NormReader<'_>,
        streams: Option<&mut ChunkStreams>,
    ) -> Result<Coded> {
        let mut moved = Vec::with_capacity(self.moved.len());
        for at in std::mem::take(&mut self.moved) {
            moved.push((at, next_chunk(&mut ahead, reader, &self.entry.chunks[at])?));
        }
        let tail = std::mem::take(&mut self.entry.tail);
        let mut added = Vec::new();
        if self.inline {
            self.entry.tail = tail.concat(&self.item.new)?;
        } else {
            added = self.code_chunks(tail, ahead, reader, norms, streams)?;
        }
        Ok(Coded {
            entry: self.entry,
            moved,
            added,
            replaced: self.absorbed,
        })
    }

    /// The phrase filters of what will be coded: of new postings their field's, which dense chunks have left out.
    fn filters(&self, tail: &Fragment) -> PhraseFilters {
        let fragments = [&self.item.new, tail].map(|fragment| fragment.filters);
        let chunks = self.absorbed.iter().map(|chunk| chunk.filters);
        let mut all = fragments.into_iter().chain(chunks);
        let kept = all.find(|filters| *filters != PhraseFilters::None);
        kept.unwrap_or_default()
    }

    /// Codes absorbed chunks, tail and new postings as one chunk (or several full ones).
    fn code_chunks(
        &self,
        tail: Fragment,
        mut ahead: Ahead,
        reader: &SpanReader<'_>,
        norms: &mut NormReader<'_>,
        streams: Option<&mut ChunkStreams>,
    ) -> Result<Vec<Added>> {
        let mut all = self.entry.chunks.clone();
        all.extend_from_slice(&self.absorbed);
        let (field, filters) = (self.item.field, self.filters(&tail));
        let mut writer = ListWriter::new(field, filters, chunk_limit(&all), streams, norms);
        writer.last = self.entry.chunks.last().map(|chunk| chunk.last);
        for chunk in &self.absorbed {
            let bytes = next_chunk(&mut ahead, reader, chunk)?;
            writer.push_chunk(chunk, bytes)?;
        }
        writer.push_fragment(&tail)?;
        writer.push_fragment(&self.item.new)?;
        writer.finish()
    }
}

/// A list whose changes are coded and not all placed.
struct Coded {
    entry: TermEntry,
    /// Chunks to be moved: their places in the entry, and their bytes.
    moved: Vec<(usize, Vec<u8>)>,
    added: Vec<Added>,
    replaced: Vec<ChunkRef>,
}

/// A chunk at the end of a list.
enum Added {
    Placed(ChunkRef),
    Built(BuiltChunk),
}

impl Coded {
    /// Appends the chunks to their streams and gives the coded entry.
    fn place(mut self, reader: &SpanReader<'_>, streams: &mut ChunkStreams) -> Result<Vec<u8>> {
        for (at, bytes) in self.moved {
            let chunk = &mut self.entry.chunks[at];
            *chunk = streams.leave(&bytes, *chunk, reader)?;
        }
        for chunk in self.added {
            self.entry.chunks.push(match chunk {
                Added::Placed(chunk) => chunk,
                Added::Built(chunk) => chunk.place(streams)?,
            });
        }
        self.replaced.iter().for_each(|chunk| reader.release(chunk));
        self.entry.encode()
    }
}

/// Carries plans out: reads all chunks they need in one batch and codes on all cores, unless a single plan
/// needs too many; that one goes chunk by chunk.
fn run(
    plans: Vec<Plan<'_>>,
    reader: &SpanReader<'_>,
    streams: &mut ChunkStreams,
    norms: &dyn Norms,
    entries: &mut Vec<Vec<u8>>,
) -> Result<()> {
    if plans.iter().map(Plan::bytes).sum::<usize>() > WINDOW_BYTES {
        let mut norms = norms.reader();
        for plan in plans {
            let coded = plan.code(None, reader, &mut norms, Some(streams))?;
            entries.push(coded.place(reader, streams)?);
        }
        return Ok(());
    }
    let chunks: Vec<ChunkRef> = plans.iter().flat_map(Plan::chunks).collect();
    let mut bytes = reader.chunks(&chunks)?.into_iter();
    let work: Vec<(Plan<'_>, Ahead)> = plans
        .into_iter()
        .map(|plan| {
            let own: Vec<Vec<u8>> = bytes.by_ref().take(plan.chunks().count()).collect();
            (plan, Some(own.into_iter()))
        })
        .collect();
    for coded in code_all(work, reader, norms) {
        entries.push(coded?.place(reader, streams)?);
    }
    Ok(())
}

/// Codes many lists on all cores; the results are in the order of the work.
fn code_all(
    work: Vec<(Plan<'_>, Ahead)>,
    reader: &SpanReader<'_>,
    norms: &dyn Norms,
) -> Vec<Result<Coded>> {
    on_all_cores(work, LISTS_AT_LEAST, |share| {
        let mut norms = norms.reader();
        let coded = share
            .into_iter()
            .map(|(plan, ahead)| plan.code(ahead, reader, &mut norms, None));
        coded.collect()
    })
}

/// The bytes of the next chunk: those read ahead, if there are any.
fn next_chunk(ahead: &mut Ahead, reader: &SpanReader<'_>, chunk: &ChunkRef) -> Result<Vec<u8>> {
    match ahead.as_mut().and_then(Iterator::next) {
        Some(bytes) => Ok(bytes),
        None => read_one(reader, chunk),
    }
}

fn read_one(reader: &SpanReader<'_>, chunk: &ChunkRef) -> Result<Vec<u8>> {
    let bytes = reader.chunks(std::slice::from_ref(chunk))?.pop();
    bytes.ok_or_else(|| Error::invalid("a chunk was not read; this is a defect"))
}

/// Codes postings as chunks.
struct ListWriter<'a, 'n> {
    field: FieldId,
    filters: PhraseFilters,
    limit: usize,
    streams: Option<&'a mut ChunkStreams>,
    norms: &'a mut NormReader<'n>,
    builder: ChunkBuilder,
    added: Vec<Added>,
    last: Option<DocId>,
    tokens: Tokens,
}

impl<'a, 'n> ListWriter<'a, 'n> {
    fn new(
        field: FieldId,
        filters: PhraseFilters,
        limit: usize,
        streams: Option<&'a mut ChunkStreams>,
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
            tokens: Tokens::default(),
        }
    }

    fn push_chunk(&mut self, chunk: &ChunkRef, bytes: Vec<u8>) -> Result<()> {
        self.check_filters(chunk.filters)?;
        let mut reader = ChunkReader::new(chunk, bytes)?;
        let mut tokens = std::mem::take(&mut self.tokens);
        while let Some(doc) = reader.next(&mut tokens)? {
            self.push(doc, &tokens)?;
        }
        self.tokens = tokens;
        Ok(())
    }

    fn push_fragment(&mut self, fragment: &Fragment) -> Result<()> {
        self.check_filters(fragment.filters)?;
        let mut reader = fragment.reader();
        let mut tokens = std::mem::take(&mut self.tokens);
        while let Some(doc) = reader.next(&mut tokens)? {
            self.push(doc, &tokens)?;
        }
        self.tokens = tokens;
        Ok(())
    }

    /// The parts of a list have phrase filters of one kind, or none.
    fn check_filters(&self, filters: PhraseFilters) -> Result<()> {
        match filters == self.filters || filters == PhraseFilters::None {
            true => Ok(()),
            false => Err(Error::damaged(
                "a postings list",
                format!(
                    "expected phrase filters of kind {:?}, got {filters:?}",
                    self.filters
                ),
            )),
        }
    }

    fn push(&mut self, doc: DocId, tokens: &Tokens) -> Result<()> {
        let positions = &tokens.positions;
        if self.last.is_some_and(|last| doc <= last) || positions.is_empty() {
            let reason = format!("expected a doc after {:?}, got {doc}", self.last);
            return Err(Error::damaged("a postings list", reason));
        }
        if self.builder.bytes() >= self.limit || !self.builder.has_room(positions.len()) {
            self.end_chunk()?;
        }
        let norm = (self.norms)(self.field, doc)?;
        self.builder.push(doc, norm, tokens);
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

    fn finish(mut self) -> Result<Vec<Added>> {
        self.end_chunk()?;
        Ok(self.added)
    }
}
