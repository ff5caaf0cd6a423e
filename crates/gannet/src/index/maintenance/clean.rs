//! Cleaning: zones with little live data are emptied by moving what lives, so that their space
//! comes back; when it is asked for, small chunks of lists are joined too.
//!
//! It runs before a checkpoint's root is written, which then no longer refers to the victims. The
//! victim rule is greedy: the zones whose live share is least, while each costs less than two
//! thirds of what it gives back, if all of them give back enough; when it is asked for, as long as
//! anything is left to give back. Source of the mechanism: the node validation manager of the AS
//! B-tree (Roh et al., 2014), which waits for 5 %.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::analysis::split_term_key;
use crate::base::{DocId, Error, PAGE_SIZE, PageAddress, Result, ZoneNumber};
use crate::btree::{Scan, TreeView};
use crate::cache::{Pages, finish};
use crate::documents::{Address, DocumentRecord, DocumentTables, TableChange};
use crate::index::flush::{Flusher, ListMerger, TableNorms};
use crate::index::schedule::{
    CleaningPolicy, MOVED_BYTES_MAX, MaintenanceTask, Occasion, Requests, dead_bytes, delta_trees,
    due, has_little_room, is_dense, node_bytes, victims,
};
use crate::index::state::{Phase, Shared};
use crate::index::write::{Writer, reserve_for_steps};
use crate::postings::{
    Addition, Fragment, MergeItem, TermEntry, TermTree, TermView, merge_window, relocate_window,
};
use crate::storage::{LogStart, PageKind, RecordKind, Store, ZoneRecord, frame, read_records};

/// The greatest number of bytes that a step writes which merges delta postings into their lists:
/// nodes, and chunks beside them.
const SETTLED_BYTES_MAX: u64 = 3 * SETTLED_NODES_MAX * PAGE_SIZE as u64;

/// The share below which an open zone is left.
const OPEN_LIVE_SHARE: f64 = 0.5;

/// The greatest number of bytes of a document in the table of addresses.
const ADDRESS_BYTES: u64 = 12;

/// Bytes of small chunks that one checkpoint joins at most.
const JOINED_BYTES_MAX: u64 = 32 << 20;

/// Nodes of delta postings that join their lists in one step, or of lists that are written for it:
/// 32 MiB.
const SETTLED_NODES_MAX: u64 = 8192;

type Victims = BTreeSet<ZoneNumber>;

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
            let mut streams = self.postings.all().into_iter();
            streams.try_for_each(|stream| stream.leave_sparse_zone(OPEN_LIVE_SHARE))?;
        }
        // What the flush has left dead is not to be set against what this gives back.
        self.dead_before = dead_bytes(&shared.store);
        let merged = merges && self.merge_deltas(policy, shared, tables)?;
        if policy.joins {
            self.join_chunks(shared, tables)?;
            self.joining.any |= merged;
        }
        self.clean_trees(policy, shared)?;
        self.clean_lists(policy, shared)
    }

    fn clean_trees(&mut self, policy: CleaningPolicy, shared: &Shared) -> Result<()> {
        let claim = shared.room.claim(2 * MOVED_BYTES_MAX, policy.room_one_of)?;
        let beside = mapping_bytes(&self.terms.view(), self.ids.view());
        let moved = claim.bytes().saturating_sub(beside);
        let nodes = self.victims(shared, PageKind::Node, policy, moved);
        if nodes.is_empty() {
            Ok(())
        } else {
            self.clean_nodes(shared, &nodes)
        }
    }

    fn clean_lists(&mut self, policy: CleaningPolicy, shared: &Shared) -> Result<()> {
        // A leaf is written for each of the entries whose chunks move, but none more than once.
        let terms = self.terms.view();
        let leaves = node_bytes(&terms, &mut TermTree::WITH_CHUNKS.into_iter());
        let beside = leaves + mapping_bytes(&terms, self.ids.view());
        let most = MOVED_BYTES_MAX.saturating_add(beside);
        let claim = shared.room.claim(most, policy.room_one_of)?;
        let moved = claim.bytes().saturating_sub(beside);
        let postings = self.victims(shared, PageKind::Postings, policy, moved);
        if postings.is_empty() {
            return Ok(());
        }
        self.terms.flush()?;
        self.clean_postings(shared, &postings)
    }

    /// The zones of this kind that are worth it, of its own, of which so many bytes at most are
    /// moved.
    fn victims(
        &self,
        shared: &Shared,
        kind: PageKind,
        policy: CleaningPolicy,
        moved_max: u64,
    ) -> Victims {
        let mut victims = victims(&shared.store, &[kind], policy, moved_max);
        victims.split_off(&self.first_zone)
    }

    fn clean_nodes(&mut self, shared: &Shared, victims: &Victims) -> Result<()> {
        shared.options.limits.enter(Phase::Cleaning);
        let is_victim = |zone| victims.contains(&zone);
        self.terms.move_out_of(&shared.pool, &is_victim)?;
        self.ids.move_out_of(&shared.pool, &is_victim)?;
        Ok(())
    }

    /// Sweeps the entries with chunks for those that have some in the victims and moves these.
    fn clean_postings(&mut self, shared: &Shared, victims: &Victims) -> Result<()> {
        shared.options.limits.enter(Phase::Cleaning);
        let is_victim = |zone| victims.contains(&zone);
        let keys = self.keys_with_chunks(shared, &is_victim)?;
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let (store, postings) = (&shared.store, &self.postings);
        self.terms.update(&shared.pool, &keys, &|old| {
            // All of them are there: the sweep found them.
            let entries = old.iter().map(|(_, entry)| entry.unwrap_or_default());
            let entries: Vec<&[u8]> = entries.collect();
            relocate_window(&entries, &is_victim, store, postings)
        })
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

    fn keys_with_chunks(
        &mut self,
        shared: &Shared,
        is_victim: &dyn Fn(ZoneNumber) -> bool,
    ) -> Result<Vec<Vec<u8>>> {
        // The flush before has left nodes in the stream's buffer, where a scan would not find them.
        self.terms.flush()?;
        let terms = self.terms.view();
        let mut pages = Pages::new(&shared.pool);
        let mut keys = Vec::new();
        for tree in TermTree::WITH_CHUNKS {
            let tree = terms.tree(tree);
            let mut scan = tree.scan(&[]);
            while finish(&mut pages, |pages| scan.advance(tree, pages))? {
                let chunks = TermEntry::decode_only_chunks(scan.value())?;
                let mut spans = chunks.iter().flat_map(|chunk| chunk.place.spans());
                if spans.any(|run| is_victim(run.zone)) {
                    keys.push(scan.key().to_vec());
                }
            }
        }
        keys.sort_unstable();
        Ok(keys)
    }
}

impl Writer {
    /// Returns true if another cleaning that is asked for would do more.
    pub(crate) fn has_more_to_clean(&mut self, flusher: &Flusher) -> bool {
        let joins = flusher.joining.from.is_some() || flusher.joining.any;
        let store = &self.shared.store;
        let improved = !is_dense(store) && dead_bytes(store) < flusher.dead_before;
        let has_victims = |policy| self.condition_with_log().has_victims(policy);
        joins || improved && flusher.cleaning.is_some_and(has_victims)
    }

    /// Moves what lives out of the tables' and documents' zones that are worth it. A replay from
    /// `start` reads the log behind it, so that stays.
    pub(crate) fn clean(&mut self, flusher: &mut Flusher, start: LogStart) -> Result<()> {
        let Some(policy) = flusher.cleaning else {
            return Ok(());
        };
        let shared = Arc::clone(&self.shared);
        if policy.leaves_open {
            self.moved.leave_sparse_zone(OPEN_LIVE_SHARE)?;
            self.pages.leave_sparse_zone(OPEN_LIVE_SHARE)?;
        }
        // The addresses of documents that move are written anew.
        let beside = self.state.below as u64 * ADDRESS_BYTES;
        let claim = shared
            .room
            .claim(MOVED_BYTES_MAX.saturating_add(beside), 1)?;
        let moved = claim.bytes().saturating_sub(beside);
        for (zone, kind) in self.document_victims(start, policy, moved) {
            self.clean_documents(zone, kind)?;
        }
        drop(claim);
        // Tables come last: what moves of them cannot be read before the streams are written out.
        let claim = shared.room.claim(MOVED_BYTES_MAX, policy.room_one_of)?;
        let tables = victims(&shared.store, &[PageKind::Table], policy, claim.bytes());
        if !tables.is_empty() {
            self.clean_tables(flusher, &tables)?;
        }
        Ok(())
    }

    fn document_victims(
        &self,
        start: LogStart,
        policy: CleaningPolicy,
        moved_max: u64,
    ) -> Vec<(ZoneNumber, PageKind)> {
        let kinds = [PageKind::Log, PageKind::Documents];
        let victims = victims(&self.shared.store, &kinds, policy, moved_max);
        let zones = self.shared.store.zones();
        let kind = |number| {
            let zone = zones.get(number)?;
            (!zone.replays(number, start)).then_some((number, zone.kind))
        };
        victims.into_iter().filter_map(kind).collect()
    }

    /// The mapping pages of the trees are moved by the trees.
    fn clean_tables(&mut self, flusher: &mut Flusher, victims: &Victims) -> Result<()> {
        flusher.clean_nodes(&self.shared, victims)?;
        let (shared, stream) = (&self.shared, &mut self.pages);
        let is_victim = |zone| victims.contains(&zone);
        let tables = &mut self.state.tables;
        tables.move_out_of(&is_victim, &shared.pool, &shared.store, stream)
    }

    /// Copies the live documents of a zone to the end of the moved documents.
    fn clean_documents(&mut self, zone: ZoneNumber, kind: PageKind) -> Result<()> {
        self.shared.options.limits.enter(Phase::Cleaning);
        let store = Arc::clone(&self.shared.store);
        let pages = store.zones().get(zone).map_or(0, |zone| zone.pages);
        let first = PageAddress { zone, page: 0 };
        let mut move_record = |record: ZoneRecord| self.move_document(record);
        let read = read_records(&store, kind, first, pages, &mut move_record)?;
        if read < pages {
            return Err(Error::damaged(
                format!("zone {zone}"),
                format!("expected {pages} whole pages, got {read}"),
            ));
        }
        Ok(())
    }

    fn move_document(&mut self, record: ZoneRecord) -> Result<()> {
        if record.kind != RecordKind::Document {
            return Ok(());
        }
        let doc = DocumentRecord::decode(&record.body)?.doc;
        if !self.stands_at(doc, Address::of(record.span)?)? {
            return Ok(());
        }
        let copy = frame(RecordKind::Document, true, &record.body);
        let span = self.moved.append(&copy)?;
        self.load_tables(&[TableChange::SetAddress(doc)])?;
        self.state.tables.set_address(doc, span)?;
        self.shared.store.release_span(record.span);
        Ok(())
    }

    /// Returns true if a live document stands at this address.
    fn stands_at(&self, doc: DocId, address: Address) -> Result<bool> {
        if doc >= self.state.below {
            return Ok(false);
        }
        let tables = &self.state.tables;
        let mut pages = Pages::new(&self.shared.pool);
        finish(&mut pages, |pages| {
            Ok(tables.is_live(doc, pages)? && tables.address(doc, pages)? == address)
        })
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

/// The node mappings of all trees, which moved nodes change.
fn mapping_bytes(terms: &TermView, ids: &TreeView) -> u64 {
    let nodes: u64 = TermTree::ALL
        .map(|tree| terms.tree(tree).nodes())
        .iter()
        .sum();
    (nodes + ids.nodes()) * size_of::<u64>() as u64
}
