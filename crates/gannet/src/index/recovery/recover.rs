//! Recovery: a root becomes an open index; the log behind it is still to be replayed.

use std::sync::{Arc, Mutex};

use super::answers::with_flash;
use super::roots::{Opened, draw_number};
use super::tier::Tier;
use super::tier::tier_root;
use super::waiting::read_log;
use crate::base::{Budget, ForegroundLoad, Result};
use crate::cache::FramePool;
use crate::columns::{ColumnTree, Columns};
use crate::index::flush::{Flusher, Vacuum};
use crate::index::ingest::Preparation;
use crate::index::owners::{RootRecord, stream_count};
use crate::index::state::{
    Buffers, Epoch, HeldRoot, MemoryPlan, Options, Published, Room, Shared, StandingRoot, State,
};
use crate::index::write::Writer;
use crate::postings::TermDictionary;
use crate::runs::Runs;
use crate::search::{HotLists, ResultCache};
use crate::storage::{LogReach, Store, has_log_behind};

/// Takes in what the root names, but not what the log has behind it.
pub(crate) fn recover(opened: Opened, options: Options) -> Result<(Arc<Shared>, Writer)> {
    let Opened {
        store,
        record,
        root,
    } = opened;
    let options = options.settle_caches(&**store.device());
    let budget = Budget::new(options.memory);
    let device = &**store.device();
    let device_memory = budget.reserve("reading the device", device.memory())?;
    let plan = options.beside(device);
    store.zones().set_zone_pages(options.limits.zone_pages);
    let reach = root.as_ref().map_or(LogReach::Written, |root| root.reach);
    let replays = has_log_behind(&store, record.covered.log_start, reach)?;
    let beside_writer = root.as_ref().is_some_and(HeldRoot::is_beside_writer);
    let memory = MemoryPlan::new(&plan, stream_count(), replays, beside_writer);
    let write_buffers = budget.reserve("the write buffers", memory.write_buffers())?;
    let preparing = budget.part("documents on their way", memory.preparation)?;
    let store = Arc::new(store.with_write_pages(memory.write_pages));
    let results = open_results(&options, &budget)?;
    let (results, past_answers) = with_flash(results, &options, &budget);
    let tier_root = tier_root(root.as_ref(), &record, &store);
    let tier = Tier::open(&options, &store, &tier_root, &budget)?;
    let pool = FramePool::new(Arc::clone(&store), &budget, memory.frames)?;
    let (pool, past_cache) = match tier {
        Tier::Open(tier) => (pool.with_tier(tier), None),
        Tier::Past(reason) => (pool, Some(reason)),
        Tier::None => (pool, None),
    };
    let [terms, ids, columns] = record.trees();
    let terms = open_terms(&store, &pool, terms)?;
    let ids = open_ids(&store, &memory, ids)?;
    let columns = open_columns(&store, columns)?;
    let trees = (&terms, &ids, &columns);
    let state = root_state(&record, root.as_ref(), trees, &budget)?;
    let samples = if record.dictionaries.newest() == 0 && !options.read_only {
        Some(budget.reserve("samples of documents", memory.samples)?)
    } else {
        None
    };
    let preparation = Preparation::new(
        Arc::clone(&record.schema),
        options.schema.clone(),
        record.dictionaries.clone(),
        memory.document_bytes_max,
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
        traffic: ForegroundLoad::default(),
        room: Room::new(Arc::clone(&store)),
        store,
        hot: HotLists::new(&pool),
        pool,
        preparation,
        published: Published::new(state.clone()),
        past_cache,
        past_answers,
        results,
        reading: Mutex::default(),
    });
    shared
        .preparation
        .replace_columns(Arc::clone(&state.columns));
    let flusher = new_flusher(&shared, &state, terms, ids, columns);
    let slot = root.as_ref().map(|root| &root.slot);
    let log = (record.covered.log_start, replays);
    let writer = Writer::open(&shared, state, flusher, record.parts, slot, log)?;
    Ok((shared, writer))
}

/// Takes in what another root of an index names that is only read, and what the log has behind it,
/// in place of the one that was read before. What is in memory of its pages stays good, since an
/// address names its bytes for ever.
pub(crate) fn recover_again(
    shared: &Arc<Shared>,
    record: &RootRecord,
    root: &HeldRoot,
) -> Result<()> {
    let [terms, ids, columns] = record.trees();
    let terms = open_terms(&shared.store, &shared.pool, terms)?;
    let ids = open_ids(&shared.store, &shared.memory, ids)?;
    let columns = open_columns(&shared.store, columns)?;
    let trees = (&terms, &ids, &columns);
    let mut state = root_state(record, Some(root), trees, &shared.budget)?;
    // Its documents may have got other numbers.
    state.renumbered = shared.published.get().renumbered + 1;
    let preparation = &shared.preparation;
    preparation.fields.replace(Arc::clone(&record.schema));
    preparation.replace_dictionaries(record.dictionaries.clone());
    preparation.replace_columns(Arc::clone(&state.columns));
    let flusher = new_flusher(shared, &state, terms, ids, columns);
    let (slot, parts) = (Some(&root.slot), record.parts.clone());
    let log = (record.covered.log_start, true);
    let mut writer = Writer::open(shared, state, flusher, parts, slot, log)?;
    read_log(&mut writer, record.covered, root)?;
    writer.keep_tables();
    Ok(())
}

/// The state that a root names, without what the log has behind it.
fn root_state(
    record: &RootRecord,
    root: Option<&HeldRoot>,
    (terms, ids, columns): (&TermDictionary, &Runs, &ColumnTree),
    budget: &Budget,
) -> Result<State> {
    let generation = root.map_or(0, |root| root.slot.generation);
    let lease = root.and_then(|root| root.lease.clone());
    Ok(State {
        epoch: Arc::new(Epoch::new(generation, budget.events(), lease)),
        schema: Arc::clone(&record.schema),
        terms: terms.view(),
        ids: ids.view(),
        column_tree: columns.view(),
        columns: Arc::new(columns.columns().clone()),
        buffers: Buffers::new(budget)?,
        tables: record.tables.clone(),
        dictionaries: record.dictionaries.clone(),
        statistics: Arc::new(record.statistics.clone()),
        vacuumed: record.vacuumed.clone(),
        lifetime: record.lifetime,
        below: record.next_doc,
        renumbered: 0,
        flushes: 0,
        documents: record.documents,
        root: root.map(|root| StandingRoot {
            slot: Arc::new(root.slot.clone()),
            sequence: record.sequence,
            reads_known: root.reach == LogReach::Known,
        }),
        sequence: record.sequence,
        number: 0,
    })
}

fn open_terms(store: &Arc<Store>, pool: &FramePool, bytes: &[u8]) -> Result<TermDictionary> {
    if bytes.is_empty() {
        Ok(TermDictionary::new(store))
    } else {
        TermDictionary::open(store, pool, bytes)
    }
}

fn open_ids(store: &Arc<Store>, memory: &MemoryPlan, bytes: &[u8]) -> Result<Runs> {
    let (store, filters_max) = (Arc::clone(store), memory.id_filters);
    if bytes.is_empty() {
        Ok(Runs::new(store, filters_max))
    } else {
        Runs::open(store, filters_max, bytes)
    }
}

fn open_columns(store: &Arc<Store>, bytes: &[u8]) -> Result<ColumnTree> {
    if bytes.is_empty() {
        Ok(ColumnTree::new(Arc::clone(store), Columns::default()))
    } else {
        ColumnTree::open(Arc::clone(store), bytes)
    }
}

/// The structures that flushes change, as a state has them.
fn new_flusher(
    shared: &Shared,
    state: &State,
    terms: TermDictionary,
    ids: Runs,
    columns: ColumnTree,
) -> Flusher {
    Flusher {
        vacuum: Vacuum::resumed(state.vacuumed.clone()),
        ..Flusher::new(shared, terms, ids, columns)
    }
}

/// The result cache that the options ask for.
fn open_results(options: &Options, budget: &Budget) -> Result<Option<ResultCache>> {
    match options.result_cache {
        None | Some(0) => Ok(None),
        Some(bytes) => ResultCache::new(bytes, options.result_ttl, budget).map(Some),
    }
}
