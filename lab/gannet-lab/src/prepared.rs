//! The documents of a corpus, prepared on several threads and given in their order.
//!
//! One thread cuts the lines into batches and deals them out to the workers in turn; what these
//! made of them is taken in the same turn. A batch waits at each end of a worker at most, so few
//! are under way however large the corpus.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use gannet::{Document, Index, PreparedBatch, Workbench};

use crate::{IndexArguments, Outcome};

/// Documents of one write, and bytes of them; no more of either, but for one long document.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 256 << 10;

/// Batches that wait for a worker, and behind it.
const WAITING: usize = 1;

/// Lines that are written together.
#[derive(Default)]
struct RawBatch {
    lines: Vec<Vec<u8>>,
    bytes: usize,
    /// Whether a commit follows.
    ends_commit: bool,
}

/// A prepared batch and whether a commit follows, or why there is none.
type Ready = Result<(PreparedBatch, bool), String>;

/// Prepares all documents of the corpus; gives the batches to `take` in order, and whether a commit
/// follows.
pub fn prepare_all(
    index: &Index,
    arguments: &IndexArguments,
    mut take: impl FnMut(PreparedBatch, bool) -> Outcome,
) -> Outcome {
    let lines = BufReader::with_capacity(1 << 20, File::open(&arguments.corpus)?);
    thread::scope(|scope| {
        let (mut raw, mut ready) = (Vec::new(), Vec::new());
        for _ in 0..arguments.threads.max(1) {
            let (to_worker, work) = sync_channel(WAITING);
            let (done, from_worker) = sync_channel(WAITING);
            scope.spawn(move || prepare(index, &work, &done));
            raw.push(to_worker);
            ready.push(from_worker);
        }
        let reader = scope.spawn(move || deal(lines, arguments.commit_every, &raw));
        // Where this ends early, the channels close behind it, and so the other threads end.
        for from_worker in ready.iter().cycle() {
            let Ok(ready) = from_worker.recv() else {
                break;
            };
            let (batch, ends_commit) = ready?;
            take(batch, ends_commit)?;
        }
        match reader.join() {
            Ok(read) => Ok(read?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Cuts lines into batches and deals them out, until there are no more or nobody takes them.
fn deal(
    lines: impl BufRead,
    commit_every: usize,
    workers: &[SyncSender<RawBatch>],
) -> Result<(), String> {
    let mut turns = workers.iter().cycle();
    let mut deal = |batch: &mut RawBatch| match turns.next() {
        Some(worker) => worker.send(std::mem::take(batch)).is_ok(),
        None => false,
    };
    let mut batch = RawBatch::default();
    for (number, line) in (1usize..).zip(lines.split(b'\n')) {
        let line = line.map_err(|error| format!("the corpus cannot be read: {error}"))?;
        batch.bytes += line.len();
        batch.lines.push(line);
        batch.ends_commit = number.is_multiple_of(commit_every);
        if batch.is_full() && !deal(&mut batch) {
            return Ok(());
        }
    }
    if !batch.lines.is_empty() {
        deal(&mut batch);
    }
    Ok(())
}

impl RawBatch {
    fn is_full(&self) -> bool {
        self.ends_commit || self.lines.len() == BATCH || self.bytes >= BATCH_BYTES
    }

    fn prepare(&self, index: &Index, bench: &mut Workbench) -> Ready {
        let documents: gannet::Result<Vec<Document>> = self
            .lines
            .iter()
            .map(|line| Document::parse(line))
            .collect();
        let prepared = documents.and_then(|documents| index.prepare(bench, documents));
        let prepared = prepared.map_err(|error| error.to_string())?;
        match prepared.rejected().first() {
            Some((_, error)) => Err(error.to_string()),
            None => Ok((prepared, self.ends_commit)),
        }
    }
}

/// What each worker does.
fn prepare(index: &Index, work: &Receiver<RawBatch>, done: &SyncSender<Ready>) {
    let mut bench = Workbench::default();
    for batch in work {
        if done.send(batch.prepare(index, &mut bench)).is_err() {
            return;
        }
    }
}
