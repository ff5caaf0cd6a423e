//! Codes the address of a document's record, and the addresses of 128 documents packed into a
//! group.
//!
//! An address has no offset: the record is found in its page, whose records can be walked over. It
//! needs as few pages as its length allows (see `storage::stream`), so page and length tell what
//! must be read.
//!
//! A group keeps the distances to its least page and its least length, and the place of the zone
//! among its zones, in as many bits as these need. Documents lie in the log nearly in the order of
//! their numbers, so 128 of them are in few zones and near pages: 15 bits each on passages, where a
//! fixed entry took 88.

use crate::base::{
    ByteReader, DocId, Error, PAGE_PAYLOAD, PageAddress, Result, Span, ZoneNumber, put_varint,
};

/// Documents of a group.
pub(super) const GROUP_DOCS: usize = 128;

/// Bits of a page's number: ordinary zones have at most 2^14 pages, and a larger zone holds one
/// record from its first page on.
const PAGE_BITS: u32 = 16;

/// Bits of a record's length.
const LENGTH_BITS: u32 = 28;

/// Bits of a document in a group at most.
const ENTRY_BITS_MAX: u32 = GROUP_DOCS.ilog2() + PAGE_BITS + LENGTH_BITS;

const _: () = assert!(
    ENTRY_BITS_MAX + 7 <= u64::BITS,
    "eight bytes hold an entry wherever in its first byte it begins"
);

/// Bytes of the largest group: length, widths, least page and length, number of zones; the zones,
/// whose distances take five bytes in at most 16 cases, since all together are a zone's number; the
/// entries.
pub(super) const GROUP_BYTES_MAX: usize =
    2 + 2 + 3 + 4 + 2 + (GROUP_DOCS * 4 + 16) + GROUP_DOCS * ENTRY_BITS_MAX as usize / 8;

/// The address of a document's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The zone.
    pub zone: ZoneNumber,
    /// The page in which the record begins.
    pub page: u32,
    /// The length of the record.
    pub length: u32,
}

/// A group taken apart, its entries still packed.
pub(super) struct Group<'a> {
    zones: Vec<ZoneNumber>,
    zone_bits: u32,
    page: u32,
    page_bits: u32,
    length: u32,
    length_bits: u32,
    entries: &'a [u8],
}

impl Address {
    /// The address of the record at `span`.
    pub fn of(span: Span) -> Result<Address> {
        let address = Address {
            zone: span.zone,
            page: span.page,
            length: span.length,
        };
        if address.is_possible() && address.page_count() == span.page_count() {
            Ok(address)
        } else {
            Err(Error::internal(format!(
                "a document's record cannot stand at {span:?}"
            )))
        }
    }

    /// The page in which the record begins.
    pub fn first(&self) -> PageAddress {
        PageAddress {
            zone: self.zone,
            page: self.page,
        }
    }

    /// The pages that the record touches, in order.
    pub fn pages(&self) -> impl Iterator<Item = PageAddress> + use<> {
        self.at(0).pages()
    }

    /// The span of the record if it begins at this byte of its page.
    pub fn at(&self, offset: u16) -> Span {
        Span {
            zone: self.zone,
            page: self.page,
            offset,
            length: self.length,
        }
    }

    fn page_count(&self) -> u32 {
        self.length.div_ceil(PAGE_PAYLOAD as u32)
    }

    fn is_possible(&self) -> bool {
        self.page >> PAGE_BITS == 0 && self.length > 0 && self.length >> LENGTH_BITS == 0
    }
}

/// Appends the group of these addresses, at least one and at most [`GROUP_DOCS`].
pub(super) fn put_group(addresses: &[Address], out: &mut Vec<u8>) {
    debug_assert!((1..=GROUP_DOCS).contains(&addresses.len()));
    let start = out.len();
    out.extend_from_slice(&[0; 2]);
    let mut zones: Vec<ZoneNumber> = addresses.iter().map(|address| address.zone).collect();
    zones.sort_unstable();
    zones.dedup();
    let zone_bits = bits(zones.len() as u32 - 1);
    let (page, page_bits) = range(addresses.iter().map(|address| address.page));
    let (length, length_bits) = range(addresses.iter().map(|address| address.length));
    out.extend_from_slice(&[page_bits as u8, length_bits as u8]);
    put_varint(out, page as u64);
    put_varint(out, length as u64);
    put_varint(out, zones.len() as u64);
    let mut before = 0;
    for zone in &zones {
        put_varint(out, (zone - before) as u64);
        before = *zone;
    }
    let entries = addresses.iter().map(|address| {
        let zone = zones.partition_point(|zone| *zone < address.zone) as u64;
        let (page, length) = (
            (address.page - page) as u64,
            (address.length - length) as u64,
        );
        zone | page << zone_bits | length << (zone_bits + page_bits)
    });
    put_bits(entries, zone_bits + page_bits + length_bits, out);
    let length = (out.len() - start - 2) as u16;
    out[start..start + 2].copy_from_slice(&length.to_le_bytes());
}

/// The bytes of the group at the front of `bytes`, and what follows it.
pub(super) fn split_group(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    let mut reader = ByteReader::new(bytes, "a group of addresses");
    let length = reader.u16()? as usize;
    reader.take(length)?;
    Ok(bytes.split_at(2 + length))
}

impl<'a> Group<'a> {
    /// Takes the bytes of a group of `docs` documents apart.
    pub(super) fn decode(bytes: &'a [u8], docs: usize) -> Result<Group<'a>> {
        let mut reader = ByteReader::new(bytes, "a group of addresses");
        let length = reader.u16()? as usize;
        if length != reader.rest().len() {
            return Err(reader.damaged(&format!("{length} bytes"), reader.rest().len()));
        }
        let (page_bits, length_bits) = (reader.u8()? as u32, reader.u8()? as u32);
        if page_bits > PAGE_BITS || length_bits > LENGTH_BITS {
            let got = format!("{page_bits} and {length_bits}");
            return Err(reader.damaged("bits of a page and a length", got));
        }
        let (page, length) = (reader.varint_u32()?, reader.varint_u32()?);
        let count = reader.length(docs)?;
        let mut zones = Vec::with_capacity(count);
        let mut zone: ZoneNumber = 0;
        for _ in 0..count {
            let distance = reader.varint_u32()?;
            zone = zone
                .checked_add(distance)
                .ok_or_else(|| reader.damaged("a zone number", distance))?;
            zones.push(zone);
        }
        let zone_bits = bits(count.saturating_sub(1) as u32);
        let group = Group {
            zones,
            zone_bits,
            page,
            page_bits,
            length,
            length_bits,
            entries: reader.rest(),
        };
        let expected = (docs * group.entry_bits() as usize).div_ceil(8);
        if group.entries.len() == expected {
            Ok(group)
        } else {
            Err(reader.damaged(&format!("{expected} bytes of entries"), group.entries.len()))
        }
    }

    /// The address of the document at `place` in the group, `doc`.
    pub(super) fn address(&self, place: usize, doc: DocId) -> Result<Address> {
        let entry = get_bits(self.entries, place, self.entry_bits());
        let zone = low_bits(entry, self.zone_bits) as usize;
        let page = low_bits(entry >> self.zone_bits, self.page_bits) as u32;
        let length = (entry >> (self.zone_bits + self.page_bits)) as u32;
        let damaged = || {
            Error::damaged(
                format!("address of document {doc}"),
                format!(
                    "expected a record in a zone, got zone {zone}, page {page}, length {length} of its group"
                ),
            )
        };
        let address = Address {
            zone: *self.zones.get(zone).ok_or_else(damaged)?,
            page: self.page.checked_add(page).ok_or_else(damaged)?,
            length: self.length.checked_add(length).ok_or_else(damaged)?,
        };
        if address.is_possible() {
            Ok(address)
        } else {
            Err(damaged())
        }
    }

    fn entry_bits(&self) -> u32 {
        self.zone_bits + self.page_bits + self.length_bits
    }
}

/// All addresses of a group, whose first document is `first`.
pub(super) fn decode_group(bytes: &[u8], first: DocId, docs: usize) -> Result<Vec<Address>> {
    let group = Group::decode(bytes, docs)?;
    let numbered = (0..docs).zip(first..);
    numbered
        .map(|(place, doc)| group.address(place, doc))
        .collect()
}

/// The least of some numbers, and the bits that the distances of the others need.
fn range(numbers: impl Iterator<Item = u32> + Clone) -> (u32, u32) {
    let least = numbers.clone().min().unwrap_or(0);
    let most = numbers.max().unwrap_or(0);
    (least, bits(most - least))
}

/// The bits that numbers up to `most` need.
fn bits(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}

fn low_bits(number: u64, bits: u32) -> u64 {
    number & ((1 << bits) - 1)
}

/// Appends numbers of `bits` bits, low bits first.
fn put_bits(numbers: impl Iterator<Item = u64>, bits: u32, out: &mut Vec<u8>) {
    let (mut held, mut have) = (0u64, 0);
    for number in numbers {
        held |= number << have;
        have += bits;
        while have >= 8 {
            out.push(held as u8);
            held >>= 8;
            have -= 8;
        }
    }
    if have > 0 {
        out.push(held as u8);
    }
}

/// The number at `place` among numbers of `bits` bits.
fn get_bits(bytes: &[u8], place: usize, bits: u32) -> u64 {
    let at = place * bits as usize;
    let rest = bytes.get(at / 8..).unwrap_or_default();
    let mut word = [0; 8];
    let have = rest.len().min(8);
    word[..have].copy_from_slice(&rest[..have]);
    low_bits(u64::from_le_bytes(word) >> (at % 8), bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address() -> impl Strategy<Value = Address> {
        (any::<u32>(), 0u32..1 << PAGE_BITS, 1u32..1 << LENGTH_BITS)
            .prop_map(|(zone, page, length)| Address { zone, page, length })
    }

    /// Addresses as a log makes them: few zones, near pages, lengths alike.
    fn near() -> impl Strategy<Value = Address> {
        (7u32..9, 100u32..140, 200u32..700).prop_map(|(zone, page, length)| Address {
            zone,
            page,
            length,
        })
    }

    proptest! {
        #[test]
        fn groups_round_trip(
            addresses in prop_oneof![
                prop::collection::vec(address(), 1..=GROUP_DOCS),
                prop::collection::vec(near(), 1..=GROUP_DOCS),
            ],
        ) {
            let mut bytes = vec![];
            put_group(&addresses, &mut bytes);
            prop_assert!(bytes.len() <= GROUP_BYTES_MAX);
            let length = bytes.len();
            bytes.extend([7; 3]);
            let (group, rest) = split_group(&bytes).unwrap();
            prop_assert_eq!((group.len(), rest), (length, &[7, 7, 7][..]));
            prop_assert_eq!(decode_group(group, 0, addresses.len()).unwrap(), addresses);
        }

        #[test]
        fn any_bytes_are_possible_addresses_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            docs in 1..=GROUP_DOCS,
        ) {
            let whole = split_group(&bytes).and_then(|(group, _)| decode_group(group, 0, docs));
            for group in [whole, decode_group(&bytes, 0, docs)].into_iter().flatten() {
                prop_assert!(group.iter().all(Address::is_possible));
            }
        }

        #[test]
        fn a_changed_byte_gives_possible_addresses_or_an_error(
            addresses in prop::collection::vec(near(), 1..=GROUP_DOCS),
            (at, byte) in any::<(prop::sample::Index, u8)>(),
        ) {
            let mut bytes = vec![];
            put_group(&addresses, &mut bytes);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(group) = decode_group(&bytes, 0, addresses.len()) {
                prop_assert!(group.iter().all(Address::is_possible));
            }
        }
    }

    #[test]
    fn addresses_of_passages_take_two_bytes() {
        let page = |doc: u32| 3_000 + doc / 10;
        let addresses: Vec<Address> = (0..GROUP_DOCS as u32)
            .map(|doc| Address {
                zone: 70_000,
                page: page(doc * 37 % 256),
                length: 150 + doc * 7919 % 500,
            })
            .collect();
        let mut bytes = vec![];
        put_group(&addresses, &mut bytes);
        assert!(bytes.len() <= 2 * GROUP_DOCS, "{}", bytes.len());
    }

    #[test]
    fn what_does_not_fit_is_rejected() {
        let span = Span {
            zone: 1,
            page: 2,
            offset: 3,
            length: 4,
        };
        assert!(Address::of(span).is_ok());
        for wrong in [
            Span {
                page: 1 << PAGE_BITS,
                ..span
            },
            Span {
                offset: PAGE_PAYLOAD as u16 - 3,
                ..span
            },
            Span {
                length: 1 << LENGTH_BITS,
                ..span
            },
            Span { length: 0, ..span },
        ] {
            assert!(Address::of(wrong).is_err(), "{wrong:?}");
        }
    }
}
