//! The documents of a corpus, prepared on several threads and given in their order.
//!
//! One thread cuts the lines into batches and deals them out to the workers in turn; what these
//! made of them is taken in the same turn. A batch waits at each end of a worker at most. All that
//! are under way fit into the memory that the index has for them, but for one long document.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

use gannet::{Document, Error, Index, PreparedBatch, Workbench};

use crate::{IndexArguments, Outcome};

/// Documents of one write, and bytes of them; no more of either, but for one long document.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 256 << 10;

/// Batches that wait for a worker, and behind it.
const WAITING: usize = 1;

/// What a line takes for each of its bytes until it is written.
const BYTES_PER_LINE_BYTE: usize = 12;

/// Lines that are written together.
#[derive(Default)]
struct RawBatch<'r> {
    lines: Vec<Vec<u8>>,
    bytes: usize,
    /// Whether a commit follows.
    ends_commit: bool,
    permit: Option<Permit<'r>>,
}

/// What a worker made of lines, or why it ended. Nothing is made of a document that is too long to
/// be prepared beside the others: the index takes it alone.
type Ready<'r> = Result<(Option<PreparedBatch>, RawBatch<'r>), String>;

/// Room for the lines that are under way.
struct Room {
    bytes_max: usize,
    taken: Mutex<usize>,
    less: Condvar,
}

/// The room that a batch takes.
struct Permit<'r> {
    room: &'r Room,
    bytes: usize,
}

impl Room {
    fn of(index: &Index) -> Room {
        Room {
            bytes_max: index.preparation_bytes() / BYTES_PER_LINE_BYTE,
            taken: Mutex::new(0),
            less: Condvar::new(),
        }
    }

    /// Waits until so many bytes fit, or nothing else is under way. Batches ask in their order, so
    /// the oldest never waits for a later one.
    fn enter(&self, bytes: usize) -> Permit<'_> {
        let fits = |taken: &mut usize| *taken == 0 || *taken + bytes <= self.bytes_max;
        let waited = self.less.wait_while(self.lock(), |taken| !fits(taken));
        *waited.unwrap_or_else(|e| e.into_inner()) += bytes;
        Permit { room: self, bytes }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.room.lock() -= self.bytes;
        self.room.less.notify_one();
    }
}

/// Prepares all documents of the corpus; gives the batches to `take` in order, none where a long
/// document was added already, and whether a commit follows.
pub fn prepare_all(
    index: &Index,
    arguments: &IndexArguments,
    mut take: impl FnMut(Option<PreparedBatch>, bool) -> Outcome,
) -> Outcome {
    let lines = BufReader::with_capacity(1 << 20, File::open(&arguments.corpus)?);
    let room = &Room::of(index);
    thread::scope(|scope| {
        let (mut raw, mut ready) = (Vec::new(), Vec::new());
        for _ in 0..arguments.threads.max(1) {
            let (to_worker, work) = sync_channel(WAITING);
            let (done, from_worker) = sync_channel(WAITING);
            scope.spawn(move || prepare(index, &work, &done));
            raw.push(to_worker);
            ready.push(from_worker);
        }
        let reader = scope.spawn(move || deal(lines, arguments.commit_every, room, &raw));
        // Where this ends early, the channels close behind it, and so the other threads end.
        for from_worker in ready.iter().cycle() {
            let Ok(ready) = from_worker.recv() else {
                break;
            };
            let (batch, raw) = ready?;
            if batch.is_none() {
                raw.add_alone(index)?;
            }
            take(batch, raw.ends_commit)?;
        }
        match reader.join() {
            Ok(read) => Ok(read?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Cuts lines into batches and deals them out, until there are no more or nobody takes them.
fn deal<'r>(
    lines: impl BufRead,
    commit_every: usize,
    room: &'r Room,
    workers: &[SyncSender<RawBatch<'r>>],
) -> Result<(), String> {
    let mut turns = workers.iter().cycle();
    let mut deal = |batch: &mut RawBatch<'r>| {
        batch.permit = Some(room.enter(batch.bytes));
        match turns.next() {
            Some(worker) => worker.send(std::mem::take(batch)).is_ok(),
            None => false,
        }
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

impl<'r> RawBatch<'r> {
    fn is_full(&self) -> bool {
        self.ends_commit || self.lines.len() == BATCH || self.bytes >= BATCH_BYTES
    }

    fn documents(&self) -> gannet::Result<Vec<Document>> {
        self.lines
            .iter()
            .map(|line| Document::parse(line))
            .collect()
    }

    fn prepare(mut self, index: &Index, bench: &mut Workbench) -> Ready<'r> {
        let prepared = self
            .documents()
            .and_then(|documents| index.prepare(bench, documents));
        let prepared = match prepared {
            Err(Error::Memory { .. }) => return Ok((None, self)),
            prepared => prepared.map_err(|error| error.to_string())?,
        };
        self.lines = Vec::new();
        match prepared.rejected().first() {
            Some((_, error)) => Err(error.to_string()),
            None => Ok((Some(prepared), self)),
        }
    }

    fn add_alone(&self, index: &Index) -> gannet::Result<()> {
        for document in self.documents()? {
            index.add(document)?;
        }
        Ok(())
    }
}

/// What each worker does.
fn prepare<'r>(index: &Index, work: &Receiver<RawBatch<'r>>, done: &SyncSender<Ready<'r>>) {
    let mut bench = Workbench::default();
    for batch in work {
        if done.send(batch.prepare(index, &mut bench)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use gannet::{Index, MEMORY_MIN, PhraseFilters};
    use serde_json::json;

    use crate::{IndexArguments, Left};

    #[test]
    fn long_documents_among_short_ones_are_indexed_in_little_memory() {
        let folder = tempfile::tempdir().unwrap();
        let (index, corpus) = (folder.path().join("index"), folder.path().join("corpus"));
        let line = |number: usize| {
            let words = if number.is_multiple_of(7) { 17_500 } else { 5 };
            let word = |at: usize| format!("w{number}x{at}");
            let body: Vec<String> = (0..words).map(word).collect();
            let line = json!({"id": number.to_string(), "body": body.join(" ")});
            format!("{line}\n")
        };
        std::fs::write(&corpus, (0..40).map(line).collect::<String>()).unwrap();
        crate::index::run(&IndexArguments {
            index: index.clone(),
            corpus,
            memory: MEMORY_MIN,
            commit_every: 10,
            flush_every: 1,
            threads: 2,
            phrase_filters: PhraseFilters::Common,
            left: Left::Written,
        })
        .unwrap();
        let index = Index::options().memory(MEMORY_MIN).open(index).unwrap();
        assert_eq!(index.stats().unwrap().documents, 40);
    }
}
