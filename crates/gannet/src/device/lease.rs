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
//! 4. What is removed is an empty regular file of such a name, and the folder of leases is not
//!    reached through a link: nothing but leases is ever removed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, openat, unlinkat};
use rustix::io::Errno;

use super::regular::{self, SHARED_FILE};

/// The folder of the leases in the index folder.
pub const READERS_NAME: &str = "readers";

/// The number of attempts of a reader to make a lease: one fails only if the writer takes the file
/// away between its making and its locking.
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
            let path = readers.join(&name);
            let file = match create(&readers, &name) {
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

    /// Returns true if it still counts.
    pub fn is_there(&self) -> bool {
        // Links are not counted: some network file systems keep a removed file that is open under
        // another name.
        let own = self.file.metadata().map(|own| regular::identity(&own));
        let named = fs::symlink_metadata(&self.path).map(|named| regular::identity(&named));
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
    let readers = match regular::open_folder(&folder.join(READERS_NAME)) {
        Ok(readers) => readers,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut seen = Vec::new();
    for entry in rustix::fs::Dir::read_from(&readers)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // What has another name is no lease.
        let Some(generation) = generation_of(&name) else {
            continue;
        };
        if is_held(&readers, &name)? {
            seen.push(LeaseSeen { generation, name });
        }
    }
    Ok(seen)
}

/// Takes a lease of the index in `folder` away: from now on it has expired.
pub fn expire(folder: &Path, seen: &LeaseSeen) -> io::Result<()> {
    match regular::open_folder(&folder.join(READERS_NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        readers => remove(&readers?, &seen.name),
    }
}

/// Makes the file of a lease.
fn create(readers: &Path, name: &str) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let readers = regular::open_folder(readers)?;
    Ok(openat(readers, name, flags, SHARED_FILE)?.into())
}

/// The generation in the name of a lease; nothing if it is none. Dates in names of files have
/// zeros in front.
fn generation_of(name: &str) -> Option<u64> {
    let mut numbers = name.splitn(3, '-').map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (generation, process, number) = (next()?, next()?, next()?);
    (name == format!("{generation}-{process}-{number}")).then_some(generation)
}

/// Returns true if a lease counts, and removes its file if not. Anything but an empty regular file
/// is no lease, and stays.
fn is_held(readers: &File, name: &str) -> io::Result<bool> {
    match regular::is_empty_file(readers, name) {
        Ok(true) => {}
        Ok(false) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(readers, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::LOOP) => return Ok(false),
        // Whose file may not be opened is there all the same.
        Err(Errno::ACCESS | Errno::PERM) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        // Removed while it is locked: a reader that was about to lock it then makes another.
        Ok(()) => remove(readers, name).map(|()| false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Removes the file of a lease, unless it is anything else by now.
fn remove(readers: &File, name: &str) -> io::Result<()> {
    let removed = match regular::is_empty_file(readers, name) {
        Ok(true) => unlinkat(readers, name, AtFlags::empty()).map_err(io::Error::from),
        other => other.map(drop),
    };
    match removed {
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
    fn nothing_is_removed_but_leases() {
        let folder = tempfile::tempdir().unwrap();
        let (index, dated) = (folder.path().join("index"), folder.path().join("dated"));
        fs::create_dir_all(index.join(READERS_NAME)).unwrap();
        fs::create_dir(&dated).unwrap();
        let readers = index.join(READERS_NAME);
        fs::write(readers.join("2-99-1"), "text").unwrap();
        fs::write(readers.join("2024-01-02"), "").unwrap();
        fs::write(dated.join("3-99-1"), "").unwrap();
        std::os::unix::fs::symlink(dated.join("3-99-1"), readers.join("3-99-1")).unwrap();
        fs::create_dir(readers.join("5-99-1")).unwrap();
        assert!(generations(&index).is_empty());
        for name in ["2-99-1", "2024-01-02", "3-99-1", "5-99-1"] {
            let seen = LeaseSeen {
                generation: 2,
                name: name.to_owned(),
            };
            if name != "2024-01-02" {
                expire(&index, &seen).unwrap();
            }
            assert!(readers.join(name).symlink_metadata().is_ok(), "{name}");
        }

        fs::remove_dir_all(&readers).unwrap();
        std::os::unix::fs::symlink(&dated, &readers).unwrap();
        assert!(
            leases(&index)
                .unwrap_err()
                .to_string()
                .contains("symbolic link")
        );
        assert!(Lease::make(&index, 7).is_err());
        assert_eq!(fs::read_dir(&dated).unwrap().count(), 1);
    }

    #[test]
    fn a_lease_has_expired_once_its_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let held = Lease::make(folder, 3).unwrap();
        let seen = leases(folder).unwrap().remove(0);
        let path = folder.join(READERS_NAME).join(&seen.name);
        expire(folder, &seen).unwrap();
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
