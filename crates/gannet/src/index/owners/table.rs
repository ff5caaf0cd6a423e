//! The table of owners, and sums over all of them.

use super::documents::MovedDocuments;
use super::log::LogPages;
use super::nodes::NodePages;
use super::owner::{Mover, PageOwner};
use super::postings::ChunkPages;
use super::roots::{RootPages, SlotPages};
use super::tables::TablePages;
use crate::base::PAGE_PAYLOAD;
use crate::index::state::{BytesByPart, BytesWritten};
use crate::storage::{PageKind, Store};

/// Returns the owner of a kind of page.
pub(crate) fn owner_of(kind: PageKind) -> &'static dyn PageOwner {
    match kind {
        PageKind::Log => &LogPages,
        PageKind::Node => &NodePages,
        PageKind::Postings => &ChunkPages,
        PageKind::Documents => &MovedDocuments,
        PageKind::Table => &TablePages,
        PageKind::Root => &RootPages,
        PageKind::RootSlot => &SlotPages,
    }
}

/// Returns all owners, in the order in which a checkpoint writes their pages out.
pub(crate) fn owners() -> impl Iterator<Item = &'static dyn PageOwner> {
    PageKind::ALL.iter().map(|kind| owner_of(*kind))
}

/// Returns the kinds whose zones an owner empties.
pub(crate) fn emptied_by(owner: &dyn PageOwner) -> Vec<PageKind> {
    let empties = |kind: &PageKind| match owner_of(*kind).mover() {
        Mover::Nobody => false,
        Mover::OwnerOf(other) => other == owner.kind(),
        Mover::InFlush { .. } | Mover::AtCheckpoint { .. } => *kind == owner.kind(),
    };
    PageKind::ALL.iter().copied().filter(empties).collect()
}

/// Returns the number of all streams of an index.
pub(crate) fn stream_count() -> usize {
    owners().map(PageOwner::streams).sum()
}

/// Returns the bytes that a store has written since it was made, by cause.
pub(crate) fn written(store: &Store) -> BytesWritten {
    let mut written = BytesWritten::default();
    for owner in owners() {
        *owner.written_figure(&mut written) += store.written_bytes(owner.kind());
    }
    written
}

/// Returns the bytes on flash of all zones of a store, by part.
pub(crate) fn bytes_by_part(store: &Store) -> BytesByPart {
    let zones = store.zones();
    let mut bytes = BytesByPart {
        allocated: zones.allocated_bytes(),
        ..BytesByPart::default()
    };
    for (_, zone) in zones.iter() {
        *owner_of(zone.kind).live_figure(&mut bytes) += zone.live;
        let written = zone.pages as u64 * PAGE_PAYLOAD as u64;
        bytes.dead += written.saturating_sub(zone.live);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_the_owner_of_its_kind() {
        for kind in PageKind::ALL {
            assert_eq!(owner_of(*kind).kind(), *kind);
        }
    }

    #[test]
    fn each_kind_is_emptied_by_one_owner_or_by_none() {
        for kind in PageKind::ALL {
            let movers = owners().filter(|owner| emptied_by(*owner).contains(kind));
            let is_moved = !matches!(owner_of(*kind).mover(), Mover::Nobody);
            assert_eq!(movers.count(), usize::from(is_moved), "{kind:?}");
        }
    }
}
