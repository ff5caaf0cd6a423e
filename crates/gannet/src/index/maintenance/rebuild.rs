//! Rebuild: the index is written anew beside itself, its live documents numbered from 0 without
//! gaps, in their order; a root then names the new one in place of the old.
//!
//! ```text
//! checkpoint ──▶ the writer's parts are set aside
//!     ──▶ records go through empty parts, unseen ──▶ root
//! ```
//!
//! 1. What is written meanwhile lies in zones that no root names. A crash leaves the old index, and
//!    opening removes them.
//! 2. Readers see the old index until the root is durable, and snapshots of it as long as they may;
//!    writing waits.
//! 3. Documents keep IDs, versions and sequence numbers. Only their numbers change, and with them
//!    the order of equal scores.
//! 4. After a failure the parts that were set aside are put back, and the zones are removed.

use crate::base::{DocId, Result};
use crate::cache::{Pages, finish};
use crate::documents::stored_records;
use crate::index::handle::Index;
use crate::index::state::State;
use crate::index::write::{Anew, Writer};
use crate::postings::DeadDocs;

/// Documents whose records are read together, at most, and the share of the frames that these take.
const DOCUMENTS_AT_ONCE: usize = 4096;
const FRAMES_ONE_OF: usize = 16;

impl Index {
    /// Writes the index anew with its live documents numbered from 0: nothing of deleted documents
    /// is left, and lists are as after a bulk load. Searches go on; writing waits. It takes about
    /// as much time as indexing all documents, and twice the space of what lives meanwhile.
    /// `progress` is told what is being done, how much of it is, and of how much.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`](crate::Error::Memory) if the memory lacks a bit for each document.
    /// [`Error::Device`](crate::Error::Device) if there is too little space. The index is as it was
    /// then; if the root that names the new one cannot be written, the writer stops.
    pub fn rebuild(&self, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<()> {
        self.after_flush(|writer| rebuild(writer, progress))
    }
}

fn rebuild(writer: &mut Writer, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<()> {
    let old = writer.prepare_anew()?;
    let shared = writer.shared();
    let what = "the live documents of a rebuild";
    let memory = DeadDocs::memory_bytes(old.below);
    let _memory = shared.budget.reserve(what, memory)?;
    let mut pages = Pages::new(&shared.pool);
    let deletions = old.tables.deletions(old.below, &mut pages)?;
    drop(pages);
    let dead = DeadDocs::new(&deletions);
    let mut anew = Anew::begin(writer)?;
    let mut live = (0..old.below).filter(|doc| !dead.has(*doc));
    let written = write_anew(&mut anew, &old, &mut live, progress);
    drop(old);
    anew.end(written)
}

/// Writes these documents of the old index.
fn write_anew(
    anew: &mut Anew<'_>,
    old: &State,
    numbers: &mut dyn Iterator<Item = DocId>,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<()> {
    let room = anew.shared().pool.capacity() / FRAMES_ONE_OF;
    loop {
        let some: Vec<DocId> = numbers.take(DOCUMENTS_AT_ONCE).collect();
        if some.is_empty() {
            return Ok(());
        }
        let mut left = some.as_slice();
        while !left.is_empty() {
            let mut pages = Pages::new(&anew.shared().pool);
            let records = finish(&mut pages, |pages| {
                stored_records(left, room, &old.tables, pages)
            })?;
            drop(pages);
            left = &left[records.len()..];
            anew.take_records(records)?;
            progress("documents", anew.documents(), old.documents);
        }
    }
}
