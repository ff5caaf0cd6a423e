//! Restoring: a backup becomes an index again, in a new folder, every page and then everything in
//! it checked.
//!
//! It is the copying of a backup (see `backup`) under another identity, for which each page is
//! sealed anew. So the restored index and the one that the backup was made of may both be written
//! from then on, and neither is ever taken for the other: no page of one proves itself in the
//! other, and neither is backed up into a folder of the other.

use std::path::Path;

use super::copying::BackupReport;
use crate::base::Result;
use crate::device::Backend;
use crate::index::handle::Index;
use crate::index::inspect::CheckReport;
use crate::index::recovery::draw_number;
use crate::index::state::Options;
use crate::storage::{History, RootSlot, SlotKind};

/// The results of restoring a backup.
#[derive(Clone, Debug)]
pub struct RestoreReport {
    /// The files that were copied.
    pub copied: BackupReport,
    /// The findings of the check of the restored index.
    pub checked: CheckReport,
    /// The backend that did the I/O.
    pub backend: Backend,
}

impl Options {
    /// Makes an index in the folder `to`, which must be missing or empty, of the backup in the
    /// folder `from`: copies every page, checked, and then reads the whole index and compares
    /// everything in it. `progress` is told how many bytes are copied, and of how many. Any index
    /// that is closed can be restored so.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) names the page of the backup that is not what was
    /// written; [`Error::Invalid`](crate::Error::Invalid) if the folder is not empty.
    pub fn restore(
        self,
        from: impl AsRef<Path>,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport> {
        let source = self.clone().read_only().open(from)?;
        self.restore_from(source, to, progress)
    }

    /// Makes an index in the folder `to` of an index that is open for reading, as
    /// [`Options::restore`] does of the one in a folder.
    pub fn restore_from(
        self,
        source: Index,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport> {
        let options = self.read_only();
        let copied = {
            // Its memory is given back before the new index is opened.
            let source = source;
            let backup = source.begin_backup()?.0;
            let slot = RootSlot {
                identity: draw_number()?,
                kind: SlotKind::Index,
                history: History::default(),
                ..backup.slot
            };
            backup.copy_as(&slot, to.as_ref(), progress)?
        };
        let restored = options.open(to)?;
        let checked = restored.check(&|_, _| ())?;
        Ok(RestoreReport {
            copied,
            checked,
            backend: restored.backend(),
        })
    }
}
