//! Gannet's own maintenance: the engine's term dictionary and chunk streams, fed by flushes,
//! without documents and log.
//!
//! What a flush of an index does to lists is done here in the same order: sparse zones are left,
//! postings join lists or stay in delta levels, and zones in which little lives are emptied. Nodes
//! and chunks are written, and a root that names all of it is written and synced. The entries of
//! terms are on the device and count among what is written. Bytes: no closed form of few words; of
//! lists that grow by pages a flush they are what came, each posting written once, while a list has
//! up to 16 chunks.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use gannet::device::{PAGE_SIZE, PagePool};
use gannet::lab::{
    Addition, Budget, ChunkStreams, FramePool, LogStart, MergeItem, MergeMemory, Pages, Span,
    Store, StreamWriter, TermDictionary, TermEntry, TermList, TermTree, TermView, Zone, ZoneTable,
    alone, finish, gather, merge_window, put_bytes, put_varint, relocate_window,
};
use gannet::{Error, PageKind, Result};
use gannet_ssd::hdd::DESKSTAR;
use gannet_ssd::{Disk, Modelled, Work};
use serde_json::{Value as Json, json};

use super::asking::{FreshFrames, both};
use super::coding::Postings;
use super::flush::{Flush, TermNumber};
use super::queries::Both;
use super::queries::Scoring;
use super::run_file::Keys;
use super::strategy::{Kept, Strategy};

/// Any: an index would draw one.
const IDENTITY: u64 = 1;

/// Cleaning as an index does it beside writing (`index/maintenance/clean.rs`): zones of which less
/// than this lives, if that gives back one byte of so many, and moves no more bytes than these.
const LIVE_SHARE: f64 = 0.3;
const ONE_OF: u64 = 64;
const MOVED_BYTES_MAX: u64 = 32 << 20;

/// Pages of lists that are read without frames at most, at a time.
const READ_PAGES: usize = 32_768;

/// The dictionary and the lists.
pub struct Gannet {
    device: Arc<Modelled>,
    store: Arc<Store>,
    pool: FramePool,
    terms: TermDictionary,
    view: TermView,
    streams: ChunkStreams,
    tables: StreamWriter,
    root: Option<Span>,
    keys: Keys,
    norms: Arc<Vec<u8>>,
    buffers: PagePool,
    frames: FreshFrames,
}

/// Zones to be emptied.
type Victims = BTreeSet<u32>;

impl Gannet {
    /// One without lists. `memory` is for frames of the dictionary.
    pub fn new(
        folder: &Path,
        keys: Keys,
        norms: Arc<Vec<u8>>,
        memory: usize,
        trace: bool,
    ) -> Result<Gannet> {
        let device = Arc::new(Modelled::open(folder, Disk::new(DESKSTAR), trace)?);
        let store = Arc::new(Store::new(device.clone(), IDENTITY, ZoneTable::default()));
        let terms = TermDictionary::new(&store);
        Ok(Gannet {
            device,
            pool: FramePool::new(Arc::clone(&store), &Budget::new(usize::MAX), memory)?,
            view: terms.view(),
            terms,
            streams: ChunkStreams::new(&store, MergeMemory::default()),
            tables: StreamWriter::new(Arc::clone(&store), PageKind::Table),
            root: None,
            store,
            keys,
            norms,
            buffers: PagePool::new(READ_PAGES),
            frames: FreshFrames::default(),
        })
    }

    fn add(&mut self, flush: &Flush) -> Result<()> {
        let keys = flush
            .terms
            .iter()
            .map(|(term, _)| self.keys[*term as usize].as_slice());
        let keys: Vec<&[u8]> = keys.collect();
        let new = |places: Vec<usize>| {
            let fragments = places.into_iter().map(|at| flush.terms[at].1.clone());
            fragments.collect()
        };
        self.streams.leave_sparse_zones(&self.store);
        let (store, streams, norms) = (&self.store, &self.streams, &self.norms);
        let norm = |_, doc: u32| Ok(norms.get(doc as usize).copied().unwrap_or_default());
        let join = |additions: Vec<Addition<'_>>| {
            let items = additions
                .into_iter()
                .map(|Addition { key, old, new }| MergeItem {
                    field: 0,
                    key_bytes: key.len(),
                    old,
                    new,
                    joins: false,
                });
            merge_window(store, streams, &norm, &items.collect::<Vec<_>>())
        };
        // So the trace is the same each time.
        alone(|| self.terms.add(&self.pool, &keys, &new, &join))
    }

    fn clean(&mut self) -> Result<()> {
        self.terms.flush()?;
        self.streams.flush()?;
        let nodes = &self.victims(PageKind::Node) | &self.victims(PageKind::Table);
        if !nodes.is_empty() {
            self.terms
                .move_out_of(&self.pool, &|zone| nodes.contains(&zone))?;
        }
        let chunks = self.victims(PageKind::Postings);
        match chunks.is_empty() {
            true => Ok(()),
            false => self.clean_chunks(&|zone| chunks.contains(&zone)),
        }
    }

    fn clean_chunks(&mut self, is_victim: &(dyn Fn(u32) -> bool + Sync)) -> Result<()> {
        self.terms.flush()?;
        let keys = self.keys_with_chunks(is_victim)?;
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let (store, streams) = (&self.store, &self.streams);
        let relocate = |old: &[(usize, Option<&[u8]>)]| {
            let entries = old.iter().map(|(_, entry)| entry.unwrap_or_default());
            relocate_window(&entries.collect::<Vec<_>>(), is_victim, store, streams)
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

    /// The zones of a kind in which least lives; none if emptying them gives back too little.
    fn victims(&self, kind: PageKind) -> Victims {
        let zones = self.store.zones();
        let is_candidate = |zone: &Zone| {
            !zone.open && zone.live > 0 && zone.kind == kind && zone.live_share() < LIVE_SHARE
        };
        let candidates = zones.iter().filter(|(_, zone)| is_candidate(zone));
        let mut candidates: Vec<(u64, u64, u32)> = candidates
            .map(|(number, zone)| (zone.live, zone.dead_bytes(), number))
            .collect();
        candidates.sort_unstable();
        let mut moved = 0;
        candidates.retain(|(live, _, _)| {
            moved += live;
            moved <= MOVED_BYTES_MAX
        });
        let dead: u64 = candidates.iter().map(|(_, dead, _)| dead).sum();
        match dead * ONE_OF >= zones.allocated_bytes() {
            true => candidates
                .into_iter()
                .map(|(_, _, number)| number)
                .collect(),
            false => Victims::new(),
        }
    }

    /// Makes all durable and gives up zones that nothing is in.
    fn write_root(&mut self) -> Result<()> {
        self.terms.flush()?;
        self.streams.flush()?;
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
        let start = LogStart {
            zone: None,
            page: 0,
        };
        let empty = self.store.zones().take_empty(0, start);
        self.store.remove_zones(&empty)
    }

    /// What the dictionary has of a term.
    fn found(&self, term: TermNumber, pages: &mut Pages<'_>) -> Result<Option<TermList>> {
        let key = &self.keys[term as usize];
        let found = finish(pages, |pages| self.view.get(key, pages))?;
        let postings = found.decode()?;
        Ok(postings.map(|postings| TermList::new(postings, Vec::new())))
    }
}

impl Strategy for Gannet {
    fn flush(&mut self, flush: &Flush) -> Result<()> {
        self.add(flush)?;
        self.clean()?;
        self.write_root()?;
        self.view = self.terms.view();
        Ok(())
    }

    /// Reads the heads and docs pages of all chunks in one batch; what else there is came with the
    /// entry.
    fn retrieve(&self, term: TermNumber) -> Result<u64> {
        let mut pages = Pages::new(&self.pool);
        let key = &self.keys[term as usize];
        let found = finish(&mut pages, |pages| self.view.get(key, pages))?;
        let Some(postings) = found.decode()? else {
            return Ok(0);
        };
        let recent = postings.recent.iter().chain([&postings.entry.tail]);
        let mut bytes: u64 = recent.map(|fragment| fragment.docs.len() as u64).sum();
        let mut wanted = BTreeSet::new();
        for chunk in &postings.entry.chunks {
            bytes += u64::from(chunk.docs_length);
            wanted.extend(chunk.place.part(0, chunk.docs_length).pages());
        }
        let buffered = wanted.into_iter().map(|address| {
            let buffer = self.buffers.take();
            let buffer = buffer.ok_or_else(|| {
                Error::invalid("the lab's pages are all taken: ask with fewer threads")
            });
            Ok((address, buffer?))
        });
        let wanted = buffered.collect::<Result<Vec<_>>>()?;
        if !wanted.is_empty() {
            self.store.read(wanted)?;
        }
        Ok(bytes)
    }

    fn postings(&self, term: TermNumber) -> Result<Postings> {
        let mut all = Postings::default();
        let Some(list) = self.found(term, &mut Pages::new(&self.pool))? else {
            return Ok(all);
        };
        self.frames.with(&self.store, |pages| {
            let (mut cursor, mut positions) = (list.cursor(), Vec::new());
            while finish(pages, |pages| cursor.next(pages))? != u32::MAX {
                finish(pages, |pages| cursor.positions(pages, &mut positions))?;
                all.docs.push(cursor.doc());
                all.frequencies.push(cursor.frequency());
                let mut before = 0;
                for position in &positions {
                    put_varint(&mut all.positions, u64::from(position - before));
                    before = *position;
                }
            }
            Ok(())
        })?;
        Ok(all)
    }

    fn both(&self, terms: [TermNumber; 2], scoring: &Scoring) -> Result<Both> {
        let mut pages = Pages::new(&self.pool);
        let lists = terms.map(|term| self.found(term, &mut pages));
        let [one, other] = lists;
        match (one?, other?) {
            (Some(one), Some(other)) => self
                .frames
                .with(&self.store, |pages| both([one, other], scoring, pages)),
            _ => Ok(Both::default()),
        }
    }

    fn warm(&self, terms: &[TermNumber]) -> Result<()> {
        for some in terms.chunks(256) {
            let mut pages = Pages::new(&self.pool);
            finish(&mut pages, |pages| {
                gather(some, |term| self.view.get(&self.keys[term as usize], pages))
            })?;
        }
        Ok(())
    }

    fn work(&self) -> Work {
        self.device.work()
    }

    fn kept(&self) -> Result<Kept> {
        let kinds = [PageKind::Node, PageKind::Table];
        Ok(Kept {
            file_bytes: self.store.zones().allocated_bytes(),
            vocabulary_bytes: self.view.memory_bytes() as u64
                + (self.pool.capacity() * PAGE_SIZE) as u64,
            written_for_vocabulary: kinds
                .map(|kind| self.store.written_bytes(kind))
                .iter()
                .sum(),
            written_for_tables: self.store.written_bytes(PageKind::Table),
        })
    }

    fn details(&self) -> Json {
        let trees = TermTree::ALL.map(|tree| {
            let view = self.view.tree(tree);
            let (entries, written) = (view.entries(), view.appended());
            json!({ "tree": format!("{tree:?}"), "entries": entries, "nodes_written": written })
        });
        json!({ "chunks_written_bytes": self.store.written_bytes(PageKind::Postings), "trees": trees })
    }
}
