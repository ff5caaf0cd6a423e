//! Fragments: short runs of postings in two byte streams, for the memory buffer and for dictionary leaves.
//!
//! The docs stream holds, per posting, `varint(delta * 2 + (frequency == 1))` with the distance to the
//! posting before (for the first: to the base), then `varint(frequency)` unless that is one. The positions
//! stream holds the posting's positions: the first as it is, then distances; in an index with phrase filters
//! the two fingerprints of its neighbours stand behind each. Postings are added by appending
//! to both streams, and two fragments are joined by copying: only one delta depends on what comes before.
//!
//! Invariants:
//! 1. Docs ascend strictly from the base on; the first may equal the base, which allows document 0.
//! 2. Frequencies are at least one; a posting has as many positions as its frequency says.
//! 3. A fragment that came from [`Fragment::decode`] was walked once, so that reading it again cannot fail.

use super::tokens::{NEIGHBOURS_BYTES, Neighbours, Tokens};
use crate::base::{ByteReader, DocId, END, Error, Result, put_varint, varint_length};

const WHAT: &str = "a postings fragment";

/// A run of postings, coded against a base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// What the first posting's delta counts from: at most the first doc.
    pub base: DocId,
    /// Postings.
    pub count: u32,
    /// Sum of the frequencies.
    pub total_frequency: u64,
    /// The last doc; the base while there is none.
    pub last: DocId,
    /// Whether neighbours stand behind the positions.
    pub filtered: bool,
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
    filtered: bool,
    left: u32,
    previous: DocId,
    first: bool,
}

impl Fragment {
    /// An empty fragment against `base`.
    pub fn new(base: DocId) -> Fragment {
        Fragment {
            base,
            last: base,
            ..Fragment::default()
        }
    }

    /// Whether there is no posting.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of both streams.
    pub fn bytes(&self) -> usize {
        self.docs.len() + self.positions.len()
    }

    /// Appends a posting: `doc` lies after the last, `positions` ascend and are not empty.
    #[cfg(test)]
    pub fn append(&mut self, doc: DocId, tokens: &Tokens) {
        let positions = &tokens.positions;
        debug_assert!(doc > self.last || (self.is_empty() && doc == self.base));
        debug_assert!(!positions.is_empty());
        put_posting(&mut self.docs, doc - self.last, positions.len() as u32);
        put_tokens(&mut self.positions, tokens);
        self.filtered = !tokens.neighbours.is_empty();
        self.count += 1;
        self.total_frequency += positions.len() as u64;
        self.last = doc;
    }

    /// A reader that stands before the first posting.
    pub fn reader(&self) -> FragmentReader<'_> {
        FragmentReader {
            docs: ByteReader::new(&self.docs, WHAT),
            positions: ByteReader::new(&self.positions, WHAT),
            filtered: self.filtered,
            left: self.count,
            previous: self.base,
            first: true,
        }
    }

    /// Appends the postings of `next`, all of which lie after the last doc.
    pub fn concat(mut self, next: &Fragment) -> Result<Fragment> {
        if next.is_empty() {
            return Ok(self);
        }
        if self.is_empty() {
            self.filtered = next.filtered;
        } else if self.filtered != next.filtered {
            return Err(Error::damaged(
                WHAT,
                "expected phrase filters in all or none",
            ));
        }
        self.docs.reserve(next.docs.len() + 4);
        next.rebase(self.last, self.is_empty(), &mut self.docs)?;
        self.positions.extend_from_slice(&next.positions);
        self.count += next.count;
        self.total_frequency += next.total_frequency;
        self.last = next.last;
        Ok(self)
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
            length = docs.position();
        }
        let positions = skip_tokens(&self.positions, kept.total_frequency, self.filtered);
        self.docs.truncate(length);
        self.positions.truncate(positions);
        Fragment {
            docs: self.docs,
            positions: self.positions,
            filtered: self.filtered,
            ..kept
        }
    }

    /// Appends the fragment in one piece, coded against `base`: the count, the docs, the positions. Where
    /// each ends follows from the count and the frequencies.
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

    /// Reads what [`Fragment::encode`] wrote against the same base, checking every posting.
    pub fn decode(reader: &mut ByteReader<'_>, base: DocId, filtered: bool) -> Result<Fragment> {
        let mut fragment = Fragment::new(base);
        fragment.filtered = filtered;
        fragment.count = reader.length(reader.rest().len())? as u32;
        let docs = reader.rest();
        let mut total = 0u64;
        for i in 0..fragment.count {
            let (doc, frequency) = read_posting(reader, fragment.last, i == 0)?;
            fragment.last = doc;
            total += frequency as u64;
        }
        let positions = reader.rest();
        if total > positions.len() as u64 {
            return Err(reader.damaged("as many positions as postings say", positions.len()));
        }
        fragment.docs = docs[..docs.len() - positions.len()].to_vec();
        for _ in 0..total {
            reader.varint_u32()?;
            reader.take(neighbours_bytes(filtered))?;
        }
        fragment.positions = positions[..positions.len() - reader.rest().len()].to_vec();
        fragment.total_frequency = total;
        fragment.check_positions()?;
        Ok(fragment)
    }

    /// Walks the positions, which must stay 32-bit numbers when the distances are added up.
    fn check_positions(&self) -> Result<()> {
        let (mut reader, mut tokens) = (self.reader(), Tokens::default());
        while reader.next(&mut tokens)?.is_some() {}
        Ok(())
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
        if self.left == 0 {
            return Ok(None);
        }
        let (doc, frequency) = read_posting(&mut self.docs, self.previous, self.first)?;
        read_tokens(&mut self.positions, frequency, self.filtered, tokens)?;
        self.left -= 1;
        self.previous = doc;
        self.first = false;
        Ok(Some(doc))
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

/// Appends the tokens of one posting to a positions stream.
#[cfg(test)]
pub fn put_tokens(stream: &mut Vec<u8>, tokens: &Tokens) {
    let mut previous = 0;
    for (at, position) in tokens.positions.iter().enumerate() {
        let neighbours = tokens.neighbours.get(at).copied();
        put_token(stream, position - previous, neighbours);
        previous = *position;
    }
}

/// Appends one token to a positions stream.
#[inline]
pub fn put_token(stream: &mut Vec<u8>, distance: u32, neighbours: Option<Neighbours>) {
    put_varint(stream, distance as u64);
    if let Some(Neighbours { before, after }) = neighbours {
        stream.extend_from_slice(&[before, after]);
    }
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
    filtered: bool,
    out: &mut Tokens,
) -> Result<()> {
    if frequency as usize > stream.rest().len() {
        return Err(stream.damaged(&format!("{frequency} positions"), stream.rest().len()));
    }
    out.positions.reserve(frequency as usize);
    let mut position = 0u32;
    for _ in 0..frequency {
        let delta = stream.varint_u32()?;
        position = position
            .checked_add(delta)
            .ok_or_else(|| stream.damaged("a 32-bit position", delta))?;
        out.positions.push(position);
        if filtered {
            let (before, after) = (stream.u8()?, stream.u8()?);
            out.neighbours.push(Neighbours { before, after });
        }
    }
    Ok(())
}

/// The bytes that the first `count` tokens take.
pub fn skip_tokens(stream: &[u8], count: u64, filtered: bool) -> usize {
    if count == 0 {
        return 0;
    }
    if filtered {
        let mut at = 0;
        for _ in 0..count {
            let varint = stream[at..].iter().position(|byte| *byte < 0x80);
            let Some(varint) = varint else { break };
            at = (at + varint + 1 + NEIGHBOURS_BYTES).min(stream.len());
        }
        return at;
    }
    let ends = stream.iter().enumerate().filter(|(_, byte)| **byte < 0x80);
    let last = ends.map(|(at, _)| at + 1).nth(count as usize - 1);
    last.unwrap_or(stream.len())
}

fn neighbours_bytes(filtered: bool) -> usize {
    if filtered { NEIGHBOURS_BYTES } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(base: DocId, docs: &[(DocId, &[u32])]) -> Fragment {
        let mut fragment = Fragment::new(base);
        for (doc, positions) in docs {
            let tokens = Tokens {
                positions: positions.to_vec(),
                neighbours: Vec::new(),
            };
            fragment.append(*doc, &tokens);
        }
        fragment
    }

    fn filtered(fragment: &Fragment) -> Fragment {
        let mut filtered = Fragment::new(fragment.base);
        for (doc, mut tokens) in postings(fragment) {
            let neighbours = tokens.positions.iter().map(|position| Neighbours {
                before: *position as u8,
                after: 255 - doc as u8,
            });
            tokens.neighbours = neighbours.collect();
            filtered.append(doc, &tokens);
        }
        filtered
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
        let joined = filtered(&first).concat(&filtered(&second)).unwrap();
        assert_eq!(postings(&joined).len(), 4);
    }

    #[test]
    fn one_piece_holds_both_streams_against_any_base() {
        let plain = sample(100, &[(130, &[3, 9]), (131, &[1])]);
        for fragment in [filtered(&plain), plain] {
            let mut bytes = Vec::new();
            fragment.encode(17, &mut bytes).unwrap();
            assert!(bytes.len() <= fragment.encoded_length_max());
            let mut reader = ByteReader::new(&bytes, "test");
            let read = Fragment::decode(&mut reader, 17, fragment.filtered).unwrap();
            assert!(reader.is_empty());
            assert_eq!(postings(&read), postings(&fragment));
            assert!(fragment.encode(131, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn a_truncated_fragment_is_a_prefix() {
        let plain = sample(3, &[(3, &[1, 300]), (9, &[2]), (90, &[0, 1, 2])]);
        for fragment in [filtered(&plain), plain] {
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
        ] {
            for filtered in [false, true] {
                let read = Fragment::decode(&mut ByteReader::new(bytes, "test"), 0, filtered);
                assert!(read.is_err(), "{bytes:?}");
            }
        }
    }
}
