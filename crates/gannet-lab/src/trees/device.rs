//! Files of nodes on the engine's device, and what is done with them: counted, and priced by a model.
//!
//! A node file is one run of slots of 8 KiB over files of a fixed number of slots (*subfiles*). Slots that follow each
//! other are read and written in one operation.
//!
//! The model prices each operation as the paper's device would take for it (Intel X25-E, table 1 of the paper: rates of
//! sequential and random reads and writes by size). An operation is sequential if it starts where the one before it of
//! the same kind ended, or is longer than the largest size of the table. What it gives is a modelled time, never a
//! measured one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gannet::lab::{
    Access, BackendChoice, Device, FileId, OpenOptions, PAGE_SIZE, PagePool, Transfer,
    open_directory,
};
use gannet::{Error, Result};

use super::node::NODE_BYTES;

/// The place of a node: its number in the run of slots.
pub type Slot = u32;

/// The bytes of a node.
pub type NodeBytes = Box<[u8; NODE_BYTES]>;

/// Pages of a node.
const PAGES: usize = NODE_BYTES / PAGE_SIZE;

/// Nodes of an operation at most.
const NODES_MAX: usize = 128;

/// What was done with a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Read operations.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write operations.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Seconds that the modelled device takes for the reads.
    pub modelled_read_seconds: f64,
    /// Seconds that it takes for the writes.
    pub modelled_write_seconds: f64,
}

impl Work {
    /// What both did together.
    pub fn and(self, other: Work) -> Work {
        Work {
            reads: self.reads + other.reads,
            read_bytes: self.read_bytes + other.read_bytes,
            writes: self.writes + other.writes,
            written_bytes: self.written_bytes + other.written_bytes,
            modelled_read_seconds: self.modelled_read_seconds + other.modelled_read_seconds,
            modelled_write_seconds: self.modelled_write_seconds + other.modelled_write_seconds,
        }
    }
}

impl Work {
    /// What was done since `before`.
    pub fn less(self, before: Work) -> Work {
        Work {
            reads: self.reads - before.reads,
            read_bytes: self.read_bytes - before.read_bytes,
            writes: self.writes - before.writes,
            written_bytes: self.written_bytes - before.written_bytes,
            modelled_read_seconds: self.modelled_read_seconds - before.modelled_read_seconds,
            modelled_write_seconds: self.modelled_write_seconds - before.modelled_write_seconds,
        }
    }
}

/// Rates of a device in MB/s: of sequential and random reads and writes of some sizes.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Name of the device.
    pub name: &'static str,
    /// Bytes of an operation, and the rates: sequential read, sequential write, random read, random write.
    pub rates: [(usize, [f64; 4]); 4],
}

/// Table 1 of the paper.
pub const X25_E: Model = Model {
    name: "Intel X25-E",
    rates: [
        (4 << 10, [193.0, 158.0, 149.0, 21.0]),
        (8 << 10, [206.0, 188.0, 192.0, 22.0]),
        (16 << 10, [206.0, 186.0, 227.0, 32.0]),
        (32 << 10, [206.0, 175.0, 256.0, 40.0]),
    ],
};

impl Model {
    /// Seconds of an operation.
    fn seconds(&self, bytes: usize, is_write: bool, follows: bool) -> f64 {
        let largest = self.rates[self.rates.len() - 1].0;
        let column = usize::from(is_write) + if follows || bytes > largest { 0 } else { 2 };
        let row = self.rates.iter().find(|(size, _)| *size >= bytes);
        let (_, rates) = row.unwrap_or(&self.rates[self.rates.len() - 1]);
        bytes as f64 / (rates[column] * 1e6)
    }
}

/// A run of nodes.
pub struct NodeFile {
    device: Arc<dyn Device>,
    pool: PagePool,
    /// Slots of a subfile.
    subfile: u32,
    /// The subfiles and their lengths in slots.
    files: BTreeMap<u32, u32>,
    model: Model,
    work: Work,
    /// Where the last read and the last write ended.
    ends: [Slot; 2],
}

impl NodeFile {
    /// Opens or makes the nodes in a folder, in subfiles of so many slots.
    pub fn open(folder: &Path, subfile: u32) -> Result<NodeFile> {
        let options = OpenOptions {
            backend: BackendChoice::Auto,
            access: Access::Write,
            create: true,
        };
        let device = open_directory(folder, &options)?;
        let mut files = BTreeMap::new();
        for (file, pages) in device.list()? {
            if let FileId::Zone(number) = file {
                files.insert(number, pages / PAGES as u32);
            }
        }
        Ok(NodeFile {
            device,
            pool: PagePool::new(2 * NODES_MAX * PAGES),
            subfile,
            files,
            model: X25_E,
            work: Work::default(),
            ends: [Slot::MAX; 2],
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
        self.work
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

    /// Reads nodes that follow each other in one operation, or in some if they are many or lie in several subfiles.
    pub fn read_run(&mut self, first: Slot, count: usize) -> Result<Vec<NodeBytes>> {
        let mut nodes = Vec::with_capacity(count);
        while nodes.len() < count {
            let slot = first + nodes.len() as Slot;
            let here = self.run(slot, count - nodes.len());
            let mut batch = [self.transfer(slot, here)?];
            self.device.read(&mut batch)?;
            self.count(slot, here, false);
            for pages in batch[0].buffers.chunks_exact(PAGES) {
                let mut node = Box::new([0; NODE_BYTES]);
                for (to, page) in node.chunks_exact_mut(PAGE_SIZE).zip(pages) {
                    to.copy_from_slice(&page[..]);
                }
                nodes.push(node);
            }
        }
        Ok(nodes)
    }

    /// Writes nodes that follow each other in one operation, or in some as [`NodeFile::read_run`] does.
    pub fn write_run(&mut self, first: Slot, nodes: &[&[u8; NODE_BYTES]]) -> Result<()> {
        let mut done = 0;
        while done < nodes.len() {
            let slot = first + done as Slot;
            let here = self.run(slot, nodes.len() - done);
            let transfer = self.filled(slot, &nodes[done..done + here])?;
            self.device.write(&mut [transfer])?;
            self.count(slot, here, true);
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
            some.iter().for_each(|(slot, _)| self.count(*slot, 1, true));
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

    fn count(&mut self, slot: Slot, nodes: usize, is_write: bool) {
        let bytes = nodes * NODE_BYTES;
        let end = &mut self.ends[usize::from(is_write)];
        let seconds = self.model.seconds(bytes, is_write, *end == slot);
        *end = slot + nodes as Slot;
        let work = &mut self.work;
        let (operations, moved, modelled) = match is_write {
            true => (
                &mut work.writes,
                &mut work.written_bytes,
                &mut work.modelled_write_seconds,
            ),
            false => (
                &mut work.reads,
                &mut work.read_bytes,
                &mut work.modelled_read_seconds,
            ),
        };
        *operations += 1;
        *moved += bytes as u64;
        *modelled += seconds;
    }
}
