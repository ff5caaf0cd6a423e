//! Checkpoint: the writer's side of a flush, from the frozen buffer to the root that makes all of
//! it durable. `flush` tells how both go together, and in which order a root is written.

use std::sync::Arc;

use super::Writer;
use crate::base::{Reservation, Result};
use crate::cache::TierRoot;
use crate::index::flush::{Flush, FlushProgress, Flusher, lock};
use crate::index::ingest::BatchContent;
use crate::index::owners::{Covered, encode_root, owners, written};
use crate::index::schedule::{MaintenanceTask, Occasion, due};
use crate::index::state::{Epoch, Phase, Relief, RetiredZones, StandingRoot};
use crate::index::write::checkpoint_maintenance::CheckpointMaintenance;
use crate::index::write::flushing::Flushing;
use crate::storage::{LogStart, PageKind, RootSlot};

/// A flush begins when this share of what the buffers may take is filled; the rest is for what
/// comes while it runs. At 0.6 passages take 7 % more bytes written and articles 4 %.
const FLUSH_SHARE: f64 = 0.66;

/// The same for the log, whose bound has flushes begin while the buffers have room: fewer of them
/// write less.
const LOG_SHARE: f64 = 0.85;

impl Writer {
    /// Makes everything written so far durable, and the log short.
    pub(crate) fn checkpoint(&mut self) -> Result<()> {
        self.check_running()?;
        self.wait_for_flush()?;
        let covered = self.written();
        self.checkpoint_of(covered)
    }

    /// A checkpoint while no flush is under way, of which a replay begins at another place than the
    /// end of the log.
    pub(super) fn checkpoint_of(&mut self, covered: Covered) -> Result<()> {
        let flush = self.freeze(covered)?;
        self.flushes.carry_out(flush);
        self.wait_for_flush()
    }

    /// All that was written so far.
    pub(super) fn written(&mut self) -> Covered {
        Covered {
            log_start: self.log.end(),
            below: self.state.below,
        }
    }

    /// A checkpoint, unless the newest root has everything.
    fn checkpoint_if_new(&mut self) -> Result<()> {
        self.check_running()?;
        self.wait_for_flush()?;
        if self.has_rooted_all() {
            Ok(())
        } else {
            self.checkpoint()
        }
    }

    /// The last checkpoint. Where the newest root has everything, it stays the newest.
    pub(crate) fn close(&mut self) -> Result<()> {
        self.check_running()?;
        self.wait_for_flush()?;
        if self.has_rooted_all() {
            self.leases.remove_zones(&self.shared)
        } else {
            self.checkpoint()
        }
    }

    /// Returns true if the newest root has all of the log.
    fn has_rooted_all(&mut self) -> bool {
        self.roots.cover(self.log.end())
    }

    /// Ends a flush that is done.
    pub(crate) fn poll_flush(&mut self) -> Result<()> {
        if self.flushes.is_done() {
            self.wait_for_flush()
        } else {
            Ok(())
        }
    }

    /// Makes room for a batch, or for the deletion of some IDs: flushes first if it would not fit
    /// the memory for new postings and IDs or the log's bound.
    pub(super) fn make_room<'i>(
        &mut self,
        batch: Option<&BatchContent>,
        ids: impl Iterator<Item = &'i str>,
    ) -> Result<()> {
        let made = self.find_room(batch, ids);
        // With the time for which others had the writer: they may have ended a flush.
        self.totals.note_stall(self.act.elapsed());
        made
    }

    /// The same for documents that nobody waits for.
    pub(super) fn find_room<'i>(
        &mut self,
        batch: Option<&BatchContent>,
        ids: impl Iterator<Item = &'i str>,
    ) -> Result<()> {
        let (count, bytes) = ids.fold((0, 0), |(count, bytes), id| (count + 1, bytes + id.len()));
        self.flush_or_reserve(|writer| writer.reserve_for(batch, count, bytes))
    }

    /// Sets memory aside for a batch, for so many IDs of so many bytes, and for what flushes them.
    pub(crate) fn reserve_for(
        &mut self,
        batch: Option<&BatchContent>,
        ids: usize,
        id_bytes: usize,
    ) -> Result<()> {
        if !self.shared.options.read_only {
            self.hold_flush_memory()?;
        }
        self.reserve_buffers(batch, ids, id_bytes)
    }

    /// The same without what flushes them.
    pub(super) fn reserve_buffers(
        &mut self,
        batch: Option<&BatchContent>,
        ids: usize,
        id_bytes: usize,
    ) -> Result<()> {
        self.memory.charge_tables(&self.state)?;
        let columns = &self.state.columns;
        self.state
            .buffers
            .reserve_for(batch, columns, ids, id_bytes)
    }

    fn flush_or_reserve(&mut self, reserve: impl FnMut(&mut Writer) -> Result<()>) -> Result<()> {
        self.poll_flush()?;
        if self.flushes.is_under_way() && self.fill() >= 1.0 {
            self.wait_for_flush()?;
        }
        // Nobody is to wait for memory for the sake of cleaning.
        let flushes_early = self.scheduler.flushes_early && self.hold_flush_memory().is_ok();
        if !self.flushes.is_under_way() && (flushes_early || self.is_flush_due()) {
            self.begin_flush()?;
        }
        self.with_memory(&[Relief::Buffers, Relief::EarlierStates], reserve)
    }

    /// Returns the progress of the flush under way, if there is one.
    pub(crate) fn flush_progress(&self) -> Option<Arc<FlushProgress>> {
        self.flushes.progress()
    }

    /// Begins a flush of postings unless one is under way. Gives the generation before it.
    pub(crate) fn flush_postings(&mut self) -> Result<u64> {
        self.check_running()?;
        self.poll_flush()?;
        if !self.flushes.is_under_way() && self.state.buffers.terms() > 0 {
            self.begin_flush()?;
        }
        Ok(self.roots.generation())
    }

    /// Returns the progress of the flush under way if no root has come since a generation.
    pub(crate) fn progress_since(&mut self, before: u64) -> Result<Option<Arc<FlushProgress>>> {
        self.poll_flush()?;
        self.check_running()?;
        let is_same = self.roots.generation() == before;
        Ok(self.flush_progress().filter(|_| is_same))
    }

    /// Makes a root of all that was written, unless the newest has it. Gives its slot.
    pub(crate) fn newest_root(&mut self) -> Result<RootSlot> {
        self.checkpoint_if_new()?;
        self.roots.slot()
    }

    /// Returns true if so much was written that a flush begins.
    fn is_flush_due(&self) -> bool {
        if !self.shared.options.limits.beside {
            return self.fill() >= 1.0;
        }
        self.buffers_fill() >= FLUSH_SHARE || self.log_fill() >= LOG_SHARE
    }

    /// Returns the fill of the buffers or of the log; 1 is as full as they may be.
    pub(super) fn fill(&self) -> f64 {
        self.buffers_fill().max(self.log_fill())
    }

    /// Returns the fill of the buffers, or of the log by its bytes.
    fn buffers_fill(&self) -> f64 {
        let options = &self.shared.options;
        let memory = self.state.buffers.filling_bytes() + self.flushes.memory_bytes();
        let source = self.log.backlog().and(self.flushes.backlog()).source_bytes;
        let tables = self.memory.tables_bytes();
        let most = self.shared.memory.buffers_beside(tables);
        let memory = memory as f64 / most as f64;
        let source = source as f64 / options.limits.log_source_bytes as f64;
        memory.max(source)
    }

    /// Returns the fill of the log by the work of replaying it.
    fn log_fill(&self) -> f64 {
        let work = self.log.backlog().and(self.flushes.backlog()).work;
        work as f64 / self.shared.options.limits.log_time.as_nanos() as f64
    }

    /// Starts a flush of all that was written so far.
    pub(crate) fn begin_flush(&mut self) -> Result<()> {
        if !self.shared.options.limits.beside {
            return self.checkpoint();
        }
        let covered = self.written();
        let flush = self.freeze(covered)?;
        self.flushes.start(flush, &self.shared.traffic);
        Ok(())
    }

    /// Sets the memory of a flush aside.
    pub(crate) fn hold_flush_memory(&mut self) -> Result<Arc<Reservation>> {
        self.memory.hold_flush(&self.shared, &self.state)
    }

    /// Gives the memory of a flush back if there is nothing to be flushed.
    pub(crate) fn release_flush_memory(&mut self) {
        if !self.flushes.is_under_way() && !self.state.buffers.has_news() {
            self.memory.give_up_flush(&self.state);
        }
    }

    /// Sets what was written aside for a flush, and goes on with an empty buffer.
    fn freeze(&mut self, covered: Covered) -> Result<Flush> {
        let memory = self.with_memory(&[Relief::EarlierStates], Writer::hold_flush_memory)?;
        let budget = &self.shared.budget;
        let asked = self.scheduler.take_requests();
        let kept = self.kept().buffered;
        let frozen = self.state.buffers.freeze(budget)?;
        let flush = Flush {
            shared: Arc::clone(&self.shared),
            flusher: self.flushes.flusher(),
            filling: Arc::new(FlushProgress::begin(frozen.postings.terms())),
            buffer: frozen.postings,
            ids: frozen.ids,
            values: frozen.values,
            columns: Arc::clone(&self.state.columns),
            kept,
            tables: self.state.tables.clone(),
            asked,
            vacuums: !self.life.is_replaying(),
            _memory: memory,
        };
        let backlog = self.log.take_backlog();
        self.flushes.note(&flush, covered, backlog);
        self.publish(self.state.below);
        Ok(flush)
    }

    /// Waits for the flush under way, if there is one, and ends it.
    pub(crate) fn wait_for_flush(&mut self) -> Result<()> {
        let Some(mut flushing) = self.flushes.take() else {
            return Ok(());
        };
        let waiting = self.shared.traffic.wait();
        let done = flushing.wait();
        drop(waiting);
        let done = done.and_then(|took| {
            self.flushes.learn(&flushing, took);
            self.end_flush(&flushing)
        });
        self.stop_on_error(done)
    }

    fn end_flush(&mut self, flushing: &Flushing) -> Result<()> {
        let flusher = self.flushes.flusher();
        let flusher = &mut *lock(&flusher);
        self.state.buffers.end_flush();
        let covered = flushing.covered();
        if self.life.is_unseen() {
            self.release_flush_memory();
            return self.end_unseen_flush(flusher, covered.log_start);
        }
        self.maintenance(flusher).forget()?;
        self.keep_space()?;
        self.maintenance(flusher).clean(covered.log_start)?;
        self.shared.options.limits.enter(Phase::Checkpoint);
        self.state.flushes += flushing.has_terms() as u64;
        self.write_root(flusher, covered)?;
        self.release_flush_memory();
        let tasks: Vec<MaintenanceTask> = due(Occasion::FlushEnd, &self.condition()).collect();
        tasks
            .into_iter()
            .try_for_each(|task| self.carry_out(task))?;
        self.scheduler.flushes_early = self.is_due_early();
        let asked = flushing.asked();
        let more = asked.cleans() && flusher.has_more_to_clean(&self.condition_with_log());
        self.scheduler.count(asked, more);
        self.shared.options.limits.enter(Phase::Writing);
        Ok(())
    }

    /// Ends a flush of an index that nobody sees yet: what it left empty no one else can reach.
    fn end_unseen_flush(&mut self, flusher: &Flusher, start: LogStart) -> Result<()> {
        let store = Arc::clone(&self.shared.store);
        let stream = self.owned.stream(PageKind::Table);
        self.state.tables.write_changes(&store, stream)?;
        stream.flush()?;
        let empty = store.zones().take_empty(flusher.first_zone, start);
        store.remove_zones(&empty)
    }

    /// Writes everything out and a root that refers to it, then publishes that state.
    pub(super) fn write_root(&mut self, flusher: &mut Flusher, covered: Covered) -> Result<()> {
        self.write_changes(flusher)?;
        let generation = self.roots.begin();
        let events = self.shared.budget.events();
        self.state.epoch = Arc::new(Epoch::new(generation, events, None));
        self.state.schema = self.shared.preparation.fields.written();
        let (retired, zones) = {
            let mut zones = self.shared.store.zones();
            let all = zones.allocated_bytes();
            let retired = RetiredZones {
                generation,
                zones: zones.take_empty(0, covered.log_start),
                bytes: all - zones.allocated_bytes(),
            };
            (retired, zones.clone())
        };
        self.state.lifetime = self.totals.with(written(&self.shared.store));
        let bytes = encode_root(&self.state, &zones, covered, &self.owned.parts);
        let root = self.roots.write(&bytes)?;
        if !self.life.is_replaying() {
            self.roots.tell_readers();
        }
        self.roots
            .note(root, self.state.sequence, covered.log_start);
        let slot = self.roots.slot()?;
        if let Some(tier) = self.shared.pool.tier() {
            // Only now is it durable that the zones are the index's.
            tier.follow(&TierRoot {
                slot: slot.clone(),
                next_zone: zones.next_number(),
            });
        }
        self.state.root = Some(StandingRoot {
            slot: Arc::new(slot),
            sequence: self.state.sequence,
            reads_known: false,
        });
        self.publish(self.state.below);
        self.shared.published.retire(retired);
        Ok(())
    }

    /// Appends what has changed of all kinds of pages and writes it out, but for roots.
    fn write_changes(&mut self, flusher: &mut Flusher) -> Result<()> {
        for owner in owners() {
            let kept = owner.write_changes(&mut self.maintenance(flusher).parts())?;
            self.owned.parts.set(owner.kind(), kept);
        }
        self.state.terms = flusher.terms.view();
        self.state.ids = flusher.ids.view();
        self.state.column_tree = flusher.columns.view();
        for owner in owners() {
            let unsynced = owner.flush(&mut self.maintenance(flusher).parts())?;
            self.roots.wait_for(unsynced);
        }
        Ok(())
    }

    /// Hands what the checkpoint behind a flush may change to its maintenance.
    fn maintenance<'a>(&'a mut self, flusher: &'a mut Flusher) -> CheckpointMaintenance<'a> {
        CheckpointMaintenance {
            shared: &self.shared,
            flusher,
            log: self.log.pages(),
            state: &mut self.state,
            owned: &mut self.owned,
            scheduler: &mut self.scheduler,
        }
    }
}
