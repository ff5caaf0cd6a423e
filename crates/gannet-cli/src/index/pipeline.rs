//! The way of the documents: one thread reads, several prepare, this one writes in the order of the
//! lines.
//!
//! Invariants:
//! 1. Batches are written in the order of their numbers, so a document replaces those before it.
//! 2. Batches of at most a share of the memory are under way (see `gate`): enough for the workers
//!    to go on while batches are written, and no more however large the files are.
//! 3. With `--strict`, nothing behind the first rejected line is written.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gannet::{Error, Index, PreparedBatch, Workbench, Written};

use super::batches::{RawBatch, Reader, Sizes};
use super::gate::Gate;
use super::progress::Progress;
use super::rejections::{Rejection, Rejections};
use super::settings::Settings;
use crate::interrupt;

/// How long a thread waits before it looks whether the caller asked for the end: a reader of
/// standard input may never wake up.
const LOOK_UP: Duration = Duration::from_millis(50);

/// What a run came to.
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
    /// The longest time that one batch took to be written.
    pub longest_write: Duration,
    /// Why it ended.
    pub end: End,
}

/// Why a run ended.
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
    settings: &'a Settings,
    progress: Progress,
    taken: Arc<AtomicU64>,
    rejections: Rejections,
    uncommitted: u64,
    done: Done,
}

/// What the workers share.
struct Workshop<'a> {
    index: &'a Index,
    strict: bool,
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

impl<'a> Pipeline<'a> {
    /// A run that has not begun.
    pub fn new(index: &'a Index, settings: &'a Settings) -> Pipeline<'a> {
        let taken = Arc::new(AtomicU64::new(0));
        Pipeline {
            index,
            settings,
            progress: Progress::new(settings.sources.iter(), &taken),
            taken,
            rejections: Rejections::default(),
            uncommitted: 0,
            done: Done {
                documents: 0,
                replaced: 0,
                rejected: 0,
                source_bytes: 0,
                last: None,
                longest_write: Duration::ZERO,
                end: End::Whole,
            },
        }
    }

    /// Runs to the end, or to the first failure.
    pub fn run(mut self) -> Done {
        let workshop = Workshop {
            index: self.index,
            strict: self.settings.strict,
            raw: Mutex::new(self.start_reader()),
            closed: AtomicBool::new(false),
        };
        let written = thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..self.settings.threads {
                let (sender, workshop) = (sender.clone(), &workshop);
                scope.spawn(move || workshop.work(&sender));
            }
            drop(sender);
            let written = self.write_all(receiver);
            workshop.closed.store(true, Ordering::Relaxed);
            written
        });
        self.progress.end();
        self.rejections.close();
        self.done.rejected = self.rejections.count();
        if let Err(error) = written {
            self.done.end = End::Failed(error);
        }
        self.done
    }

    /// The reader is not waited for: it may sit in front of a standard input that says nothing
    /// more.
    fn start_reader(&self) -> Receiver<RawBatch> {
        let threads = self.settings.threads;
        let (batches, receiver) = mpsc::sync_channel(threads);
        let reader = Reader {
            sources: self
                .settings
                .sources
                .iter()
                .cloned()
                .map(Arc::new)
                .collect(),
            taken: Arc::clone(&self.taken),
            sizes: Sizes::of(self.index, threads),
            gate: Gate::new(self.index.preparation_bytes()),
            batches,
        };
        thread::spawn(move || reader.run());
        receiver
    }

    /// Writes batches in order as they come. Dropping the receiver on the way out tells the workers
    /// to end.
    fn write_all(&mut self, ready: Receiver<gannet::Result<Ready>>) -> gannet::Result<()> {
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for batch in ready {
            let batch = batch?;
            waiting.insert(batch.raw.number, batch);
            while let Some(batch) = waiting.remove(&next) {
                next += 1;
                if !self.write(batch)? {
                    return Ok(());
                }
            }
        }
        if interrupt::asked() {
            self.done.end = End::Interrupted;
        }
        Ok(())
    }

    /// Writes one batch; whether to go on.
    fn write(&mut self, batch: Ready) -> gannet::Result<bool> {
        let Ready {
            raw,
            prepared,
            mut rejected,
        } = batch;
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
            None => format!("the last line was {} of {}", raw.last_line, raw.source),
        });
        self.progress
            .show(self.done.documents, self.done.source_bytes);
        self.commit(written.added)?;
        let mut rejected = rejected.into_iter();
        if self.settings.strict
            && let Some(rejection) = rejected.next()
        {
            self.done.end = End::Rejected(rejection);
            return Ok(false);
        }
        for rejection in rejected {
            self.reject(&rejection);
        }
        if let Some(sentence) = raw.failed {
            self.done.end = End::Unreadable(sentence);
            return Ok(false);
        }
        Ok(true)
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
            if self.settings.strict && rejected.first().is_some_and(|first| first.line < number) {
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

    fn reject(&mut self, rejection: &Rejection) {
        if let Some(sentence) = self.rejections.note(rejection) {
            self.progress.say(&sentence);
        }
    }

    fn commit(&mut self, added: u64) -> gannet::Result<()> {
        self.uncommitted += added;
        match self.settings.commit_every {
            Some(every) if self.uncommitted >= every => {
                self.uncommitted = 0;
                self.index.sync()
            }
            _ => Ok(()),
        }
    }
}

impl Workshop<'_> {
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
        interrupt::asked() || self.closed.load(Ordering::Relaxed)
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

fn rejection(batch: &RawBatch, line: u64, error: &Error) -> Rejection {
    batch.rejection(line, error.to_string())
}
