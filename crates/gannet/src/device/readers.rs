//! Reading beside other processes: the lock and the leases of an index folder as readers and the
//! writer use them.
//!
//! A reader that cannot make a lease (a file system that is read-only or full, no right to write)
//! holds the shared lock instead. Then no writer can come as long as it reads, and where one is
//! there, the reader is rejected.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::SystemTime;

use super::failure::failure;
use super::lease::{self, Lease, LeaseSeen, READERS_NAME};
use super::lock::{Lock, Rooted};
use super::{Access, FileId};
use crate::base::{Error, Result};

/// The readers and the writer of an index folder.
#[derive(Debug)]
pub struct Readers {
    folder: PathBuf,
    /// Let go of before the lock: a writer that has that must find nobody here.
    rooted: Rooted,
    lock: Lock,
    /// Leases of this device.
    held: Mutex<Vec<Weak<Lease>>>,
}

impl Readers {
    /// Of `folder`, which is locked if it is to be written.
    pub fn open(folder: &Path, access: Access) -> Result<Readers> {
        Ok(Readers {
            lock: Lock::open(folder, access)?,
            rooted: Rooted::default(),
            folder: folder.to_owned(),
            held: Mutex::default(),
        })
    }

    /// Has a writer keep what the root `generation` names, until what is given is dropped or
    /// expires. The caller must look for the newest root once more: only then it is sure that the
    /// writer has seen the lease in time. Gives nothing where the shared lock keeps writers out
    /// instead.
    pub fn lease(&self, generation: u64) -> Result<Option<Arc<Lease>>> {
        match Lease::make(&self.folder, generation) {
            Ok(lease) => {
                let lease = Arc::new(lease);
                let mut held = self.held();
                held.retain(|lease| lease.strong_count() > 0);
                held.push(Arc::downgrade(&lease));
                Ok(Some(lease))
            }
            Err(error) => match self.lock.share(&self.folder)? {
                None => Ok(None),
                Some(writer) => Err(self.in_the_way(&writer, &error)),
            },
        }
    }

    /// Returns the name of the writer, as far as it is known; nothing if there is none.
    pub fn writer(&self) -> Result<Option<String>> {
        self.lock.writer(&self.folder)
    }

    /// Tells readers that a root has all of the log that this writer found.
    pub fn note_root(&self) {
        self.rooted.take(&self.superblock());
    }

    /// Returns true if a writer has written a root that has all of the log which it found. Its own
    /// log since then does not matter.
    pub fn has_rooted_writer(&self) -> Result<bool> {
        let taken = Rooted::is_taken(&self.superblock());
        taken.map_err(|error| failure("lock", FileId::Superblock, error))
    }

    /// Returns true if the folder still has the lock file that was opened.
    pub fn has_lock(&self) -> bool {
        self.lock.is_there(&self.folder)
    }

    /// All leases that count, of all processes.
    pub fn leases(&self) -> Result<Vec<LeaseSeen>> {
        let readers = self.folder.join(READERS_NAME);
        lease::leases(&self.folder).map_err(|error| failure("list", readers.display(), error))
    }

    /// Returns the time at which a lease was last made or let go, by the clock of the file system;
    /// nothing if none ever was.
    pub fn changed(&self) -> Option<SystemTime> {
        let readers = self.folder.join(READERS_NAME);
        std::fs::symlink_metadata(readers)
            .and_then(|readers| readers.modified())
            .ok()
    }

    /// Takes a lease away.
    pub fn expire(&self, seen: &LeaseSeen) -> Result<()> {
        let path = self.folder.join(READERS_NAME).join(&seen.name);
        let expired = lease::expire(&self.folder, seen);
        expired.map_err(|error| failure("remove", path.display(), error))
    }

    /// Why pages may be gone: a lease of this device has expired.
    pub fn expired(&self) -> Option<Error> {
        let held = self.held();
        let mut held = held.iter().filter_map(Weak::upgrade);
        let expired = held.find(|lease| !lease.is_there())?;
        Some(Error::Expired {
            seconds: expired.seconds(),
            held: "space that a writer in another process needed".to_owned(),
            remedy: "refresh the index, or open it again",
        })
    }

    fn in_the_way(&self, writer: &str, error: &io::Error) -> Error {
        let advice = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make space",
            io::ErrorKind::PermissionDenied => "give this user the right to write there",
            io::ErrorKind::ReadOnlyFilesystem => "mount the file system for writing",
            _ => "make that possible",
        };
        Error::invalid(format!(
            "{} is written by {writer}, and who reads it meanwhile must make a file in its folder {READERS_NAME}, \
             which failed: {error}: {advice}, or read a backup",
            self.folder.display()
        ))
    }

    fn superblock(&self) -> PathBuf {
        self.folder.join(FileId::Superblock.name())
    }

    fn held(&self) -> MutexGuard<'_, Vec<Weak<Lease>>> {
        self.held.lock().unwrap_or_else(|e| e.into_inner())
    }
}
