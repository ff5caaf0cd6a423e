//! The lock of an index folder: one process writes.
//!
//! The lock is the operating system's (`flock`) on the file `LOCK`, so it ends with its holder,
//! however that ends; the file itself stays for ever, since removing it would let two processes
//! lock two files of one name. Its first line names the last process that took the lock and serves
//! error messages only.
//!
//! Readers hold leases in place of the lock (see `lease`). They touch the lock in two cases:
//!
//! 1. To learn whether a writer is there, a reader takes the shared lock and lets go of it at once.
//! 2. A reader that cannot write a lease holds the shared lock, which keeps writers out.
//!
//! A writer that meets the shared lock tries again for a moment, so that the first case never keeps
//! it out.
//!
//! A writer also locks the superblock (see `Rooted`), once a root has all that it found in the log.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Access;
use super::failure::{failure, unusable};
use crate::base::{Error, Result};

/// The lock file's name in the index folder.
pub const LOCK_NAME: &str = "LOCK";

/// More than any first line that a holder writes.
const SIGNATURE_LIMIT: usize = 512;

/// How often a writer tries again that meets a reader, and how long it waits in between.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(1);

/// The lock file; dropping it lets go of what is held.
#[derive(Debug)]
pub struct Lock {
    /// Nothing on a read-only file system without a lock file, where nobody can write anyway.
    file: Option<File>,
    /// Whether a reader holds it.
    shared: Mutex<bool>,
}

impl Lock {
    /// The lock of `folder`: held for [`Access::Write`], not yet for [`Access::Read`].
    ///
    /// Fails with [`Error::Locked`] when another device, of this process or another, is in the way
    /// of a writer.
    pub fn open(folder: &Path, access: Access) -> Result<Lock> {
        let file = open_lock_file(&folder.join(LOCK_NAME), access)
            .map_err(|error| unusable("lock", folder, error))?;
        if let (Some(file), Access::Write) = (&file, access) {
            take_alone(file, folder)?;
        }
        Ok(Lock {
            file,
            shared: Mutex::new(false),
        })
    }

    /// Who writes, as far as it is known; nothing if nobody does. For readers only.
    pub fn writer(&self, folder: &Path) -> Result<Option<String>> {
        let shared = self.shared();
        match &self.file {
            Some(file) if !*shared => {
                let writer = writer_of(file, folder)?;
                let freed = flock(file, FlockOperation::Unlock);
                freed.map_err(|error| failure("unlock", folder.display(), error.into()))?;
                Ok(writer)
            }
            _ => Ok(None),
        }
    }

    /// Keeps writers out for as long as this lives. Gives who writes if somebody does.
    pub fn share(&self, folder: &Path) -> Result<Option<String>> {
        let mut shared = self.shared();
        let Some(file) = self.file.as_ref().filter(|_| !*shared) else {
            return Ok(None);
        };
        let writer = writer_of(file, folder)?;
        *shared = writer.is_none();
        if *shared {
            // A lock without a name is still a lock: a full disk must not keep readers out.
            let _ = sign(file, Access::Read);
        }
        Ok(writer)
    }

    fn shared(&self) -> MutexGuard<'_, bool> {
        self.shared.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The lock of the superblock. A writer has it from its first root on that has all of the log which
/// it found: until then, the log that the writer before has left belongs to what readers see.
#[derive(Debug, Default)]
pub struct Rooted(Mutex<Option<File>>);

impl Rooted {
    /// Takes it, unless it is taken. Where that fails, readers read more of the log than they must.
    pub fn take(&self, superblock: &Path) {
        let mut taken = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let Some(file) = File::open(superblock).ok().filter(|_| taken.is_none()) else {
            return;
        };
        // A reader that looks has it for a moment.
        for _ in 0..TRIES {
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                *taken = Some(file);
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Whether a writer has it.
    pub fn is_taken(superblock: &Path) -> io::Result<bool> {
        let file = File::open(superblock)?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

/// Locks it for a writer.
fn take_alone(file: &File, folder: &Path) -> Result<()> {
    let failed = |error: Errno| failure("lock", folder.display(), error.into());
    for _ in 0..TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let _ = sign(file, Access::Write);
                return Ok(());
            }
            Err(Errno::WOULDBLOCK) if writer_of(file, folder)?.is_some() => break,
            // Only readers are in the way, and most of them for a moment.
            Err(Errno::WOULDBLOCK) => flock(file, FlockOperation::Unlock).map_err(failed)?,
            Err(error) => return Err(failed(error)),
        }
        thread::sleep(PAUSE);
    }
    Err(Error::Locked {
        path: folder.to_owned(),
        holder: holder(file),
    })
}

/// Takes the shared lock, unless somebody writes: then gives who.
fn writer_of(file: &File, folder: &Path) -> Result<Option<String>> {
    match flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(None),
        Err(Errno::WOULDBLOCK) => Ok(Some(holder(file))),
        Err(error) => Err(failure("lock", folder.display(), error.into())),
    }
}

fn open_lock_file(path: &Path, access: Access) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if access == Access::Read => open_unwritable(path, error),
        Err(error) => Err(error),
    }
}

/// The lock file for a reader that may not write it: `flock` needs no right to write.
fn open_unwritable(path: &Path, first: io::Error) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(_) if first.kind() == io::ErrorKind::ReadOnlyFilesystem => Ok(None),
        Err(_) => Err(first),
    }
}

fn sign(file: &File, access: Access) -> io::Result<()> {
    let does = match access {
        Access::Write => "",
        Access::Read => ", reading",
    };
    let line = format!("process {} ({}){does}\n", std::process::id(), program());
    file.write_all_at(line.as_bytes(), 0)?;
    file.set_len(line.len() as u64)
}

fn program() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or("unknown program".into(), |name| {
        name.to_string_lossy().into_owned()
    })
}

fn holder(file: &File) -> String {
    let mut line = vec![0; SIGNATURE_LIMIT];
    let length = file.read_at(&mut line, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(&line[..length]).into_owned();
    match text.lines().next() {
        Some(line) if !line.is_empty() => line.to_owned(),
        _ => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_excludes_writers_and_tells_readers_who_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let writer = Lock::open(folder, Access::Write).unwrap();
        let pid = format!("process {}", std::process::id());
        let error = Lock::open(folder, Access::Write).unwrap_err();
        assert!(error.to_string().contains(&pid), "{error}");

        let readers = [(); 2].map(|()| Lock::open(folder, Access::Read).unwrap());
        let found = readers[0].writer(folder).unwrap().unwrap();
        assert!(found.contains(&pid), "{found}");
        assert!(readers[1].share(folder).unwrap().is_some());
        drop(writer);
        assert_eq!(readers[0].writer(folder).unwrap(), None);
        Lock::open(folder, Access::Write).unwrap();
    }

    #[test]
    fn readers_that_share_the_lock_keep_writers_out() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let readers = [(); 2].map(|()| Lock::open(folder, Access::Read).unwrap());
        for reader in &readers {
            assert_eq!(reader.share(folder).unwrap(), None);
            assert_eq!(reader.writer(folder).unwrap(), None);
        }
        let error = Lock::open(folder, Access::Write).unwrap_err();
        assert!(error.to_string().contains("reading"), "{error}");
        drop(readers);
        Lock::open(folder, Access::Write).unwrap();
    }

    #[test]
    fn readers_that_look_for_a_writer_do_not_keep_it_out() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let reader = Lock::open(folder, Access::Read).unwrap();
                    while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                        reader.writer(folder).unwrap();
                    }
                });
            }
            let writers = (0..200).map(|_| Lock::open(folder, Access::Write).map(drop));
            let failed = writers.filter_map(Result::err).next();
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(failed.is_none(), "{failed:?}");
        });
    }
}
