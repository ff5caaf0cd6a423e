//! The writer's nodes: read through frames, changed in memory, appended to the stream, mapped.
//!
//! A changed node stays in memory (`fresh`) while the keys that follow may change it again: the
//! right edge of a window is touched by the next. It is appended once, when the window after has
//! gone past it.
//!
//! Invariants:
//! 1. `fresh` is empty between calls of the public operations of a tree.
//! 2. A node is read from `fresh`, or from the device; pages that may still be in the stream's
//!    write buffer (`recent`) are flushed before they are read.
//! 3. A node's old page is released exactly when the mapping stops naming it.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::entries::Entries;
use super::node::{Node, NodeName};
use super::pack;
use super::{NodeId, TreeView};
use crate::base::{Error, PageAddress, Result};
use crate::cache::{FramePool, Pages, Step, finish};
use crate::storage::{PageKind, Store, StreamWriter};

/// The newest view and the stream that its nodes are appended to.
pub(crate) struct NodeWriter {
    pub(crate) view: TreeView,
    store: Arc<Store>,
    stream: StreamWriter,
    fresh: FxHashMap<NodeId, Arc<[u8]>>,
    recent: VecDeque<PageAddress>,
}

impl NodeWriter {
    pub(crate) fn new(store: Arc<Store>, view: TreeView) -> NodeWriter {
        NodeWriter {
            view,
            stream: StreamWriter::new(Arc::clone(&store), PageKind::Node),
            store,
            fresh: FxHashMap::default(),
            recent: VecDeque::new(),
        }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    pub(crate) fn stream(&mut self) -> &mut StreamWriter {
        &mut self.stream
    }

    /// Writes out the stream's buffer, so that every appended node can be read.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stream.flush()?;
        self.recent.clear();
        Ok(())
    }

    /// Flushes if any of `addresses` may not be on the device yet.
    pub(crate) fn flush_before_reading(&mut self, addresses: &[PageAddress]) -> Result<()> {
        if addresses
            .iter()
            .any(|address| self.recent.contains(address))
        {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// The changed node `id`, if it is in memory.
    pub(crate) fn fresh(&self, id: NodeId) -> Option<&Arc<[u8]>> {
        self.fresh.get(&id)
    }

    /// Returns the ID and the address of a node, for errors.
    pub(crate) fn name(&self, id: NodeId) -> NodeName {
        // A node that was never written is only in memory, where nothing damages it.
        let nowhere = PageAddress { zone: 0, page: 0 };
        let address = self.view.mapping.address(id).unwrap_or(nowhere);
        NodeName { id, address }
    }

    /// Reads nodes of one level in as few batches as the pool allows; copies, so that no frame
    /// stays held.
    pub(crate) fn load(
        &mut self,
        pool: &FramePool,
        ids: &[NodeId],
        level: usize,
    ) -> Result<Vec<Arc<[u8]>>> {
        let mut payloads = Vec::with_capacity(ids.len());
        for ids in ids.chunks((pool.capacity() / 4).max(1)) {
            let mut addresses = Vec::new();
            for id in ids.iter().filter(|id| !self.fresh.contains_key(id)) {
                addresses.push(self.view.mapping.address(*id)?);
            }
            self.flush_before_reading(&addresses)?;
            let mut pages = Pages::new(pool);
            let batch = finish(&mut pages, |pages| self.load_step(ids, level, pages))?;
            payloads.extend(batch);
        }
        Ok(payloads)
    }

    fn load_step(
        &self,
        ids: &[NodeId],
        level: usize,
        pages: &mut Pages<'_>,
    ) -> Step<Vec<Arc<[u8]>>> {
        for id in ids.iter().filter(|id| !self.fresh.contains_key(id)) {
            pages.want(self.view.mapping.address(*id)?)?;
        }
        let copy = |id: &NodeId| match self.fresh.get(id) {
            Some(payload) => Ok(Arc::clone(payload)),
            None => Ok(self.view.node(*id, level, pages)?.payload().into()),
        };
        ids.iter().map(copy).collect()
    }

    /// A loaded node, checked.
    pub(crate) fn parse<'a>(
        &self,
        payload: &'a [u8],
        id: NodeId,
        level: usize,
    ) -> Result<Node<'a>> {
        Node::parse(payload, self.name(id), level)
    }

    /// Makes `entries[range]` the content of a node.
    pub(crate) fn put(
        &mut self,
        id: NodeId,
        entries: &Entries,
        range: std::ops::Range<usize>,
        level: usize,
    ) {
        let payload = pack::encode(entries, range, level, id);
        self.fresh.insert(id, payload);
    }

    /// A new node ID at a level.
    pub(crate) fn allocate(&mut self, level: usize) -> Result<NodeId> {
        let id = self.view.mapping.allocate()?;
        *self.count(level) += 1;
        Ok(id)
    }

    /// Removes a node.
    pub(crate) fn release(&mut self, id: NodeId, level: usize) {
        self.fresh.remove(&id);
        if let Some(address) = self.view.mapping.release(id) {
            self.store.release_page(address);
        }
        let count = self.count(level);
        *count = count.saturating_sub(1);
    }

    /// Removes all nodes, and the mapping's pages.
    pub(crate) fn clear(&mut self) {
        let mut new = TreeView::new();
        new.appended = self.view.appended;
        let old = std::mem::replace(&mut self.view, new);
        let nodes = old.mapping.places().map(|(_, place)| place);
        let pages = old.mapping.table().addresses().map(|(_, place)| place);
        for place in nodes.chain(pages) {
            self.store.release_page(place);
        }
    }

    /// Appends all changed nodes but those of `keep`, in the order of their IDs.
    pub(crate) fn settle(&mut self, keep: &FxHashSet<NodeId>) -> Result<()> {
        let ids = self.fresh.keys().filter(|id| !keep.contains(id));
        let mut ids: Vec<NodeId> = ids.copied().collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(payload) = self.fresh.remove(&id) {
                self.append(id, &payload)?;
            }
        }
        Ok(())
    }

    /// Appends nodes unchanged.
    pub(crate) fn relocate(&mut self, pool: &FramePool, ids: &[NodeId]) -> Result<()> {
        let mut addresses = Vec::with_capacity(ids.len());
        for id in ids {
            addresses.push(self.view.mapping.address(*id)?);
        }
        self.flush_before_reading(&addresses)?;
        let mut pages = Pages::new(pool);
        let frames = finish(&mut pages, |pages| {
            for address in &addresses {
                pages.want(*address)?;
            }
            let frames = addresses.iter().map(|address| pages.page(*address));
            frames.collect::<Step<Vec<_>>>()
        })?;
        for (id, frame) in ids.iter().zip(&frames) {
            if frame.kind() != PageKind::Node {
                return Err(self.name(*id).damaged("its page holds no node"));
            }
            self.append(*id, frame)?;
        }
        Ok(())
    }

    fn append(&mut self, id: NodeId, payload: &[u8]) -> Result<()> {
        let address = self.stream.append_page(payload)?;
        self.view.appended += 1;
        if self.recent.len() > self.store.write_pages() {
            self.recent.pop_front();
        }
        self.recent.push_back(address);
        if let Some(old) = self.view.mapping.set(id, address) {
            self.store.release_page(old);
        }
        Ok(())
    }

    fn count(&mut self, level: usize) -> &mut u64 {
        match level {
            0 => &mut self.view.leaves,
            _ => &mut self.view.inner,
        }
    }
}

/// The error of a tree that failed before.
pub(crate) fn stopped(reason: &str) -> Error {
    Error::Stopped(reason.to_owned())
}
