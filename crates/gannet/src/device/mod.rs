//! Batched reads, writes and syncs of whole pages, behind one trait with four backends.
//!
//! A device is a flat set of files: the superblock and numbered zones. All I/O is in whole, aligned
//! pages and in batches; a batch returns when every one of its requests has completed. Buffers are
//! *owned* by a request while it is under way, so none can be freed while the kernel writes to it.
//!
//! Real files: `open` chooses the backend; `directory` is the folder with its `readers` (who have a
//! `lease`, beside a writer, who has the `lock` with a `signature`) and its open `files`, each
//! opened by `regular`; `file_device` makes a device of it and an engine (`uring` or `pread`) that
//! carries out batches of `request`s. `offload` is what may be asked of a device that runs
//! programs; no backend does. `memory_limit` asks the system how much memory the process may
//! have. For tests: `memory`;
//! `bounded`, which can be full; `recording` fails on demand, and `crash` tells from its log what a
//! power loss can leave behind (`crash_state` is the model). `conformance` is the suite that all
//! backends pass. The feature `testing` gives these to other crates, for whose devices [`Device`]
//! is public: an index can be opened on any ([`Options::open_on`](crate::Options::open_on)), and
//! backed up to any ([`Backup::copy_to_device`](crate::Backup::copy_to_device)).

#[cfg(any(test, feature = "testing"))]
mod bounded;
#[cfg(any(test, feature = "testing"))]
mod conformance;
mod counters;
#[cfg(any(test, feature = "testing"))]
mod crash;
#[cfg(any(test, feature = "testing"))]
mod crash_state;
mod directory;
mod failure;
mod file_device;
mod files;
mod foreign;
mod lease;
mod lock;
#[cfg(any(test, feature = "testing"))]
mod memory;
mod memory_limit;
mod offload;
mod open;
mod options;
mod page;
mod pread;
mod readers;
#[cfg(any(test, feature = "testing"))]
mod recording;
#[cfg(test)]
mod recording_tests;
mod regular;
mod request;
mod signature;
#[cfg(target_os = "linux")]
mod uring;

use std::fmt;

pub use crate::base::{PAGE_SIZE, ZoneNumber};

use crate::base::Result;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub use bounded::BoundedDevice;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub use conformance::{conformance, rewriting_conformance, sealed_conformance};
pub use counters::{Counters, CountersSnapshot, RequestCounts};
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub use crash::CrashImage;
pub(crate) use directory::disk_of;
pub(crate) use foreign::foreign_entry;
#[doc(hidden)]
pub use lease::{Lease, LeaseSeen};
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub use memory::MemoryDevice;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub use memory::Page as MemoryPage;
pub use memory_limit::{MemoryLimit, memory_limit};
pub use offload::{Offload, PageSpan, Poll, SessionId, Task};
pub use open::open_directory;
pub(crate) use open::{open_answers, open_tier, open_tier_to_read};
pub use options::{Access, BackendChoice, OpenOptions};
pub use page::{PageBuffer, PagePool};
pub use readers::Readers;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub use recording::{Fault, FaultKind, RecordingDevice};

/// A file of an index, or that of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileId {
    /// The two root slots.
    Superblock,
    /// A zone.
    Zone(ZoneNumber),
    /// The regions of a flash tier, which has a folder of its own.
    Tier,
    /// The answers of a result cache, which have a folder of their own in that of the flash tier.
    Answers,
}

impl FileId {
    /// The file's name in the index folder.
    pub fn name(&self) -> String {
        match self {
            FileId::Superblock => "superblock".to_owned(),
            FileId::Zone(number) => format!("zone-{number:08}"),
            FileId::Tier => "flash-tier".to_owned(),
            FileId::Answers => "answers".to_owned(),
        }
    }

    /// The file of that name, or nothing when no file of an index is called so.
    pub fn from_name(name: &str) -> Option<FileId> {
        let id = match name.strip_prefix("zone-") {
            Some(number) => FileId::Zone(number.parse().ok()?),
            None => FileId::Superblock,
        };
        (id.name() == name).then_some(id)
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// One read or write of consecutive pages of one file: one operation of the device.
#[derive(Debug)]
pub struct Transfer {
    /// The file.
    pub file: FileId,
    /// The first page.
    pub page: u32,
    /// The buffers, one a page, in order; filled by a read, stored by a write.
    pub buffers: Vec<PageBuffer>,
}

/// The backends of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// io_uring with O_DIRECT.
    Uring,
    /// `pread` and `pwrite` on a pool of threads, with O_DIRECT where the file system has it.
    Pread,
    /// Memory, for tests.
    Memory,
    /// A memory device that records every operation and can fail and lose them, for tests.
    Recording,
    /// A device from outside of this crate, by its name.
    Other(&'static str),
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Uring => "uring",
            Backend::Pread => "pread",
            Backend::Memory => "memory",
            Backend::Recording => "recording",
            Backend::Other(name) => name,
        })
    }
}

/// A set of files that are read and written in pages.
///
/// Every implementation passes the suites of the feature `testing`: the sealed part, and, where
/// pages are written in place and files grow after a sync, the rewriting part.
pub trait Device: Send + Sync {
    /// Returns the backend.
    fn backend(&self) -> Backend;

    /// Returns true if transfers bypass the operating system's page cache (O_DIRECT); if not,
    /// memory outside the budget caches them.
    fn is_direct(&self) -> bool {
        false
    }

    /// Bytes of memory that the device takes beside the buffers of the transfers. An index that is
    /// opened on it takes them out of its memory budget.
    fn memory(&self) -> usize {
        0
    }

    /// Bytes that can still be written, as far as is known: quotas, and what a file system keeps
    /// for itself, are not.
    fn free_bytes(&self) -> Result<u64> {
        Ok(u64::MAX)
    }

    /// Returns the number of the disk that the files are on, where the system tells one.
    fn disk(&self) -> Option<u64> {
        None
    }

    /// Makes an empty file. The name is durable after [`Device::sync_directory`].
    fn create(&self, file: FileId) -> Result<()>;

    /// Removes a file. Gone for good after [`Device::sync_directory`].
    fn remove(&self, file: FileId) -> Result<()>;

    /// All files with their lengths in whole pages, in any order.
    fn list(&self) -> Result<Vec<(FileId, u32)>>;

    /// Fills the buffers of every transfer; fails if any page lies past the end of its file.
    ///
    /// After an error the buffers' content is undefined, and transfers may have lost theirs. A
    /// device whose files may be removed by others gives [`Error::Expired`](crate::Error::Expired)
    /// for a page of a file that was, once a newer root is there.
    fn read(&self, batch: &mut [Transfer]) -> Result<()>;

    /// Stores the buffers of every transfer; files grow as needed. Durable after [`Device::sync`].
    fn write(&self, batch: &mut [Transfer]) -> Result<()>;

    /// Makes all that was written to `files` before the call durable.
    fn sync(&self, files: &[FileId]) -> Result<()>;

    /// Makes creations and removals before the call durable.
    fn sync_directory(&self) -> Result<()>;

    /// Returns the other readers and writers; nothing if no other process can be one.
    fn readers(&self) -> Option<&Readers> {
        None
    }

    /// Closes the files that are open for reading. What is opened from now on is what has the name
    /// then.
    fn close_files(&self) {}

    /// Checks the stored form of pages that the device gives from copies at hand, whose faults
    /// reading does not find; returns a sentence for each fault.
    fn check_stored(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Returns the counts of the device's work so far.
    fn counters(&self) -> &Counters;

    /// Returns the requests to a store behind a network; nothing if there is none.
    fn requests(&self) -> Option<RequestCounts> {
        None
    }

    /// Returns true if reads are requests to a store behind a network.
    fn is_remote(&self) -> bool {
        self.requests().is_some()
    }
}
