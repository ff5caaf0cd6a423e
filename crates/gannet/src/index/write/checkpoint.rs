//! Checkpoint: the writer's side of a flush, from the frozen buffer to the root that makes all of
//! it durable. `flush` tells how both go together, and in which order a root is written.

use std::sync::Arc;
use std::sync::mpsc::{self, SendError};
use std::thread;
use std::time::{Duration, Instant};

use super::flushing::{FlushStage, Flushing};
use super::writer::Writer;
use crate::base::{Error, ForegroundLoad, Reservation, Result, yield_to_foreground};
use crate::index::flush::{Flush, FlushProgress, Flusher, lock};
use crate::index::owners::{CheckpointParts, Covered, encode_root, owners, written};
use crate::index::schedule::{MaintenanceTask, Occasion, due};
use crate::index::state::{Epoch, Phase, Relief, RetiredZones};
use crate::postings::InvertedBatch;
use crate::storage::{LogStart, PageKind, RootSlot, SlotKind, write_slot};

/// A flush begins when this share of what the buffers may take is filled; the rest is for what
/// comes while it runs. At 0.6 passages take 7 % more bytes written and articles 4 %.
const FLUSH_SHARE: f64 = 0.66;

/// The same for the log, whose bound has flushes begin while the buffers have room: fewer of them
/// write less.
const LOG_SHARE: f64 = 0.85;

/// Carries a flush out and gives how long it took.
fn timed(flush: Flush) -> Result<Duration> {
    let _end = flush.filling.end_of(flush.shared.budget.events());
    // A query that finds too little memory beside it waits until it has given its own back.
    let budget = flush.shared.budget.clone();
    let _permit = budget.permit(&())?;
    let start = Instant::now();
    flush.run().map(|()| start.elapsed())
}

/// Carries a flush out on a thread of its own, or here if there is none to be had.
fn start(flush: Flush, traffic: &ForegroundLoad) -> FlushStage {
    let (hand_over, handed_over) = mpsc::channel();
    let traffic = traffic.clone();
    let carry_out = move || {
        yield_to_foreground(&traffic);
        let lost = |_| Error::internal("a flush was not handed over to its thread");
        timed(handed_over.recv().map_err(lost)?)
    };
    let name = "gannet-flush".to_owned();
    let Ok(thread) = thread::Builder::new().name(name).spawn(carry_out) else {
        return FlushStage::Done(timed(flush));
    };
    match hand_over.send(flush) {
        Ok(()) => FlushStage::Running(thread),
        Err(SendError(flush)) => FlushStage::Done(timed(flush)),
    }
}

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
    pub(crate) fn checkpoint_of(&mut self, covered: Covered) -> Result<()> {
        let flush = self.freeze(covered)?;
        self.set_progress(FlushStage::Done(timed(flush)));
        self.wait_for_flush()
    }

    /// All that was written so far.
    pub(crate) fn written(&mut self) -> Covered {
        Covered {
            log_start: self.log.end(),
            below: self.state.below,
        }
    }

    /// A checkpoint, unless the newest root has everything.
    pub(crate) fn checkpoint_if_new(&mut self) -> Result<()> {
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
            self.give_up_zones()
        } else {
            self.checkpoint()
        }
    }

    /// Returns true if the newest root has all of the log.
    fn has_rooted_all(&mut self) -> bool {
        self.rooted_log == Some(self.log.end())
    }

    /// Ends a flush that is done.
    pub(crate) fn poll_flush(&mut self) -> Result<()> {
        match &self.flushing {
            Some(flushing) if flushing.is_done() => self.wait_for_flush(),
            _ => Ok(()),
        }
    }

    /// Makes room for a batch, or for the deletion of some IDs: flushes first if it would not fit
    /// the memory for new postings and IDs or the log's bound.
    pub(crate) fn make_room<'i>(
        &mut self,
        batch: Option<&InvertedBatch>,
        ids: impl Iterator<Item = &'i str>,
    ) -> Result<()> {
        let made = self.find_room(batch, ids);
        // With the time for which others had the writer: they may have ended a flush.
        self.life.longest_stall = self.life.longest_stall.max(self.asked_at.elapsed());
        made
    }

    /// The same for documents that nobody waits for.
    pub(crate) fn find_room<'i>(
        &mut self,
        batch: Option<&InvertedBatch>,
        ids: impl Iterator<Item = &'i str>,
    ) -> Result<()> {
        let (count, bytes) = ids.fold((0, 0), |(count, bytes), id| (count + 1, bytes + id.len()));
        self.flush_or_reserve(|writer| writer.reserve_for(batch, count, bytes))
    }

    /// Sets memory aside for a batch, for so many IDs of so many bytes, and for what flushes them.
    pub(crate) fn reserve_for(
        &mut self,
        batch: Option<&InvertedBatch>,
        ids: usize,
        id_bytes: usize,
    ) -> Result<()> {
        if !self.shared.options.read_only {
            self.hold_flush_memory()?;
        }
        self.reserve_buffers(batch, ids, id_bytes)
    }

    /// The same without what flushes them.
    pub(crate) fn reserve_buffers(
        &mut self,
        batch: Option<&InvertedBatch>,
        ids: usize,
        id_bytes: usize,
    ) -> Result<()> {
        self.charge_tables()?;
        let buffers = &self.state.buffers;
        buffers.new_ids.reserve_for(ids, id_bytes)?;
        batch.map_or(Ok(()), |batch| buffers.filling.reserve_for(batch))
    }

    fn flush_or_reserve(&mut self, reserve: impl FnMut(&mut Writer) -> Result<()>) -> Result<()> {
        self.poll_flush()?;
        if self.flushing.is_some() && self.fill() >= 1.0 {
            self.wait_for_flush()?;
        }
        // Nobody is to wait for memory for the sake of cleaning.
        let flushes_early = self.scheduler.flushes_early && self.hold_flush_memory().is_ok();
        if self.flushing.is_none() && (flushes_early || self.is_flush_due()) {
            self.begin_flush()?;
        }
        self.with_memory(&[Relief::Buffers, Relief::EarlierStates], reserve)
    }

    /// Returns true if there is anything to be flushed.
    pub(crate) fn has_news(&self) -> bool {
        let buffers = &self.state.buffers;
        buffers.terms() > 0 || buffers.new_ids.has_any()
    }

    /// The flush under way, if there is one.
    pub(crate) fn flush_progress(&self) -> Option<Arc<FlushProgress>> {
        let flushing = self.flushing.as_ref();
        flushing.map(|flushing| Arc::clone(&flushing.filling))
    }

    /// Returns true if so much was written that a flush begins.
    fn is_flush_due(&self) -> bool {
        if !self.shared.options.limits.beside {
            return self.fill() >= 1.0;
        }
        self.buffers_fill() >= FLUSH_SHARE || self.log_fill() >= LOG_SHARE
    }

    /// Returns the fill of the buffers or of the log; 1 is as full as they may be.
    pub(crate) fn fill(&self) -> f64 {
        self.buffers_fill().max(self.log_fill())
    }

    /// Returns the fill of the buffers, or of the log by its bytes.
    fn buffers_fill(&self) -> f64 {
        let options = &self.shared.options;
        let buffers = &self.state.buffers;
        let mut memory = buffers.filling.memory_bytes() + buffers.new_ids.memory_bytes();
        let mut source = self.log_source_bytes;
        if let Some(flushing) = &self.flushing {
            memory += flushing.memory_bytes;
            source += flushing.source_bytes;
        }
        let most = self
            .shared
            .memory
            .buffers_beside(self.tables_memory.bytes());
        let memory = memory as f64 / most as f64;
        let source = source as f64 / options.limits.log_source_bytes as f64;
        memory.max(source)
    }

    /// Returns the fill of the log by the work of replaying it.
    fn log_fill(&self) -> f64 {
        let flushing = self.flushing.as_ref();
        let work = self.log_work + flushing.map_or(0, |flushing| flushing.work);
        work as f64 / self.shared.options.limits.log_time.as_nanos() as f64
    }

    /// Starts a flush of all that was written so far.
    pub(crate) fn begin_flush(&mut self) -> Result<()> {
        if !self.shared.options.limits.beside {
            return self.checkpoint();
        }
        let covered = self.written();
        let flush = self.freeze(covered)?;
        let progress = start(flush, &self.shared.traffic);
        self.set_progress(progress);
        Ok(())
    }

    fn set_progress(&mut self, progress: FlushStage) {
        if let Some(flushing) = &mut self.flushing {
            flushing.progress = progress;
        }
    }

    /// Sets the memory of a flush aside, with that of the copies that it makes. It is held as long
    /// as there is anything to be flushed, so that what was taken can be made durable whatever else
    /// takes memory.
    pub(crate) fn hold_flush_memory(&mut self) -> Result<Arc<Reservation>> {
        if let Some(held) = &self.flush_memory {
            return Ok(Arc::clone(held));
        }
        let bytes = self.shared.memory.flush.bytes();
        let reserved = Arc::new(self.shared.budget.reserve("a flush", bytes)?);
        self.flush_memory = Some(Arc::clone(&reserved));
        if let Err(error) = self.charge_tables() {
            self.flush_memory = None;
            return Err(error);
        }
        Ok(reserved)
    }

    /// Gives the memory of a flush back if there is nothing to be flushed.
    pub(crate) fn release_flush_memory(&mut self) {
        if self.flushing.is_none() && !self.has_news() {
            self.give_up_flush_memory();
        }
    }

    pub(crate) fn give_up_flush_memory(&mut self) {
        self.flush_memory = None;
        // Tables that grew to more than they had with the copies wait for the next write, which
        // says so if there is no room.
        let _ = self.charge_tables();
    }

    /// Reserves what tables take. What a flush changes of the terms' is there twice meanwhile.
    pub(crate) fn charge_tables(&mut self) -> Result<()> {
        let copies = match self.flush_memory {
            Some(_) => self.state.terms.memory_bytes(),
            None => 0,
        };
        self.tables_memory
            .grow_to(self.state.tables_bytes() + copies)
    }

    /// Sets what was written aside for a flush, and goes on with an empty buffer.
    fn freeze(&mut self, covered: Covered) -> Result<Flush> {
        let memory = self.with_memory(&[Relief::EarlierStates], Writer::hold_flush_memory)?;
        let budget = &self.shared.budget;
        let asked = self.scheduler.take_requests();
        let kept = self.kept().buffered;
        let (buffer, ids) = self.state.buffers.freeze(budget)?;
        let filling = Arc::new(FlushProgress::begin(buffer.terms()));
        self.pace.begin(buffer.memory_bytes());
        self.flushing = Some(Flushing {
            ids: Arc::clone(&ids),
            covered,
            source_bytes: std::mem::take(&mut self.log_source_bytes),
            work: std::mem::take(&mut self.log_work),
            memory_bytes: buffer.memory_bytes() + ids.memory_bytes(),
            has_terms: buffer.terms() > 0,
            filling: Arc::clone(&filling),
            asked,
            progress: FlushStage::Frozen,
        });
        self.publish(self.state.below);
        Ok(Flush {
            shared: Arc::clone(&self.shared),
            flusher: Arc::clone(&self.flusher),
            buffer,
            ids,
            kept,
            filling,
            tables: self.state.tables.clone(),
            asked,
            vacuums: !self.is_replaying,
            _memory: memory,
        })
    }

    /// Waits for the flush under way, if there is one, and ends it.
    pub(crate) fn wait_for_flush(&mut self) -> Result<()> {
        let Some(mut flushing) = self.flushing.take() else {
            return Ok(());
        };
        let waiting = self.shared.traffic.wait();
        let done = flushing.wait();
        drop(waiting);
        let done = done.and_then(|took| {
            if flushing.has_terms {
                self.pace.learn(&flushing.filling, took);
            }
            self.end_flush(&flushing)
        });
        self.stop_on_error(done)
    }

    fn end_flush(&mut self, flushing: &Flushing) -> Result<()> {
        let flusher = Arc::clone(&self.flusher);
        let flusher = &mut *lock(&flusher);
        self.state.buffers.end_flush();
        if self.unseen {
            self.release_flush_memory();
            return self.end_unseen_flush(flusher, flushing.covered.log_start);
        }
        self.forget(flusher)?;
        self.keep_space()?;
        self.clean(flusher, flushing.covered.log_start)?;
        self.shared.options.limits.enter(Phase::Checkpoint);
        self.state.flushes += flushing.has_terms as u64;
        self.write_root(flusher, flushing.covered)?;
        self.release_flush_memory();
        let tasks: Vec<MaintenanceTask> = due(Occasion::FlushEnd, &self.condition()).collect();
        tasks
            .into_iter()
            .try_for_each(|task| self.carry_out(task))?;
        self.scheduler.flushes_early = self.is_due_early();
        let more = flushing.asked.cleans() && self.has_more_to_clean(flusher);
        self.scheduler.count(flushing.asked, more);
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
    pub(crate) fn write_root(&mut self, flusher: &mut Flusher, covered: Covered) -> Result<()> {
        self.write_changes(flusher)?;
        self.generation += 1;
        let events = self.shared.budget.events();
        self.state.epoch = Arc::new(Epoch::new(self.generation, events, None));
        self.state.schema = self.shared.preparation.fields.written();
        let (retired, zones) = {
            let mut zones = self.shared.store.zones();
            let all = zones.allocated_bytes();
            let retired = RetiredZones {
                generation: self.generation,
                zones: zones.take_empty(0, covered.log_start),
                bytes: all - zones.allocated_bytes(),
            };
            (retired, zones.clone())
        };
        self.life.written = written(&self.shared.store);
        self.state.lifetime = self.life_before.and(&self.life);
        let bytes = encode_root(&self.state, &zones, covered, &self.owned.parts);
        let root = self.roots.append(&bytes)?;
        self.roots.flush()?;
        self.syncing.join(self.roots.take_unsynced());
        // A root must not refer to what another thread's sync has taken and not finished.
        let unsynced = std::mem::take(&mut self.syncing);
        self.shared.store.sync(&unsynced)?;
        let slot = RootSlot {
            identity: self.shared.store.identity(),
            generation: self.generation,
            root,
            kind: SlotKind::Index,
            history: self.history.clone(),
        };
        write_slot(self.shared.store.device(), &slot)?;
        if !self.is_replaying {
            self.note_root();
        }
        self.rooted = (self.state.sequence, Instant::now());
        self.rooted_log = Some(covered.log_start);
        if let Some(old) = self.root.replace(root) {
            self.shared.store.release_span(old);
        }
        self.publish(self.state.below);
        self.shared.published.retire(retired);
        Ok(())
    }

    /// Appends what has changed of all kinds of pages and writes it out, but for roots.
    fn write_changes(&mut self, flusher: &mut Flusher) -> Result<()> {
        for owner in owners() {
            let kept = owner.write_changes(&mut self.parts(flusher))?;
            self.owned.parts.set(owner.kind(), kept);
        }
        self.state.terms = flusher.terms.view();
        self.state.ids = flusher.ids.view().clone();
        for owner in owners() {
            let unsynced = owner.flush(&mut self.parts(flusher))?;
            self.syncing.join(unsynced);
        }
        Ok(())
    }

    /// Hands what a checkpoint writes to owners of pages.
    pub(crate) fn parts<'a>(&'a mut self, flusher: &'a mut Flusher) -> CheckpointParts<'a> {
        CheckpointParts {
            flushed: flusher.parts(&self.shared),
            log: &mut self.log,
            state: &mut self.state,
            owned: &mut self.owned,
        }
    }
}
