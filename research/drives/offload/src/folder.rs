//! The folder of an index as the files of a modelled drive.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gannet::device::{FileId, PAGE_SIZE, PageSpan};
use gannet::{Error, IndexIdentity, Result, prove_page};
use gannet_ssd::smart::PageSource;

/// The zones of an index. Those that are removed while they are read give an error, and so do pages
/// that do not prove themselves: the programs of a drive look at no checksums.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// Nothing before the first task, which brings it.
    identity: OnceLock<IndexIdentity>,
}

impl Folder {
    /// The index in this folder.
    pub fn new(path: impl AsRef<Path>) -> Folder {
        Folder {
            path: path.as_ref().to_owned(),
            identity: OnceLock::new(),
        }
    }

    /// Pages prove themselves by this identity from now on.
    pub fn prove_by(&self, identity: IndexIdentity) {
        let _ = self.identity.set(identity);
    }

    /// Pages prove themselves as those of another folder do.
    pub fn prove_as(&self, other: &Folder) {
        if let Some(identity) = other.identity.get() {
            self.prove_by(*identity);
        }
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
        file.read_exact_at(bytes, start).map_err(failed)?;
        let unknown = || Error::internal("a page for a drive before its index is known");
        let identity = *self.identity.get().ok_or_else(unknown)?;
        let mut pages = (span.page..).zip(bytes.as_chunks().0);
        pages.try_for_each(|(page, bytes)| prove_page(bytes, identity, span.file, page))
    }
}
