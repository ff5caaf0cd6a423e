//! The lock of an index folder: one process writes.
//!
//! The lock is the operating system's (`flock`) on the file `LOCK`, so it ends with its holder,
//! however that ends; the file itself stays for ever, since removing it would let two processes
//! lock two files of one name. Its first line names the last process that took the lock and serves
//! error messages only (see `signature`).
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
//! So a `LOCK` that was removed lets no second writer in.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::failure::{LOCK, failure, unusable};
use super::regular::{self, Irregular, SHARED_FILE};
use super::{Access, FileId, signature};
use crate::base::{Error, Result};

/// The lock file's name in the index folder.
pub const LOCK_NAME: &str = "LOCK";

/// The number of attempts of a writer that meets a reader, and the pause between them.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(1);

/// The lock file; dropping it lets go of what is held.
#[derive(Debug)]
pub struct Lock {
    /// Nothing on a read-only file system without a lock file, where nobody can write anyway.
    file: Option<File>,
    /// Set if a reader holds it.
    shared: Mutex<bool>,
}

impl Lock {
    /// The lock of `folder`: held for [`Access::Write`], not yet for [`Access::Read`].
    ///
    /// Fails with [`Error::Locked`] when another device, of this process or another, is in the way
    /// of a writer.
    pub fn open(folder: &Path, access: Access) -> Result<Lock> {
        let path = folder.join(LOCK_NAME);
        if access == Access::Write && !path.exists() {
            // Without a new file beside a writer, which would find that its own is gone.
            Rooted::check_free(folder)?;
        }
        let file = open_lock_file(&path, access).map_err(|error| unopened(folder, &path, error))?;
        if let (Some(file), Access::Write) = (&file, access) {
            take_alone(file, folder)?;
            Rooted::check_free(folder)?;
        }
        Ok(Lock {
            file,
            shared: Mutex::new(false),
        })
    }

    /// Returns the name of the writer, as far as it is known; nothing if there is none. For readers
    /// only.
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
            let _ = signature::sign(file, Access::Read);
        }
        Ok(writer)
    }

    /// Returns true if the folder still has this lock file.
    pub fn is_there(&self, folder: &Path) -> bool {
        let Some(file) = &self.file else {
            return true;
        };
        let own = file.metadata().map(|own| regular::identity(&own));
        let named = std::fs::symlink_metadata(folder.join(LOCK_NAME));
        let named = named.map(|named| regular::identity(&named));
        matches!((own, named), (Ok(own), Ok(named)) if own == named)
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
        let file = regular::open(superblock, OFlags::RDONLY, SHARED_FILE);
        let Some(file) = file.ok().filter(|_| taken.is_none()) else {
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

    /// Returns true if a writer has it.
    pub fn is_taken(superblock: &Path) -> io::Result<bool> {
        let file = regular::open(superblock, OFlags::RDONLY, SHARED_FILE)?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Fails if a writer has the superblock of the folder: one whose lock file was removed. One
    /// that ends lets go of the superblock first, but a copy of its process may be a little behind.
    fn check_free(folder: &Path) -> Result<()> {
        let superblock = folder.join(FileId::Superblock.name());
        for _ in 0..TRIES {
            match Rooted::is_taken(&superblock) {
                Ok(true) => thread::sleep(PAUSE),
                Ok(false) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(unopened(folder, &superblock, error)),
            }
        }
        let holder = format!("another process, whose file {LOCK_NAME} was removed");
        Err(locked(folder, holder))
    }
}

/// Why a file of the folder cannot be locked.
fn unopened(folder: &Path, path: &Path, error: io::Error) -> Error {
    match Irregular::of(&error) {
        Some(_) => failure(LOCK, path.display(), error),
        None => unusable(LOCK, folder, error),
    }
}

/// Locks it for a writer.
fn take_alone(file: &File, folder: &Path) -> Result<()> {
    let failed = |error: Errno| failure(LOCK, folder.display(), error.into());
    for _ in 0..TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let _ = signature::sign(file, Access::Write);
                return Ok(());
            }
            Err(Errno::WOULDBLOCK) if writer_of(file, folder)?.is_some() => {
                return Err(locked(folder, signature::holder(file)));
            }
            // Only readers are in the way, and most of them for a moment.
            Err(Errno::WOULDBLOCK) => flock(file, FlockOperation::Unlock).map_err(failed)?,
            Err(error) => return Err(failed(error)),
        }
        thread::sleep(PAUSE);
    }
    // Whoever may read the file can lock it, and the name in it may be that of an earlier writer.
    let reader = signature::read(file).filter(|line| signature::is_of_reader(line));
    let unknown = || format!("another process, which has locked {LOCK_NAME} to read");
    Err(locked(folder, reader.unwrap_or_else(unknown)))
}

fn locked(folder: &Path, holder: String) -> Error {
    Error::Locked {
        path: folder.to_owned(),
        holder,
    }
}

/// Takes the shared lock, unless somebody writes: then gives who.
fn writer_of(file: &File, folder: &Path) -> Result<Option<String>> {
    match flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(None),
        Err(Errno::WOULDBLOCK) => Ok(Some(signature::holder(file))),
        Err(error) => Err(failure(LOCK, folder.display(), error.into())),
    }
}

fn open_lock_file(path: &Path, access: Access) -> io::Result<Option<File>> {
    match regular::open(path, OFlags::RDWR | OFlags::CREATE, SHARED_FILE) {
        Ok(file) => Ok(Some(file)),
        Err(error) if access == Access::Read => open_unwritable(path, error),
        Err(error) => Err(error),
    }
}

/// The lock file for a reader that may not write it: `flock` needs no right to write.
fn open_unwritable(path: &Path, first: io::Error) -> io::Result<Option<File>> {
    match regular::open(path, OFlags::RDONLY, SHARED_FILE) {
        Ok(file) => Ok(Some(file)),
        Err(_) if first.kind() == io::ErrorKind::ReadOnlyFilesystem => Ok(None),
        Err(_) => Err(first),
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

        // What has not signed is not named by who has.
        let file = File::open(folder.join(LOCK_NAME)).unwrap();
        flock(&file, FlockOperation::LockShared).unwrap();
        let error = Lock::open(folder, Access::Write).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
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

    #[test]
    fn what_is_no_signature_is_locked_and_left_as_it_is() {
        for content in [
            "secret\n",
            "process 12 (gannet)\nsecret\n",
            "process x (gannet)\n",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(LOCK_NAME);
            std::fs::write(&path, content).unwrap();
            let writer = Lock::open(folder.path(), Access::Write).unwrap();
            let error = Lock::open(folder.path(), Access::Write).unwrap_err();
            assert!(error.to_string().contains("another process:"), "{error}");
            drop(writer);
            let reader = Lock::open(folder.path(), Access::Read).unwrap();
            assert_eq!(reader.share(folder.path()).unwrap(), None);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
    }

    #[test]
    fn a_writer_whose_lock_was_removed_keeps_others_out() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let superblock = folder.join(FileId::Superblock.name());
        std::fs::write(&superblock, "").unwrap();
        let writer = Lock::open(folder, Access::Write).unwrap();
        let rooted = Rooted::default();
        rooted.take(&superblock);
        std::fs::remove_file(folder.join(LOCK_NAME)).unwrap();
        let error = Lock::open(folder, Access::Write).unwrap_err();
        assert!(matches!(error, Error::Locked { .. }), "{error}");
        assert!(error.to_string().contains("was removed"), "{error}");
        assert!(!folder.join(LOCK_NAME).exists() && !writer.is_there(folder));
        Lock::open(folder, Access::Read).unwrap();
        assert!(Lock::open(folder, Access::Write).is_err());
        drop(rooted);
        Lock::open(folder, Access::Write).unwrap();
    }
}
