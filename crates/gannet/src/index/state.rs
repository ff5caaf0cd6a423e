//! What readers see: one tuple, published at once.

use std::sync::{Arc, Mutex, RwLock, Weak};

use super::buffers::Buffers;
use super::vacuum::Vacuumed;
use crate::analysis::{FieldId, Schema};
use crate::base::{DocId, Sequence, ZoneNumber};
use crate::dictionary::TreeView;
use crate::documents::{Dictionaries, DocumentTables};
use crate::postings::TermView;
use crate::search::FieldStatistics;

/// Everything that a snapshot holds. Nothing in it changes, but for postings of later documents, which are
/// told apart by `below`.
#[derive(Clone)]
pub(super) struct State {
    pub(super) epoch: Arc<Epoch>,
    pub(super) schema: Arc<Schema>,
    pub(super) terms: TermView,
    pub(super) ids: TreeView,
    pub(super) buffers: Buffers,
    pub(super) tables: DocumentTables,
    pub(super) dictionaries: Dictionaries,
    pub(super) statistics: Arc<Vec<FieldStatistics>>,
    /// Every document of this state has a doc ID below this.
    pub(super) below: DocId,
    /// Documents that are neither deleted nor replaced.
    pub(super) documents: u64,
    /// What vacuum has done.
    pub(super) vacuumed: Vacuumed,
    /// The last operation that this state includes.
    pub(super) sequence: Sequence,
}

/// The time between two checkpoints. States of an epoch keep alive the zones that later ones gave up.
#[derive(Debug)]
pub(super) struct Epoch {
    pub(super) generation: u64,
}

/// The newest state, and the zones that wait for the readers of older ones.
pub(super) struct Published {
    newest: RwLock<Arc<State>>,
    retired: Mutex<Retired>,
}

#[derive(Default)]
struct Retired {
    epochs: Vec<Weak<Epoch>>,
    /// Zones that no state of this generation or a later one refers to.
    zones: Vec<(u64, Vec<ZoneNumber>)>,
}

impl State {
    /// The statistics of a field, made on the way.
    pub(super) fn statistics_mut(&mut self, field: FieldId) -> &mut FieldStatistics {
        let all = Arc::make_mut(&mut self.statistics);
        if all.len() <= field as usize {
            all.resize(field as usize + 1, FieldStatistics::default());
        }
        &mut all[field as usize]
    }
}

impl Published {
    pub(super) fn new(state: State) -> Published {
        let retired = Retired {
            epochs: vec![Arc::downgrade(&state.epoch)],
            zones: Vec::new(),
        };
        Published {
            newest: RwLock::new(Arc::new(state)),
            retired: Mutex::new(retired),
        }
    }

    /// The newest state.
    pub(super) fn get(&self) -> Arc<State> {
        Arc::clone(&self.newest.read().unwrap_or_else(|e| e.into_inner()))
    }

    /// Makes `state` the newest.
    pub(super) fn set(&self, state: State) {
        let state = Arc::new(state);
        let mut retired = self.retired.lock().unwrap_or_else(|e| e.into_inner());
        let known = retired.epochs.last().and_then(Weak::upgrade);
        if known.is_none_or(|epoch| epoch.generation != state.epoch.generation) {
            retired.epochs.push(Arc::downgrade(&state.epoch));
        }
        drop(retired);
        *self.newest.write().unwrap_or_else(|e| e.into_inner()) = state;
    }

    /// Notes zones that states from `generation` on do not refer to.
    pub(super) fn retire(&self, generation: u64, zones: Vec<ZoneNumber>) {
        let mut retired = self.retired.lock().unwrap_or_else(|e| e.into_inner());
        retired.zones.push((generation, zones));
    }

    /// Takes the zones that no living state refers to.
    pub(super) fn take_unreachable(&self) -> Vec<ZoneNumber> {
        let mut retired = self.retired.lock().unwrap_or_else(|e| e.into_inner());
        retired.epochs.retain(|epoch| epoch.strong_count() > 0);
        let oldest = retired
            .epochs
            .iter()
            .filter_map(Weak::upgrade)
            .map(|e| e.generation)
            .min();
        let oldest = oldest.unwrap_or(u64::MAX);
        let mut free = Vec::new();
        retired.zones.retain_mut(|(generation, zones)| {
            let reachable = *generation > oldest;
            if !reachable {
                free.append(zones);
            }
            reachable
        });
        free
    }
}
