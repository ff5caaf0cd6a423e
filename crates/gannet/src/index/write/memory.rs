//! The memory of a writer beside the posting buffers: what tables take, and what a flush does.

use std::sync::Arc;

use crate::base::{Reservation, Result};
use crate::index::state::{Shared, State};

/// The reservations of a writer.
pub(crate) struct WriterMemory {
    /// Of a flush, set aside while there is anything to be flushed.
    flush: Option<Arc<Reservation>>,
    /// Of what the state keeps in memory beside frames and buffers.
    tables: Reservation,
}

impl WriterMemory {
    /// Reserves what the tables of a state take.
    pub(crate) fn reserve(shared: &Shared, state: &State) -> Result<WriterMemory> {
        let what = "the tables of the index";
        Ok(WriterMemory {
            flush: None,
            tables: shared.budget.reserve(what, state.tables_bytes())?,
        })
    }

    /// Sets the memory of a flush aside, with that of the copies that it makes. It is held as long
    /// as there is anything to be flushed, so that what was taken can be made durable whatever else
    /// takes memory.
    pub(super) fn hold_flush(
        &mut self,
        shared: &Shared,
        state: &State,
    ) -> Result<Arc<Reservation>> {
        if let Some(held) = &self.flush {
            return Ok(Arc::clone(held));
        }
        let bytes = shared.memory.flush.bytes();
        let reserved = Arc::new(shared.budget.reserve("a flush", bytes)?);
        self.flush = Some(Arc::clone(&reserved));
        if let Err(error) = self.charge_tables(state) {
            self.flush = None;
            return Err(error);
        }
        Ok(reserved)
    }

    /// Gives the memory of a flush back.
    pub(super) fn give_up_flush(&mut self, state: &State) {
        self.flush = None;
        // Tables that grew to more than they had with the copies wait for the next write, which
        // says so if there is no room.
        let _ = self.charge_tables(state);
    }

    /// Reserves what tables take. What a flush changes of the terms' is there twice meanwhile.
    pub(super) fn charge_tables(&mut self, state: &State) -> Result<()> {
        let copies = match self.flush {
            Some(_) => state.tree_bytes(),
            None => 0,
        };
        self.tables.grow_to(state.tables_bytes() + copies)
    }

    /// Returns the bytes that are reserved for tables.
    pub(super) fn tables_bytes(&self) -> usize {
        self.tables.bytes()
    }

    /// Gives the memory of tables to whoever goes on with them.
    pub(super) fn into_tables(self) -> Reservation {
        self.tables
    }
}
