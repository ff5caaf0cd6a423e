//! A local folder as a store of objects.
//!
//! The folder may have been prepared by somebody else. The one that the user names may be reached
//! through links; what always holds below it: no link is followed, and what is opened is a regular
//! file, so that opening never waits, and nothing outside is read, written or removed.
//!
//! A file system has no operation that replaces a file only if nobody else has: publishers replace
//! an object under a lock.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Name;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

/// The file that publishers of a folder lock.
pub(crate) const LOCK: &str = "LOCK";

/// Locks a folder against other publishers, until what this gives is dropped.
pub(crate) fn lock(folder: &Path) -> io::Result<File> {
    let path = folder.join(LOCK);
    check_file(&path)?;
    let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    let lock = File::from(openat(
        CWD,
        &path,
        OFlags::RDWR | OFlags::CREATE | safe,
        mode,
    )?);
    if !lock.metadata()?.is_file() {
        return Err(irregular(&path));
    }
    match flock(&lock, FlockOperation::LockExclusive) {
        Ok(()) => Ok(lock),
        Err(error @ (Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS)) => {
            Err(io::Error::other(format!(
                "{error}: this file system has no locks, which publishers need: mount it with locks, or publish to \
                 another folder"
            )))
        }
        Err(error) => Err(error.into()),
    }
}

/// The objects of a local folder.
#[derive(Debug)]
pub(crate) struct LocalFolder {
    files: LocalFileSystem,
    path: PathBuf,
}

impl LocalFolder {
    /// The folder `path`, which must be there.
    pub(crate) fn at(path: &Path) -> Result<LocalFolder> {
        Ok(LocalFolder {
            files: LocalFileSystem::new_with_prefix(path)?.with_fsync(true),
            path: path.canonicalize().map_err(failed)?,
        })
    }

    /// Fails if the file of an object is reached through a link, or is none.
    fn check(&self, name: &Name) -> Result<()> {
        let file = self.files.path_to_filesystem(name)?;
        let below = file.strip_prefix(&self.path).unwrap_or(&file);
        let mut folder = self.path.clone();
        let folders = below.parent().into_iter().flat_map(Path::components);
        for part in folders {
            folder.push(part);
            check_folder(&folder).map_err(rejected)?;
        }
        check_file(&file).map_err(rejected)
    }

    /// Fails if there is a link anywhere, which a listing would follow.
    fn check_all(&self) -> Result<()> {
        let mut left = vec![self.path.clone()];
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let found = entry.file_type().map_err(failed)?;
                if found.is_symlink() {
                    return Err(rejected(irregular(&entry.path())));
                }
                if found.is_dir() {
                    left.push(entry.path());
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl ObjectStore for LocalFolder {
    async fn put_opts(
        &self,
        name: &Name,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.check(name)?;
        self.files.put_opts(name, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        name: &Name,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.check(name)?;
        self.files.put_multipart_opts(name, options).await
    }

    async fn get_opts(&self, name: &Name, options: GetOptions) -> Result<GetResult> {
        self.check(name)?;
        self.files.get_opts(name, options).await
    }

    fn delete_stream(
        &self,
        names: BoxStream<'static, Result<Name>>,
    ) -> BoxStream<'static, Result<Name>> {
        // What is removed was listed before.
        match self.check_all() {
            Ok(()) => self.files.delete_stream(names),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    fn list(&self, prefix: Option<&Name>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.check_all() {
            Ok(()) => self.files.list(prefix),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Name>) -> Result<ListResult> {
        self.check_all()?;
        self.files.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Name, to: &Name, options: CopyOptions) -> Result<()> {
        self.check(from)?;
        self.check(to)?;
        self.files.copy_opts(from, to, options).await
    }
}

impl fmt::Display for LocalFolder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(out)
    }
}

/// Fails if there is anything but a regular file.
fn check_file(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(irregular(path)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Fails if there is anything but a folder.
fn check_folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_dir() => Err(irregular(path)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn irregular(path: &Path) -> io::Error {
    io::Error::other(format!(
        "{} is a link, or no regular file where one is expected: nothing was read or written through it; remove it",
        path.display()
    ))
}

fn rejected(error: io::Error) -> Error {
    Error::NotSupported {
        source: error.into(),
    }
}

fn failed(error: io::Error) -> Error {
    Error::Generic {
        store: "folder",
        source: error.into(),
    }
}
