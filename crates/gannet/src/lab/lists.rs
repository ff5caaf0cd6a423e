//! The term dictionary and the chunk streams of an index, fed by flushes, without documents and
//! log.
//!
//! Does to lists as a flush of an index does, by the same calls. One thread does it alone,
//! so a trace of the device is the same each time. Nothing is durable before a root is written.

use std::sync::Arc;

use crate::base::{Budget, PAGE_SIZE, Result, Span, alone, put_bytes};
use crate::cache::{FramePool, Pages, finish, gather};
use crate::device::Device;
use crate::postings::{
    Addition, ChunkRef, ChunkStreams, Fragment, MergeItem, MergeMemory, TermDictionary, TermEntry,
    TermList, TermPostings, TermTree, TermView, merge_window, relocate_window,
};
use crate::storage::{LogStart, PageKind, Store, StreamWriter, ZoneTable};

/// Any: an index would draw one.
const IDENTITY: u64 = 1;

/// The dictionary and the lists. Reads see what the last root names.
pub struct TermLists {
    store: Arc<Store>,
    pool: FramePool,
    terms: TermDictionary,
    view: TermView,
    streams: ChunkStreams,
    tables: StreamWriter,
    root: Option<Span>,
}

impl TermLists {
    /// Creates one without lists. `memory` is for frames of the dictionary.
    ///
    /// # Errors
    /// The system has no such memory.
    pub fn new(device: Arc<dyn Device>, memory: usize) -> Result<TermLists> {
        let store = Arc::new(Store::new(device, IDENTITY, ZoneTable::default()));
        let terms = TermDictionary::new(&store);
        Ok(TermLists {
            pool: FramePool::new(Arc::clone(&store), &Budget::new(usize::MAX), memory)?,
            view: terms.view(),
            terms,
            streams: ChunkStreams::new(&store, MergeMemory::default()),
            tables: StreamWriter::new(Arc::clone(&store), PageKind::Table),
            root: None,
            store,
        })
    }

    /// Tells where zones and pages are read and counted.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Creates other frames over the same pages.
    ///
    /// # Errors
    /// The system has no such memory.
    pub fn frames(&self, bytes: usize) -> Result<FramePool> {
        FramePool::new(Arc::clone(&self.store), &Budget::new(usize::MAX), bytes)
    }

    /// Joins postings to the lists of ascending keys. `new` gives those of a key, by its index,
    /// and `norms` has the norm of each document.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn add(
        &mut self,
        keys: &[&[u8]],
        new: &(dyn Fn(usize) -> Fragment + Sync),
        norms: &[u8],
    ) -> Result<()> {
        self.streams.leave_sparse_zones(&self.store);
        let (store, streams) = (&self.store, &self.streams);
        let norm = |_, doc: u32| Ok(norms.get(doc as usize).copied().unwrap_or_default());
        let fragments = |places: Vec<usize>| places.into_iter().map(new).collect();
        let join = |additions: Vec<Addition<'_>>| {
            let items: Vec<_> = additions.into_iter().map(item).collect();
            merge_window(store, streams, &norm, &items)
        };
        alone(|| self.terms.add(&self.pool, keys, &fragments, &join))
    }

    /// Writes out what was gathered.
    ///
    /// # Errors
    /// Those of the device.
    pub fn flush(&mut self) -> Result<()> {
        self.terms.flush()?;
        self.streams.flush()
    }

    /// Appends all nodes in victim zones anew.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn move_nodes(&mut self, is_victim: &dyn Fn(u32) -> bool) -> Result<()> {
        self.terms.move_out_of(&self.pool, is_victim)
    }

    /// Moves all chunks out of victim zones.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn move_chunks(&mut self, is_victim: &(dyn Fn(u32) -> bool + Sync)) -> Result<()> {
        self.terms.flush()?;
        let keys = self.keys_with_chunks(is_victim)?;
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let (store, streams) = (&self.store, &self.streams);
        let relocate = |old: &[(usize, Option<&[u8]>)]| {
            let entries = old.iter().map(|(_, entry)| entry.unwrap_or_default());
            let entries = entries.collect::<Vec<_>>();
            let moved = relocate_window(&entries, is_victim, store, streams)?;
            Ok(moved.into_iter().collect())
        };
        alone(|| self.terms.update(&self.pool, &keys, &relocate))
    }

    fn keys_with_chunks(&self, is_victim: &dyn Fn(u32) -> bool) -> Result<Vec<Vec<u8>>> {
        let view = self.terms.view();
        let (mut pages, mut keys) = (Pages::new(&self.pool), Vec::new());
        for tree in TermTree::WITH_CHUNKS {
            let tree = view.tree(tree);
            let mut scan = tree.scan(&[]);
            while finish(&mut pages, |pages| scan.advance(tree, pages))? {
                pages.trim();
                let chunks = TermEntry::decode_only_chunks(scan.value())?;
                let mut spans = chunks.iter().flat_map(|chunk| chunk.place.spans());
                if spans.any(|run| is_victim(run.zone)) {
                    keys.push(scan.key().to_vec());
                }
            }
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// Makes all durable, gives up zones that nothing is in, and shows the new state.
    ///
    /// # Errors
    /// Those of the device.
    pub fn write_root(&mut self) -> Result<()> {
        self.flush()?;
        let (mut named, mut root) = (Vec::new(), Vec::new());
        self.terms.encode(&mut self.tables, &mut named)?;
        put_bytes(&mut root, &named);
        self.store.zones().encode(&mut root);
        let before = self.root.replace(self.tables.append(&root)?);
        if let Some(before) = before {
            self.store.release_span(before);
        }
        self.tables.flush()?;
        let mut unsynced = self.terms.take_unsynced();
        unsynced.join(self.tables.take_unsynced());
        for stream in self.streams.all() {
            unsynced.join(stream.take_unsynced());
        }
        self.store.sync(&unsynced)?;
        let start = LogStart::BEGINNING;
        let empty = self.store.zones().take_empty(0, start);
        self.store.remove_zones(&empty)?;
        self.view = self.terms.view();
        Ok(())
    }

    /// Begins to read the dictionary.
    pub fn pages(&self) -> Pages<'_> {
        Pages::new(&self.pool)
    }

    /// Looks up what the dictionary has of a key.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn postings(&self, key: &[u8], pages: &mut Pages<'_>) -> Result<Option<TermPostings>> {
        finish(pages, |pages| self.view.get(key, pages))?.decode()
    }

    /// Looks up the list of a key.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn list(&self, key: &[u8], pages: &mut Pages<'_>) -> Result<Option<TermList>> {
        let postings = self.postings(key, pages)?;
        Ok(postings.map(|postings| TermList::new(postings, Vec::new())))
    }

    /// Looks up keys together, so that their nodes are in frames.
    ///
    /// # Errors
    /// Those of the device; damaged pages.
    pub fn warm(&self, keys: &[&[u8]]) -> Result<()> {
        let mut pages = self.pages();
        finish(&mut pages, |pages| {
            gather(keys, |key| self.view.get(key, pages)).map(drop)
        })
    }

    /// Tells the bytes that filters and frames of the dictionary take.
    pub fn memory_bytes(&self) -> usize {
        self.view.memory_bytes() + self.pool.capacity() * PAGE_SIZE
    }

    /// Tells of each tree its name, its entries, and the nodes that were written.
    pub fn trees(&self) -> Vec<(String, u64, u64)> {
        let trees = TermTree::ALL.map(|tree| {
            let view = self.view.tree(tree);
            (format!("{tree:?}"), view.entries(), view.appended())
        });
        trees.into()
    }
}

fn item(addition: Addition<'_>) -> MergeItem<'_> {
    MergeItem {
        field: 0,
        key_bytes: addition.key.len(),
        old: addition.old,
        new: addition.new,
        joins: false,
    }
}

/// Writes lists of one norm as chunks, without a dictionary; tells where the chunks of each are.
///
/// # Errors
/// Those of the device.
pub fn write_chunks(device: Arc<dyn Device>, lists: Vec<Fragment>) -> Result<Vec<Vec<ChunkRef>>> {
    let store = Arc::new(Store::new(device, IDENTITY, ZoneTable::default()));
    let mut streams = ChunkStreams::new(&store, MergeMemory::default());
    let items = lists.into_iter().map(|new| MergeItem {
        field: 0,
        key_bytes: 3,
        old: None,
        new,
        joins: false,
    });
    let norms = |_, _| Ok(0);
    let entries = merge_window(&store, &streams, &norms, &items.collect::<Vec<_>>())?;
    streams.flush()?;
    let entries = entries.iter().map(|entry| TermEntry::decode(entry));
    entries.map(|entry| Ok(entry?.chunks)).collect()
}
