//! The open files of an index folder.
//!
//! Files are opened when first used and stay open up to a limit, since an index may have more zones
//! than the process may have descriptors. Invariants:
//!
//! 1. No system call runs under the table's lock: readers of many threads wait for a look-up at
//!    most.
//! 2. A file that is being used stays open, for its user shares ownership of it.
//! 3. A file with writes that were not synced is never closed by the table: the descriptor that
//!    wrote is the one that is sure to learn of a failed write-back.
//! 4. A removed file is not found again, even when it was being opened at that moment.
//! 5. A file of a cache belongs to the user of this process, and nobody else may read it.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustix::fs::OFlags;
use rustix::process::{Resource, geteuid, getrlimit};

use super::regular::{self, OWN_FILE, SHARED_FILE};
use super::{Access, FileId};

/// One open file.
#[derive(Debug)]
pub struct OpenFile {
    /// The file.
    pub id: FileId,
    /// The descriptor.
    pub file: File,
    unsynced: AtomicBool,
    recent: AtomicBool,
}

/// The open files of one folder.
#[derive(Debug)]
pub struct FileTable {
    folder: PathBuf,
    access: Access,
    direct: bool,
    limit: usize,
    table: RwLock<OpenTable>,
    /// The superblock that was opened first.
    superblock: OnceLock<(u64, u64)>,
}

#[derive(Debug, Default)]
struct OpenTable {
    open: HashMap<FileId, Arc<OpenFile>>,
    /// Counts removals, so that an opening that crossed one is found out.
    removals: u64,
}

impl OpenFile {
    fn new(id: FileId, file: File) -> Arc<OpenFile> {
        Arc::new(OpenFile {
            id,
            file,
            unsynced: AtomicBool::new(false),
            recent: AtomicBool::new(true),
        })
    }

    /// Notes that a write is about to be issued.
    pub fn mark_written(&self) {
        self.unsynced.store(true, Ordering::Release);
    }

    /// Makes all completed writes durable, the file's length included.
    pub fn sync(&self) -> io::Result<()> {
        // Cleared first: a write that starts meanwhile sets it again and is not covered by this
        // sync.
        self.unsynced.store(false, Ordering::Release);
        self.file.sync_data().inspect_err(|_| self.mark_written())
    }

    fn may_be_closed(&self) -> bool {
        let recent = self.recent.swap(false, Ordering::Relaxed);
        !recent && !self.unsynced.load(Ordering::Acquire)
    }
}

impl FileTable {
    /// The files of `folder`, none of them open yet.
    pub fn new(folder: &Path, access: Access) -> FileTable {
        FileTable {
            folder: folder.to_owned(),
            access,
            direct: direct_works(folder),
            limit: descriptor_limit(),
            table: RwLock::default(),
            superblock: OnceLock::new(),
        }
    }

    /// Returns true if files are opened with O_DIRECT, past the operating system's page cache.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// The open file `id`, opened now if it was not.
    pub fn get(&self, id: FileId) -> io::Result<Arc<OpenFile>> {
        loop {
            let removals = {
                let table = self.read();
                if let Some(file) = table.open.get(&id) {
                    file.recent.store(true, Ordering::Relaxed);
                    return Ok(Arc::clone(file));
                }
                table.removals
            };
            let file = OpenFile::new(id, self.open(id, false)?);
            if let Some(file) = self.insert(file, removals) {
                return Ok(file);
            }
        }
    }

    /// Makes the file `id`, which must not exist.
    pub fn create(&self, id: FileId) -> io::Result<()> {
        let removals = self.read().removals;
        let file = OpenFile::new(id, self.open(id, true)?);
        self.insert(file, removals);
        Ok(())
    }

    /// Removes the file `id`. Its space is free at once, though a reader whose lease has expired
    /// may have it open: such a reader finds that the file has ended.
    pub fn remove(&self, id: FileId) -> io::Result<()> {
        let path = self.folder.join(id.name());
        let file = regular::open(&path, OFlags::WRONLY, SHARED_FILE);
        std::fs::remove_file(path)?;
        // A name that somebody has given it elsewhere keeps it. Whatever fails, the file is
        // removed.
        if let Ok(file) = file
            && file.metadata().is_ok_and(|removed| removed.nlink() == 0)
        {
            let _ = file.set_len(0);
        }
        let mut table = self.write();
        table.removals += 1;
        table.open.remove(&id);
        Ok(())
    }

    /// Closes all files but those with writes that were not synced.
    pub fn close_all(&self) {
        let mut table = self.write();
        // What is being opened meanwhile may be an older file of that name.
        table.removals += 1;
        let synced = |file: &OpenFile| !file.unsynced.load(Ordering::Acquire);
        let closed: Vec<_> = table.open.extract_if(|_, file| synced(file)).collect();
        drop(table);
        drop(closed);
    }

    /// Puts `file` into the table unless something was removed since `removals` was read.
    fn insert(&self, file: Arc<OpenFile>, removals: u64) -> Option<Arc<OpenFile>> {
        let mut table = self.write();
        if table.removals != removals {
            return None;
        }
        let closed = table.make_room(self.limit);
        let file = Arc::clone(table.open.entry(file.id).or_insert(file));
        drop(table);
        drop(closed);
        Some(file)
    }

    /// Returns true if the folder still has the superblock that was opened first.
    pub fn has_superblock(&self) -> bool {
        let path = self.folder.join(FileId::Superblock.name());
        let named = || std::fs::symlink_metadata(path).map(|named| regular::identity(&named));
        let opened = self.superblock.get();
        opened.is_none_or(|opened| named().is_ok_and(|named| named == *opened))
    }

    fn open(&self, id: FileId, create: bool) -> io::Result<File> {
        let mut flags = match self.access {
            Access::Write => OFlags::RDWR,
            Access::Read => OFlags::RDONLY,
        };
        flags.set(OFlags::CREATE | OFlags::EXCL, create);
        flags.set(directly(), self.direct);
        let mode = match id {
            FileId::Tier | FileId::Answers => OWN_FILE,
            _ => SHARED_FILE,
        };
        let file = regular::open(&self.folder.join(id.name()), flags, mode)?;
        match id {
            FileId::Tier | FileId::Answers => check_owner(&file)?,
            FileId::Superblock => drop(self.superblock.set(regular::identity(&file.metadata()?))),
            FileId::Zone(_) => {}
        }
        Ok(file)
    }

    fn read(&self) -> RwLockReadGuard<'_, OpenTable> {
        self.table.read().unwrap_or_else(|e| e.into_inner())
    }

    fn write(&self) -> RwLockWriteGuard<'_, OpenTable> {
        self.table.write().unwrap_or_else(|e| e.into_inner())
    }
}

impl OpenTable {
    /// Takes out files that were not used since the last time, for the caller to close outside the
    /// lock.
    fn make_room(&mut self, limit: usize) -> Vec<Arc<OpenFile>> {
        if self.open.len() < limit {
            return Vec::new();
        }
        let idle = self.open.extract_if(|_, file| file.may_be_closed());
        idle.map(|(_, file)| file).collect()
    }
}

/// Half of what the process may open, so that the program around the engine keeps its share.
fn descriptor_limit() -> usize {
    let soft = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (soft / 2).clamp(16, 16_384) as usize
}

/// Returns true if the folder's file system takes O_DIRECT, tried on the lock file, which is there
/// already.
fn direct_works(folder: &Path) -> bool {
    let lock = folder.join(super::lock::LOCK_NAME);
    let flags = OFlags::RDONLY | directly();
    !directly().is_empty() && regular::open(&lock, flags, SHARED_FILE).is_ok()
}

/// Past the page cache of the operating system, where that can be asked for.
#[cfg(target_os = "linux")]
fn directly() -> OFlags {
    OFlags::DIRECT
}

#[cfg(not(target_os = "linux"))]
fn directly() -> OFlags {
    OFlags::empty()
}

/// Fails if what is in documents would be written to a file or a folder of somebody else.
pub fn check_owner(file: &File) -> io::Result<()> {
    let owner = file.metadata()?.uid();
    if owner == geteuid().as_raw() {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("it belongs to another user (number {owner})"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(folder: &Path, limit: usize) -> FileTable {
        let mut table = FileTable::new(folder, Access::Write);
        table.limit = limit;
        table
    }

    #[test]
    fn idle_files_are_closed_but_never_unsynced_ones() {
        let folder = tempfile::tempdir().unwrap();
        let table = table(folder.path(), 4);
        for zone in 0..4 {
            table.create(FileId::Zone(zone)).unwrap();
        }
        table.get(FileId::Zone(2)).unwrap().mark_written();
        table.create(FileId::Zone(4)).unwrap();
        table.create(FileId::Zone(5)).unwrap();
        let open = &table.read().open;
        assert!(open.contains_key(&FileId::Zone(2)) && !open.contains_key(&FileId::Zone(0)));
    }

    #[test]
    fn an_opening_that_crossed_a_removal_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let table = table(folder.path(), 4);
        table.create(FileId::Superblock).unwrap();
        let removals = table.read().removals;
        let stale = OpenFile::new(
            FileId::Superblock,
            table.open(FileId::Superblock, false).unwrap(),
        );
        table.remove(FileId::Superblock).unwrap();
        assert!(table.insert(stale, removals).is_none());
        assert!(table.get(FileId::Superblock).is_err());
    }
}
