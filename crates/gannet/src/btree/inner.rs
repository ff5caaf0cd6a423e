//! Keeps the addresses of the nodes above the leaves of a tree: every look-up reads one of each
//! level.

use super::cursor::Cursor;
use super::{NodeId, TreeView};
use crate::base::{PageAddress, Result};
use crate::cache::{FramePool, Pages, Step, finish};

/// The pages of all inner nodes. Reads those that have inner nodes below them.
pub fn inner_pages(view: &TreeView, pool: &FramePool) -> Result<Vec<PageAddress>> {
    let mut all = Vec::new();
    let mut nodes = vec![view.root];
    for level in (1..view.height()).rev() {
        let mut below = Vec::new();
        for id in nodes {
            all.push(view.mapping.address(id)?);
            if level > 1 {
                let mut pages = Pages::new(pool);
                below.append(&mut finish(&mut pages, |pages| {
                    children(view, id, level, pages)
                })?);
            }
        }
        nodes = below;
    }
    Ok(all)
}

fn children(view: &TreeView, id: NodeId, level: usize, pages: &mut Pages<'_>) -> Step<Vec<NodeId>> {
    let frame = view.node(id, level, pages)?;
    let node = frame.node()?;
    let (mut cursor, mut found) = (Cursor::new(), Vec::new());
    while cursor.advance(&node)? {
        found.push(node.child(cursor.value.clone())?);
    }
    Ok(found)
}
