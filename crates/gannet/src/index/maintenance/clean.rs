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
use crate::index::flush::ListMerger;
use crate::index::flush::{
    AT_REST, BESIDE_WASTE, BESIDE_WRITING, CleaningPolicy, FOR_SPACE, Flusher, THOROUGH,
    TableNorms, WASTE_SHARE, lock,
};
use crate::index::handle::Index;
use crate::index::state::{Phase, Shared};
use crate::index::write::{Writer, reserve_for_steps};
use crate::postings::{
    Addition, Fragment, MergeItem, TermEntry, TermTree, TermView, merge_window, relocate_window,
};
use crate::storage::{
    LogStart, PageKind, RecordKind, Store, Zone, ZoneRecord, frame, read_records,
};

/// There is little space where less than one byte of so many of the index is free for work that can
/// wait, and less than steps of maintenance take in all.
const LITTLE_ONE_OF: u64 = 4;
const LITTLE_MAX: u64 = 256 << 20;

/// Delta postings take much of the space where they have a byte of so many that are free for work
/// that can wait.
const RECENT_ONE_OF: u64 = 12;

/// What a step of delta postings that join their lists writes at most: nodes, and chunks beside
/// them.
const SETTLED_BYTES_MAX: u64 = 3 * SETTLED_NODES_MAX * PAGE_SIZE as u64;

/// Which part of the room a cleaning of nodes or of chunks takes; most is left for documents, of
/// which a zone is the cheapest to empty.
const ROOM_ONE_OF: u64 = 4;

/// The share below which an open zone is left.
const OPEN_LIVE_SHARE: f64 = 0.5;

/// One in so many documents must be deleted for a vacuum to be worth it.
const DELETED_ONE_OF: u64 = 100;

/// The least that a cleaning must give back for it to be worth it: one byte of so many of the
/// index, and this.
const GAIN_ONE_OF: u64 = 64;
const GAIN_MIN: u64 = 64 << 10;

/// A thorough cleaning ends when at most one byte of so many is dead.
const DENSE: u64 = 25;

/// Live bytes that one checkpoint moves at most, so that cleaning never holds up a write for long.
const MOVED_BYTES_MAX: u64 = 32 << 20;

/// What the table of addresses has of a document, at most.
const ADDRESS_BYTES: u64 = 12;

/// Bytes of small chunks that one checkpoint joins at most.
const JOINED_BYTES_MAX: u64 = 32 << 20;

/// Nodes of delta postings that join their lists in one step, or of lists that are written for it:
/// 32 MiB.
const SETTLED_NODES_MAX: u64 = 8192;

/// While nobody writes, delta postings join their lists once they take a node for so many of
/// lists, all of which may be written for it.
const SETTLED_ONE_OF: u64 = 16;

/// Bytes that nothing refers to.
fn dead_bytes(store: &Store) -> u64 {
    store
        .zones()
        .iter()
        .map(|(_, zone)| zone.dead_bytes())
        .sum()
}

/// Whether so little is dead that a thorough cleaning ends.
fn is_dense(store: &Store) -> bool {
    dead_bytes(store) * DENSE <= store.zones().allocated_bytes()
}

/// What is worth it while documents come.
fn beside_writing(store: &Store) -> CleaningPolicy {
    match is_wasteful(store) {
        true => BESIDE_WASTE,
        false => BESIDE_WRITING,
    }
}

/// Whether much of the index is dead.
fn is_wasteful(store: &Store) -> bool {
    let zones = store.zones();
    let closed = zones.iter().filter(|(_, zone)| !zone.open);
    let dead: u64 = closed.map(|(_, zone)| zone.dead_bytes()).sum();
    dead as f64 > zones.allocated_bytes() as f64 * WASTE_SHARE
}

type Victims = BTreeSet<ZoneNumber>;

/// The key of a term.
type TermKey = Vec<u8>;

impl Flusher {
    /// Moves what lives out of the nodes' and chunks' zones that are worth it, or of all that are
    /// worth what was asked for.
    ///
    /// The trees and lists are read while they are cleaned, so what the flush has appended is
    /// written first.
    pub(crate) fn clean(
        &mut self,
        asked: Option<CleaningPolicy>,
        shared: &Shared,
        tables: &DocumentTables,
    ) -> Result<()> {
        self.terms.flush()?;
        self.ids.flush()?;
        self.postings.flush()?;
        self.worth = match asked {
            Some(worth) => worth,
            None => match (has_little_room(shared)?, self.vacuum.is_under_way()) {
                (true, true) => FOR_SPACE,
                (true, false) => BESIDE_WASTE,
                (false, _) => beside_writing(&shared.store),
            },
        };
        let settles = self.worth.joins || self.recent_take_much(shared)?;
        // Joining chunks gives little space back, and takes much where there is much to join.
        self.worth.joins &= !has_little_room(shared)?;
        if self.worth.leaves_open {
            self.terms.leave_sparse_zones(OPEN_LIVE_SHARE)?;
            self.ids.leave_sparse_zone(OPEN_LIVE_SHARE)?;
            let mut streams = self.postings.all().into_iter();
            streams.try_for_each(|stream| stream.leave_sparse_zone(OPEN_LIVE_SHARE))?;
        }
        // What the flush has left dead is not to be set against what this gives back.
        self.dead_before = dead_bytes(&shared.store);
        let settled = settles && self.settle_recent(shared, tables)?;
        if self.worth.joins {
            self.join_chunks(shared, tables)?;
            self.joining.any |= settled;
        }
        self.clean_trees(shared)?;
        self.clean_lists(shared)
    }

    fn clean_trees(&mut self, shared: &Shared) -> Result<()> {
        let claim = shared.room.claim(2 * MOVED_BYTES_MAX, ROOM_ONE_OF)?;
        let beside = mapping_bytes(&self.terms.view(), self.ids.view());
        let nodes = self.victims(shared, PageKind::Node, claim.bytes().saturating_sub(beside));
        match nodes.is_empty() {
            true => Ok(()),
            false => self.clean_nodes(shared, &nodes),
        }
    }

    fn clean_lists(&mut self, shared: &Shared) -> Result<()> {
        // A leaf is written for each of the entries whose chunks move, but none more than once.
        let terms = self.terms.view();
        let leaves = node_bytes(&terms, TermTree::WITH_CHUNKS.into_iter());
        let beside = leaves + mapping_bytes(&terms, self.ids.view());
        let claim = shared
            .room
            .claim(MOVED_BYTES_MAX.saturating_add(beside), ROOM_ONE_OF)?;
        let moved = claim.bytes().saturating_sub(beside);
        let postings = self.victims(shared, PageKind::Postings, moved);
        if postings.is_empty() {
            return Ok(());
        }
        self.terms.flush()?;
        self.clean_postings(shared, &postings)
    }

    /// The zones of this kind that are worth it, of its own, of which so many bytes at most are
    /// moved.
    fn victims(&self, shared: &Shared, kind: PageKind, moved_max: u64) -> Victims {
        let mut victims = victims(&shared.store, &[kind], self.worth, moved_max);
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
    fn settle_recent(&mut self, shared: &Shared, tables: &DocumentTables) -> Result<bool> {
        let terms = self.terms.view();
        if !terms.has_recent() {
            return Ok(false);
        }
        // Lists are written anew with what joins them, and as much of chunks.
        let recent = node_bytes(&terms, recent_trees());
        let chunks = list_chunks(&shared.store).min(recent);
        let needed = node_bytes(&terms, TermTree::LISTS.into_iter()) + recent + chunks;
        let needed = needed.min(SETTLED_BYTES_MAX);
        // Deletions and a vacuum have to find their reserve, unless this was asked for.
        let left = match self.worth.joins {
            true => 0,
            false => reserve_for_steps(shared.store.zones().allocated_bytes()),
        };
        let claim = shared.room.claim(needed + left, 1)?;
        if claim.bytes() < needed + left {
            return Ok(false);
        }
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

    /// Whether there is so little space that delta postings, all of which a flush may write anew,
    /// take much of it.
    fn recent_take_much(&self, shared: &Shared) -> Result<bool> {
        let recent = node_bytes(&self.terms.view(), recent_trees());
        let allocated = shared.store.zones().allocated_bytes();
        let room = shared.room.free()?;
        Ok(room < allocated.min(LITTLE_MAX) && recent * RECENT_ONE_OF > room)
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

impl Index {
    /// Whether enough documents are deleted for [`Index::vacuum`] to be worth what it writes: one
    /// in a hundred.
    pub fn needs_vacuum(&self) -> Result<bool> {
        self.with_writer(|writer| {
            writer.wait_for_all()?;
            let (dead, gone) = (
                writer.state.dead_documents(),
                writer.state.vacuumed.documents,
            );
            let all = (writer.state.below as u64).saturating_sub(gone);
            Ok(dead > 0 && dead * DELETED_ONE_OF >= all)
        })
    }

    /// Whether [`Index::clean`] has enough to do to be worth what it writes. Either a sixty-fourth
    /// of the index, and 64 KiB, come back from zones of which a tenth is dead. Or lists have many
    /// delta postings, or small chunks that can be joined.
    pub fn needs_cleaning(&self) -> Result<bool> {
        self.with_writer(Writer::needs_cleaning)
    }
}

impl Writer {
    fn wait_for_all(&mut self) -> Result<()> {
        self.check_running()?;
        self.wait_for_flush()
    }

    fn needs_cleaning(&mut self) -> Result<bool> {
        self.wait_for_all()?;
        let shared = Arc::clone(&self.shared);
        let least = shared.store.zones().allocated_bytes() / GAIN_ONE_OF;
        if self.has_many_recent() || self.gain() >= least.max(GAIN_MIN) {
            return Ok(true);
        }
        let flusher = Arc::clone(&self.flusher);
        let (keys, behind) = lock(&flusher).keys_to_join(&[], &shared)?;
        Ok(!keys.is_empty() || behind.is_some())
    }

    /// Whether another cleaning that is asked for would do more.
    pub(crate) fn has_more_to_clean(&mut self, flusher: &Flusher) -> bool {
        let joins = flusher.joining.from.is_some() || flusher.joining.any;
        let (store, worth) = (Arc::clone(&self.shared.store), flusher.worth);
        let improved = dead_bytes(&store) < flusher.dead_before;
        let more = !is_dense(&store) && improved && self.has_victims(worth);
        joins || more
    }

    /// Whether so much is dead that the next flush is not to wait for documents.
    pub(crate) fn cleans_early(&mut self) -> bool {
        let room = self.shared.room.free().unwrap_or(0);
        is_wasteful(&self.shared.store) && room >= MOVED_BYTES_MAX && self.has_victims(BESIDE_WASTE)
    }

    /// Whether there is something to clean at rest.
    pub(crate) fn is_worn(&mut self) -> bool {
        self.has_many_recent() || self.has_victims(AT_REST)
    }

    /// Whether delta postings are so many that they are worth joining their lists.
    fn has_many_recent(&self) -> bool {
        let terms = &self.state.terms;
        let nodes = |trees: &mut dyn Iterator<Item = TermTree>| -> u64 {
            trees.map(|tree| terms.tree(tree).nodes()).sum()
        };
        let lists = nodes(&mut TermTree::LISTS.into_iter());
        let recent = nodes(&mut TermTree::ALL.into_iter()) - lists;
        terms.has_recent() && recent * SETTLED_ONE_OF >= lists
    }

    /// Whether there is anything that a cleaning of this worth would move.
    fn has_victims(&mut self, worth: CleaningPolicy) -> bool {
        let log = self.log.end();
        let store = &self.shared.store;
        // What there is no room to move is nothing to clean.
        let moved = self.shared.room.free().unwrap_or(0).min(MOVED_BYTES_MAX);
        let mut kinds = [PageKind::Node, PageKind::Postings, PageKind::Table].into_iter();
        kinds.any(|kind| !victims(store, &[kind], worth, moved).is_empty())
            || !self.document_victims(log, worth, moved).is_empty()
    }

    /// Bytes that a thorough cleaning would give back, in as many steps as it takes.
    fn gain(&mut self) -> u64 {
        let log = self.log.end();
        let zones = self.shared.store.zones();
        let sparse = zones.iter().filter(|(number, zone)| {
            let may_move = !zone.open && zone.live > 0 && zone.kind != PageKind::Root;
            may_move && !zone.replays(*number, log) && zone.live_share() < THOROUGH.live_share
        });
        sparse.map(|(_, zone)| zone.dead_bytes()).sum()
    }

    /// Moves what lives out of the tables' and documents' zones that are worth it. A replay from
    /// `start` reads the log behind it, so that stays.
    pub(crate) fn clean(&mut self, flusher: &mut Flusher, start: LogStart) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        if flusher.worth.leaves_open {
            self.moved.leave_sparse_zone(OPEN_LIVE_SHARE)?;
            self.pages.leave_sparse_zone(OPEN_LIVE_SHARE)?;
        }
        // The addresses of documents that move are written anew.
        let beside = self.state.below as u64 * ADDRESS_BYTES;
        let claim = shared
            .room
            .claim(MOVED_BYTES_MAX.saturating_add(beside), 1)?;
        let moved = claim.bytes().saturating_sub(beside);
        for (zone, kind) in self.document_victims(start, flusher.worth, moved) {
            self.clean_documents(zone, kind)?;
        }
        drop(claim);
        // Tables come last: what moves of them cannot be read before the streams are written out.
        let claim = shared.room.claim(MOVED_BYTES_MAX, ROOM_ONE_OF)?;
        let tables = victims(
            &shared.store,
            &[PageKind::Table],
            flusher.worth,
            claim.bytes(),
        );
        if !tables.is_empty() {
            self.clean_tables(flusher, &tables)?;
        }
        Ok(())
    }

    fn document_victims(
        &self,
        start: LogStart,
        worth: CleaningPolicy,
        moved_max: u64,
    ) -> Vec<(ZoneNumber, PageKind)> {
        let kinds = [PageKind::Log, PageKind::Documents];
        let victims = victims(&self.shared.store, &kinds, worth, moved_max);
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

    /// Whether this is where a live document stands.
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

/// Whether there is little space for work that can wait.
fn has_little_room(shared: &Shared) -> Result<bool> {
    let allocated = shared.store.zones().allocated_bytes();
    Ok(shared.room.free()? < (allocated / LITTLE_ONE_OF).min(LITTLE_MAX))
}

fn recent_trees() -> impl Iterator<Item = TermTree> {
    let is_recent = |tree: &TermTree| !TermTree::LISTS.contains(tree);
    TermTree::ALL.into_iter().filter(is_recent)
}

/// Bytes of all nodes of some trees.
fn node_bytes(terms: &TermView, trees: impl Iterator<Item = TermTree>) -> u64 {
    trees
        .map(|tree| terms.tree(tree).nodes() * PAGE_SIZE as u64)
        .sum()
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

/// The closed zones of these kinds with little live data, least first, up to a bound on what is
/// moved; none if cleaning them is not worth a sweep.
fn victims(store: &Store, kinds: &[PageKind], worth: CleaningPolicy, moved_max: u64) -> Victims {
    let zones = store.zones();
    let mut candidates: Vec<(u64, ZoneNumber)> = zones
        .iter()
        .filter(|(_, zone)| !zone.open && zone.live > 0 && kinds.contains(&zone.kind))
        .filter(|(_, zone)| zone.live_share() < worth.live_share)
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
    match dead * worth.one_of >= zones.allocated_bytes() {
        true => victims,
        false => Victims::new(),
    }
}
