//! Regions of the tier's file: a page that says what they hold, then the pages.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `GANNETFT` |
//! | 4 | version: 1 |
//! | 4 | number of the region |
//! | 8 | sequence: ascending with each region that is begun |
//! | 4 | mark: drawn at random when the tier was last emptied |
//! | varint, then for each | pages that follow; zone and page, u32 each |
//! | u64, u64 | identity and generation of the root under which the region was written |
//! | varint; if 1: u64, u64 | whether an opening led to that root; its number, its first generation |
//! | 1 for each page | the policy's note of its worth |
//! | … | zeros |
//! | last 4 | CRC-32C of all before |
//!
//! A header that does not prove itself, or is of another version, makes its region empty. Neither
//! it nor the pages are ever synced: pages prove themselves by the seals that they have in the
//! index.
//!
//! The last four bytes of a page, its checksum, stand there combined with the mark. A write that
//! was cut short may leave a new header over pages from before the tier was emptied. They have
//! another mark, so they do not pass, though a page of another history has a seal that proves it.

use crate::base::{ByteReader, PAGE_SIZE, PageAddress, Result, put_u32, put_u64, put_varint};
use crate::cache::policy::TierPolicy;
use crate::storage::Lineage;

/// Pages of a region, its header included: 512 KiB.
pub(super) const REGION_PAGES: usize = 128;

/// The pages of the index that a region holds.
pub(super) const ENTRIES: usize = REGION_PAGES - 1;

const MAGIC: &[u8; 8] = b"GANNETFT";
const VERSION: u32 = 1;
const SUM_AT: usize = PAGE_SIZE - 4;

/// The header of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(super) region: u32,
    pub(super) sequence: u64,
    pub(super) mark: u32,
    pub(super) pages: Vec<PageAddress>,
    pub(super) lineage: Lineage,
    pub(super) notes: Vec<u8>,
}

impl Header {
    /// Fills a page with it.
    pub(super) fn encode(&self, page: &mut [u8; PAGE_SIZE]) {
        let mut bytes = Vec::with_capacity(PAGE_SIZE);
        bytes.extend_from_slice(MAGIC);
        put_u32(&mut bytes, VERSION);
        put_u32(&mut bytes, self.region);
        put_u64(&mut bytes, self.sequence);
        put_u32(&mut bytes, self.mark);
        put_varint(&mut bytes, self.pages.len() as u64);
        for address in &self.pages {
            put_u32(&mut bytes, address.zone);
            put_u32(&mut bytes, address.page);
        }
        self.lineage.encode(&mut bytes);
        bytes.extend_from_slice(&self.notes);
        page.fill(0);
        page[..bytes.len()].copy_from_slice(&bytes);
        let sum = crc32c::crc32c(&page[..SUM_AT]);
        page[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
    }

    /// The header of `region`, if the page is one.
    pub(crate) fn decode(page: &[u8; PAGE_SIZE], region: u32) -> Option<Header> {
        let sum = crc32c::crc32c(&page[..SUM_AT]).to_le_bytes();
        let header = (page[SUM_AT..] == sum).then(|| Header::read(&page[..SUM_AT]));
        header?.ok()?.filter(|header| header.region == region)
    }

    /// Tells a policy what the region has.
    pub(super) fn teach(&self, policy: &mut dyn TierPolicy) {
        for (page, note) in self.pages.iter().zip(&self.notes) {
            policy.learn(*page, *note);
        }
        policy.fill(self.region, &self.pages);
    }

    /// The page at a place of the file, if it is one of the region.
    pub(super) fn page_at(&self, place_in_file: u32) -> Option<PageAddress> {
        let number = place_in_file.checked_sub(place(self.region, 1))?;
        self.pages.get(number as usize).copied()
    }

    /// Reads a header, even if its checksum does not fit.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Header>> {
        let mut reader = ByteReader::new(bytes, "a region of a cache");
        if reader.take(MAGIC.len())? != MAGIC || reader.u32()? != VERSION {
            return Ok(None);
        }
        let (region, sequence, mark) = (reader.u32()?, reader.u64()?, reader.u32()?);
        let count = reader.length(ENTRIES)?;
        let mut pages = Vec::with_capacity(count);
        for _ in 0..count {
            let (zone, page) = (reader.u32()?, reader.u32()?);
            pages.push(PageAddress { zone, page });
        }
        Ok(Some(Header {
            region,
            sequence,
            mark,
            pages,
            lineage: Lineage::decode(&mut reader)?,
            notes: reader.take(count)?.to_vec(),
        }))
    }
}

/// Puts the mark of the tier on a page, or takes it off.
pub(super) fn toggle_mark(page: &mut [u8; PAGE_SIZE], mark: u32) {
    let sum = page[SUM_AT..].iter_mut();
    sum.zip(mark.to_le_bytes())
        .for_each(|(byte, of_mark)| *byte ^= of_mark);
}

/// The place of a page of a region, in pages of the file; the header has number 0.
pub(super) fn place(region: u32, number: usize) -> u32 {
    region * REGION_PAGES as u32 + number as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_passes_only_whole_and_at_its_own_place() {
        let mut lineage = vec![7; 16];
        put_varint(&mut lineage, 1);
        lineage.extend([9; 16]);
        let page = |page| PageAddress { zone: 5, page };
        let header = Header {
            region: 3,
            sequence: 8,
            mark: 5,
            pages: (0..ENTRIES as u32).map(page).collect(),
            lineage: Lineage::decode(&mut ByteReader::new(&lineage, "a test")).unwrap(),
            notes: (0..ENTRIES as u8).collect(),
        };
        let mut bytes = [1; PAGE_SIZE];
        header.encode(&mut bytes);
        assert_eq!(Header::decode(&bytes, 4), None);
        // A flipped generation could make a region of another history count.
        for bit in 0..PAGE_SIZE * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&bytes, 3), None, "{bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(Header::decode(&bytes, 3), Some(header));
    }
}
