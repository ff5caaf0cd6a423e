//! External IDs: where the newest document of each is.
//!
//! IDs written since the last flush stand in a map; a flush moves them into the ID tree.

use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustc_hash::FxHashMap;

use crate::base::{Budget, ByteReader, DocId, Reservation, Result, Sequence, put_varint};
use crate::documents::DocumentRecord;

/// Memory that an ID takes in the map beside its own bytes.
const ID_OVERHEAD: usize = 96;

/// Memory that the number of an earlier document takes, with room that a vector keeps.
const EARLIER_BYTES: usize = 16;

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
///
/// One writer changes them while snapshots look: a document of a batch that is not published yet,
/// or later, has a number that is not below a snapshot's mark.
#[derive(Debug)]
pub(super) struct NewIds {
    known: RwLock<Known>,
}

/// What is known of the IDs.
#[derive(Debug)]
pub(super) struct Known {
    /// `None` where the ID was removed.
    map: FxHashMap<Box<str>, Option<IdEntry>>,
    /// Documents that others followed, or that were removed, for snapshots from before; ascending.
    earlier: FxHashMap<Box<str>, Vec<DocId>>,
    bytes: usize,
    reservation: Reservation,
}

impl NewIds {
    pub(super) fn new(budget: &Budget) -> Result<NewIds> {
        let known = Known {
            map: FxHashMap::default(),
            earlier: FxHashMap::default(),
            bytes: 0,
            reservation: budget.reserve("the IDs of new documents", 0)?,
        };
        Ok(NewIds {
            known: RwLock::new(known),
        })
    }

    /// Reserves memory for so many more IDs of so many bytes in all, each of which may be known
    /// already.
    pub(super) fn reserve_for(&self, ids: usize, bytes: usize) -> Result<()> {
        let each = 2 * ID_OVERHEAD + EARLIER_BYTES;
        self.change().reserve(ids * each + 2 * bytes)
    }

    /// What is known here of an ID: nothing, that it was removed, or its entry.
    pub(super) fn get(&self, id: &str) -> Option<Option<IdEntry>> {
        self.read().map.get(id).copied()
    }

    /// The newest document below `below` that was written with an ID; it may be deleted.
    pub(super) fn document(&self, id: &str, below: DocId) -> Option<DocId> {
        let known = self.read();
        let newest = known.map.get(id)?.map(|entry| entry.doc);
        let earlier = known.earlier.get(id).into_iter().flatten().copied();
        let mut all = earlier.chain(newest).filter(|doc| *doc < below);
        all.next_back()
    }

    pub(super) fn insert(&self, id: &str, entry: IdEntry) -> Result<()> {
        self.change().put(id, Some(entry))
    }

    pub(super) fn remove(&self, id: &str) -> Result<()> {
        self.change().put(id, None)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.read().bytes
    }

    /// Keeps all as it is while it is looked at.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(|e| e.into_inner())
    }

    fn change(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(|e| e.into_inner())
    }
}

impl Known {
    /// All changes in the order of the IDs.
    pub(super) fn sorted(&self) -> Vec<(&str, Option<IdEntry>)> {
        let mut all: Vec<_> = self.map.iter().map(|(id, entry)| (&**id, *entry)).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    fn put(&mut self, id: &str, entry: Option<IdEntry>) -> Result<()> {
        if let Some(known) = self.map.get_mut(id) {
            let old = std::mem::replace(known, entry);
            return old.map_or(Ok(()), |old| self.keep_earlier(id, old.doc));
        }
        self.take(id.len() + ID_OVERHEAD)?;
        self.map.insert(id.into(), entry);
        Ok(())
    }

    fn keep_earlier(&mut self, id: &str, doc: DocId) -> Result<()> {
        let is_new = !self.earlier.contains_key(id);
        let overhead = if is_new { id.len() + ID_OVERHEAD } else { 0 };
        self.take(overhead + EARLIER_BYTES)?;
        match self.earlier.get_mut(id) {
            Some(docs) => docs.push(doc),
            None => drop(self.earlier.insert(id.into(), vec![doc])),
        }
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> Result<()> {
        self.reserve(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    fn reserve(&mut self, bytes: usize) -> Result<()> {
        let needed = self.bytes + bytes;
        match needed > self.reservation.bytes() {
            // In steps, so that the shared count is not touched for each document.
            true => self.reservation.grow_to(needed + (64 << 10)),
            false => Ok(()),
        }
    }
}
