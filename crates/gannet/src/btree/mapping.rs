//! The node mapping table: where each node is now, and which node IDs are free.
//!
//! An entry is eight bytes: zone number + 1 and page, or 0 and the next free node ID + 1 (0 ends
//! the chain). The free list so costs no space of its own and is a snapshot as the table is.
//!
//! Invariants:
//! 1. Each ID below `next` is either mapped to a page or in the chain of free IDs, never both. (A
//!    new node is in neither until it is appended, which is done before a view is given away.)
//! 2. `free` IDs are in the chain that begins at `head`.

use super::NodeId;
use crate::base::{ByteReader, Error, PageAddress, Result, put_varint};
use crate::storage::Table;

const ENTRY_BYTES: usize = 8;

/// Node IDs and their places.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    table: Table,
    next: NodeId,
    /// The first free ID + 1.
    head: u32,
    free: u32,
}

/// The content of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapped {
    /// The node is here.
    At(PageAddress),
    /// The ID is free, or its node was never written; the next free ID, if any, follows.
    Free(Option<NodeId>),
}

impl Mapping {
    pub(crate) fn new() -> Mapping {
        Mapping {
            table: Table::new(ENTRY_BYTES, true),
            next: 0,
            head: 0,
            free: 0,
        }
    }

    /// One past the highest ID ever given.
    pub(crate) fn next(&self) -> NodeId {
        self.next
    }

    /// Number of free IDs.
    pub(crate) fn free_count(&self) -> u32 {
        self.free
    }

    /// The first free ID.
    pub(crate) fn free_head(&self) -> Option<NodeId> {
        self.head.checked_sub(1)
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    /// Returns the address of a node.
    #[inline]
    pub(crate) fn address(&self, id: NodeId) -> Result<PageAddress> {
        match self.get(id) {
            Some(Mapped::At(address)) => Ok(address),
            other => Err(Error::damaged(
                "the node mapping table",
                format!("expected a page for node {id}, got {other:?}"),
            )),
        }
    }

    /// Returns the table's entry of an ID; nothing for one that was never given.
    #[inline]
    pub(crate) fn get(&self, id: NodeId) -> Option<Mapped> {
        if id >= self.next {
            return None;
        }
        let bytes = self.table.entry(id as u64)?;
        let zone = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let page = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        Some(match zone.checked_sub(1) {
            Some(zone) => Mapped::At(PageAddress { zone, page }),
            None => Mapped::Free(page.checked_sub(1)),
        })
    }

    /// Maps a node to a page; gives the page it was at before.
    pub(crate) fn set(&mut self, id: NodeId, address: PageAddress) -> Option<PageAddress> {
        let before = self.place(id);
        // Zone numbers are below u32::MAX, so that one more still fits.
        self.write(id, address.zone + 1, address.page);
        before
    }

    /// A node ID that is not in use.
    pub(crate) fn allocate(&mut self) -> Result<NodeId> {
        if let Some(id) = self.free_head() {
            let Some(Mapped::Free(after)) = self.get(id) else {
                return Err(Error::damaged(
                    "the node mapping table",
                    format!("node {id} is in the chain of free nodes and in use"),
                ));
            };
            self.head = after.map_or(0, |id| id + 1);
            self.free = self.free.saturating_sub(1);
            self.write(id, 0, 0);
            return Ok(id);
        }
        let id = self.next;
        // One less than all IDs, since the chain stores IDs + 1.
        if id == u32::MAX - 1 {
            return Err(Error::invalid(
                "all node IDs of the tree are used up: index the documents into several indexes",
            ));
        }
        self.next += 1;
        self.write(id, 0, 0);
        Ok(id)
    }

    /// Gives an ID back; gives the page where its node was.
    pub(crate) fn release(&mut self, id: NodeId) -> Option<PageAddress> {
        let before = self.place(id);
        self.write(id, 0, self.head);
        self.head = id + 1;
        self.free += 1;
        before
    }

    /// Every node with its place.
    pub(crate) fn places(&self) -> impl Iterator<Item = (NodeId, PageAddress)> {
        (0..self.next).filter_map(|id| Some((id, self.place(id)?)))
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.next as u64);
        put_varint(out, self.head as u64);
        put_varint(out, self.free as u64);
        self.table.encode(out);
    }

    /// Reads what [`Mapping::encode`] wrote. The table's pages are to be loaded by the caller.
    pub(crate) fn decode(reader: &mut ByteReader<'_>) -> Result<Mapping> {
        let (next, head, free) = (
            reader.varint_u32()?,
            reader.varint_u32()?,
            reader.varint_u32()?,
        );
        let table = Table::new(ENTRY_BYTES, true).decode(reader)?;
        let pages = (next as u64).div_ceil(table.entries_per_page() as u64);
        let present = table.addresses().count() as u64;
        if next == u32::MAX || head > next || free > next || (free == 0) != (head == 0) {
            return Err(reader.damaged("a chain of free nodes", format!("{head}, {free}, {next}")));
        }
        if pages != table.page_count() as u64 || pages != present {
            return Err(reader.damaged(&format!("{pages} pages of node places"), present));
        }
        Ok(Mapping {
            table,
            next,
            head,
            free,
        })
    }

    fn place(&self, id: NodeId) -> Option<PageAddress> {
        match self.get(id) {
            Some(Mapped::At(address)) => Some(address),
            _ => None,
        }
    }

    fn write(&mut self, id: NodeId, zone: u32, page: u32) {
        let mut entry = [0; ENTRY_BYTES];
        entry[..4].copy_from_slice(&zone.to_le_bytes());
        entry[4..].copy_from_slice(&page.to_le_bytes());
        self.table.set(id as u64, &entry);
    }
}
