//! An index in a folder, and the store that it is published in.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use gannet::{Document, Index, Operator, Result};
use object_store::ObjectStore;
use object_store::path::Path;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::faulty::FaultyStore;
use crate::device::RemoteDevice;
use crate::objects::Objects;
use crate::place::Place;
use crate::publish::publish_on;
use crate::{PublishOptions, PublishReport, RemoteOptions};

pub const URL: &str = "s3://bucket/wiki";

/// The time for a batch: short, so that what never comes is not waited for.
pub const TIMEOUT: Duration = Duration::from_secs(3);

pub struct World {
    folder: TempDir,
    pub index: Index,
    pub store: Arc<FaultyStore>,
    pub keep: Duration,
}

/// The objects of a store.
pub fn objects(store: &Arc<FaultyStore>, timeout: Duration) -> Objects {
    let store: Arc<dyn ObjectStore> = Arc::clone(store) as _;
    let place = Place {
        uploads: Arc::clone(&store),
        store,
        prefix: Path::from("wiki"),
        url: URL.to_owned(),
        folder: None,
        scheme: "s3",
    };
    Objects::new(place, timeout).unwrap()
}

impl World {
    /// An index with `documents`, not published.
    pub fn new(documents: u32) -> World {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::options().memory(64 << 20);
        let index = index.open(folder.path().join("index")).unwrap();
        let world = World {
            folder,
            index,
            store: FaultyStore::new(),
            keep: Duration::from_secs(3_600),
        };
        world.write(0..documents);
        world
    }

    pub fn write(&self, ids: std::ops::Range<u32>) {
        let documents = ids.map(document).collect::<Vec<_>>();
        for batch in documents.chunks(500) {
            self.index.write(batch.to_vec()).unwrap();
        }
    }

    /// Documents of 2 KB that do not compress well, so that they fill several zones.
    pub fn write_long(&self, ids: std::ops::Range<u32>) {
        let mut state = 1_u64;
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            format!("{:012x} ", state >> 16)
        };
        let mut text = || (0..150).map(|_| word()).collect::<String>();
        let documents = ids.map(|id| {
            let line = format!(r#"{{"id":"{id}","body":"own{id} {}"}}"#, text());
            Document::parse(line.as_bytes()).unwrap()
        });
        let documents = documents.collect::<Vec<_>>();
        for batch in documents.chunks(500) {
            self.index.write(batch.to_vec()).unwrap();
        }
    }

    pub fn delete(&self, ids: std::ops::Range<u32>) {
        let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.index.delete(&ids).unwrap();
    }

    pub fn publish(&self) -> Result<PublishReport> {
        self.publish_to(&self.store)
    }

    pub fn publish_to(&self, store: &Arc<FaultyStore>) -> Result<PublishReport> {
        publish_from(&self.index, store, self.keep)
    }

    /// A second index that goes on from this one, in a folder of its own.
    pub fn copy(&self) -> Index {
        self.index.checkpoint().unwrap();
        let to = self.folder.path().join("copy");
        std::fs::create_dir(&to).unwrap();
        for entry in std::fs::read_dir(self.folder.path().join("index")).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
        Index::options().memory(64 << 20).open(to).unwrap()
    }

    pub fn open(&self) -> Result<(Index, Arc<RemoteDevice>)> {
        open(&self.store, Duration::ZERO)
    }

    /// The names of all objects.
    pub fn names(&self) -> BTreeSet<String> {
        let listed = self.store.plain().list(None).try_collect::<Vec<_>>();
        let names = runtime().block_on(listed).unwrap().into_iter();
        let names = names.map(|object| object.location.to_string());
        names
            .map(|name| name.trim_start_matches("wiki/").to_owned())
            .collect()
    }
}

/// Returns the runtime for the requests that a test makes itself.
pub fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.build().unwrap()
}

pub fn publish_from(
    index: &Index,
    store: &Arc<FaultyStore>,
    keep: Duration,
) -> Result<PublishReport> {
    let options = PublishOptions {
        keep,
        timeout: TIMEOUT,
        ..PublishOptions::default()
    };
    publish_on(index, objects(store, TIMEOUT), &options, &mut |_, _| ())
}

pub fn open(store: &Arc<FaultyStore>, refresh: Duration) -> Result<(Index, Arc<RemoteDevice>)> {
    let options = RemoteOptions {
        index: Index::options().memory(32 << 20),
        timeout: TIMEOUT,
        refresh,
        ..RemoteOptions::default()
    };
    crate::open_on(objects(store, TIMEOUT), options)
}

/// A document with a word of its own, one that every seventh has, and one that all have.
pub fn document(id: u32) -> Document {
    let text = format!(
        r#"{{"id":"{id}","body":"common own{id} seven{} and some more text so that pages fill up {}"}}"#,
        id % 7,
        "lorem ipsum dolor ".repeat((id % 5) as usize)
    );
    Document::parse(text.as_bytes()).unwrap()
}

/// The IDs that a query finds, best first.
pub fn found(index: &Index, query: &str) -> Result<Vec<String>> {
    let snapshot = index.snapshot();
    let query = snapshot.parse(query, Operator::Or)?;
    let results = snapshot.search(&query).top(20).highlight("body").run()?;
    let hits = results.hits.into_iter().map(|hit| match hit.error {
        Some(error) => Err(error),
        None => Ok(hit.id),
    });
    hits.collect()
}

/// The same answers from both.
pub fn agree(local: &Index, remote: &Index) {
    for query in [
        "common",
        "own17",
        "own17 OR own333",
        "seven3 AND own3",
        "\"some more text\"",
    ] {
        assert_eq!(
            found(remote, query).unwrap(),
            found(local, query).unwrap(),
            "{query}"
        );
    }
    assert_eq!(remote.snapshot().documents(), local.snapshot().documents());
}
