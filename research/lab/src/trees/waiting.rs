//! Changes that wait in memory, ascending by key, in blocks of bytes, so that they take what they
//! are charged for.
//!
//! A block has entries one behind the other. A full one is split in two, and an empty one goes.
//! [`Waiting::bytes`] counts whole blocks, with the room that splitting leaves in them.
//!
//! ```text
//! entry: length of the key (2), key, code (8)
//! ```

use gannet::Result;

use super::{VALUE_END, Value, entry_fits};

/// What becomes of a key: its value, or that it is gone.
pub type Change = Option<Value>;

/// Bytes of a block, unless a longer entry needs more.
const BLOCK_BYTES: usize = 1024;

/// What the allocator takes for a block, and the list of blocks for its place.
const BLOCK_OVERHEAD: usize = 16;

/// What an entry takes besides its key.
pub const AROUND: usize = 2 + 8;

/// Stands for a key that is gone.
const GONE: u64 = VALUE_END << 1;

/// Sorted changes.
#[derive(Default)]
pub struct Waiting {
    blocks: Vec<Vec<u8>>,
    entries: usize,
    /// Bytes of the blocks.
    held: usize,
}

/// A change as a number.
pub fn code_of(change: Change) -> u64 {
    change.unwrap_or(GONE)
}

/// The change that a number stands for.
pub fn change_of(code: u64) -> Change {
    Some(code).filter(|code| *code != GONE)
}

impl Waiting {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.entries
    }

    /// Bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        self.held + self.blocks.capacity() * size_of::<Vec<u8>>()
    }

    /// The code of a key.
    pub fn get(&self, key: &[u8]) -> Option<u64> {
        let block = self.blocks.get(self.block_of(key))?;
        Entries::of(block)
            .find(|(at, _)| *at == key)
            .map(|(_, code)| code)
    }

    /// The code of the last key that is not above this one; of the first where all are.
    pub fn floor(&self, key: &[u8]) -> Option<u64> {
        let block = self.blocks.get(self.block_of(key))?;
        let below = Entries::of(block).take_while(|(at, _)| *at <= key);
        let found = below.last().or_else(|| Entries::of(block).next());
        found.map(|(_, code)| code)
    }

    /// Puts a key, or gives it another code.
    pub fn put(&mut self, key: &[u8], code: u64) {
        if self.blocks.is_empty() {
            self.add_block(0, Vec::with_capacity(BLOCK_BYTES));
        }
        let at = self.block_of(key);
        let (place, is_there) = place_of(&self.blocks[at], key);
        if is_there {
            let end = place + AROUND + key.len();
            self.blocks[at][end - 8..end].copy_from_slice(&code.to_le_bytes());
            return;
        }
        self.entries += 1;
        if self.blocks[at].len() + AROUND + key.len() <= BLOCK_BYTES || self.blocks[at].is_empty() {
            return self.insert(at, place, key, code);
        }
        let at = self.split(at, place);
        let (place, _) = place_of(&self.blocks[at], key);
        self.insert(at, place, key, code);
    }

    /// The keys from `from` on with their codes.
    pub fn from<'a>(&'a self, from: &'a [u8]) -> impl Iterator<Item = (&'a [u8], u64)> {
        let blocks = &self.blocks[self.block_of(from).min(self.blocks.len())..];
        let entries = blocks.iter().flat_map(|block| Entries::of(block));
        entries.skip_while(move |(key, _)| *key < from)
    }

    /// Takes changes from `from` on, of about so many bytes, one at least if there is one.
    pub fn take(&mut self, from: &[u8], bytes: usize) -> Waiting {
        let mut taken = Waiting::default();
        let mut end = None;
        for (key, code) in self.from(from) {
            if taken.entries > 0 && taken.entry_bytes() + key.len() + AROUND > bytes {
                end = Some(key.to_vec());
                break;
            }
            taken.append(key, code);
        }
        self.remove(from, end.as_deref());
        taken
    }

    /// Takes all blocks, in order.
    pub fn take_blocks(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(self).blocks
    }

    /// Keys and changes, as a merge takes them.
    pub fn changes(&self) -> Vec<(&[u8], Change)> {
        let all = self.blocks.iter().flat_map(|block| Entries::of(block));
        all.map(|(key, code)| (key, change_of(code))).collect()
    }

    /// Removes the keys from `from` on and below `end`.
    fn remove(&mut self, from: &[u8], end: Option<&[u8]>) {
        let mut at = self.block_of(from);
        while at < self.blocks.len() {
            let block = &mut self.blocks[at];
            let start = place_of(block, from).0;
            let stop = end.map_or(block.len(), |end| place_of(block, end).0);
            let removed = Entries::of(&block[start..stop]).count();
            let is_last = stop < block.len();
            block.drain(start..stop);
            self.entries -= removed;
            if block.is_empty() {
                self.drop_block(at)
            } else {
                at += 1
            }
            if is_last {
                break;
            }
        }
    }

    /// Puts a key behind all others.
    fn append(&mut self, key: &[u8], code: u64) {
        let length = key.len() + AROUND;
        let last = self.blocks.last();
        if last.is_none_or(|block| block.len() + length > block.capacity()) {
            let block = Vec::with_capacity(BLOCK_BYTES.max(length));
            self.add_block(self.blocks.len(), block);
        }
        self.entries += 1;
        let at = self.blocks.len() - 1;
        let place = self.blocks[at].len();
        self.insert(at, place, key, code);
    }

    /// Bytes of the entries alone.
    pub fn entry_bytes(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    fn insert(&mut self, at: usize, place: usize, key: &[u8], code: u64) {
        let block = &mut self.blocks[at];
        let before = block.capacity();
        block.reserve_exact(AROUND + key.len());
        let length = (key.len() as u16).to_le_bytes();
        let entry = length.into_iter().chain(key.iter().copied());
        block.splice(place..place, entry.chain(code.to_le_bytes()));
        self.held += block.capacity() - before;
    }

    /// Makes room for an entry at a place of a block: in one of its halves, or in a block of its
    /// own where the block has one entry or is the last one and ends there. Gives that block.
    fn split(&mut self, at: usize, place: usize) -> usize {
        let block = &self.blocks[at];
        let is_end = place == block.len() && at + 1 == self.blocks.len();
        if is_end || Entries::of(block).nth(1).is_none() {
            let own = at + usize::from(place > 0);
            self.add_block(own, Vec::with_capacity(BLOCK_BYTES));
            return own;
        }
        let mut middle = 0;
        for (key, _) in Entries::of(block) {
            let next = middle + key.len() + AROUND;
            if 2 * middle >= block.len() || next == block.len() {
                break;
            }
            middle = next;
        }
        let mut right = Vec::with_capacity(BLOCK_BYTES.max(block.len() - middle));
        right.extend_from_slice(&block[middle..]);
        self.blocks[at].truncate(middle);
        self.add_block(at + 1, right);
        at + usize::from(place >= middle)
    }

    fn add_block(&mut self, at: usize, block: Vec<u8>) {
        self.held += block.capacity() + BLOCK_OVERHEAD;
        self.blocks.insert(at, block);
    }

    fn drop_block(&mut self, at: usize) {
        let block = self.blocks.remove(at);
        self.held -= block.capacity() + BLOCK_OVERHEAD;
    }

    /// The block that a key belongs to.
    fn block_of(&self, key: &[u8]) -> usize {
        let behind = self.blocks.partition_point(|block| {
            let first = Entries::of(block).next();
            first.is_none_or(|(first, _)| first <= key)
        });
        behind.saturating_sub(1)
    }
}

/// Where a key is in a block, or would be, and whether it is there.
fn place_of(block: &[u8], key: &[u8]) -> (usize, bool) {
    let mut place = 0;
    for (at, _) in Entries::of(block) {
        if at >= key {
            return (place, at == key);
        }
        place += at.len() + AROUND;
    }
    (place, false)
}

/// The entries of a block.
pub struct Entries<'a>(&'a [u8]);

impl<'a> Entries<'a> {
    /// Those of these bytes.
    pub fn of(block: &'a [u8]) -> Entries<'a> {
        Entries(block)
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a [u8], u64);

    fn next(&mut self) -> Option<(&'a [u8], u64)> {
        let (length, rest) = self.0.split_first_chunk::<2>()?;
        let (key, rest) = rest.split_at_checked(u16::from_le_bytes(*length) as usize)?;
        let (code, rest) = rest.split_first_chunk::<8>()?;
        self.0 = rest;
        Some((key, u64::from_le_bytes(*code)))
    }
}

/// Whether a change can wait.
pub fn change_fits(key: &[u8], change: Change) -> Result<()> {
    entry_fits(key, change.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::counting;
    use crate::random::Random;

    fn key(random: &mut Random, longest: usize) -> Vec<u8> {
        let length = 1 + random.below(longest);
        (0..length).map(|_| random.below(4) as u8).collect()
    }

    #[test]
    fn changes_come_and_go_as_in_a_map() {
        for longest in [3, 12, 1024] {
            let mut random = Random::new(7, "waiting");
            let (mut waiting, mut model) = (Waiting::default(), BTreeMap::<Vec<u8>, u64>::new());
            for number in 0..3_000u64 {
                let key = key(&mut random, longest);
                if random.below(20) == 0 {
                    let taken = waiting.take(&key, random.below(4_000));
                    for (key, change) in taken.changes() {
                        assert_eq!(model.remove(key), Some(code_of(change)));
                    }
                    let first = model.range(key.clone()..).next();
                    let next = waiting.from(&key).next();
                    assert_eq!(next, first.map(|(key, code)| (&key[..], *code)));
                }
                waiting.put(&key, number);
                model.insert(key.clone(), number);
                assert_eq!(waiting.get(&key), Some(number));
                assert_eq!(waiting.len(), model.len());
                let above = [&key[..], &[1]].concat();
                let below = model.range(..=above.clone()).next_back();
                assert_eq!(waiting.floor(&above), below.map(|(_, code)| *code));
            }
            let all: Vec<_> = waiting.from(&[]).collect();
            let expected: Vec<_> = model.iter().map(|(key, code)| (&key[..], *code)).collect();
            assert_eq!(all, expected);
        }
    }

    /// The charge is what an allocator counts, and a change of eight bytes takes less than thirty.
    #[test]
    fn changes_take_what_they_are_charged_for() {
        let mut random = Random::new(7, "charge");
        let before = counting::bytes();
        let mut waiting = Waiting::default();
        for number in 0..40_000u64 {
            let key = (random.below(usize::MAX) as u64).to_be_bytes();
            waiting.put(&key, number);
            if number % 1_000 == 999 {
                let counted = counting::bytes() - before;
                let charged = waiting.bytes();
                assert!(counted <= charged, "{counted} bytes for {charged}");
                assert!(charged <= counted + counted / 20, "{counted} for {charged}");
            }
        }
        assert!(waiting.bytes() < 30 * waiting.len());
        for number in 0..30 {
            waiting.take(&[number * 8], 1 << 14);
        }
        let counted = counting::bytes() - before;
        assert!(counted <= waiting.bytes());
    }
}
