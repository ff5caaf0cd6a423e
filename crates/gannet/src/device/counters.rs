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
