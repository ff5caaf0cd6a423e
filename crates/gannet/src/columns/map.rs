//! Maps: which pieces a span of documents has, and what is known of each without reading it.

use gannet_values::{PIECE_DOCUMENTS, Summary, ValueType};

use crate::base::{ByteReader, DocId, Result, put_u64, put_varint};

/// Documents of a span. A map, which has the pieces of one span at most, takes 200 to 300 bytes
/// then, so a leaf of the tree has the maps of over 100,000 documents.
pub(super) const SPAN: DocId = 8 * BLOCK;

/// Documents of a block, which no piece crosses.
pub(super) const BLOCK: DocId = PIECE_DOCUMENTS as DocId;

/// The longest map in bytes; pieces beyond have another. With its key it is no longer than an entry
/// may be.
pub(super) const MAP_BYTES_MAX: usize = 1_200;

/// The most bytes that a piece takes in a map.
const ENTRY_BYTES_MAX: usize = 5 + 2 + 1 + 8 + 9 + 2 + 3;

/// A piece, as a map has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapEntry {
    /// Its first document.
    pub first: DocId,
    /// The number of documents that it is of, with those that have no value.
    pub documents: u32,
    /// The type of its values.
    pub value_type: ValueType,
    /// Its least and greatest values, and how many it has.
    pub summary: Summary,
}

impl MapEntry {
    /// One past its last document.
    pub fn end(&self) -> DocId {
        self.first.saturating_add(self.documents)
    }
}

/// Appends a map of these pieces. It leads on from `previous` by gaps.
pub(super) fn encode_map(entries: &[MapEntry], out: &mut Vec<u8>) {
    let mut at = entries.first().map_or(0, |entry| entry.first);
    for entry in entries {
        put_varint(out, (entry.first - at) as u64);
        put_varint(out, entry.documents as u64);
        out.push(entry.value_type.code());
        put_u64(out, entry.summary.least);
        put_varint_or_raw(entry.summary.greatest - entry.summary.least, out);
        put_varint(out, entry.summary.documents_with_values as u64);
        let more = entry.summary.values - entry.summary.documents_with_values;
        put_varint(out, more as u64);
        at = entry.end();
    }
}

/// A difference that is small or any: varints of eight bytes and more take more than the number.
fn put_varint_or_raw(difference: u64, out: &mut Vec<u8>) {
    if difference < 1 << 48 {
        put_varint(out, difference << 1);
    } else {
        out.push(1);
        put_u64(out, difference);
    }
}

fn varint_or_raw(reader: &mut ByteReader<'_>) -> Result<u64> {
    match reader.varint()? {
        1 => reader.u64(),
        even if even & 1 == 0 => Ok(even >> 1),
        other => Err(reader.damaged("a difference", other)),
    }
}

/// Reads a map whose first piece begins at `first`. Pieces follow each other, have values, and lie
/// in one span.
pub(super) fn decode_map(bytes: &[u8], first: DocId) -> Result<Vec<MapEntry>> {
    let mut reader = ByteReader::new(bytes, "a map of a column");
    let reader = &mut reader;
    let end = (first / SPAN + 1).saturating_mul(SPAN);
    let (mut at, mut entries) = (first, Vec::new());
    while !reader.is_empty() {
        let gap = reader.varint_u32()?;
        let documents = reader.varint_u32()?;
        let code = reader.u8()?;
        let value_type =
            ValueType::from_code(code).ok_or_else(|| reader.damaged("a type of values", code))?;
        let least = reader.u64()?;
        let greatest = least.checked_add(varint_or_raw(reader)?);
        let with_values = reader.varint_u32()?;
        let values = with_values.checked_add(reader.varint_u32()?);
        let first = at.checked_add(gap);
        let (Some(greatest), Some(values), Some(first)) = (greatest, values, first) else {
            return Err(reader.damaged("numbers of a piece", "others"));
        };
        let last = first.checked_add(documents.wrapping_sub(1));
        let fits = last.is_some_and(|last| last / BLOCK == first / BLOCK && last < end);
        if documents == 0 || !fits || with_values == 0 || with_values > documents {
            return Err(reader.damaged("documents of a piece", documents));
        }
        at = first + documents;
        entries.push(MapEntry {
            first,
            documents,
            value_type,
            summary: Summary {
                least,
                greatest,
                documents_with_values: with_values,
                values,
            },
        });
    }
    match entries.first() {
        Some(entry) if entry.first == first => Ok(entries),
        _ => Err(reader.damaged(&format!("a piece at document {first}"), "another")),
    }
}

/// Cuts the pieces of one span into maps.
pub(super) fn cut_maps(entries: &[MapEntry]) -> impl Iterator<Item = &[MapEntry]> {
    let mut left = entries;
    std::iter::from_fn(move || {
        let span = left.first()?.first / SPAN;
        let most = MAP_BYTES_MAX / ENTRY_BYTES_MAX;
        let of_span = left.iter().take(most);
        let count = of_span.take_while(|entry| entry.first / SPAN == span);
        let (map, rest) = left.split_at(count.count());
        left = rest;
        Some(map)
    })
}
