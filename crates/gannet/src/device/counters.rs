//! Exact counts of what a device did.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of operations and bytes since the device was opened.
#[derive(Debug, Default)]
pub struct Counters {
    reads: AtomicU64,
    read_bytes: AtomicU64,
    read_batches: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
    syncs: AtomicU64,
}

/// The values of [`Counters`] at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountersSnapshot {
    /// Read operations: one for each transfer.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Batches of reads.
    pub read_batches: u64,
    /// Write operations: one for each transfer.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Files synced, directories included.
    pub syncs: u64,
}

/// The requests of a device to a store behind a network, each attempt counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Batches that had to wait for at least one request: what was asked side by side is one.
    pub rounds: u64,
    /// Requests that read an object or a range of it.
    pub gets: u64,
    /// Bytes of their bodies.
    pub got_bytes: u64,
    /// Requests that write, the parts of an upload included.
    pub puts: u64,
    /// Bytes of their bodies.
    pub put_bytes: u64,
    /// Requests that list or remove objects.
    pub others: u64,
    /// Requests that were made again; they are counted above, too.
    pub retries: u64,
}

impl RequestCounts {
    /// Returns the requests since `before`.
    #[must_use]
    pub fn since(&self, before: &RequestCounts) -> RequestCounts {
        RequestCounts {
            rounds: self.rounds - before.rounds,
            gets: self.gets - before.gets,
            got_bytes: self.got_bytes - before.got_bytes,
            puts: self.puts - before.puts,
            put_bytes: self.put_bytes - before.put_bytes,
            others: self.others - before.others,
            retries: self.retries - before.retries,
        }
    }

    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.gets + self.puts + self.others
    }
}

impl Counters {
    /// Counts one batch of `operations` reads of `bytes` bytes in all.
    pub fn count_reads(&self, operations: usize, bytes: usize) {
        self.reads.fetch_add(operations as u64, Ordering::Relaxed);
        self.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.read_batches.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts `operations` writes of `bytes` bytes in all.
    pub fn count_writes(&self, operations: usize, bytes: usize) {
        self.writes.fetch_add(operations as u64, Ordering::Relaxed);
        self.written_bytes
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts the syncs of `files` files.
    pub fn count_syncs(&self, files: usize) {
        self.syncs.fetch_add(files as u64, Ordering::Relaxed);
    }

    /// The values now.
    pub fn snapshot(&self) -> CountersSnapshot {
        CountersSnapshot {
            reads: self.reads.load(Ordering::Relaxed),
            read_bytes: self.read_bytes.load(Ordering::Relaxed),
            read_batches: self.read_batches.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
        }
    }
}
