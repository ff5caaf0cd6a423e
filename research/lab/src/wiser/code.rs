//! How a list is coded: a head with all that is needed to skip, then each kind of data, in the
//! order in which a query comes to it.
//!
//! ```text
//! head       varint(its bytes), varint(postings), for each block of 128 postings: varint(distance
//!            of its last document), the bytes of its documents, filters, positions, offsets
//! documents  varint(2 * (distance - 1) + (1 if the frequency is 1)), and the frequency unless 1
//! filters    for each side and block a bitmap of those that are not empty, then these, of 9 bytes
//! positions  varints of distances in the document
//! offsets    for each token varint(distance of its start in the document), varint(its length)
//! ```

use gannet::lab::BlockCodec;

use super::filter::{BLOOM_BYTES, bits_of, put_group};
use super::input::{Collection, TermNumber};
use crate::bytes::put_varint;

/// Postings of a block.
pub const BLOCK: usize = BlockCodec::LENGTH;

/// What a query reads of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Term entries.
    Dictionary,
    /// Heads, documents and frequencies: the paper's prefetch zone.
    Zone,
    /// Bloom filters of the words behind, then of those before.
    Filters,
    /// Positions.
    Positions,
    /// Offsets.
    Offsets,
    /// The documents' texts.
    Texts,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 6] = [
        Part::Dictionary,
        Part::Zone,
        Part::Filters,
        Part::Positions,
        Part::Offsets,
        Part::Texts,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        [
            "dictionary",
            "zone",
            "filters",
            "positions",
            "offsets",
            "texts",
        ][self as usize]
    }
}

/// Kinds of data in a list, by which blocks are found: documents, filters of the words behind and
/// of those before, positions, offsets.
pub const KINDS: usize = 5;
/// Documents and frequencies.
pub const DOCS: usize = 0;
/// Bloom filters of the words behind.
pub const BEHIND: usize = 1;
/// Bloom filters of the words before.
pub const BEFORE: usize = 2;
/// Positions.
pub const POSITIONS: usize = 3;
/// Offsets.
pub const OFFSETS: usize = 4;

/// A coded list without its head.
#[derive(Default)]
pub struct Coded {
    /// Postings.
    pub count: u32,
    /// Postings whose filter is empty, of both sides together.
    pub empty_filters: u64,
    /// The last document of each block, and the bytes of each kind in it.
    blocks: Vec<(u32, [u32; KINDS])>,
    /// The bytes of each kind.
    pub kinds: [Vec<u8>; KINDS],
}

impl Coded {
    /// Codes the list of a term. `fingerprints` has 0 for terms that no filter knows.
    pub fn of(collection: &Collection, term: TermNumber, fingerprints: &[u16]) -> Coded {
        let mut coded = Coded::default();
        let mut filters = [Vec::new(), Vec::new()];
        let (mut before, mut ends) = (u32::MAX, [0; KINDS]);
        for tokens in collection.postings(term) {
            let doc = collection.tokens[tokens[0] as usize].doc;
            coded.put_posting(collection, tokens, before);
            for (is_before, side) in filters.iter_mut().enumerate() {
                let bits = neighbours(collection, tokens, is_before == 0, fingerprints);
                coded.empty_filters += u64::from(bits == 0);
                side.extend_from_slice(&bits.to_le_bytes()[..BLOOM_BYTES]);
            }
            before = doc;
            if (coded.count as usize).is_multiple_of(BLOCK) {
                coded.end_block(before, &mut filters, &mut ends);
            }
        }
        if !(coded.count as usize).is_multiple_of(BLOCK) {
            coded.end_block(before, &mut filters, &mut ends);
        }
        coded
    }

    fn put_posting(&mut self, collection: &Collection, tokens: &[u32], before: u32) {
        let doc = collection.tokens[tokens[0] as usize].doc;
        let (distance, frequency) = (doc.wrapping_sub(before) - 1, tokens.len() as u64);
        let [docs, _, _, positions, offsets] = &mut self.kinds;
        put_varint(docs, u64::from(distance) << 1 | u64::from(frequency == 1));
        if frequency != 1 {
            put_varint(docs, frequency);
        }
        let (mut position, mut start) = (0, 0);
        for token in tokens
            .iter()
            .map(|number| collection.tokens[*number as usize])
        {
            put_varint(positions, u64::from(token.position - position));
            put_varint(offsets, u64::from(token.start - start));
            put_varint(offsets, u64::from(token.length));
            (position, start) = (token.position, token.start);
        }
        self.count += 1;
    }

    fn end_block(&mut self, last: u32, filters: &mut [Vec<u8>; 2], ends: &mut [usize; KINDS]) {
        for (side, filters) in filters.iter_mut().enumerate() {
            put_group(filters, &mut self.kinds[BEHIND + side]);
            filters.clear();
        }
        let lengths = std::array::from_fn(|kind| (self.kinds[kind].len() - ends[kind]) as u32);
        self.blocks.push((last, lengths));
        *ends = std::array::from_fn(|kind| self.kinds[kind].len());
    }

    /// The head of the list, with filters or without.
    pub fn head(&self, has_filters: bool) -> Vec<u8> {
        let (mut head, mut before) = (Vec::new(), 0);
        put_varint(&mut head, u64::from(self.count));
        for (last, lengths) in &self.blocks {
            put_varint(&mut head, u64::from(last - before));
            before = *last;
            for (kind, length) in lengths.iter().enumerate() {
                if has_filters || !matches!(kind, BEHIND | BEFORE) {
                    put_varint(&mut head, u64::from(*length));
                }
            }
        }
        let mut whole = Vec::new();
        put_varint(&mut whole, head.len() as u64);
        whole.extend_from_slice(&head);
        whole
    }
}

fn neighbours(
    collection: &Collection,
    tokens: &[u32],
    is_behind: bool,
    fingerprints: &[u16],
) -> u128 {
    let beside = tokens
        .iter()
        .filter_map(|number| collection.neighbour(*number, is_behind));
    beside.fold(0, |bits, term| bits | bits_of(fingerprints[term as usize]))
}
