//! One transfer under way on a file backend: it owns its buffers until the operating system is
//! done.
//!
//! Invariant: `done` bytes have been transferred, counted from the first byte of the first buffer.
//! A transfer that comes back short is continued from there; one that makes no progress is an
//! error, which for a read means that the file has ended.

use std::io::{self, IoSlice, IoSliceMut};
use std::sync::Arc;

use super::directory::Directory;
use super::failure::failure;
use super::files::OpenFile;
use super::{PageBuffer, Transfer};
use crate::base::{Error, PAGE_SIZE, Result};

/// The most buffers of one system call: the limit of Linux and macOS.
pub const VECTOR_LIMIT: usize = 1024;

/// The number of times in a row that a transfer may be put off (interrupted, or told to try again)
/// before it fails.
const STALL_LIMIT: u32 = 10_000;

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the device into the buffers.
    Read,
    /// From the buffers to the device.
    Write,
}

/// A [`Transfer`] with its open file and its progress.
#[derive(Debug)]
pub struct Request {
    /// The transfer's place in its batch.
    index: usize,
    /// The file, held open.
    pub file: Arc<OpenFile>,
    page: u32,
    buffers: Vec<PageBuffer>,
    done: usize,
    stalls: u32,
}

impl Direction {
    /// The word for error messages.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
        }
    }
}

impl Request {
    /// Takes the buffers out of `batch`, in requests that the backend owns; empty transfers need
    /// none.
    ///
    /// Takes nothing when one of the files cannot be opened.
    pub fn take_all(
        batch: &mut [Transfer],
        directory: &Directory,
        direction: Direction,
    ) -> Result<Vec<Request>> {
        let mut requests = Vec::with_capacity(batch.len());
        for (index, transfer) in batch.iter().enumerate() {
            if !transfer.buffers.is_empty() {
                let file = directory.file(transfer.file, direction.name())?;
                requests.push(Request::new(index, file, transfer.page));
            }
        }
        for request in &mut requests {
            request.buffers = std::mem::take(&mut batch[request.index].buffers);
        }
        Ok(requests)
    }

    /// Puts the buffers back into the transfers of `batch`, where [`Request::take_all`] found them.
    pub fn give_back(requests: Vec<Request>, batch: &mut [Transfer]) {
        for request in requests {
            batch[request.index].buffers = request.buffers;
        }
    }

    fn new(index: usize, file: Arc<OpenFile>, page: u32) -> Request {
        Request {
            index,
            file,
            page,
            buffers: Vec::new(),
            done: 0,
            stalls: 0,
        }
    }

    /// Returns the offset in the file of the next byte.
    pub fn offset(&self) -> u64 {
        self.page as u64 * PAGE_SIZE as u64 + self.done as u64
    }

    /// Returns true if all bytes have been transferred.
    pub fn is_complete(&self) -> bool {
        self.done == self.buffers.len() * PAGE_SIZE
    }

    /// Returns the parts that are still to be transferred, as many as fit one system call.
    pub fn parts(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let mut skip = self.done % PAGE_SIZE;
        let rest = &mut self.buffers[self.done / PAGE_SIZE..];
        rest.iter_mut().take(VECTOR_LIMIT).map(move |buffer| {
            let start = std::mem::take(&mut skip);
            &mut buffer[start..]
        })
    }

    /// Returns the number of parts that [`Request::parts`] gives.
    pub fn part_count(&self) -> usize {
        (self.buffers.len() - self.done / PAGE_SIZE).min(VECTOR_LIMIT)
    }

    /// Takes in the outcome of one system call; fails if the transfer cannot go on.
    pub fn advance(&mut self, outcome: io::Result<usize>, direction: Direction) -> Result<()> {
        match outcome {
            Ok(0) => Err(self.failure(direction, no_progress(direction))),
            Ok(bytes) => {
                self.done += bytes;
                self.stalls = 0;
                Ok(())
            }
            Err(error) if is_transient(&error) && self.stalls < STALL_LIMIT => {
                self.stalls += 1;
                Ok(())
            }
            Err(error) => Err(self.failure(direction, error)),
        }
    }

    /// Carries the whole transfer out on the calling thread.
    pub fn run(&mut self, direction: Direction) -> Result<()> {
        while !self.is_complete() {
            let outcome = self.attempt(direction);
            self.advance(outcome, direction)?;
        }
        Ok(())
    }

    fn attempt(&mut self, direction: Direction) -> io::Result<usize> {
        let file = Arc::clone(&self.file);
        let (file, offset) = (&file.file, self.offset());
        if self.part_count() == 1 {
            return self.attempt_one(direction);
        }
        let moved = match direction {
            Direction::Read => {
                let mut slices: Vec<_> = self.parts().map(IoSliceMut::new).collect();
                rustix::io::preadv(file, &mut slices, offset)
            }
            Direction::Write => {
                let slices: Vec<_> = self.parts().map(|part| IoSlice::new(part)).collect();
                rustix::io::pwritev(file, &slices, offset)
            }
        };
        Ok(moved?)
    }

    /// The last or only page, without a vector.
    fn attempt_one(&mut self, direction: Direction) -> io::Result<usize> {
        let offset = self.offset();
        let part = &mut self.buffers[self.done / PAGE_SIZE][self.done % PAGE_SIZE..];
        let moved = match direction {
            Direction::Read => rustix::io::pread(&self.file.file, part, offset),
            Direction::Write => rustix::io::pwrite(&self.file.file, part, offset),
        };
        Ok(moved?)
    }

    fn failure(&self, direction: Direction, error: io::Error) -> Error {
        let page = self.offset() / PAGE_SIZE as u64;
        let place = format!("{} page {page}", self.file.id);
        failure(direction.name(), place, error)
    }
}

fn no_progress(direction: Direction) -> io::Error {
    match direction {
        Direction::Read => io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends before it"),
        Direction::Write => io::Error::new(io::ErrorKind::WriteZero, "nothing was written"),
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}
