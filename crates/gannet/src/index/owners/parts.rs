//! The parts of a writer and of a flush that owners of pages change.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::Result;
use crate::columns::ColumnTree;
use crate::index::state::{Shared, State};
use crate::postings::{ChunkStreams, TermDictionary};
use crate::runs::Runs;
use crate::storage::{Log, PageKind, Store, StreamWriter, Unsynced};

/// The structures that a flush changes.
pub(crate) struct FlushedParts<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) terms: &'a mut TermDictionary,
    pub(crate) ids: &'a mut Runs,
    pub(crate) columns: &'a mut ColumnTree,
    pub(crate) postings: &'a mut ChunkStreams,
}

impl FlushedParts<'_> {
    /// Writes all nodes out; what is returned must be synced.
    pub(crate) fn flush_nodes(&mut self) -> Result<Unsynced> {
        self.terms.flush()?;
        self.ids.flush()?;
        self.columns.flush()?;
        let mut unsynced = self.terms.take_unsynced();
        unsynced.join(self.ids.take_unsynced());
        unsynced.join(self.columns.take_unsynced());
        Ok(unsynced)
    }

    /// Writes all chunks out; what is returned must be synced.
    pub(crate) fn flush_chunks(&mut self) -> Result<Unsynced> {
        self.postings.flush()?;
        Ok(self.postings.take_unsynced())
    }
}

/// All that a checkpoint writes out: the same, and what the writer changes.
pub(crate) struct CheckpointParts<'a> {
    pub(crate) flushed: FlushedParts<'a>,
    pub(crate) log: &'a mut Log,
    pub(crate) state: &'a mut State,
    pub(crate) owned: &'a mut OwnedPages,
}

/// The streams of kinds of pages that have one and nothing else, and what the newest root record
/// keeps of all kinds.
pub(crate) struct OwnedPages {
    store: Arc<Store>,
    /// By the number of their kind; made when they are first appended to.
    streams: BTreeMap<u8, StreamWriter>,
    pub(crate) parts: RootParts,
}

impl OwnedPages {
    /// Those of an index whose root record keeps these parts; none have been appended to.
    pub(crate) fn new(store: &Arc<Store>, parts: RootParts) -> OwnedPages {
        OwnedPages {
            store: Arc::clone(store),
            streams: BTreeMap::new(),
            parts,
        }
    }

    /// Returns the stream of a kind.
    pub(crate) fn stream(&mut self, kind: PageKind) -> &mut StreamWriter {
        let new = || StreamWriter::new(Arc::clone(&self.store), kind);
        self.streams.entry(kind as u8).or_insert_with(new)
    }

    /// Has all streams go on in new zones where less than this share of the open one lives.
    pub(crate) fn leave_sparse_zones(&mut self, live_share: f64) -> Result<()> {
        let mut streams = self.streams.values_mut();
        streams.try_for_each(|stream| stream.leave_sparse_zone(live_share))
    }

    /// Writes the stream of a kind out; what is returned must be synced.
    pub(crate) fn flush(&mut self, kind: PageKind) -> Result<Unsynced> {
        let stream = self.stream(kind);
        stream.flush()?;
        Ok(stream.take_unsynced())
    }
}

/// Byte strings that the root record keeps of kinds of pages; only their owners read them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RootParts(BTreeMap<u8, Vec<Vec<u8>>>);

impl RootParts {
    /// Keeps these of a kind.
    pub(crate) fn set(&mut self, kind: PageKind, strings: Vec<Vec<u8>>) {
        self.0.insert(kind as u8, strings);
    }

    /// Returns those of a kind; none before the first checkpoint.
    pub(crate) fn of(&self, kind: PageKind) -> &[Vec<u8>] {
        self.0.get(&(kind as u8)).map_or(&[], Vec::as_slice)
    }
}
