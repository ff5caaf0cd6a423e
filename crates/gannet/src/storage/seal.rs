//! Seals pages, by which they prove themselves.
//!
//! The last eight bytes of every page are its kind, the position of its first record, a zero
//! byte and a CRC-32C. The checksum covers the index's identity, the page's address and everything
//! before it in the page. Zone numbers are never reused, so a page that was misdirected, belongs to
//! another index or stands in for a later one does not pass.

use crate::base::{Error, PAGE_PAYLOAD, PAGE_SIZE, PageAddress, Result};
use crate::device::FileId;

/// The random number that tells one index from every other.
pub type IndexIdentity = u64;

/// Defines the kinds with their numbers, so that no list of them leaves one out.
macro_rules! page_kinds {
    ($($(#[$meaning:meta])* $kind:ident = $number:literal,)*) => {
        /// The content of a page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum PageKind {
            $($(#[$meaning])* $kind = $number,)*
        }

        impl PageKind {
            /// All kinds, in the order in which a checkpoint writes them out.
            pub const ALL: &[PageKind] = &[$(PageKind::$kind,)*];
        }
    };
}

page_kinds! {
    /// Log records: operations with the documents they bring.
    Log = 2,
    /// A B+-tree node.
    Node = 5,
    /// Chunks of postings lists.
    Postings = 4,
    /// Documents moved out of a zone that was cleaned.
    Documents = 3,
    /// A page of a paged table.
    Table = 6,
    /// A root record: what a checkpoint knows.
    Root = 7,
    /// A root slot of the superblock.
    RootSlot = 1,
}

impl PageKind {
    /// One past the highest number.
    pub(super) const COUNT: usize = {
        let (mut count, mut at) = (0, 0);
        while at < PageKind::ALL.len() {
            let next = PageKind::ALL[at] as usize + 1;
            count = if next > count { next } else { count };
            at += 1;
        }
        count
    };

    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<PageKind> {
        let mut all = PageKind::ALL.iter().copied();
        all.find(|kind| *kind as u8 == number)
    }
}

/// The address that a page claims, and that its checksum covers.
#[derive(Clone, Copy, Debug)]
pub struct SealAddress {
    /// The file.
    pub file: FileId,
    /// The page in it.
    pub page: u32,
}

impl From<PageAddress> for SealAddress {
    fn from(address: PageAddress) -> SealAddress {
        SealAddress {
            file: FileId::Zone(address.zone),
            page: address.page,
        }
    }
}

/// The position in a page of two bytes that name the byte of the payload at which the first record
/// begins that begins in it; whoever fills the page writes them. Bytes before it belong to a record
/// of the page before.
pub(super) const FIRST_RECORD_AT: usize = PAGE_PAYLOAD + 1;

/// The byte of the payload at which the first record of a page begins; the end if none does.
pub fn first_record(page: &[u8; PAGE_SIZE]) -> usize {
    let first = u16::from_le_bytes([page[FIRST_RECORD_AT], page[FIRST_RECORD_AT + 1]]);
    (first as usize).min(PAGE_PAYLOAD)
}

/// Writes kind and checksum into the end of a page.
pub fn seal(
    page: &mut [u8; PAGE_SIZE],
    identity: IndexIdentity,
    address: SealAddress,
    kind: PageKind,
) {
    debug_assert!(
        !matches!(address.file, FileId::Tier | FileId::Answers),
        "a page of a tier keeps the seal of its index, and answers have none"
    );
    page[PAGE_PAYLOAD] = kind as u8;
    page[FIRST_RECORD_AT + 2] = 0;
    let sum = checksum(page, identity, address);
    page[PAGE_SIZE - 4..].copy_from_slice(&sum.to_le_bytes());
}

/// Checks a page that was read from `address` and tells what it holds.
pub fn verify(
    page: &[u8; PAGE_SIZE],
    identity: IndexIdentity,
    address: SealAddress,
) -> Result<PageKind> {
    let mut stored = [0; 4];
    stored.copy_from_slice(&page[PAGE_SIZE - 4..]);
    let (stored, expected) = (
        u32::from_le_bytes(stored),
        checksum(page, identity, address),
    );
    let kind = PageKind::from_number(page[PAGE_PAYLOAD]);
    match kind {
        Some(kind) if stored == expected => Ok(kind),
        _ => Err(Error::damaged(
            format!("page {} of {}", address.page, address.file),
            format!("expected checksum {expected:08x}, got {stored:08x}"),
        )),
    }
}

/// Fails unless these bytes are the page `page` of `file` as an index with this identity has
/// written it. For devices whose bodies come over a network.
///
/// # Errors
///
/// [`Error::Damaged`] names the page.
pub fn prove_page(
    bytes: &[u8; PAGE_SIZE],
    identity: IndexIdentity,
    file: FileId,
    page: u32,
) -> Result<()> {
    verify(bytes, identity, SealAddress { file, page }).map(|_| ())
}

fn checksum(page: &[u8; PAGE_SIZE], identity: IndexIdentity, address: SealAddress) -> u32 {
    let file = match address.file {
        FileId::Superblock => 0,
        FileId::Zone(number) => number as u64 + 1,
        // No page has its own address there: a tier keeps copies under the seals of their addresses
        // in the index, and answers prove themselves without a seal.
        FileId::Tier | FileId::Answers => u64::MAX,
    };
    let mut seed = [0; 20];
    seed[..8].copy_from_slice(&identity.to_le_bytes());
    seed[8..16].copy_from_slice(&file.to_le_bytes());
    seed[16..].copy_from_slice(&address.page.to_le_bytes());
    crc32c::crc32c_append(crc32c::crc32c(&seed), &page[..PAGE_SIZE - 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_passes_only_at_its_own_address_in_its_own_index() {
        let at = |zone, page| PageAddress { zone, page }.into();
        let mut page = [3u8; PAGE_SIZE];
        seal(&mut page, 9, at(4, 5), PageKind::Node);
        assert_eq!(verify(&page, 9, at(4, 5)).unwrap(), PageKind::Node);
        for (identity, address) in [(8, at(4, 5)), (9, at(5, 5)), (9, at(4, 6))] {
            assert!(verify(&page, identity, address).is_err());
        }
        page[17] ^= 1;
        assert!(verify(&page, 9, at(4, 5)).is_err());
    }
}
