//! Pages of documents that cleaning has moved out of the log or out of earlier pages of documents.
//! The table of addresses refers to them.

use super::owner::{
    IndexSizes, Live, MOVED_BYTES_MAX, MoveBounds, Mover, PageOwner, Victims, Walks,
};
use super::parts::{CheckpointParts, RootParts};
use super::space::{KeptSpace, NextFlush};
use crate::base::{DocId, Error, PageAddress, Result, Span, ZoneNumber};
use crate::cache::{FramePool, Pages, finish};
use crate::documents::{Address, DocumentRecord, TableChange};
use crate::index::state::{BytesByPart, BytesWritten, Phase, Shared, State};
use crate::storage::{PageKind, RecordKind, Unsynced, ZoneRecord, frame, read_records};

/// The greatest number of bytes of a document in the table of addresses.
const ADDRESS_BYTES: u64 = 12;

/// The owner of the pages of moved documents.
pub(crate) struct MovedDocuments;

impl PageOwner for MovedDocuments {
    fn kind(&self) -> PageKind {
        PageKind::Documents
    }

    fn streams(&self) -> usize {
        1
    }

    fn root_parts(&self) -> usize {
        0
    }

    /// Does nothing: cleaning and rebuilding have appended what there is.
    fn write_changes(&self, _: &mut CheckpointParts<'_>) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    fn flush(&self, parts: &mut CheckpointParts<'_>) -> Result<Unsynced> {
        parts.owned.flush(self.kind())
    }

    fn space(&self, _: &NextFlush<'_>) -> KeptSpace {
        KeptSpace::NONE
    }

    fn mover(&self) -> Mover {
        Mover::AtCheckpoint {
            bounds,
            act: move_documents,
        }
    }

    fn live<'s>(&self, _: &'s State, _: Option<Span>, _: &RootParts) -> Live<'s> {
        Live::Walked
    }

    fn check(
        &self,
        _: &Shared,
        _: &State,
        _: &RootParts,
        walks: &mut dyn Walks,
    ) -> Result<Vec<String>> {
        walks.documents().map(|()| Vec::new())
    }

    fn live_figure<'b>(&self, bytes: &'b mut BytesByPart) -> &'b mut u64 {
        &mut bytes.documents
    }

    fn written_figure<'b>(&self, written: &'b mut BytesWritten) -> &'b mut u64 {
        &mut written.moved_documents
    }
}

fn bounds(sizes: &IndexSizes<'_>) -> MoveBounds {
    // The addresses of documents that move are written anew.
    let beside = sizes.below as u64 * ADDRESS_BYTES;
    MoveBounds {
        beside,
        most: MOVED_BYTES_MAX.saturating_add(beside),
        takes_all: true,
    }
}

fn move_documents(parts: &mut CheckpointParts<'_>, victims: &Victims) -> Result<()> {
    victims
        .iter()
        .try_for_each(|zone| move_out_of(parts, *zone))
}

/// Copies the live documents of a zone to the end of the moved documents.
fn move_out_of(parts: &mut CheckpointParts<'_>, number: ZoneNumber) -> Result<()> {
    let shared = parts.flushed.shared;
    let Some(zone) = shared.store.zones().get(number).cloned() else {
        return Ok(());
    };
    shared.options.limits.enter(Phase::Cleaning);
    let first = PageAddress {
        zone: number,
        page: 0,
    };
    let mut move_record = |record: ZoneRecord| move_document(parts, record);
    let read = read_records(
        &shared.store,
        zone.kind,
        first,
        zone.pages,
        &mut move_record,
    )?;
    if read < zone.pages {
        return Err(Error::damaged(
            format!("zone {number}"),
            format!("expected {} whole pages, got {read}", zone.pages),
        ));
    }
    Ok(())
}

fn move_document(parts: &mut CheckpointParts<'_>, record: ZoneRecord) -> Result<()> {
    if record.kind != RecordKind::Document {
        return Ok(());
    }
    let shared = parts.flushed.shared;
    let doc = DocumentRecord::decode(&record.body)?.doc;
    if !stands_at(parts.state, &shared.pool, doc, Address::of(record.span)?)? {
        return Ok(());
    }
    let copy = frame(RecordKind::Document, true, &record.body);
    let span = parts.owned.stream(PageKind::Documents).append(&copy)?;
    let (tables, mut pages) = (&mut parts.state.tables, Pages::new(&shared.pool));
    let changes = [TableChange::SetAddress(doc)];
    finish(&mut pages, |pages| tables.load_for(&changes, pages))?;
    tables.set_address(doc, span)?;
    shared.store.release_span(record.span);
    Ok(())
}

/// Returns true if a live document stands at this address.
fn stands_at(state: &State, pool: &FramePool, doc: DocId, address: Address) -> Result<bool> {
    if doc >= state.below {
        return Ok(false);
    }
    let (tables, mut pages) = (&state.tables, Pages::new(pool));
    finish(&mut pages, |pages| {
        Ok(tables.is_live(doc, pages)? && tables.address(doc, pages)? == address)
    })
}
