//! A tree as of one moment: what readers use.
//!
//! A view is never changed; its nodes stay where its mapping says until its zones are removed. All
//! reads are resumable steps (see `cache::Pages`).

use super::mapping::Mapping;
use super::node::{Node, NodeName};
use super::{HEIGHT_MAX, NodeId};
use crate::base::{ByteReader, PageAddress, Result, put_varint};
use crate::cache::{Bytes, Frame, Pages, Step};
use crate::storage::{PageKind, wrong_kind};

/// An immutable snapshot of a tree. Clones are cheap and share the mapping table.
#[derive(Clone, Debug)]
pub struct TreeView {
    pub(crate) mapping: Mapping,
    pub(crate) root: NodeId,
    /// Levels, leaves included; 0 when there is no entry.
    pub(crate) height: usize,
    pub(crate) entries: u64,
    pub(crate) leaves: u64,
    pub(crate) inner: u64,
    pub(crate) appended: u64,
}

/// A node in a frame.
#[derive(Clone, Debug)]
pub(crate) struct NodeFrame {
    frame: Frame,
    name: NodeName,
    level: usize,
}

/// The leaf that a look-up came to, and the node above it.
#[derive(Clone, Debug, Default)]
pub struct NearNodes {
    leaf: Option<NodeFrame>,
    parent: Option<NodeFrame>,
}

impl NearNodes {
    /// The leaf that a key belongs to, if the node above surely has it: the key is not below its
    /// first one, and a child behind has only greater ones.
    fn child_for(&self, key: &[u8]) -> Result<Option<NodeId>> {
        let Some(parent) = &self.parent else {
            return Ok(None);
        };
        let node = parent.node()?;
        match node.floor(key)? {
            Some(floor) if floor.ordinal + 1 < node.count() => node.child(floor.value).map(Some),
            _ => Ok(None),
        }
    }
}

impl NodeFrame {
    pub(crate) fn node(&self) -> Result<Node<'_>> {
        Node::parse(&self.frame, self.name, self.level)
    }

    pub(crate) fn payload(&self) -> &[u8] {
        &self.frame
    }

    pub(crate) fn bytes(&self, range: std::ops::Range<usize>) -> &[u8] {
        &self.frame[range]
    }

    fn value(self, range: std::ops::Range<usize>) -> Bytes {
        Bytes::Frame(self.frame, range)
    }
}

impl TreeView {
    /// A tree without entries.
    pub fn new() -> TreeView {
        TreeView {
            mapping: Mapping::new(),
            root: 0,
            height: 0,
            entries: 0,
            leaves: 0,
            inner: 0,
            appended: 0,
        }
    }

    /// Keys in the tree.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Nodes, each one page.
    pub fn nodes(&self) -> u64 {
        self.leaves + self.inner
    }

    /// Nodes that hold entries.
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// Nodes appended since the tree was opened, those moved by cleaning too.
    pub fn appended(&self) -> u64 {
        self.appended
    }

    /// Levels, leaves included; 0 when the tree is empty.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Bytes of memory that the mapping table holds.
    pub fn memory_bytes(&self) -> usize {
        self.mapping.table().memory_bytes()
    }

    /// Returns the addresses of its nodes.
    pub fn node_pages(&self) -> impl Iterator<Item = PageAddress> {
        self.mapping.places().map(|(_, address)| address)
    }

    /// Returns the addresses of the pages of its mapping table.
    pub fn mapping_pages(&self) -> impl Iterator<Item = PageAddress> {
        self.mapping.table().addresses().map(|(_, address)| address)
    }

    /// The value of a key, in the frame it was read to.
    pub fn get(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<Option<Bytes>> {
        if self.height == 0 {
            return Ok(None);
        }
        let leaf = self.leaf_for(key, pages)?;
        let leaf = self.node(leaf, 0, pages)?;
        let found = leaf.node()?.floor(key)?.filter(|floor| floor.exact);
        Ok(found.map(|floor| leaf.value(floor.value)))
    }

    /// The value of a key, as [`TreeView::get`] gives it, for keys that mostly ascend from call to
    /// call: `near` has the nodes of the call before, which then most often have this key too.
    pub fn get_near(
        &self,
        key: &[u8],
        near: &mut NearNodes,
        pages: &mut Pages<'_>,
    ) -> Step<Option<Bytes>> {
        if self.height == 0 {
            return Ok(None);
        }
        if let Some(leaf) = &near.leaf
            && let Some(floor) = leaf.node()?.floor(key)?.filter(|floor| floor.exact)
        {
            return Ok(Some(leaf.clone().value(floor.value)));
        }
        let id = match near.child_for(key)? {
            Some(id) => id,
            None => self.leaf_below(key, near, pages)?,
        };
        let leaf = self.node(id, 0, pages)?;
        let found = leaf.node()?.floor(key)?.filter(|floor| floor.exact);
        let found = found.map(|floor| leaf.clone().value(floor.value));
        near.leaf = Some(leaf);
        Ok(found)
    }

    /// Notes the leaf that a key belongs to, if it is not at hand, for keys that mostly ascend from
    /// call to call.
    pub fn want_near(&self, key: &[u8], near: &mut NearNodes, pages: &mut Pages<'_>) -> Step<()> {
        if self.height == 0 {
            return Ok(());
        }
        let id = match near.child_for(key)? {
            Some(id) => id,
            None => self.leaf_below(key, near, pages)?,
        };
        pages.want(self.mapping.address(id)?).map(drop)
    }

    /// The leaf that a key belongs to; `near` then has the node above it.
    fn leaf_below(&self, key: &[u8], near: &mut NearNodes, pages: &mut Pages<'_>) -> Step<NodeId> {
        let mut id = self.root;
        for level in (1..self.height).rev() {
            let node = self.node(id, level, pages)?;
            id = node.node()?.child_for(key)?.1;
            if level == 1 {
                near.parent = Some(node);
            }
        }
        Ok(id)
    }

    /// Notes the nodes above the leaf that a `get` of this key would come to, and the root in any
    /// case: they are few, and nearly always in memory.
    pub fn approach(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<()> {
        match self.height {
            0 => Ok(()),
            1 => self.node(self.root, 0, pages).map(drop),
            _ => self.leaf_for(key, pages).map(drop),
        }
    }

    /// The leaf that a key belongs to.
    fn leaf_for(&self, key: &[u8], pages: &mut Pages<'_>) -> Step<NodeId> {
        let mut id = self.root;
        for level in (1..self.height).rev() {
            id = self.node(id, level, pages)?.node()?.child_for(key)?.1;
        }
        Ok(id)
    }

    /// The node `id`, which must be at `level`.
    pub(crate) fn node(&self, id: NodeId, level: usize, pages: &mut Pages<'_>) -> Step<NodeFrame> {
        let address = self.mapping.address(id)?;
        let frame = pages.page(address)?;
        Ok(node_frame(frame, id, address, level)?)
    }

    /// Appends what a root record keeps. The mapping's changes were written.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let used = (self.mapping.next() - self.mapping.free_count()) as u64;
        debug_assert_eq!(
            self.leaves + self.inner,
            used,
            "every node ID in use is a node"
        );
        debug_assert_eq!(self.height == 0, used == 0);
        for number in [
            self.height as u64,
            self.root as u64,
            self.entries,
            self.leaves,
            self.inner,
        ] {
            put_varint(out, number);
        }
        self.mapping.encode(out);
    }

    /// Reads what [`TreeView::encode`] wrote. The mapping's pages are to be loaded by the caller.
    pub(crate) fn decode(reader: &mut ByteReader<'_>) -> Result<TreeView> {
        let height = reader.length(HEIGHT_MAX)?;
        let root = reader.varint_u32()?;
        let (entries, leaves, inner) = (reader.varint()?, reader.varint()?, reader.varint()?);
        let view = TreeView {
            mapping: Mapping::decode(reader)?,
            root,
            height,
            entries,
            leaves,
            inner,
            appended: 0,
        };
        let used = view.mapping.next() - view.mapping.free_count();
        if leaves.checked_add(inner) != Some(used as u64) || (height == 0) != (used == 0) {
            return Err(reader.damaged(&format!("{used} nodes in use"), leaves));
        }
        Ok(view)
    }
}

fn node_frame(frame: Frame, id: NodeId, address: PageAddress, level: usize) -> Result<NodeFrame> {
    if frame.kind() != PageKind::Node {
        return Err(wrong_kind(address, PageKind::Node, frame.kind()));
    }
    let name = NodeName { id, address };
    Ok(NodeFrame { frame, name, level })
}
