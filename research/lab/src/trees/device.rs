//! Files of nodes on the engine's device.
//!
//! A node file is one run of slots of 8 KiB over files of a fixed number of slots (*subfiles*).
//! Slots that follow each other are read and written in one operation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gannet::device::{Device, FileId, PAGE_SIZE, PagePool, Transfer};
use gannet::{Error, Result};
use gannet_ssd::profile::X25_E;
use gannet_ssd::{Drive, Modelled, Work};

use super::Settings;
use super::node::NODE_BYTES;

/// The place of a node: its number in the run of slots.
pub type Slot = u32;

/// The bytes of a node.
pub type NodeBytes = Box<[u8; NODE_BYTES]>;

/// Pages of a node.
const PAGES: usize = NODE_BYTES / PAGE_SIZE;

/// Nodes of an operation at most.
const NODES_MAX: usize = 128;

/// The drive of the AS B-tree's paper, empty: the nodes are all that is on it.
pub fn drive() -> Result<Drive> {
    Drive::new(&X25_E)
}

/// A run of nodes.
pub struct NodeFile {
    device: Arc<Modelled>,
    pool: PagePool,
    /// Slots of a subfile.
    subfile: u32,
    /// The subfiles and their lengths in slots.
    files: BTreeMap<u32, u32>,
}

impl NodeFile {
    /// Opens or makes the nodes in a folder.
    pub fn open(folder: &Path, settings: &Settings) -> Result<NodeFile> {
        let device = Arc::new(Modelled::open(folder, drive()?, settings.trace)?);
        let mut files = BTreeMap::new();
        for (file, pages) in device.list()? {
            if let FileId::Zone(number) = file {
                files.insert(number, pages / PAGES as u32);
            }
        }
        Ok(NodeFile {
            device,
            pool: PagePool::new(2 * NODES_MAX * PAGES),
            // A structure that has a manifest keeps two of them in the first subfile.
            subfile: settings.subfile.max(2),
            files,
        })
    }

    /// Slots of a subfile.
    pub fn subfile(&self) -> u32 {
        self.subfile
    }

    /// The subfiles: their first slots and how many slots each has.
    pub fn subfiles(&self) -> impl Iterator<Item = (Slot, u32)> + '_ {
        let first = |number: &u32| *number * self.subfile;
        self.files
            .iter()
            .map(move |(number, slots)| (first(number), *slots))
    }

    /// One past the last slot that was written.
    pub fn end(&self) -> Slot {
        let last = self.files.last_key_value();
        last.map_or(0, |(number, slots)| number * self.subfile + slots)
    }

    /// What was done with it.
    pub fn work(&self) -> Work {
        self.device.work()
    }

    /// Bytes of all subfiles.
    pub fn bytes(&self) -> u64 {
        self.files
            .values()
            .map(|slots| *slots as u64 * NODE_BYTES as u64)
            .sum()
    }

    /// Reads one node.
    pub fn read(&mut self, slot: Slot) -> Result<NodeBytes> {
        let mut nodes = self.read_run(slot, 1)?;
        nodes
            .pop()
            .ok_or_else(|| Error::invalid("a node was read and is not there"))
    }

    /// Reads nodes that follow each other in one operation, or in some if they are many or lie in
    /// several subfiles.
    pub fn read_run(&mut self, first: Slot, count: usize) -> Result<Vec<NodeBytes>> {
        let mut nodes = Vec::with_capacity(count);
        while nodes.len() < count {
            let slot = first + nodes.len() as Slot;
            let here = self.run(slot, count - nodes.len());
            let mut batch = [self.transfer(slot, here)?];
            self.device.read(&mut batch)?;
            nodes.extend(nodes_of(&batch[0]));
        }
        Ok(nodes)
    }

    /// Reads nodes wherever they are, as one batch.
    pub fn read_scattered(&mut self, slots: &[Slot]) -> Result<Vec<NodeBytes>> {
        let mut nodes = Vec::with_capacity(slots.len());
        for some in slots.chunks(NODES_MAX) {
            let batch = some.iter().map(|slot| self.transfer(*slot, 1));
            let mut batch = batch.collect::<Result<Vec<_>>>()?;
            self.device.read(&mut batch)?;
            nodes.extend(batch.iter().flat_map(nodes_of));
        }
        Ok(nodes)
    }

    /// Writes nodes that follow each other in one operation, or in some as [`NodeFile::read_run`]
    /// does.
    pub fn write_run(&mut self, first: Slot, nodes: &[&[u8; NODE_BYTES]]) -> Result<()> {
        let mut done = 0;
        while done < nodes.len() {
            let slot = first + done as Slot;
            let here = self.run(slot, nodes.len() - done);
            let transfer = self.filled(slot, &nodes[done..done + here])?;
            self.device.write(&mut [transfer])?;
            done += here;
        }
        Ok(())
    }

    /// Writes nodes wherever they belong, as one batch.
    pub fn write_scattered(&mut self, nodes: &[(Slot, &[u8; NODE_BYTES])]) -> Result<()> {
        for some in nodes.chunks(NODES_MAX) {
            let mut batch = Vec::with_capacity(some.len());
            for (slot, node) in some {
                batch.push(self.filled(*slot, &[*node])?);
            }
            self.device.write(&mut batch)?;
        }
        Ok(())
    }

    /// Removes a subfile.
    pub fn remove(&mut self, number: u32) -> Result<()> {
        self.files.remove(&number);
        self.device.remove(FileId::Zone(number))
    }

    /// Makes durable what was written.
    pub fn sync(&mut self) -> Result<()> {
        let files: Vec<FileId> = self
            .files
            .keys()
            .map(|number| FileId::Zone(*number))
            .collect();
        self.device.sync(&files)?;
        self.device.sync_directory()
    }

    /// How many of `count` nodes from `slot` on one operation takes.
    fn run(&self, slot: Slot, count: usize) -> usize {
        let left = self.subfile - slot % self.subfile;
        count.min(left as usize).min(NODES_MAX)
    }

    fn transfer(&self, slot: Slot, nodes: usize) -> Result<Transfer> {
        let mut buffers = Vec::with_capacity(nodes * PAGES);
        for _ in 0..nodes * PAGES {
            let page = self.pool.take();
            buffers.push(page.ok_or_else(|| Error::invalid("the lab's pages are all taken"))?);
        }
        Ok(Transfer {
            file: FileId::Zone(slot / self.subfile),
            page: slot % self.subfile * PAGES as u32,
            buffers,
        })
    }

    fn filled(&mut self, slot: Slot, nodes: &[&[u8; NODE_BYTES]]) -> Result<Transfer> {
        let (number, last) = (
            slot / self.subfile,
            slot % self.subfile + nodes.len() as u32,
        );
        if !self.files.contains_key(&number) {
            self.device.create(FileId::Zone(number))?;
        }
        let length = self.files.entry(number).or_default();
        *length = last.max(*length);
        let mut transfer = self.transfer(slot, nodes.len())?;
        let pages = nodes.iter().flat_map(|node| node.chunks_exact(PAGE_SIZE));
        for (buffer, page) in transfer.buffers.iter_mut().zip(pages) {
            buffer.copy_from_slice(page);
        }
        Ok(transfer)
    }
}

/// The nodes that a transfer has read.
fn nodes_of(transfer: &Transfer) -> impl Iterator<Item = NodeBytes> + '_ {
    transfer.buffers.chunks_exact(PAGES).map(|pages| {
        let mut node = Box::new([0; NODE_BYTES]);
        for (to, page) in node.chunks_exact_mut(PAGE_SIZE).zip(pages) {
            to.copy_from_slice(&page[..]);
        }
        node
    })
}
