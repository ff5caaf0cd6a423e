//! Words the errors of a reader about a log that it cannot take in: how much waits in it, and what
//! ends that.
//!
//! A log is bounded by the work of replaying it (see `state/log_work.rs`), so little is waited for.
//! But the writer may have had more memory than a reader has, and a machine may be slow.

use std::time::{Duration, Instant};

use super::replay::Replay;
use crate::base::{DocId, Error, Interrupt, Result};
use crate::documents::DocumentRecord;
use crate::index::owners::{Covered, stream_count};
use crate::index::state::{HeldRoot, MemoryPlan, Options, Shared};
use crate::index::write::Writer;
use crate::storage::{LogStart, RecordKind, Recovery, ZoneRecord, replay};

/// The remedies for a log that waits, without a writer and beside one.
const OPENED_FOR_WRITING: &str =
    "open the index for writing once, as `gannet vacuum` does: then none wait";
const CHECKPOINT: &str = "wait for the next checkpoint of the process that writes";

/// Budgets are told in steps of a part of themselves.
const STEP_ONE_OF: usize = 4;

/// A posting buffer may need so many times as much while it grows.
const GROWTH: usize = 2;

/// Bytes of buffers for a byte of source, at most, where too little was taken in to tell.
const BUFFERED_PER_BYTE: usize = 4;

/// The time limit of a reader for the log.
#[derive(Debug)]
struct LogLimit {
    began: Instant,
    limit: Option<Duration>,
    cure: &'static str,
}

impl LogLimit {
    /// A limit that begins now.
    fn begin(options: &Options, is_beside_writer: bool) -> LogLimit {
        LogLimit {
            began: Instant::now(),
            limit: options.log_time,
            cure: cure(is_beside_writer),
        }
    }
}

impl Interrupt for LogLimit {
    fn check(&self) -> Result<()> {
        let after = self.began.elapsed();
        match self.limit {
            Some(limit) if after > limit => Err(Error::LogTimeout {
                after,
                limit,
                cure: self.cure,
            }),
            _ => Ok(()),
        }
    }
}

fn cure(is_beside_writer: bool) -> &'static str {
    if is_beside_writer {
        CHECKPOINT
    } else {
        OPENED_FOR_WRITING
    }
}

/// The documents that wait in a log.
#[derive(Debug, Default)]
struct Waiting {
    /// The trees have those below this.
    below: DocId,
    documents: u64,
    source_bytes: usize,
}

impl Recovery for Waiting {
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn apply(&mut self, batch: Vec<ZoneRecord>, _: LogStart) -> Result<()> {
        let records = batch.iter();
        for record in records.filter(|record| record.kind == RecordKind::Document) {
            let document = DocumentRecord::decode(&record.body)?;
            if document.doc >= self.below {
                self.documents += 1;
                self.source_bytes += document.raw_length as usize;
            }
        }
        Ok(())
    }
}

/// Takes in the log behind a root that is only read, within the time that the options allow.
pub(super) fn read_log(writer: &mut Writer, covered: Covered, root: &HeldRoot) -> Result<()> {
    let is_beside_writer = root.is_beside_writer();
    let limit = LogLimit::begin(&writer.shared().options, is_beside_writer);
    let read = Replay::run(writer, covered, root.reach, &limit);
    read.map(drop)
        .map_err(|error| explain_log(writer, error, covered, root))
}

/// Says of too little memory for the log of an index that is only read how much waits in it, and
/// which budget is enough.
fn explain_log(writer: &Writer, error: Error, covered: Covered, root: &HeldRoot) -> Error {
    let Error::Memory { needed, .. } = &error else {
        return error;
    };
    let mut waiting = Waiting {
        below: covered.below,
        ..Waiting::default()
    };
    let shared = writer.shared();
    if let Err(error) = replay(&shared.store, covered.log_start, root.reach, &mut waiting) {
        return error;
    }
    let needed = needed + log_memory(writer, &waiting);
    let is_beside_writer = root.is_beside_writer();
    Error::LogMemory {
        documents: waiting.documents,
        budget: shared.options.memory,
        enough: enough(shared, needed, is_beside_writer),
        cure: cure(is_beside_writer),
    }
}

/// Estimates the greatest memory for all that waits from what was taken in so far.
fn log_memory(writer: &Writer, waiting: &Waiting) -> usize {
    let (taken, tables) = writer.replayed_bytes();
    let done = writer.backlog().source_bytes as usize;
    let whole = if done >= waiting.source_bytes / 8 && done > 0 {
        taken / (done >> 10).max(1) * (waiting.source_bytes >> 10)
    } else {
        waiting.source_bytes * BUFFERED_PER_BYTE
    };
    whole.max(taken) * GROWTH + tables
}

/// The least budget beyond the one that was too small of which so much is left for the log.
fn enough(shared: &Shared, needed: usize, is_beside_writer: bool) -> usize {
    let options = &shared.options;
    let leaves = |memory: usize| {
        let options = Options {
            memory,
            ..options.clone()
        };
        let options = options.beside(&**shared.store.device());
        MemoryPlan::new(&options, stream_count(), true, is_beside_writer)
            .left_to_log(options.memory)
    };
    let mut memory = options.memory.next_multiple_of(1 << 20);
    loop {
        memory += (memory / STEP_ONE_OF).next_multiple_of(16 << 20);
        if leaves(memory) >= needed {
            return memory;
        }
    }
}
