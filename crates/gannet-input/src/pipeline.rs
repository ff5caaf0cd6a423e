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

use gannet::{Error, Index, PreparedBatch, Workbench};

use crate::Asked;
use crate::batches::{RawBatch, Reader, Sizes};
use crate::change::Write;
use crate::changes::{Changed, write_lines};
use crate::feed::Feeder;
use crate::gate::Gate;
use crate::input::Input;
use crate::rejection::{Origin, Rejection};
use crate::run::{Done, End, PipelineOptions, Watcher, rejection};

/// The time a thread waits before it looks whether the caller asked for the end: a reader of
/// standard input may never wake up.
const LOOK_UP: Duration = Duration::from_millis(20);

/// The number of notes that are kept.
const NOTES_MAX: usize = 100;

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

/// The state that the workers share.
struct Workshop<'a> {
    index: &'a Index,
    strict: bool,
    write: Write,
    asked: Asked,
    raw: Mutex<Receiver<RawBatch>>,
    /// Set once the writer takes no more.
    closed: AtomicBool,
}

/// A batch on its way from a worker to the writer.
struct Ready {
    raw: RawBatch,
    /// Nothing if there was too little memory beside the other batches, or if it depends on what is
    /// there what is written.
    prepared: Option<PreparedBatch>,
    rejected: Vec<Rejection>,
}

/// Batches that were prepared.
enum ReadyBatches<'w> {
    /// By workers.
    FromWorkers(Receiver<gannet::Result<Ready>>),
    /// By whoever takes them.
    Here(&'w Workshop<'w>, Box<Workbench>),
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
                updated: 0,
                ids_made: 0,
                deleted: 0,
                absent: 0,
                rejected: 0,
                source_bytes: 0,
                last: None,
                notes: Vec::new(),
                text_notes: Vec::new(),
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
        let sizes = Sizes::of(self.index, self.options.threads, self.options.commit_every);
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
            write: self.options.write,
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

    /// Ends the run once nothing more is written: because of an error, or because there is no more,
    /// or no more is wanted.
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
            sizes: Sizes::of(self.index, self.options.threads, self.options.commit_every),
            mapping: self.index.mapping(),
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
        let written = prepared.map(|batch| {
            let ids_made = batch.ids_made();
            let written = self.index.write_prepared(batch)?;
            Ok(Changed::of(written, ids_made))
        });
        let written = match written {
            None | Some(Err(Error::Memory { .. })) => {
                write_lines(self.index, &raw, self.options, &mut rejected)?
            }
            Some(written) => written?,
        };
        self.done.longest_write = self.done.longest_write.max(start.elapsed());
        written.note(&mut self.done);
        for note in &raw.notes {
            if self.done.notes.len() < NOTES_MAX && !self.done.notes.contains(note) {
                self.done.notes.push(note.clone());
            }
        }
        self.done.source_bytes += raw.bytes() as u64;
        self.done.last = Some(match raw.file(raw.last_line) {
            Some(file) => format!("the last file was {file}"),
            None => format!(
                "the last {} was {} of {}",
                raw.origin.unit, raw.last_line, raw.origin
            ),
        });
        self.watcher.wrote(&self.done);
        self.commit(written.documents + written.deleted)?;
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
                let note = raw.rejection(line, reason).to_string();
                self.done.text_notes.push(note);
            }
        }
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
            0 => ReadyBatches::Here(self, Box::default()),
            _ => ReadyBatches::FromWorkers(receiver),
        }
    }

    /// Runs a worker: takes a batch, prepares it, hands it on, until there is none or nobody to
    /// take it.
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
        if self.write != Write::Whole || !batch.is_plain() {
            return Ok(Ready {
                raw: batch,
                prepared: None,
                rejected,
            });
        }
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
