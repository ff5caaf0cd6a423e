//! External IDs: where the newest document of each is.
//!
//! IDs written since the last flush stand in a map; a flush moves them into the ID tree.

use rustc_hash::FxHashMap;

use crate::base::{Budget, ByteReader, DocId, Reservation, Result, Sequence, put_varint};
use crate::documents::DocumentRecord;

/// Memory of a place in the map, and of its control byte.
const PLACE_BYTES: usize = size_of::<(Box<str>, Option<IdEntry>)>() + 1;

/// Memory that an ID takes beside its place and its own bytes: the allocator's rounding, and its place in
/// the order in which a flush takes the IDs.
const ID_OVERHEAD: usize = 16 + size_of::<&[u8]>();

/// What an ID takes in a leaf beside its own bytes, and more.
pub(super) const ENTRY_BYTES: usize = 96;

/// Bytes that are reserved at once, so that the shared count is not touched for each document.
const RESERVED_AHEAD: usize = 64 << 10;

/// What the index knows of an external ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdEntry {
    pub(super) doc: DocId,
    /// 1 for the first document with this ID, one more for each replacement.
    pub(super) version: u64,
    /// The operation that wrote it.
    pub(super) sequence: Sequence,
}

impl IdEntry {
    /// The entry of a stored document.
    pub(super) fn of(record: &DocumentRecord<'_>) -> IdEntry {
        IdEntry {
            doc: record.doc,
            version: record.version,
            sequence: record.sequence,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(12);
        put_varint(&mut out, self.doc as u64);
        put_varint(&mut out, self.version);
        put_varint(&mut out, self.sequence);
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<IdEntry> {
        let mut reader = ByteReader::new(bytes, "an entry of the ID tree");
        Ok(IdEntry {
            doc: reader.varint_u32()?,
            version: reader.varint()?,
            sequence: reader.varint()?,
        })
    }
}

/// The IDs written or removed since the last flush.
#[derive(Debug)]
pub(super) struct NewIds {
    /// `None` where the ID was removed.
    map: FxHashMap<Box<str>, Option<IdEntry>>,
    key_bytes: usize,
    reservation: Reservation,
}

impl NewIds {
    pub(super) fn new(budget: &Budget) -> Result<NewIds> {
        Ok(NewIds {
            map: FxHashMap::default(),
            key_bytes: 0,
            reservation: budget.reserve("the IDs of new documents", 0)?,
        })
    }

    /// Reserves memory for so many more IDs of so many bytes in all.
    pub(super) fn reserve_for(&mut self, ids: usize, bytes: usize) -> Result<()> {
        let length = self.map.len() + ids;
        let mut places = places_for(self.map.capacity());
        if length > self.map.capacity() {
            // The map is copied into one of twice the size.
            places += places_for(length.max(2 * self.map.capacity()));
        }
        let needed = places * PLACE_BYTES + length * ID_OVERHEAD + self.key_bytes + bytes;
        match needed > self.reservation.bytes() {
            true => self.reservation.grow_to(needed + RESERVED_AHEAD),
            false => Ok(()),
        }
    }

    /// Bytes that entries of these IDs take on flash at most, about.
    pub(super) fn entry_bytes(&self) -> usize {
        self.map.len() * ENTRY_BYTES + self.key_bytes
    }

    /// Whether there are any.
    pub(super) fn has_any(&self) -> bool {
        !self.map.is_empty()
    }

    /// What is known here of an ID: nothing, that it was removed, or its entry.
    pub(super) fn get(&self, id: &str) -> Option<Option<IdEntry>> {
        self.map.get(id).copied()
    }

    pub(super) fn insert(&mut self, id: &str, entry: IdEntry) -> Result<()> {
        self.put(id, Some(entry))
    }

    pub(super) fn remove(&mut self, id: &str) -> Result<()> {
        self.put(id, None)
    }

    fn put(&mut self, id: &str, entry: Option<IdEntry>) -> Result<()> {
        if let Some(known) = self.map.get_mut(id) {
            *known = entry;
            return Ok(());
        }
        self.reserve_for(1, id.len())?;
        self.map.insert(id.into(), entry);
        self.key_bytes += id.len();
        Ok(())
    }

    /// Bytes of memory, with those that a flush will take to sort them.
    pub(super) fn memory_bytes(&self) -> usize {
        let places = places_for(self.map.capacity());
        places * PLACE_BYTES + self.map.len() * ID_OVERHEAD + self.key_bytes
    }

    /// How many IDs it leads from to a document.
    pub(super) fn documents(&self) -> u64 {
        self.map.values().flatten().count() as u64
    }

    /// The IDs in order, as keys.
    pub(super) fn sorted(&self) -> Vec<&[u8]> {
        let mut all: Vec<&[u8]> = self.map.keys().map(|id| id.as_bytes()).collect();
        all.sort_unstable();
        all
    }

    /// The entry of one of the keys; none where the ID was removed.
    pub(super) fn entry(&self, key: &[u8]) -> Option<IdEntry> {
        let id = std::str::from_utf8(key).ok()?;
        self.get(id).flatten()
    }
}

/// Places of a map that has room for so many IDs: it is at most seven eighths full.
fn places_for(capacity: usize) -> usize {
    match capacity {
        0 => 0,
        _ => (capacity * 8).div_ceil(7).next_power_of_two(),
    }
}
