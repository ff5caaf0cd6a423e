//! Term entries: the value of a term in the dictionary, which says where the term's postings are.
//!
//! A list is its chunks in order, then the tail that lies in the entry itself, then what the memory
//! buffer holds; docs ascend through all of them. Most terms have no chunk: their entry is the
//! list.
//!
//! Invariants:
//! 1. Each chunk's docs lie after those of the chunk before, the tail's after the last chunk's.
//! 2. The tail takes at most [`INLINE_LIMIT`] bytes and an entry at most [`ENTRY_LIMIT`], so that a
//!    leaf of the dictionary always holds several.

use std::ops::Range;

use super::fragment::Fragment;
use crate::base::{
    ByteReader, DocId, END, Error, PAGE_PAYLOAD, PhraseFilters, Result, Span, put_varint,
};

/// The most bytes that the tail in an entry without chunks takes: all of a short list.
pub const INLINE_LIMIT: usize = 256;

/// The most bytes that the tail behind chunks takes: entries of long lists are asked for often, and
/// shorter ones leave more memory for lists. With 256 as for short lists, they took twice the
/// leaves and a word in 1,000 documents 0.83 reads in place of 0.71 (540,000 passages, 31 MiB), and
/// no less was written: a flush that appends to a leaf writes that.
pub const TAIL_LIMIT: usize = 64;

/// The most chunks that a list may have; maintenance keeps it well below.
pub const CHUNKS_LIMIT: usize = 32;

/// The most bytes of a grouped chunk: four pages read at once take hardly longer than one.
pub const GROUPED_LIMIT: usize = 4 * PAGE_PAYLOAD;

/// The most bytes that an entry may take.
pub const ENTRY_LIMIT: usize = 1100;

const WHAT: &str = "a term entry";
const VERSION: u8 = 1;
const VERSION_BITS: u8 = 0x07;
const HAS_CHUNKS: u8 = 0x08;
/// The kind of the tail's neighbours.
const NEIGHBOURS_SHIFT: u8 = 4;
const NEIGHBOURS_BITS: u8 = 0b11;
/// Flags that later formats may set: offsets, norms beside the docs, deltas to merge.
const RESERVED: u8 = 0xc0;
/// Beside a chunk's layout: it has a phrase filter.
const COMMON: u8 = 0x10;
/// Beside a chunk's layout: what lies behind the docs pages lies in a run of its own.
const APART: u8 = 0x20;

/// The layout of the bytes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Layout {
    /// All parts one behind another, in at most `GROUPED_LIMIT` bytes; in one run or in two.
    Grouped = 1,
    /// From a fresh page on: head, pages of docs and frequencies, pages of positions.
    Split = 2,
}

/// The place of a chunk's bytes: one run or, for some grouped chunks, two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPlace {
    /// All bytes, or those up to the end of the docs pages.
    pub front: Span,
    /// The bytes behind these, if they lie apart: phrase filter and positions.
    pub back: Option<Span>,
}

/// One chunk of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRef {
    /// The place of its bytes.
    pub place: ChunkPlace,
    /// Their layout.
    pub layout: Layout,
    /// The first doc.
    pub first: DocId,
    /// The last doc.
    pub last: DocId,
    /// Postings.
    pub count: u32,
    /// Sum of the frequencies.
    pub total_frequency: u32,
    /// Bytes of the head at the chunk's front.
    pub head_length: u32,
    /// Bytes up to the end of the docs pages. What follows only phrases need.
    pub docs_length: u32,
    /// The phrase filter that there is.
    pub filters: PhraseFilters,
    /// Bytes of the phrase filter: what it has of the words before the tokens, and of those after.
    pub filter_lengths: [u32; 2],
}

/// The entry of one term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermEntry {
    /// The chunks in the order of their docs.
    pub chunks: Vec<ChunkRef>,
    /// The postings after the last chunk.
    pub tail: Fragment,
}

impl ChunkPlace {
    /// A place that is not known yet, of so many bytes.
    pub fn nowhere(length: u32) -> ChunkPlace {
        let front = Span {
            zone: 0,
            page: 0,
            offset: 0,
            length,
        };
        ChunkPlace { front, back: None }
    }

    /// Bytes in all.
    pub fn length(&self) -> u32 {
        self.front.length + self.back.map_or(0, |back| back.length)
    }

    /// The runs, in order.
    pub fn spans(&self) -> impl Iterator<Item = Span> + use<> {
        [Some(self.front), self.back].into_iter().flatten()
    }

    /// Returns the place of the `length` bytes from byte `start` of the chunk on. They are inside
    /// the chunk and in one run.
    pub fn part(&self, start: u32, length: u32) -> Span {
        match self.back {
            Some(back) if start >= self.front.length => {
                back.part(start - self.front.length, length)
            }
            _ => self.front.part(start, length),
        }
    }
}

impl ChunkRef {
    /// Bytes in all.
    pub fn length(&self) -> u32 {
        self.place.length()
    }

    /// Returns the range of the phrase filter in the chunk: right behind the docs pages, in a split
    /// chunk from a fresh page on. Empty without one.
    pub fn filter(&self) -> Range<u64> {
        let docs = self.docs_length as u64;
        if self.filters == PhraseFilters::None {
            return docs..docs;
        }
        let start = match self.layout {
            Layout::Grouped => docs,
            Layout::Split => docs.next_multiple_of(PAGE_PAYLOAD as u64),
        };
        let [before, after] = self.filter_lengths.map(u64::from);
        start..start + before + after
    }
}

impl TermEntry {
    /// Documents that have the term.
    pub fn document_frequency(&self) -> u64 {
        let chunks: u64 = self.chunks.iter().map(|chunk| chunk.count as u64).sum();
        chunks + self.tail.count as u64
    }

    /// Tokens of the term.
    pub fn total_frequency(&self) -> u64 {
        let chunks = self.chunks.iter().map(|chunk| chunk.total_frequency as u64);
        chunks.sum::<u64>() + self.tail.total_frequency
    }

    /// The last doc, if there is any.
    pub fn last(&self) -> Option<DocId> {
        if self.tail.is_empty() {
            self.chunks.last().map(|chunk| chunk.last)
        } else {
            Some(self.tail.last)
        }
    }

    /// The spans of the chunks, for whoever counts live bytes.
    pub fn spans(&self) -> impl Iterator<Item = Span> {
        self.chunks.iter().flat_map(|chunk| chunk.place.spans())
    }

    /// The entry in its coded form.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(32 + self.tail.bytes());
        let front = TermEntry::short_front(self.tail.filters);
        if self.chunks.is_empty() {
            out.push(front);
        } else {
            out.push(front | HAS_CHUNKS);
            put_varint(&mut out, self.chunks.len() as u64);
            self.encode_chunks(&mut out);
        }
        self.tail.encode(self.tail_base(), &mut out)?;
        if out.len() > ENTRY_LIMIT || self.chunks.len() > CHUNKS_LIMIT {
            Err(Error::internal(format!(
                "expected a term entry of at most {ENTRY_LIMIT} bytes and {CHUNKS_LIMIT} chunks, found {} bytes and {} chunks",
                out.len(),
                self.chunks.len()
            )))
        } else {
            debug_assert!(TermEntry::decode_only_chunks(&out).is_ok_and(|c| c == self.chunks));
            Ok(out)
        }
    }

    /// Reads what [`TermEntry::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<TermEntry> {
        let mut reader = ByteReader::new(bytes, WHAT);
        let mut entry = TermEntry::decode_before_tail(&mut reader)?;
        let filters = entry.tail.filters;
        entry.tail = Fragment::decode(&mut reader, entry.tail_base(), filters)?;
        if !reader.is_empty() || entry.document_frequency() >= END as u64 {
            return Err(reader.damaged("the end of the entry", "more bytes or postings"));
        }
        match entry.chunks.last() {
            Some(chunk) if !entry.tail.is_empty() => entry.check_tail(chunk.last),
            _ => Ok(()),
        }?;
        Ok(entry)
    }

    /// The chunks of a coded entry, without a look at its tail.
    pub fn decode_only_chunks(bytes: &[u8]) -> Result<Vec<ChunkRef>> {
        let entry = TermEntry::decode_before_tail(&mut ByteReader::new(bytes, WHAT))?;
        Ok(entry.chunks)
    }

    /// Returns true if a coded entry has chunks.
    pub fn has_chunks(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|format| format & HAS_CHUNKS != 0)
    }

    /// Returns the first byte of an entry without chunks.
    pub(crate) fn short_front(filters: PhraseFilters) -> u8 {
        VERSION | filters.code() << NEIGHBOURS_SHIFT
    }

    /// Reads the first byte of an entry, which must have no chunks; gives the kind of neighbours of
    /// its tail.
    pub(crate) fn decode_short_front(reader: &mut ByteReader<'_>) -> Result<PhraseFilters> {
        match TermEntry::decode_front(reader)? {
            (filters, false) => Ok(filters),
            (_, true) => Err(reader.damaged("an entry without chunks", "chunks")),
        }
    }

    /// Reads the first byte of an entry: the kind of neighbours of its tail, and true if it has
    /// chunks.
    fn decode_front(reader: &mut ByteReader<'_>) -> Result<(PhraseFilters, bool)> {
        let format = reader.u8()?;
        if format & VERSION_BITS != VERSION || format & RESERVED != 0 {
            return Err(reader.damaged("an entry of format 1", format));
        }
        let neighbours = (format >> NEIGHBOURS_SHIFT) & NEIGHBOURS_BITS;
        let filters = PhraseFilters::decode(neighbours);
        let filters =
            filters.ok_or_else(|| reader.damaged("neighbours of a known kind", format))?;
        Ok((filters, format & HAS_CHUNKS != 0))
    }

    fn decode_before_tail(reader: &mut ByteReader<'_>) -> Result<TermEntry> {
        let (filters, has_chunks) = TermEntry::decode_front(reader)?;
        let mut entry = TermEntry::default();
        entry.tail.filters = filters;
        if has_chunks {
            let count = reader.length(CHUNKS_LIMIT)?;
            entry.decode_chunks(count, reader)?;
        }
        Ok(entry)
    }

    fn check_tail(&self, after: DocId) -> Result<()> {
        match self.tail.first()? {
            Some(doc) if doc <= after => Err(Error::damaged(
                WHAT,
                format!("expected a tail after doc {after}, got doc {doc}"),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the doc that the tail counts from: so its first delta is as small as can be.
    fn tail_base(&self) -> DocId {
        self.chunks.last().map_or(0, |chunk| chunk.last)
    }

    fn encode_chunks(&self, out: &mut Vec<u8>) {
        let (mut zone, mut before) = (0, 0);
        for chunk in &self.chunks {
            let ChunkPlace { front, back } = &chunk.place;
            let filters = match chunk.filters {
                PhraseFilters::None => 0,
                PhraseFilters::Common => COMMON,
            };
            let apart = if back.is_some() { APART } else { 0 };
            out.push(chunk.layout as u8 | filters | apart);
            encode_run(front, zone, out);
            if let Some(back) = back {
                encode_run(back, front.zone as i64, out);
            }
            put_varint(out, (chunk.first - before) as u64);
            put_varint(out, (chunk.last - chunk.first) as u64);
            put_varint(out, chunk.count as u64);
            put_varint(out, (chunk.total_frequency - chunk.count) as u64);
            put_varint(out, chunk.head_length as u64);
            if back.is_none() {
                put_varint(out, (chunk.docs_length - chunk.head_length) as u64);
            }
            if chunk.filters != PhraseFilters::None {
                let lengths = chunk.filter_lengths.into_iter();
                lengths.for_each(|length| put_varint(out, length as u64));
            }
            (zone, before) = (front.zone as i64, chunk.last);
        }
    }

    fn decode_chunks(&mut self, count: usize, reader: &mut ByteReader<'_>) -> Result<()> {
        let (mut zone, mut before) = (0, None);
        for _ in 0..count {
            let chunk = decode_chunk(reader, zone, before)?;
            (zone, before) = (chunk.place.front.zone as i64, Some(chunk.last));
            self.chunks.push(chunk);
        }
        Ok(())
    }
}

fn decode_chunk(reader: &mut ByteReader<'_>, zone: i64, before: Option<DocId>) -> Result<ChunkRef> {
    let form = reader.u8()?;
    let layout = match form & !(COMMON | APART) {
        1 => Layout::Grouped,
        2 => Layout::Split,
        other => return Err(reader.damaged("a chunk layout", other)),
    };
    let filters = match form & COMMON {
        0 => PhraseFilters::None,
        _ => PhraseFilters::Common,
    };
    let front = decode_run(reader, zone)?;
    let back = match form & APART {
        0 => None,
        _ => Some(decode_run(reader, front.zone as i64)?),
    };
    let first = before.unwrap_or(0) as u64 + reader.varint_u32()? as u64;
    let last = first + reader.varint_u32()? as u64;
    let count = reader.varint_u32()?;
    let total_frequency = sum(reader, count)?;
    let head_length = reader.varint_u32()?;
    let docs_length = match back {
        None => sum(reader, head_length)?,
        Some(_) => front.length,
    };
    let filter_lengths = match filters {
        PhraseFilters::None => [0; 2],
        PhraseFilters::Common => [reader.varint_u32()?, reader.varint_u32()?],
    };
    let chunk = ChunkRef {
        place: ChunkPlace { front, back },
        layout,
        first: first as DocId,
        last: last as DocId,
        count,
        total_frequency,
        head_length,
        docs_length,
        filters,
        filter_lengths,
    };
    let ascending = last < END as u64 && before.is_none_or(|before| first > before as u64);
    let counted = chunk.count > 0 && chunk.count as u64 <= last - first + 1;
    if !ascending || !counted || !is_sound(&chunk) {
        return Err(reader.damaged("a sound chunk", format!("{chunk:?}")));
    }
    Ok(chunk)
}

/// Codes a run, its zone by the distance from another.
fn encode_run(run: &Span, zone: i64, out: &mut Vec<u8>) {
    put_varint(out, zigzag(run.zone as i64 - zone));
    put_varint(out, run.page as u64);
    put_varint(out, run.offset as u64);
    put_varint(out, run.length as u64);
}

fn decode_run(reader: &mut ByteReader<'_>, zone: i64) -> Result<Span> {
    let zone = zone.wrapping_add(unzigzag(reader.varint()?));
    Ok(Span {
        zone: u32::try_from(zone).map_err(|_| reader.damaged("a zone number", zone))?,
        page: reader.varint_u32()?,
        offset: reader.varint_u16()?,
        length: reader.varint_u32()?,
    })
}

/// `number` and as much more as the next varint says.
fn sum(reader: &mut ByteReader<'_>, number: u32) -> Result<u32> {
    let more = reader.varint_u32()?;
    let sum = number.checked_add(more);
    sum.ok_or_else(|| reader.damaged("a sum of 32 bits", more))
}

/// Returns true if the place of a chunk is possible, so that address arithmetic on it cannot
/// overflow.
fn is_sound(chunk: &ChunkRef) -> bool {
    let ChunkPlace { front, back } = &chunk.place;
    let length = front.length as u64 + back.map_or(0, |back| back.length as u64);
    let placed = match chunk.layout {
        Layout::Grouped => length <= GROUPED_LIMIT as u64,
        Layout::Split => front.offset == 0 && back.is_none(),
    };
    let inside = |run: Span| {
        (run.offset as usize) < PAGE_PAYLOAD && run.page.checked_add(run.page_count()).is_some()
    };
    placed
        && chunk.place.spans().all(inside)
        && chunk.head_length <= chunk.docs_length
        && chunk.filter().end <= length
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
