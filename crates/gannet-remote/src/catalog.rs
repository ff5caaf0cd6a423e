//! Finds each page: in the objects that the newest publication names, or in the packs at hand.
//!
//! Invariant: an address names the same bytes for ever. So objects that an earlier publication
//! named stay in the catalog as long as their publisher keeps them, and a state that was opened
//! before a refresh stays readable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use gannet::device::{FileId, PAGE_SIZE, ZoneNumber};
use gannet::{IndexIdentity, identity_of_slot};

use crate::coding::Origin;
use crate::extent::Extent;
use crate::publication::{Head, Pack, Publication, Slot};

/// Bytes of memory that the catalog takes for an extent, about.
const EXTENT_BYTES: usize = 128;

/// The pages of a pack in memory.
#[derive(Debug)]
pub(crate) struct LoadedPack {
    pub(crate) origin: Origin,
    directory: Vec<(ZoneNumber, u32)>,
    pages: Bytes,
}

/// An object, and since when no publication names it.
#[derive(Clone, Copy, Debug)]
struct Known {
    extent: Extent,
    superseded: Option<Instant>,
}

/// The objects of the newest publication.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    /// The version of the superblock object.
    pub(crate) version: Option<String>,
    pub(crate) publication: Option<Publication>,
    pub(crate) head: Head,
    extents: BTreeMap<(ZoneNumber, u32), Known>,
    packs: Vec<Arc<LoadedPack>>,
    /// Set if objects were forgotten that an earlier publication named.
    pub(crate) has_forgotten: bool,
}

/// The place of a page.
pub(crate) enum Found<'c> {
    /// In memory.
    Page(&'c [u8]),
    /// In an object.
    In(&'c Extent),
}

impl LoadedPack {
    /// The pack of these bytes, its head included.
    pub(crate) fn new(pack: &Pack, head: &Head, bytes: &Bytes) -> LoadedPack {
        LoadedPack {
            origin: pack.origin,
            directory: head.directory.clone(),
            pages: bytes.slice((pack.head_bytes as usize).min(bytes.len())..),
        }
    }

    fn page(&self, address: (ZoneNumber, u32)) -> Option<&[u8]> {
        let at = self.directory.binary_search(&address).ok()? * PAGE_SIZE;
        self.pages.get(at..at + PAGE_SIZE)
    }

    /// Returns the number of its pages that are among these.
    pub(crate) fn count(&self, wanted: &BTreeSet<(ZoneNumber, u32)>) -> usize {
        let pages = self.directory.iter();
        pages.filter(|page| wanted.contains(page)).count()
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.len() + self.directory.len() * size_of::<(ZoneNumber, u32)>()
    }
}

impl Catalog {
    /// The catalog of a newer publication, with what is still kept of this one.
    pub(crate) fn followed_by(
        &self,
        version: Option<String>,
        publication: Publication,
        head: Head,
        packs: Vec<Arc<LoadedPack>>,
    ) -> Catalog {
        let now = Instant::now();
        let keep = publication.keep.max(self.keep());
        let mut extents = self.extents.clone();
        for known in extents.values_mut() {
            known.superseded.get_or_insert(now);
        }
        for extent in &head.extents {
            let known = Known {
                extent: *extent,
                superseded: None,
            };
            extents.insert((extent.zone, extent.first), known);
        }
        let before = extents.len();
        extents.retain(|_, known| known.superseded.is_none_or(|since| since.elapsed() <= keep));
        Catalog {
            has_forgotten: self.has_forgotten || extents.len() < before,
            version,
            publication: Some(publication),
            head,
            extents,
            packs,
        }
    }

    fn keep(&self) -> Duration {
        let publication = self.publication.as_ref();
        publication.map_or(Duration::ZERO, |publication| publication.keep)
    }

    /// Adds an object that a publisher has just written.
    pub(crate) fn add(&mut self, extent: Extent) {
        let known = Known {
            extent,
            superseded: None,
        };
        self.extents.insert((extent.zone, extent.first), known);
    }

    /// Forgets a zone that a publisher has removed.
    pub(crate) fn forget(&mut self, zone: ZoneNumber) {
        self.extents.retain(|(of, _), _| *of != zone);
    }

    /// The objects of all zones for which `named` holds, in order.
    pub(crate) fn extents(&self, named: impl Fn(ZoneNumber) -> bool) -> Vec<Extent> {
        let current = self
            .extents
            .values()
            .filter(|known| known.superseded.is_none());
        let extents = current.map(|known| known.extent);
        extents.filter(|extent| named(extent.zone)).collect()
    }

    /// A pack that is at hand.
    pub(crate) fn pack(&self, origin: Origin) -> Option<&Arc<LoadedPack>> {
        self.packs.iter().find(|pack| pack.origin == origin)
    }

    /// Returns true if a pack at hand has this page.
    pub(crate) fn is_packed(&self, address: (ZoneNumber, u32)) -> bool {
        self.packs.iter().any(|pack| pack.page(address).is_some())
    }

    /// The same without the packs for which `stays` is false, to make room.
    pub(crate) fn without_packs(&self, stays: impl Fn(Origin) -> bool) -> Catalog {
        let mut catalog = self.clone();
        catalog.packs.retain(|pack| stays(pack.origin));
        catalog
    }

    /// Returns the place of a page; nothing past the end of its file.
    pub(crate) fn find(&self, file: FileId, page: u32) -> Option<Found<'_>> {
        let FileId::Zone(zone) = file else {
            let slots = &self.publication.as_ref()?.slots;
            return slots.get(page as usize).map(|slot| Found::Page(slot));
        };
        let mut packed = self.packs.iter().filter_map(|pack| pack.page((zone, page)));
        if let Some(page) = packed.next() {
            return Some(Found::Page(page));
        }
        let before = self.extents.range(..=(zone, page)).next_back();
        let extent = before.map(|(_, known)| &known.extent)?;
        (extent.zone == zone && page < extent.end()).then_some(Found::In(extent))
    }

    /// All files with their lengths.
    pub(crate) fn files(&self) -> Vec<(FileId, u32)> {
        let mut zones: BTreeMap<ZoneNumber, u32> = BTreeMap::new();
        for known in self.extents.values() {
            let end = zones.entry(known.extent.zone).or_default();
            *end = known.extent.end().max(*end);
        }
        let superblock = self.publication.as_ref();
        let superblock = superblock.map(|of| (FileId::Superblock, of.slots.len() as u32));
        let zones = zones.into_iter();
        let zones = zones.map(|(zone, pages)| (FileId::Zone(zone), pages));
        superblock.into_iter().chain(zones).collect()
    }

    /// The identity of the index, if its superblock proves itself.
    pub(crate) fn identity(&self) -> Option<IndexIdentity> {
        identity_in(&self.publication.as_ref()?.slots)
    }

    /// Bytes of memory, without the packs.
    pub(crate) fn bytes(&self) -> usize {
        self.extents.len() * EXTENT_BYTES + self.head.encoded_bytes() * 2
    }

    /// Bytes of the packs at hand.
    pub(crate) fn packed_bytes(&self) -> usize {
        self.packs.iter().map(|pack| pack.bytes()).sum()
    }
}

/// The identity that these root slots say, if one of them proves itself.
pub(crate) fn identity_in(slots: &[Slot]) -> Option<IndexIdentity> {
    let mut slots = (0..).zip(slots);
    slots.find_map(|(number, slot)| identity_of_slot(slot, number))
}

impl Head {
    /// About as many bytes as it takes, encoded and in memory.
    fn encoded_bytes(&self) -> usize {
        self.extents.len() * 56 + self.retired.len() * 64 + self.directory.len() * 8
    }
}
