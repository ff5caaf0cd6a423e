//! Measures the fill of the leaves of trees.

use super::{NodeId, TreeView};
use crate::base::{PAGE_PAYLOAD, PageAddress, Result};
use crate::cache::{FramePool, Pages, Step, finish};

/// Nodes that are read together.
const TOGETHER: usize = 64;

/// The share of their leaves' bytes that trees use; none if all are empty. Reads all nodes.
pub fn fill<'t>(
    trees: impl IntoIterator<Item = &'t TreeView>,
    pool: &FramePool,
) -> Result<Option<f64>> {
    let (mut used, mut bytes) = (0, 0);
    for tree in trees {
        used += used_bytes(tree, pool)?;
        bytes += tree.leaves() as usize * PAGE_PAYLOAD;
    }
    Ok((bytes > 0).then(|| used as f64 / bytes as f64))
}

/// Bytes that are used of the leaves of a tree.
fn used_bytes(view: &TreeView, pool: &FramePool) -> Result<usize> {
    let places: Vec<(NodeId, PageAddress)> = view.mapping.places().collect();
    let mut used = 0;
    for some in places.chunks(TOGETHER.min(pool.capacity() / 4).max(1)) {
        let mut pages = Pages::new(pool);
        let lengths = finish(&mut pages, |pages| lengths(view, some, pages))?;
        used += lengths.iter().sum::<usize>();
    }
    Ok(used)
}

/// Bytes that are used of some nodes, where they are leaves.
fn lengths(
    view: &TreeView,
    places: &[(NodeId, PageAddress)],
    pages: &mut Pages<'_>,
) -> Step<Vec<usize>> {
    for (_, place) in places {
        pages.want(*place)?;
    }
    let length = |(id, place): &(NodeId, PageAddress)| {
        let page = pages.page(*place)?;
        match page.first() {
            Some(0) => Ok(view.node(*id, 0, pages)?.node().map(|leaf| leaf.length())?),
            _ => Ok(0),
        }
    };
    places.iter().map(length).collect()
}
