//! Cleaning: zones with little live data are emptied by moving what lives, so that their space
//! comes back; when it is asked for, small chunks of lists are joined too.
//!
//! It runs before a checkpoint's root is written, which then no longer refers to the victims. The
//! victim rule is greedy: the zones whose live share is least, while each costs less than two
//! thirds of what it gives back, if all of them give back enough; when it is asked for, as long as
//! anything is left to give back. Source of the mechanism: the node validation manager of the AS
//! B-tree (Kim et al., 2014), which waits for 5 %.

use crate::analysis::split_term_key;
use crate::base::{DocId, PAGE_SIZE, Result, ZoneNumber};
use crate::btree::{Scan, TreeView};
use crate::cache::{Pages, finish};
use crate::documents::DocumentTables;
use crate::index::flush::{Flusher, ListMerger, TableNorms};
use crate::index::owners::{
    IndexSizes, MoveBounds, Mover, PageOwner, Victims, delta_trees, emptied_by, node_bytes, owners,
};
use crate::index::schedule::{
    CleaningPolicy, Condition, MaintenanceTask, Occasion, Requests, dead_bytes, due,
    has_little_room, is_dense, victims,
};
use crate::index::state::{Claim, Phase, Shared};
use crate::index::write::{CheckpointMaintenance, reserve_for_steps};
use crate::postings::{Addition, Fragment, MergeItem, TermTree, merge_window};
use crate::storage::{LogStart, PageKind, Store, Zone};

/// The greatest number of bytes that a step writes which merges delta postings into their lists:
/// nodes, and chunks beside them.
const SETTLED_BYTES_MAX: u64 = 3 * SETTLED_NODES_MAX * PAGE_SIZE as u64;

/// The share below which an open zone is left.
const OPEN_LIVE_SHARE: f64 = 0.5;

/// Bytes of small chunks that one checkpoint joins at most.
const JOINED_BYTES_MAX: u64 = 32 << 20;

/// Nodes of delta postings that join their lists in one step, or of lists that are written for it:
/// 32 MiB.
const SETTLED_NODES_MAX: u64 = 8192;

/// The key of a term.
type TermKey = Vec<u8>;

impl Flusher {
    /// Moves what lives out of the nodes' and chunks' zones that are worth it.
    ///
    /// The trees and lists are read while they are cleaned, so what the flush has appended is
    /// written first.
    pub(crate) fn clean(
        &mut self,
        asked: Requests,
        shared: &Shared,
        tables: &DocumentTables,
    ) -> Result<()> {
        self.terms.flush()?;
        self.ids.flush()?;
        self.columns.flush()?;
        self.postings.flush()?;
        let now = self.condition(shared, tables);
        self.cleaning = asked.cleaning(&now);
        let Some(policy) = &mut self.cleaning else {
            return Ok(());
        };
        let is_merge = |task| matches!(task, MaintenanceTask::MergeDeltas);
        let merges = policy.joins || due(Occasion::Flush, &now).any(is_merge);
        // Joining chunks gives little space back, and takes much where there is much to join.
        policy.joins &= !has_little_room(shared);
        let policy = *policy;
        if policy.leaves_open {
            self.terms.leave_sparse_zones(OPEN_LIVE_SHARE)?;
            self.ids.leave_sparse_zone(OPEN_LIVE_SHARE)?;
            self.columns.leave_sparse_zone(OPEN_LIVE_SHARE)?;
            self.postings.leave_sparse_open_zones(OPEN_LIVE_SHARE)?;
        }
        // What the flush has left dead is not to be set against what this gives back.
        self.dead_before = dead_bytes(&shared.store);
        let merged = merges && self.merge_deltas(policy, shared, tables)?;
        if policy.merges_ids {
            self.merge_ids(shared)?;
        }
        if policy.joins {
            self.join_chunks(shared, tables)?;
            self.joining.any |= merged;
        }
        self.empty_zones(policy, shared, tables.end())
    }

    /// Moves what lives out of the zones of kinds that the flush moves.
    fn empty_zones(&mut self, policy: CleaningPolicy, shared: &Shared, below: DocId) -> Result<()> {
        for owner in owners() {
            let Mover::InFlush { bounds, act } = owner.mover() else {
                continue;
            };
            let bounds = bounds(&IndexSizes {
                terms: &self.terms.view(),
                ids: &self.ids.view(),
                columns: &self.columns.view(),
                below,
            });
            let step = CleaningStep::choose(shared, owner, bounds, policy, |number, _| {
                number >= self.first_zone
            })?;
            if !step.victims.is_empty() {
                act(&mut self.parts(shared), &step.victims)?;
            }
        }
        Ok(())
    }

    /// Has delta postings join their lists, so that no term takes a read more for them. Tells
    /// whether there were any.
    fn merge_deltas(
        &mut self,
        policy: CleaningPolicy,
        shared: &Shared,
        tables: &DocumentTables,
    ) -> Result<bool> {
        let terms = self.terms.view();
        if !terms.has_recent() {
            return Ok(false);
        }
        // Lists are written anew with what joins them, and as much of chunks.
        let deltas = node_bytes(&terms, &mut delta_trees());
        let chunks = list_chunks(&shared.store).min(deltas);
        let needed = node_bytes(&terms, &mut TermTree::LISTS.into_iter()) + deltas + chunks;
        let needed = needed.min(SETTLED_BYTES_MAX);
        // Deletions and a vacuum have to find their reserve, unless this was asked for.
        let left = if policy.joins {
            0
        } else {
            reserve_for_steps(shared.store.zones().allocated_bytes())
        };
        // Space is kept for the next flush to compact delta postings. Once merged, there are none.
        let Some(_claim) = shared.room.claim_with_kept(needed + left, deltas)? else {
            return Ok(false);
        };
        let pool = &shared.pool;
        let lists = ListMerger {
            postings: &self.postings,
            store: &shared.store,
            norms: TableNorms { tables, pool },
        };
        let join = |additions: Vec<Addition<'_>>| lists.join(additions);
        self.terms.settle(pool, SETTLED_NODES_MAX, &join)?;
        self.terms.flush()?;
        self.postings.flush()?;
        Ok(true)
    }

    /// Makes one run of all that have external IDs, if there is space for it beside them.
    fn merge_ids(&mut self, shared: &Shared) -> Result<()> {
        let bytes = self.ids.view().nodes() * PAGE_SIZE as u64;
        let Some(_claim) = shared.room.claim_with_kept(bytes, 0)? else {
            return Ok(());
        };
        self.ids.merge_all(&shared.pool)
    }

    /// Makes one chunk of the small chunks at the ends of lists, from a key on, so that each list
    /// takes fewer reads. Beside writing that would be for nothing: the next postings begin
    /// another.
    fn join_chunks(&mut self, shared: &Shared, tables: &DocumentTables) -> Result<()> {
        let from = self.joining.from.take().unwrap_or_default();
        let (keys, next) = self.keys_to_join(&from, shared)?;
        (self.joining.from, self.joining.any) = (next, !keys.is_empty());
        if keys.is_empty() {
            return Ok(());
        }
        shared.options.limits.enter(Phase::Cleaning);
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let pool = &shared.pool;
        let (postings, norms) = (&self.postings, TableNorms { tables, pool });
        self.terms.update(pool, &keys, &|old| {
            let mut items = Vec::with_capacity(old.len());
            for (term, old) in old {
                items.push(MergeItem {
                    field: split_term_key(keys[*term])?.0,
                    key_bytes: keys[*term].len(),
                    old: *old,
                    new: Fragment::default(),
                    joins: true,
                });
            }
            let entries = merge_window(&shared.store, postings, &norms, &items)?;
            Ok(entries.into_iter().map(Some).collect())
        })?;
        self.terms.flush()?;
        self.postings.flush()
    }

    /// Returns true if another cleaning that is asked for would do more than the last, as the index
    /// is now.
    pub(crate) fn has_more_to_clean(&self, now: &Condition<'_>) -> bool {
        let joins = self.joining.from.is_some() || self.joining.any;
        let store = &now.shared.store;
        let improved = !is_dense(store) && dead_bytes(store) < self.dead_before;
        let has_victims = |policy| now.has_victims(policy);
        joins || improved && self.cleaning.is_some_and(has_victims)
    }

    /// Returns true if lists have small chunks that can be joined.
    pub(crate) fn has_chunks_to_join(&mut self, shared: &Shared) -> Result<bool> {
        let (keys, behind) = self.keys_to_join(&[], shared)?;
        Ok(!keys.is_empty() || behind.is_some())
    }

    /// The next lists whose chunks can be joined, as many as one step takes, and where the step
    /// behind begins.
    fn keys_to_join(
        &mut self,
        from: &[u8],
        shared: &Shared,
    ) -> Result<(Vec<TermKey>, Option<TermKey>)> {
        let terms = self.terms.view();
        let mut pages = Pages::new(&shared.pool);
        let mut scans = Vec::new();
        for tree in TermTree::WITH_CHUNKS {
            let (tree, mut scan) = (terms.tree(tree), terms.tree(tree).scan(from));
            if finish(&mut pages, |pages| scan.advance(tree, pages))? {
                scans.push((tree, scan));
            }
        }
        let (mut keys, mut bytes) = (Vec::new(), 0);
        let least = |scans: &[(&TreeView, Scan)]| {
            (0..scans.len()).min_by(|a, b| scans[*a].1.key().cmp(scans[*b].1.key()))
        };
        while let Some(at) = least(&scans) {
            let (tree, scan) = &mut scans[at];
            if bytes > JOINED_BYTES_MAX {
                return Ok((keys, Some(scan.key().to_vec())));
            }
            let joinable = self.postings.joinable_bytes(scan.value())?;
            if joinable > 0 {
                bytes += joinable;
                keys.push(scan.key().to_vec());
            }
            if !finish(&mut pages, |pages| scan.advance(tree, pages))? {
                scans.swap_remove(at);
            }
        }
        Ok((keys, None))
    }
}

/// Zones to be emptied, and the space that is claimed for what lives in them.
struct CleaningStep<'s> {
    victims: Victims,
    _claim: Claim<'s>,
}

impl<'s> CleaningStep<'s> {
    /// Chooses the zones that an owner is to empty and that are worth it, of those that may be.
    fn choose(
        shared: &'s Shared,
        owner: &dyn PageOwner,
        bounds: MoveBounds,
        policy: CleaningPolicy,
        may_empty: impl Fn(ZoneNumber, &Zone) -> bool,
    ) -> Result<CleaningStep<'s>> {
        let one_of = if bounds.takes_all {
            1
        } else {
            policy.room_one_of
        };
        let claim = shared.room.claim(bounds.most, one_of)?;
        let moved = claim.bytes().saturating_sub(bounds.beside);
        let mut victims = victims(&shared.store, &emptied_by(owner), policy, moved);
        let zones = shared.store.zones();
        let is_left = |number: &ZoneNumber| {
            let zone = zones.get(*number);
            zone.is_some_and(|zone| may_empty(*number, zone))
        };
        victims.retain(is_left);
        drop(zones);
        Ok(CleaningStep {
            victims,
            _claim: claim,
        })
    }
}

impl CheckpointMaintenance<'_> {
    /// Moves what lives out of the tables' and documents' zones that are worth it. A replay from
    /// `start` reads the log behind it, so that stays.
    pub(crate) fn clean(&mut self, start: LogStart) -> Result<()> {
        let Some(policy) = self.flusher.cleaning else {
            return Ok(());
        };
        if policy.leaves_open {
            self.owned.leave_sparse_zones(OPEN_LIVE_SHARE)?;
        }
        // Tables come last: what moves of them cannot be read before the streams are written out.
        for owner in owners() {
            let Mover::AtCheckpoint { bounds, act } = owner.mover() else {
                continue;
            };
            let bounds = bounds(&IndexSizes {
                terms: &self.state.terms,
                ids: &self.state.ids,
                columns: &self.state.column_tree,
                below: self.state.below,
            });
            let shared = self.shared;
            let step = CleaningStep::choose(shared, owner, bounds, policy, |number, zone| {
                !zone.replays(number, start)
            })?;
            if !step.victims.is_empty() {
                act(&mut self.parts(), &step.victims)?;
            }
        }
        Ok(())
    }
}

/// Bytes of all chunks that lists have.
fn list_chunks(store: &Store) -> u64 {
    let zones = store.zones();
    let chunks = zones
        .iter()
        .filter(|(_, zone)| zone.kind == PageKind::Postings);
    chunks.map(|(_, zone)| zone.live).sum()
}
