//! Changed nodes back into the tree: level by level, from the leaves up.
//!
//! Neighbours of one parent that changed together are a *run*. If each still fits its page, each
//! keeps its ID and the parent does not change: that is what the mapping table is for. Otherwise
//! the run is packed anew and its parent gets a *splice*: the children that stand in for the run. A
//! run that became sparse takes in an unchanged neighbour when both fit one node.
//!
//! Invariants:
//! 1. Edits and splices of a level are in key order.
//! 2. The first key of an inner node is the node's lower bound (empty for the leftmost). So a run
//!    that loses its first node still answers for its whole range. Where all of a parent's first
//!    children lose all entries, the child behind them takes their place with their bound (see
//!    `widen`).

use std::ops::Range;

use super::NodeId;
use super::cursor::Cursor;
use super::entries::Entries;
use super::node::Node;
use super::nodes::NodeWriter;
use super::pack::{SPARSE, cut, node_bytes, separator};
use super::plan::Hop;
use super::plan::Run;
use super::widen::widen;
use crate::base::{PAGE_PAYLOAD, Result};
use crate::cache::FramePool;

/// A node with new content.
#[derive(Debug)]
pub(crate) struct Edit {
    /// The way to the node, root first; empty for the root.
    pub(crate) hops: Vec<Hop>,
    pub(crate) node: NodeId,
    pub(crate) entries: Entries,
    /// The node's lower bound; nothing for a leaf, whose first key may be any.
    pub(crate) lower: Option<Vec<u8>>,
    /// Set if entries will follow behind the last one.
    pub(crate) open_end: bool,
}

/// A change of a parent: these children stand in for `count` children from the last hop's ordinal
/// on.
#[derive(Debug)]
struct Splice {
    hops: Vec<Hop>,
    count: usize,
    /// Separators with children; the first child keeps the separator of the child it replaces.
    children: Vec<(Vec<u8>, NodeId)>,
    open_end: bool,
}

/// Brings changed leaves into the tree.
pub(crate) fn rebuild(nodes: &mut NodeWriter, pool: &FramePool, leaves: Vec<Edit>) -> Result<()> {
    let mut edits = leaves;
    let mut level = 0;
    while !edits.is_empty() {
        let mut splices = rebuild_level(nodes, pool, edits, level)?;
        level += 1;
        if level == nodes.view.height {
            if let Some(root) = splices.pop() {
                plant(nodes, root.children, level)?;
            }
            break;
        }
        edits = splice_parents(nodes, pool, &splices, level)?;
    }
    lower_root(nodes)
}

fn rebuild_level(
    nodes: &mut NodeWriter,
    pool: &FramePool,
    edits: Vec<Edit>,
    level: usize,
) -> Result<Vec<Splice>> {
    let mut runs = Vec::new();
    for group in neighbours(edits) {
        if group.iter().all(|edit| edit.fits_in_place(level)) {
            for edit in group {
                nodes.put(edit.node, &edit.entries, 0..edit.entries.len(), level);
            }
        } else {
            runs.extend(join(group));
        }
    }
    widen(nodes, pool, &mut runs, level)?;
    let splices = runs.into_iter().map(|run| replace(nodes, run, level));
    splices.filter_map(Result::transpose).collect()
}

impl Edit {
    fn fits_in_place(&self, level: usize) -> bool {
        let bytes = node_bytes(&self.entries, 0..self.entries.len(), level);
        let dense = bytes >= SPARSE || self.open_end || self.hops.is_empty();
        !self.entries.is_empty() && bytes <= PAGE_PAYLOAD && dense
    }

    fn follows(&self, before: &Edit) -> bool {
        match (self.hops.last(), before.hops.last()) {
            (Some(here), Some(there)) => {
                here.node == there.node && here.ordinal == there.ordinal + 1
            }
            _ => false,
        }
    }
}

/// Groups edits of neighbouring children of one parent.
fn neighbours(edits: Vec<Edit>) -> Vec<Vec<Edit>> {
    let mut groups: Vec<Vec<Edit>> = Vec::new();
    for edit in edits {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| edit.follows(last)) => group.push(edit),
            _ => groups.push(vec![edit]),
        }
    }
    groups
}

fn join(group: Vec<Edit>) -> Option<Run> {
    let open_end = group.last().is_some_and(|edit| edit.open_end);
    let mut edits = group.into_iter();
    let first = edits.next()?;
    let mut run = Run {
        hops: first.hops,
        nodes: vec![first.node],
        entries: first.entries,
        lower: first.lower,
        open_end,
    };
    for edit in edits {
        run.nodes.push(edit.node);
        run.entries.push_all(&edit.entries, run.lower.as_deref());
    }
    Some(run)
}

/// Packs a run anew; nothing for the parent to do if one node stays one node.
fn replace(nodes: &mut NodeWriter, run: Run, level: usize) -> Result<Option<Splice>> {
    let ranges = cut(&run.entries, level, run.open_end);
    let count = run.nodes.len();
    let mut children = Vec::with_capacity(ranges.len());
    let mut ids = run.nodes.into_iter();
    for range in &ranges {
        let id = match ids.next() {
            Some(id) => id,
            None => nodes.allocate(level)?,
        };
        nodes.put(id, &run.entries, range.clone(), level);
        children.push((lower_bound(&run.entries, range, level), id));
    }
    for surplus in ids {
        nodes.release(surplus, level);
    }
    let unchanged = count == 1 && children.len() == 1;
    Ok((!unchanged).then_some(Splice {
        hops: run.hops,
        count,
        children,
        open_end: run.open_end,
    }))
}

fn lower_bound(entries: &Entries, range: &Range<usize>, level: usize) -> Vec<u8> {
    match range.start {
        0 => Vec::new(),
        start if level == 0 => separator(entries.key(start - 1), entries.key(start)).to_vec(),
        start => entries.key(start).to_vec(),
    }
}

/// The parents of the spliced children, with their new content.
fn splice_parents(
    nodes: &mut NodeWriter,
    pool: &FramePool,
    splices: &[Splice],
    level: usize,
) -> Result<Vec<Edit>> {
    let groups: Vec<&[Splice]> = splices
        .chunk_by(|a, b| a.parent() == b.parent())
        .filter(|group| group[0].parent().is_some())
        .collect();
    let parents: Vec<NodeId> = groups
        .iter()
        .filter_map(|group| group[0].parent())
        .collect();
    let payloads = nodes.load(pool, &parents, level)?;
    let mut edits = Vec::with_capacity(groups.len());
    for ((group, id), payload) in groups.into_iter().zip(parents).zip(&payloads) {
        edits.push(splice_parent(&nodes.parse(payload, id, level)?, group)?);
    }
    Ok(edits)
}

impl Splice {
    fn parent(&self) -> Option<NodeId> {
        self.hops.last().map(|hop| hop.node)
    }

    fn starts_at(&self, ordinal: usize) -> bool {
        self.hops.last().is_some_and(|hop| hop.ordinal == ordinal)
    }
}

fn splice_parent(parent: &Node<'_>, splices: &[Splice]) -> Result<Edit> {
    let mut entries = Entries::default();
    let mut splices_left = splices.iter().peekable();
    let mut replaced = 0;
    let mut lower = Vec::new();
    let mut cursor = Cursor::new();
    while cursor.advance(parent)? {
        let ordinal = cursor.next_ordinal() - 1;
        if ordinal == 0 {
            lower.clone_from(&cursor.key);
        }
        if let Some(splice) = splices_left.next_if(|splice| splice.starts_at(ordinal)) {
            replaced = splice.count;
            for (at, (separator, child)) in splice.children.iter().enumerate() {
                let key = if at == 0 { &cursor.key } else { separator };
                entries.push_child(&lower, key, *child);
            }
        }
        match replaced.checked_sub(1) {
            Some(left) => replaced = left,
            None => {
                let child = parent.child(cursor.value.clone())?;
                entries.push_child(&lower, &cursor.key, child);
            }
        }
    }
    let hops = &splices[0].hops;
    Ok(Edit {
        hops: hops[..hops.len() - 1].to_vec(),
        node: parent.name().id,
        entries,
        lower: Some(lower),
        open_end: splices.iter().any(|splice| splice.open_end),
    })
}

/// Makes `children`, of the level below `level`, the top of the tree: as many levels as they need.
fn plant(nodes: &mut NodeWriter, children: Vec<(Vec<u8>, NodeId)>, level: usize) -> Result<()> {
    let (mut children, mut level) = (children, level);
    while children.len() > 1 {
        let mut entries = Entries::default();
        for (separator, child) in &children {
            entries.push_child(&[], separator, *child);
        }
        children.clear();
        for range in cut(&entries, level, true) {
            let id = nodes.allocate(level)?;
            nodes.put(id, &entries, range.clone(), level);
            children.push((lower_bound(&entries, &range, level), id));
        }
        level += 1;
    }
    nodes.view.height = if children.is_empty() { 0 } else { level };
    nodes.view.root = children.first().map_or(0, |(_, root)| *root);
    Ok(())
}

/// While the root has a single child, that child is the root.
fn lower_root(nodes: &mut NodeWriter) -> Result<()> {
    while nodes.view.height > 1 {
        let (root, level) = (nodes.view.root, nodes.view.height - 1);
        let Some(payload) = nodes.fresh(root) else {
            break;
        };
        let node = nodes.parse(payload, root, level)?;
        if node.count() > 1 {
            break;
        }
        let (_, child) = node.child_for(&[])?;
        nodes.release(root, level);
        nodes.view.root = child;
        nodes.view.height = level;
    }
    Ok(())
}
