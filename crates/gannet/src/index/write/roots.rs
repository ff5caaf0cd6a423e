//! The roots that a writer writes: the newest, what it knows, and the openings that led to it.
//!
//! Order matters: the record is written, then everything that was written before is synced, then
//! the slot names the record. Only then does the root count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::{Error, Result, Sequence, Span};
use crate::storage::{
    History, LogStart, PageKind, RootSlot, SlotKind, Store, StreamWriter, Unsynced, write_slot,
};

/// The roots of an index that is written.
pub(crate) struct Roots {
    store: Arc<Store>,
    records: StreamWriter,
    /// The record of the newest root.
    newest: Option<Span>,
    generation: u64,
    /// The last operation that the newest root knows, and when that was written or found.
    known: (Sequence, Instant),
    /// The end of the log that the newest root covers; nothing if there may be more behind it.
    covers: Option<LogStart>,
    /// The openings for writing that led here, this one included.
    history: History,
    /// The unsynced bytes that syncs have taken since the last root; they may still be under way.
    syncing: Unsynced,
}

impl Roots {
    /// Goes on behind the root of a slot, if there is one, which knows operations up to `known`,
    /// and the log up to `covers` if nothing is behind that.
    pub(crate) fn resume(
        store: &Arc<Store>,
        slot: Option<&RootSlot>,
        known: Sequence,
        covers: Option<LogStart>,
    ) -> Roots {
        Roots {
            store: Arc::clone(store),
            records: StreamWriter::new(Arc::clone(store), PageKind::Root),
            newest: slot.map(|slot| slot.root),
            generation: slot.map_or(0, |slot| slot.generation),
            known: (known, Instant::now()),
            covers,
            history: slot.map_or_else(History::default, |slot| slot.history.clone()),
            syncing: Unsynced::default(),
        }
    }

    /// Notes an opening with this number.
    pub(crate) fn open(&mut self, number: u64) {
        self.history.open(number, self.generation + 1);
    }

    /// Returns the generation of the newest root, or of one that is being written.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Begins another root. Gives its generation.
    pub(super) fn begin(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    /// Has the next root wait for what was written out, whoever syncs it.
    pub(super) fn wait_for(&mut self, unsynced: Unsynced) {
        self.syncing.join(unsynced);
    }

    /// Writes the record and the slot of the root that was begun. It is durable when this returns.
    pub(super) fn write(&mut self, record: &[u8]) -> Result<Span> {
        let root = self.records.append(record)?;
        self.records.flush()?;
        self.syncing.join(self.records.take_unsynced());
        // A root must not refer to what another thread's sync has taken and not finished.
        let unsynced = std::mem::take(&mut self.syncing);
        self.store.sync(&unsynced)?;
        write_slot(self.store.device(), &self.slot_of(root))?;
        Ok(root)
    }

    /// Notes the newest root, which knows so many operations and covers the log up to `covers`.
    pub(super) fn note(&mut self, root: Span, known: Sequence, covers: LogStart) {
        self.known = (known, Instant::now());
        self.covers = Some(covers);
        if let Some(old) = self.newest.replace(root) {
            self.store.release_span(old);
        }
    }

    /// Returns the slot of the newest root.
    pub(super) fn slot(&self) -> Result<RootSlot> {
        let missing = || Error::damaged("the superblock", "expected a root, got none");
        Ok(self.slot_of(self.newest.ok_or_else(missing)?))
    }

    /// Returns true if the newest root has all of the log up to `end`.
    pub(super) fn cover(&self, end: LogStart) -> bool {
        self.covers == Some(end)
    }

    /// Returns true if the newest root knows all operations up to this one.
    pub(super) fn know(&self, sequence: Sequence) -> bool {
        self.known.0 == sequence
    }

    /// Returns the age of the newest root.
    pub(super) fn age(&self) -> Duration {
        self.known.1.elapsed()
    }

    /// Returns the bytes of the newest record.
    pub(super) fn record_bytes(&self) -> u64 {
        self.newest.map_or(0, |root| root.length as u64)
    }

    /// Tells readers that the newest root has all of the log that was found when the index was
    /// opened.
    pub(super) fn tell_readers(&self) {
        if let Some(readers) = self.store.device().readers() {
            readers.note_root();
        }
    }

    fn slot_of(&self, root: Span) -> RootSlot {
        RootSlot {
            identity: self.store.identity(),
            generation: self.generation,
            root,
            kind: SlotKind::Index,
            history: self.history.clone(),
        }
    }
}
