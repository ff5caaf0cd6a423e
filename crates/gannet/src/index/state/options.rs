//! The options for opening an index.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::default_memory::{MEMORY_MIN, default_memory};
use super::log_work::LOG_TIME;
use crate::analysis::{Analyzer, SchemaOptions};
use crate::base::{Error, PhraseFilters, Result};
use crate::device::{BackendChoice, Device};
use crate::index::ingest::FieldMapping;
use crate::search::ListOffload;

/// The moment at which a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Durability {
    /// Once it can be searched; it is durable after the next sync, checkpoint or close.
    #[default]
    Async,
    /// Once it is durable.
    Sync,
}

/// The options for opening an index; made by [`Index::options`](crate::Index::options).
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) memory: usize,
    pub(crate) backend: BackendChoice,
    pub(crate) durability: Durability,
    pub(crate) schema: SchemaOptions,
    pub(crate) mapping: FieldMapping,
    pub(crate) create: bool,
    pub(crate) read_only: bool,
    pub(crate) to_check: bool,
    pub(crate) cache: Option<CacheOptions>,
    /// Bytes that are written to the flash tier in a second, at most.
    pub(crate) cache_writes: Option<u64>,
    /// Bytes of the result cache if they are given, and how old an answer of an earlier state may
    /// be.
    pub(crate) result_cache: Option<usize>,
    pub(crate) result_ttl: Option<Duration>,
    /// The time limit of a reader for the log.
    pub(crate) log_time: Option<Duration>,
    pub(crate) offload: Option<Arc<dyn ListOffload>>,
    pub(crate) limits: Limits,
}

/// The folder of a cache, and the sizes that are given.
#[derive(Clone, Debug)]
pub(crate) struct CacheOptions {
    pub(crate) folder: PathBuf,
    /// Bytes of pages.
    pub(crate) pages: Option<u64>,
    /// Bytes of answers.
    pub(crate) answers: Option<u64>,
    /// Why there are no answers on flash though there could be.
    pub(crate) past_answers: Option<String>,
}

impl CacheOptions {
    /// A folder, with the sizes that fit.
    fn of(folder: PathBuf) -> CacheOptions {
        CacheOptions {
            folder,
            pages: None,
            answers: None,
            past_answers: None,
        }
    }
}

/// The work of the writer, told to tests by `Limits::enter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No checkpoint is under way.
    Writing,
    /// The posting buffer moves to flash.
    Flush,
    /// Postings of deleted documents leave their lists.
    Vacuum,
    /// Live data is moved out of sparse zones.
    Cleaning,
    /// Pages are synced, a root is written, zones are given up.
    Checkpoint,
    /// A write, or a call for which no flush may be under way, waits for a flush without the writer
    /// lock.
    Backpressure,
}

/// The limits at which the writer works by itself. The defaults suit production; tests make them
/// small.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Flush when the posting buffer holds this many bytes; `None`: a share of the memory.
    pub buffer_bytes: Option<usize>,
    /// Set if the memory of frames goes to posting buffers, but for a small part: nobody searches
    /// an index while it is loaded.
    pub loads: bool,
    /// Flush when the log holds documents of this many bytes of source, which a recovery would have
    /// to analyze again.
    pub log_source_bytes: u64,
    /// Flush when a recovery would take about so much processor time for the log; 1.75 s unless
    /// told otherwise.
    pub log_time: Duration,
    /// Bytes of lists that a slice of vacuum reads; `None`: what the rate of deletions asks for.
    pub vacuum_bytes: Option<u64>,
    /// Bytes on flash that snapshots and readers in other processes may keep from being reused;
    /// `None`: an eighth of the index, and at least 64 MiB. Beyond, the oldest are given up.
    pub snapshot_bytes: Option<u64>,
    /// The age of a snapshot that is given up for that; one that holds back n times as much needs
    /// only an nth of it.
    pub snapshot_age: Duration,
    /// Pages of a new zone; `None`: by the size of the index.
    pub zone_pages: Option<u32>,
    /// Set if flushes run on threads of their own while writing goes on, or else one step after the
    /// other, the same on every run.
    pub beside: bool,
    /// The time without writes after which idle maintenance begins, if flushes run beside writing.
    /// `None`: it never begins by itself, only [`Index::maintain`](crate::Index::maintain) does it.
    pub maintain_after: Option<Duration>,
    /// While another process reads the index, a checkpoint follows what was written after this time
    /// at most. That of a flush comes on top where flushes run beside writing. The writer goes on
    /// so for six times as long after the last process has read. `None`: the other limits decide.
    pub visible_after: Option<Duration>,
    /// Told of each phase of a checkpoint before it begins, and of its end. A phase that has
    /// nothing to do is left out.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub on_phase: Option<fn(Phase)>,
}

impl Limits {
    /// Says what the writer does next; only tests listen.
    pub(crate) fn enter(&self, phase: Phase) {
        #[cfg(any(test, feature = "testing"))]
        if let Some(tell) = self.on_phase {
            tell(phase);
        }
        #[cfg(not(any(test, feature = "testing")))]
        let _ = phase;
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            buffer_bytes: None,
            loads: false,
            log_source_bytes: u64::MAX,
            log_time: LOG_TIME,
            vacuum_bytes: None,
            snapshot_bytes: None,
            snapshot_age: Duration::from_secs(2),
            zone_pages: None,
            beside: true,
            maintain_after: Some(Duration::from_secs(1)),
            visible_after: Some(Duration::from_secs(10)),
            #[cfg(any(test, feature = "testing"))]
            on_phase: None,
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory: default_memory(),
            backend: BackendChoice::Auto,
            durability: Durability::Async,
            schema: SchemaOptions::default(),
            mapping: FieldMapping::default(),
            create: true,
            read_only: false,
            to_check: false,
            cache: None,
            cache_writes: None,
            result_cache: None,
            result_ttl: None,
            log_time: None,
            offload: None,
            limits: Limits::default(),
        }
    }
}

impl Options {
    /// The memory budget: everything sized by data stays within it. At least 16 MiB;
    /// [`default_memory`](crate::default_memory) unless it is given.
    pub fn memory(mut self, bytes: usize) -> Options {
        self.memory = bytes;
        self
    }

    /// Sets the backend of I/O.
    pub fn backend(mut self, backend: BackendChoice) -> Options {
        self.backend = backend;
        self
    }

    /// Sets the moment at which a write is acknowledged.
    pub fn durability(mut self, durability: Durability) -> Options {
        self.durability = durability;
        self
    }

    /// The analyzer of fields that have none of their own. It counts for fields not seen so far.
    pub fn analyzer(mut self, analyzer: Analyzer) -> Options {
        self.schema.default_analyzer = analyzer;
        self
    }

    /// The analyzer of one field, if the field was not seen so far.
    pub fn field_analyzer(mut self, field: impl Into<String>, analyzer: Analyzer) -> Options {
        self.schema.per_field.push((field.into(), analyzer));
        self
    }

    /// The types of fields that are known beforehand. What an index had declared before stays; a
    /// field that is there in another way is an error of the opening. Of an index that is only read
    /// nothing is declared.
    pub fn mapping(mut self, mapping: FieldMapping) -> Options {
        self.mapping = mapping;
        self
    }

    /// The phrase filters of text fields not seen so far; of common neighbours unless told
    /// otherwise. With these a phrase that has a common word reads a fraction of what it would;
    /// what they take is in `docs/experiments/techniques.md`.
    pub fn phrase_filters(mut self, filters: PhraseFilters) -> Options {
        self.schema.phrase_filters = filters;
        self
    }

    /// Sets whether a missing index is made (the default).
    pub fn create(mut self, create: bool) -> Options {
        self.create = create;
        self
    }

    /// Opens for reading only, beside other processes, of which one may write: what the last
    /// checkpoint has made durable can be read, until [`Index::refresh`](crate::Index::refresh)
    /// moves to a newer one. Where nobody writes, all that was written can be read. A reader makes
    /// a small file in the folder `readers` of the index. Where it cannot, it keeps writers out as
    /// long as it reads, and fails where one is there.
    pub fn read_only(mut self) -> Options {
        self.read_only = true;
        self.create = false;
        self
    }

    /// Keeps less of the memory budget for pages, and so more for documents that
    /// [`Index::check`](crate::Index::check) analyses again: for an index that is opened by
    /// [`Options::read_only`] to be checked.
    pub fn to_check(mut self) -> Options {
        self.to_check = true;
        self
    }

    /// Keeps pages that leave memory in a file of the folder `folder`, of at most `bytes`, and
    /// reads them there: for an index on a slow device, with the folder on a fast one. A tier that
    /// is not faster than the index turns itself off. Of an index that is written, a page is kept
    /// once a durable root names its zone.
    ///
    /// The file outlives the process, and is dropped if the index is another one, or an older state
    /// of it. It is never needed: damaged or missing pages are read from the index. One process
    /// writes it at a time; others only read it, and [`Index::cache`](crate::Index::cache) says so.
    /// One of them goes on writing it when that one ends.
    /// The memory budget has its map, a 410th of `bytes`, and 1.5 MiB of buffers; both together are
    /// a quarter of the budget at most.
    ///
    /// A cache keeps answers too, as [`Options::result_cache`] tells, in memory and in a file of
    /// their own ([`Options::cache_answers`]).
    pub fn cache(self, folder: impl Into<PathBuf>, bytes: u64) -> Options {
        let mut options = self.cache_folder(folder);
        let cache = options.cache.as_mut();
        cache
            .into_iter()
            .for_each(|cache| cache.pages = Some(bytes));
        options
    }

    /// The same with the size that fits the memory budget: 1 GiB, and less below 32 MiB of memory.
    /// Where the folder is on the disk that the index is on, it keeps answers and no pages.
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Options {
        self.cache = Some(CacheOptions::of(folder.into()));
        self
    }

    /// Keeps answers of at most `bytes` in the folder of the cache, beside the pages; with 0, none.
    /// Unless this is given they have a sixteenth of the bytes of the pages, from 2 MiB to 256 MiB,
    /// and less if the memory budget is small.
    ///
    /// An answer is kept there if its state is durable: a root of the index names it, with nothing
    /// that only the log has. Each process that opens the same state finds it. One process writes
    /// the file, the others read it. It is never needed, either:
    /// [`Index::answers_on_flash`](crate::Index::answers_on_flash) says why it is not used. A
    /// hundredth of its size and 384 KiB count in the memory budget.
    pub fn cache_answers(mut self, bytes: u64) -> Options {
        let cache = self.cache.as_mut();
        cache
            .into_iter()
            .for_each(|cache| cache.answers = Some(bytes));
        self
    }

    /// Sets the most bytes that are written to the folder of [`Options::cache`] in a second. Pages
    /// that leave memory beyond that are not kept.
    pub fn cache_writes(mut self, bytes_per_second: u64) -> Options {
        self.cache_writes = Some(bytes_per_second);
        self
    }

    /// Keeps answers in `bytes` of the memory budget, and reuses them. An answer is reused for the
    /// same query with the same [`SearchOptions`](crate::SearchOptions) on the same state of the
    /// index. With 0 none are kept, on flash neither. Unless this is given, none are kept without
    /// a cache ([`Options::cache`]), and with one they have a 64th of the memory budget, from 64
    /// KiB to 16 MiB. Errors are not kept, nor answers of which a part failed, nor those that take
    /// more than an eighth of `bytes`.
    /// [`SearchResults::reused`](crate::SearchResults::reused) tells whether an answer was reused.
    pub fn result_cache(mut self, bytes: usize) -> Options {
        self.result_cache = Some(bytes);
        self
    }

    /// Lets the result cache also reuse an answer of an earlier state of the index, until it is
    /// this old. Its age counts from when its snapshot was taken, for answers on flash by the
    /// system's clock.
    pub fn result_ttl(mut self, ttl: Duration) -> Options {
        self.result_ttl = Some(ttl);
        self
    }

    /// Sets the time limit of an opening for reading, or of a refresh, for the log that a killed
    /// writer has left; there is no limit unless one is given. Beyond it is
    /// [`Error::LogTimeout`](crate::Error::LogTimeout).
    pub fn log_time(mut self, most: Duration) -> Options {
        self.log_time = Some(most);
        self
    }

    /// Sets a reader of query lists in the engine's place: see [`offload`](crate::offload).
    pub fn offload(mut self, offload: Arc<dyn ListOffload>) -> Options {
        self.offload = Some(offload);
        self
    }

    /// Sets the limits at which the writer works by itself.
    pub fn limits(mut self, limits: Limits) -> Options {
        self.limits = limits;
        self
    }

    /// The memory budget.
    pub fn memory_bytes(&self) -> usize {
        self.memory
    }

    /// Returns true if there is to be a cache in a folder.
    pub fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    /// The options for what is left of the budget beside the device.
    pub(crate) fn beside(&self, device: &dyn Device) -> Options {
        Options {
            memory: self.memory.saturating_sub(device.memory()),
            ..self.clone()
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.memory < MEMORY_MIN {
            let given = match self.memory {
                1 => "1 byte".to_owned(),
                bytes if bytes < 1 << 20 => format!("{bytes} bytes"),
                bytes => format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64),
            };
            return Err(Error::invalid(format!(
                "{given} of memory is too little: an index needs at least 16 MiB"
            )));
        }
        self.check_caches()
    }
}
