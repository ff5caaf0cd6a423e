//! Pages of tables: those of documents, the mappings of trees, which say where nodes are, and
//! filters of runs. The
//! root record refers to them.

use std::sync::Arc;

use super::nodes::{mapping_bytes, move_nodes, trees};
use super::owner::{
    IndexSizes, Live, MOVED_BYTES_MAX, MoveBounds, Mover, PageOwner, Victims, Walks,
};
use super::parts::{CheckpointParts, RootParts};
use super::space::{KeptSpace, NextFlush};
use crate::base::{Result, Span};
use crate::btree::TreeView;
use crate::index::state::{BytesByPart, BytesWritten, Shared, State};
use crate::storage::{PageKind, Unsynced};

/// The greatest part of the documents' tables that one checkpoint of a vacuum forgets.
const FORGOTTEN_MAX: u64 = 2 << 20;

/// The owner of the pages of tables.
pub(crate) struct TablePages;

impl PageOwner for TablePages {
    fn kind(&self) -> PageKind {
        PageKind::Table
    }

    fn streams(&self) -> usize {
        1
    }

    /// The term dictionary, the runs of external IDs and the columns, each as its room encodes it
    /// with its mappings. The record has the tables of documents in a field of its own.
    fn root_parts(&self) -> usize {
        3
    }

    fn write_changes(&self, parts: &mut CheckpointParts<'_>) -> Result<Vec<Vec<u8>>> {
        let store = Arc::clone(&parts.flushed.shared.store);
        let stream = parts.owned.stream(self.kind());
        parts.state.tables.write_changes(&store, stream)?;
        let (mut terms, mut ids) = (Vec::new(), Vec::new());
        parts.flushed.terms.encode(stream, &mut terms)?;
        parts.flushed.ids.encode(stream, &mut ids)?;
        let mut columns = Vec::new();
        parts.flushed.columns.encode(stream, &mut columns)?;
        Ok(vec![terms, ids, columns])
    }

    fn flush(&self, parts: &mut CheckpointParts<'_>) -> Result<Unsynced> {
        parts.owned.flush(self.kind())
    }

    /// Pages that deletions and a vacuum change, and pages of the node mappings.
    fn space(&self, next: &NextFlush<'_>) -> KeptSpace {
        let state = next.state;
        let below = state.below as u64;
        let forgotten = match state.dead_documents() {
            0 => 0,
            _ => (below * (1 + state.statistics.len() as u64)).min(FORGOTTEN_MAX),
        };
        let mappings = mapping_bytes(&IndexSizes {
            terms: &state.terms,
            ids: &state.ids,
            columns: &state.column_tree,
            below: state.below,
        });
        KeptSpace {
            buffered: 0,
            rest: below / 8 + forgotten + mappings,
        }
    }

    fn mover(&self) -> Mover {
        Mover::AtCheckpoint {
            bounds: |_| MoveBounds {
                beside: 0,
                most: MOVED_BYTES_MAX,
                takes_all: false,
            },
            act: move_tables,
        }
    }

    fn live<'s>(&self, state: &'s State, _: Option<Span>, _: &RootParts) -> Live<'s> {
        let mappings = trees(state).flat_map(TreeView::mapping_pages);
        let filters = state.ids.filter_pages();
        let of_nodes = mappings.chain(filters);
        Live::Pages(Box::new(state.tables.table_pages().chain(of_nodes)))
    }

    /// Leaves it to the walks, and to the counts of the root: see the table of `inspect::check`.
    fn check(
        &self,
        _: &Shared,
        _: &State,
        _: &RootParts,
        _: &mut dyn Walks,
    ) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn live_figure<'b>(&self, bytes: &'b mut BytesByPart) -> &'b mut u64 {
        &mut bytes.tables
    }

    fn written_figure<'b>(&self, written: &'b mut BytesWritten) -> &'b mut u64 {
        &mut written.tables
    }
}

/// Has pages in the victims written anew. The mapping pages of the trees are moved by the trees.
fn move_tables(parts: &mut CheckpointParts<'_>, victims: &Victims) -> Result<()> {
    move_nodes(&mut parts.flushed, victims)?;
    let (shared, stream) = (parts.flushed.shared, parts.owned.stream(PageKind::Table));
    let is_victim = |zone| victims.contains(&zone);
    let tables = &mut parts.state.tables;
    tables.move_out_of(&is_victim, &shared.pool, &shared.store, stream)
}
