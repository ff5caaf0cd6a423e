//! Gannet: full-text search on flash.
//!
//! An [`Index`] is a folder. It keeps one memory budget, reads only what a query needs, in batches
//! at the queue depth that flash wants, and takes documents without segment merges. A document can
//! be found as soon as [`Index::write`] returns and is durable after [`Index::sync`].
//!
//! ```
//! use gannet::{Document, Index, Operator};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let index = Index::options().memory(64 << 20).open(folder.path().join("books.gnt"))?;
//! index.write(vec![
//!     Document::parse(br#"{"id": "1", "body": "Call me Ishmael."}"#)?,
//!     Document::parse(br#"{"id": "2", "body": "It was the best of times."}"#)?,
//! ])?;
//!
//! let snapshot = index.snapshot();
//! let query = snapshot.parse("body:ishmael", Operator::Or)?;
//! let results = snapshot.search(&query).top(10).highlight("body").run()?;
//! assert_eq!(results.hits[0].id, "1");
//! assert_eq!(results.hits[0].snippets[0].1, ["Call me <em>Ishmael</em>."]);
//! index.close()?;
//! # Ok::<(), gannet::Error>(())
//! ```
//!
//! Five types matter first: [`Options`] opens an [`Index`], which takes each [`Document`];
//! a [`Snapshot`] answers queries with [`SearchResults`]. What they tell about themselves is in
//! [`diagnostics`].
//!
//! # Threads and async code
//!
//! All calls block. An [`Index`] is shared by its clones: any number of threads may search, and
//! writes wait for each other. Async code calls the engine on a thread that may block, as tokio's
//! `spawn_blocking` has them. [`SearchOptions`] has a deadline and a way to cancel a search.
//!
//! The rooms of the engine, from top to bottom, are described in `ARCHITECTURE.md`; what is on
//! flash, to the byte, in `docs/format.md`.

mod analysis;
mod base;
mod btree;
mod cache;
mod columns;
pub mod device;
mod documents;
#[cfg(any(test, feature = "testing"))]
mod fuzz;
mod index;
#[cfg(feature = "lab")]
#[doc(hidden)]
pub mod lab;
mod postings;
mod runs;
mod search;
mod storage;

pub use analysis::{Analyzer, Field, FieldKind, Schema, Scratch, Token};
pub use base::{Error, PhraseFilters, Reservation, Result, parse_bytes};
pub use device::{Backend, BackendChoice, MemoryLimit, memory_limit};
pub use documents::{Document, Expected, ObjectMembers, StoredDocument, Value};
/// Values of columns: types, order, dates.
pub use gannet_values as values;
pub use index::{
    Backup, BackupReport, ColumnBatch, ColumnReport, ColumnTable, DocumentVersion, Durability,
    FieldMapping, FieldType, Index, Limits, Listing, MEMORY_BESIDE, MEMORY_DEFAULT, MEMORY_MIN,
    Options, PreparedBatch, RestoreReport, Search, Snapshot, TableBatch, TableColumn, Workbench,
    Written, default_memory,
};
pub use search::{
    AnswerPlace, Cancelled, Clock, Hit, Operator, Parsed, Query, QueryStatistics, Reused,
    SearchOptions, SearchResults, SnippetOptions, SortBy, SortKey, SortValue, Ties, document_bytes,
};
pub use storage::{IndexIdentity, PageKind, identity_of_slot, prove_page};

/// Aggregations over values: their tree, which can be built or read from JSON, and their answers.
pub mod aggregations {
    pub use crate::search::{AggregationRequest, AggregationState};
    pub use gannet_aggregate::*;
}

/// Figures of an index, a query and a device about themselves.
pub mod diagnostics {
    pub use crate::cache::{
        AnswerFileFigures, IoCounts, PageRequest, PageSource, TierFigures, UsedPage,
    };
    pub use crate::device::{CountersSnapshot, RequestCounts};
    pub use crate::index::{
        AnswersOnFlash, BytesByPart, BytesWritten, CacheState, CheckReport, ChunkReport,
        FillReport, Lifetime, ListReport, ListsReport, MemoryByPart, Stats, TreeFigures,
        ZoneReport,
    };
    pub use crate::search::{
        CutExpansion, Explanation, OffloadReport, PatternReport, PlanReport, PlanStep,
        ResultCacheFigures, Techniques, TermReport,
    };
}

/// For tests of devices: the suites that they pass, and devices in memory that record and fail.
#[cfg(feature = "testing")]
pub mod testing {
    pub use crate::device::{
        BoundedDevice, CrashImage, Fault, FaultKind, MemoryDevice, MemoryPage, RecordingDevice,
        conformance, rewriting_conformance, sealed_conformance,
    };
    pub use crate::fuzz::{FuzzTarget, TARGETS};
    pub use crate::index::{Phase, PublishedState};
}

/// Lists of queries that are read elsewhere: by a device that runs programs, in the engine's place.
///
/// An index asks what [`Options::offload`] gave it, and reads the lists itself where nothing was
/// given or the answer is no. What the device itself can do is [`device::Offload`].
pub mod offload {
    pub use crate::base::{PageAddress, Span};
    pub use crate::postings::codec::entry::ChunkPlace;
    pub use crate::postings::{ChunkRef, Fragment, Layout};
    pub use crate::search::{
        ListOffload, OffloadFound, OffloadList, OffloadRanking, OffloadTask, docs_span,
    };
}
