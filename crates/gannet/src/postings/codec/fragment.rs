//! Fragments: short runs of postings in two byte streams, for the memory buffer and for dictionary
//! leaves.
//!
//! The docs stream holds, per posting, `varint(delta * 2 + (frequency == 1))` with the distance to
//! the posting before (for the first: to the base), then `varint(frequency)` unless that is one.
//! The positions stream holds the posting's positions: the first as it is, then distances; in a
//! field with phrase filters what is known of its neighbours stands behind each, of which a chunk
//! makes its filter. Postings are added by appending to both streams, and two fragments are joined
//! by copying: only one delta depends on what comes before.
//!
//! Invariants:
//! 1. Docs ascend strictly from the base on; the first may equal the base, which allows document 0.
//! 2. Frequencies are at least one; a posting has as many positions as its frequency says.
//! 3. Of a fragment that came from [`Fragment::decode`] the docs were walked once; positions are
//!    checked as they are read, since most queries read none.

use super::common_code;
use super::dead::DeadDocs;
use super::tokens::{Neighbours, Tokens, neighbours_bytes};
use crate::base::{
    ByteReader, DocId, END, Error, PhraseFilters, Result, put_varint, varint_length,
};

const WHAT: &str = "a postings fragment";

/// A run of postings, coded against a base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The doc that the first posting's delta counts from: at most the first doc.
    pub base: DocId,
    /// Postings.
    pub count: u32,
    /// Sum of the frequencies.
    pub total_frequency: u64,
    /// The highest frequency, or more.
    pub max_frequency: u32,
    /// The last doc; the base while there is none.
    pub last: DocId,
    /// The neighbours that stand behind the positions.
    pub filters: PhraseFilters,
    /// The docs stream.
    pub docs: Vec<u8>,
    /// The positions stream.
    pub positions: Vec<u8>,
}

/// Reads the postings of a fragment in order.
#[derive(Clone, Debug)]
pub struct FragmentReader<'a> {
    docs: ByteReader<'a>,
    positions: ByteReader<'a>,
    filters: PhraseFilters,
    left: u32,
    previous: DocId,
    first: bool,
}

impl Default for Fragment {
    /// Empty, and without neighbours.
    fn default() -> Fragment {
        Fragment::new(0)
    }
}

impl Fragment {
    /// An empty fragment against `base`.
    pub fn new(base: DocId) -> Fragment {
        Fragment {
            base,
            count: 0,
            total_frequency: 0,
            max_frequency: 0,
            last: base,
            filters: PhraseFilters::None,
            docs: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// Returns true if there is no posting.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first doc, if there is any.
    pub fn first(&self) -> Result<Option<DocId>> {
        self.reader().next(&mut Tokens::default())
    }

    /// Bytes of both streams.
    pub fn bytes(&self) -> usize {
        self.docs.len() + self.positions.len()
    }

    /// Appends a posting: `doc` lies after the last, `positions` ascend and are not empty, and each
    /// has neighbours if the fragment has any.
    #[cfg(test)]
    pub fn append(&mut self, doc: DocId, positions: &[u32], neighbours: &[Neighbours]) {
        debug_assert!(doc > self.last || (self.is_empty() && doc == self.base));
        debug_assert!(!positions.is_empty());
        put_posting(&mut self.docs, doc - self.last, positions.len() as u32);
        let mut previous = 0;
        for (at, position) in positions.iter().enumerate() {
            let neighbours = neighbours.get(at).copied().unwrap_or_default();
            put_token(
                &mut self.positions,
                position - previous,
                neighbours,
                self.filters,
            );
            previous = *position;
        }
        self.count += 1;
        self.total_frequency += positions.len() as u64;
        self.max_frequency = self.max_frequency.max(positions.len() as u32);
        self.last = doc;
    }

    /// Appends a posting of which no positions are known behind the last: for lists that only are
    /// matched and ranked.
    pub(crate) fn append_counted(&mut self, doc: DocId, frequency: u32) {
        debug_assert!(doc > self.last || (self.is_empty() && doc == self.base));
        put_posting(&mut self.docs, doc - self.last, frequency);
        self.count += 1;
        self.total_frequency += u64::from(frequency);
        self.max_frequency = self.max_frequency.max(frequency);
        self.last = doc;
    }

    /// A reader that stands before the first posting.
    pub fn reader(&self) -> FragmentReader<'_> {
        FragmentReader {
            docs: ByteReader::new(&self.docs, WHAT),
            positions: ByteReader::new(&self.positions, WHAT),
            filters: self.filters,
            left: self.count,
            previous: self.base,
            first: true,
        }
    }

    /// Shows all docs to `visit`, in order, until it fails.
    pub fn each_doc(&self, mut visit: impl FnMut(DocId) -> Result<()>) -> Result<()> {
        let mut docs = ByteReader::new(&self.docs, WHAT);
        let mut previous = self.base;
        for at in 0..self.count {
            (previous, _) = read_posting(&mut docs, previous, at == 0)?;
            visit(previous)?;
        }
        Ok(())
    }

    /// Appends the postings of `next`, all of which lie after the last doc.
    pub fn concat(mut self, next: &Fragment) -> Result<Fragment> {
        if next.is_empty() {
            return Ok(self);
        }
        if self.is_empty() {
            self.filters = next.filters;
        } else if self.filters != next.filters {
            return Err(Error::damaged(WHAT, "expected phrase filters of one kind"));
        }
        self.docs.reserve(next.docs.len() + 4);
        next.rebase(self.last, self.is_empty(), &mut self.docs)?;
        self.positions.extend_from_slice(&next.positions);
        self.count += next.count;
        self.total_frequency += next.total_frequency;
        self.max_frequency = self.max_frequency.max(next.max_frequency);
        self.last = next.last;
        Ok(self)
    }

    /// Appends a posting behind the last, if its tokens have what this kind of fragment keeps of
    /// neighbours.
    pub(crate) fn append_tokens(&mut self, doc: DocId, tokens: &Tokens) -> bool {
        let Tokens { positions, filter } = tokens;
        let known = filter.iter().all(|side| side.len() == positions.len());
        if self.filters == PhraseFilters::Common && !known {
            return false;
        }
        put_posting(&mut self.docs, doc - self.last, positions.len() as u32);
        let mut previous = 0;
        for (at, position) in positions.iter().enumerate() {
            let side = |side: usize| filter[side].get(at).map_or(0, |byte| *byte as u16);
            let neighbours = Neighbours {
                before: side(0),
                after: side(1),
            };
            let distance = position - previous;
            put_token(&mut self.positions, distance, neighbours, self.filters);
            previous = *position;
        }
        self.count += 1;
        self.total_frequency += positions.len() as u64;
        self.max_frequency = self.max_frequency.max(positions.len() as u32);
        self.last = doc;
        true
    }

    /// Returns the rest without dead documents, and the number of tokens that are gone; nothing if
    /// none is.
    pub(crate) fn without(&self, dead: &DeadDocs) -> Result<Option<(Fragment, u64)>> {
        let mut kept = Fragment::new(self.base);
        kept.filters = self.filters;
        let mut docs = ByteReader::new(&self.docs, WHAT);
        let (mut positions, mut previous) = (&self.positions[..], self.base);
        for i in 0..self.count {
            let (doc, frequency) = read_posting(&mut docs, previous, i == 0)?;
            previous = doc;
            let length = skip_tokens(positions, frequency as u64, self.filters);
            let tokens;
            (tokens, positions) = positions.split_at(length);
            if dead.has(doc) {
                continue;
            }
            put_posting(&mut kept.docs, doc - kept.last, frequency);
            kept.positions.extend_from_slice(tokens);
            kept.count += 1;
            kept.total_frequency += frequency as u64;
            kept.max_frequency = kept.max_frequency.max(frequency);
            kept.last = doc;
        }
        let tokens = self.total_frequency - kept.total_frequency;
        Ok((kept.count < self.count).then_some((kept, tokens)))
    }

    /// The postings of docs below `below`, which are a prefix.
    pub fn truncated(mut self, below: DocId) -> Fragment {
        let mut kept = Fragment::new(self.base);
        let mut docs = ByteReader::new(&self.docs, WHAT);
        let mut length = 0;
        while kept.count < self.count
            && let Ok((doc, frequency)) = read_posting(&mut docs, kept.last, kept.is_empty())
            && doc < below
        {
            kept.last = doc;
            kept.count += 1;
            kept.total_frequency += frequency as u64;
            kept.max_frequency = kept.max_frequency.max(frequency);
            length = docs.position();
        }
        let positions = skip_tokens(&self.positions, kept.total_frequency, self.filters);
        self.docs.truncate(length);
        self.positions.truncate(positions);
        Fragment {
            docs: self.docs,
            positions: self.positions,
            filters: self.filters,
            ..kept
        }
    }

    /// Appends the fragment in one piece, coded against `base`: the count, the docs, the positions.
    /// The end of each follows from the count and the frequencies.
    pub fn encode(&self, base: DocId, out: &mut Vec<u8>) -> Result<()> {
        put_varint(out, self.count as u64);
        if !self.is_empty() {
            self.rebase(base, true, out)?;
            out.extend_from_slice(&self.positions);
        }
        Ok(())
    }

    /// An upper bound of what [`Fragment::encode`] appends, whatever the base.
    pub fn encoded_length_max(&self) -> usize {
        varint_length(self.count as u64) + 5 + self.bytes()
    }

    /// Reads what [`Fragment::encode`] wrote against the same base, up to the end of the bytes.
    pub fn decode(
        reader: &mut ByteReader<'_>,
        base: DocId,
        filters: PhraseFilters,
    ) -> Result<Fragment> {
        let mut fragment = Fragment::new(base);
        fragment.filters = filters;
        fragment.count = reader.length(reader.rest().len())? as u32;
        let docs = reader.rest();
        for i in 0..fragment.count {
            let (doc, frequency) = read_posting(reader, fragment.last, i == 0)?;
            fragment.last = doc;
            fragment.total_frequency += frequency as u64;
            fragment.max_frequency = fragment.max_frequency.max(frequency);
        }
        let positions = reader.rest();
        if fragment.total_frequency > positions.len() as u64 {
            return Err(reader.damaged("as many positions as postings say", positions.len()));
        }
        fragment.docs = docs[..docs.len() - positions.len()].to_vec();
        fragment.positions = reader.take(positions.len())?.to_vec();
        Ok(fragment)
    }

    /// Reads everything; an error if any of it cannot be, or if something stands behind the last
    /// position.
    pub fn check(&self) -> Result<()> {
        let (mut reader, mut tokens) = (self.reader(), Tokens::default());
        while reader.next(&mut tokens)?.is_some() {}
        if reader.positions.is_empty() {
            Ok(())
        } else {
            let rest = reader.positions.rest().len();
            Err(reader.positions.damaged("the last position", rest))
        }
    }

    /// Appends the docs stream with the first delta counted from `base`.
    fn rebase(&self, base: DocId, may_equal: bool, out: &mut Vec<u8>) -> Result<()> {
        let mut reader = ByteReader::new(&self.docs, WHAT);
        let (doc, frequency) = read_posting(&mut reader, self.base, true)?;
        if doc < base || (doc == base && !may_equal) {
            return Err(reader.damaged(&format!("a doc after {base}"), doc));
        }
        put_posting(out, doc - base, frequency);
        out.extend_from_slice(reader.rest());
        Ok(())
    }
}

impl FragmentReader<'_> {
    /// The next doc, its tokens put into `tokens`; nothing at the end.
    pub fn next(&mut self, tokens: &mut Tokens) -> Result<Option<DocId>> {
        tokens.clear();
        let Some((doc, frequency)) = self.next_posting()? else {
            return Ok(None);
        };
        read_tokens(&mut self.positions, frequency, self.filters, tokens)?;
        Ok(Some(doc))
    }

    /// The next doc and its frequency; nothing at the end. Its tokens are to be read next, with
    /// [`FragmentReader::each_token`].
    #[inline]
    pub(crate) fn next_posting(&mut self) -> Result<Option<(DocId, u32)>> {
        if self.left == 0 {
            return Ok(None);
        }
        let (doc, frequency) = read_posting(&mut self.docs, self.previous, self.first)?;
        self.left -= 1;
        self.previous = doc;
        self.first = false;
        Ok(Some((doc, frequency)))
    }

    /// Shows the tokens of a posting as they are coded: the distance of each from the one before,
    /// and its common neighbours, before and after. Nothing is unpacked into vectors.
    #[inline]
    pub(crate) fn each_token(
        &mut self,
        frequency: u32,
        mut see: impl FnMut(u32, [u8; 2]),
    ) -> Result<()> {
        let mut position = 0u32;
        for _ in 0..frequency {
            let before = position;
            position = read_position(&mut self.positions, before)?;
            let neighbours = match self.filters {
                PhraseFilters::None => [0; 2],
                PhraseFilters::Common => common_code::read_pair(&mut self.positions)?,
            };
            see(position - before, neighbours);
        }
        Ok(())
    }
}

/// Appends a posting to a docs stream.
#[inline]
pub fn put_posting(docs: &mut Vec<u8>, delta: u32, frequency: u32) {
    let once = frequency == 1;
    put_varint(docs, delta as u64 * 2 + once as u64);
    if !once {
        put_varint(docs, frequency as u64);
    }
}

/// Appends one token to a positions stream.
#[inline]
pub fn put_token(
    stream: &mut Vec<u8>,
    distance: u32,
    neighbours: Neighbours,
    filters: PhraseFilters,
) {
    put_varint(stream, distance as u64);
    neighbours.encode(filters, stream);
}

/// Reads a posting written by [`put_posting`]: doc and frequency.
#[inline]
pub fn read_posting(
    docs: &mut ByteReader<'_>,
    previous: DocId,
    first: bool,
) -> Result<(DocId, u32)> {
    let coded = docs.varint()?;
    let (delta, once) = (coded >> 1, coded & 1 == 1);
    let doc = previous as u64 + delta.min(END as u64);
    if doc >= END as u64 || (delta == 0 && !first) {
        return Err(docs.damaged(&format!("a doc after {previous}"), doc));
    }
    let frequency = if once { 1 } else { docs.varint_u32()? };
    if frequency == 0 {
        return Err(docs.damaged("a frequency of at least one", 0));
    }
    Ok((doc as DocId, frequency))
}

/// Reads the tokens of one posting and adds them to `out`.
#[inline]
pub fn read_tokens(
    stream: &mut ByteReader<'_>,
    frequency: u32,
    filters: PhraseFilters,
    out: &mut Tokens,
) -> Result<()> {
    if frequency as usize > stream.rest().len() {
        return Err(stream.damaged(&format!("{frequency} positions"), stream.rest().len()));
    }
    out.positions.reserve(frequency as usize);
    let mut position = 0u32;
    for _ in 0..frequency {
        position = read_position(stream, position)?;
        out.positions.push(position);
        match filters {
            PhraseFilters::None => {}
            PhraseFilters::Common => {
                let pair = common_code::read_pair(stream)?;
                out.filter[0].push(pair[0]);
                out.filter[1].push(pair[1]);
            }
        }
    }
    Ok(())
}

/// Reads the position that follows `previous`.
#[inline]
fn read_position(stream: &mut ByteReader<'_>, previous: u32) -> Result<u32> {
    let delta = stream.varint_u32()?;
    let position = previous.checked_add(delta);
    position.ok_or_else(|| stream.damaged("a 32-bit position", delta))
}

/// The bytes that the first `count` tokens take.
pub fn skip_tokens(stream: &[u8], count: u64, filters: PhraseFilters) -> usize {
    if count == 0 {
        return 0;
    }
    if filters != PhraseFilters::None {
        let mut at = 0;
        for _ in 0..count {
            let varint = stream[at..].iter().position(|byte| *byte < 0x80);
            let Some(varint) = varint else { break };
            at += varint + 1;
            at = (at + neighbours_bytes(filters, &stream[at..])).min(stream.len());
        }
        return at;
    }
    let ends = stream.iter().enumerate().filter(|(_, byte)| **byte < 0x80);
    let last = ends.map(|(at, _)| at + 1).nth(count as usize - 1);
    last.unwrap_or(stream.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(base: DocId, docs: &[(DocId, &[u32])]) -> Fragment {
        let mut fragment = Fragment::new(base);
        for (doc, positions) in docs {
            fragment.append(*doc, positions, &[]);
        }
        fragment
    }

    fn filtered(fragment: &Fragment) -> Fragment {
        let mut filtered = Fragment::new(fragment.base);
        filtered.filters = PhraseFilters::Common;
        for (doc, tokens) in postings(fragment) {
            let neighbours = tokens.positions.iter().map(|position| Neighbours {
                before: (*position % 95) as u16,
                after: 94 - (doc % 95) as u16,
            });
            let neighbours: Vec<Neighbours> = neighbours.collect();
            filtered.append(doc, &tokens.positions, &neighbours);
        }
        filtered
    }

    fn both_kinds(plain: Fragment) -> [Fragment; 2] {
        let filtered = filtered(&plain);
        [plain, filtered]
    }

    fn postings(fragment: &Fragment) -> Vec<(DocId, Tokens)> {
        let (mut reader, mut tokens, mut all) = (fragment.reader(), Tokens::default(), Vec::new());
        while let Some(doc) = reader.next(&mut tokens).unwrap() {
            all.push((doc, tokens.clone()));
        }
        all
    }

    #[test]
    fn two_fragments_join_into_one() {
        let first = sample(0, &[(0, &[3, 9]), (7, &[1])]);
        let second = sample(5, &[(8, &[2]), (END - 1, &[0, 0, 400])]);
        let joined = first.clone().concat(&second).unwrap();
        let mut expected = postings(&first);
        expected.extend(postings(&second));
        assert_eq!(postings(&joined), expected);
        assert_eq!((joined.count, joined.total_frequency), (4, 7));
        assert!(second.clone().concat(&first).is_err());
        assert!(first.clone().concat(&filtered(&second)).is_err());
        let joined = filtered(&first).concat(&filtered(&second));
        assert_eq!(postings(&joined.unwrap()).len(), 4);
    }

    #[test]
    fn one_piece_holds_both_streams_against_any_base() {
        let plain = sample(100, &[(130, &[3, 9]), (131, &[1])]);
        for fragment in both_kinds(plain) {
            let mut bytes = Vec::new();
            fragment.encode(17, &mut bytes).unwrap();
            assert!(bytes.len() <= fragment.encoded_length_max());
            let mut reader = ByteReader::new(&bytes, "test");
            let read = Fragment::decode(&mut reader, 17, fragment.filters).unwrap();
            assert!(reader.is_empty());
            assert_eq!(postings(&read), postings(&fragment));
            assert!(fragment.encode(131, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn a_truncated_fragment_is_a_prefix() {
        let plain = sample(3, &[(3, &[1, 300]), (9, &[2]), (90, &[0, 1, 2])]);
        for fragment in both_kinds(plain) {
            for (below, count) in [(0, 0), (3, 0), (4, 1), (9, 1), (90, 2), (END, 3)] {
                let kept = fragment.clone().truncated(below);
                assert_eq!(postings(&kept), postings(&fragment)[..count]);
            }
        }
    }

    #[test]
    fn impossible_bytes_are_errors() {
        for bytes in [
            &[2u8][..],
            &[1, 0],
            &[1, 2, 0, 5],
            &[2, 3, 1, 1, 1],
            &[200, 1, 3],
            &[1, 3, 0, 0, 0, 0],
        ] {
            for filters in [PhraseFilters::None, PhraseFilters::Common] {
                let read = Fragment::decode(&mut ByteReader::new(bytes, "test"), 0, filters);
                let checked = read.and_then(|fragment| fragment.check());
                assert!(checked.is_err(), "{bytes:?}");
            }
        }
    }
}
