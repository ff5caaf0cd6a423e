//! The lock of a local folder, under which its publishers replace an object: a file system has no
//! operation that replaces a file only if nobody else has.

use std::fs::{File, OpenOptions};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// The file that publishers of a folder lock.
pub(crate) const LOCK: &str = "LOCK";

/// Locks a folder against other publishers, until what this gives is dropped.
pub(crate) fn lock(folder: &Path) -> std::io::Result<File> {
    let mut open = OpenOptions::new();
    let open = open.read(true).write(true).create(true).truncate(false);
    let lock = open.open(folder.join(LOCK))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    Ok(lock)
}
