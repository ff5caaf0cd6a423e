//! Plans the leaves that a window of keys falls into: level by level, one batch of reads a level.

use rustc_hash::FxHashSet;
use std::ops::Range;

use super::NodeId;
use super::entries::Entries;
use super::node::Node;
use super::nodes::NodeWriter;
use super::view::NodeFrame;
use crate::base::{PageAddress, Result};
use crate::cache::{FramePool, Pages, Stop};

/// Neighbouring nodes that are packed anew together.
#[derive(Debug)]
pub(crate) struct Run {
    /// The way to the first node.
    pub(crate) hops: Vec<Hop>,
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) entries: Entries,
    /// The first node's lower bound; nothing for leaves.
    pub(crate) lower: Option<Vec<u8>>,
    pub(crate) open_end: bool,
}

/// The most keys of one window.
const WINDOW_KEYS: usize = 4096;

/// The most leaves of one window.
const WINDOW_LEAVES: usize = 64;

/// A step down: from this node to the child with this ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) node: NodeId,
    pub(crate) ordinal: usize,
}

/// A leaf and the keys that belong into it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The way to the leaf, root first.
    pub(crate) hops: Vec<Hop>,
    pub(crate) leaf: NodeId,
    pub(crate) keys: Range<usize>,
    /// Set if entries will follow that are above all of the leaf's: at the right end of the tree,
    /// and where the window ends within the keys of the leaf.
    pub(crate) open_end: bool,
}

/// The part of a key's path down the tree that could be followed.
struct Trail {
    hops: Vec<Hop>,
    /// The leaf, or the node that is missing.
    node: NodeId,
    missing: bool,
    /// The first key of the next node.
    upper: Option<Vec<u8>>,
}

/// The leaves of the window that begins at key `first`.
pub(crate) fn plan(
    nodes: &mut NodeWriter,
    pool: &FramePool,
    keys: &[&[u8]],
    first: usize,
) -> Result<Vec<Target>> {
    let mut pages = Pages::new(pool);
    let keys = &keys[..keys.len().min(first + WINDOW_KEYS + 1)];
    // A window's leaves and the inner nodes above them must fit the pool, beside what readers hold.
    let leaves = (pool.capacity() / (2 * nodes.view.height.max(1))).clamp(1, WINDOW_LEAVES);
    loop {
        let mut missing = Vec::new();
        let targets = follow(nodes, keys, first, leaves, &mut pages, &mut missing)?;
        if missing.is_empty() {
            return Ok(targets);
        }
        nodes.flush_before_reading(&missing)?;
        pages.fetch()?;
    }
}

/// The nodes that a plan goes through.
pub(crate) fn nodes_of(targets: &[Target]) -> FxHashSet<NodeId> {
    let hops = |target: &Target| target.hops.iter().map(|hop| hop.node).collect::<Vec<_>>();
    let through = targets.iter().flat_map(hops);
    through.chain(targets.iter().map(|t| t.leaf)).collect()
}

fn follow(
    nodes: &NodeWriter,
    keys: &[&[u8]],
    first: usize,
    leaves: usize,
    pages: &mut Pages<'_>,
    missing: &mut Vec<PageAddress>,
) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    let (mut at, last) = (first, keys.len().min(first + WINDOW_KEYS));
    while at < last && targets.len() + missing.len() < leaves {
        let trail = trail(nodes, keys[at], pages)?;
        let end = match &trail.upper {
            Some(upper) => at + keys[at..].partition_point(|key| *key < upper.as_slice()),
            None => keys.len(),
        };
        if end == at {
            return Err(nodes
                .name(trail.node)
                .damaged("its bounds exclude its keys"));
        }
        if trail.missing {
            missing.push(nodes.view.mapping.address(trail.node)?);
        } else {
            targets.push(Target {
                hops: trail.hops,
                leaf: trail.node,
                keys: at..end.min(last),
                open_end: end > last || trail.upper.is_none(),
            });
        }
        at = end;
    }
    Ok(targets)
}

/// Follows a key down through the nodes that are in memory, noting the first that is not.
fn trail(nodes: &NodeWriter, key: &[u8], pages: &mut Pages<'_>) -> Result<Trail> {
    let mut trail = Trail {
        hops: Vec::with_capacity(nodes.view.height),
        node: nodes.view.root,
        missing: false,
        upper: None,
    };
    for level in (1..nodes.view.height).rev() {
        if let Some(payload) = nodes.fresh(trail.node) {
            trail.descend(key, &nodes.parse(payload, trail.node, level)?)?;
            continue;
        }
        match nodes.view.node(trail.node, level, pages) {
            Ok(frame) => trail.descend_frame(key, &frame)?,
            Err(Stop::Pages) => {
                trail.missing = true;
                break;
            }
            Err(Stop::Failed(error)) => return Err(error),
        }
    }
    Ok(trail)
}

impl Trail {
    fn descend_frame(&mut self, key: &[u8], frame: &NodeFrame) -> Result<()> {
        self.descend(key, &frame.node()?)
    }

    fn descend(&mut self, key: &[u8], node: &Node<'_>) -> Result<()> {
        let (ordinal, child) = node.child_for(key)?;
        if ordinal + 1 < node.count() {
            self.upper = Some(node.cursor_at(ordinal + 1)?.key);
        }
        self.hops.push(Hop {
            node: self.node,
            ordinal,
        });
        self.node = child;
        Ok(())
    }
}
