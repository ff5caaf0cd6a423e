//! Nodes in memory: changed ones that wait to be written together, and those that were read last.

use std::num::NonZeroUsize;
use std::rc::Rc;

use lru::LruCache;

use super::node::{Node, NodeId};

/// The buffer cache: what was used last by name or slot, nothing if it has no room.
pub struct Cache<T = Node>(Option<LruCache<u32, Rc<T>>>);

/// Changed nodes in the order in which they came, up to a number.
pub struct WriteBuffer {
    nodes: Vec<(NodeId, Rc<Node>)>,
    most: usize,
}

impl<T> Cache<T> {
    /// Room for so many nodes.
    pub fn new(nodes: usize) -> Cache<T> {
        Cache(NonZeroUsize::new(nodes).map(LruCache::new))
    }

    /// A node, if it is there.
    pub fn get(&mut self, id: u32) -> Option<Rc<T>> {
        self.0.as_mut()?.get(&id).cloned()
    }

    /// Keeps a node.
    pub fn put(&mut self, id: u32, node: Rc<T>) {
        if let Some(nodes) = &mut self.0 {
            nodes.put(id, node);
        }
    }

    /// Forgets a node.
    pub fn forget(&mut self, id: u32) {
        if let Some(nodes) = &mut self.0 {
            nodes.pop(&id);
        }
    }
}

impl WriteBuffer {
    /// Room for so many nodes, one at least.
    pub fn new(most: usize) -> WriteBuffer {
        WriteBuffer {
            nodes: Vec::new(),
            most: most.max(1),
        }
    }

    /// A node, if it waits.
    pub fn get(&self, id: NodeId) -> Option<Rc<Node>> {
        let found = self.nodes.iter().find(|(waiting, _)| *waiting == id);
        found.map(|(_, node)| Rc::clone(node))
    }

    /// Lets a node wait, in place of what waits of it. Tells whether the buffer is full.
    pub fn put(&mut self, id: NodeId, node: Rc<Node>) -> bool {
        match self.nodes.iter_mut().find(|(waiting, _)| *waiting == id) {
            Some((_, waiting)) => *waiting = node,
            None => self.nodes.push((id, node)),
        }
        self.nodes.len() >= self.most
    }

    /// All that wait, in the order in which they came.
    pub fn take(&mut self) -> Vec<(NodeId, Rc<Node>)> {
        std::mem::take(&mut self.nodes)
    }
}
