//! A B+-tree with buffers above its leaves, in which operations wait: the LA-tree.
//!
//! Every so many levels a node has a buffer on flash. An operation goes to the buffer of the
//! highest such node on its way; when that is emptied its operations go, sorted, to the buffers of
//! the next such level, or to the leaves. So many that belong to one leaf cost one change of it. A
//! search must look through the buffers on its way. When to empty one is decided by what it has
//! cost. The rule is the published one (*ADAPT*): for each search in the past the buffer is asked
//! what emptying it then would have saved all later searches. Once that is what emptying would have
//! cost, it is emptied, or when it is full. No sequence of operations makes this cost more than
//! twice what the best decisions would have. An operation of a search costs what one of emptying
//! does: the published costs are those of bare flash.
//!
//! Source: Agrawal, Ganesan, Sitaraman, Diao, Singh, "Lazy-Adaptive Tree: An Optimized Index
//! Structure for Flash Devices", PVLDB 2009. Parts of buffers in memory share one pool, of which
//! the largest part is written when it is full. A full buffer is emptied in memory, so its pages
//! are at most as many as memory takes.

use std::collections::BTreeMap;
use std::path::Path;

use gannet::{Error, Result};
use gannet_ssd::Work;

use super::btree::{BTree, ROOT, Split};
use super::device::{NodeFile, Slot};
use super::in_place::InPlace;
use super::node::{KEY_MAX, NODE_BYTES, Node, NodeId};
use super::rolling::Merging;
use super::waiting::{Change, Entries, Waiting, change_fits, change_of, code_of};
use super::{OrderedIndex, Settings, Value};

/// What an operation takes in a page of a buffer besides its key.
const AROUND: usize = 12;

/// Operations of a page, with keys of eight bytes.
const OF_A_PAGE: usize = NODE_BYTES / (8 + AROUND);

/// Operations that wait at a node: the later ones count.
#[derive(Default)]
struct Buffer {
    /// Pages on flash, the oldest first.
    pages: Vec<Slot>,
    /// What is only in memory.
    recent: Waiting,
    past: Vec<Past>,
}

/// What emptying a buffer in the past would have saved.
struct Past {
    /// Pages that it had.
    pages: usize,
    /// How many of these later searches have read.
    saved: usize,
}

/// What a buffer had, in memory to be sent down.
struct Emptied {
    pages: Vec<Node>,
    recent: Waiting,
}

/// An operation of a buffer: its key, how old its page is, and its code.
type Aged<'a> = (&'a [u8], u32, u64);

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
    one_by_one: bool,
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
            one_by_one: settings.one_by_one,
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
            None => self.apply(&[(key, change)]),
            Some(level) => {
                let id = self.tree.node_at(key, level)?;
                self.wait(id, key, code_of(change));
                self.make_room()?;
                self.empty_full(id, level)
            }
        }
    }

    /// Lets an operation wait at a node.
    fn wait(&mut self, id: NodeId, key: &[u8], code: u64) {
        let recent = &mut self.buffers.entry(id).or_default().recent;
        let before = recent.bytes();
        recent.put(key, code);
        self.bytes = self.bytes + recent.bytes() - before;
    }

    /// Writes the largest parts in memory until there is room.
    fn make_room(&mut self) -> Result<()> {
        while self.bytes > self.bytes_most {
            let buffers = self.buffers.iter();
            let largest = buffers.max_by_key(|(_, buffer)| buffer.recent.entry_bytes());
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
        let mut recent = std::mem::take(&mut buffer.recent);
        self.bytes -= recent.bytes();
        let mut pages = vec![Node::new(0)];
        for block in recent.take_blocks() {
            for (key, code) in Entries::of(&block) {
                if pages.last().is_none_or(|page| !page.fits(key.len())) {
                    pages.push(Node::new(0));
                }
                if let Some(page) = pages.last_mut() {
                    page.insert(page.len(), key, code);
                }
            }
        }
        pages.retain(|page| page.len() > 0);
        self.write_pages(id, &pages)
    }

    fn write_pages(&mut self, id: NodeId, pages: &[Node]) -> Result<()> {
        let mut placed = Vec::with_capacity(pages.len());
        for page in pages {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.end += 1;
                self.end - 1
            });
            placed.push((slot, page.bytes()));
        }
        if self.one_by_one {
            for (slot, page) in &placed {
                self.file.write_run(*slot, &[*page])?;
            }
        } else {
            self.file.write_scattered(&placed)?
        }
        let slots = placed.iter().map(|(slot, _)| *slot);
        self.buffers.entry(id).or_default().pages.extend(slots);
        Ok(())
    }

    /// The pages of a buffer.
    fn read_pages(&mut self, id: NodeId) -> Result<Vec<Node>> {
        let slots = match self.buffers.get(&id) {
            Some(buffer) => buffer.pages.clone(),
            None => return Ok(Vec::new()),
        };
        let read = if self.one_by_one {
            let pages = slots.iter().map(|slot| self.file.read(*slot));
            pages.collect::<Result<Vec<_>>>()?
        } else {
            self.file.read_scattered(&slots)?
        };
        read.into_iter().map(Node::from_bytes).collect()
    }

    /// Empties a buffer if it is full.
    fn empty_full(&mut self, id: NodeId, level: usize) -> Result<()> {
        match self.buffers.get(&id) {
            Some(buffer) if buffer.pages.len() >= self.pages_most => self.empty(id, level),
            _ => Ok(()),
        }
    }

    /// Takes all operations of a buffer.
    fn take(&mut self, id: NodeId) -> Result<Emptied> {
        let pages = self.read_pages(id)?;
        let buffer = self.buffers.remove(&id).unwrap_or_default();
        self.bytes -= buffer.recent.bytes();
        self.free.extend(buffer.pages);
        Ok(Emptied {
            pages,
            recent: buffer.recent,
        })
    }

    /// Sends the operations of a buffer down.
    fn empty(&mut self, id: NodeId, level: usize) -> Result<()> {
        let emptied = self.take(id)?;
        let all = emptied.operations();
        let Some(below) = self.below(level) else {
            let changes: Vec<_> = all
                .iter()
                .map(|(key, _, code)| (*key, change_of(*code)))
                .collect();
            return self.apply(&changes);
        };
        let mut touched = Vec::new();
        for (key, _, code) in all {
            let child = self.tree.node_at(key, below)?;
            self.wait(child, key, code);
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

    /// Applies operations, ascending by key, to their leaves.
    fn apply(&mut self, changes: &[(&[u8], Change)]) -> Result<()> {
        self.tree.merge(changes)?;
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
        let emptied = self.take(split.before)?;
        for (key, _, code) in emptied.operations() {
            let half = split.halves[usize::from(key >= &split.bound[..])];
            self.wait(half, key, code);
        }
        self.make_room()
    }

    /// What a buffer has of a key. Reads its pages, the newest first, until it is found.
    fn look(&mut self, id: NodeId, key: &[u8]) -> Result<Option<Change>> {
        let Some(buffer) = self.buffers.get_mut(&id) else {
            return Ok(None);
        };
        if let Some(code) = buffer.recent.get(key) {
            return Ok(Some(change_of(code)));
        }
        let (mut read, mut found) = (0, None);
        for slot in buffer.pages.iter().rev() {
            read += 1;
            let page = Node::from_bytes(self.file.read(*slot)?)?;
            if let Ok(at) = page.find(key) {
                found = Some(change_of(page.value(at)));
                break;
            }
        }
        buffer.note_search(read);
        Ok(found)
    }

    /// Empties a buffer if doing so in the past would have paid by now. `children` are those of its
    /// node.
    fn empty_paid(&mut self, id: NodeId, level: usize, children: usize) -> Result<()> {
        let is_last = self.below(level).is_none();
        let has_paid = self.buffers.get(&id).is_some_and(|buffer| {
            let mut past = buffer.past.iter();
            past.any(|past| past.saved >= cost(past.pages, is_last.then_some(children)))
        });
        if has_paid {
            self.empty(id, level)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
impl LaTree {
    /// How many leaves each node above the leaves has.
    pub fn children_of_buffers(&mut self) -> Result<Vec<usize>> {
        let (mut children, mut open) = (Vec::new(), vec![ROOT]);
        while let Some(id) = open.pop() {
            let node = self.tree.node(id)?;
            match node.level() {
                1 => children.push(node.len()),
                _ => open.extend((0..node.len()).map(|at| node.value(at) as NodeId)),
            }
        }
        Ok(children)
    }

    /// Pages of all buffers.
    pub fn flash_pages(&self) -> usize {
        self.buffers.values().map(|buffer| buffer.pages.len()).sum()
    }

    /// Children of the first node that has pages of a buffer.
    pub fn children_of_first_buffer(&mut self) -> Result<usize> {
        let mut buffers = self.buffers.iter();
        let id = buffers.find(|(_, buffer)| !buffer.pages.is_empty());
        let id = id.map_or(ROOT, |(id, _)| *id);
        Ok(self.tree.node(id)?.len())
    }
}

impl Buffer {
    /// Notes that a search has read so many pages, the newest: those that a past emptying would
    /// have taken away are what it would have saved.
    fn note_search(&mut self, read: usize) {
        let pages = self.pages.len();
        for past in &mut self.past {
            past.saved += (past.pages + read).saturating_sub(pages);
        }
        if pages > 0 && self.past.last().is_none_or(|past| past.pages != pages) {
            self.past.push(Past { pages, saved: 0 });
        }
    }

    fn memory(&self) -> usize {
        let places = self.pages.capacity() * size_of::<Slot>();
        let past = self.past.capacity() * size_of::<Past>();
        size_of::<Buffer>() + self.recent.bytes() + places + past
    }
}

impl Emptied {
    /// The operations, ascending by key, of each key the newest.
    fn operations(&self) -> Vec<Aged<'_>> {
        let in_memory = self.pages.len() as u32;
        let mut all = Vec::new();
        for (age, page) in (0..).zip(&self.pages) {
            all.extend((0..page.len()).map(|at| (page.key(at), age, page.value(at))));
        }
        let recent = self.recent.from(&[]);
        all.extend(recent.map(|(key, code)| (key, in_memory, code)));
        all.sort_unstable_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
        all.dedup_by(|later, kept| later.0 == kept.0);
        all
    }
}

/// Operations of the device that emptying a buffer of so many pages takes. The buffer is read. Each
/// of its operations changes a leaf, which is read and written, or goes to a page of a lower
/// buffer.
fn cost(pages: usize, leaves: Option<usize>) -> usize {
    match leaves {
        Some(leaves) => pages + 2 * leaves.min(pages * OF_A_PAGE),
        None => 2 * pages,
    }
}

impl OrderedIndex for LaTree {
    fn insert(&mut self, key: &[u8], value: Value) -> Result<()> {
        change_fits(key, Some(value))?;
        self.change(key, Some(value))
    }

    fn search(&mut self, key: &[u8]) -> Result<Option<Value>> {
        let (mut id, mut passed) = (ROOT, Vec::new());
        let found = loop {
            let node = self.tree.node(id)?;
            let level = node.level();
            if level == 0 {
                break node.find(key).ok().map(|at| node.value(at));
            }
            if (level - 1).is_multiple_of(self.every) {
                passed.push((id, level, node.len()));
                if let Some(change) = self.look(id, key)? {
                    break change;
                }
            }
            id = node.value(node.floor(key)) as NodeId;
        };
        for (id, level, children) in passed {
            self.empty_paid(id, level, children)?;
        }
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        if key.len() > KEY_MAX {
            Ok(())
        } else {
            self.change(key, None)
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

    fn memory(&self) -> usize {
        let buffers: usize = self.buffers.values().map(Buffer::memory).sum();
        let emptied = self.pages_most * (NODE_BYTES + OF_A_PAGE * size_of::<Aged<'_>>());
        self.tree.memory() + buffers + emptied
    }

    fn waiting(&self) -> usize {
        let buffers = self.buffers.values();
        buffers.map(|buffer| buffer.recent.len()).sum()
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
        let mut waiting = self.waiting_at(id)?;
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
            let later = if at + 1 < node.len() {
                waiting.split_off(node.key(at + 1))
            } else {
                BTreeMap::new()
            };
            let here = std::mem::replace(&mut waiting, later);
            self.gather(node.value(at) as NodeId, (from, most), here, out)?;
        }
        Ok(())
    }

    /// The operations that wait at a node, which stay there.
    fn waiting_at(&mut self, id: NodeId) -> Result<BTreeMap<Vec<u8>, Change>> {
        let mut all = BTreeMap::new();
        for page in self.read_pages(id)? {
            let entries = (0..page.len()).map(|at| (page.key(at), page.value(at)));
            all.extend(entries.map(|(key, code)| (key.to_vec(), change_of(code))));
        }
        if let Some(buffer) = self.buffers.get(&id) {
            let recent = buffer.recent.from(&[]);
            all.extend(recent.map(|(key, code)| (key.to_vec(), change_of(code))));
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
