//! External IDs: where the newest document of each is.
//!
//! IDs written since the last flush stand in a map; a flush moves them into the ID tree.

use rustc_hash::FxHashMap;

use crate::base::{Budget, ByteReader, DocId, Reservation, Result, Sequence, put_varint};
use crate::documents::DocumentRecord;

/// Memory that an ID takes in the map beside its own bytes.
const ID_OVERHEAD: usize = 96;

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
        let needed = self.memory_bytes() + ids * ID_OVERHEAD + bytes;
        match needed > self.reservation.bytes() {
            // In steps, so that the shared count is not touched for each document.
            true => self.reservation.grow_to(needed + (64 << 10)),
            false => Ok(()),
        }
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

    pub(super) fn memory_bytes(&self) -> usize {
        self.key_bytes + self.map.len() * ID_OVERHEAD
    }

    /// How many IDs it leads from to a document.
    pub(super) fn documents(&self) -> u64 {
        self.map.values().flatten().count() as u64
    }

    /// All changes in the order of the IDs.
    pub(super) fn sorted(&self) -> Vec<(&str, Option<IdEntry>)> {
        let mut all: Vec<_> = self.map.iter().map(|(id, entry)| (&**id, *entry)).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }
}
