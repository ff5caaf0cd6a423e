//! Sparse runs take in an unchanged neighbour, so that removals do not leave a tree of nearly empty
//! nodes.
//!
//! Only neighbours under the same parent come into question, and only if all fits one node: at most
//! one more leaf is then read and none is written, and the parent loses a child. One that is empty
//! and was its parent's first inner nodes takes in the neighbour behind it whatever its size: that
//! has its bound from now on.

use rustc_hash::FxHashSet;

use super::NodeId;
use super::entries::Entries;
use super::node::Node;
use super::nodes::NodeWriter;
use super::pack::{FILL, SPARSE, node_bytes};
use super::plan::{Hop, Run};
use crate::base::Result;
use crate::cache::FramePool;

/// A neighbour that a sparse run may take in.
struct Neighbour {
    run: usize,
    node: NodeId,
    on_the_left: bool,
}

/// Sparse runs take in a neighbour under the same parent, when both fit one node.
pub(crate) fn widen(
    nodes: &mut NodeWriter,
    pool: &FramePool,
    runs: &mut [Run],
    level: usize,
) -> Result<()> {
    let found = find_neighbours(nodes, pool, runs, level)?;
    let ids: Vec<NodeId> = found.iter().map(|neighbour| neighbour.node).collect();
    let payloads = nodes.load(pool, &ids, level)?;
    for (neighbour, payload) in found.iter().zip(&payloads) {
        let node = nodes.parse(payload, neighbour.node, level)?;
        runs[neighbour.run].take_in(neighbour, &node, level)?;
    }
    Ok(())
}

fn find_neighbours(
    nodes: &mut NodeWriter,
    pool: &FramePool,
    runs: &[Run],
    level: usize,
) -> Result<Vec<Neighbour>> {
    let sparse: Vec<(usize, Hop)> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.is_sparse(level) || run.leaves_its_bound())
        .filter_map(|(at, run)| Some((at, *run.hops.last()?)))
        .collect();
    let parents: Vec<NodeId> = sparse.iter().map(|(_, hop)| hop.node).collect();
    let payloads = nodes.load(pool, &parents, level + 1)?;
    let (mut found, mut taken) = (Vec::new(), FxHashSet::default());
    for ((run, hop), payload) in sparse.into_iter().zip(&payloads) {
        let parent = nodes.parse(payload, hop.node, level + 1)?;
        let right = hop.ordinal + runs[run].nodes.len();
        // Of the first there is none on the left.
        for (ordinal, on_the_left) in [(right, false), (hop.ordinal.wrapping_sub(1), true)] {
            if let Some(node) = child_at(&parent, ordinal)?.filter(|node| taken.insert(*node)) {
                found.push(Neighbour {
                    run,
                    node,
                    on_the_left,
                });
                break;
            }
        }
    }
    Ok(found)
}

fn child_at(parent: &Node<'_>, ordinal: usize) -> Result<Option<NodeId>> {
    if ordinal >= parent.count() {
        return Ok(None);
    }
    let value = parent.cursor_at(ordinal)?.value;
    parent.child(value).map(Some)
}

impl Run {
    fn is_sparse(&self, level: usize) -> bool {
        let bytes = node_bytes(&self.entries, 0..self.entries.len(), level);
        bytes < SPARSE && !self.entries.is_empty() && !self.open_end && !self.hops.is_empty()
    }

    /// Returns true if its parent's first children, which have lower bounds, are empty.
    fn leaves_its_bound(&self) -> bool {
        let is_first = self.hops.last().is_some_and(|hop| hop.ordinal == 0);
        self.entries.is_empty() && self.lower.is_some() && is_first
    }

    fn take_in(&mut self, neighbour: &Neighbour, node: &Node<'_>, level: usize) -> Result<()> {
        if self.leaves_its_bound() {
            let mut behind = Entries::default();
            behind.push_node(node)?;
            self.entries.push_all(&behind, self.lower.as_deref());
            self.nodes.push(neighbour.node);
            return Ok(());
        }
        let mut joined = Entries::default();
        if neighbour.on_the_left {
            joined.push_node(node)?;
        }
        joined.push_all(&self.entries, None);
        if !neighbour.on_the_left {
            joined.push_node(node)?;
        }
        if node_bytes(&joined, 0..joined.len(), level) > FILL {
            return Ok(());
        }
        self.entries = joined;
        if neighbour.on_the_left {
            self.nodes.insert(0, neighbour.node);
            if let Some(hop) = self.hops.last_mut() {
                hop.ordinal -= 1;
            }
        } else {
            self.nodes.push(neighbour.node);
        }
        Ok(())
    }
}
