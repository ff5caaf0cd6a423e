//! The lock of an index folder: one process writes, or any number of processes read.
//!
//! The lock is the operating system's (`flock`) on the file `LOCK`, so it ends with its holder, however
//! that ends; the file itself stays for ever, since removing it would let two processes lock two files of
//! one name. Its first line names the last process that took the lock and serves error messages only.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Access;
use super::failure::{failure, unusable};
use crate::base::{Error, Result};

/// The lock file's name in the index folder.
pub const LOCK_NAME: &str = "LOCK";

/// More than any first line that a holder writes.
const SIGNATURE_LIMIT: usize = 512;

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub struct Lock {
    /// Nothing on a read-only file system without a lock file, where nobody can write anyway.
    _file: Option<File>,
}

impl Lock {
    /// Locks `folder`: alone for [`Access::Write`], together with other readers for [`Access::Read`].
    ///
    /// Fails at once with [`Error::Locked`] when another device, of this process or another, holds it.
    pub fn acquire(folder: &Path, access: Access) -> Result<Lock> {
        let file = open_lock_file(&folder.join(LOCK_NAME), access)
            .map_err(|error| unusable("lock", folder, error))?;
        if let Some(file) = &file {
            take(file, folder, access)?;
        }
        Ok(Lock { _file: file })
    }
}

fn take(file: &File, folder: &Path, access: Access) -> Result<()> {
    let operation = match access {
        Access::Write => FlockOperation::NonBlockingLockExclusive,
        Access::Read => FlockOperation::NonBlockingLockShared,
    };
    match flock(file, operation) {
        Ok(()) => {
            // A lock without a name is still a lock: a full disk must not keep readers out.
            let _ = sign(file, access);
            Ok(())
        }
        Err(Errno::WOULDBLOCK) => Err(Error::Locked {
            path: folder.to_owned(),
            holder: holder(file),
        }),
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
    fn a_writer_excludes_all_and_readers_exclude_writers() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Lock::acquire(folder.path(), Access::Write).unwrap();
        let error = Lock::acquire(folder.path(), Access::Read).unwrap_err();
        let pid = format!("process {}", std::process::id());
        assert!(error.to_string().contains(&pid), "{error}");
        assert!(Lock::acquire(folder.path(), Access::Write).is_err());

        drop(writer);
        let readers = [(); 2].map(|()| Lock::acquire(folder.path(), Access::Read).unwrap());
        let error = Lock::acquire(folder.path(), Access::Write).unwrap_err();
        assert!(error.to_string().contains("reading"), "{error}");

        drop(readers);
        Lock::acquire(folder.path(), Access::Write).unwrap();
    }
}
