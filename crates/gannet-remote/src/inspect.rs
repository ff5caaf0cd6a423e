//! Checks that a store has what a publication names.
//!
//! The store's listing shows which objects are missing or have another length. Readers take pages
//! of packs from memory and never see the objects that have these pages, too. A reader with less
//! memory, or of a later publication, needs those. So a check reads these pages in their objects,
//! and the packs that are not at hand as well. All other pages are read in their objects by every
//! reader.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use gannet::device::{FileId, PAGE_SIZE};
use gannet::{Error, IndexIdentity, Result, prove_page};

use crate::catalog::{Catalog, Found};
use crate::device::RemoteDevice;
use crate::extent::Extent;
use crate::fault::{Deadline, Fault};
use crate::link::Wanted;
use crate::objects::{Listed, Objects};
use crate::publication::{Head, Pack, objects_of};

/// The most pages that are read at once: 512 KiB.
const READ_PAGES: usize = 128;

/// Runs of pages that are read side by side.
const RUNS_AT_ONCE: usize = 8;

/// Consecutive pages of an object.
struct Run {
    object: String,
    /// The range of their bytes in it.
    bytes: Range<u64>,
    pages: Vec<(FileId, u32)>,
}

impl Run {
    fn wanted(&self) -> Wanted {
        Wanted {
            name: self.object.clone(),
            most: self.bytes.end - self.bytes.start,
            range: Some(self.bytes.clone()),
            known: None,
        }
    }
}

/// Finds the objects that the store lacks, or holds in another length or version than was written:
/// a sentence for each.
pub(crate) fn missing(
    objects: &Objects,
    extents: &[Extent],
    packs: &[Pack],
) -> Result<Vec<String>> {
    let listed = objects.list()?.into_iter();
    let listed: BTreeMap<String, Listed> = listed.map(|of| (of.name.clone(), of)).collect();
    let named = objects_of(extents, packs).into_iter();
    let wrong = named.filter_map(|object| {
        let (name, bytes) = (object.name(), object.bytes());
        let found = difference(listed.get(&name), bytes, objects.written(&name))?;
        Some(format!("{}: {found}", objects.url_of(&name)))
    });
    Ok(wrong.collect())
}

/// Describes the fault of an object of so many bytes, of which the store may have told a version
/// when it was written.
fn difference(found: Option<&Listed>, bytes: u64, version: Option<String>) -> Option<String> {
    let Some(found) = found else {
        return Some("the object is not there".to_owned());
    };
    if found.bytes != bytes {
        return Some(format!("expected {bytes} bytes, found {}", found.bytes));
    }
    let (expected, got) = (version?, found.version.as_ref()?);
    (expected != *got).then(|| format!("expected the version {expected}, found {got}"))
}

impl RemoteDevice {
    /// Finds faults in the packs, and in the objects of the newest publication of which this has
    /// copies.
    pub(crate) fn inspect(&self) -> Result<Vec<String>> {
        let catalog = self.catalog();
        let Some(publication) = &catalog.publication else {
            return Ok(Vec::new());
        };
        let extents = &catalog.head.extents;
        let mut wrong = self.absent(extents, &publication.packs)?;
        let Some(identity) = catalog.identity() else {
            return Ok(wrong);
        };
        if !wrong.is_empty() {
            return Ok(wrong);
        }
        let mut pages: Vec<(u32, u32)> = Vec::new();
        for pack in &publication.packs {
            match self.pack_head(pack)? {
                Ok(head) if catalog.pack(pack.origin).is_some() => pages.extend(head.directory),
                Ok(head) => {
                    let runs = runs_of_pack(pack, &head);
                    self.prove_runs(runs, identity, &mut wrong)?;
                    pages.extend(head.directory);
                }
                Err(reason) => {
                    wrong.push(format!("{}: {reason}", self.objects.url_of(&pack.name())))
                }
            }
        }
        pages.sort_unstable();
        pages.dedup();
        let runs = runs_of_objects(&catalog, &pages);
        self.prove_runs(runs, identity, &mut wrong)?;
        Ok(wrong)
    }

    /// The same as [`missing`] for a reader, who may have no right to list objects.
    fn absent(&self, extents: &[Extent], packs: &[Pack]) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        for object in objects_of(extents, packs) {
            let (name, bytes) = (object.name(), object.bytes());
            let found = match self.objects.head(&name) {
                Ok(found) => Some(found),
                Err(Fault::Missing) => None,
                Err(fault) => return Err(self.failed(fault, &name)),
            };
            let found = difference(found.as_ref(), bytes, None);
            wrong.extend(found.map(|found| format!("{}: {found}", self.objects.url_of(&name))));
        }
        Ok(wrong)
    }

    /// The head of a pack, or what is wrong with it.
    fn pack_head(&self, pack: &Pack) -> Result<std::result::Result<Head, String>> {
        self.check_head(pack)?;
        let bytes = self.read_run(&pack.name(), 0..pack.head_bytes as u64)?;
        Ok(bytes.and_then(|bytes| Head::decode(&bytes)))
    }

    /// Adds what is wrong with the pages of some runs, which are read side by side.
    fn prove_runs(
        &self,
        runs: Vec<Run>,
        identity: IndexIdentity,
        wrong: &mut Vec<String>,
    ) -> Result<()> {
        self.objects.count_round();
        let (link, limit) = (self.objects.link(), self.objects.timeout());
        let proved = self.objects.wait(async move {
            let prove_one = |run: Run| {
                let link = Arc::clone(&link);
                async move {
                    let wanted = run.wanted();
                    let got = link.get(&wanted, Deadline::after(limit), |_| Ok(()));
                    let reason = match got.await {
                        Ok(got) => prove(&run, identity, &got.bytes).err(),
                        Err(Fault::Missing) => Some("the object is not there".to_owned()),
                        Err(fault) => return Err(fault),
                    };
                    Ok(reason.map(|reason| (run.object, reason)))
                }
            };
            let proved = stream::iter(runs).map(prove_one).buffered(RUNS_AT_ONCE);
            proved.try_collect::<Vec<_>>().await
        });
        let proved = proved.map_err(|fault| self.failed(fault, ""))?;
        let found = proved.into_iter().flatten();
        wrong.extend(found.map(|(of, reason)| format!("{}: {reason}", self.objects.url_of(&of))));
        Ok(())
    }

    /// A range of an object, or why the store does not give it.
    fn read_run(
        &self,
        object: &str,
        range: Range<u64>,
    ) -> Result<std::result::Result<Vec<u8>, String>> {
        let got = self.objects.get(Wanted {
            name: object.to_owned(),
            most: range.end - range.start,
            range: Some(range),
            known: None,
        });
        match got {
            Ok(got) => Ok(Ok(got.bytes.to_vec())),
            Err(Fault::Missing) => Ok(Err("the object is not there".to_owned())),
            Err(fault) => Err(self.failed(fault, object)),
        }
    }
}

/// Fails with the first page that is not what was written.
fn prove(run: &Run, identity: IndexIdentity, bytes: &[u8]) -> std::result::Result<(), String> {
    for ((file, page), bytes) in run.pages.iter().zip(bytes.as_chunks().0) {
        let proved = prove_page(bytes, identity, *file, *page);
        proved.map_err(|error| match error {
            Error::Damaged { what, reason } => format!("damaged {what}: {reason}"),
            other => other.to_string(),
        })?;
    }
    Ok(())
}

/// The pages of a pack behind its head.
fn runs_of_pack(pack: &Pack, head: &Head) -> Vec<Run> {
    let numbered: Vec<(usize, &(u32, u32))> = head.directory.iter().enumerate().collect();
    let runs = numbered.chunks(READ_PAGES).map(|pages| {
        let at = |page: usize| pack.head_bytes as u64 + (page * PAGE_SIZE) as u64;
        let first = pages.first().map_or(0, |(number, _)| *number);
        let pages = pages.iter();
        let pages: Vec<(FileId, u32)> = pages
            .map(|(_, (zone, page))| (FileId::Zone(*zone), *page))
            .collect();
        Run {
            object: pack.name(),
            bytes: at(first)..at(first + pages.len()),
            pages,
        }
    });
    runs.collect()
}

/// Returns the places of pages in the objects of their zones. Pages that are in none are of an
/// earlier publication.
fn runs_of_objects(catalog: &Catalog, pages: &[(u32, u32)]) -> Vec<Run> {
    let unpacked = catalog.without_packs(|_| false);
    let mut runs: Vec<Run> = Vec::new();
    for (zone, page) in pages {
        let file = FileId::Zone(*zone);
        let Some(Found::In(extent)) = unpacked.find(file, *page) else {
            continue;
        };
        let at = extent.object.offset(extent.place(*page));
        let (object, end) = (extent.object.name(), at + PAGE_SIZE as u64);
        match runs.last_mut() {
            Some(last)
                if last.object == object
                    && last.bytes.end == at
                    && last.pages.len() < READ_PAGES =>
            {
                last.bytes.end = end;
                last.pages.push((file, *page));
            }
            _ => runs.push(Run {
                object,
                bytes: at..end,
                pages: vec![(file, *page)],
            }),
        }
    }
    runs
}
