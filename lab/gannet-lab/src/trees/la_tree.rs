//! A B+-tree with buffers above its leaves, in which operations wait: the LA-tree.
//!
//! Every so many levels a node has a buffer on flash. An operation goes to the buffer of the
//! highest such node on its way; when that is emptied its operations go, sorted, to the buffers of
//! the next such level, or to the leaves. So many that belong to one leaf cost one change of it. A
//! search must look through the buffers on its way. When to empty one is decided by what it has
//! cost: once searches have paid for reading it what emptying it costs, it is emptied (or when it
//! is full). No sequence of operations can make that cost more than about twice what the best
//! decision would have.
//!
//! Source: Agrawal, Ganesan, Sitaraman, Diao, Singh, "Lazy-Adaptive Tree: An Optimized Index
//! Structure for Flash Devices", PVLDB 2009. Their rule weighs savings of sizes that a buffer had;
//! this one is its simplest form. Parts of buffers in memory share one pool, of which the largest
//! part is written when it is full.

use std::collections::BTreeMap;
use std::path::Path;

use gannet::{Error, Result};
use gannet_ssd::Work;

use super::btree::{BTree, ROOT, Split};
use super::device::{NodeFile, Slot};
use super::in_place::InPlace;
use super::node::{KEY_MAX, NODE_BYTES, Node, NodeId};
use super::{OrderedIndex, Settings, VALUE_END, Value, entry_fits};

/// What an operation takes in memory besides its key.
const AROUND: usize = 12;

/// What an operation does with its key.
type Change = Option<Value>;

/// Stands for a key that is gone.
const GONE: Value = VALUE_END;

/// Operations that wait at a node: the later ones count.
#[derive(Default)]
struct Buffer {
    /// Pages on flash, the oldest first.
    pages: Vec<Slot>,
    /// What is only in memory.
    recent: BTreeMap<Vec<u8>, Change>,
    bytes: usize,
    /// Pages that searches have read of it.
    paid: usize,
}

/// The LA-tree.
pub struct LaTree {
    tree: BTree<InPlace>,
    /// Levels above its leaves.
    height: usize,
    /// Pages of buffers.
    file: NodeFile,
    free: Vec<Slot>,
    end: Slot,
    buffers: BTreeMap<NodeId, Buffer>,
    /// Bytes of all operations in memory.
    bytes: usize,
    bytes_most: usize,
    pages_most: usize,
    every: usize,
}

impl LaTree {
    /// Opens or makes the tree in a folder.
    pub fn open(folder: &Path, settings: &Settings) -> Result<LaTree> {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| Error::invalid(format!("{}: {error}", folder.display())))?;
        let nodes = InPlace::open(&folder.join("nodes"), settings)?;
        let mut tree = BTree::new(nodes, settings.fan_out)?;
        Ok(LaTree {
            height: tree.height()?,
            tree,
            file: NodeFile::open(&folder.join("buffers"), settings)?,
            free: Vec::new(),
            end: 0,
            buffers: BTreeMap::new(),
            bytes: 0,
            bytes_most: settings.buffers.max(1) * NODE_BYTES,
            pages_most: settings.buffer_most.max(1),
            every: settings.buffered_every.max(1),
        })
    }

    /// The highest level that has buffers; none if the tree is one leaf.
    fn top(&self) -> Option<usize> {
        self.height
            .checked_sub(1)
            .map(|inner| inner / self.every * self.every + 1)
    }

    /// The level of buffers below one.
    fn below(&self, level: usize) -> Option<usize> {
        level.checked_sub(self.every).filter(|below| *below > 0)
    }

    fn change(&mut self, key: &[u8], change: Change) -> Result<()> {
        match self.top() {
            None => self.apply(key, change),
            Some(level) => {
                let id = self.tree.node_at(key, level)?;
                self.wait(id, key.to_vec(), change);
                self.make_room()?;
                self.empty_full(id, level)
            }
        }
    }

    /// Lets an operation wait at a node.
    fn wait(&mut self, id: NodeId, key: Vec<u8>, change: Change) {
        let buffer = self.buffers.entry(id).or_default();
        let bytes = key.len() + AROUND;
        if buffer.recent.insert(key, change).is_none() {
            buffer.bytes += bytes;
            self.bytes += bytes;
        }
    }

    /// Writes the largest parts in memory until there is room.
    fn make_room(&mut self) -> Result<()> {
        while self.bytes > self.bytes_most {
            let largest = self.buffers.iter().max_by_key(|(_, buffer)| buffer.bytes);
            let Some((&id, _)) = largest else { break };
            self.write_recent(id)?;
        }
        Ok(())
    }

    /// Writes the part of a buffer that is only in memory.
    fn write_recent(&mut self, id: NodeId) -> Result<()> {
        let Some(buffer) = self.buffers.get_mut(&id) else {
            return Ok(());
        };
        let recent = std::mem::take(&mut buffer.recent);
        self.bytes -= std::mem::take(&mut buffer.bytes);
        let mut page = Node::new(0);
        for (key, change) in recent {
            if !page.fits(key.len()) {
                self.write_page(id, std::mem::replace(&mut page, Node::new(0)))?;
            }
            page.insert(page.len(), &key, change.unwrap_or(GONE));
        }
        match page.len() {
            0 => Ok(()),
            _ => self.write_page(id, page),
        }
    }

    fn write_page(&mut self, id: NodeId, page: Node) -> Result<()> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.end += 1;
            self.end - 1
        });
        self.file.write_run(slot, &[page.bytes()])?;
        self.buffers.entry(id).or_default().pages.push(slot);
        Ok(())
    }

    /// Empties a buffer if it is full.
    fn empty_full(&mut self, id: NodeId, level: usize) -> Result<()> {
        match self.buffers.get(&id) {
            Some(buffer) if buffer.pages.len() >= self.pages_most => self.empty(id, level),
            _ => Ok(()),
        }
    }

    /// Takes all operations of a buffer, the later of each key.
    fn take(&mut self, id: NodeId) -> Result<BTreeMap<Vec<u8>, Change>> {
        let all = self.waiting(id)?;
        if let Some(buffer) = self.buffers.remove(&id) {
            self.bytes -= buffer.bytes;
            self.free.extend(buffer.pages);
        }
        Ok(all)
    }

    /// Sends the operations of a buffer down.
    fn empty(&mut self, id: NodeId, level: usize) -> Result<()> {
        let all = self.take(id)?;
        let Some(below) = self.below(level) else {
            for (key, change) in all {
                self.apply(&key, change)?;
            }
            return Ok(());
        };
        let mut touched = Vec::new();
        for (key, change) in all {
            let child = self.tree.node_at(&key, below)?;
            self.wait(child, key, change);
            if touched.last() != Some(&child) {
                touched.push(child);
            }
            self.make_room()?;
        }
        for child in touched {
            self.empty_full(child, below)?;
        }
        Ok(())
    }

    /// Applies an operation to its leaf.
    fn apply(&mut self, key: &[u8], change: Change) -> Result<()> {
        match change {
            Some(value) => self.tree.insert(key, value)?,
            None => self.tree.delete(key)?,
        }
        for split in self.tree.take_splits() {
            self.height += usize::from(split.before == ROOT);
            self.divide(split)?;
        }
        Ok(())
    }

    /// Divides what waits at a node that was split.
    fn divide(&mut self, split: Split) -> Result<()> {
        if !self.buffers.contains_key(&split.before) {
            return Ok(());
        }
        for (key, change) in self.take(split.before)? {
            let half = split.halves[usize::from(key >= split.bound)];
            self.wait(half, key, change);
        }
        self.make_room()
    }

    /// What a buffer has of a key. Reads its pages, the newest first, until it is found.
    fn look(&mut self, id: NodeId, key: &[u8]) -> Result<Option<Change>> {
        let Some(buffer) = self.buffers.get_mut(&id) else {
            return Ok(None);
        };
        if let Some(change) = buffer.recent.get(key) {
            return Ok(Some(*change));
        }
        for slot in buffer.pages.iter().rev() {
            buffer.paid += 1;
            let page = Node::from_bytes(self.file.read(*slot)?)?;
            if let Ok(at) = page.find(key) {
                return Ok(Some(change_of(page.value(at))));
            }
        }
        Ok(None)
    }

    /// Empties a buffer for which searches have paid what that costs: its pages are read, and each
    /// of its operations may change a leaf, that is read and written.
    fn empty_paid(&mut self, id: NodeId, level: usize) -> Result<()> {
        let Some(buffer) = self.buffers.get(&id) else {
            return Ok(());
        };
        let pages = buffer.pages.len();
        let operations = buffer.recent.len() + pages * (NODE_BYTES / (8 + AROUND));
        let leaves = 2 * operations.min(pages_below(level));
        match pages > 0 && buffer.paid >= pages + leaves {
            true => self.empty(id, level),
            false => Ok(()),
        }
    }
}

/// About how many nodes a node of a level has below it at most, that are changed when it is
/// emptied.
fn pages_below(level: usize) -> usize {
    256usize.saturating_pow(level as u32)
}

fn change_of(value: Value) -> Change {
    Some(value).filter(|value| *value != GONE)
}

impl OrderedIndex for LaTree {
    fn insert(&mut self, key: &[u8], value: Value) -> Result<()> {
        entry_fits(key, value)?;
        self.change(key, Some(value))
    }

    fn search(&mut self, key: &[u8]) -> Result<Option<Value>> {
        let (mut id, mut first) = (ROOT, None);
        let found = loop {
            let node = self.tree.node(id)?;
            let level = node.level();
            if level == 0 {
                break node.find(key).ok().map(|at| node.value(at));
            }
            if (level - 1).is_multiple_of(self.every) {
                first = first.or(Some((id, level)));
                if let Some(change) = self.look(id, key)? {
                    break change;
                }
            }
            id = node.value(node.floor(key)) as NodeId;
        };
        if let Some((id, level)) = first {
            self.empty_paid(id, level)?;
        }
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        match key.len() > KEY_MAX {
            true => Ok(()),
            false => self.change(key, None),
        }
    }

    fn range(&mut self, from: &[u8], most: usize) -> Result<Vec<(Vec<u8>, Value)>> {
        let mut found = Vec::new();
        self.gather(ROOT, (from, most), BTreeMap::new(), &mut found)?;
        Ok(found)
    }

    fn settle(&mut self) -> Result<()> {
        self.empty_all()?;
        self.tree.settle()
    }

    fn work(&self) -> Work {
        self.tree.work().and(self.file.work())
    }

    fn file_bytes(&self) -> u64 {
        self.tree.file_bytes() + self.file.bytes()
    }
}

impl LaTree {
    /// Appends the keys of a node from `from` on, until there are `most`. `newer` is what waits
    /// above it.
    fn gather(
        &mut self,
        id: NodeId,
        (from, most): (&[u8], usize),
        newer: BTreeMap<Vec<u8>, Change>,
        out: &mut Vec<(Vec<u8>, Value)>,
    ) -> Result<()> {
        let node = self.tree.node(id)?;
        let mut waiting = self.waiting(id)?;
        waiting.extend(newer);
        if node.level() == 0 {
            let entries = (0..node.len()).map(|at| (node.key(at).to_vec(), Some(node.value(at))));
            let mut all: BTreeMap<Vec<u8>, Change> = entries.collect();
            all.extend(waiting);
            let there = all.into_iter().filter(|(key, _)| &key[..] >= from);
            let there = there.filter_map(|(key, change)| Some((key, change?)));
            let room = most - out.len();
            out.extend(there.take(room));
            return Ok(());
        }
        for at in node.floor(from)..node.len() {
            if out.len() >= most {
                break;
            }
            let later = match at + 1 < node.len() {
                true => waiting.split_off(node.key(at + 1)),
                false => BTreeMap::new(),
            };
            let here = std::mem::replace(&mut waiting, later);
            self.gather(node.value(at) as NodeId, (from, most), here, out)?;
        }
        Ok(())
    }

    /// The operations that wait at a node, which stay there.
    fn waiting(&mut self, id: NodeId) -> Result<BTreeMap<Vec<u8>, Change>> {
        let mut all = BTreeMap::new();
        if let Some(buffer) = self.buffers.get(&id) {
            for slot in &buffer.pages {
                let page = Node::from_bytes(self.file.read(*slot)?)?;
                all.extend(
                    (0..page.len()).map(|at| (page.key(at).to_vec(), change_of(page.value(at)))),
                );
            }
            all.extend(
                buffer
                    .recent
                    .iter()
                    .map(|(key, change)| (key.clone(), *change)),
            );
        }
        Ok(all)
    }

    /// Brings all operations to the leaves, the highest buffers first.
    fn empty_all(&mut self) -> Result<()> {
        let mut level = self.top();
        while let Some(here) = level {
            for id in self.buffers.keys().copied().collect::<Vec<_>>() {
                if self.tree.level_of(id)? == here {
                    self.empty(id, here)?;
                }
            }
            level = self.below(here);
        }
        Ok(())
    }
}
