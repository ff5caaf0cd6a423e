//! A store in memory that counts requests and fails on demand.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// The faults that requests meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfortune {
    /// The answer is 403.
    Denied,
    /// The answer is 500 or 503.
    Failing,
    /// No answer comes.
    Stall,
    /// The body ends early.
    Short,
    /// A byte of the body is another.
    Wrong,
    /// A write is answered as done and is not there.
    Lost,
    /// Half of what is written is there.
    Halved,
    /// Nothing is done any more: the process that asks is dead.
    Dead,
}

/// The store.
pub struct FaultyStore {
    store: InMemory,
    /// From which request on, how many of them, and what happens.
    order: Mutex<Option<(u64, u64, Misfortune)>>,
    requests: AtomicU64,
    gets: AtomicU64,
    asked: Mutex<BTreeSet<AskedPage>>,
}

/// A page that was asked for: the name of its object, and its place there.
pub type AskedPage = (String, u64);

impl FaultyStore {
    pub fn new() -> Arc<FaultyStore> {
        Arc::new(FaultyStore {
            store: InMemory::new(),
            order: Mutex::default(),
            requests: AtomicU64::new(0),
            gets: AtomicU64::new(0),
            asked: Mutex::default(),
        })
    }

    /// Lets `count` requests meet a misfortune, after `first` more.
    pub fn harm(&self, first: u64, count: u64, misfortune: Misfortune) {
        let from = self.requests() + first;
        *self.order.lock().unwrap() = Some((from, from.saturating_add(count), misfortune));
    }

    pub fn heal(&self) {
        *self.order.lock().unwrap() = None;
    }

    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    pub fn gets(&self) -> u64 {
        self.gets.load(Ordering::SeqCst)
    }

    /// Returns the pages that were asked for since the last call, without those of openings.
    pub fn take_asked(&self) -> BTreeSet<AskedPage> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    fn note_asked(&self, path: &Path, result: &GetResult) {
        let (name, range) = (path.to_string(), result.range.clone());
        if name.contains("zone-") || name.contains("packs/") && range.start > 0 {
            let pages = range.step_by(4_096).map(|at| (name.clone(), at));
            self.asked.lock().unwrap().extend(pages);
        }
    }

    /// The store without misfortunes.
    pub fn plain(&self) -> &InMemory {
        &self.store
    }

    /// Counts a request, and says what happens to its body.
    async fn ask(&self, path: &Path) -> Result<Option<Misfortune>> {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let order = *self.order.lock().unwrap();
        let met = order.filter(|(from, to, _)| (*from..*to).contains(&number));
        let store = "test";
        match met.map(|(_, _, misfortune)| misfortune) {
            Some(Misfortune::Denied) => Err(object_store::Error::PermissionDenied {
                path: path.to_string(),
                source: "403 Forbidden".into(),
            }),
            Some(Misfortune::Failing) => Err(object_store::Error::Generic {
                store,
                source: "status code: 503 Slow Down".into(),
            }),
            Some(Misfortune::Dead) => Err(object_store::Error::Generic {
                store,
                source: "status code: 400 the process is dead".into(),
            }),
            Some(Misfortune::Stall) => {
                tokio::time::sleep(Duration::from_secs(3_600)).await;
                Ok(None)
            }
            met => Ok(met),
        }
    }
}

fn harmed(body: Bytes, met: Option<Misfortune>) -> Bytes {
    let mut bytes = body.to_vec();
    match met {
        Some(Misfortune::Short) => bytes.truncate(bytes.len() / 2),
        Some(Misfortune::Wrong) => {
            // Every page of the body, whichever is wanted.
            let middles = (0..bytes.len()).skip(100).step_by(4_096);
            middles.for_each(|at| bytes[at] ^= 1);
        }
        _ => {}
    }
    bytes.into()
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let payload = match self.ask(path).await? {
            Some(Misfortune::Lost) => {
                return Ok(PutResult {
                    e_tag: None,
                    version: None,
                    extensions: Default::default(),
                });
            }
            Some(Misfortune::Halved) => {
                let bytes = Bytes::from(payload);
                PutPayload::from_bytes(bytes.slice(..bytes.len() / 2))
            }
            _ => payload,
        };
        self.store.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.ask(path).await?;
        self.store.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.gets.fetch_add(1, Ordering::SeqCst);
        let met = self.ask(path).await?;
        let result = self.store.get_opts(path, options).await?;
        self.note_asked(path, &result);
        let (meta, range, attributes) = (
            result.meta.clone(),
            result.range.clone(),
            result.attributes.clone(),
        );
        let extensions = result.extensions.clone();
        let body = harmed(result.bytes().await?, met);
        Ok(GetResult {
            payload: GetResultPayload::Stream(
                futures_util::stream::once(async move { Ok(body) }).boxed(),
            ),
            meta,
            range,
            attributes,
            extensions,
        })
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if self.is_dead() {
            futures_util::stream::iter([Err(dead())]).boxed()
        } else {
            self.store.delete_stream(paths)
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if self.is_dead() {
            futures_util::stream::iter([Err(dead())]).boxed()
        } else {
            self.store.list(prefix)
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

fn dead() -> object_store::Error {
    object_store::Error::Generic {
        store: "test",
        source: "status code: 400 the process is dead".into(),
    }
}

impl FaultyStore {
    /// Returns true if the request that was just counted met the death of its process.
    fn is_dead(&self) -> bool {
        let number = self.requests() - 1;
        let order = *self.order.lock().unwrap();
        order.is_some_and(|(from, to, misfortune)| {
            misfortune == Misfortune::Dead && (from..to).contains(&number)
        })
    }
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("FaultyStore")
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("FaultyStore")
    }
}
