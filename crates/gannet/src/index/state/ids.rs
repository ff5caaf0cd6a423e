//! External IDs: where the newest document of each is.
//!
//! IDs written since the last flush stand in a map; a flush makes a run of them.

use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustc_hash::FxHashMap;

use crate::base::{Budget, ByteReader, DocId, Reservation, Result, Sequence, put_varint};
use crate::documents::DocumentRecord;

/// Memory of a place in the map, and of its control byte.
const PLACE_BYTES: usize = size_of::<(Box<str>, Option<IdEntry>)>() + 1;

/// Memory that an ID takes beside its place and its own bytes: the allocator's rounding, and its
/// place in the order in which a flush takes the IDs.
const ID_OVERHEAD: usize = 16 + size_of::<&[u8]>();

/// Memory that an ID takes in the map of earlier documents beside its own bytes.
const EARLIER_OVERHEAD: usize = 128;

/// The greatest number of bytes of an ID in a leaf beside its own.
const ENTRY_BYTES: usize = 96;

/// Bytes that are reserved at once, so that the shared count is not touched for each document.
const RESERVED_AHEAD: usize = 64 << 10;

/// Memory that the number of an earlier document takes, with room that a vector keeps.
const EARLIER_BYTES: usize = 16;

/// The entry of an external ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdEntry {
    pub(crate) doc: DocId,
    /// 1 for the first document with this ID, one more for each replacement.
    pub(crate) version: u64,
    /// The operation that wrote it.
    pub(crate) sequence: Sequence,
}

impl IdEntry {
    /// The entry of a stored document.
    pub(crate) fn of(record: &DocumentRecord<'_>) -> IdEntry {
        IdEntry {
            doc: record.doc,
            version: record.version,
            sequence: record.sequence,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(12);
        put_varint(&mut out, self.doc as u64);
        put_varint(&mut out, self.version);
        put_varint(&mut out, self.sequence);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<IdEntry> {
        let mut reader = ByteReader::new(bytes, "an entry of a run of IDs");
        Ok(IdEntry {
            doc: reader.varint_u32()?,
            version: reader.varint()?,
            sequence: reader.varint()?,
        })
    }
}

/// The IDs written or removed since the last flush.
///
/// One writer changes them while snapshots look: a document of a batch that is not published yet,
/// or later, has a number that is not below a snapshot's mark.
#[derive(Debug)]
pub(crate) struct NewIds {
    known: RwLock<Known>,
}

/// The entries of IDs in memory.
#[derive(Debug)]
pub(crate) struct Known {
    /// `None` where the ID was removed.
    map: FxHashMap<Box<str>, Option<IdEntry>>,
    /// Documents that others followed, or that were removed, for snapshots from before; ascending.
    earlier: FxHashMap<Box<str>, Vec<DocId>>,
    /// Bytes of the IDs of the map.
    key_bytes: usize,
    /// Memory that `earlier` takes.
    earlier_bytes: usize,
    reservation: Reservation,
}

impl NewIds {
    pub(crate) fn new(budget: &Budget) -> Result<NewIds> {
        let known = Known {
            map: FxHashMap::default(),
            earlier: FxHashMap::default(),
            key_bytes: 0,
            earlier_bytes: 0,
            reservation: budget.reserve("the IDs of new documents", 0)?,
        };
        Ok(NewIds {
            known: RwLock::new(known),
        })
    }

    /// Reserves memory for so many more IDs of so many bytes in all, each of which may be known
    /// already.
    pub(crate) fn reserve_for(&self, ids: usize, bytes: usize) -> Result<()> {
        let earlier = ids * (EARLIER_OVERHEAD + EARLIER_BYTES) + bytes;
        self.change().reserve(ids, bytes, earlier)
    }

    /// Returns true if there are any.
    pub(crate) fn has_any(&self) -> bool {
        !self.read().map.is_empty()
    }

    /// Bytes that entries of these IDs take on flash at most, about.
    pub(crate) fn entry_bytes(&self) -> usize {
        let known = self.read();
        known.map.len() * ENTRY_BYTES + known.key_bytes
    }

    /// Returns the number of IDs that it leads from to a document.
    pub(crate) fn documents(&self) -> u64 {
        self.read().map.values().flatten().count() as u64
    }

    /// Returns its knowledge of an ID: nothing, that it was removed, or its entry.
    pub(crate) fn get(&self, id: &str) -> Option<Option<IdEntry>> {
        self.read().map.get(id).copied()
    }

    /// The newest document below `below` that was written with an ID; it may be deleted.
    pub(crate) fn document(&self, id: &str, below: DocId) -> Option<DocId> {
        let known = self.read();
        let newest = known.map.get(id)?.map(|entry| entry.doc);
        let earlier = known.earlier.get(id).into_iter().flatten().copied();
        let mut all = earlier.chain(newest).filter(|doc| *doc < below);
        all.next_back()
    }

    /// Shows all IDs, each with its documents.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(&str, DocId)) {
        let known = self.read();
        for (id, docs) in &known.earlier {
            docs.iter().for_each(|doc| visit(id, *doc));
        }
        for (id, entry) in &known.map {
            if let Some(entry) = entry {
                visit(id, entry.doc);
            }
        }
    }

    pub(crate) fn insert(&self, id: &str, entry: IdEntry) -> Result<()> {
        self.change().put(id, Some(entry))
    }

    pub(crate) fn remove(&self, id: &str) -> Result<()> {
        self.change().put(id, None)
    }

    /// Bytes of memory, with those that a flush will take to sort them.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.read().memory_bytes()
    }

    /// Keeps all as it is while it is looked at.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(|e| e.into_inner())
    }

    fn change(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(|e| e.into_inner())
    }
}

impl Known {
    /// The IDs in order, as keys.
    pub(crate) fn sorted(&self) -> Vec<&[u8]> {
        let mut all: Vec<&[u8]> = self.map.keys().map(|id| id.as_bytes()).collect();
        all.sort_unstable();
        all
    }

    /// The entry of one of the keys; none where the ID was removed.
    pub(crate) fn entry(&self, key: &[u8]) -> Option<IdEntry> {
        let id = std::str::from_utf8(key).ok()?;
        self.map.get(id).copied().flatten()
    }

    fn memory_bytes(&self) -> usize {
        let places = places_for(self.map.capacity()) * PLACE_BYTES;
        places + self.map.len() * ID_OVERHEAD + self.key_bytes + self.earlier_bytes
    }

    fn put(&mut self, id: &str, entry: Option<IdEntry>) -> Result<()> {
        if let Some(known) = self.map.get_mut(id) {
            let old = std::mem::replace(known, entry);
            return old.map_or(Ok(()), |old| self.keep_earlier(id, old.doc));
        }
        self.reserve(1, id.len(), 0)?;
        self.map.insert(id.into(), entry);
        self.key_bytes += id.len();
        Ok(())
    }

    fn keep_earlier(&mut self, id: &str, doc: DocId) -> Result<()> {
        let is_new = !self.earlier.contains_key(id);
        let overhead = if is_new {
            id.len() + EARLIER_OVERHEAD
        } else {
            0
        };
        self.reserve(0, 0, overhead + EARLIER_BYTES)?;
        self.earlier_bytes += overhead + EARLIER_BYTES;
        match self.earlier.get_mut(id) {
            Some(docs) => docs.push(doc),
            None => drop(self.earlier.insert(id.into(), vec![doc])),
        }
        Ok(())
    }

    /// Reserves memory for so many more IDs of so many bytes, and so much more for earlier
    /// documents.
    fn reserve(&mut self, ids: usize, bytes: usize, earlier: usize) -> Result<()> {
        let mut needed = self.memory_bytes() + ids * ID_OVERHEAD + bytes + earlier;
        if self.map.len() + ids > self.map.capacity() {
            // The map is copied into one of twice the size.
            let length = (self.map.len() + ids).max(2 * self.map.capacity());
            needed += places_for(length) * PLACE_BYTES;
        }
        if needed > self.reservation.bytes() {
            self.reservation.grow_to(needed + RESERVED_AHEAD)
        } else {
            Ok(())
        }
    }
}

/// Places of a map that has room for so many IDs: it is at most seven eighths full.
fn places_for(capacity: usize) -> usize {
    match capacity {
        0 => 0,
        _ => (capacity * 8).div_ceil(7).next_power_of_two(),
    }
}
