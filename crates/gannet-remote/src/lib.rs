//! Gannet indexes on object storage.
//!
//! [`publish`] copies a state of an index to a URL, and later calls copy only what is new. [`open`]
//! reads it there: queries run in rounds, and each round becomes concurrent requests for ranges of
//! objects. Objects are written once; only the object `superblock` is replaced, by
//! compare-and-swap. So readers see one published state or the next.
//!
//! ```
//! use gannet::{Document, Index, Operator};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let index = Index::options().memory(64 << 20).open(folder.path().join("books.gnt"))?;
//! index.write(vec![Document::parse(br#"{"id": "1", "body": "Call me Ishmael."}"#)?])?;
//!
//! let url = format!("file://{}", folder.path().join("published").display());
//! gannet_remote::publish(&index, &url, &Default::default(), &mut |_, _| ())?;
//!
//! let (remote, _) = gannet_remote::open(&url, Default::default())?;
//! let snapshot = remote.snapshot();
//! let query = snapshot.parse("body:ishmael", Operator::Or)?;
//! assert_eq!(snapshot.search(&query).top(10).run()?.hits[0].id, "1");
//! # Ok::<(), gannet::Error>(())
//! ```
//!
//! From bottom to top: `folder` is a local folder that nothing leads out of; `place` understands
//! URLs; `fault` says what became of a request, `link`
//! makes one that reads, and `objects` the others; `publication` has the bytes of what is
//! published; `catalog` knows where each page is; `plan` joins pages into requests; `device` reads,
//! `newest` follows publications, and `inspect` looks whether a store has what they
//! name; `upload` and `publisher` write; `publish` puts a publication
//! together, and `garbage` removes what none needs any more. `object_folder` is for programs that
//! publish several indexes.

mod aside;
mod catalog;
mod coding;
mod device;
mod extent;
mod fault;
mod folder;
mod garbage;
mod inspect;
mod link;
mod newest;
mod object_folder;
mod objects;
mod place;
mod plan;
mod publication;
mod publish;
mod publisher;
#[cfg(test)]
mod tests;
mod upload;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gannet::{Error, Index, Options, Result};

use device::PACKS_ONE_OF;
pub use device::RemoteDevice;
pub use object_folder::{NamedObject, ObjectFolder};
pub use publish::{PublishOptions, PublishReport, publish};

use objects::Objects;
use place::Place;

/// The options for reading a published index.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// The options for opening the index, always for reading.
    pub index: Options,
    /// The time limit of one batch of requests, all its attempts together.
    pub timeout: Duration,
    /// The greatest age of the newest known publication: [`Index::refresh`] asks the store only
    /// when it is older.
    pub refresh: Duration,
    /// The cost of a request.
    pub link: LinkProfile,
    /// Bytes that are read for nothing rather than making another request; `None`: what the link
    /// justifies, and none beside a cache on flash, which would not get them.
    pub gap: Option<u64>,
}

impl Default for RemoteOptions {
    fn default() -> RemoteOptions {
        RemoteOptions {
            index: Options::default(),
            timeout: Duration::from_secs(30),
            refresh: Duration::from_secs(10),
            link: LinkProfile::default(),
            gap: None,
        }
    }
}

/// The latency and the bandwidth of a store, which say what is read for one request less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkProfile {
    /// From a request to the first byte of its body.
    pub latency: Duration,
    /// Bytes a second.
    pub bandwidth: u64,
}

impl Default for LinkProfile {
    /// Object storage from a machine in the same region: 20 ms, 100 MB/s.
    fn default() -> LinkProfile {
        LinkProfile {
            latency: Duration::from_millis(20),
            bandwidth: 100_000_000,
        }
    }
}

impl LinkProfile {
    /// The widest gap that is read to save a request: requests of a batch run side by side, so a
    /// gap costs its bytes and saves only the price of a request.
    const GAP_MOST: u64 = 64 << 10;

    /// Bytes that are read for nothing rather than making another request: what the link carries in
    /// the latency of one, and 64 KiB at most.
    pub fn gap_bytes(&self) -> u64 {
        let carried = self.latency.as_secs_f64() * self.bandwidth as f64;
        (carried as u64).min(LinkProfile::GAP_MOST)
    }
}

/// Opens the index that is published at `url`, for reading. The device tells what is asked of the
/// store.
///
/// # Errors
///
/// [`Error::Invalid`] if the URL is wrong;
/// [`Error::Format`] if nothing is published there;
/// [`Error::Device`] if the store cannot be reached in time, or rejects a request.
pub fn open(url: &str, options: RemoteOptions) -> Result<(Index, Arc<RemoteDevice>)> {
    let place = Place::of(url, options.timeout, false)?;
    open_on(Objects::new(place, options.timeout)?, options)
}

fn open_on(objects: Objects, options: RemoteOptions) -> Result<(Index, Arc<RemoteDevice>)> {
    let RemoteOptions {
        index,
        refresh,
        link,
        gap,
        ..
    } = options;
    let justified = if index.has_cache() {
        0
    } else {
        link.gap_bytes()
    };
    let gap = gap.unwrap_or(justified);
    let memory = index.memory_bytes();
    let device = RemoteDevice::open(objects, refresh, gap, memory, memory / PACKS_ONE_OF)?;
    if device.publication().is_none() {
        return Err(Error::Format {
            path: device.url().into(),
            reason:
                "nothing is published here: expected an index that `gannet publish` has put here"
                    .to_owned(),
        });
    }
    let device = Arc::new(device);
    let name = Path::new(device.url()).to_owned();
    let opened = index.read_only().open_on(Arc::clone(&device) as _, name)?;
    Ok((opened, device))
}
