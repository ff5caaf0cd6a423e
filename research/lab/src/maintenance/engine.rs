//! Gannet's own maintenance: the engine's term dictionary and chunk streams, fed by flushes,
//! without documents and log.
//!
//! Does to lists as a flush of an index does, in the same order: sparse zones are left,
//! postings join lists or stay in delta levels, and zones in which little lives are emptied. Nodes
//! and chunks are written, and a root that names all of it is written and synced. The entries of
//! terms are on the device and count among what is written. Bytes: no closed form of few words; of
//! lists that grow by pages a flush they are what came, each posting written once, while a list has
//! up to 16 chunks.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use gannet::device::PagePool;
use gannet::lab::{TermLists, finish};
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
use crate::bytes::put_varint;

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
    lists: TermLists,
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
        Ok(Gannet {
            lists: TermLists::new(device.clone(), memory)?,
            device,
            keys,
            norms,
            buffers: PagePool::new(READ_PAGES),
            frames: FreshFrames::default(),
        })
    }

    fn add(&mut self, flush: &Flush) -> Result<()> {
        let keys = flush.terms.iter();
        let keys: Vec<&[u8]> = keys
            .map(|(term, _)| self.keys[*term as usize].as_slice())
            .collect();
        let new = |at: usize| flush.terms[at].1.clone();
        self.lists.add(&keys, &new, &self.norms)
    }

    fn clean(&mut self) -> Result<()> {
        self.lists.flush()?;
        let nodes = &self.victims(PageKind::Node) | &self.victims(PageKind::Table);
        if !nodes.is_empty() {
            self.lists.move_nodes(&|zone| nodes.contains(&zone))?;
        }
        let chunks = self.victims(PageKind::Postings);
        if !chunks.is_empty() {
            self.lists.move_chunks(&|zone| chunks.contains(&zone))?;
        }
        Ok(())
    }

    /// The zones of a kind in which least lives; none if emptying them gives back too little.
    fn victims(&self, kind: PageKind) -> Victims {
        let zones = self.lists.store().zones();
        let candidates = zones.iter().filter(|(_, zone)| {
            !zone.open && zone.live > 0 && zone.kind == kind && zone.live_share() < LIVE_SHARE
        });
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
        if dead * ONE_OF >= zones.allocated_bytes() {
            candidates
                .into_iter()
                .map(|(_, _, number)| number)
                .collect()
        } else {
            Victims::new()
        }
    }

    fn key(&self, term: TermNumber) -> &[u8] {
        &self.keys[term as usize]
    }
}

impl Strategy for Gannet {
    fn flush(&mut self, flush: &Flush) -> Result<()> {
        self.add(flush)?;
        self.clean()?;
        self.lists.write_root()
    }

    /// Reads the heads and docs pages of all chunks in one batch; what else there is came with the
    /// entry.
    fn retrieve(&self, term: TermNumber) -> Result<u64> {
        let mut pages = self.lists.pages();
        let Some(postings) = self.lists.postings(self.key(term), &mut pages)? else {
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
            self.lists.store().read(wanted)?;
        }
        Ok(bytes)
    }

    fn postings(&self, term: TermNumber) -> Result<Postings> {
        let mut all = Postings::default();
        let Some(list) = self.lists.list(self.key(term), &mut self.lists.pages())? else {
            return Ok(all);
        };
        self.frames.with(&self.lists, |pages| {
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
        let mut pages = self.lists.pages();
        let lists = terms.map(|term| self.lists.list(self.key(term), &mut pages));
        let [one, other] = lists;
        match (one?, other?) {
            (Some(one), Some(other)) => self
                .frames
                .with(&self.lists, |pages| both([one, other], scoring, pages)),
            _ => Ok(Both::default()),
        }
    }

    fn warm(&self, terms: &[TermNumber]) -> Result<()> {
        for some in terms.chunks(256) {
            let keys: Vec<&[u8]> = some.iter().map(|term| self.key(*term)).collect();
            self.lists.warm(&keys)?;
        }
        Ok(())
    }

    fn work(&self) -> Work {
        self.device.work()
    }

    fn kept(&self) -> Result<Kept> {
        let store = self.lists.store();
        let kinds = [PageKind::Node, PageKind::Table];
        Ok(Kept {
            file_bytes: store.zones().allocated_bytes(),
            vocabulary_bytes: self.lists.memory_bytes() as u64,
            written_for_vocabulary: kinds.map(|kind| store.written_bytes(kind)).iter().sum(),
            written_for_tables: store.written_bytes(PageKind::Table),
        })
    }

    fn details(&self) -> Json {
        let trees = self.lists.trees().into_iter();
        let trees = trees.map(|(tree, entries, written)| {
            json!({ "tree": tree, "entries": entries, "nodes_written": written })
        });
        let chunks = self.lists.store().written_bytes(PageKind::Postings);
        json!({ "chunks_written_bytes": chunks, "trees": trees.collect::<Vec<_>>() })
    }
}
