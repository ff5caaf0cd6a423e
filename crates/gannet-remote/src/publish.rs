//! Publishing: a backup to the objects below a URL, a pack for openings, and a new superblock.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gannet::device::PAGE_SIZE;
use gannet::diagnostics::RequestCounts;
use gannet::{Backup, BackupReport, Error, Index, Result};

use crate::aside::Aside;
use crate::catalog::Catalog;
use crate::device::RemoteDevice;
use crate::extent::{Extent, Object};
use crate::fault::Fault;
use crate::garbage;
use crate::inspect::missing;
use crate::link::Wanted;
use crate::objects::Objects;
use crate::place::Place;
use crate::publication::{
    Head, Pack, Publication, Published, SUPERBLOCK, SUPERBLOCK_MOST, Slot, objects_of,
};
use crate::publisher::Publisher;

/// The most bytes of the pages in a pack.
const PACK_MOST: usize = 8 << 20;

/// The most bytes of parts of zones that are set aside for a pack. With the pages of the pack they
/// fit in a part of the least memory, even while they are copied into it.
const ASIDE_MOST: usize = 4 << 20;

/// More packs than this are made fewer.
const PACKS_MOST: usize = 8;

/// Packs of so many pages together are not sent again to make them smaller: 512 KiB, which a store
/// sends in the time of a few requests.
const PACKED_LEAST: usize = 128;

/// The part of the memory for each thing that is in it at a time: the packs that are published, the
/// next one, what an opening takes.
const MEMORY_PARTS: usize = 4;

/// The options for publishing an index.
#[derive(Clone, Copy, Debug)]
pub struct PublishOptions {
    /// The time that objects stay which no publication names any more: a reader must refresh within
    /// it. The objects of a publisher that was killed stay as long.
    pub keep: Duration,
    /// The time limit of one batch of requests, all its attempts together.
    pub timeout: Duration,
    /// Bytes of memory for publishing, beside the budget of the index: at least 64 MiB.
    pub memory: usize,
}

/// The least memory for publishing: an index is opened in a quarter of it.
const MEMORY_LEAST: usize = 64 << 20;

impl Default for PublishOptions {
    fn default() -> PublishOptions {
        PublishOptions {
            keep: Duration::from_secs(3_600),
            timeout: Duration::from_secs(30),
            memory: MEMORY_LEAST,
        }
    }
}

/// The results of publishing.
#[derive(Clone, Debug)]
pub struct PublishReport {
    /// The files that were copied.
    pub copied: BackupReport,
    /// The number of the publication that readers find now.
    pub publication: u64,
    /// Set if there was anything new to publish.
    pub is_new: bool,
    /// Bytes of the pages in the new pack that openings read.
    pub packed_bytes: u64,
    /// Objects that were removed, since no publication names them any more.
    pub removed: u64,
    /// Why objects could not be removed; the next publication tries again.
    pub not_removed: Option<String>,
    /// The requests that were made.
    pub requests: RequestCounts,
}

/// Publishes the state of an index at `url`: all that was acknowledged before the call. Where an
/// earlier state is published, only what is new is copied. `progress` is told how many bytes are
/// copied, and of how many.
///
/// # Errors
///
/// [`Error::Invalid`] if another publisher was faster, or if anything else is there. After any
/// error readers find the publication before.
pub fn publish(
    index: &Index,
    url: &str,
    options: &PublishOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<PublishReport> {
    let place = Place::of(url, options.timeout, true)?;
    publish_on(
        index,
        Objects::new(place, options.timeout)?,
        options,
        progress,
    )
}

pub(crate) fn publish_on(
    index: &Index,
    objects: Objects,
    options: &PublishOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<PublishReport> {
    if options.memory < MEMORY_LEAST {
        return Err(Error::invalid(format!(
            "expected at least {MEMORY_LEAST} bytes of memory for publishing, found {}: give more",
            options.memory
        )));
    }
    let backup = index.begin_backup()?.0;
    // It never refreshes: what it goes on from must be what it replaces.
    let refresh = Duration::MAX;
    let part = options.memory / MEMORY_PARTS;
    let device = RemoteDevice::open(objects, refresh, 0, part, part)?;
    let publisher = Arc::new(Publisher::new(device)?);
    let name = Path::new(publisher.device.url()).to_owned();
    let mut opening = backup.opening_pages(part)?;
    opening.truncate(PACK_MOST.min(part) / PAGE_SIZE);
    publisher.set_aside(Aside::new(&opening, ASIDE_MOST));
    let copied = backup.copy_to_device(Arc::clone(&publisher) as _, &name, progress)?;
    let (slots, zones) = {
        let staged = publisher.staged();
        (staged.whole_slots(), staged.zones.keys().copied().collect())
    };
    let mut report = PublishReport {
        copied,
        publication: publisher.origin.number - 1,
        is_new: slots.is_some(),
        packed_bytes: 0,
        removed: 0,
        not_removed: None,
        requests: RequestCounts::default(),
    };
    if slots.is_none() {
        publisher.check_published()?;
    }
    if let Some(slots) = slots {
        let next = Next::new(&publisher, opening, &zones);
        report.packed_bytes = next.pages.len() as u64 * PAGE_SIZE as u64;
        let published = next.publish(&publisher, &backup, slots, options.keep)?;
        report.publication = published.publication.origin.number;
        match garbage::remove(&publisher.device.objects, &published, options.keep) {
            Ok(removed) => report.removed = removed,
            Err(error) => report.not_removed = Some(error.to_string()),
        }
    }
    report.requests = publisher.device.objects.counts();
    Ok(report)
}

/// The parts of the next publication, before it is written.
struct Next {
    extents: Vec<Extent>,
    /// The packs before that stay.
    packs: Vec<Pack>,
    /// The pages of the new pack, sorted.
    pages: Vec<(u32, u32)>,
}

impl Next {
    fn new(publisher: &Publisher, wanted: Vec<(u32, u32)>, zones: &BTreeSet<u32>) -> Next {
        let catalog = publisher.device.catalog();
        let packs = kept_packs(&catalog, &wanted);
        let catalog_of_kept =
            catalog.without_packs(|origin| packs.iter().any(|pack| pack.origin == origin));
        let is_packed = |page: &(u32, u32)| catalog_of_kept.is_packed(*page);
        let mut pages: Vec<(u32, u32)> =
            wanted.into_iter().filter(|page| !is_packed(page)).collect();
        pages.sort_unstable();
        Next {
            extents: catalog.extents(|zone| zones.contains(&zone)),
            packs,
            pages,
        }
    }

    /// Writes the pack, and then the superblock in place of the one that was found.
    fn publish(
        self,
        publisher: &Publisher,
        backup: &Backup,
        slots: Vec<Slot>,
        keep: Duration,
    ) -> Result<Published> {
        let catalog = publisher.device.catalog();
        let objects = &publisher.device.objects;
        let aside = publisher.aside();
        let mut pack = Pack {
            origin: publisher.origin,
            head_bytes: 0,
            pages: self.pages.len() as u32,
            others: aside.others(&self.pages).count() as u32,
        };
        // The head tells its own length, in as many bytes whatever it is.
        pack.head_bytes = self.head(&catalog, &aside, pack, keep).encode().len() as u32;
        let head = self.head(&catalog, &aside, pack, keep);
        let mut bytes = head.encode();
        backup.read_pages(&head.directory, &mut bytes)?;
        let others = aside.others(&head.directory);
        others.for_each(|page| bytes.extend_from_slice(page));
        drop(aside);
        objects.put(&pack.name(), bytes)?;
        let packs: Vec<Pack> = self.packs.into_iter().chain([pack]).collect();
        check_there(objects, &head.extents, &packs)?;
        let publication = Publication {
            slots,
            origin: publisher.origin,
            keep,
            packs,
        };
        replace(objects, &catalog, &publication)?;
        Ok(Published { publication, head })
    }

    /// Returns the head of a pack, which lists the objects before it and itself.
    fn head(&self, catalog: &Catalog, aside: &Aside, pack: Pack, keep: Duration) -> Head {
        let mut extents = self.extents.clone();
        extents.extend(aside.extents(&self.pages, pack.object()));
        extents.sort_by_key(|extent| (extent.zone, extent.first));
        let named = objects_of(&extents, &self.packs);
        let named: BTreeSet<String> = named.iter().map(Object::name).collect();
        Head {
            retired: garbage::retired(catalog, |name| named.contains(name), keep),
            extents,
            directory: self.pages.clone(),
        }
    }
}

impl Publisher {
    /// Fails unless all that readers find now is there.
    fn check_published(&self) -> Result<()> {
        let catalog = self.device.catalog();
        let packs = catalog.publication.as_ref().map(|of| of.packs.as_slice());
        let packs = packs.unwrap_or_default();
        check_there(&self.device.objects, &catalog.head.extents, packs)
    }
}

/// Fails unless the store says that it holds all that a publication names as it was sent.
fn check_there(objects: &Objects, extents: &[Extent], packs: &[Pack]) -> Result<()> {
    let wrong = missing(objects, extents, packs)?;
    let Some(first) = wrong.first() else {
        return Ok(());
    };
    let more = match wrong.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Err(Error::Device {
        operation: "publish",
        file: objects.url().to_owned(),
        reason: format!(
            "the store does not hold what was sent: {first}{more}; readers find what was published before, if that is \
             whole: publish again, and if that ends like this, to another place"
        ),
        full: false,
    })
}

/// The packs that the next publication can go on from. If they are many, small ones are made one:
/// a large one has mostly pages that are still needed, and is not sent again. If most of all their
/// pages are needed by nobody any more, those stay of which most are.
fn kept_packs(catalog: &Catalog, wanted: &[(u32, u32)]) -> Vec<Pack> {
    let Some(publication) = &catalog.publication else {
        return Vec::new();
    };
    let packs = publication.packs.iter();
    let mut kept: Vec<Pack> = packs
        .filter(|pack| catalog.pack(pack.origin).is_some())
        .copied()
        .collect();
    if kept.len() >= PACKS_MOST {
        kept.retain(|pack| pack.pages as usize >= wanted.len() / 2);
    }
    let pages: usize = kept.iter().map(|pack| pack.pages as usize).sum();
    if pages > (2 * wanted.len()).max(PACKED_LEAST) {
        let wanted: BTreeSet<(u32, u32)> = wanted.iter().copied().collect();
        let alive = |pack: &Pack| {
            let pack = catalog.pack(pack.origin);
            pack.map_or(0, |pack| pack.count(&wanted))
        };
        kept.retain(|pack| 2 * alive(pack) >= pack.pages as usize);
    }
    kept
}

/// Replaces the superblock if it is still the one that was found. Where the store answers that it
/// did, and gives another or none, it is not believed.
fn replace(objects: &Objects, catalog: &Catalog, publication: &Publication) -> Result<()> {
    let replaced = objects.replace(SUPERBLOCK, catalog.version.clone(), publication.encode());
    match &replaced {
        Ok(()) | Err(Fault::Changed) => {}
        Err(fault) => return Err(fault.clone().error("write", objects.url_of(SUPERBLOCK))),
    }
    let found = match read_superblock(objects) {
        // What cannot be read just now is no sign that it is not there.
        Err(Error::Device { .. }) if replaced.is_ok() => return Ok(()),
        found => found?,
    };
    // Where the answer to a request that had replaced it was lost, it was made again.
    let is_there = found.origin == publication.origin;
    // Behind the one that is there now, somebody else may have published already.
    let was_there = replaced.is_ok() && found.origin.number > publication.origin.number;
    if is_there || was_there {
        return Ok(());
    }
    let before = catalog.publication.as_ref();
    let before = before.map_or("no publication".to_owned(), |before| {
        format!("publication {}", before.origin.number)
    });
    Err(Error::invalid(format!(
        "{} was published by somebody else meanwhile: expected {before}, found publication {}; nothing of this one \
         counts: publish again to go on from that",
        objects.url(),
        found.origin.number
    )))
}

fn read_superblock(objects: &Objects) -> Result<Publication> {
    let found = objects.get(Wanted {
        name: SUPERBLOCK.to_owned(),
        range: None,
        most: SUPERBLOCK_MOST,
        known: None,
    });
    let found = found.map_err(|fault| match fault {
        Fault::Missing => Error::damaged(
            objects.url_of(SUPERBLOCK),
            "the store has taken it, and does not hold it",
        ),
        fault => fault.error("read", objects.url_of(SUPERBLOCK)),
    })?;
    Publication::decode(&found.bytes)
        .map_err(|reason| Error::damaged(objects.url_of(SUPERBLOCK), reason))
}
