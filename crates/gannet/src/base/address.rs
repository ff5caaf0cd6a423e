//! Addresses of bytes on the device.
//!
//! A *zone* is a file that is only ever appended to and whose number is never used again, so an
//! address names its bytes for ever: the zone number is the zone's incarnation. A *page* is the
//! unit of host I/O; its last bytes prove it (see `storage::seal`), the rest is payload. A *span*
//! is a run of payload bytes.

use super::{ByteReader, Result, put_varint};

/// Bytes of one page on the device: the unit of every read and write.
pub const PAGE_SIZE: usize = 4096;

/// Bytes of a page that carry data; the rest is the page's proof (kind and checksum).
pub const PAGE_PAYLOAD: usize = PAGE_SIZE - 8;

/// The number of a zone: ascending, never reused within an index.
pub type ZoneNumber = u32;

/// The place of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageAddress {
    /// The zone.
    pub zone: ZoneNumber,
    /// The page's ordinal within the zone.
    pub page: u32,
}

/// A run of payload bytes: it starts inside one page and may go on in the pages that follow in the
/// zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The zone.
    pub zone: ZoneNumber,
    /// The page that holds the first byte.
    pub page: u32,
    /// The first byte's place in that page's payload, `< PAGE_PAYLOAD`.
    pub offset: u16,
    /// Length in bytes.
    pub length: u32,
}

impl Span {
    /// The page that holds the first byte.
    pub fn first(&self) -> PageAddress {
        PageAddress {
            zone: self.zone,
            page: self.page,
        }
    }

    /// Returns the number of pages the span touches (at least one, even when empty).
    pub fn page_count(&self) -> u32 {
        let end = self.offset as u64 + self.length as u64;
        end.div_ceil(PAGE_PAYLOAD as u64).max(1) as u32
    }

    /// The pages that the span touches, in order.
    pub fn pages(&self) -> impl Iterator<Item = PageAddress> + use<> {
        let (zone, first) = (self.zone, self.page);
        (0..self.page_count()).map(move |i| PageAddress {
            zone,
            page: first.saturating_add(i),
        })
    }

    /// The part of this span that starts `skip` bytes in and is `length` bytes long.
    ///
    /// The caller has checked that the part lies inside the span.
    pub fn part(&self, skip: u32, length: u32) -> Span {
        debug_assert!(skip as u64 + length as u64 <= self.length as u64);
        let start = self.offset as u64 + skip as u64;
        Span {
            zone: self.zone,
            page: self.page + (start / PAGE_PAYLOAD as u64) as u32,
            offset: (start % PAGE_PAYLOAD as u64) as u16,
            length,
        }
    }

    /// Appends the span in its coded form: four varints.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.zone as u64);
        put_varint(out, self.page as u64);
        put_varint(out, self.offset as u64);
        put_varint(out, self.length as u64);
    }

    /// Reads a span written by [`Span::encode`], rejecting offsets outside a page.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<Span> {
        let span = Span {
            zone: reader.varint_u32()?,
            page: reader.varint_u32()?,
            offset: reader.varint_u16()?,
            length: reader.varint_u32()?,
        };
        if span.offset as usize >= PAGE_PAYLOAD {
            return Err(reader.damaged("an offset inside a page", span.offset));
        }
        Ok(span)
    }
}
