//! Plays what was done with a device on a medium, batch by batch, live or from a trace.
//!
//! The operations of a batch are given at once, the next batch when all of them are answered: a
//! reader that waits for its round. The host takes no time in between.

use gannet::Result;
use gannet::device::FileId;

use crate::clock::{Nanos, SECOND};
use crate::layout::{Layout, Run};
use crate::medium::Medium;
use crate::request::{Operation, PAGE_BYTES, Request};
use crate::trace::{Action, Entry};

/// What was done with a device, and what it takes on the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Read operations.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write operations.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Modelled time of the reads.
    pub read_nanos: Nanos,
    /// Modelled time of writes, syncs and removals.
    pub write_nanos: Nanos,
}

/// A medium with the files on it.
#[derive(Debug)]
pub struct Player {
    medium: Medium,
    layout: Layout,
    work: Work,
    requests: Vec<Request>,
}

impl Work {
    /// What both did together.
    pub fn and(self, other: Work) -> Work {
        self.with(other, |one, other| one + other)
    }

    /// What was done since `before`.
    pub fn less(self, before: Work) -> Work {
        self.with(before, |now, before| now - before)
    }

    /// Modelled seconds of the reads.
    pub fn modelled_read_seconds(&self) -> f64 {
        self.read_nanos as f64 / SECOND as f64
    }

    /// Modelled seconds of writes, syncs and removals.
    pub fn modelled_write_seconds(&self) -> f64 {
        self.write_nanos as f64 / SECOND as f64
    }

    fn with(self, other: Work, each: impl Fn(u64, u64) -> u64) -> Work {
        Work {
            reads: each(self.reads, other.reads),
            read_bytes: each(self.read_bytes, other.read_bytes),
            writes: each(self.writes, other.writes),
            written_bytes: each(self.written_bytes, other.written_bytes),
            read_nanos: each(self.read_nanos, other.read_nanos),
            write_nanos: each(self.write_nanos, other.write_nanos),
        }
    }
}

impl Player {
    /// A medium without files.
    pub fn new(medium: impl Into<Medium>) -> Player {
        let medium = medium.into();
        Player {
            layout: Layout::new(&medium),
            medium,
            work: Work::default(),
            requests: Vec::new(),
        }
    }

    /// What was played so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// The medium.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// Plays the entries of a trace.
    pub fn play(&mut self, trace: impl Iterator<Item = Result<Entry>>) -> Result<()> {
        let mut batch: Vec<Entry> = Vec::new();
        for entry in trace {
            let entry = entry?;
            if batch.last().is_some_and(|last| last.batch != entry.batch) {
                self.batch(&batch)?;
                batch.clear();
            }
            batch.push(entry);
        }
        self.batch(&batch)
    }

    /// Plays operations that were handed over at once. Those of a kind stand together.
    pub fn batch(&mut self, batch: &[Entry]) -> Result<()> {
        for same in batch.chunk_by(|left, right| left.action == right.action) {
            self.requests.clear();
            for entry in same {
                self.prepare(entry)?;
            }
            let nanos = self.medium.serve(&self.requests)?;
            match same[0].action {
                Action::Read => self.work.read_nanos += nanos,
                _ => self.work.write_nanos += nanos,
            }
        }
        Ok(())
    }

    /// Turns an operation on a file into requests.
    fn prepare(&mut self, entry: &Entry) -> Result<()> {
        let (file, page, pages) = (entry.file, entry.page, entry.pages);
        let bytes = u64::from(pages) * u64::from(PAGE_BYTES);
        match entry.action {
            Action::Present => return self.present(file, pages),
            Action::Read => {
                self.work.reads += 1;
                self.work.read_bytes += bytes;
                let runs = self.layout.find(file, page, pages);
                self.request(Operation::Read, &runs);
            }
            Action::Write => {
                self.work.writes += 1;
                self.work.written_bytes += bytes;
                let runs = self.layout.allocate(file, page, pages)?;
                self.request(Operation::Write, &runs);
            }
            Action::Sync => self.requests.push(Request::flush()),
            Action::Remove => {
                let runs = self.layout.remove(file);
                self.request(Operation::Trim, &runs);
            }
        }
        Ok(())
    }

    fn present(&mut self, file: FileId, pages: u32) -> Result<()> {
        for run in self.layout.allocate(file, 0, pages)? {
            self.medium
                .preload(run.start, (run.end - run.start) as u32)?;
        }
        Ok(())
    }

    fn request(&mut self, operation: Operation, runs: &[Run]) {
        self.requests.extend(runs.iter().map(|run| Request {
            operation,
            page: run.start,
            pages: (run.end - run.start) as u32,
        }));
    }
}
