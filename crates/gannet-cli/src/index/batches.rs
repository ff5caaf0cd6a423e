//! Cuts the lines of all sources into batches, in order, on a thread of its own.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::SyncSender;

use super::SharedSource;
use super::gate::{Gate, Permit};
use super::refusals::Refusal;
use crate::interrupt;
use crate::source::{LINE_BYTES_MAX, Line, Lines};

/// A batch is full with this many bytes ...
pub const BATCH_BYTES: usize = 256 << 10;

/// ... or this many lines.
const BATCH_LINES: usize = 256;

/// Some consecutive lines of one source.
pub struct RawBatch {
    /// Its place among all batches, from 0.
    pub number: u64,
    /// Where the lines are from.
    pub source: SharedSource,
    /// The number of the last line that was looked at for this batch.
    pub last_line: u64,
    /// Lines that were refused before they could be looked at.
    pub refused: Vec<Refusal>,
    /// Why there are no more batches, if reading failed.
    pub failed: Option<String>,
    text: Vec<u8>,
    /// Each line's number and where its text ends.
    lines: Vec<(u64, usize)>,
    /// Given back when the batch is dropped.
    _permit: Option<Permit>,
}

impl RawBatch {
    fn new(number: u64, source: &SharedSource) -> RawBatch {
        RawBatch {
            number,
            source: Arc::clone(source),
            last_line: 0,
            refused: Vec::new(),
            failed: None,
            text: Vec::new(),
            lines: Vec::new(),
            _permit: None,
        }
    }

    /// The lines with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut start = 0;
        self.lines.iter().map(move |(number, end)| {
            let line = &self.text[start..*end];
            start = *end;
            (*number, line)
        })
    }

    /// Bytes of the lines.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    fn is_full(&self) -> bool {
        self.text.len() >= BATCH_BYTES || self.lines.len() >= BATCH_LINES
    }

    fn says_nothing(&self) -> bool {
        self.lines.is_empty() && self.refused.is_empty() && self.failed.is_none()
    }

    /// Fills the batch; whether there is more.
    fn fill(&mut self, lines: &mut Lines) -> io::Result<bool> {
        while !self.is_full() && !interrupt::asked() {
            match lines.next(&mut self.text)? {
                Line::End => return Ok(false),
                Line::TooLong => self.refused.push(self.too_long(lines.number())),
                Line::Whole => self.enter_line(lines.number()),
            }
            self.last_line = lines.number();
        }
        Ok(!interrupt::asked())
    }

    /// Takes the text behind the last line as one more; blank lines are nothing.
    fn enter_line(&mut self, number: u64) {
        let start = self.lines.last().map_or(0, |(_, end)| *end);
        match self.text[start..].trim_ascii().is_empty() {
            true => self.text.truncate(start),
            false => self.lines.push((number, self.text.len())),
        }
    }

    fn too_long(&self, line: u64) -> Refusal {
        Refusal {
            source: Arc::clone(&self.source),
            line,
            reason: format!("the line is longer than {} MiB", LINE_BYTES_MAX >> 20),
        }
    }
}

/// Reads sources and sends their batches.
pub struct Reader {
    /// What is read, in order.
    pub sources: Vec<SharedSource>,
    /// Bytes taken from the files so far.
    pub taken: Arc<AtomicU64>,
    /// How much may be under way.
    pub gate: Arc<Gate>,
    /// Where batches go.
    pub batches: SyncSender<RawBatch>,
}

impl Reader {
    /// Reads to the end, to the first failure or until nobody wants more.
    pub fn run(self) {
        let mut number = 0;
        for source in &self.sources {
            if !self.read(source, &mut number) {
                return;
            }
        }
    }

    fn read(&self, source: &SharedSource, number: &mut u64) -> bool {
        let mut lines = match source.lines(&self.taken) {
            Ok(lines) => lines,
            Err(error) => return self.send_failure(RawBatch::new(*number, source), &error),
        };
        loop {
            let mut batch = RawBatch::new(*number, source);
            let more = match batch.fill(&mut lines) {
                Ok(more) => more,
                Err(error) => return self.send_failure(batch, &error),
            };
            if !batch.says_nothing() {
                *number += 1;
                if !self.send(batch) {
                    return false;
                }
            }
            if !more {
                return !interrupt::asked();
            }
        }
    }

    fn send(&self, mut batch: RawBatch) -> bool {
        batch._permit = Some(self.gate.enter(batch.bytes()));
        self.batches.send(batch).is_ok()
    }

    /// Sends what was read before the failure, and why it is all.
    fn send_failure(&self, mut batch: RawBatch, error: &io::Error) -> bool {
        let end = batch.lines.last().map_or(0, |(_, end)| *end);
        batch.text.truncate(end);
        batch.failed = Some(format!("{}: {error}", batch.source));
        self.send(batch);
        false
    }
}
