//! The folder of an index as the files of a modelled drive.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use gannet::lab::{FileId, PAGE_SIZE, PageSpan};
use gannet::{Error, Result};
use gannet_ssd::smart::PageSource;

/// The zones of an index. Those that are removed while they are read give an error.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The index in this folder.
    pub fn new(path: impl AsRef<Path>) -> Folder {
        let path = path.as_ref().to_owned();
        Folder { path }
    }

    fn path_of(&self, file: FileId) -> PathBuf {
        self.path.join(file.name())
    }
}

impl PageSource for Folder {
    fn pages(&self, file: FileId) -> Option<u32> {
        let bytes = std::fs::metadata(self.path_of(file)).ok()?.len();
        u32::try_from(bytes / PAGE_SIZE as u64).ok()
    }

    fn read(&self, span: &PageSpan, bytes: &mut [u8]) -> Result<()> {
        let failed = |error: std::io::Error| {
            let file = span.file;
            Error::invalid(format!("{file} cannot be read for the drive: {error}"))
        };
        let file = File::open(self.path_of(span.file)).map_err(failed)?;
        let start = u64::from(span.page) * PAGE_SIZE as u64;
        file.read_exact_at(bytes, start).map_err(failed)
    }
}
