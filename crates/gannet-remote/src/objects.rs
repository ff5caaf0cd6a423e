//! Objects below one URL: read, written and removed by threads that wait, counted, tried again.
//!
//! The store is asynchronous, and its requests run on two threads of their own. Whoever asks waits
//! on a channel, so that an index may also be searched from within another runtime.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use gannet::diagnostics::RequestCounts;
use gannet::{Error, Result};
use object_store::{
    MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    PutResult, UpdateVersion,
};
use tokio::runtime::{Builder, Runtime};

use crate::fault::{Answer, Deadline, Fault};
use crate::link::{Counts, Got, Link, Wanted};
use crate::place::Place;

/// Threads for the requests of one index.
const THREADS: usize = 2;

/// Threads that requests may start beside these: for names of hosts, or files.
const THREADS_BESIDE: usize = 1;

/// An object that a listing has found.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Its name below the prefix.
    pub(crate) name: String,
    /// The time at which it was written, in seconds of the epoch.
    pub(crate) written: u64,
    pub(crate) bytes: u64,
    /// The version, where the store tells one.
    pub(crate) version: Option<String>,
}

/// The objects below a URL.
pub(crate) struct Objects {
    link: Arc<Link>,
    /// Nothing only while it is dropped.
    runtime: Option<Runtime>,
    url: String,
    folder: Option<PathBuf>,
    timeout: Duration,
    scheme: &'static str,
    /// The versions of objects that were written, as the store has answered.
    written: Mutex<BTreeMap<String, String>>,
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Waiting for the threads is forbidden where the last owner is a task of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Fails where there are not as many threads as requests take: the runtime panics then.
fn try_threads() -> io::Result<()> {
    let mut started = Vec::new();
    for _ in 0..THREADS + THREADS_BESIDE {
        let (end, ended) = mpsc::channel::<()>();
        let thread = thread::Builder::new().spawn(move || ended.recv().is_err())?;
        started.push((end, thread));
    }
    for (end, thread) in started {
        drop(end);
        // It has nothing left that could fail.
        let _ = thread.join();
    }
    Ok(())
}

impl Objects {
    pub(crate) fn new(place: Place, timeout: Duration) -> Result<Objects> {
        let start = || {
            try_threads()?;
            Builder::new_multi_thread()
                .worker_threads(THREADS)
                .thread_name("gannet-remote")
                .enable_all()
                .build()
        };
        let runtime = start().map_err(|error| Error::Device {
            operation: "start",
            file: format!("the threads for {}", place.url),
            reason: format!("{error}: allow this process more threads"),
            full: false,
        })?;
        Ok(Objects {
            link: Arc::new(Link {
                store: place.store,
                uploads: place.uploads,
                prefix: place.prefix,
                counts: Counts::default(),
            }),
            runtime: Some(runtime),
            url: place.url,
            folder: place.folder,
            timeout,
            scheme: place.scheme,
            written: Mutex::default(),
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// The URL of one object.
    pub(crate) fn url_of(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::after(self.timeout)
    }

    pub(crate) fn link(&self) -> Arc<Link> {
        Arc::clone(&self.link)
    }

    pub(crate) fn counts(&self) -> RequestCounts {
        self.link.counts.snapshot()
    }

    /// Counts a batch that waits for requests.
    pub(crate) fn count_round(&self) {
        self.link.counts.round();
    }

    /// Begins what gives its outcome through a channel or not at all.
    pub(crate) fn begin(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            drop(runtime.spawn(task));
        }
    }

    /// Waits for one task.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        task: impl Future<Output = Answer<T>> + Send + 'static,
    ) -> Answer<T> {
        let (sender, receiver) = mpsc::channel();
        self.begin(async move {
            let _ = sender.send(task.await);
        });
        let lost = |_| Fault::Failed("the task that was to do it ended early".to_owned());
        receiver.recv().map_err(lost)?
    }

    /// Waits for one request that changes something, which the store itself makes again.
    fn change<T: Send + 'static>(
        &self,
        request: impl Future<Output = Answer<T>> + Send + 'static,
    ) -> Answer<T> {
        let limit = self.timeout;
        self.wait(async move {
            let answer = tokio::time::timeout(limit, request).await;
            let late = |_| {
                Fault::Failed(format!(
                    "no answer within {limit:?}: check the network and the endpoint, or give the command more time \
                     with --remote-timeout"
                ))
            };
            answer.map_err(late)?
        })
    }

    /// Reads an object, or a range of it.
    pub(crate) fn get(&self, wanted: Wanted) -> Answer<Got> {
        self.count_round();
        let (link, deadline) = (self.link(), self.deadline());
        self.wait(async move { link.get(&wanted, deadline, |_| Ok(())).await })
    }

    /// Writes an object whose name nobody else uses.
    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let (link, bytes) = (self.link(), Bytes::from(bytes));
        let path = self.link.path(name);
        let put = self.change(async move {
            link.count_put(bytes.len());
            Ok(link
                .uploads
                .put(&path, PutPayload::from_bytes(bytes))
                .await?)
        });
        self.note_written(name, put)
    }

    /// Notes the version of an object that was written, to compare it with what is there.
    fn note_written(&self, name: &str, put: Answer<PutResult>) -> Result<()> {
        let put = put.map_err(|fault| fault.error("write", self.url_of(name)))?;
        if let Some(version) = put.e_tag {
            self.versions().insert(name.to_owned(), version);
        }
        Ok(())
    }

    /// The version of an object that was written, if the store has told one.
    pub(crate) fn written(&self, name: &str) -> Option<String> {
        self.versions().get(name).cloned()
    }

    fn versions(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.written.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins an object that is written in parts.
    pub(crate) fn begin_parts(&self, name: &str) -> Result<Box<dyn MultipartUpload>> {
        let (link, path) = (self.link(), self.link.path(name));
        let begun = self.change(async move {
            link.count_put(0);
            Ok(link.uploads.put_multipart(&path).await?)
        });
        begun.map_err(|fault| fault.error("write", self.url_of(name)))
    }

    /// Writes one part.
    pub(crate) fn put_part(
        &self,
        name: &str,
        upload: &mut Box<dyn MultipartUpload>,
        bytes: Vec<u8>,
    ) -> Result<()> {
        self.link.count_put(bytes.len());
        let part = upload.put_part(PutPayload::from(bytes));
        let put = self.change(async move { Ok(part.await?) });
        put.map_err(|fault| fault.error("write", self.url_of(name)))
    }

    /// Makes an object of its parts.
    pub(crate) fn complete_parts(
        &self,
        name: &str,
        mut upload: Box<dyn MultipartUpload>,
    ) -> Result<()> {
        self.link.count_put(0);
        let done = self.change(async move { Ok(upload.complete().await?) });
        self.note_written(name, done)
    }

    /// Replaces an object if it is still the version `known`, or makes it if there was none.
    pub(crate) fn replace(&self, name: &str, known: Option<String>, bytes: Vec<u8>) -> Answer<()> {
        match &self.folder {
            Some(folder) => self.replace_locked(folder, name, known, bytes),
            None => self.put_if(name, known, bytes),
        }
    }

    /// The same in a local folder.
    fn replace_locked(
        &self,
        folder: &Path,
        name: &str,
        known: Option<String>,
        bytes: Vec<u8>,
    ) -> Answer<()> {
        let failed = |error: std::io::Error| Fault::Failed(error.to_string());
        let _held = crate::folder::lock(folder).map_err(failed)?;
        let found = match self.head(name) {
            Ok(found) => found.version,
            Err(Fault::Missing) => None,
            Err(fault) => return Err(fault),
        };
        if found == known {
            self.put_over(name, bytes)
        } else {
            Err(Fault::Changed)
        }
    }

    /// Asks the store about an object without its bytes.
    pub(crate) fn head(&self, name: &str) -> Answer<Listed> {
        let (link, deadline) = (self.link(), self.deadline());
        let path = self.link.path(name);
        self.wait(async move {
            let noted = || link.count_retry();
            let head = || async {
                link.counts.other(1);
                let found = deadline.next(link.store.head(&path)).await??;
                Ok(listed(&link, found))
            };
            deadline.attempts(noted, head).await
        })
    }

    fn put_if(&self, name: &str, known: Option<String>, bytes: Vec<u8>) -> Answer<()> {
        let (link, path) = (self.link(), self.link.path(name));
        let (bytes, deadline) = (Bytes::from(bytes), self.deadline());
        let is_update = known.is_some();
        let mode = match known {
            Some(version) => PutMode::Update(UpdateVersion {
                e_tag: Some(version),
                version: None,
            }),
            None => PutMode::Create,
        };
        self.wait(async move {
            let noted = || link.count_retry();
            let put = || async {
                link.count_put(bytes.len());
                let options = PutOptions::from(mode.clone());
                let put = link.store.put_opts(&path, bytes.clone().into(), options);
                match deadline.next(put).await? {
                    // 409: another request for it is under way, which may be one of ours.
                    Err(busy @ object_store::Error::AlreadyExists { .. }) if is_update => {
                        Err(Fault::Failed(busy.to_string()))
                    }
                    done => Ok(done.map(drop)?),
                }
            };
            deadline.attempts(noted, put).await
        })
    }

    /// Writes an object, whatever is there.
    pub(crate) fn put_over(&self, name: &str, bytes: Vec<u8>) -> Answer<()> {
        let (link, path) = (self.link(), self.link.path(name));
        self.change(async move {
            link.count_put(bytes.len());
            link.uploads.put(&path, PutPayload::from(bytes)).await?;
            Ok(())
        })
    }

    /// All objects below the URL.
    pub(crate) fn list(&self) -> Result<Vec<Listed>> {
        let (link, deadline) = (self.link(), self.deadline());
        let listed = self.wait(async move {
            let noted = || link.count_retry();
            let list = || async {
                link.counts.other(1);
                let prefix = Some(&link.prefix).filter(|prefix| !prefix.as_ref().is_empty());
                let found = link.store.list(prefix);
                let found = found.map_ok(|object| listed(&link, object));
                Ok(deadline.next(found.try_collect::<Vec<_>>()).await??)
            };
            deadline.attempts(noted, list).await
        });
        listed.map_err(|fault| fault.error("list", self.url.clone()))
    }

    /// Removes objects, and counts those that were there.
    pub(crate) fn remove(&self, names: Vec<String>) -> Result<u64> {
        let (link, count) = (self.link(), names.len());
        let removed = self.change(async move {
            let paths: Vec<_> = names.iter().map(|name| Ok(link.path(name))).collect();
            link.counts.other(count.div_ceil(1000));
            let outcomes = link
                .uploads
                .delete_stream(futures_util::stream::iter(paths).boxed());
            let outcomes: Vec<_> = outcomes.collect().await;
            let mut removed = 0;
            for outcome in outcomes {
                match outcome.map_err(Fault::from) {
                    Ok(_) => removed += 1,
                    // Another publisher was faster.
                    Err(Fault::Missing) => {}
                    Err(fault) => return Err(fault),
                }
            }
            Ok(removed)
        });
        removed.map_err(|fault| fault.error("remove", self.url.clone()))
    }
}

fn listed(link: &Link, object: ObjectMeta) -> Listed {
    Listed {
        name: link.name(&object.location),
        written: object.last_modified.timestamp().max(0) as u64,
        bytes: object.size,
        version: object.e_tag,
    }
}
