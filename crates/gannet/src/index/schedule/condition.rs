//! Answers policies: the condition of an index at one moment.

use super::task::CleaningPolicy;
use crate::base::ZoneNumber;
use crate::index::owners::{
    KeptSpace, MOVED_BYTES_MAX, Mover, Victims, delta_trees, emptied_by, node_bytes, owner_of,
    owners,
};
use crate::index::state::Shared;
use crate::postings::{TermTree, TermView};
use crate::storage::{LogStart, PageKind, Store, Zone};

/// There is little space where less than one byte of so many of the index is free for work that can
/// wait, and less than steps of maintenance take in all.
const LITTLE_ONE_OF: u64 = 4;
const LITTLE_MAX: u64 = 256 << 20;

/// Delta postings take much of the space where they have a byte of so many that are free for work
/// that can wait.
const DELTAS_ONE_OF: u64 = 12;

/// Delta postings are many once they take a node for so many of lists, all of which may be written
/// for them.
const MANY_DELTAS_ONE_OF: u64 = 16;

/// The share of dead bytes beyond which an index is wasteful: 1,000 flushes of 100 passages leave
/// 1.19 of what one commit does, and write 4 % more than with a third, which leaves 1.32.
const WASTE_SHARE: f64 = 0.3;

/// The least that a cleaning must give back for it to be worth it.
const GAIN_MIN: u64 = 64 << 10;

/// A thorough cleaning ends when at most one byte of so many is dead.
const DENSE: u64 = 25;

/// An index at one moment. What takes a look at its zones is found when it is asked.
pub(crate) struct Condition<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) terms: TermView,
    /// Documents with postings, and how many of them are deleted.
    pub(crate) documents: u64,
    pub(crate) dead: u64,
    /// Set if a sweep of a vacuum is under way.
    pub(crate) is_sweeping: bool,
    /// Set if other processes read, and have not been shown the last writes for too long.
    pub(crate) is_unseen: bool,
    /// The position at which a replay begins: the log behind it stays.
    pub(crate) log: Option<LogStart>,
    pub(crate) kept: KeptSpace,
    /// Bytes of space that a batch lacks.
    pub(crate) lacking: u64,
}

impl Condition<'_> {
    /// Returns true if one in so many documents is deleted.
    pub(crate) fn is_dead(&self, one_of: u64) -> bool {
        self.dead > 0 && self.dead * one_of >= self.documents
    }

    /// Bytes that are free for work that can wait; none where the device does not say.
    pub(crate) fn room(&self) -> u64 {
        self.shared.room.free().unwrap_or(0)
    }

    /// Returns true if there is little space for work that can wait.
    pub(crate) fn has_little_room(&self) -> bool {
        has_little_room(self.shared)
    }

    /// Returns true if much of the index is dead.
    pub(crate) fn is_wasteful(&self) -> bool {
        let zones = self.shared.store.zones();
        let closed = zones.iter().filter(|(_, zone)| !zone.open);
        let dead: u64 = closed.map(|(_, zone)| zone.dead_bytes()).sum();
        dead as f64 > zones.allocated_bytes() as f64 * WASTE_SHARE
    }

    /// Returns true if delta postings are so many that they are worth merging into their lists.
    pub(crate) fn has_many_deltas(&self) -> bool {
        let lists = node_bytes(&self.terms, &mut TermTree::LISTS.into_iter());
        let deltas = node_bytes(&self.terms, &mut delta_trees());
        self.terms.has_recent() && deltas * MANY_DELTAS_ONE_OF >= lists
    }

    /// Returns true if there is so little space that delta postings, all of which a flush may write
    /// anew, take much of it.
    pub(crate) fn do_deltas_take_room(&self) -> bool {
        let deltas = node_bytes(&self.terms, &mut delta_trees());
        let allocated = self.shared.store.zones().allocated_bytes();
        let room = self.room();
        room < allocated.min(LITTLE_MAX) && deltas * DELTAS_ONE_OF > room
    }

    /// Returns true if cleaning would give back one byte of so many in as many steps as it takes.
    pub(crate) fn is_gain(&self, policy: CleaningPolicy, one_of: u64) -> bool {
        let zones = self.shared.store.zones();
        let sparse = zones.iter().filter(|(number, zone)| {
            let is_moved = !matches!(owner_of(zone.kind).mover(), Mover::Nobody);
            let may_move = !zone.open && zone.live > 0 && is_moved;
            may_move && !self.is_replayed(*number, zone) && zone.live_share() < policy.live_share
        });
        let gain: u64 = sparse.map(|(_, zone)| zone.dead_bytes()).sum();
        gain >= (zones.allocated_bytes() / one_of).max(GAIN_MIN)
    }

    /// Returns true if there is anything that a cleaning would move.
    pub(crate) fn has_victims(&self, policy: CleaningPolicy) -> bool {
        let store = &self.shared.store;
        // What there is no room to move is nothing to clean.
        let moved = self.room().min(MOVED_BYTES_MAX);
        let mut kinds = owners().map(emptied_by).filter(|kinds| !kinds.is_empty());
        kinds.any(|kinds| {
            let victims = victims(store, &kinds, policy, moved);
            let zones = store.zones();
            let mut found = victims
                .iter()
                .filter_map(|number| zones.get(*number).map(|zone| (*number, zone)));
            found.any(|(number, zone)| !self.is_replayed(number, zone))
        })
    }

    /// Returns true if a flush of the buffers may make enough space for the batch. The space kept
    /// for them is an estimate from above, and how much of it a flush writes is not known before.
    pub(crate) fn may_flush_make_space(&self) -> bool {
        let free = self.shared.store.device().free_bytes().unwrap_or(0);
        free >= self.kept.bytes() && self.kept.buffered >= self.lacking
    }

    fn is_replayed(&self, number: ZoneNumber, zone: &Zone) -> bool {
        self.log.is_some_and(|log| zone.replays(number, log))
    }
}

/// Returns true if there is little space for work that can wait.
pub(crate) fn has_little_room(shared: &Shared) -> bool {
    let allocated = shared.store.zones().allocated_bytes();
    shared.room.free().unwrap_or(0) < (allocated / LITTLE_ONE_OF).min(LITTLE_MAX)
}

/// Bytes that nothing refers to.
pub(crate) fn dead_bytes(store: &Store) -> u64 {
    let zones = store.zones();
    zones.iter().map(|(_, zone)| zone.dead_bytes()).sum()
}

/// Returns true if so little is dead that a thorough cleaning ends.
pub(crate) fn is_dense(store: &Store) -> bool {
    dead_bytes(store) * DENSE <= store.zones().allocated_bytes()
}

/// The closed zones of these kinds with little live data, least first, up to a bound on what is
/// moved; none if cleaning them is not worth a sweep.
pub(crate) fn victims(
    store: &Store,
    kinds: &[PageKind],
    policy: CleaningPolicy,
    moved_max: u64,
) -> Victims {
    let zones = store.zones();
    let mut candidates: Vec<(u64, ZoneNumber)> = zones
        .iter()
        .filter(|(_, zone)| !zone.open && zone.live > 0 && kinds.contains(&zone.kind))
        .filter(|(_, zone)| zone.live_share() < policy.live_share)
        .map(|(number, zone)| (zone.live, number))
        .collect();
    candidates.sort_unstable();
    let mut moved = 0;
    let affordable = candidates.into_iter().take_while(|(live, _)| {
        moved += live;
        moved <= moved_max.min(MOVED_BYTES_MAX)
    });
    let victims: Victims = affordable.map(|(_, number)| number).collect();
    let all = victims.iter().filter_map(|number| zones.get(*number));
    let dead: u64 = all.map(Zone::dead_bytes).sum();
    if dead * policy.one_of >= zones.allocated_bytes() {
        victims
    } else {
        Victims::new()
    }
}
