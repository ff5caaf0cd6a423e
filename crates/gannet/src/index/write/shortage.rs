//! Too little memory for a write: what is tried, one after the other.
//!
//! 1. Documents are prepared in the part of the memory for that, side by side with others.
//! 2. Where that is too little, they are prepared again alone, as an act of the writer, with all
//!    the memory that is left when nothing waits for a flush ([`WriterLock::write_alone`]).
//! 3. An act that lacks memory has the writer give back what it can, in the order of
//!    `state/shortage.rs` (`writer/shortage.rs`).
//! 4. If that is not enough beside a flush, or while searches hold earlier states, the act ends. It
//!    is waited for these without the lock, and the act begins anew ([`WriterLock::take_behind`]).

use super::gate::Gate;
use super::lock::WriterLock;
use super::writer::Written;
use crate::base::{Error, Result};
use crate::index::ingest::{Input, PreparedBatch, Workbench};
use crate::index::state::Shared;

impl WriterLock {
    /// Writes documents as one batch, none of which may be rejected.
    pub(crate) fn write_documents<'i, I: Iterator<Item = Input<'i>>>(
        &self,
        shared: &Shared,
        inputs: &dyn Fn() -> I,
    ) -> Result<Written> {
        let mut bench = Workbench::default();
        let (preparation, preparing) = (&shared.preparation, &shared.preparing);
        match preparation.prepare(&mut bench, preparing, &mut inputs()) {
            Ok(batch) => {
                batch.check_whole()?;
                self.write_batch(shared, &batch)
            }
            // There may be enough where no other documents are prepared.
            Err(Error::Memory { .. }) => self.write_alone(shared, &mut bench, inputs),
            Err(error) => Err(error),
        }
    }

    /// Prepares and writes documents with all the memory that is left when nothing waits for a
    /// flush.
    pub(crate) fn write_alone<'i, I: Iterator<Item = Input<'i>>>(
        &self,
        shared: &Shared,
        bench: &mut Workbench,
        inputs: &dyn Fn() -> I,
    ) -> Result<Written> {
        self.take_as_batch(shared, Gate::Backpressure, |writer| {
            writer.write_alone(bench, inputs)
        })
    }

    /// Writes a batch, once the flush under way leaves room for it.
    pub(crate) fn write_batch(&self, shared: &Shared, batch: &PreparedBatch) -> Result<Written> {
        self.take_as_batch(shared, Gate::Backpressure, |writer| writer.write(batch))
    }
}
