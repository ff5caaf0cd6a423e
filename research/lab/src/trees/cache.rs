//! Nodes in memory: changed ones that wait to be written together, and those that were read last.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::rc::Rc;

use lru::LruCache;

use super::node::{NODE_BYTES, Node, NodeId};

/// The buffer cache: what was used last by name or slot, nothing if it has no room.
pub struct Cache<T = Node>(Option<LruCache<u32, Rc<T>>>);

/// What a node in memory takes besides its bytes: its counts, and its place in a cache.
const AROUND: usize = 64;

/// The nodes in memory.
pub struct Held {
    waiting: WriteBuffer,
    /// Nodes that were read together, to be changed next.
    fetched: HashMap<NodeId, Rc<Node>>,
    cache: Cache,
}

/// Changed nodes in the order in which they came, up to a number, and where each is among them.
#[derive(Default)]
struct WriteBuffer {
    nodes: Vec<(NodeId, Rc<Node>)>,
    places: HashMap<NodeId, usize>,
    most: usize,
}

impl<T> Cache<T> {
    /// Room for so many nodes.
    pub fn new(nodes: usize) -> Cache<T> {
        Cache(NonZeroUsize::new(nodes).map(LruCache::new))
    }

    /// Bytes of memory that its nodes take.
    pub fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, LruCache::len) * (NODE_BYTES + AROUND)
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

impl Held {
    /// Room for so many nodes that wait, one at least, and so many that were read.
    pub fn new(waiting: usize, cache: usize) -> Held {
        Held {
            waiting: WriteBuffer {
                most: waiting.max(1),
                ..WriteBuffer::default()
            },
            fetched: HashMap::new(),
            cache: Cache::new(cache),
        }
    }

    /// How many nodes may wait.
    pub fn most(&self) -> usize {
        self.waiting.most
    }

    /// A node, if it is in memory.
    pub fn get(&mut self, id: NodeId) -> Option<Rc<Node>> {
        let changed = self.waiting.get(id);
        let fetched = || self.fetched.get(&id).cloned();
        changed.or_else(fetched).or_else(|| self.cache.get(id))
    }

    /// Keeps nodes that were read together until others are, or they are changed.
    pub fn keep_fetched(&mut self, nodes: impl Iterator<Item = (NodeId, Node)>) {
        self.fetched = nodes.map(|(id, node)| (id, Rc::new(node))).collect();
    }

    /// Keeps a node that was read.
    pub fn keep(&mut self, id: NodeId, node: Node) -> Rc<Node> {
        let node = Rc::new(node);
        self.cache.put(id, Rc::clone(&node));
        node
    }

    /// Lets a changed node wait, in place of what waits of it. Tells whether no more may.
    pub fn change(&mut self, id: NodeId, node: Node) -> bool {
        self.cache.forget(id);
        self.fetched.remove(&id);
        self.waiting.put(id, Rc::new(node))
    }

    /// Bytes of memory that the nodes take.
    pub fn memory(&self) -> usize {
        let apart = self.waiting.nodes.len() + self.fetched.len();
        apart * (NODE_BYTES + AROUND) + self.cache.memory()
    }

    /// All that wait, in the order in which they came, to be written now.
    pub fn take(&mut self) -> Vec<(NodeId, Rc<Node>)> {
        self.waiting.places.clear();
        std::mem::take(&mut self.waiting.nodes)
    }

    /// Keeps nodes that were written, as far as there is room.
    pub fn keep_written(&mut self, nodes: Vec<(NodeId, Rc<Node>)>) {
        for (id, node) in nodes {
            self.cache.put(id, node);
        }
    }
}

impl WriteBuffer {
    /// A node, if it waits.
    fn get(&self, id: NodeId) -> Option<Rc<Node>> {
        let place = self.places.get(&id)?;
        Some(Rc::clone(&self.nodes[*place].1))
    }

    /// Lets a node wait, in place of what waits of it. Tells whether the buffer is full.
    fn put(&mut self, id: NodeId, node: Rc<Node>) -> bool {
        let place = *self.places.entry(id).or_insert(self.nodes.len());
        match self.nodes.get_mut(place) {
            Some((_, waiting)) => *waiting = node,
            None => self.nodes.push((id, node)),
        }
        self.nodes.len() >= self.most
    }
}
