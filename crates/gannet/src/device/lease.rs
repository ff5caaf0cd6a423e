//! Leases: what readers of other processes tell the writer.
//!
//! A reader makes an empty file `readers/GENERATION-PROCESS-NUMBER` and keeps it locked (`flock`)
//! for as long as it reads the root of that generation. The system frees the lock when the process
//! dies, however that is.
//!
//! 1. A lease counts if its file is there and locked. The writer removes a file that is not locked.
//! 2. A lease has expired once its file is gone. The writer removes the file before it frees any
//!    page that the lease keeps, so a reader that misses a page finds that its lease has expired.
//! 3. A reader looks for the newest root again after it has made the lease. The writer looks for
//!    leases after it has written a root. So one of the two sees the other.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The folder of the leases in the index folder.
pub const READERS_NAME: &str = "readers";

/// How often a reader tries to make a lease: it fails only where the writer takes the file away
/// between its making and its locking.
const TRIES: u32 = 1_000;

/// Leases of this process so far: no two have one name.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A lease that this process holds. Dropping it lets go.
#[derive(Debug)]
pub struct Lease {
    file: File,
    path: PathBuf,
    since: Instant,
}

/// A lease of any process, as the writer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseSeen {
    /// The root that is read.
    pub generation: u64,
    /// The file's name.
    pub name: String,
}

impl Lease {
    /// Makes a lease of the root `generation` of the index in `folder`.
    pub fn make(folder: &Path, generation: u64) -> io::Result<Lease> {
        let readers = folder.join(READERS_NAME);
        for _ in 0..TRIES {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{generation}-{}-{number}", std::process::id());
            let path = readers.join(name);
            let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                // A process of another container may have the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make_folder(folder)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let lease = Lease {
                file,
                path,
                since: Instant::now(),
            };
            match flock(&lease.file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if lease.is_there() => return Ok(lease),
                Ok(()) | Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("the writer took each file away"))
    }

    /// Whether it still counts.
    pub fn is_there(&self) -> bool {
        // Links are not counted: some network file systems keep a removed file that is open under
        // another name.
        let own = self.file.metadata().map(|own| (own.dev(), own.ino()));
        let named = fs::metadata(&self.path).map(|named| (named.dev(), named.ino()));
        matches!((own, named), (Ok(own), Ok(named)) if own == named)
    }

    /// Seconds since it was made.
    pub fn seconds(&self) -> u64 {
        self.since.elapsed().as_secs()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // What cannot be removed is not locked any more, and the next writer removes it.
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the folder of the leases, unless it is there.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder.join(READERS_NAME)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// All leases that count. Files of those that do not are removed.
pub fn leases(folder: &Path) -> io::Result<Vec<LeaseSeen>> {
    let readers = folder.join(READERS_NAME);
    let entries = match fs::read_dir(&readers) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut seen = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let generation = name
            .split_once('-')
            .and_then(|(first, _)| first.parse().ok());
        // What has another name is no lease.
        let Some(generation) = generation else {
            continue;
        };
        if is_held(&readers.join(&name))? {
            seen.push(LeaseSeen { generation, name });
        }
    }
    Ok(seen)
}

/// Whether a lease counts. Its file is removed if not.
fn is_held(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        // Whose file may not be opened is there all the same.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(true),
        Err(error) => return Err(error),
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        // Removed while it is locked: a reader that was about to lock it then makes another.
        Ok(()) => expire(path).map(|()| false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Takes a lease away: from now on it has expired.
pub fn expire(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generations(folder: &Path) -> Vec<u64> {
        let seen = leases(folder).unwrap().into_iter();
        let mut all: Vec<u64> = seen.map(|lease| lease.generation).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_lease_counts_as_long_as_it_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert!(generations(folder).is_empty());
        let held = [7, 12].map(|generation| Lease::make(folder, generation).unwrap());
        assert_eq!(generations(folder), [7, 12]);
        drop(held);
        assert_eq!(fs::read_dir(folder.join(READERS_NAME)).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_nobody_locks_is_no_lease_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let held = Lease::make(folder, 3).unwrap();
        let left = folder.join(READERS_NAME).join("2-99-0");
        fs::write(&left, "").unwrap();
        let other = folder.join(READERS_NAME).join("notes.txt");
        fs::write(&other, "").unwrap();
        assert_eq!(generations(folder), [3]);
        assert!(held.is_there() && other.exists() && !left.exists());
    }

    #[test]
    fn a_lease_has_expired_once_its_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let held = Lease::make(folder, 3).unwrap();
        let seen = leases(folder).unwrap().remove(0);
        let path = folder.join(READERS_NAME).join(seen.name);
        expire(&path).unwrap();
        assert!(!held.is_there());
        // A file of the same name is another's.
        fs::write(&path, "").unwrap();
        assert!(!held.is_there());
        drop(held);
        assert!(path.exists());
    }

    #[test]
    fn a_reader_and_a_writer_never_miss_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::thread::scope(|scope| {
            let readers = [(); 2].map(|()| {
                scope.spawn(|| {
                    for generation in 0..2_000 {
                        let lease = Lease::make(folder, generation).unwrap();
                        // Nobody expires leases here, so it stays until it is dropped.
                        assert!(lease.is_there());
                    }
                })
            });
            while readers.iter().any(|reader| !reader.is_finished()) {
                leases(folder).unwrap();
            }
        });
    }
}
