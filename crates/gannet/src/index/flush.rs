//! Flush and checkpoint: the posting buffer moves into the dictionary and its chunks, then a root makes all
//! of it durable and the log starts anew.
//!
//! Order matters: (1) everything the new root refers to is written and synced, the root record with it;
//! (2) the root slot is written and synced; (3) readers get the new state; (4) zones that nothing refers to
//! any more are given up.

use std::collections::HashMap;
use std::sync::Arc;

use super::root;
use super::state::Epoch;
use super::writer::Writer;
use crate::analysis::{FieldId, split_term_key};
use crate::base::Result;
use crate::cache::{FramePool, Pages, finish};
use crate::dictionary::{Change, Window};
use crate::documents::{DocumentTables, NormCursor};
use crate::postings::{
    ChunkStreams, MERGE_MEMORY, MergeItem, NormReader, Norms, SortedTerms, merge_window,
};
use crate::storage::{RootSlot, Store, Unsynced, write_slot};

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
        self.clean()?;
        self.write_root()?;
        self.flushes += flushed as u64;
        self.give_up_zones()
    }

    /// Moves the posting buffer into the term dictionary.
    fn flush_postings(&mut self) -> Result<bool> {
        let buffer = Arc::clone(&self.state.buffer);
        if buffer.terms() == 0 {
            return Ok(false);
        }
        // The share that neither frames nor the posting buffer take is there for this.
        let budget = &self.shared.budget;
        let _memory = budget.reserve("a flush", MERGE_MEMORY.min(budget.total() / 8))?;
        let sorted = buffer.sorted();
        let keys: Vec<&[u8]> = (0..sorted.len()).map(|rank| sorted.key(rank)).collect();
        self.postings.leave_sparse_zones(&self.shared.store);
        let mut merge = TermMerge {
            sorted: &sorted,
            postings: &mut self.postings,
            store: &self.shared.store,
            norms: TableNorms {
                tables: &self.state.tables,
                pool: &self.shared.pool,
            },
        };
        self.terms
            .apply(&self.shared.pool, &keys, &mut |window| merge.window(window))?;
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
        let (terms, ids) = self.encode_trees()?;
        let mut unsynced = self.flush_streams()?;
        self.generation += 1;
        self.state.epoch = Arc::new(Epoch {
            generation: self.generation,
        });
        self.state.schema = self.shared.preparation.schema();
        let (empty, zones) = {
            let mut zones = self.shared.store.zones();
            (zones.take_empty(), zones.clone())
        };
        let bytes = root::encode(&self.state, &zones, log_start, &terms, &ids);
        let root = self.roots.append(&bytes)?;
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
        self.shared.published.retire(self.generation, empty);
        Ok(())
    }

    /// Writes the changed pages of all tables; gives what the root keeps of the two trees.
    fn encode_trees(&mut self) -> Result<(Vec<u8>, Vec<u8>)> {
        let store = Arc::clone(&self.shared.store);
        self.state.tables.write_changes(&store, &mut self.pages)?;
        let (mut terms, mut ids) = (Vec::new(), Vec::new());
        self.terms.encode(&mut self.pages, &mut terms)?;
        self.ids.encode(&mut self.pages, &mut ids)?;
        self.state.terms = self.terms.view().clone();
        self.state.ids = self.ids.view().clone();
        Ok((terms, ids))
    }

    /// Writes out all streams but the roots'.
    fn flush_streams(&mut self) -> Result<Unsynced> {
        self.terms.flush()?;
        self.ids.flush()?;
        // A root must not refer to what another thread's sync has taken and not finished.
        let mut unsynced = std::mem::take(&mut self.syncing);
        unsynced.join(self.log.flush()?);
        let [small, large] = self.postings.both();
        let streams = [
            self.terms.stream(),
            self.ids.stream(),
            small,
            large,
            &mut self.moved,
            &mut self.pages,
        ];
        for stream in streams {
            stream.flush()?;
            unsynced.join(stream.take_unsynced());
        }
        Ok(unsynced)
    }

    /// Removes the zones that neither the durable root nor any reader can reach.
    fn give_up_zones(&mut self) -> Result<()> {
        let free = self.shared.published.take_unreachable();
        self.shared.store.remove_zones(&free)
    }
}

/// What merging terms into the dictionary needs.
struct TermMerge<'a> {
    sorted: &'a SortedTerms<'a>,
    postings: &'a mut ChunkStreams,
    store: &'a Store,
    norms: TableNorms<'a>,
}

impl TermMerge<'_> {
    fn window(&mut self, window: &mut Window<'_>) -> Result<()> {
        let mut items = Vec::with_capacity(window.indexes().len());
        for index in window.indexes() {
            let (field, _) = split_term_key(window.key(index))?;
            items.push(MergeItem {
                field,
                old: window.old(index),
                new: self.sorted.fragment(index),
            });
        }
        let entries = merge_window(self.store, self.postings, &self.norms, &items)?;
        for (index, entry) in window.indexes().zip(entries) {
            window.set(index, Change::Put(entry))?;
        }
        Ok(())
    }
}

/// Norms out of the document tables.
struct TableNorms<'a> {
    tables: &'a DocumentTables,
    pool: &'a FramePool,
}

impl Norms for TableNorms<'_> {
    /// Lists are read in order, so each field keeps its page.
    fn reader(&self) -> NormReader<'_> {
        let mut cursors: HashMap<FieldId, NormCursor> = HashMap::new();
        let mut pages = Pages::new(self.pool);
        Box::new(move |field, doc| {
            let cursor = cursors
                .entry(field)
                .or_insert_with(|| self.tables.norm_cursor(field));
            finish(&mut pages, |pages| cursor.norm(doc, pages))
        })
    }
}
