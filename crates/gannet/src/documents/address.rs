//! The entry of the document table: a record's span in eleven bytes.
//!
//! Ordinary zones have at most 2^14 pages, and a larger zone holds one record from its first page on, so that
//! 16 bits hold any first page. An entry of zeros is no span, since a record is never empty.

use crate::base::{DocId, Error, PAGE_PAYLOAD, Result, Span};

/// Bytes of an entry.
pub(super) const ADDRESS_BYTES: usize = 11;

/// Bits of the offset in a page; the length takes the other 28 of five bytes.
const OFFSET_BITS: u32 = 12;

const _: () = assert!(
    PAGE_PAYLOAD <= 1 << OFFSET_BITS,
    "an offset in a page fits its bits"
);

const LENGTH_END: u32 = 1 << (40 - OFFSET_BITS);

/// The entry for a span: zone, page, then offset and length in one number.
pub(super) fn pack(span: Span) -> Result<[u8; ADDRESS_BYTES]> {
    let page = u16::try_from(span.page);
    let fits = (1..LENGTH_END).contains(&span.length) && (span.offset as usize) < PAGE_PAYLOAD;
    let (Ok(page), true) = (page, fits) else {
        return Err(Error::invalid(format!(
            "a document's record cannot stand at {span:?}"
        )));
    };
    let rest = (span.length as u64) << OFFSET_BITS | span.offset as u64;
    let mut entry = [0; ADDRESS_BYTES];
    entry[..4].copy_from_slice(&span.zone.to_le_bytes());
    entry[4..6].copy_from_slice(&page.to_le_bytes());
    entry[6..].copy_from_slice(&rest.to_le_bytes()[..5]);
    Ok(entry)
}

/// The span in an entry.
pub(super) fn unpack(entry: &[u8; ADDRESS_BYTES], doc: DocId) -> Result<Span> {
    let [z0, z1, z2, z3, p0, p1, r0, r1, r2, r3, r4] = *entry;
    let rest = u64::from_le_bytes([r0, r1, r2, r3, r4, 0, 0, 0]);
    let span = Span {
        zone: u32::from_le_bytes([z0, z1, z2, z3]),
        page: u16::from_le_bytes([p0, p1]) as u32,
        offset: (rest & ((1 << OFFSET_BITS) - 1)) as u16,
        length: (rest >> OFFSET_BITS) as u32,
    };
    if span.length == 0 || span.offset as usize >= PAGE_PAYLOAD {
        return Err(Error::damaged(
            format!("address of document {doc}"),
            format!("expected a record inside a page, got {span:?}"),
        ));
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spans_round_trip(
            zone in any::<u32>(),
            page in any::<u16>(),
            offset in 0..PAGE_PAYLOAD as u16,
            length in 1..LENGTH_END,
        ) {
            let span = Span { zone, page: page as u32, offset, length };
            prop_assert_eq!(unpack(&pack(span).unwrap(), 0).unwrap(), span);
        }

        #[test]
        fn any_entry_is_a_span_in_a_page_or_an_error(entry in any::<[u8; ADDRESS_BYTES]>()) {
            if let Ok(span) = unpack(&entry, 0) {
                prop_assert_eq!(pack(span).unwrap(), entry);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let span = Span {
            zone: 1,
            page: 2,
            offset: 3,
            length: 4,
        };
        for wrong in [
            Span {
                page: 1 << 16,
                ..span
            },
            Span {
                offset: PAGE_PAYLOAD as u16,
                ..span
            },
            Span {
                length: LENGTH_END,
                ..span
            },
            Span { length: 0, ..span },
        ] {
            assert!(pack(wrong).is_err(), "{wrong:?}");
        }
        assert!(unpack(&[0; ADDRESS_BYTES], 0).is_err());
    }
}
