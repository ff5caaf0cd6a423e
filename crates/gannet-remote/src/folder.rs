//! Replacing an object of a local folder only if nobody else has replaced it: under a lock, since a
//! file system has no such operation.

use std::fs::OpenOptions;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::fault::Fault;
use crate::link::Wanted;
use crate::objects::Objects;

/// The file that publishers of a folder lock.
pub(crate) const LOCK: &str = "LOCK";

/// Replaces `name` if it is still the version `known`.
pub(crate) fn replace(
    objects: &Objects,
    folder: &Path,
    name: &str,
    known: Option<String>,
    bytes: Vec<u8>,
) -> Result<(), Fault> {
    let failed = |error: std::io::Error| Fault::Failed(error.to_string());
    let mut open = OpenOptions::new();
    let open = open.read(true).write(true).create(true).truncate(false);
    let lock = open.open(folder.join(LOCK)).map_err(failed)?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    let found = objects.get(Wanted {
        name: name.to_owned(),
        range: None,
        most: u64::MAX,
        known: None,
    });
    let found = match found {
        Ok(got) => got.version,
        Err(Fault::Missing) => None,
        Err(fault) => return Err(fault),
    };
    match found == known {
        true => objects.put_over(name, bytes),
        false => Err(Fault::Changed),
    }
}
