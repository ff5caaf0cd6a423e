//! Entries of short lists joined in their coded form.
//!
//! Most terms have a posting or two, and their entries pass through the delta levels again and
//! again. So nothing is unpacked for them: the docs of the parts stand one behind another, then
//! their positions, and of each part only the first doc is coded anew.

use super::entry::TermEntry;
use super::fragment::{Fragment, put_posting, read_posting};
use crate::base::{ByteReader, DocId, Error, PhraseFilters, Result, put_varint, varint_length};

const WHAT: &str = "a postings fragment";

/// Bytes that an entry without chunks may take beyond what stands there, once it is joined to
/// others: its count and its first doc may be longer.
pub(crate) const JOINED_MORE: usize = 4;

/// Some postings of a list, as they are coded in an entry or in a fragment.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShortList<'a> {
    filters: PhraseFilters,
    count: u32,
    /// The doc that the first is counted from, and the last.
    base: DocId,
    last: DocId,
    docs: &'a [u8],
    positions: &'a [u8],
}

impl<'a> ShortList<'a> {
    /// The postings of a fragment.
    pub(crate) fn of(fragment: &'a Fragment) -> ShortList<'a> {
        ShortList {
            filters: fragment.filters,
            count: fragment.count,
            base: fragment.base,
            last: fragment.last,
            docs: &fragment.docs,
            positions: &fragment.positions,
        }
    }

    /// The postings of a coded entry without chunks.
    pub(crate) fn decode(entry: &'a [u8]) -> Result<ShortList<'a>> {
        let mut reader = ByteReader::new(entry, WHAT);
        let filters = TermEntry::decode_short_front(&mut reader)?;
        let count = reader.length(reader.rest().len())? as u32;
        let (docs, mut last, mut tokens) = (reader.rest(), 0, 0);
        for at in 0..count {
            let frequency;
            (last, frequency) = read_posting(&mut reader, last, at == 0)?;
            tokens += u64::from(frequency);
        }
        let positions = reader.rest();
        if tokens > positions.len() as u64 {
            return Err(reader.damaged("as many positions as postings say", positions.len()));
        }
        Ok(ShortList {
            filters,
            count,
            base: 0,
            last,
            docs: &docs[..docs.len() - positions.len()],
            positions,
        })
    }

    /// A list of which all is known but the sum of its frequencies.
    pub(crate) fn new(
        filters: PhraseFilters,
        count: u32,
        last: DocId,
        docs: &'a [u8],
        positions: &'a [u8],
    ) -> ShortList<'a> {
        ShortList {
            filters,
            count,
            base: 0,
            last,
            docs,
            positions,
        }
    }

    /// Returns true if there is no posting.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The most bytes that it takes in an entry, as [`Fragment::encoded_length_max`] has it.
    pub(crate) fn encoded_length_max(&self) -> usize {
        varint_length(u64::from(self.count)) + 5 + self.docs.len() + self.positions.len()
    }

    /// Appends the docs, of which the first is counted from `before`, behind which it must lie if
    /// there is any.
    fn put_docs(&self, before: Option<DocId>, out: &mut Vec<u8>) -> Result<()> {
        let mut reader = ByteReader::new(self.docs, WHAT);
        let (doc, frequency) = read_posting(&mut reader, self.base, true)?;
        if before.is_some_and(|before| doc <= before) {
            return Err(reader.damaged(&format!("a doc after {before:?}"), doc));
        }
        put_posting(out, doc - before.unwrap_or(0), frequency);
        out.extend_from_slice(reader.rest());
        Ok(())
    }
}

/// Appends the entry of a list that has the postings of all `parts`, in this order. It may be
/// longer than a tree takes: the postings of several delta levels are joined before it is known if
/// they stay on one.
pub(crate) fn put_entry(parts: &[ShortList<'_>], out: &mut Vec<u8>) -> Result<()> {
    let mut parts_left = parts.iter().filter(|part| !part.is_empty());
    let filters = parts_left.clone().next().map(|part| part.filters);
    let filters = filters.unwrap_or(PhraseFilters::None);
    if !parts_left.all(|part| part.filters == filters) {
        return Err(Error::damaged(WHAT, "expected phrase filters of one kind"));
    }
    let parts = || parts.iter().filter(|part| !part.is_empty());
    out.push(TermEntry::short_front(filters));
    put_varint(out, parts().map(|part| u64::from(part.count)).sum());
    let mut before = None;
    for part in parts() {
        part.put_docs(before, out)?;
        before = Some(part.last);
    }
    parts().for_each(|part| out.extend_from_slice(part.positions));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings::codec::entry::ENTRY_LIMIT;
    use crate::postings::codec::tokens::Neighbours;

    fn fragment(base: DocId, docs: &[(DocId, u32)], filters: PhraseFilters) -> Fragment {
        let mut fragment = Fragment::new(base);
        fragment.filters = filters;
        for (doc, frequency) in docs {
            let positions: Vec<u32> = (0..*frequency).map(|at| at * 200 + doc % 7).collect();
            let neighbours = Neighbours {
                before: (doc % 95) as u16,
                after: 7,
            };
            fragment.append(*doc, &positions, &vec![neighbours; positions.len()]);
        }
        fragment
    }

    /// Joins the same postings as fragments that are decoded and encoded.
    fn expected(parts: &[Fragment]) -> Result<Vec<u8>> {
        let mut tail = Fragment::default();
        for part in parts {
            tail = tail.concat(part)?;
        }
        let entry = TermEntry {
            tail,
            ..TermEntry::default()
        };
        entry.encode()
    }

    #[test]
    fn entries_are_joined_as_their_fragments_would_be() {
        for filters in [PhraseFilters::None, PhraseFilters::Common] {
            let parts = [
                fragment(0, &[(0, 3), (7, 1)], filters),
                fragment(5, &[(9, 1)], filters),
                fragment(9, &[(300, 2), (70_000, 1), (70_001, 40)], filters),
            ];
            for end in 1..=parts.len() {
                let parts = &parts[..end];
                let joined = expected(parts).unwrap();
                let lists: Vec<ShortList<'_>> = parts.iter().map(ShortList::of).collect();
                let mut out = vec![9];
                put_entry(&lists, &mut out).unwrap();
                assert_eq!(out[1..], joined);
                // Some of them were entries before.
                let (first, rest) = (expected(&parts[..1]).unwrap(), &parts[1..]);
                let mut lists = vec![ShortList::decode(&first).unwrap()];
                lists.extend(rest.iter().map(ShortList::of));
                out.clear();
                put_entry(&lists, &mut out).unwrap();
                assert_eq!(out, joined);
                let most = first.len() + JOINED_MORE;
                let rest: usize = rest.iter().map(Fragment::encoded_length_max).sum();
                assert!(out.len() <= most + rest);
            }
        }
    }

    #[test]
    fn levels_together_may_have_more_than_an_entry_takes() {
        let of = |first: DocId| {
            let docs: Vec<(DocId, u32)> = (first..first + 200).map(|doc| (doc, 2)).collect();
            fragment(0, &docs, PhraseFilters::Common)
        };
        let (older, newer) = (of(1), of(500));
        let mut entry = Vec::new();
        put_entry(&[ShortList::of(&older), ShortList::of(&newer)], &mut entry).unwrap();
        assert!(entry.len() > ENTRY_LIMIT);
        let tail = TermEntry::decode(&entry).unwrap().tail;
        assert_eq!(tail, older.concat(&newer).unwrap());
    }

    #[test]
    fn parts_in_disorder_or_of_two_kinds_are_errors() {
        let early = fragment(0, &[(3, 1)], PhraseFilters::None);
        let late = fragment(0, &[(9, 1)], PhraseFilters::None);
        let other = fragment(0, &[(20, 1)], PhraseFilters::Common);
        let join = |parts: [&Fragment; 2]| put_entry(&parts.map(ShortList::of), &mut Vec::new());
        assert!(join([&early, &late]).is_ok());
        assert!(join([&late, &early]).is_err());
        assert!(join([&late, &late]).is_err());
        assert!(join([&late, &other]).is_err());
    }

    #[test]
    fn damaged_entries_are_errors() {
        let entry = expected(&[fragment(0, &[(3, 2), (9, 1)], PhraseFilters::None)]).unwrap();
        assert!(ShortList::decode(&entry).is_ok());
        for length in 0..entry.len() - 1 {
            let read = ShortList::decode(&entry[..length]);
            assert!(read.is_err(), "{length}");
        }
        for first in [entry[0] | 0x08, entry[0] ^ 1, entry[0] | 0x40] {
            let wrong = [&[first], &entry[1..]].concat();
            assert!(ShortList::decode(&wrong).is_err(), "{first}");
        }
    }
}
