//! A B+-tree over any way to keep nodes.
//!
//! As the paper describes it: a full node of `d` keys is split so that the first
//! `ceil((d + 1) / 2)` stay; a deletion takes the key out of its leaf and joins no nodes. The root
//! keeps its name, so that a tree is found again: what it held moves down when it splits.

use std::rc::Rc;

use gannet::Result;
use gannet_ssd::Work;

use super::node::{Node, NodeId};
use super::rolling::Merging;
use super::waiting::Change;
use super::{Cleaning, OrderedIndex, Value, entry_fits};

/// The root's name, the first that is given.
pub const ROOT: NodeId = 0;

/// A way to keep nodes.
pub trait Nodes {
    /// Whether there is no node yet.
    fn is_empty(&self) -> bool;

    /// A name for a new node, which must be written next.
    fn create(&mut self) -> NodeId;

    /// A node.
    fn read(&mut self, id: NodeId) -> Result<Rc<Node>>;

    /// How many nodes may be fetched together.
    fn fetches(&self) -> usize {
        1
    }

    /// Reads nodes that will be changed next, if it is a gain to read them together.
    fn fetch(&mut self, _ids: &[NodeId]) -> Result<()> {
        Ok(())
    }

    /// Keeps a node that is new or has changed.
    fn write(&mut self, id: NodeId, node: Node) -> Result<()>;

    /// Writes out what only memory has.
    fn settle(&mut self) -> Result<()>;

    /// What was done with the device.
    fn work(&self) -> Work;

    /// Bytes of the files.
    fn file_bytes(&self) -> u64;

    /// Bytes of memory that it holds.
    fn memory(&self) -> usize;

    /// What cleaning has to do and did.
    fn cleaning(&self) -> Cleaning {
        Cleaning::default()
    }
}

/// The tree.
pub struct BTree<N> {
    nodes: N,
    fan_out: usize,
    /// Inner nodes, and the root, that the last insertion split.
    splits: Vec<Split>,
}

/// A node that became two.
#[derive(Clone, Debug)]
pub struct Split {
    /// The name that it had.
    pub before: NodeId,
    /// The names of its halves; the left one has the name that it had, unless it was the root.
    pub halves: [NodeId; 2],
    /// The first key of the right one.
    pub bound: Vec<u8>,
}

/// The inner nodes on the way from the root to a leaf.
type Path = Vec<NodeId>;

impl<N: Nodes> BTree<N> {
    /// The tree in `nodes`, with up to `fan_out` keys a node, four at least.
    pub fn new(mut nodes: N, fan_out: usize) -> Result<BTree<N>> {
        if nodes.is_empty() {
            let root = nodes.create();
            nodes.write(root, Node::new(0))?;
        }
        Ok(BTree {
            nodes,
            fan_out: fan_out.max(4),
            splits: Vec::new(),
        })
    }

    /// Inner nodes, and the root, that the last insertion split, in order.
    pub fn take_splits(&mut self) -> Vec<Split> {
        std::mem::take(&mut self.splits)
    }

    /// The node at a level that a key belongs to; the root if it is not above that level.
    pub fn node_at(&mut self, key: &[u8], level: usize) -> Result<NodeId> {
        let mut id = ROOT;
        let mut node = self.nodes.read(id)?;
        while node.level() > level {
            id = node.value(node.floor(key)) as NodeId;
            node = self.nodes.read(id)?;
        }
        Ok(id)
    }

    /// A node.
    pub fn node(&mut self, id: NodeId) -> Result<Rc<Node>> {
        self.nodes.read(id)
    }

    /// Levels below a node.
    pub fn level_of(&mut self, id: NodeId) -> Result<usize> {
        Ok(self.nodes.read(id)?.level())
    }

    /// Levels above the leaves.
    pub fn height(&mut self) -> Result<usize> {
        Ok(self.nodes.read(ROOT)?.level())
    }

    /// The leaf that a key belongs to, and the way to it.
    fn leaf(&mut self, key: &[u8], path: &mut Path) -> Result<(NodeId, Rc<Node>)> {
        let mut id = ROOT;
        let mut node = self.nodes.read(id)?;
        while node.level() > 0 {
            path.push(id);
            id = node.value(node.floor(key)) as NodeId;
            node = self.nodes.read(id)?;
        }
        Ok((id, node))
    }

    /// Puts an entry into a node, which is split if it is full.
    fn put(
        &mut self,
        id: NodeId,
        mut node: Node,
        entry: (&[u8], Value),
        path: &mut Path,
    ) -> Result<()> {
        let (key, value) = entry;
        let at = node.find(key).unwrap_or_else(|at| at);
        if node.len() < self.fan_out && node.fits(key.len()) {
            node.insert(at, key, value);
            return self.nodes.write(id, node);
        }
        let mut right = node.split_off(node.middle());
        let goes_left = key < right.key(0);
        let half = if goes_left { &mut node } else { &mut right };
        let at = half.find(key).unwrap_or_else(|at| at);
        half.insert(at, key, value);
        let bound = right.key(0).to_vec();
        let level = node.level();
        let right_id = self.nodes.create();
        self.nodes.write(right_id, right)?;
        let Some(parent) = path.pop() else {
            let left_id = self.nodes.create();
            self.note(id, [left_id, right_id], &bound);
            self.nodes.write(left_id, node)?;
            let mut root = Node::new(level + 1);
            root.insert(0, &[], left_id as Value);
            root.insert(1, &bound, right_id as Value);
            return self.nodes.write(id, root);
        };
        if level > 0 {
            self.note(id, [id, right_id], &bound);
        }
        self.nodes.write(id, node)?;
        let inner = Node::clone(&*self.nodes.read(parent)?);
        self.put(parent, inner, (&bound, right_id as Value), path)
    }

    fn note(&mut self, before: NodeId, halves: [NodeId; 2], bound: &[u8]) {
        self.splits.push(Split {
            before,
            halves,
            bound: bound.to_vec(),
        });
    }

    /// Appends the keys of a node from `from` on, until there are `most`.
    fn collect(
        &mut self,
        id: NodeId,
        from: &[u8],
        most: usize,
        out: &mut Vec<(Vec<u8>, Value)>,
    ) -> Result<()> {
        let node = self.nodes.read(id)?;
        if node.level() == 0 {
            let first = node.find(from).unwrap_or_else(|at| at);
            let room = most - out.len();
            let some = (first..node.len()).take(room);
            out.extend(some.map(|at| (node.key(at).to_vec(), node.value(at))));
            return Ok(());
        }
        for at in node.floor(from)..node.len() {
            if out.len() >= most {
                break;
            }
            self.collect(node.value(at) as NodeId, from, most, out)?;
        }
        Ok(())
    }
}

impl<N: Nodes> OrderedIndex for BTree<N> {
    fn insert(&mut self, key: &[u8], value: Value) -> Result<()> {
        entry_fits(key, value)?;
        self.splits.clear();
        let mut path = Path::new();
        let (id, leaf) = self.leaf(key, &mut path)?;
        let mut leaf = Node::clone(&*leaf);
        match leaf.find(key) {
            Ok(at) => {
                leaf.set_value(at, value);
                self.nodes.write(id, leaf)
            }
            Err(_) => self.put(id, leaf, (key, value), &mut path),
        }
    }

    fn search(&mut self, key: &[u8]) -> Result<Option<Value>> {
        let (_, leaf) = self.leaf(key, &mut Path::new())?;
        Ok(leaf.find(key).ok().map(|at| leaf.value(at)))
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        let (id, leaf) = self.leaf(key, &mut Path::new())?;
        let Ok(at) = leaf.find(key) else {
            return Ok(());
        };
        let mut leaf = Node::clone(&*leaf);
        leaf.remove(at);
        self.nodes.write(id, leaf)
    }

    fn range(&mut self, from: &[u8], most: usize) -> Result<Vec<(Vec<u8>, Value)>> {
        let mut found = Vec::new();
        self.collect(ROOT, from, most, &mut found)?;
        Ok(found)
    }

    fn settle(&mut self) -> Result<()> {
        self.nodes.settle()
    }

    fn work(&self) -> Work {
        self.nodes.work()
    }

    fn file_bytes(&self) -> u64 {
        self.nodes.file_bytes()
    }

    fn memory(&self) -> usize {
        self.nodes.memory()
    }

    fn cleaning(&self) -> Cleaning {
        self.nodes.cleaning()
    }
}

impl<N: Nodes> Merging for BTree<N> {
    fn merge(&mut self, changes: &[(&[u8], Change)]) -> Result<()> {
        self.splits.clear();
        let mut rest = changes;
        while !rest.is_empty() {
            let (mut leaves, mut there) = (Vec::new(), 0);
            while leaves.len() < self.nodes.fetches() && there < rest.len() {
                let (leaf, here) = self.first_leaf(&rest[there..])?;
                leaves.push(leaf);
                there += here;
            }
            self.nodes.fetch(&leaves)?;
            let (mut some, behind) = rest.split_at(there);
            while !some.is_empty() {
                some = &some[self.merge_first(some)?..];
            }
            rest = behind;
        }
        Ok(())
    }
}

impl<N: Nodes> BTree<N> {
    /// The leaf that the first changes belong to, which is not read, and how many do.
    fn first_leaf(&mut self, changes: &[(&[u8], Change)]) -> Result<(NodeId, usize)> {
        let key = changes[0].0;
        let (mut id, mut here) = (ROOT, changes.len());
        for _ in 0..self.height()? {
            let node = self.nodes.read(id)?;
            let at = node.floor(key);
            if at + 1 < node.len() {
                let end = node.key(at + 1);
                here = changes[..here].partition_point(|(key, _)| *key < end);
            }
            id = node.value(at) as NodeId;
        }
        Ok((id, here))
    }

    /// Makes the first changes, those of one leaf, which is written once; gives how many. If it is
    /// full, the change that finds no room splits it and is the last.
    fn merge_first(&mut self, changes: &[(&[u8], Change)]) -> Result<usize> {
        let (_, here) = self.first_leaf(changes)?;
        let mut path = Path::new();
        let (id, leaf) = self.leaf(changes[0].0, &mut path)?;
        let mut leaf = Node::clone(&*leaf);
        for (at, (key, change)) in changes[..here].iter().enumerate() {
            match (leaf.find(key), change) {
                (Ok(place), Some(value)) => leaf.set_value(place, *value),
                (Ok(place), None) => leaf.remove(place),
                (Err(_), None) => {}
                (Err(place), Some(value)) if leaf.len() < self.fan_out && leaf.fits(key.len()) => {
                    leaf.insert(place, key, *value)
                }
                (Err(_), Some(value)) => {
                    self.put(id, leaf, (key, *value), &mut path)?;
                    return Ok(at + 1);
                }
            }
        }
        self.nodes.write(id, leaf)?;
        Ok(here)
    }
}
