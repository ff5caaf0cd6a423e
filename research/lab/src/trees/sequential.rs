//! Nodes that are written to the end of the file, always: the AS B-tree of the paper, as it is
//! printed.
//!
//! Its parts by their names there: the *write buffer* keeps changed nodes; the *sequential writer*
//! writes them together behind each other (algorithm 2 as printed writes to the old address; the
//! text and figure 5 say what is meant); the *address mapping table* tells where each node is; the
//! *node validation manager* counts the valid nodes of each subfile, and once fewer than T percent
//! of one are, writes these to the end and removes the subfile.
//!
//! The paper's table is made anew by reading all nodes: the newest of each name counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use gannet::{Error, Result};
use gannet_ssd::Work;

use super::btree::Nodes;
use super::cache::Held;
use super::device::{NodeFile, Slot};
use super::node::{Node, NodeId};
use super::{Cleaning, Settings};

/// Nodes of one operation of a recovery.
const RECOVERY_RUN: usize = 128;

/// Nodes one behind the other.
pub struct Sequential {
    file: NodeFile,
    held: Held,
    /// Where each node is.
    mapping: Vec<Option<Slot>>,
    /// Valid nodes of each subfile.
    valid: BTreeMap<u32, u32>,
    end: Slot,
    /// Counts what is written: of two nodes of one name the later counts.
    time: u64,
    valid_percent: u32,
    /// Nodes that cleaning has moved.
    moved: u64,
}

impl Sequential {
    /// Opens or makes the nodes in a folder.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Sequential> {
        let file = NodeFile::open(folder, settings)?;
        let mut nodes = Sequential {
            end: file.end(),
            file,
            held: Held::new(settings.write_buffer, settings.cache),
            mapping: Vec::new(),
            valid: BTreeMap::new(),
            time: 0,
            valid_percent: settings.valid_percent,
            moved: 0,
        };
        nodes.recover()?;
        Ok(nodes)
    }

    fn recover(&mut self) -> Result<()> {
        let mut times = Vec::new();
        let subfiles: Vec<(Slot, u32)> = self.file.subfiles().collect();
        for (first, slots) in subfiles {
            for from in (first..first + slots).step_by(RECOVERY_RUN) {
                let count = RECOVERY_RUN.min((first + slots - from) as usize);
                for (slot, bytes) in (from..).zip(self.file.read_run(from, count)?) {
                    let (id, time) = Node::from_bytes(bytes)?.stamped();
                    let known = id as usize + 1;
                    self.mapping.resize(self.mapping.len().max(known), None);
                    times.resize(times.len().max(known), 0);
                    if time > times[id as usize] {
                        times[id as usize] = time;
                        self.place(id, slot);
                    }
                    self.time = self.time.max(time);
                }
            }
        }
        Ok(())
    }

    /// Where a node is.
    fn slot(&self, id: NodeId) -> Result<Slot> {
        let slot = self.mapping.get(id as usize).copied().flatten();
        slot.ok_or_else(|| Error::damaged("a tree", format!("node {id} is nowhere")))
    }

    /// Says where a node is now.
    fn place(&mut self, id: NodeId, slot: Slot) {
        let subfile = self.file.subfile();
        if let Some(before) = self.mapping[id as usize].replace(slot) {
            *self.valid.entry(before / subfile).or_default() -= 1;
        }
        *self.valid.entry(slot / subfile).or_default() += 1;
    }

    /// Writes nodes to the end.
    fn append(&mut self, nodes: &mut [(NodeId, Rc<Node>)]) -> Result<()> {
        for (id, node) in &mut *nodes {
            self.time += 1;
            Rc::make_mut(node).stamp(*id, self.time);
        }
        let bytes: Vec<_> = nodes.iter().map(|(_, node)| node.bytes()).collect();
        self.file.write_run(self.end, &bytes)?;
        for (id, _) in nodes {
            self.place(*id, self.end);
            self.end += 1;
        }
        Ok(())
    }

    /// Cleans subfiles with few valid nodes, other than the one that is being written.
    fn clean(&mut self) -> Result<()> {
        let subfile = self.file.subfile();
        let few = subfile as u64 * self.valid_percent as u64 / 100;
        let last = self.end / subfile;
        let sparse = self.valid.iter();
        let sparse = sparse.filter(|(file, valid)| **file < last && (**valid as u64) < few);
        for file in sparse.map(|(file, _)| *file).collect::<Vec<u32>>() {
            self.empty(file)?;
            self.valid.remove(&file);
            self.file.remove(file)?;
        }
        Ok(())
    }

    /// Moves the valid nodes out of a subfile.
    fn empty(&mut self, file: u32) -> Result<()> {
        let subfile = self.file.subfile();
        let names = (0..).zip(&self.mapping);
        let inside = names.filter(|(_, slot)| slot.is_some_and(|slot| slot / subfile == file));
        let names: Vec<(NodeId, Option<Slot>)> = inside.map(|(id, slot)| (id, *slot)).collect();
        let mut nodes = Vec::with_capacity(names.len());
        for (id, slot) in names {
            let bytes = self.file.read(slot.unwrap_or_default())?;
            nodes.push((id, Rc::new(Node::from_bytes(bytes)?)));
        }
        self.moved += nodes.len() as u64;
        self.append(&mut nodes)
    }
}

impl Nodes for Sequential {
    fn is_empty(&self) -> bool {
        self.mapping.is_empty()
    }

    fn create(&mut self) -> NodeId {
        self.mapping.push(None);
        self.mapping.len() as NodeId - 1
    }

    fn read(&mut self, id: NodeId) -> Result<Rc<Node>> {
        if let Some(node) = self.held.get(id) {
            return Ok(node);
        }
        let slot = self.slot(id)?;
        let node = Node::from_bytes(self.file.read(slot)?)?;
        Ok(self.held.keep(id, node))
    }

    fn fetches(&self) -> usize {
        self.held.most()
    }

    fn fetch(&mut self, ids: &[NodeId]) -> Result<()> {
        // They take the room of nodes that waited, and wait next.
        self.settle()?;
        let mut missing = Vec::with_capacity(ids.len());
        for id in ids {
            if self.held.get(*id).is_none() {
                missing.push((self.slot(*id)?, *id));
            }
        }
        missing.sort_unstable();
        let slots: Vec<Slot> = missing.iter().map(|(slot, _)| *slot).collect();
        let read = self.file.read_scattered(&slots)?.into_iter();
        let nodes = read.map(Node::from_bytes).collect::<Result<Vec<Node>>>()?;
        let ids = missing.into_iter().map(|(_, id)| id);
        self.held.keep_fetched(ids.zip(nodes));
        Ok(())
    }

    fn write(&mut self, id: NodeId, node: Node) -> Result<()> {
        if self.held.change(id, node) {
            self.settle()
        } else {
            Ok(())
        }
    }

    fn settle(&mut self) -> Result<()> {
        let mut nodes = self.held.take();
        self.append(&mut nodes)?;
        self.held.keep_written(nodes);
        self.clean()
    }

    fn work(&self) -> Work {
        self.file.work()
    }

    fn file_bytes(&self) -> u64 {
        self.file.bytes()
    }

    fn memory(&self) -> usize {
        self.held.memory() + self.mapping.capacity() * size_of::<Option<Slot>>()
    }

    fn cleaning(&self) -> Cleaning {
        let subfiles = self.file.subfiles().map(|(first, slots)| {
            let number = first / self.file.subfile();
            let valid = self.valid.get(&number).copied().unwrap_or_default();
            [number, slots, valid]
        });
        Cleaning {
            subfiles: subfiles.collect(),
            moved: self.moved,
        }
    }
}
