//! Entries of one or several neighbouring nodes, unpacked into one allocation.

use super::NodeId;
use super::cursor::Cursor;
use super::node::{CHILD_BYTES, Node, RESTART_EVERY, common_prefix};
use crate::base::{Result, varint_length};

/// Sorted keys with values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    bytes: Vec<u8>,
    slots: Vec<EntrySlot>,
}

/// One entry: its key at `at`, its value right behind.
#[derive(Clone, Copy, Debug)]
struct EntrySlot {
    at: u32,
    key: u16,
    value: u16,
    /// Bytes shared with the key before.
    shared: u16,
}

impl Entries {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(crate) fn key(&self, ordinal: usize) -> &[u8] {
        let slot = self.slots[ordinal];
        &self.bytes[slot.at as usize..][..slot.key as usize]
    }

    pub(crate) fn value(&self, ordinal: usize) -> &[u8] {
        let slot = self.slots[ordinal];
        &self.bytes[slot.at as usize + slot.key as usize..][..slot.value as usize]
    }

    /// Bytes that a key shares with the one before it.
    pub(crate) fn shared(&self, ordinal: usize) -> usize {
        self.slots[ordinal].shared as usize
    }

    /// Adds an entry, whose key is above all others. Key and value are within the limits of a node.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        let shared = match self.slots.len() {
            0 => 0,
            count => common_prefix(self.key(count - 1), key),
        };
        self.push_sharing(shared, key, value);
    }

    /// The same with a key that is known to share so many bytes with the one before.
    fn push_sharing(&mut self, shared: usize, key: &[u8], value: &[u8]) {
        self.slots.push(EntrySlot {
            at: self.bytes.len() as u32,
            key: key.len() as u16,
            value: value.len() as u16,
            shared: shared as u16,
        });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
    }

    /// Adds a child of an inner node. The first one takes `lower`, the lower bound of the node, as
    /// its key: whatever child stands there answers for all keys from that bound on.
    pub(crate) fn push_child(&mut self, lower: &[u8], key: &[u8], child: NodeId) {
        let key = if self.is_empty() { lower } else { key };
        self.push(key, &child.to_le_bytes());
    }

    /// Adds all entries of `other`, the first taking `lower` if nothing was before it.
    pub(crate) fn push_all(&mut self, other: &Entries, lower: Option<&[u8]>) {
        if other.is_empty() {
            return;
        }
        let first = match lower {
            Some(lower) if self.is_empty() => lower,
            _ => other.key(0),
        };
        self.push(first, other.value(0));
        if other.len() == 1 {
            return;
        }
        // The second may follow another key than it did.
        self.push(other.key(1), other.value(1));
        for ordinal in 2..other.len() {
            let shared = other.shared(ordinal);
            self.push_sharing(shared, other.key(ordinal), other.value(ordinal));
        }
    }

    /// Adds all entries of a node.
    pub(crate) fn push_node(&mut self, node: &Node<'_>) -> Result<()> {
        let mut cursor = Cursor::new();
        while cursor.advance(node)? {
            self.push(&cursor.key, node.value(cursor.value.clone()));
        }
        Ok(())
    }

    /// Bytes that entry `ordinal` takes as the `within`-th of a node of `level`, its restart
    /// included.
    pub(crate) fn cost(&self, ordinal: usize, within: usize, level: usize) -> usize {
        let slot = self.slots[ordinal];
        let (key, value) = (slot.key as usize, slot.value as usize);
        let value = match level {
            0 => varint_length(value as u64) + value,
            _ => CHILD_BYTES,
        };
        let (shared, restart) = if within.is_multiple_of(RESTART_EVERY) {
            (0, 2)
        } else {
            (slot.shared as usize, 0)
        };
        let suffix = key - shared;
        varint_length(shared as u64) + varint_length(suffix as u64) + suffix + value + restart
    }
}
