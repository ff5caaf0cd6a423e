//! Opening: the newest root, then the log behind it.
//!
//! A replay puts the logged batches back into the posting buffer and the tables, just as they were written,
//! with their doc IDs, versions and sequence numbers. What it accepted is synced before anything is built on
//! it: after a kill the pages may be in the file but not yet durable.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::backup::read_root;
use super::buffers::Buffers;
use super::chores::Chores;
use super::flush::Flusher;
use super::leases::Leases;
use super::lifetime::Lifetime;
use super::memory::MemoryPlan;
use super::options::Options;
use super::pace::Pace;
use super::prepare::Preparation;
use super::reading::{self, HeldRoot};
use super::results;
use super::room::Room;
use super::root::{Covered, RootRecord};
use super::shared::Shared;
use super::space::Space;
use super::state::{Epoch, Published, RetiredZones, State};
use super::tier::{Tier, tier_root};
use super::upkeep::Kept;
use super::vacuum::{Vacuum, Vacuumed};
use super::writer::Writer;
use crate::base::{Budget, Error, PAGE_SIZE, Reservation, Result, Traffic, ZoneNumber};
use crate::cache::FramePool;
use crate::device::{Device, FileId};
use crate::dictionary::Tree;
use crate::documents::{Dictionaries, DocumentTables};
use crate::postings::TermDictionary;
use crate::storage::{
    Found, History, IndexIdentity, Log, LogReach, LogStart, PageKind, ReplayEnd, RootSlot,
    SlotKind, Store, Unsynced, ZoneTable, create_superblock, find_root, has_log_behind,
    settle_slot,
};

/// An index of which the root has been read.
pub(super) struct Opened {
    pub(super) store: Store,
    pub(super) record: RootRecord,
    /// Nothing if the index is new.
    pub(super) root: Option<HeldRoot>,
}

/// Opens what is on the device, or makes an index. There is no writer where only reading is asked for.
pub(super) fn open(
    device: Arc<dyn Device>,
    path: &Path,
    options: Options,
) -> Result<(Arc<Shared>, Option<Writer>)> {
    if options.read_only {
        return reading::open(&device, path, &options).map(|shared| (shared, None));
    }
    let opened = match find_root(&device, path)? {
        Found::Root(slot) if slot.kind == SlotKind::Backup => {
            return Err(backup_is_read_only(path));
        }
        Found::Root(slot) => open_root(device, HeldRoot::of_writer(slot))?,
        Found::Nothing if options.create => make(device)?,
        Found::Nothing => return Err(no_index(path)),
        Found::Unfinished(_) => return Err(unfinished(path)),
    };
    let slot = opened.root.as_ref().map(|root| root.slot.clone());
    let (shared, mut writer, replayed) = recover(opened, options)?;
    writer.settle(replayed, slot.as_ref())?;
    let generation = writer.generation;
    writer.history.open(draw_number()?, generation + 1);
    match slot {
        None => writer.checkpoint()?,
        Some(_) if writer.state.sequence == writer.rooted.0 => writer.note_root(),
        Some(_) => {}
    }
    Ok((shared, Some(writer)))
}

/// Takes in what the root names and what the log has behind it.
pub(super) fn recover(
    opened: Opened,
    options: Options,
) -> Result<(Arc<Shared>, Writer, ReplayEnd)> {
    let Opened {
        store,
        record,
        root,
    } = opened;
    let budget = Budget::new(options.memory);
    let device = &**store.device();
    let device_memory = budget.reserve("reading the device", device.memory())?;
    let plan = options.beside(device);
    store.zones().set_zone_pages(options.limits.zone_pages);
    let reach = root.as_ref().map_or(LogReach::Written, |root| root.reach);
    let replays = has_log_behind(&store, record.covered.log_start, reach)?;
    let beside_writer = root.as_ref().is_some_and(HeldRoot::is_beside_writer);
    let memory = MemoryPlan::new(&plan, replays, beside_writer);
    let write_buffers = budget.reserve("the write buffers", memory.write_buffers())?;
    let preparing = budget.part("documents on their way", memory.preparation)?;
    let store = Arc::new(store.with_write_pages(memory.write_pages));
    let results = results::open(&options, &budget)?;
    let tier_root = root.as_ref().map(|root| tier_root(root, &record));
    let tier = Tier::open(&options, &store, tier_root.as_ref(), &budget)?;
    let pool = FramePool::new(Arc::clone(&store), &budget, memory.frames)?;
    let (pool, past_cache) = match tier {
        Tier::Open(tier) => (pool.with_tier(tier), None),
        Tier::Past(reason) => (pool, Some(reason)),
        Tier::None => (pool, None),
    };
    let terms = open_terms(&store, &pool, &record.terms)?;
    let ids = open_tree(&store, &record.ids)?;
    let state = root_state(&record, root.as_ref(), &terms, &ids, &budget)?;
    let samples = match record.dictionaries.newest() == 0 && !options.read_only {
        true => Some(budget.reserve("samples of documents", memory.samples)?),
        false => None,
    };
    let preparation = Preparation::new(
        Arc::clone(&record.schema),
        options.schema.clone(),
        record.dictionaries.clone(),
        &memory,
        samples,
        options.limits.beside,
        draw_number()?,
    );
    let shared = Arc::new(Shared {
        options,
        budget,
        memory,
        preparing,
        _write_buffers: write_buffers,
        _device: device_memory,
        traffic: Traffic::default(),
        store,
        pool,
        preparation,
        published: Published::new(state.clone()),
        room: Room::default(),
        past_cache,
        results,
        reading: Mutex::default(),
    });
    let slot = root.map(|root| root.slot);
    let mut writer = new_writer(&shared, state, terms, ids, slot, record.covered.log_start)?;
    writer.rooted_log = (!replays).then_some(record.covered.log_start);
    let replayed = writer.replay(record.covered, reach)?;
    Ok((shared, writer, replayed))
}

/// Takes in what another root of an index names that is only read, and what the log has behind it,
/// in place of the one that was read before. What is in memory of its pages stays good, since an
/// address names its bytes for ever.
pub(super) fn recover_again(
    shared: &Arc<Shared>,
    record: &RootRecord,
    root: &HeldRoot,
) -> Result<()> {
    let terms = open_terms(&shared.store, &shared.pool, &record.terms)?;
    let ids = open_tree(&shared.store, &record.ids)?;
    let state = root_state(record, Some(root), &terms, &ids, &shared.budget)?;
    let preparation = &shared.preparation;
    preparation.fields.replace(Arc::clone(&record.schema));
    preparation.replace_dictionaries(record.dictionaries.clone());
    let slot = Some(root.slot.clone());
    let mut writer = new_writer(shared, state, terms, ids, slot, record.covered.log_start)?;
    writer.replay(record.covered, root.reach)?;
    writer.keep_tables();
    Ok(())
}

/// The state that a root names, without what the log has behind it.
fn root_state(
    record: &RootRecord,
    root: Option<&HeldRoot>,
    terms: &TermDictionary,
    ids: &Tree,
    budget: &Budget,
) -> Result<State> {
    let generation = root.map_or(0, |root| root.slot.generation);
    let lease = root.and_then(|root| root.lease.clone());
    Ok(State {
        epoch: Arc::new(Epoch::new(generation, lease)),
        schema: Arc::clone(&record.schema),
        terms: terms.view(),
        ids: ids.view().clone(),
        buffers: Buffers::new(budget)?,
        tables: record.tables.clone(),
        dictionaries: record.dictionaries.clone(),
        statistics: Arc::new(record.statistics.clone()),
        vacuumed: record.vacuumed.clone(),
        lifetime: record.lifetime,
        below: record.next_doc,
        renumbered: 0,
        documents: record.documents,
        sequence: record.sequence,
        number: 0,
    })
}

/// The error for a folder without an index.
pub(super) fn no_index(path: &Path) -> Error {
    Error::Format {
        path: path.into(),
        reason: "there is no index here; make one with `gannet index`".to_owned(),
    }
}

/// The error for a backup that is opened for writing: the next backup would take the changes away,
/// and a backup that was changed restores another state than the one that it was made of.
fn backup_is_read_only(path: &Path) -> Error {
    Error::Format {
        path: path.into(),
        reason: "expected an index, found a backup, which can only be read: make an index of it with `gannet restore` and \
                 write to that, or delete the folder"
            .to_owned(),
    }
}

/// The error for a copy that is not whole.
pub(super) fn unfinished(path: &Path) -> Error {
    Error::Format {
        path: path.into(),
        reason: "expected an index, got a copy that was cut short: back up into this folder again, or remove it"
            .to_owned(),
    }
}

/// Reads a root record; the zones that it names must be there.
pub(super) fn open_root(device: Arc<dyn Device>, root: HeldRoot) -> Result<Opened> {
    let store = Store::new(device, root.slot.identity, ZoneTable::default());
    let record = read_root(&store, &root.slot)?;
    check_zones(&store, &record.zones)?;
    take_zones(&store, &record, &root.slot);
    Ok(Opened {
        store,
        record,
        root: Some(root),
    })
}

/// Takes in the zones that a root names.
pub(super) fn take_zones(store: &Store, record: &RootRecord, slot: &RootSlot) {
    let mut zones = store.zones();
    *zones = record.zones.clone();
    zones.adopt_root(slot.root);
}

/// Fails if a zone that the root names is missing or too short: then it is the wrong root.
pub(super) fn check_zones(store: &Store, zones: &ZoneTable) -> Result<()> {
    let files: BTreeMap<FileId, u32> = store.device().list()?.into_iter().collect();
    for (number, zone) in zones.iter() {
        let file = FileId::Zone(number);
        let pages = files.get(&file).copied().unwrap_or(0);
        if pages < zone.pages {
            return store.unless_expired(Err(Error::damaged(
                file.name(),
                format!("expected {} pages, got {pages}", zone.pages),
            )));
        }
    }
    Ok(())
}

/// An index with nothing in it; its first checkpoint is still to come.
fn make(device: Arc<dyn Device>) -> Result<Opened> {
    create_superblock(&device)?;
    let identity: IndexIdentity = draw_number()?;
    let store = Store::new(device, identity, ZoneTable::default());
    let record = RootRecord {
        zones: ZoneTable::default(),
        covered: Covered {
            log_start: LogStart::BEGINNING,
            below: 0,
        },
        next_doc: 0,
        sequence: 0,
        documents: 0,
        schema: Arc::default(),
        statistics: Vec::new(),
        dictionaries: Dictionaries::default(),
        tables: DocumentTables::new(),
        vacuumed: Vacuumed::default(),
        lifetime: Lifetime::default(),
        terms: Vec::new(),
        ids: Vec::new(),
    };
    Ok(Opened {
        store,
        record,
        root: None,
    })
}

fn open_terms(store: &Arc<Store>, pool: &FramePool, bytes: &[u8]) -> Result<TermDictionary> {
    match bytes.is_empty() {
        true => Ok(TermDictionary::new(store)),
        false => TermDictionary::open(store, pool, bytes),
    }
}

fn open_tree(store: &Arc<Store>, bytes: &[u8]) -> Result<Tree> {
    if bytes.is_empty() {
        return Ok(Tree::new(Arc::clone(store)));
    }
    Tree::open(Arc::clone(store), bytes)
}

pub(super) fn draw_number() -> Result<u64> {
    getrandom::u64().map_err(|error| Error::Device {
        operation: "read",
        file: "the random numbers of the system".to_owned(),
        reason: error.to_string(),
        full: false,
    })
}

fn new_writer(
    shared: &Arc<Shared>,
    state: State,
    terms: TermDictionary,
    ids: Tree,
    slot: Option<RootSlot>,
    log_start: LogStart,
) -> Result<Writer> {
    let slot = slot.as_ref();
    Ok(Writer {
        log: Log::resume(Arc::clone(&shared.store), log_start),
        tables_memory: reserve_tables(shared, &state)?,
        moved: Writer::stream(shared, PageKind::Documents),
        pages: Writer::stream(shared, PageKind::Table),
        roots: Writer::stream(shared, PageKind::Root),
        root: slot.map(|slot| slot.root),
        generation: slot.map_or(0, |slot| slot.generation),
        rooted: (state.sequence, Instant::now()),
        rooted_log: None,
        leases: Leases::begin(&**shared.store.device()),
        history: slot.map_or_else(History::default, |slot| slot.history.clone()),
        logged_fields: state.schema.fields().len(),
        logged_dictionary: state.dictionaries.newest(),
        log_source_bytes: 0,
        flushes: 0,
        life_before: state.lifetime,
        life: Lifetime::default(),
        chores: Chores::default(),
        kept: Kept::default(),
        hurries: false,
        asked_at: Instant::now(),
        written_at: Instant::now(),
        is_watched: false,
        syncing: Unsynced::default(),
        stopped: None,
        unseen: false,
        space: Space::default(),
        flusher: Arc::new(Mutex::new(Flusher {
            vacuum: Vacuum::resumed(state.vacuumed.clone()),
            ..Flusher::new(shared, terms, ids)
        })),
        flushing: None,
        flush_memory: None,
        pace: Pace::default(),
        state,
        shared: Arc::clone(shared),
    })
}

/// Reserves the memory for tables and maps that an index which is open needs.
fn reserve_tables(shared: &Shared, state: &State) -> Result<Reservation> {
    let bytes = state.tables_bytes();
    shared.budget.reserve("the tables of the index", bytes)
}

impl Writer {
    /// Gives the memory of its tables to the states that have them.
    pub(super) fn keep_tables(self) {
        // Nothing is there yet, since an epoch of a reader has one root.
        let _ = self.state.epoch.tables.set(self.tables_memory);
    }

    /// Makes what the replay accepted durable, removes what it did not, and goes on behind it.
    fn settle(&mut self, replayed: ReplayEnd, slot: Option<&RootSlot>) -> Result<()> {
        let store = Arc::clone(&self.shared.store);
        if let Some(slot) = slot {
            // Only a durable root may cost the zones of the one before it.
            settle_slot(store.device(), slot)?;
        }
        let present = store.device().list()?;
        let mut unknown = Vec::new();
        let mut accepted = Vec::new();
        for (file, pages) in present {
            let FileId::Zone(zone) = file else { continue };
            if store.zones().get(zone).is_none() {
                unknown.push((zone, pages));
            } else if replayed.zones.iter().any(|(replayed, _)| *replayed == zone) {
                accepted.push(FileId::Zone(zone));
            }
            store.zones().reserve_numbers(zone.saturating_add(1));
        }
        self.drop_unknown(&unknown)?;
        store.device().sync(&accepted)?;
        store.device().sync_directory()?;
        self.log = Log::resume(store, replayed.end);
        Ok(())
    }

    /// Removes zones that neither the root nor the log behind it names. Some of them may be named
    /// by an older root that another process still reads: then all of them wait for its leases.
    fn drop_unknown(&mut self, unknown: &[(ZoneNumber, u32)]) -> Result<()> {
        let store = &self.shared.store;
        self.leases.look(&**store.device())?;
        let zones: Vec<ZoneNumber> = unknown.iter().map(|(zone, _)| *zone).collect();
        let generation = self.generation;
        if self
            .leases
            .oldest()
            .is_none_or(|oldest| oldest >= generation)
        {
            return store.remove_zones(&zones);
        }
        let pages: u64 = unknown.iter().map(|(_, pages)| *pages as u64).sum();
        self.shared.published.retire(RetiredZones {
            generation,
            zones,
            bytes: pages * PAGE_SIZE as u64,
        });
        self.give_up_zones()
    }
}
