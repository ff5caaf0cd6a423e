//! The one writer of a tree.
//!
//! ```text
//! apply, move_out_of: nodes go to the stream's buffer
//!     ──flush──▶ on the device, view() may be published
//!     ──encode─▶ the mapping's pages follow; then a root
//! ```
//!
//! Invariants:
//! 1. No page that was appended is written again; a published view is never changed.
//! 2. After a failure inside an operation the newest view may be half changed, so the tree rejects
//!    all further work; views given away before stay good.
//!
//! Memory of `apply`: the leaves of one window (64, or fewer in a small pool) as copies and
//! unpacked, its at most 4,096 changes, and the inner nodes above it; frames are held only while
//! they are copied.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::merge::{Merged, merge, old_values};
use super::node::Node;
use super::nodes::{NodeWriter, stopped};
use super::plan::{Target, nodes_of, plan};
use super::rebuild::{Edit, rebuild};
use super::window::{Decision, Decisions, KeyWindow};
use super::{KEY_MAX, NodeId, TreeView};
use crate::base::{ByteReader, Error, Result, ZoneNumber, back_off, on_all_cores};
use crate::cache::FramePool;
use crate::storage::{Store, StreamWriter};

/// Fewer leaves than this are not worth a thread.
const LEAVES_AT_LEAST: usize = 16;

/// The number of nodes that are moved at once.
const MOVE_NODES: usize = 64;

/// A tree that can be changed.
pub struct Tree {
    nodes: NodeWriter,
    failed: Option<String>,
}

/// The callback of [`Tree::apply`].
pub type Decide<'d> = dyn FnMut(&mut KeyWindow<'_>) -> Result<()> + 'd;

impl Tree {
    /// An empty tree whose nodes will go to a stream of its own.
    pub fn new(store: Arc<Store>) -> Tree {
        Tree::with_view(store, TreeView::new())
    }

    /// The tree that [`Tree::encode`] described; its mapping table is read in one batch.
    pub fn open(store: Arc<Store>, bytes: &[u8]) -> Result<Tree> {
        let mut reader = ByteReader::new(bytes, "the root of a tree");
        let mut view = TreeView::decode(&mut reader)?;
        if !reader.is_empty() {
            return Err(reader.damaged("the end", reader.rest().len()));
        }
        let mapping = view.mapping.table_mut();
        mapping.load_all(&store, "the node mapping table")?;
        Ok(Tree::with_view(store, view))
    }

    fn with_view(store: Arc<Store>, view: TreeView) -> Tree {
        Tree {
            nodes: NodeWriter::new(store, view),
            failed: None,
        }
    }

    /// The newest state. Give it to readers only after [`Tree::flush`].
    pub fn view(&self) -> &TreeView {
        &self.nodes.view
    }

    /// The stream that nodes are appended to, to sync it or to close its zone.
    pub fn stream(&mut self) -> &mut StreamWriter {
        self.nodes.stream()
    }

    /// Shows `decide` the old values of `keys` (sorted, distinct), window by window, and makes its
    /// changes.
    ///
    /// An error, be it of `decide`, stops the tree for good.
    pub fn apply(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        decide: &mut Decide<'_>,
    ) -> Result<()> {
        check_keys(keys)?;
        self.guarded(|nodes| apply(nodes, pool, keys, decide))
    }

    /// Takes `view` in place of what it has, and gives that. Nodes go to the same stream as before,
    /// so that trees which never change again can be built one after another.
    pub fn exchange(&mut self, view: TreeView) -> TreeView {
        std::mem::replace(&mut self.nodes.view, view)
    }

    /// Removes all entries.
    pub fn clear(&mut self) -> Result<()> {
        self.guarded(|nodes| {
            nodes.clear();
            Ok(())
        })
    }

    /// Writes all nodes out. They are durable after `stream().sync()`.
    pub fn flush(&mut self) -> Result<()> {
        self.guarded(NodeWriter::flush)
    }

    /// Writes all nodes out, and goes on in a new zone if less than this share of the open one
    /// lives.
    pub fn leave_sparse_zone(&mut self, live_share: f64) -> Result<()> {
        self.guarded(|nodes| {
            nodes.flush()?;
            nodes.stream().leave_sparse_zone(live_share)
        })
    }

    /// Appends all nodes in victim zones anew, and has the mapping's pages there written at the
    /// next [`Tree::encode`]. Gives the number of nodes. The zone being appended to must not be a
    /// victim: see [`StreamWriter::close_zone`].
    pub fn move_out_of(
        &mut self,
        pool: &FramePool,
        is_victim: &dyn Fn(ZoneNumber) -> bool,
    ) -> Result<u64> {
        self.guarded(|nodes| {
            let places = nodes.view.mapping.places();
            let victims = places.filter(|(_, place)| is_victim(place.zone));
            let ids: Vec<NodeId> = victims.map(|(id, _)| id).collect();
            for batch in ids.chunks(MOVE_NODES.min(pool.capacity() / 4).max(1)) {
                nodes.relocate(pool, batch)?;
            }
            // All pages of the mapping are resident, so none is missing.
            nodes.view.mapping.table_mut().move_out_of(is_victim);
            Ok(ids.len() as u64)
        })
    }

    /// Writes the mapping's changed pages to `tables` and appends to `out` what [`Tree::open`]
    /// needs.
    pub fn encode(&mut self, tables: &mut StreamWriter, out: &mut Vec<u8>) -> Result<()> {
        self.guarded(|nodes| {
            let store = Arc::clone(nodes.store());
            nodes
                .view
                .mapping
                .table_mut()
                .write_changes(&store, tables)?;
            nodes.view.encode(out);
            Ok(())
        })
    }

    fn guarded<T>(&mut self, act: impl FnOnce(&mut NodeWriter) -> Result<T>) -> Result<T> {
        if let Some(reason) = &self.failed {
            return Err(stopped(reason));
        }
        let done = act(&mut self.nodes);
        if let Err(error) = &done {
            self.failed = Some(error.to_string());
        }
        done
    }
}

fn check_keys(keys: &[&[u8]]) -> Result<()> {
    if !keys.is_sorted_by(|a, b| a < b) {
        return Err(Error::internal(
            "the keys of a change must be sorted and distinct",
        ));
    }
    match keys.iter().find(|key| key.len() > KEY_MAX) {
        Some(key) => crate::btree::entry_fits(key, &[]),
        None => Ok(()),
    }
}

fn apply(
    nodes: &mut NodeWriter,
    pool: &FramePool,
    keys: &[&[u8]],
    decide: &mut Decide<'_>,
) -> Result<()> {
    let mut first = 0;
    while first < keys.len() {
        let targets = plan(nodes, pool, keys, first)?;
        nodes.settle(&nodes_of(&targets))?;
        apply_window(nodes, pool, keys, &targets, decide)?;
        first = targets.last().map_or(keys.len(), |target| target.keys.end);
    }
    nodes.settle(&FxHashSet::default())
}

fn apply_window(
    nodes: &mut NodeWriter,
    pool: &FramePool,
    keys: &[&[u8]],
    targets: &[Target],
    decide: &mut Decide<'_>,
) -> Result<()> {
    let payloads = load_leaves(nodes, pool, targets)?;
    let leaves: Vec<Node<'_>> = targets
        .iter()
        .zip(&payloads)
        .map(|(target, payload)| nodes.parse(payload, target.leaf, 0))
        .collect::<Result<_>>()?;
    let decisions = ask(keys, targets, &leaves, decide)?;
    let mut edits = Vec::with_capacity(targets.len());
    for (target, merged) in targets
        .iter()
        .zip(merge_all(keys, targets, &leaves, &decisions))
    {
        let merged = merged?;
        if merged.changed {
            edits.push(edit(nodes, target, merged)?);
        }
    }
    rebuild(nodes, pool, edits)
}

/// Merges the changes into the leaves, on all cores.
fn merge_all(
    keys: &[&[u8]],
    targets: &[Target],
    leaves: &[Node<'_>],
    decisions: &Decisions,
) -> Vec<Result<Merged>> {
    let start = targets.first().map_or(0, |target| target.keys.start);
    on_all_cores((0..targets.len()).collect(), LEAVES_AT_LEAST, |share| {
        let merged = share.into_iter().map(|at| {
            back_off();
            let range = targets[at].keys.clone();
            let of_leaf = &decisions.of_keys[range.start - start..range.end - start];
            merge(leaves.get(at), &keys[range], of_leaf, &decisions.values)
        });
        merged.collect()
    })
}

/// The leaves of a window; none in an empty tree.
fn load_leaves(
    nodes: &mut NodeWriter,
    pool: &FramePool,
    targets: &[Target],
) -> Result<Vec<Arc<[u8]>>> {
    if nodes.view.height == 0 {
        return Ok(Vec::new());
    }
    let ids: Vec<NodeId> = targets.iter().map(|target| target.leaf).collect();
    nodes.load(pool, &ids, 0)
}

fn ask(
    keys: &[&[u8]],
    targets: &[Target],
    leaves: &[Node<'_>],
    decide: &mut Decide<'_>,
) -> Result<Decisions> {
    let (Some(first), Some(last)) = (targets.first(), targets.last()) else {
        return Ok(Decisions::default());
    };
    let range = first.keys.start..last.keys.end;
    let mut old = Vec::with_capacity(range.len());
    for (leaf, target) in leaves.iter().zip(targets) {
        old.extend(old_values(leaf, &keys[target.keys.clone()])?);
    }
    old.resize(range.len(), None);
    let mut window = KeyWindow {
        keys,
        decisions: Decisions {
            of_keys: vec![Decision::Keep; range.len()],
            values: Vec::new(),
        },
        range,
        old,
    };
    decide(&mut window)?;
    Ok(window.decisions)
}

fn edit(nodes: &mut NodeWriter, target: &Target, merged: Merged) -> Result<Edit> {
    let mut leaf = target.leaf;
    if nodes.view.height == 0 {
        leaf = nodes.allocate(0)?;
        nodes.view.root = leaf;
        nodes.view.height = 1;
    }
    let entries = nodes.view.entries + merged.added;
    nodes.view.entries = entries.saturating_sub(merged.removed);
    Ok(Edit {
        hops: target.hops.clone(),
        node: leaf,
        entries: merged.entries,
        lower: None,
        open_end: target.open_end,
    })
}
