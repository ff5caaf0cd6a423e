//! An index that the writer writes anew beside the one that readers see, until it takes over or is
//! given up.

use std::sync::{Arc, Mutex};

use super::Writer;
use crate::base::{DocId, Result, Span, ZoneNumber};
use crate::columns::{ColumnTree, Columns};
use crate::device::FileId;
use crate::documents::{DocumentRecord, DocumentTables};
use crate::index::flush::{Flusher, lock};
use crate::index::owners::{OwnedPages, RootParts};
use crate::index::state::{Buffers, Phase, Relief, Shared, State, Vacuumed};
use crate::index::write::restored::{Restored, Restoring};
use crate::postings::TermDictionary;
use crate::runs::Runs;
use crate::storage::{PageKind, RecordKind, frame};

/// An index that is written anew. What has begun must end: it takes over, or is given up.
pub(crate) struct Anew<'w> {
    writer: &'w mut Writer,
    old: Aside,
}

/// The old index, while the new one is written.
struct Aside {
    state: State,
    flusher: Arc<Mutex<Flusher>>,
    owned: OwnedPages,
    /// The zones of the new index begin here.
    first_zone: ZoneNumber,
}

impl Writer {
    /// Makes a root of all that was written, if there is space to write it anew beside that. Gives
    /// the state of that root.
    pub(crate) fn prepare_anew(&mut self) -> Result<State> {
        self.check_running()?;
        self.check_space_to_write_anew()?;
        self.checkpoint()?;
        self.shared.options.limits.enter(Phase::Vacuum);
        Ok(self.state.clone())
    }
}

impl<'w> Anew<'w> {
    /// Sets the parts of the writer aside, which goes on with empty ones that nobody sees.
    pub(crate) fn begin(writer: &'w mut Writer) -> Result<Anew<'w>> {
        let shared = Arc::clone(&writer.shared);
        let first_zone = shared.store.zones().next_number();
        let terms = TermDictionary::new(&shared.store);
        let ids = Runs::new(Arc::clone(&shared.store), shared.memory.id_filters);
        let columns = Arc::new(writer.state.columns.anew());
        let tree = ColumnTree::new(Arc::clone(&shared.store), Columns::clone(&columns));
        let flusher = Flusher {
            first_zone,
            ..Flusher::new(&shared, terms, ids, tree)
        };
        let state = State {
            terms: flusher.terms.view(),
            ids: flusher.ids.view(),
            column_tree: flusher.columns.view(),
            columns,
            buffers: Buffers::new(&shared.budget)?,
            tables: DocumentTables::new(),
            statistics: Arc::default(),
            vacuumed: Vacuumed::default(),
            below: 0,
            documents: 0,
            renumbered: writer.state.renumbered + 1,
            ..writer.state.clone()
        };
        writer.life.begin_unseen();
        // That was for the old one's sake.
        writer.scheduler.flushes_early = false;
        let owned = OwnedPages::new(&shared.store, RootParts::default());
        let flusher = Arc::new(Mutex::new(flusher));
        let old = Aside {
            state: std::mem::replace(&mut writer.state, state),
            flusher: writer.flushes.go_on_with(flusher),
            owned: std::mem::replace(&mut writer.owned, owned),
            first_zone,
        };
        Ok(Anew { writer, old })
    }

    /// Returns the parts that writer and readers share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.writer.shared
    }

    /// Returns the number of documents that it has so far.
    pub(crate) fn documents(&self) -> u64 {
        self.writer.state.documents
    }

    /// Takes stored documents, which are the next from now on.
    pub(crate) fn take_records(&mut self, records: Vec<Vec<u8>>) -> Result<()> {
        let writer = &mut *self.writer;
        let mut moved: Vec<(Span, Vec<u8>)> = Vec::with_capacity(records.len());
        for (doc, old) in (writer.state.below..).zip(records) {
            let record = DocumentRecord {
                doc,
                ..DocumentRecord::decode(&old)?
            };
            let mut body = Vec::with_capacity(old.len() + 4);
            record.encode(&mut body);
            let stream = writer.owned.stream(PageKind::Documents);
            let span = stream.append(&frame(RecordKind::Document, true, &body))?;
            moved.push((span, body));
        }
        let dictionaries = &writer.state.dictionaries;
        let runs = std::iter::once(moved.as_slice());
        let mut restoring = Restoring::new(&writer.shared, dictionaries, runs)?;
        loop {
            // What waits to be flushed may take the memory.
            let writer = &mut *self.writer;
            let restored = writer.with_memory(&[Relief::Buffers], |_| restoring.next(&()))?;
            if restored.is_empty() {
                return Ok(());
            }
            restored.iter().try_for_each(|run| self.enter(run))?;
        }
    }

    fn enter(&mut self, documents: &Restored) -> Result<()> {
        let writer = &mut *self.writer;
        let ids = documents.entries.iter().map(|(_, id, _)| id.as_str());
        writer.find_room(Some(&documents.content), ids)?;
        let (base, pool) = (writer.state.below, &writer.shared.pool);
        let state = &mut writer.state;
        for ((entry, id, span), lengths) in documents.entries.iter().zip(&documents.lengths) {
            state.enter_document(*entry, id, *span, lengths, pool)?;
        }
        state.buffers.add(&documents.content, base);
        let misfits = state
            .buffers
            .add_values(&documents.content, base, &state.columns);
        let columns = Arc::make_mut(&mut state.columns);
        for (column, values) in misfits {
            columns.count_misfits(column, values);
        }
        state.below += documents.entries.len() as DocId;
        Ok(())
    }

    /// Ends it where all documents were `written`: flushes what is left, and has it take over.
    /// Gives it up where that or the writing failed.
    pub(crate) fn end(self, written: Result<()>) -> Result<()> {
        let written = written.and_then(|()| self.writer.checkpoint());
        self.writer.life.write();
        match written {
            Ok(()) => self.take_over(),
            Err(error) => {
                let writer = self.writer;
                let back = put_back(writer, self.old);
                writer.stop_on_error(back)?;
                Err(error)
            }
        }
    }

    /// Makes what was written the index: the old one's zones are given up with the root that names
    /// the new one.
    fn take_over(self) -> Result<()> {
        let Anew { writer, old } = self;
        writer.shared.store.zones().give_up_before(old.first_zone);
        drop(old);
        let flusher = writer.flushes.flusher();
        let flusher = &mut *lock(&flusher);
        flusher.first_zone = 0;
        // What was wanted of vacuum is done, and counted in numbers that are gone.
        writer.scheduler.forget_vacuum();
        let covered = writer.written();
        let named = writer.write_root(flusher, covered);
        let named = named.and_then(|()| writer.leases.remove_zones(&writer.shared));
        writer.stop_on_error(named)
    }
}

/// Has the writer go on with the old index. What failed is gone with its zones.
fn put_back(writer: &mut Writer, old: Aside) -> Result<()> {
    // A flush under way ends first.
    drop(writer.flushes.take());
    writer.life.go_on();
    writer.state = old.state;
    writer.flushes.go_on_with(old.flusher);
    writer.owned = old.owned;
    let store = &writer.shared.store;
    let written = store.zones().take_from(old.first_zone);
    // One whose file could not be made has none.
    let files = store.device().list()?;
    let zones = files.into_iter().filter_map(|(file, _)| match file {
        FileId::Zone(zone) => written.contains(&zone).then_some(zone),
        _ => None,
    });
    store.remove_zones(&zones.collect::<Vec<_>>())
}
