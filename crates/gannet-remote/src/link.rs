//! One request: an object or a range of it, read until it is what was asked for, and counted.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use gannet::diagnostics::RequestCounts;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};

use crate::fault::{Answer, Deadline, Fault};

/// The counts of requests to the store so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    gets: AtomicU64,
    got_bytes: AtomicU64,
    puts: AtomicU64,
    put_bytes: AtomicU64,
    others: AtomicU64,
    retries: AtomicU64,
    rounds: AtomicU64,
}

impl Counts {
    /// Counts a batch that waits for requests.
    pub(crate) fn round(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts requests that list or remove.
    pub(crate) fn other(&self, requests: usize) {
        self.others.fetch_add(requests as u64, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> RequestCounts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        RequestCounts {
            rounds: of(&self.rounds),
            gets: of(&self.gets),
            got_bytes: of(&self.got_bytes),
            puts: of(&self.puts),
            put_bytes: of(&self.put_bytes),
            others: of(&self.others),
            retries: of(&self.retries),
        }
    }
}

/// The part of an object to read.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    /// Nothing: all of it, which has so many bytes at most.
    pub(crate) range: Option<Range<u64>>,
    pub(crate) most: u64,
    /// The version that is known.
    pub(crate) known: Option<String>,
}

/// An object, or a range of it.
pub(crate) struct Got {
    pub(crate) bytes: Bytes,
    pub(crate) version: Option<String>,
}

/// The state that requests share.
pub(crate) struct Link {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) uploads: Arc<dyn ObjectStore>,
    pub(crate) prefix: Path,
    pub(crate) counts: Counts,
}

impl Link {
    pub(crate) fn path(&self, name: &str) -> Path {
        // The prefix is encoded as it is to be: only the parts of the name are added.
        let parts = name.split('/');
        parts.fold(self.prefix.clone(), |path, part| path.join(part))
    }

    /// The name below the prefix.
    pub(crate) fn name(&self, path: &Path) -> String {
        let text = path.as_ref();
        let below = text.strip_prefix(self.prefix.as_ref()).unwrap_or(text);
        below.trim_start_matches('/').to_owned()
    }

    pub(crate) fn count_put(&self, bytes: usize) {
        self.counts.puts.fetch_add(1, Ordering::Relaxed);
        self.counts
            .put_bytes
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_retry(&self) {
        self.counts.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads an object, or a range of it, until `check` finds nothing wrong with it.
    pub(crate) async fn get(
        &self,
        wanted: &Wanted,
        deadline: Deadline,
        check: impl Fn(&[u8]) -> std::result::Result<(), String>,
    ) -> Answer<Got> {
        let noted = || self.count_retry();
        let once = || async {
            self.counts.gets.fetch_add(1, Ordering::Relaxed);
            let got = self.get_once(wanted, deadline).await?;
            check(&got.bytes).map_err(Fault::Failed)?;
            Ok(got)
        };
        deadline.attempts(noted, once).await
    }

    async fn get_once(&self, wanted: &Wanted, deadline: Deadline) -> Answer<Got> {
        let options = GetOptions {
            range: wanted.range.clone().map(GetRange::Bounded),
            if_none_match: wanted.known.clone(),
            ..GetOptions::default()
        };
        let path = self.path(&wanted.name);
        let result = deadline.next(self.store.get_opts(&path, options)).await??;
        let version = result.meta.e_tag.clone();
        let expected = wanted.range.as_ref().map(|range| range.end - range.start);
        let room = expected.unwrap_or(result.meta.size);
        if room > wanted.most {
            return Err(Fault::Rejected(format!(
                "expected an object of at most {} bytes, found {room}: it is not of an index",
                wanted.most
            )));
        }
        let mut bytes = Vec::with_capacity(room as usize);
        let mut body = result.into_stream();
        while let Some(chunk) = deadline.next(body.next()).await? {
            let chunk = chunk?;
            self.counts
                .got_bytes
                .fetch_add(chunk.len() as u64, Ordering::Relaxed);
            if (bytes.len() + chunk.len()) as u64 > room {
                return Err(Fault::Failed(format!("expected {room} bytes, got more")));
            }
            bytes.extend_from_slice(&chunk);
        }
        if bytes.len() as u64 == room {
            Ok(Got {
                bytes: Bytes::from(bytes),
                version,
            })
        } else {
            Err(Fault::Failed(format!(
                "expected {room} bytes, got {}",
                bytes.len()
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;

    #[test]
    fn names_below_any_prefix_are_found_again() {
        for prefix in [
            "",
            "wiki",
            "~u/wiki",
            "Zo\u{eb}",
            "a[1]{2}#*",
            "100%",
            "a b/c",
        ] {
            let store = Arc::new(InMemory::new());
            let link = Link {
                store: Arc::clone(&store) as _,
                uploads: store,
                prefix: Path::parse(prefix).unwrap(),
                counts: Counts::default(),
            };
            let path = link.path("zone-00000001/2-3");
            assert!(path.prefix_matches(&link.prefix), "{prefix}: {path}");
            assert_eq!(link.name(&path), "zone-00000001/2-3");
        }
    }
}
