//! A node as it lies in its 8 KiB: entries in any order behind an array of their places, sorted by
//! key.
//!
//! ```text
//! level | 0 | entries (2) | end of the places' free room (2)
//! | bytes of entries that were removed (2) | node (4) | 0 (4) | time (8)
//! places of the entries (2 each), ascending by key …  free …
//! entries: length of the key (2), key, value (8)
//! ```
//! All numbers are little-endian. An inner node's keys are the lower bounds of its children, whose
//! names are the values; the first key is empty. All structures of the lab that have nodes have
//! these, so that they are compared by what they do with them.

use gannet::{Error, Result};

use super::Value;

/// Bytes of a node.
pub const NODE_BYTES: usize = 8192;

/// The longest key.
pub const KEY_MAX: usize = 1024;

/// The name of a node.
pub type NodeId = u32;

const HEADER: usize = 24;
const PLACE: usize = 2;
/// What an entry takes besides its key and its place.
const AROUND: usize = 2 + 8;

/// A node.
#[derive(Clone)]
pub struct Node {
    bytes: Box<[u8; NODE_BYTES]>,
}

impl Node {
    /// An empty node at a level; leaves are at level 0.
    pub fn new(level: usize) -> Node {
        let mut node = Node {
            bytes: Box::new([0; NODE_BYTES]),
        };
        node.bytes[0] = level as u8;
        node.set_u16(4, NODE_BYTES - 1);
        node
    }

    /// A node that was read. Everything that is looked up in it later is checked here.
    pub fn from_bytes(bytes: Box<[u8; NODE_BYTES]>) -> Result<Node> {
        let node = Node { bytes };
        let sound = HEADER + PLACE * node.len() <= NODE_BYTES
            && (0..node.len()).all(|at| {
                let place = node.place(at);
                place + 2 <= NODE_BYTES && place + node.u16(place) + AROUND <= NODE_BYTES
            });
        if sound {
            Ok(node)
        } else {
            Err(Error::damaged(
                "a node",
                "expected entries within its bytes",
            ))
        }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; NODE_BYTES] {
        &self.bytes
    }

    /// Levels below it.
    pub fn level(&self) -> usize {
        self.bytes[0] as usize
    }

    /// Says which node it is, and when it was written: later is more.
    pub fn stamp(&mut self, id: NodeId, time: u64) {
        self.bytes[8..12].copy_from_slice(&id.to_le_bytes());
        self.bytes[16..24].copy_from_slice(&time.to_le_bytes());
    }

    /// What [`Node::stamp`] said.
    pub fn stamped(&self) -> (NodeId, u64) {
        let (mut id, mut time) = ([0; 4], [0; 8]);
        id.copy_from_slice(&self.bytes[8..12]);
        time.copy_from_slice(&self.bytes[16..24]);
        (u32::from_le_bytes(id), u64::from_le_bytes(time))
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.u16(2)
    }

    /// The key of an entry.
    pub fn key(&self, at: usize) -> &[u8] {
        let place = self.place(at);
        &self.bytes[place + 2..place + 2 + self.u16(place)]
    }

    /// The value of an entry.
    pub fn value(&self, at: usize) -> Value {
        let place = self.value_place(at);
        let mut value = [0; 8];
        value.copy_from_slice(&self.bytes[place..place + 8]);
        Value::from_le_bytes(value)
    }

    /// Gives an entry another value.
    pub fn set_value(&mut self, at: usize, value: Value) {
        let place = self.value_place(at);
        self.bytes[place..place + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// The place of a key, or the one where it would be.
    pub fn find(&self, key: &[u8]) -> std::result::Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.key(middle).cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// The last entry whose key is not above `key`; the first if there is none.
    pub fn floor(&self, key: &[u8]) -> usize {
        match self.find(key) {
            Ok(at) => at,
            Err(at) => at.saturating_sub(1),
        }
    }

    /// Whether a key of this length fits beside the others.
    pub fn fits(&self, key: usize) -> bool {
        self.free() + self.u16(6) >= PLACE + AROUND + key
    }

    /// Puts an entry, which must fit, before the one at `at`.
    pub fn insert(&mut self, at: usize, key: &[u8], value: Value) {
        let length = AROUND + key.len();
        if self.free() < PLACE + length {
            self.pack();
        }
        let place = self.u16(4) + 1 - length;
        self.set_u16(place, key.len());
        self.bytes[place + 2..place + 2 + key.len()].copy_from_slice(key);
        self.bytes[place + 2 + key.len()..place + length].copy_from_slice(&value.to_le_bytes());
        self.set_u16(4, place - 1);
        let (from, end) = (HEADER + PLACE * at, HEADER + PLACE * self.len());
        self.bytes.copy_within(from..end, from + PLACE);
        self.set_u16(from, place);
        self.set_u16(2, self.len() + 1);
    }

    /// Removes an entry.
    pub fn remove(&mut self, at: usize) {
        let removed = self.u16(6) + AROUND + self.key(at).len();
        let (from, end) = (HEADER + PLACE * at, HEADER + PLACE * self.len());
        self.bytes.copy_within(from + PLACE..end, from);
        self.set_u16(2, self.len() - 1);
        self.set_u16(6, removed);
    }

    /// The entry at which both halves have about as many bytes; at least one entry comes before it,
    /// and it is there.
    pub fn middle(&self) -> usize {
        let length = |at: usize| PLACE + AROUND + self.key(at).len();
        let all: usize = (0..self.len()).map(length).sum();
        let (mut at, mut before) = (0, 0);
        while 2 * before < all {
            before += length(at);
            at += 1;
        }
        at.clamp(1, self.len() - 1)
    }

    /// Takes the entries from `at` on away, as a node of their own.
    pub fn split_off(&mut self, at: usize) -> Node {
        let mut right = Node::new(self.level());
        let mut left = Node::new(self.level());
        for from in 0..self.len() {
            let side = if from < at { &mut left } else { &mut right };
            side.insert(side.len(), self.key(from), self.value(from));
        }
        *self = left;
        right
    }

    /// Bytes between the places and the entries.
    fn free(&self) -> usize {
        (self.u16(4) + 1).saturating_sub(HEADER + PLACE * self.len())
    }

    /// Moves the entries together where some were removed.
    fn pack(&mut self) {
        let mut packed = Node::new(self.level());
        for at in 0..self.len() {
            packed.insert(at, self.key(at), self.value(at));
        }
        *self = packed;
    }

    fn place(&self, at: usize) -> usize {
        self.u16(HEADER + PLACE * at)
    }

    fn value_place(&self, at: usize) -> usize {
        let place = self.place(at);
        place + 2 + self.u16(place)
    }

    fn u16(&self, at: usize) -> usize {
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]) as usize
    }

    fn set_u16(&mut self, at: usize, number: usize) {
        self.bytes[at..at + 2].copy_from_slice(&(number as u16).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_and_go_and_room_is_used_again() {
        let mut node = Node::new(0);
        let key = |number: usize| vec![(number % 251) as u8; 1 + number % 500];
        let mut count = 0;
        for number in 0..3000 {
            match node.find(&key(number)) {
                Ok(at) => node.set_value(at, number as Value),
                Err(at) if node.fits(key(number).len()) => {
                    node.insert(at, &key(number), number as Value);
                    count += 1;
                }
                Err(_) => {
                    node.remove(number % node.len());
                    count -= 1;
                }
            }
            assert_eq!(node.len(), count);
            assert!((1..count).all(|at| node.key(at - 1) < node.key(at)));
        }
        let read = Node::from_bytes(node.bytes.clone()).unwrap();
        let right = node.split_off(count / 2);
        assert_eq!(node.len() + right.len(), count);
        assert_eq!(read.key(count / 2), right.key(0));
        assert_eq!(read.value(count - 1), right.value(right.len() - 1));
    }

    #[test]
    fn a_node_of_other_bytes_is_an_error() {
        assert!(Node::from_bytes(Box::new([255; NODE_BYTES])).is_err());
    }
}
