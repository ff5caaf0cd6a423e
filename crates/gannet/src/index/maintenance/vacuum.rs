//! Vacuum: what deleted documents have left in lists, columns, tables and statistics goes, in
//! *sweeps* over the whole index.
//!
//! ```text
//! flush: sweep begins ──▶ lists and then columns are swept, a slice in each flush
//!     ──▶ tables forget, a slice in each checkpoint ──▶ statistics
//! ```
//!
//! A sweep begins at the end of a flush, so that no posting of the documents it takes out is
//! anywhere but in the dictionary. It takes out those that were deleted before; what is deleted
//! meanwhile is left to the next. A deleted document counts in the statistics until the sweep that
//! took it out ends, as in Lucene until a merge has.
//!
//! Sweep progress is not persisted, only its effect: a sweep starts again when the index is opened,
//! with the same documents and more. So when a sweep ends, all that those documents had was taken
//! out, by it or by earlier ones.

use crate::analysis::{Schema, split_term_key};
use crate::base::{DocId, Error, PhraseFilters, Result};
use crate::cache::Pages;
use crate::columns::{ColumnSweep, SweepLimits};
use crate::documents::DocumentTables;
use crate::index::flush::{Flusher, Sweep, TableNorms, Vacuum};
use crate::index::schedule::{Requests, VacuumPolicy};
use crate::index::state::{Phase, Shared, State, no_space, statistics_of};
use crate::index::write::CheckpointMaintenance;
use crate::postings::{
    ChunkStreams, DeadDocs, SweepItem, SweepProgress, Sweeper, SweptEntry, sweep_bytes,
    vacuum_window,
};
use crate::search::FieldStatistics;
use crate::storage::{PageKind, Store};

/// A sweep beside writing is to end before one in so many documents more is deleted: so for each
/// the bytes of ten are read, as long as it lasts, and of four in all.
const SWEEP_ONE_OF: u64 = 10;

/// The most that a slice reads.
const SLICE_BYTES_MAX: u64 = 64 << 20;

/// The least number of bytes that a slice reads if there is little space, and the factor of what it
/// may write for each.
const SLICE_BYTES_MIN: u64 = 32 << 10;
const SLICE_COST: u64 = 2;

/// Norms that the tables forget in one checkpoint, some hundred pages; but some pages of each field
/// at least.
const FORGOTTEN_AT_ONCE: DocId = 1 << 20;
const FORGOTTEN_AT_LEAST: DocId = 1 << 14;

impl Vacuum {
    /// Begins a sweep if none is under way.
    fn begin(
        &mut self,
        policy: VacuumPolicy,
        shared: &Shared,
        tables: &DocumentTables,
    ) -> Result<()> {
        if self.sweep.is_some() || tables.deleted_count() <= self.so_far.documents {
            return Ok(());
        }
        let end = tables.end();
        let memory = DeadDocs::memory_bytes(end);
        let reserved = shared.budget.reserve("a vacuum", memory);
        let memory = match reserved {
            Ok(memory) => memory,
            // Writing must not stop for it. It is tried again with the next flush; who asked for it
            // is told.
            Err(error) => {
                self.rejected = Some(error).filter(|_| policy.tells);
                return Ok(());
            }
        };
        let mut pages = Pages::new(&shared.pool);
        let dead = DeadDocs::new(&tables.deletions(end, &mut pages)?);
        check_count(&dead, tables.deleted_count())?;
        self.deleted = tables.deleted_count();
        self.sweep = Some(Sweep {
            dead,
            end,
            lists: SweepProgress::default(),
            lists_are_done: false,
            columns: ColumnSweep::new(!self.knows_strings),
            columns_are_done: false,
            forgotten: 0,
            _memory: memory,
        });
        Ok(())
    }

    /// Bytes that the next slice reads.
    fn slice_bytes(
        &mut self,
        policy: VacuumPolicy,
        shared: &Shared,
        tables: &DocumentTables,
    ) -> u64 {
        let more = tables.deleted_count().saturating_sub(self.deleted);
        self.deleted = tables.deleted_count();
        let documents = (tables.end() as u64)
            .saturating_sub(self.so_far.documents)
            .max(1);
        let share = (more * SWEEP_ONE_OF) as f64 / documents as f64;
        let all = list_bytes(&shared.store) as f64;
        let bytes = shared.options.limits.vacuum_bytes;
        let bytes = bytes.map(|bytes| bytes.max(1));
        bytes.unwrap_or(((all * share) as u64).clamp(policy.slice_bytes, SLICE_BYTES_MAX))
    }
}

/// Fails where the live set has other documents than are counted: a sweep that takes out fewer
/// would be begun again for ever.
fn check_count(dead: &DeadDocs, counted: u64) -> Result<()> {
    if dead.count() == counted {
        Ok(())
    } else {
        let got = dead.count();
        let reason = format!("expected {counted} deleted documents as counted, got {got}");
        Err(Error::damaged("live set", reason))
    }
}

/// Bytes of all lists.
fn list_bytes(store: &Store) -> u64 {
    let zones = store.zones();
    let lists = zones
        .iter()
        .filter(|(_, zone)| matches!(zone.kind, PageKind::Postings | PageKind::Node));
    lists.map(|(_, zone)| zone.live).sum()
}

impl Flusher {
    /// Sweeps the next slice of lists or columns, if one is due.
    pub(crate) fn vacuum(
        &mut self,
        asked: Requests,
        shared: &Shared,
        tables: &DocumentTables,
    ) -> Result<()> {
        let Some(policy) = asked.vacuum(&self.condition(shared, tables)) else {
            return Ok(());
        };
        self.vacuum.begin(policy, shared, tables)?;
        let wanted = self.vacuum.slice_bytes(policy, shared, tables);
        let Some(sweep) = self
            .vacuum
            .sweep
            .as_mut()
            .filter(|sweep| !sweep.columns_are_done)
        else {
            return Ok(());
        };
        let cost = wanted.saturating_mul(SLICE_COST);
        // The strings of a column leave it in one slice.
        let at_once = if sweep.lists_are_done {
            self.columns.leaf_bytes()
        } else {
            0
        };
        let claim = shared.room.claim(cost.max(at_once), policy.room_one_of)?;
        let bytes = wanted.min(claim.bytes() / SLICE_COST);
        let least = wanted.min(SLICE_BYTES_MIN);
        if bytes < least {
            // Writing must not stop for it either.
            let needed = least * SLICE_COST * policy.room_one_of;
            let rejected = || no_space(claim.bytes() * policy.room_one_of, needed, "to vacuum");
            self.vacuum.rejected = policy.tells.then(rejected);
            return Ok(());
        }
        shared.options.limits.enter(Phase::Vacuum);
        if sweep.lists_are_done {
            let limits = SweepLimits {
                bytes,
                room: claim.bytes(),
                budget: &shared.budget,
            };
            let is_dead = |doc: DocId| sweep.dead.has(doc);
            let goes_on =
                self.columns
                    .sweep(&shared.pool, &mut sweep.columns, &is_dead, &limits)?;
            sweep.columns_are_done = !goes_on;
            self.vacuum.knows_strings |= !goes_on;
            return Ok(());
        }
        self.terms.flush()?;
        self.postings.flush()?;
        let pool = &shared.pool;
        let mut lists = ListSweeper {
            dead: &sweep.dead,
            postings: &self.postings,
            store: &shared.store,
            norms: TableNorms { tables, pool },
            schema: &shared.preparation.fields.written(),
            taken: &mut self.vacuum.so_far.taken,
        };
        let goes_on = self
            .terms
            .sweep(pool, &mut sweep.lists, bytes, &mut lists)?;
        sweep.lists_are_done = !goes_on;
        Ok(())
    }
}

/// Takes the postings of dead documents out of lists.
struct ListSweeper<'a> {
    dead: &'a DeadDocs,
    postings: &'a ChunkStreams,
    store: &'a Store,
    norms: TableNorms<'a>,
    schema: &'a Schema,
    taken: &'a mut Vec<FieldStatistics>,
}

impl Sweeper for ListSweeper<'_> {
    fn bytes(&self, entry: &[u8]) -> Result<u64> {
        sweep_bytes(entry, self.dead)
    }

    fn sweep(&mut self, entries: &[(&[u8], &[u8])]) -> Result<Vec<SweptEntry>> {
        let mut items = Vec::with_capacity(entries.len());
        for (key, entry) in entries {
            let (field, _) = split_term_key(key)?;
            let options = self.schema.field(field).map(|field| field.options);
            items.push(SweepItem {
                field,
                filters: options.map_or(PhraseFilters::None, |o| o.phrase_filters()),
                key_bytes: key.len(),
                entry,
            });
        }
        let swept = vacuum_window(self.store, self.postings, &self.norms, self.dead, &items)?;
        let mut changed = Vec::with_capacity(swept.len());
        for (item, swept) in items.iter().zip(swept) {
            if swept.tokens > 0 {
                statistics_of(self.taken, item.field).total_length += swept.tokens;
            }
            changed.push(swept.entry);
        }
        Ok(changed)
    }
}

impl CheckpointMaintenance<'_> {
    /// Has the tables forget the next documents of a sweep whose lists are swept. Behind the last,
    /// the statistics do too.
    pub(crate) fn forget(&mut self) -> Result<()> {
        let Vacuum {
            so_far,
            sweep,
            rejected,
            ..
        } = &mut self.flusher.vacuum;
        if let Some(under_way) = sweep.as_mut().filter(|sweep| sweep.columns_are_done) {
            let first = under_way.forgotten;
            let fields = self.state.statistics.len().max(1) as DocId;
            let some = (FORGOTTEN_AT_ONCE / fields).max(FORGOTTEN_AT_LEAST);
            let end = under_way.end.min(first.saturating_add(some));
            let dead = &under_way.dead;
            let are_dead = |first: DocId, last: DocId| dead.has_all(first, last);
            let mut pages = Pages::new(&self.shared.pool);
            let had = self
                .state
                .tables
                .forget(first, end - 1, &are_dead, &mut pages)?;
            for (field, documents) in had.into_iter().filter(|(_, documents)| *documents > 0) {
                statistics_of(&mut so_far.taken, field).documents += documents;
            }
            under_way.forgotten = end;
            if end == under_way.end {
                so_far.documents = dead.count();
                self.state.take_out(&std::mem::take(&mut so_far.taken))?;
                *sweep = None;
            }
        }
        self.state.vacuumed = so_far.clone();
        let gone = so_far.documents;
        self.scheduler
            .note_vacuum(sweep.is_some(), gone, rejected.take());
        Ok(())
    }
}

impl State {
    /// Takes what a sweep took out of lists and tables out of the statistics.
    fn take_out(&mut self, taken: &[FieldStatistics]) -> Result<()> {
        for (field, taken) in (0..).zip(taken) {
            let statistics = self.statistics_mut(field);
            let left = |all: u64, gone: u64| {
                all.checked_sub(gone).ok_or_else(|| {
                    let got = format!("expected at least {gone} to be counted, got {all}");
                    Error::damaged(format!("statistics of field {field}"), got)
                })
            };
            statistics.documents = left(statistics.documents, taken.documents)?;
            statistics.total_length = left(statistics.total_length, taken.total_length)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::device::MemoryDevice;
    use crate::documents::Document;
    use crate::index::{Index, MEMORY_MIN, Options};

    fn write(index: &Index, words: &str) -> Result<()> {
        let ids = 0..200;
        let documents = ids.map(|id| Document::new(id.to_string(), [("body", words)]));
        index.write(documents.collect::<Result<_>>()?).map(drop)
    }

    #[test]
    fn a_vacuum_without_memory_is_rejected_and_writing_goes_on() {
        let options = Options::default().memory(MEMORY_MIN);
        let index = Index::open_on(Arc::new(MemoryDevice::new()), Path::new("test"), options);
        let index = index.unwrap();
        write(&index, "one two").unwrap();
        write(&index, "three").unwrap();
        index.checkpoint().unwrap();
        // What is left is enough for the flush, and not for a bit a document.
        let budget = &index.shared().budget;
        let flush = index.shared().memory.flush.bytes();
        let held = budget.total() - budget.used() - flush - 8;
        let held = budget.reserve("a test", held).unwrap();
        let error = index.vacuum().expect_err("no memory");
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        drop(held);
        write(&index, "four").unwrap();
        while index.vacuum().unwrap() {}
        assert_eq!(index.stats().unwrap().dead_documents, 0);
    }
}
