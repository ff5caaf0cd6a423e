//! Flush and checkpoint: the posting buffer moves into the dictionary and its chunks, then a root makes all
//! of it durable and the log starts anew.
//!
//! Order matters: (1) everything the new root refers to is written and synced, the root record with it;
//! (2) the root slot is written and synced; (3) readers get the new state; (4) zones that nothing refers to
//! any more are given up.

use std::sync::Arc;

use super::root;
use super::state::Epoch;
use super::writer::Writer;
use crate::analysis::split_term_key;
use crate::base::{Result, Span};
use crate::cache::Pages;
use crate::dictionary::{Change, Window};
use crate::postings::{Fragment, MergeItem, Merger, SortedTerms};
use crate::storage::{RootSlot, Unsynced, write_slot};

impl Writer {
    /// Makes everything written so far durable, and the log short.
    pub(super) fn checkpoint(&mut self) -> Result<()> {
        self.check_running()?;
        let done = self.try_checkpoint();
        self.stop_on_error(done)
    }

    fn try_checkpoint(&mut self) -> Result<()> {
        let flushed = self.flush_postings()?;
        self.flush_ids()?;
        self.write_root()?;
        if flushed {
            self.flushes += 1;
        }
        self.give_up_zones()?;
        self.clean()
    }

    /// Moves the posting buffer into the term dictionary.
    fn flush_postings(&mut self) -> Result<bool> {
        let buffer = Arc::clone(&self.state.buffer);
        if buffer.terms() == 0 {
            return Ok(false);
        }
        let sorted = buffer.sorted();
        let keys: Vec<&[u8]> = (0..sorted.len()).map(|rank| sorted.key(rank)).collect();
        let mut merge = TermMerge {
            sorted: &sorted,
            postings: &mut self.postings,
            shared: &self.shared,
            tables: &self.state.tables,
        };
        self.terms.apply(&self.shared.pool, &keys, &mut |window| merge.window(window))?;
        drop(keys);
        drop(sorted);
        self.state.buffer = self.fresh_buffer()?;
        Ok(true)
    }

    fn flush_ids(&mut self) -> Result<()> {
        let sorted = self.new_ids.sorted();
        let keys: Vec<&[u8]> = sorted.iter().map(|(id, _)| id.as_bytes()).collect();
        self.ids.apply(&self.shared.pool, &keys, &mut |window| {
            for index in window.indexes() {
                let change = match sorted[index].1 {
                    Some(entry) => Change::Put(entry.encode()),
                    None => Change::Remove,
                };
                window.set(index, change)?;
            }
            Ok(())
        })?;
        drop(keys);
        drop(sorted);
        self.new_ids.clear()
    }

    /// Writes everything out and a root that refers to it, then publishes that state.
    fn write_root(&mut self) -> Result<()> {
        let log_start = self.log.end();
        let (_, mut unsynced) = self.flush_streams()?;
        self.generation += 1;
        self.state.epoch = Arc::new(Epoch {
            generation: self.generation,
        });
        let root = self.append_root(log_start)?;
        self.roots.flush()?;
        unsynced.join(self.roots.take_unsynced());
        self.shared.store.sync(&unsynced)?;
        let slot = RootSlot {
            identity: self.shared.store.identity(),
            generation: self.generation,
            root,
        };
        write_slot(self.shared.store.device(), &slot)?;
        if let Some(old) = self.root.replace(root) {
            self.shared.store.release_span(old);
        }
        self.log_source_bytes = 0;
        self.publish(self.state.below);
        Ok(())
    }

    /// Writes out all streams but the roots'.
    fn flush_streams(&mut self) -> Result<((), Unsynced)> {
        let store = Arc::clone(&self.shared.store);
        self.state.tables.write_changes(&store, &mut self.pages)?;
        self.terms.write_mapping(&mut self.pages)?;
        self.ids.write_mapping(&mut self.pages)?;
        let mut unsynced = self.log.flush()?;
        self.terms.flush()?;
        self.ids.flush()?;
        unsynced.join(self.terms.take_unsynced());
        unsynced.join(self.ids.take_unsynced());
        for stream in [&mut self.postings, &mut self.moved, &mut self.pages] {
            stream.flush()?;
            unsynced.join(stream.take_unsynced());
        }
        self.state.terms = self.terms.view();
        self.state.ids = self.ids.view();
        Ok(((), unsynced))
    }

    fn append_root(&mut self, log_start: crate::storage::LogStart) -> Result<Span> {
        self.state.schema = self.shared.preparation.schema();
        let (mut terms, mut ids) = (Vec::new(), Vec::new());
        self.terms.encode(&mut terms);
        self.ids.encode(&mut ids);
        let zones = self.shared.store.zones().clone();
        let bytes = root::encode(&self.state, &zones, log_start, &terms, &ids);
        self.roots.append(&bytes)
    }

    /// Gives up zones that the durable root does not refer to, and removes those no reader can reach.
    pub(super) fn give_up_zones(&mut self) -> Result<()> {
        let store = &self.shared.store;
        let empty = store.zones().take_empty();
        self.shared.published.retire(self.generation, empty);
        let free = self.shared.published.take_unreachable();
        store.remove_zones(&free)
    }
}
