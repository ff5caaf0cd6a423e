//! The index folder: what both file backends share besides the transfers themselves.
//!
//! A writer holds the lock for as long as it lives. Lengths are counted in whole pages: a part of a
//! page at a file's end, which only a crash can leave, does not exist for anyone above. Before a
//! writer makes or removes a file, writes a root or makes anything durable, the folder must still
//! have the lock and the superblock that it has open: else it was removed or replaced, and what is
//! written goes where nobody finds it, or into another index.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{failure, unusable};
use super::files::{FileTable, OpenFile, check_owner};
use super::foreign::{ANSWERS_NAME, foreign_entry, is_of_tier};
use super::readers::Readers;
use super::regular::{Irregular, check_type, open_folder};
use super::{Access, FileId, OpenOptions};
use crate::base::{Error, PAGE_SIZE, Result};

/// The mode of the folders of an index, of which the process's umask takes away, and of a flash
/// tier, which has pages of documents and may be made where others can look.
const INDEX_FOLDER: u32 = 0o777;
const TIER_FOLDER: u32 = 0o700;

/// An open index folder, locked if it is open for writing.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    folder: File,
    access: Access,
    files: FileTable,
    readers: Readers,
    /// Returns the file of the folder that has a name.
    named: fn(&str) -> Option<FileId>,
}

impl Directory {
    /// Opens the folder `path`, making it first if the options say so, and locks it for writing.
    ///
    /// Fails with [`Error::Invalid`] if there is no folder. Fails with [`Error::Format`] if the
    /// folder has no index and none may be made, or has other files. Fails with [`Error::Locked`]
    /// if it is to be written and another process writes.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Directory> {
        ensure_folder(path, options)?;
        let folder = File::open(path).map_err(|error| unusable("open", path, error))?;
        let readers = Readers::open(path, options.access)?;
        Ok(Directory {
            path: path.to_owned(),
            folder,
            access: options.access,
            files: FileTable::new(path, options.access),
            readers,
            named: FileId::from_name,
        })
    }

    /// Opens the folder of a flash tier, making it first if it is missing, and locks it if it is to
    /// be written.
    ///
    /// Fails with [`Error::Invalid`] if it has anything else in it, and with [`Error::Locked`] if
    /// another process writes the tier too.
    pub fn open_tier(path: &Path, access: Access) -> Result<Directory> {
        ensure_tier_folder(path)?;
        let folder = File::open(path).map_err(|error| unusable("open", path, error))?;
        let readers = Readers::open(path, access)?;
        Ok(Directory {
            path: path.to_owned(),
            folder,
            access,
            files: FileTable::new(path, access),
            readers,
            named: tier_file,
        })
    }

    /// Opens the folder of answers in that of a flash tier, both made first if they are missing,
    /// and locks it to write.
    ///
    /// Fails with [`Error::Invalid`] if the folder of the tier has anything else in it, or the
    /// folder of answers is a link or somebody else's. Fails with [`Error::Locked`] if it is to be
    /// written and another process writes.
    pub fn open_answers(tier: &Path, access: Access) -> Result<Directory> {
        ensure_tier_folder(tier)?;
        let path = &tier.join(ANSWERS_NAME);
        if !path.exists() {
            make_folder(path, TIER_FOLDER)?;
        }
        let folder = open_folder(path)
            .and_then(|folder| check_owner(&folder).map(|()| folder))
            .map_err(|error| unusable("open", path, error))?;
        let readers = Readers::open(path, access)?;
        Ok(Directory {
            path: path.to_owned(),
            folder,
            access,
            files: FileTable::new(path, access),
            readers,
            named: answers_file,
        })
    }

    /// Returns the readers and the writer of the folder.
    pub fn readers(&self) -> &Readers {
        &self.readers
    }

    /// Closes the files that are open for reading.
    pub fn close_files(&self) {
        self.files.close_all();
    }

    /// Returns true if transfers bypass the operating system's page cache.
    pub fn is_direct(&self) -> bool {
        self.files.is_direct()
    }

    /// The open file `id`, for `operation`.
    pub fn file(&self, id: FileId, operation: &'static str) -> Result<Arc<OpenFile>> {
        let file = self.files.get(id);
        file.map_err(|error| self.failed(operation, id, error))
    }

    /// Rejects changes if the folder was opened for reading.
    pub fn check_writable(&self) -> Result<()> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(Error::invalid(format!(
                "{} was opened for reading; open it for writing to change it",
                self.path.display()
            ))),
        }
    }

    /// Makes an empty file, which must not exist.
    pub fn create(&self, id: FileId) -> Result<()> {
        self.check_writable()?;
        self.check_in_place("create", id)?;
        let made = self.files.create(id);
        made.map_err(|error| self.failed("create", id, error))
    }

    /// Removes a file, which must exist.
    pub fn remove(&self, id: FileId) -> Result<()> {
        self.check_writable()?;
        self.check_in_place("remove", id)?;
        let removed = self.files.remove(id);
        removed.map_err(|error| self.failed("remove", id, error))
    }

    /// Fails if the folder of a writer was removed or replaced since it was opened.
    pub fn check_in_place(&self, operation: &'static str, id: FileId) -> Result<()> {
        let lost = if self.access == Access::Read {
            None
        } else if !self.readers.has_lock() {
            Some("the file LOCK")
        } else if !self.files.has_superblock() {
            Some("the superblock")
        } else {
            None
        };
        match lost {
            None => Ok(()),
            Some(lost) => Err(Error::Device {
                operation,
                file: self.path.join(id.name()).display().to_string(),
                reason: format!(
                    "expected {lost} that was opened, found none or another: the folder was removed, moved or replaced \
                     meanwhile, and what was written to it since may be lost: look where it is, and write the documents \
                     again"
                ),
                full: false,
            }),
        }
    }

    /// Returns the error of `operation` on a file: the caller can mend a lack of rights, or a file
    /// that is no regular one.
    fn failed(&self, operation: &'static str, id: FileId, error: io::Error) -> Error {
        let is_callers =
            error.kind() == io::ErrorKind::PermissionDenied || Irregular::of(&error).is_some();
        if is_callers {
            unusable(operation, &self.path.join(id.name()), error)
        } else {
            failure(operation, id, error)
        }
    }

    /// All files of the index or the tier with their lengths in whole pages; foreign files are
    /// passed over.
    pub fn list(&self) -> Result<Vec<(FileId, u32)>> {
        let entries = fs::read_dir(&self.path);
        let entries = entries.map_err(|error| failure("list", self.path.display(), error))?;
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| failure("list", self.path.display(), error))?;
            if let Some(id) = entry.file_name().to_str().and_then(self.named) {
                match entry.metadata() {
                    // A writer of another process has removed it since.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    metadata => files.push((id, self.page_count(id, metadata)?)),
                }
            }
        }
        Ok(files)
    }

    fn page_count(&self, id: FileId, metadata: io::Result<fs::Metadata>) -> Result<u32> {
        let metadata = metadata.map_err(|error| failure("list", id, error))?;
        check_type(metadata.file_type()).map_err(|error| self.failed("list", id, error))?;
        let pages = metadata.len() / PAGE_SIZE as u64;
        u32::try_from(pages).map_err(|_| {
            Error::damaged(
                id.name(),
                format!("expected fewer than 2^32 pages, got {pages}"),
            )
        })
    }

    /// Bytes of the file system that this process may still take.
    pub fn free_bytes(&self) -> Result<u64> {
        let told = rustix::fs::fstatvfs(&self.folder);
        let told =
            told.map_err(|error| failure("look at", self.path.display(), io::Error::from(error)))?;
        Ok(match told.f_blocks {
            // A file system that does not count what it has.
            0 => u64::MAX,
            _ => told.f_bavail.saturating_mul(told.f_frsize),
        })
    }

    /// Returns the number of the disk that the folder is on.
    pub fn disk(&self) -> Option<u64> {
        self.folder.metadata().ok().map(|metadata| metadata.dev())
    }

    /// Makes creations and removals durable.
    pub fn sync(&self) -> Result<()> {
        let synced = self.folder.sync_all();
        synced.map_err(|error| failure("sync", self.path.display(), error))
    }
}

fn ensure_folder(path: &Path, options: &OpenOptions) -> Result<()> {
    let create = options.create && options.access == Access::Write;
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() => Err(Error::invalid(format!(
            "{} is a file, but an index is a folder: give the folder's path",
            path.display()
        ))),
        Ok(_) if create => ensure_room_for_index(path),
        Ok(_) => ensure_index(path),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable("open", path, error)),
        Err(_) if create => make_folder(path, INDEX_FOLDER),
        Err(_) => Err(Error::invalid(format!(
            "{} does not exist: check the path, or open it for writing and let it be made",
            path.display()
        ))),
    }
}

/// Returns the number of the disk that a folder is on, or will be on once it is made.
pub fn disk_of(path: &Path) -> Option<u64> {
    match fs::metadata(path) {
        Ok(metadata) => Some(metadata.dev()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => None,
        Err(_) => match path.parent()? {
            parent if parent.as_os_str().is_empty() => disk_of(Path::new(".")),
            parent => disk_of(parent),
        },
    }
}

fn tier_file(name: &str) -> Option<FileId> {
    (name == FileId::Tier.name()).then_some(FileId::Tier)
}

fn answers_file(name: &str) -> Option<FileId> {
    (name == FileId::Answers.name()).then_some(FileId::Answers)
}

/// Makes the folder of a flash tier, unless it is there, and keeps a tier out of a folder that has
/// other files: an index, say, or what another program keeps.
fn ensure_tier_folder(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() => {
            return Err(Error::invalid(format!(
                "{} is a file, but a cache is a folder: give the folder's path",
                path.display()
            )));
        }
        Ok(_) => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(unusable("open", path, error));
        }
        Err(_) => return make_folder(path, TIER_FOLDER),
    }
    let entries = fs::read_dir(path).map_err(|error| unusable("list", path, error))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    match names.filter(|name| !is_of_tier(name)).min() {
        None => Ok(()),
        Some(name) => Err(Error::invalid(format!(
            "{} is no cache: expected a cache, an empty folder or none, found {name:?} in it: give another path, or \
             move the files away",
            path.display()
        ))),
    }
}

/// Keeps an index from being made among other files. What a creation that was cut short has left is
/// no other file.
fn ensure_room_for_index(path: &Path) -> Result<()> {
    let has_index = has_index_files(path)?;
    match foreign_entry(path).filter(|_| !has_index) {
        None => Ok(()),
        Some(name) => Err(Error::Format {
            path: path.to_owned(),
            reason: format!(
                "expected an index, an empty folder or none, found {name:?}, which is no part of an index: \
                 give another path, or move the files away"
            ),
        }),
    }
}

/// Keeps a mistyped path from getting a lock file in a folder that is no index.
fn ensure_index(path: &Path) -> Result<()> {
    // What is damaged is told by whoever looks for its root.
    if has_index_files(path)? {
        return Ok(());
    }
    Err(Error::Format {
        path: path.to_owned(),
        reason: "expected an index, got a folder without a superblock".to_owned(),
    })
}

fn has_index_files(path: &Path) -> Result<bool> {
    let entries = fs::read_dir(path).map_err(|error| unusable("open", path, error))?;
    let mut names = entries.flatten().map(|entry| entry.file_name());
    Ok(names.any(|name| name.to_str().and_then(FileId::from_name).is_some()))
}

/// Makes the folder and every missing one above it, each durable in the one that holds it.
fn make_folder(path: &Path, mode: u32) -> Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.exists() {
        make_folder(parent, mode)?;
    }
    let made = match fs::DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    };
    made.and_then(|()| File::open(parent)?.sync_all())
        .map_err(|error| unusable("create", path, error))
}
