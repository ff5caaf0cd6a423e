//! The way of the documents: one thread reads, several prepare, one writes in the order of the
//! lines. Files are read by a thread of the pipeline, and the caller's writes. Where a program
//! makes the documents, the caller's thread does that, and another writes. Threads that cannot be
//! had are done without: whoever writes prepares too, and the caller's thread does all in turn
//! where there is no other. Only where a program makes the documents there must be one that writes.
//!
//! Invariants:
//! 1. Batches are written in the order of their numbers, so a document replaces those before it.
//! 2. Batches of at most a share of the memory are under way (see `gate`): enough for the workers
//!    to go on while batches are written, and no more however large the files are.
//! 3. If it is strict, nothing behind the first rejected line is written.
//! 4. Where the caller asks for the end, no batch is begun to be written any more.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gannet::{Error, Index, PreparedBatch, Workbench, Written};

use crate::Asked;
use crate::batches::{RawBatch, Reader, Sizes};
use crate::feed::Feeder;
use crate::gate::Gate;
use crate::input::Input;
use crate::rejection::{Origin, Rejection};

/// How long a thread waits before it looks whether the caller asked for the end: a reader of
/// standard input may never wake up.
const LOOK_UP: Duration = Duration::from_millis(20);

/// How documents are prepared and written.
#[derive(Clone, Copy, Debug)]
pub struct PipelineOptions {
    /// Threads that prepare.
    pub threads: usize,
    /// What was written is made durable after each so many documents.
    pub commit_every: Option<u64>,
    /// Whether the first line that is rejected ends it.
    pub strict: bool,
}

/// Is told of a run while it is under way.
pub trait Watcher: Send {
    /// What was written up to now.
    fn wrote(&mut self, done: &Done);

    /// A line that was rejected. With [`PipelineOptions::strict`] it is told by [`End::Rejected`]
    /// instead.
    fn rejected(&mut self, rejection: Rejection);
}

/// What a run came to.
#[derive(Debug)]
pub struct Done {
    /// Documents written.
    pub documents: u64,
    /// Those of them that replaced an earlier one.
    pub replaced: u64,
    /// Lines rejected.
    pub rejected: u64,
    /// Bytes of the lines that were written or rejected.
    pub source_bytes: u64,
    /// What was looked at last, as a sentence.
    pub last: Option<String>,
    /// What is to be known of documents that were taken, as sentences.
    pub notes: Vec<String>,
    /// The longest time that one batch took to be written.
    pub longest_write: Duration,
    /// Why it ended.
    pub end: End,
}

/// Why a run ended.
#[derive(Debug)]
pub enum End {
    /// All was read.
    Whole,
    /// The caller asked.
    Interrupted,
    /// A line was rejected, and none may be.
    Rejected(Rejection),
    /// A source could not be read to its end.
    Unreadable(String),
    /// The index took no more.
    Failed(Error),
}

/// A run.
pub struct Pipeline<'a> {
    index: &'a Index,
    options: PipelineOptions,
    asked: Asked,
    watcher: &'a mut dyn Watcher,
    uncommitted: u64,
    /// Fields of which a note was made.
    noted: BTreeSet<String>,
    done: Done,
}

/// What the workers share.
struct Workshop<'a> {
    index: &'a Index,
    strict: bool,
    asked: Asked,
    raw: Mutex<Receiver<RawBatch>>,
    /// Whether the writer takes no more.
    closed: AtomicBool,
}

/// A batch on its way from a worker to the writer.
struct Ready {
    raw: RawBatch,
    /// Nothing if there was too little memory beside the other batches.
    prepared: Option<PreparedBatch>,
    rejected: Vec<Rejection>,
}

/// Batches that were prepared.
enum ReadyBatches<'w> {
    /// By workers.
    FromWorkers(Receiver<gannet::Result<Ready>>),
    /// By whoever takes them.
    Here(&'w Workshop<'w>, Workbench),
}

impl<'a> Pipeline<'a> {
    /// A run that has not begun.
    pub fn new(
        index: &'a Index,
        options: PipelineOptions,
        asked: Asked,
        watcher: &'a mut dyn Watcher,
    ) -> Pipeline<'a> {
        Pipeline {
            index,
            options,
            asked,
            watcher,
            uncommitted: 0,
            noted: BTreeSet::new(),
            done: Done {
                documents: 0,
                replaced: 0,
                rejected: 0,
                source_bytes: 0,
                last: None,
                notes: Vec::new(),
                longest_write: Duration::ZERO,
                end: End::Whole,
            },
        }
    }

    /// Reads `sources` to the end, or to the first failure. The bytes taken from files are added to
    /// `taken`.
    pub fn run(self, sources: Vec<Input>, taken: &Arc<AtomicU64>) -> Done {
        let Some(raw) = self.start_reader(sources.clone(), taken) else {
            return self.run_alone(sources, taken);
        };
        let workshop = self.workshop(raw);
        thread::scope(|scope| {
            let ready = workshop.open(scope, self.options.threads);
            self.write_to_end(ready, &workshop)
        })
    }

    /// The same on the calling thread alone.
    fn run_alone(mut self, sources: Vec<Input>, taken: &Arc<AtomicU64>) -> Done {
        let workshop = self.workshop(mpsc::channel().1);
        let reader = self.reader(sources, taken);
        let (mut bench, mut written) = (Workbench::default(), Ok(true));
        reader.run(&mut |batch| {
            let ready = workshop.prepare(&mut bench, batch);
            written = ready.and_then(|ready| self.write(ready));
            matches!(written, Ok(true))
        });
        self.end(written)
    }

    /// Writes what `feed` gives to the feeder. Gives what came of the documents and what `feed`
    /// gives, which may end early: what it gave to the feeder before is written.
    pub fn feed<T>(
        self,
        origin: Origin,
        feed: impl FnOnce(&mut Feeder) -> T,
    ) -> (gannet::Result<Done>, T) {
        let (batches, raw) = mpsc::channel();
        let asked = Arc::clone(&self.asked);
        let gate = Gate::new(self.index.preparation_bytes());
        let sizes = Sizes::of(self.index, self.options.threads);
        let workshop = self.workshop(raw);
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let workshop = &workshop;
            let write = move || {
                let ready = workshop.open(scope, self.options.threads);
                // Whoever waits is this call.
                let _ = tell.send(self.write_to_end(ready, workshop));
            };
            let writer = thread::Builder::new().spawn_scoped(scope, write);
            // Without one nobody takes what the program makes, which it is told with the first.
            let batches = writer.as_ref().map_or(mpsc::channel().0, |_| batches);
            let mut feeder = Feeder::new(origin, sizes, gate, batches, Arc::clone(&asked));
            let given = feed(&mut feeder);
            feeder.end();
            let done = writer.map_err(|error| no_thread(&error));
            (done.and_then(|_| wait_for(&told, &asked)), given)
        })
    }

    fn workshop(&self, raw: Receiver<RawBatch>) -> Workshop<'a> {
        Workshop {
            index: self.index,
            strict: self.options.strict,
            asked: Arc::clone(&self.asked),
            raw: Mutex::new(raw),
            closed: AtomicBool::new(false),
        }
    }

    fn write_to_end(mut self, mut ready: ReadyBatches<'_>, workshop: &Workshop<'_>) -> Done {
        let written = self.write_all(&mut ready);
        workshop.closed.store(true, Ordering::Relaxed);
        self.end(written)
    }

    /// What it came to, once nothing more is written: because of an error, or because there is no
    /// more, or no more is wanted.
    fn end(mut self, written: gannet::Result<bool>) -> Done {
        match written {
            Ok(true) if (self.asked)() => self.done.end = End::Interrupted,
            Ok(_) => {}
            Err(error) => self.done.end = End::Failed(error),
        }
        self.done
    }

    /// The reader is not waited for: it may sit in front of a standard input that says nothing
    /// more. Gives nothing where there is no thread for it.
    fn start_reader(
        &self,
        sources: Vec<Input>,
        taken: &Arc<AtomicU64>,
    ) -> Option<Receiver<RawBatch>> {
        let (batches, receiver) = mpsc::channel();
        let reader = self.reader(sources, taken);
        let read = move || reader.run(&mut |batch| batches.send(batch).is_ok());
        let started = thread::Builder::new().spawn(read);
        started.ok().map(|_| receiver)
    }

    fn reader(&self, sources: Vec<Input>, taken: &Arc<AtomicU64>) -> Reader {
        Reader {
            sources,
            taken: Arc::clone(taken),
            sizes: Sizes::of(self.index, self.options.threads),
            gate: Gate::new(self.index.preparation_bytes()),
            asked: Arc::clone(&self.asked),
        }
    }

    /// Writes batches in order as they come; whether more are wanted. Once this ends, workers find
    /// nobody to take more.
    fn write_all(&mut self, ready: &mut ReadyBatches<'_>) -> gannet::Result<bool> {
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        while let Some(batch) = ready.next(&self.asked) {
            let batch = batch?;
            waiting.insert(batch.raw.number, batch);
            while let Some(batch) = waiting.remove(&next) {
                next += 1;
                // Batches that were read wait while the writer is busy, and reading ends long after
                // that the caller has asked.
                if (self.asked)() {
                    return Ok(true);
                }
                if !self.write(batch)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Writes one batch; whether to go on.
    fn write(&mut self, batch: Ready) -> gannet::Result<bool> {
        let Ready {
            raw,
            prepared,
            mut rejected,
        } = batch;
        if let Some(prepared) = &prepared {
            self.note_texts(&raw, prepared);
        }
        let start = Instant::now();
        let written = prepared.map(|batch| self.index.write_prepared(batch));
        let written = match written {
            None | Some(Err(Error::Memory { .. })) => self.write_lines(&raw, &mut rejected)?,
            Some(written) => written?,
        };
        self.done.longest_write = self.done.longest_write.max(start.elapsed());
        self.done.documents += written.added;
        self.done.replaced += written.replaced;
        self.done.source_bytes += raw.bytes() as u64;
        self.done.last = Some(match raw.file(raw.last_line) {
            Some(file) => format!("the last file was {file}"),
            None => format!(
                "the last {} was {} of {}",
                raw.origin.unit, raw.last_line, raw.origin
            ),
        });
        self.watcher.wrote(&self.done);
        self.commit(written.added)?;
        let mut rejected = rejected.into_iter();
        if self.options.strict
            && let Some(rejection) = rejected.next()
        {
            self.done.end = End::Rejected(rejection);
            return Ok(false);
        }
        for rejection in rejected {
            self.done.rejected += 1;
            self.watcher.rejected(rejection);
        }
        if let Some(sentence) = raw.failed {
            self.done.end = End::Unreadable(sentence);
            return Ok(false);
        }
        Ok(true)
    }

    /// Notes text in fields of numbers, the first of each field.
    fn note_texts(&mut self, raw: &RawBatch, prepared: &PreparedBatch) {
        for (place, field) in prepared.given_text() {
            if self.noted.insert(field.clone())
                && let Some((line, _)) = raw.lines().nth(*place)
            {
                let reason = format!(
                    "field {field:?} gets text, though its first value was a number or a boolean: its words are not \
                     found, only whole values; write its numbers as strings, and index into a new folder"
                );
                self.done
                    .notes
                    .push(raw.rejection(line, reason).to_string());
            }
        }
    }

    /// Writes the lines of a batch for which there is too little memory one by one, and rejects
    /// those for which there still is.
    fn write_lines(
        &self,
        raw: &RawBatch,
        rejected: &mut Vec<Rejection>,
    ) -> gannet::Result<Written> {
        let mut all = Written::default();
        for (number, line) in raw.lines() {
            if self.options.strict && rejected.first().is_some_and(|first| first.line < number) {
                break;
            }
            if rejected.iter().any(|rejection| rejection.line == number) {
                continue;
            }
            match self.index.write_line(line) {
                Ok(written) => {
                    all.added += written.added;
                    all.replaced += written.replaced;
                }
                Err(error @ (Error::Memory { .. } | Error::Invalid(_))) => {
                    rejected.push(rejection(raw, number, &error));
                }
                Err(error) => return Err(error),
            }
        }
        rejected.sort_by_key(|rejection| rejection.line);
        Ok(all)
    }

    fn commit(&mut self, added: u64) -> gannet::Result<()> {
        self.uncommitted += added;
        match self.options.commit_every {
            Some(every) if self.uncommitted >= every => {
                self.uncommitted = 0;
                self.index.sync()
            }
            _ => Ok(()),
        }
    }
}

impl Workshop<'_> {
    /// Starts the workers, as many as there are threads for.
    fn open<'s>(&'s self, scope: &'s thread::Scope<'s, '_>, threads: usize) -> ReadyBatches<'s> {
        let (sender, receiver) = mpsc::channel();
        let start = |_: &usize| {
            let sender = sender.clone();
            let worker = thread::Builder::new().spawn_scoped(scope, move || self.work(&sender));
            worker.is_ok()
        };
        match (0..threads.max(1)).take_while(start).count() {
            0 => ReadyBatches::Here(self, Workbench::default()),
            _ => ReadyBatches::FromWorkers(receiver),
        }
    }

    /// What each worker does: takes a batch, prepares it, hands it on, until there is none or
    /// nobody to take it.
    fn work(&self, ready: &Sender<gannet::Result<Ready>>) {
        let mut bench = Workbench::default();
        while let Some(batch) = self.next_batch() {
            if ready.send(self.prepare(&mut bench, batch)).is_err() {
                return;
            }
        }
    }

    fn next_batch(&self) -> Option<RawBatch> {
        loop {
            let raw = self.raw.lock().unwrap_or_else(|e| e.into_inner());
            match raw.recv_timeout(LOOK_UP) {
                Ok(batch) => return Some(batch),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if self.is_closing() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn is_closing(&self) -> bool {
        (self.asked)() || self.closed.load(Ordering::Relaxed)
    }

    fn prepare(&self, bench: &mut Workbench, mut batch: RawBatch) -> gannet::Result<Ready> {
        let mut rejected = std::mem::take(&mut batch.rejected);
        let mut prepared = self.prepare_lines(bench, &batch, u64::MAX, &mut rejected)?;
        rejected.sort_by_key(|rejection| rejection.line);
        if self.strict && !rejected.is_empty() && prepared.is_some() {
            // Lines behind the first rejected one were prepared with the others: once more without
            // them.
            rejected.truncate(1);
            prepared = self.prepare_lines(bench, &batch, rejected[0].line, &mut Vec::new())?;
        }
        Ok(Ready {
            raw: batch,
            prepared,
            rejected,
        })
    }

    /// Prepares the lines before line `below`. What is no document is added to the last argument.
    /// Gives nothing if there is too little memory beside the other batches.
    fn prepare_lines(
        &self,
        bench: &mut Workbench,
        batch: &RawBatch,
        below: u64,
        rejected: &mut Vec<Rejection>,
    ) -> gannet::Result<Option<PreparedBatch>> {
        let before = || batch.lines().take_while(|(number, _)| *number < below);
        let prepared = self
            .index
            .prepare_lines(bench, before().map(|(_, line)| line));
        let prepared = match prepared {
            Err(Error::Memory { .. }) => return Ok(None),
            prepared => prepared?,
        };
        let numbers: Vec<u64> = before().map(|(number, _)| number).collect();
        for (place, error) in prepared.rejected() {
            rejected.push(rejection(batch, numbers[*place], error));
        }
        Ok(Some(prepared))
    }
}

impl ReadyBatches<'_> {
    /// The next batch. It ends where the caller asks for it.
    fn next(&mut self, asked: &Asked) -> Option<gannet::Result<Ready>> {
        match self {
            ReadyBatches::FromWorkers(ready) => next_of_workers(ready, asked),
            ReadyBatches::Here(workshop, bench) => {
                let batch = workshop.next_batch()?;
                Some(workshop.prepare(bench, batch))
            }
        }
    }
}

fn next_of_workers(
    ready: &Receiver<gannet::Result<Ready>>,
    asked: &Asked,
) -> Option<gannet::Result<Ready>> {
    loop {
        match ready.recv_timeout(LOOK_UP) {
            Ok(batch) => return Some(batch),
            Err(RecvTimeoutError::Disconnected) => return None,
            // Asking may be what notices a signal.
            Err(RecvTimeoutError::Timeout) => drop(asked()),
        }
    }
}

fn no_thread(error: &io::Error) -> Error {
    Error::invalid(format!(
        "there is no thread to write documents beside the program that makes them: {error}; \
         allow this process more threads"
    ))
}

/// Waits for the end of writing, and asks meanwhile, which may be what notices a signal.
fn wait_for(told: &Receiver<Done>, asked: &Asked) -> gannet::Result<Done> {
    loop {
        match told.recv_timeout(LOOK_UP) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => drop(asked()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::internal(
                    "the thread that writes has ended without a word",
                ));
            }
        }
    }
}

fn rejection(batch: &RawBatch, line: u64, error: &Error) -> Rejection {
    batch.rejection(line, error.to_string())
}
