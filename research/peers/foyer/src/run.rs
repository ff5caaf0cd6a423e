//! The run.

use foyer::{
    BlockEngineConfig, DeviceBuilder, EstimatedSize, EvictionConfig, FsDeviceBuilder, HybridCache,
    HybridCacheBuilder, LfuConfig, LruConfig, PsyncIoEngineConfig, RecoverMode, S3FifoConfig,
    SieveConfig, StorageFilter,
};
use serde_json::{Value, json};

use crate::options::Options;
use crate::trace::{List, Prefix, Query};

/// Bytes that wait to be written at most, so that none is dropped between two queries.
const QUEUE: usize = 256 << 20;
const BUFFERS: usize = 64 << 20;
const PAGE: usize = 4096;

type Cache = HybridCache<u64, Vec<u8>>;

/// What is counted.
#[derive(Debug, Default)]
struct Counts {
    queries: usize,
    results: usize,
    lists: usize,
    list_hits: usize,
    entries: usize,
    entry_hits: usize,
    without_store: usize,
    /// Bytes of lists that queries need, and those of them that the store does not have to give.
    bytes: usize,
    saved_bytes: usize,
    flash_reads: usize,
    flash_read_pages: usize,
    store_reads: usize,
    store_read_pages: usize,
}

/// Asks all queries; gives the counts of the second half.
pub async fn run(options: &Options, queries: &[Query]) -> Result<Value, String> {
    let cache = build(options)
        .await
        .map_err(|error| format!("foyer: {error}"))?;
    let mut counts = Counts::default();
    let mut before = (0, 0);
    for (at, query) in queries.iter().enumerate() {
        if at == queries.len() / 2 {
            counts = Counts::default();
            before = written(&cache);
        }
        ask(&cache, query, options.prefix, &mut counts).await?;
        // A query takes milliseconds on the modelled devices, foyer's writes are done by then.
        cache.storage().wait().await;
    }
    let after = written(&cache);
    Ok(counts.to_json(after.0 - before.0, after.1 - before.1))
}

async fn build(options: &Options) -> Result<Cache, Box<dyn std::error::Error>> {
    let order: EvictionConfig = match options.algorithm.as_str() {
        "lru" => LruConfig::default().into(),
        "lfu" => LfuConfig::default().into(),
        "s3fifo" => S3FifoConfig::default().into(),
        "sieve" => SieveConfig.into(),
        other => {
            return Err(format!("--algorithm {other}: expected lru, lfu, s3fifo or sieve").into());
        }
    };
    let device = FsDeviceBuilder::new(&options.folder)
        .with_capacity(options.flash)
        .build()?;
    let admission = StorageFilter::new()
        .with_condition(EstimatedSize::new(..=options.admitted.min(usize::MAX - 1)));
    let engine = BlockEngineConfig::new(device)
        .with_block_size(options.block)
        .with_buffer_pool_size(BUFFERS)
        .with_submit_queue_size_threshold(QUEUE)
        .with_admission_filter(admission);
    let cache = HybridCacheBuilder::new()
        .memory(options.memory)
        .with_shards(1)
        .with_eviction_config(order)
        .with_weighter(|_: &u64, value: &Vec<u8>| value.len())
        .storage()
        .with_io_engine_config(PsyncIoEngineConfig::new())
        .with_engine_config(engine)
        .with_recover_mode(RecoverMode::None)
        .build()
        .await?;
    Ok(cache)
}

fn written(cache: &Cache) -> (usize, usize) {
    let statistics = cache.statistics();
    (statistics.disk_write_bytes(), statistics.disk_read_bytes())
}

async fn ask(
    cache: &Cache,
    query: &Query,
    prefix: Prefix,
    counts: &mut Counts,
) -> Result<(), String> {
    let bytes: usize = query.lists.iter().map(|list| list.used).sum();
    counts.queries += 1;
    counts.bytes += bytes;
    if get(cache, query.number << 1, counts).await?.is_some() {
        counts.results += 1;
        counts.without_store += 1;
        counts.saved_bytes += bytes;
        return Ok(());
    }
    let store_reads = counts.store_reads;
    for list in &query.lists {
        ask_list(cache, list, prefix, counts).await?;
    }
    counts.without_store += usize::from(counts.store_reads == store_reads);
    cache.insert(query.number << 1, vec![0; query.result]);
    Ok(())
}

async fn ask_list(
    cache: &Cache,
    list: &List,
    prefix: Prefix,
    counts: &mut Counts,
) -> Result<(), String> {
    let key = list.term << 1 | 1;
    let held = get(cache, key, counts).await?;
    let (have, end) = match held {
        None => (0, list.cached.max(list.used)),
        Some(have) => (have, list.used),
    };
    counts.lists += 1;
    let is_whole = have.div_ceil(PAGE) >= list.used.div_ceil(PAGE);
    if is_whole {
        counts.list_hits += 1;
        counts.saved_bytes += list.used;
    } else {
        counts.saved_bytes += have;
        counts.store_reads += 1;
        counts.store_read_pages += end.div_ceil(PAGE) - have / PAGE;
    }
    let kept = match prefix {
        Prefix::Grows => end,
        _ => list.cached,
    };
    if held.is_none() || (prefix == Prefix::Grows && !is_whole) {
        cache.insert(key, vec![0; kept]);
    }
    Ok(())
}

/// The bytes of an entry, if it is somewhere.
async fn get(cache: &Cache, key: u64, counts: &mut Counts) -> Result<Option<usize>, String> {
    let is_in_memory = cache.memory().contains(&key);
    let entry = cache
        .get(&key)
        .await
        .map_err(|error| format!("foyer: get: {error}"))?;
    counts.entries += 1;
    let Some(entry) = entry else {
        return Ok(None);
    };
    let bytes = entry.value().len();
    counts.entry_hits += 1;
    if !is_in_memory {
        counts.flash_reads += 1;
        counts.flash_read_pages += bytes.div_ceil(PAGE);
    }
    Ok(Some(bytes))
}

impl Counts {
    fn to_json(&self, written: usize, read: usize) -> Value {
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        json!({
            "queries": self.queries,
            "hit_ratio": {
                "results": share(self.results, self.queries),
                "lists": share(self.list_hits, self.lists),
                "entries": share(self.entry_hits, self.entries),
                "bytes": share(self.saved_bytes, self.bytes),
                "queries_without_slow_store": share(self.without_store, self.queries),
            },
            "flash": { "written_bytes": written, "read_bytes": read },
            "flash_reads": self.flash_reads, "flash_read_pages": self.flash_read_pages,
            "store_reads": self.store_reads, "store_read_pages": self.store_read_pages,
        })
    }
}
