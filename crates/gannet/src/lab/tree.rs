//! The engine's tree alone: nodes, a mapping table, zones that are cleaned, and a root that whoever
//! holds the tree keeps.

use std::sync::Arc;

use crate::base::{Budget, ByteReader, PAGE_SIZE, Result, put_bytes};
use crate::btree::{Change, Tree};
use crate::cache::{FramePool, Pages, finish};
use crate::device::Device;
use crate::storage::{LogStart, PageKind, Store, StreamWriter, ZoneTable};

/// Any: an index would draw one.
const IDENTITY: u64 = 1;

/// Streams that have a write buffer.
const STREAMS: usize = 2;

/// A tree on a device of its own.
pub struct LoneTree {
    store: Arc<Store>,
    pool: FramePool,
    tree: Tree,
    tables: StreamWriter,
}

impl LoneTree {
    /// Opens the tree that a root names, or creates one. Zones have `zone_pages` pages, streams
    /// gather `write_pages`, and frames take `memory` bytes.
    ///
    /// # Errors
    /// The root is damaged; the system has no such memory.
    pub fn open(
        device: Arc<dyn Device>,
        root: Option<&[u8]>,
        zone_pages: u32,
        write_pages: usize,
        memory: usize,
    ) -> Result<LoneTree> {
        let (mut zones, mut named) = (ZoneTable::default(), None);
        if let Some(root) = root {
            let mut reader = ByteReader::new(root, "the root of a tree");
            named = Some(reader.bytes()?);
            zones = ZoneTable::decode(&mut reader)?;
        }
        zones.set_zone_pages(Some(zone_pages));
        let store = Store::new(device, IDENTITY, zones).with_write_pages(write_pages);
        let store = Arc::new(store);
        Ok(LoneTree {
            pool: FramePool::new(Arc::clone(&store), &Budget::new(usize::MAX), memory)?,
            tree: match named {
                Some(named) => Tree::open(Arc::clone(&store), named)?,
                None => Tree::new(Arc::clone(&store)),
            },
            tables: StreamWriter::new(Arc::clone(&store), PageKind::Table),
            store,
        })
    }

    /// Tells where zones and pages are read and counted.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Empties the frames.
    pub fn forget(&self) {
        self.pool.empty();
    }

    /// Puts the value of each of these ascending keys, or removes the key where there is none.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn put(&mut self, keys: &[&[u8]], value: &dyn Fn(usize) -> Option<Vec<u8>>) -> Result<()> {
        self.tree.apply(&self.pool, keys, &mut |window| {
            for at in window.indexes() {
                window.set(at, value(at).map_or(Change::Remove, Change::Put))?;
            }
            Ok(())
        })?;
        self.tree.flush()
    }

    /// Looks up a key.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let view = self.tree.view();
        let found = finish(&mut Pages::new(&self.pool), |pages| view.get(key, pages))?;
        Ok(found.map(|value| value.to_vec()))
    }

    /// Lists the entries from a key on, at most so many.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn range(&self, from: &[u8], most: usize) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let view = self.tree.view();
        let (mut pages, mut scan) = (Pages::new(&self.pool), view.scan(from));
        let mut found = Vec::new();
        while found.len() < most && finish(&mut pages, |pages| scan.advance(view, pages))? {
            pages.trim();
            found.push((scan.key().to_vec(), scan.value().to_vec()));
        }
        Ok(found)
    }

    /// Appends all nodes in victim zones anew; tells how many.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn move_out_of(&mut self, is_victim: &dyn Fn(u32) -> bool) -> Result<u64> {
        self.tree.move_out_of(&self.pool, is_victim)
    }

    /// Makes all durable, has `keep` keep the root, and removes zones that nothing is in.
    ///
    /// # Errors
    /// Those of the device and of `keep`.
    pub fn write_root(&mut self, keep: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
        self.tree.flush()?;
        let (mut named, mut root) = (Vec::new(), Vec::new());
        self.tree.encode(&mut self.tables, &mut named)?;
        self.tables.flush()?;
        let mut unsynced = self.tree.stream().take_unsynced();
        unsynced.join(self.tables.take_unsynced());
        self.store.sync(&unsynced)?;
        let start = LogStart::BEGINNING;
        let empty = self.store.zones().take_empty(0, start);
        put_bytes(&mut root, &named);
        self.store.zones().encode(&mut root);
        keep(&root)?;
        self.store.remove_zones(&empty)
    }

    /// Tells the bytes of the frames.
    pub fn frame_bytes(&self) -> usize {
        self.pool.capacity() * PAGE_SIZE
    }

    /// Tells the bytes that write buffers and the mapping take.
    pub fn memory_bytes(&self) -> usize {
        STREAMS * (self.store.write_pages() + 1) * PAGE_SIZE + self.tree.view().memory_bytes()
    }
}
