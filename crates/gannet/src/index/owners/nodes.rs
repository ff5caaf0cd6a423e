//! Pages of nodes: of the trees of the term dictionary, of the runs of external IDs, and of the
//! tree of columns. Their
//! mappings, which are tables, refer to them.

use super::owner::{
    IndexSizes, Live, MOVED_BYTES_MAX, MoveBounds, Mover, PageOwner, Victims, Walks,
};
use super::parts::{CheckpointParts, FlushedParts, RootParts};
use super::space::{KeptSpace, NextFlush};
use crate::base::{PAGE_SIZE, Result, Span};
use crate::btree::TreeView;
use crate::index::state::{BytesByPart, BytesWritten, Phase, Shared, State};
use crate::postings::{TermTree, TermView, terms_join_at_once};
use crate::storage::{PageKind, Unsynced};

/// The margin for delta postings that have outgrown their trees. What is compacted from one to the
/// next, and what joins lists from the last, is written anew, and no more than that in one flush.
const DELTA_MARGIN: (u64, u64) = (9, 8);

/// The margin for leaves of columns that are not full.
const VALUES_MARGIN: (u64, u64) = (5, 4);

/// The owner of the pages of nodes.
pub(crate) struct NodePages;

impl PageOwner for NodePages {
    fn kind(&self) -> PageKind {
        PageKind::Node
    }

    /// Each tree has one, and so have the runs of external IDs.
    fn streams(&self) -> usize {
        TermTree::ALL.len() + 2
    }

    fn root_parts(&self) -> usize {
        0
    }

    /// Does nothing: the flush has appended what there is, and mappings are tables.
    fn write_changes(&self, _: &mut CheckpointParts<'_>) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    fn flush(&self, parts: &mut CheckpointParts<'_>) -> Result<Unsynced> {
        parts.flushed.flush_nodes()
    }

    fn space(&self, next: &NextFlush<'_>) -> KeptSpace {
        let state = next.state;
        let of_ids = match next.id_bytes {
            0 => 0,
            _ => 1 + state.ids.nodes_to_merge(next.flushes),
        };
        let (value_bytes, of_columns) = columns_to_write(state);
        let nodes = list_nodes_to_rewrite(state) + of_ids + of_columns;
        let mut trees = [TermTree::Frequent].into_iter().chain(delta_trees());
        let anyway = next.flushes * node_bytes(&state.terms, &mut trees);
        KeptSpace {
            buffered: next.id_bytes + value_bytes + nodes * PAGE_SIZE as u64,
            rest: anyway * DELTA_MARGIN.0 / DELTA_MARGIN.1,
        }
    }

    fn mover(&self) -> Mover {
        Mover::InFlush {
            bounds,
            act: move_nodes,
        }
    }

    fn live<'s>(&self, state: &'s State, _: Option<Span>, _: &RootParts) -> Live<'s> {
        Live::Pages(Box::new(trees(state).flat_map(TreeView::node_pages)))
    }

    fn check(
        &self,
        _: &Shared,
        _: &State,
        _: &RootParts,
        walks: &mut dyn Walks,
    ) -> Result<Vec<String>> {
        walks.lists()?;
        walks.columns().map(|()| Vec::new())
    }

    fn live_figure<'b>(&self, bytes: &'b mut BytesByPart) -> &'b mut u64 {
        &mut bytes.nodes
    }

    fn written_figure<'b>(&self, written: &'b mut BytesWritten) -> &'b mut u64 {
        &mut written.nodes
    }
}

/// Returns all trees of a state.
pub(super) fn trees(state: &State) -> impl Iterator<Item = &TreeView> {
    let of_terms = TermTree::ALL.into_iter();
    let of_terms = of_terms.map(|tree| state.terms.tree(tree));
    let of_columns = std::iter::once(state.column_tree.tree());
    of_terms.chain(state.ids.trees()).chain(of_columns)
}

/// Returns the trees of delta postings.
pub(crate) fn delta_trees() -> impl Iterator<Item = TermTree> {
    let is_delta = |tree: &TermTree| !TermTree::LISTS.contains(tree);
    TermTree::ALL.into_iter().filter(is_delta)
}

/// Returns the bytes of all nodes of some trees.
pub(crate) fn node_bytes(terms: &TermView, trees: &mut dyn Iterator<Item = TermTree>) -> u64 {
    trees
        .map(|tree| terms.tree(tree).nodes() * PAGE_SIZE as u64)
        .sum()
}

/// Returns the bytes of the node mappings of all trees, which moved nodes change.
pub(super) fn mapping_bytes(sizes: &IndexSizes<'_>) -> u64 {
    let nodes: u64 = TermTree::ALL
        .map(|tree| sizes.terms.tree(tree).nodes())
        .iter()
        .sum();
    let others = sizes.ids.nodes() + sizes.columns.tree().nodes();
    (nodes + others) * size_of::<u64>() as u64
}

/// Returns the bytes of values in memory as they will be on flash, at most, and the number of nodes
/// of the tree of columns that are written anew for them: some once for the numbers of keywords,
/// and again for what these stand in.
fn columns_to_write(state: &State) -> (u64, u64) {
    let (mut bytes, mut entries) = (0, 0);
    for buffer in state.buffers.value_buffers() {
        let (some_bytes, some_entries) = buffer.flushed_bytes();
        bytes += some_bytes;
        entries += some_entries;
    }
    let nodes = entries.min(state.column_tree.tree().nodes());
    (bytes * VALUES_MARGIN.0 / VALUES_MARGIN.1, 2 * nodes)
}

/// Counts the nodes of lists that new terms have written anew beyond those of delta postings: all,
/// if the terms are so many that they go to their lists at once.
fn list_nodes_to_rewrite(state: &State) -> u64 {
    let terms = state.buffers.terms() as u64;
    let lists = TermTree::LISTS.map(|tree| state.terms.tree(tree));
    let entries = lists.iter().map(|tree| tree.entries());
    if terms_join_at_once(terms, entries.sum()) {
        lists.iter().map(|tree| tree.nodes()).sum()
    } else {
        0
    }
}

fn bounds(sizes: &IndexSizes<'_>) -> MoveBounds {
    MoveBounds {
        beside: mapping_bytes(sizes),
        most: 2 * MOVED_BYTES_MAX,
        takes_all: false,
    }
}

/// Moves the nodes out of the victims, and has pages of mappings there written anew.
pub(super) fn move_nodes(parts: &mut FlushedParts<'_>, victims: &Victims) -> Result<()> {
    let shared = parts.shared;
    shared.options.limits.enter(Phase::Cleaning);
    let is_victim = |zone| victims.contains(&zone);
    parts.terms.move_out_of(&shared.pool, &is_victim)?;
    parts.ids.move_out_of(&shared.pool, &is_victim)?;
    parts.columns.move_out_of(&shared.pool, &is_victim)
}
