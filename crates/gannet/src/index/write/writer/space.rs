//! The writer's side of space: what is rejected, and what is done before for there to be enough.

use super::Writer;
use crate::base::Result;
use crate::index::owners::{KeptSpace, NextFlush};
use crate::index::schedule::{Condition, MaintenanceTask, Occasion, rows};
use crate::index::state::no_space;
use crate::index::write::space::{batch_bytes, kept, rebuild_bytes, reserve_bytes};

impl Writer {
    /// Rejects a batch of so many bytes if there is not enough space for it and for what it leads
    /// to; the writer goes on.
    pub(super) fn check_space(&mut self, source_bytes: u64) -> Result<()> {
        if self.space.are_recent(source_bytes) {
            return Ok(());
        }
        let reserve = reserve_bytes(&self.shared.store, &self.state);
        self.keep_or_reject(
            batch_bytes(source_bytes),
            reserve,
            "for the batch, for what was written before it, and to delete and vacuum",
        )
    }

    /// Rejects deletions of so many bytes of IDs if there is not enough space for them: the reserve
    /// is there for them.
    pub(super) fn check_space_to_delete(&mut self, id_bytes: u64) -> Result<()> {
        if self.space.are_recent(id_bytes) {
            return Ok(());
        }
        self.keep_or_reject(
            batch_bytes(id_bytes),
            0,
            "for the deletions and what was written before them",
        )
    }

    /// Rejects work that brings no documents if there is not enough space for it.
    pub(super) fn check_space_now(&mut self) -> Result<()> {
        self.keep_or_reject(batch_bytes(0), 0, "for what was written before")
    }

    /// Rejects to write the index anew if there is not enough space for that.
    pub(super) fn check_space_to_write_anew(&self) -> Result<()> {
        let needed = rebuild_bytes(&self.shared.store);
        match self.shared.room.keep(self.kept().bytes(), 0, needed)? {
            Some((free, needed)) => Err(no_space(free, needed, "to write the index anew")),
            None => Ok(()),
        }
    }

    /// Keeps what the next flush and checkpoint may write, once those before are done.
    pub(super) fn keep_space(&self) -> Result<()> {
        self.shared.room.keep(self.kept().bytes(), 0, 0).map(drop)
    }

    /// Before anything is rejected, space is made: zones that no reader needs any more are removed,
    /// a flush under way is ended, and the buffers are flushed where that helps.
    fn keep_or_reject(&mut self, batch: u64, reserve: u64, purpose: &str) -> Result<()> {
        let mut rows = rows(Occasion::FullDevice);
        loop {
            let kept = self.kept();
            let Some((free, needed)) = self.shared.room.keep(kept.bytes(), batch, reserve)? else {
                break;
            };
            let row = rows.next().ok_or_else(|| no_space(free, needed, purpose))?;
            let condition = Condition {
                kept,
                lacking: needed - free,
                ..self.condition()
            };
            let ends_flush = matches!(row.task, MaintenanceTask::EndFlush);
            if self.act.retries() && self.flushes.is_under_way() && ends_flush {
                // It is waited for without the lock.
                return Err(no_space(free, needed, purpose));
            }
            if (row.is_due)(&condition) {
                self.carry_out(row.task)?;
            }
        }
        self.space.note();
        Ok(())
    }

    /// Bytes that a flush and a checkpoint of all that was taken so far may write.
    pub(crate) fn kept(&self) -> KeptSpace {
        let buffers = &self.state.buffers;
        let unwritten = self.flushes.unwritten_ids();
        let ids = buffers.id_entry_bytes() + unwritten.map_or(0, |ids| ids.entry_bytes());
        let postings = match unwritten {
            Some(_) => buffers.posting_bytes(),
            None => buffers.filling().posting_bytes(),
        };
        kept(&NextFlush {
            state: &self.state,
            store: &self.shared.store,
            posting_bytes: postings as u64,
            id_bytes: ids as u64,
            // A flush under way, and one behind it.
            flushes: 1 + u64::from(unwritten.is_some()),
            log_source_bytes: self.log.backlog().source_bytes,
            root_bytes: self.roots.record_bytes(),
        })
    }
}
