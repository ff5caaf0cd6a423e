//! A published index as a device that is read.
//!
//! A batch of reads becomes concurrent requests for ranges of objects. What always holds:
//!
//! 1. The bodies that are under way, the packs at hand and the catalog take no more memory than
//!    [`Device::memory`] says, which the index takes out of its budget.
//! 2. A page is given only if it proves itself; else its request is made again.
//! 3. The superblock is looked at again once the last look is older than the refresh.

use std::sync::{Arc, Mutex, MutexGuard, RwLock, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use gannet::device::{Backend, Counters, Device, FileId, PAGE_SIZE, Transfer};
use gannet::diagnostics::RequestCounts;
use gannet::{Error, IndexIdentity, Result, prove_page};
use tokio::sync::Semaphore;

use crate::catalog::Catalog;
use crate::fault::{Answer, Fault};
use crate::link::Wanted;
use crate::objects::Objects;
use crate::plan::{Joining, Request, plan};

/// The part of the budget for bodies that are under way, and the least and the most for them.
const BODIES_ONE_OF: usize = 16;
const BODIES: (usize, usize) = (1 << 20, 16 << 20);

/// The part of the budget of a reader that packs take at most.
pub(crate) const PACKS_ONE_OF: usize = 8;

/// The part of the budget that the head of a pack may take at a refresh at least: an index that
/// was small may have become large.
const HEADS_ONE_OF: usize = 4;

/// The longest request: 512 KiB.
const REQUEST_PAGES: u32 = 128;

/// Permits are of so many bytes.
const PERMIT: usize = 1 << 10;

/// A published index.
pub struct RemoteDevice {
    pub(crate) objects: Arc<Objects>,
    pub(crate) refresh: Duration,
    /// The widest gap across which requests are joined, in bytes.
    gap: u64,
    catalog: RwLock<Arc<Catalog>>,
    pub(crate) looked: Mutex<Instant>,
    opened: Instant,
    /// The bytes of bodies that may be under way, in permits.
    bodies: Arc<Semaphore>,
    body_bytes: usize,
    /// Bytes that packs may take.
    pub(crate) packs: usize,
    /// Bytes that the catalog may take.
    catalog_bytes: usize,
    /// Bytes that the head of a pack may take while it is read, of the budget of the index.
    pub(crate) heads: usize,
    pub(crate) budget: usize,
    counters: Counters,
}

/// The answer to the request of this number.
type Outcome = (usize, Answer<Body>);

/// A body, and the memory that is set aside for it.
struct Body {
    bytes: Bytes,
    _memory: tokio::sync::OwnedSemaphorePermit,
}

impl RemoteDevice {
    /// Looks at the publication, which may be missing. `memory` is the budget of the index, and
    /// `packs` what packs may take.
    pub(crate) fn open(
        objects: Objects,
        refresh: Duration,
        gap: u64,
        memory: usize,
        packs: usize,
    ) -> Result<RemoteDevice> {
        let body_bytes = (memory / BODIES_ONE_OF).clamp(BODIES.0, BODIES.1);
        let mut device = RemoteDevice {
            objects: Arc::new(objects),
            refresh,
            gap,
            catalog: RwLock::default(),
            looked: Mutex::new(Instant::now()),
            opened: Instant::now(),
            bodies: Arc::new(Semaphore::new(body_bytes / PERMIT)),
            body_bytes,
            packs,
            catalog_bytes: 0,
            heads: memory.saturating_sub(body_bytes),
            budget: memory,
            counters: Counters::default(),
        };
        device.look()?;
        let catalog = device.catalog();
        // As much again as a refresh may bring.
        let packed = catalog.packed_bytes();
        device.packs = device.packs.min(packed + packed / 4 + (64 << 10));
        device.catalog_bytes = 2 * catalog.bytes() + (64 << 10);
        device.heads = device.catalog_bytes.max(memory / HEADS_ONE_OF);
        Ok(device)
    }

    /// The URL.
    pub fn url(&self) -> &str {
        self.objects.url()
    }

    /// The number of the publication that was last seen, and the bytes of its packs at hand.
    pub fn publication(&self) -> Option<(u64, u64)> {
        let catalog = self.catalog();
        let publication = catalog.publication.as_ref()?;
        Some((publication.origin.number, catalog.packed_bytes() as u64))
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(|e| e.into_inner()))
    }

    pub(crate) fn set_catalog(&self, catalog: Catalog) {
        *self.catalog.write().unwrap_or_else(|e| e.into_inner()) = Arc::new(catalog);
    }

    /// Makes the requests of a batch and fills the buffers with what they bring.
    fn fetch(&self, requests: &[Request], batch: &mut [Transfer]) -> Result<()> {
        let identity = self.catalog().identity();
        self.objects.count_round();
        let deadline = self.objects.deadline();
        let (sender, receiver) = mpsc::channel::<Outcome>();
        for (number, request) in requests.iter().enumerate() {
            let (link, bodies) = (self.objects.link(), Arc::clone(&self.bodies));
            let (request, sender) = (request.clone(), sender.clone());
            self.objects.begin(async move {
                let range = request.range();
                let permits = ((range.end - range.start) as usize).div_ceil(PERMIT) as u32;
                let Ok(memory) = bodies.acquire_many_owned(permits).await else {
                    return;
                };
                let wanted = Wanted {
                    name: request.object.name(),
                    most: range.end - range.start,
                    range: Some(range),
                    known: None,
                };
                let check = |bytes: &[u8]| prove(&request, identity, bytes);
                let got = link.get(&wanted, deadline, check).await;
                let body = got.map(|got| Body {
                    bytes: got.bytes,
                    _memory: memory,
                });
                let _ = sender.send((number, body));
            });
        }
        drop(sender);
        self.receive(requests, batch, receiver)
    }

    fn receive(
        &self,
        requests: &[Request],
        batch: &mut [Transfer],
        receiver: mpsc::Receiver<Outcome>,
    ) -> Result<()> {
        let mut failed = None;
        let mut filled = 0;
        for (number, body) in receiver {
            let request = &requests[number];
            match body {
                Ok(body) => {
                    filled += 1;
                    for piece in &request.pieces {
                        let bytes = &body.bytes[request.place(piece)];
                        batch[piece.transfer].buffers[piece.buffer].copy_from_slice(bytes);
                    }
                }
                Err(fault) => failed = failed.or(Some((fault, request))),
            }
        }
        match failed {
            Some((Fault::Missing, request)) => Err(self.gone(request)),
            Some((fault, request)) => Err(self.failed(fault, &request.object.name())),
            None if filled < requests.len() => {
                Err(self.failed(Fault::Failed("a request ended early".to_owned()), ""))
            }
            None => Ok(()),
        }
    }

    /// Why an object is gone that was named: a later publication does not need it any more, or it
    /// was taken away by somebody else.
    fn gone(&self, request: &Request) -> Error {
        let known = self.catalog().publication.as_ref().map(|of| of.origin);
        match self.newest() {
            Err(error) => error,
            Ok(Some((_, newest))) if Some(newest.origin) != known => self.expired(),
            Ok(_) => self.failed(Fault::Missing, &request.object.name()),
        }
    }

    fn expired(&self) -> Error {
        Error::Expired {
            seconds: lock(&self.looked).elapsed().as_secs(),
            held: format!(
                "objects of {} that a later publication has removed",
                self.objects.url()
            ),
            remedy: "refresh the index, or open it again",
        }
    }

    /// The error for an index that was published here, and is no more.
    pub(crate) fn removed(&self) -> Error {
        Error::Expired {
            seconds: self.opened.elapsed().as_secs(),
            held: format!(
                "what was published at {}, which was removed",
                self.objects.url()
            ),
            remedy: "open what took its place, or publish the index again",
        }
    }

    pub(crate) fn failed(&self, fault: Fault, name: &str) -> Error {
        fault.error("read", self.objects.url_of(name))
    }

    /// The error for a page that no object has.
    pub(crate) fn missing(&self, file: FileId, page: u32) -> Error {
        if self.catalog().has_forgotten {
            return self.expired();
        }
        Error::Device {
            operation: "read",
            file: format!("{} page {page}", self.objects.url_of(&file.name())),
            reason: "no object of the publication has this page".to_owned(),
            full: false,
        }
    }

    fn joining(&self) -> Joining {
        let longest = (self.body_bytes / PAGE_SIZE / 2) as u32;
        let most = REQUEST_PAGES.min(longest).max(1);
        let gap = self.gap / PAGE_SIZE as u64;
        Joining {
            gap: (gap as u32).min(most),
            most,
        }
    }
}

/// Fails unless each page that is wanted of a body proves itself.
fn prove(
    request: &Request,
    identity: Option<IndexIdentity>,
    bytes: &[u8],
) -> std::result::Result<(), String> {
    let Some(identity) = identity else {
        return Ok(());
    };
    for piece in &request.pieces {
        let page = bytes
            .get(request.place(piece))
            .and_then(|page| page.first_chunk());
        let page = page.ok_or_else(|| format!("page {} is not in the body", piece.page))?;
        prove_page(page, identity, piece.file, piece.page).map_err(|error| error.to_string())?;
    }
    Ok(())
}

impl Device for RemoteDevice {
    fn backend(&self) -> Backend {
        Backend::Other(self.objects.scheme())
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn memory(&self) -> usize {
        self.body_bytes + self.packs + self.catalog_bytes
    }

    fn create(&self, file: FileId) -> Result<()> {
        Err(self.only_read("create", file))
    }

    fn remove(&self, file: FileId) -> Result<()> {
        Err(self.only_read("remove", file))
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        self.refresh()?;
        Ok(self.catalog().files())
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        let sizes = batch.iter().map(|transfer| transfer.buffers.len());
        let (transfers, pages) = sizes
            .filter(|pages| *pages > 0)
            .fold((0, 0), |sum, pages| (sum.0 + 1, sum.1 + pages));
        if transfers > 0 {
            self.counters.count_reads(transfers, pages * PAGE_SIZE);
        }
        let catalog = self.catalog();
        let missing = |file, page| self.missing(file, page);
        let requests = plan(&catalog, batch, self.joining(), missing)?;
        if requests.is_empty() {
            Ok(())
        } else {
            self.fetch(&requests, batch)
        }
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        let file = batch.first().map_or(FileId::Superblock, |first| first.file);
        Err(self.only_read("write", file))
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        self.counters.count_syncs(files.len());
        Ok(())
    }

    fn sync_directory(&self) -> Result<()> {
        self.counters.count_syncs(1);
        Ok(())
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn check_stored(&self) -> Result<Vec<String>> {
        self.inspect()
    }

    fn requests(&self) -> Option<RequestCounts> {
        Some(self.objects.counts())
    }
}

impl RemoteDevice {
    fn only_read(&self, operation: &'static str, file: FileId) -> Error {
        Error::invalid(format!(
            "{operation} of {} failed: a published index is only read: write to the index that it was published \
             from, and publish that",
            self.objects.url_of(&file.name())
        ))
    }
}

pub(crate) fn lock<T>(locked: &Mutex<T>) -> MutexGuard<'_, T> {
    locked.lock().unwrap_or_else(|e| e.into_inner())
}
