//! Publishes states to readers: one tuple, replaced at once.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock, Weak};
use std::time::{Duration, Instant};

use super::buffers::Buffers;
use super::lifetime::Lifetime;
use super::vacuumed::Vacuumed;
use crate::analysis::{FieldId, Schema};
use crate::base::{DocId, Error, EventCount, Reservation, Result, Sequence, ZoneNumber};
use crate::columns::{ColumnTreeView, Columns, ColumnsView};
use crate::device::Lease;
use crate::documents::{Dictionaries, DocumentTables};
use crate::postings::TermView;
use crate::runs::RunsView;
use crate::search::{FieldStatistics, SearchView, SeenRoot};
use crate::storage::RootSlot;

/// Everything that a snapshot holds. Nothing in it changes, but for postings of later documents,
/// which are told apart by `below`.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) epoch: Arc<Epoch>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) terms: TermView,
    pub(crate) ids: RunsView,
    /// The columns of all documents, as far as they were flushed.
    pub(crate) column_tree: ColumnTreeView,
    /// The decisions on columns.
    pub(crate) columns: Arc<Columns>,
    pub(crate) buffers: Buffers,
    pub(crate) tables: DocumentTables,
    pub(crate) dictionaries: Dictionaries,
    pub(crate) statistics: Arc<Vec<FieldStatistics>>,
    /// Every document of this state has a doc ID below this.
    pub(crate) below: DocId,
    /// The number of times the documents got other numbers since the index was opened.
    pub(crate) renumbered: u64,
    /// Flushes since the index was opened.
    pub(crate) flushes: u64,
    /// Documents that are neither deleted nor replaced.
    pub(crate) documents: u64,
    /// The lifetime write statistics, as of the last checkpoint.
    pub(crate) lifetime: Lifetime,
    /// The results of vacuum.
    pub(crate) vacuumed: Vacuumed,
    /// The root that it stands on, if there is one.
    pub(crate) root: Option<StandingRoot>,
    /// The last operation that this state includes.
    pub(crate) sequence: Sequence,
    /// Its number among the states that were published since the index was opened. States of
    /// different numbers may give different answers.
    pub(crate) number: u64,
}

/// The root that a state stands on, and how far that knows what came after it.
#[derive(Clone)]
pub(crate) struct StandingRoot {
    pub(crate) slot: Arc<RootSlot>,
    /// The last operation that it knows.
    pub(crate) sequence: Sequence,
    /// Set if of the log behind it only what it knows is read, which is the same for all readers.
    pub(crate) reads_known: bool,
}

/// The time between two checkpoints. States of an epoch keep alive the zones that later ones gave
/// up.
pub(crate) struct Epoch {
    pub(crate) generation: u64,
    /// Told when it ends: zones that waited for it can be removed.
    events: EventCount,
    /// The lease that has another process keep those zones, if one may write.
    _lease: Option<Arc<Lease>>,
    /// Memory of the tables of an index that nobody writes here; the writer has it else.
    pub(crate) tables: OnceLock<Reservation>,
}

/// The newest state, the zones that wait for the readers of older ones, and the snapshots among
/// these.
pub(crate) struct Published {
    newest: RwLock<Arc<State>>,
    retired: Mutex<Retired>,
    snapshots: Mutex<Vec<KnownSnapshot>>,
}

#[derive(Default)]
struct Retired {
    epochs: Vec<Weak<Epoch>>,
    zones: Vec<RetiredZones>,
}

/// Zones that no state of this generation or a later one refers to.
pub(crate) struct RetiredZones {
    pub(crate) generation: u64,
    pub(crate) zones: Vec<ZoneNumber>,
    pub(crate) bytes: u64,
}

/// The part of a state that searches see, and its epoch, which keeps that alive.
pub(crate) struct Pinned {
    _epoch: Arc<Epoch>,
    pub(crate) view: SearchView,
}

/// The state that a snapshot holds, until it is given up.
pub(crate) struct HeldState {
    pinned: RwLock<Result<Arc<Pinned>>>,
    generation: u64,
    since: Instant,
}

/// A snapshot, and what it holds, which searches under way keep when it is given up.
struct KnownSnapshot {
    held: Weak<HeldState>,
    pinned: Weak<Pinned>,
    generation: u64,
}

/// The limits of what snapshots may hold back together.
#[derive(Clone, Copy)]
pub(crate) struct RetentionLimits {
    /// Bytes on flash.
    pub(crate) bytes: u64,
    /// The age of one that is given up for these.
    pub(crate) age: Duration,
}

impl Epoch {
    pub(crate) fn new(generation: u64, events: &EventCount, lease: Option<Arc<Lease>>) -> Epoch {
        Epoch {
            generation,
            events: events.clone(),
            _lease: lease,
            tables: OnceLock::new(),
        }
    }
}

impl Drop for Epoch {
    fn drop(&mut self) {
        self.events.notify();
    }
}

impl RetentionLimits {
    /// Returns the time for which a snapshot of this age that holds back so many bytes may still be
    /// kept; nothing if these are within the limit.
    fn left(&self, bytes: u64, age: Duration) -> Option<Duration> {
        let excess = bytes as f64 / self.bytes.max(1) as f64;
        (excess > 1.0).then(|| self.age.div_f64(excess).saturating_sub(age))
    }

    /// Returns true if a snapshot of this age that holds back so many bytes is to be given up: the
    /// more it holds back, the younger it may be.
    pub(crate) fn is_lost(&self, bytes: u64, age: Duration) -> bool {
        self.left(bytes, age) == Some(Duration::ZERO)
    }
}

impl State {
    /// Bytes of tables and maps in memory.
    pub(crate) fn tables_bytes(&self) -> usize {
        self.tree_bytes() + self.columns.memory_bytes() + self.tables.memory_bytes()
    }

    /// Bytes of what the trees keep in memory, of which a flush makes a copy.
    pub(crate) fn tree_bytes(&self) -> usize {
        self.terms.memory_bytes() + self.ids.memory_bytes() + self.column_tree.memory_bytes()
    }

    /// Returns the columns with all values that the state has.
    pub(crate) fn columns_view(&self) -> ColumnsView {
        ColumnsView::new(
            self.column_tree.clone(),
            Arc::clone(&self.columns),
            self.buffers.value_buffers(),
            self.below,
        )
    }

    /// Returns the root that the state stands on. The state is durable if the root names it alone:
    /// it knows all operations, and none of them waits to be flushed.
    pub(crate) fn seen_root(&self) -> Option<SeenRoot> {
        let root = self.root.as_ref()?;
        let is_whole = root.sequence == self.sequence && self.buffers.are_empty();
        Some(SeenRoot {
            slot: Arc::clone(&root.slot),
            sequence: self.sequence,
            is_durable: root.reads_known || is_whole,
        })
    }

    /// Deleted documents of which a vacuum has left something.
    pub(crate) fn dead_documents(&self) -> u64 {
        let deleted = self.tables.deleted_count();
        deleted.saturating_sub(self.vacuumed.documents)
    }

    /// The statistics of a field, made on the way.
    pub(crate) fn statistics_mut(&mut self, field: FieldId) -> &mut FieldStatistics {
        statistics_of(Arc::make_mut(&mut self.statistics), field)
    }
}

impl HeldState {
    /// Returns its state, unless that was given up.
    pub(crate) fn get(&self) -> Result<Arc<Pinned>> {
        let pinned = self.pinned.read().unwrap_or_else(|e| e.into_inner());
        pinned.clone()
    }

    /// Returns the time at which it was taken.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    fn is_held(&self) -> bool {
        self.get().is_ok()
    }

    /// Lets go. Searches under way keep it until they end.
    fn give_up(&self, held: String) {
        let seconds = self.since.elapsed().as_secs();
        *self.pinned.write().unwrap_or_else(|e| e.into_inner()) = Err(Error::Expired {
            seconds,
            held,
            remedy: "take a new one",
        });
    }
}

/// The statistics of a field, made on the way.
pub(crate) fn statistics_of(
    all: &mut Vec<FieldStatistics>,
    field: FieldId,
) -> &mut FieldStatistics {
    if all.len() <= field as usize {
        all.resize(field as usize + 1, FieldStatistics::default());
    }
    &mut all[field as usize]
}

impl Published {
    pub(crate) fn new(state: State) -> Published {
        let retired = Retired {
            epochs: vec![Arc::downgrade(&state.epoch)],
            zones: Vec::new(),
        };
        Published {
            newest: RwLock::new(Arc::new(state)),
            retired: Mutex::new(retired),
            snapshots: Mutex::default(),
        }
    }

    /// The newest state.
    pub(crate) fn get(&self) -> Arc<State> {
        Arc::clone(&self.newest.read().unwrap_or_else(|e| e.into_inner()))
    }

    /// Makes `state` the newest.
    pub(crate) fn set(&self, mut state: State) {
        let mut retired = self.retired();
        let known = retired.epochs.last().and_then(Weak::upgrade);
        if known.is_none_or(|epoch| epoch.generation != state.epoch.generation) {
            retired.epochs.push(Arc::downgrade(&state.epoch));
        }
        drop(retired);
        let mut newest = self.newest.write().unwrap_or_else(|e| e.into_inner());
        state.number = newest.number + 1;
        *newest = Arc::new(state);
    }

    /// Holds a state for a snapshot.
    pub(crate) fn hold(&self, state: &State, view: SearchView) -> Arc<HeldState> {
        let pinned = Arc::new(Pinned {
            _epoch: Arc::clone(&state.epoch),
            view,
        });
        let generation = state.epoch.generation;
        let weak = Arc::downgrade(&pinned);
        let held = Arc::new(HeldState {
            pinned: RwLock::new(Ok(pinned)),
            generation,
            since: Instant::now(),
        });
        let mut all = self.snapshots();
        if all.len() == all.capacity() {
            all.retain(|known| known.pinned.strong_count() > 0);
        }
        all.push(KnownSnapshot {
            held: Arc::downgrade(&held),
            pinned: weak,
            generation,
        });
        drop(all);
        held
    }

    /// Has the oldest snapshots given up, as long as they hold back more than they may.
    pub(crate) fn enforce_limits(&self, retention: RetentionLimits) {
        for held in self.oldest_first() {
            let pinned = self.retired_after(held.generation);
            if !retention.is_lost(pinned, held.since.elapsed()) {
                return;
            }
            let limit = retention.bytes;
            held.give_up(format!(
                "{pinned} bytes on flash, more than the {limit} that it may"
            ));
        }
    }

    /// Returns the time until [`Published::enforce_limits`] has more to give up if nothing else
    /// happens.
    pub(crate) fn next_loss(&self, retention: RetentionLimits) -> Option<Duration> {
        let oldest = self.oldest_first().into_iter().next()?;
        retention.left(
            self.retired_after(oldest.generation),
            oldest.since.elapsed(),
        )
    }

    /// Has all snapshots given up but those of the newest generation, for the memory that they
    /// hold.
    pub(crate) fn give_up_older(&self, generation: u64) {
        let all = self.oldest_first().into_iter();
        let older = all.filter(|held| held.generation < generation);
        older.for_each(|held| held.give_up("memory that was needed for others".to_owned()));
    }

    /// Returns true if a snapshot, or a search under way, holds a state of an earlier generation.
    pub(crate) fn has_older(&self, generation: u64) -> bool {
        let all = self.snapshots();
        let mut older = all.iter().filter(|known| known.generation < generation);
        older.any(|known| known.pinned.strong_count() > 0)
    }

    /// The snapshots that hold something.
    fn oldest_first(&self) -> Vec<Arc<HeldState>> {
        let all = self.snapshots();
        let held = all.iter().filter_map(|known| known.held.upgrade());
        let mut all: Vec<Arc<HeldState>> = held.collect();
        all.retain(|held| held.is_held());
        all.sort_by_key(|held| (held.generation, held.since));
        all
    }

    /// Bytes of the zones that a state of this generation may refer to and newer ones do not.
    pub(crate) fn retired_after(&self, generation: u64) -> u64 {
        let retired = self.retired();
        let later = retired
            .zones
            .iter()
            .filter(|zones| zones.generation > generation);
        later.map(|zones| zones.bytes).sum()
    }

    fn snapshots(&self) -> MutexGuard<'_, Vec<KnownSnapshot>> {
        self.snapshots.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn retired(&self) -> MutexGuard<'_, Retired> {
        self.retired.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns true if zones wait for readers of older states.
    pub(crate) fn has_retired(&self) -> bool {
        !self.retired().zones.is_empty()
    }

    /// Notes zones to be removed once no state refers to them.
    pub(crate) fn retire(&self, retired: RetiredZones) {
        self.retired().zones.push(retired);
    }

    /// Takes the zones that no living state refers to, nor a state of the generation `leased` or a
    /// later one.
    pub(crate) fn take_unreachable(&self, leased: Option<u64>) -> Vec<ZoneNumber> {
        let mut retired = self.retired();
        retired.epochs.retain(|epoch| epoch.strong_count() > 0);
        let oldest = retired
            .epochs
            .iter()
            .filter_map(Weak::upgrade)
            .map(|e| e.generation)
            .chain(leased)
            .min();
        let oldest = oldest.unwrap_or(u64::MAX);
        let mut free = Vec::new();
        retired.zones.retain_mut(|retired| {
            let reachable = retired.generation > oldest && !retired.zones.is_empty();
            if !reachable {
                free.append(&mut retired.zones);
            }
            reachable
        });
        free
    }
}
