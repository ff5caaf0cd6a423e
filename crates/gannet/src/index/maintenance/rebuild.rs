//! Rebuild: the index is written anew beside itself, its live documents numbered from 0 without
//! gaps, in their order; a root then names the new one in place of the old.
//!
//! ```text
//! checkpoint ──▶ the writer's parts are set aside
//!     ──▶ records go through empty parts, unseen ──▶ root
//! ```
//!
//! 1. What is written meanwhile lies in zones that no root names. A crash leaves the old index, and
//!    opening removes them.
//! 2. Readers see the old index until the root is durable, and snapshots of it as long as they may;
//!    writing waits.
//! 3. Documents keep IDs, versions and sequence numbers. Only their numbers change, and with them
//!    the order of equal scores.
//! 4. After a failure the parts that were set aside are put back, and the zones are removed.

use std::sync::{Arc, Mutex};

use crate::base::{DocId, Result, Span, ZoneNumber};
use crate::btree::Tree;
use crate::cache::{Pages, finish};
use crate::device::FileId;
use crate::documents::{DocumentRecord, DocumentTables, stored_records};
use crate::index::flush::{Flusher, lock};
use crate::index::handle::Index;
use crate::index::owners::{OwnedPages, RootParts};
use crate::index::state::{Buffers, Phase, Relief, State, Vacuumed};
use crate::index::write::{Restored, Restoring, Writer};
use crate::postings::{DeadDocs, TermDictionary};
use crate::storage::{PageKind, RecordKind, frame};

/// Documents whose records are read together, at most, and the share of the frames that these take.
const DOCUMENTS_AT_ONCE: usize = 4096;
const FRAMES_ONE_OF: usize = 16;

/// The old index, while the new one is written.
struct Aside {
    state: State,
    flusher: Arc<Mutex<Flusher>>,
    owned: OwnedPages,
    /// The zones of the new index begin here.
    first_zone: ZoneNumber,
}

impl Index {
    /// Writes the index anew with its live documents numbered from 0: nothing of deleted documents
    /// is left, and lists are as after a bulk load. Searches go on; writing waits. It takes about
    /// as much time as indexing all documents, and twice the space of what lives meanwhile.
    /// `progress` is told what is being done, how much of it is, and of how much.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`](crate::Error::Memory) if the memory lacks a bit for each document.
    /// [`Error::Device`](crate::Error::Device) if there is too little space. The index is as it was
    /// then; if the root that names the new one cannot be written, the writer stops.
    pub fn rebuild(&self, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<()> {
        self.after_flush(|writer| writer.rebuild(progress))
    }
}

impl Writer {
    fn rebuild(&mut self, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<()> {
        self.check_running()?;
        self.check_space_to_write_anew()?;
        self.checkpoint()?;
        self.shared.options.limits.enter(Phase::Vacuum);
        let shared = Arc::clone(&self.shared);
        let end = self.state.below;
        let what = "the live documents of a rebuild";
        let _memory = shared.budget.reserve(what, DeadDocs::memory_bytes(end))?;
        let deletions = self
            .state
            .tables
            .deletions(end, &mut Pages::new(&shared.pool))?;
        let dead = DeadDocs::new(&deletions);
        let aside = self.set_aside()?;
        let mut live = (0..end).filter(|doc| !dead.has(*doc));
        let written = self.write_anew(&aside, &mut live, progress);
        self.unseen = false;
        match written {
            Ok(()) => self.take_over(aside),
            Err(error) => {
                let back = self.put_back(aside);
                self.stop_on_error(back)?;
                Err(error)
            }
        }
    }

    /// Goes on with empty parts that nobody sees.
    fn set_aside(&mut self) -> Result<Aside> {
        let shared = Arc::clone(&self.shared);
        let first_zone = shared.store.zones().next_number();
        let terms = TermDictionary::new(&shared.store);
        let ids = Tree::new(Arc::clone(&shared.store));
        let flusher = Flusher {
            first_zone,
            ..Flusher::new(&shared, terms, ids)
        };
        let state = State {
            terms: flusher.terms.view(),
            ids: flusher.ids.view().clone(),
            buffers: Buffers::new(&shared.budget)?,
            tables: DocumentTables::new(),
            statistics: Arc::default(),
            vacuumed: Vacuumed::default(),
            below: 0,
            documents: 0,
            renumbered: self.state.renumbered + 1,
            ..self.state.clone()
        };
        self.unseen = true;
        // That was for the old one's sake.
        self.scheduler.flushes_early = false;
        let owned = OwnedPages::new(&shared.store, RootParts::default());
        let flusher = Arc::new(Mutex::new(flusher));
        Ok(Aside {
            state: std::mem::replace(&mut self.state, state),
            flusher: std::mem::replace(&mut self.flusher, flusher),
            owned: std::mem::replace(&mut self.owned, owned),
            first_zone,
        })
    }

    /// Writes these documents of the old index and flushes them.
    fn write_anew(
        &mut self,
        aside: &Aside,
        numbers: &mut dyn Iterator<Item = DocId>,
        progress: &mut dyn FnMut(&str, u64, u64),
    ) -> Result<()> {
        let all = aside.state.documents;
        let shared = Arc::clone(&self.shared);
        let room = shared.pool.capacity() / FRAMES_ONE_OF;
        loop {
            let some: Vec<DocId> = numbers.take(DOCUMENTS_AT_ONCE).collect();
            if some.is_empty() {
                return self.checkpoint();
            }
            let mut left = some.as_slice();
            while !left.is_empty() {
                let mut pages = Pages::new(&shared.pool);
                let tables = &aside.state.tables;
                let records = finish(&mut pages, |pages| {
                    stored_records(left, room, tables, pages)
                })?;
                drop(pages);
                left = &left[records.len()..];
                self.take_records(records)?;
                progress("documents", self.state.documents, all);
            }
        }
    }

    /// Takes stored documents, which are the next from now on.
    fn take_records(&mut self, records: Vec<Vec<u8>>) -> Result<()> {
        let mut moved: Vec<(Span, Vec<u8>)> = Vec::with_capacity(records.len());
        for (doc, old) in (self.state.below..).zip(records) {
            let record = DocumentRecord {
                doc,
                ..DocumentRecord::decode(&old)?
            };
            let mut body = Vec::with_capacity(old.len() + 4);
            record.encode(&mut body);
            let stream = self.owned.stream(PageKind::Documents);
            let span = stream.append(&frame(RecordKind::Document, true, &body))?;
            moved.push((span, body));
        }
        let dictionaries = &self.state.dictionaries;
        let runs = std::iter::once(moved.as_slice());
        let mut restoring = Restoring::new(&self.shared, dictionaries, runs)?;
        loop {
            // What waits to be flushed may take the memory.
            let restored = self.with_memory(&[Relief::Buffers], |_| restoring.next(&()))?;
            if restored.is_empty() {
                return Ok(());
            }
            restored.iter().try_for_each(|run| self.enter_anew(run))?;
        }
    }

    fn enter_anew(&mut self, documents: &Restored) -> Result<()> {
        let ids = documents.entries.iter().map(|(_, id, _)| id.as_str());
        self.find_room(Some(&documents.inverted), ids)?;
        let base = self.state.below;
        for ((entry, id, span), lengths) in documents.entries.iter().zip(&documents.lengths) {
            self.enter_document(*entry, id, *span, lengths)?;
        }
        self.state.buffers.filling.add(&documents.inverted, base);
        self.state.below += documents.entries.len() as DocId;
        Ok(())
    }

    /// Makes what was written the index: the old one's zones are given up with the root that names
    /// the new one.
    fn take_over(&mut self, aside: Aside) -> Result<()> {
        self.shared.store.zones().give_up_before(aside.first_zone);
        drop(aside);
        let flusher = Arc::clone(&self.flusher);
        let flusher = &mut *lock(&flusher);
        flusher.first_zone = 0;
        // What was wanted of vacuum is done, and counted in numbers that are gone.
        self.scheduler.forget_vacuum();
        let covered = self.written();
        let named = self.write_root(flusher, covered);
        let named = named.and_then(|()| self.give_up_zones());
        self.stop_on_error(named)
    }

    /// Goes on with the old index. What failed is gone with its zones.
    fn put_back(&mut self, aside: Aside) -> Result<()> {
        // A flush under way ends first.
        self.flushing = None;
        self.stopped = None;
        self.state = aside.state;
        self.flusher = aside.flusher;
        self.owned = aside.owned;
        let store = &self.shared.store;
        let written = store.zones().take_from(aside.first_zone);
        // One whose file could not be made has none.
        let files = store.device().list()?;
        let zones = files.into_iter().filter_map(|(file, _)| match file {
            FileId::Zone(zone) => written.contains(&zone).then_some(zone),
            _ => None,
        });
        store.remove_zones(&zones.collect::<Vec<_>>())
    }
}
