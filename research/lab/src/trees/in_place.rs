//! Nodes that are written back to where they were read: the B+-tree that the paper starts from,
//! with its write buffer.
//!
//! A node's name is its slot. When the write buffer is full its nodes are written, each to its own
//! slot, wherever that is: one after the other as the paper's program did, or in one batch.

use std::path::Path;
use std::rc::Rc;

use gannet::Result;
use gannet_ssd::Work;

use super::Settings;
use super::btree::Nodes;
use super::cache::Held;
use super::device::NodeFile;
use super::node::{Node, NodeId};

/// Nodes in place.
pub struct InPlace {
    file: NodeFile,
    held: Held,
    next: NodeId,
    one_by_one: bool,
}

impl InPlace {
    /// Opens or makes the nodes in a folder.
    pub fn open(folder: &Path, settings: &Settings) -> Result<InPlace> {
        let file = NodeFile::open(folder, settings)?;
        Ok(InPlace {
            next: file.end(),
            file,
            held: Held::new(settings.write_buffer, settings.cache),
            one_by_one: settings.one_by_one,
        })
    }
}

impl Nodes for InPlace {
    fn is_empty(&self) -> bool {
        self.next == 0
    }

    fn create(&mut self) -> NodeId {
        self.next += 1;
        self.next - 1
    }

    fn read(&mut self, id: NodeId) -> Result<Rc<Node>> {
        if let Some(node) = self.held.get(id) {
            return Ok(node);
        }
        let node = Node::from_bytes(self.file.read(id)?)?;
        Ok(self.held.keep(id, node))
    }

    fn write(&mut self, id: NodeId, node: Node) -> Result<()> {
        if self.held.change(id, node) {
            self.settle()
        } else {
            Ok(())
        }
    }

    fn fetches(&self) -> usize {
        if self.one_by_one { 1 } else { self.held.most() }
    }

    fn fetch(&mut self, ids: &[NodeId]) -> Result<()> {
        if self.one_by_one {
            return Ok(());
        }
        // They take the room of nodes that waited, and wait next.
        self.settle()?;
        let mut missing: Vec<NodeId> = ids.to_vec();
        missing.retain(|id| self.held.get(*id).is_none());
        missing.sort_unstable();
        let read = self.file.read_scattered(&missing)?.into_iter();
        let nodes = read.map(Node::from_bytes).collect::<Result<Vec<Node>>>()?;
        self.held.keep_fetched(missing.into_iter().zip(nodes));
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let nodes = self.held.take();
        let places: Vec<_> = nodes.iter().map(|(id, node)| (*id, node.bytes())).collect();
        if self.one_by_one {
            for (slot, node) in places {
                self.file.write_run(slot, &[node])?;
            }
        } else {
            self.file.write_scattered(&places)?
        }
        self.held.keep_written(nodes);
        Ok(())
    }

    fn work(&self) -> Work {
        self.file.work()
    }

    fn file_bytes(&self) -> u64 {
        self.file.bytes()
    }

    fn memory(&self) -> usize {
        self.held.memory()
    }
}
