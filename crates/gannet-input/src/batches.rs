//! Cuts the documents of all inputs into batches, in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use gannet::{FieldMapping, Index};

use crate::Asked;
use crate::change::Change;
use crate::gate::{Gate, Permit};
use crate::input::{DocumentStart, Documents, Found, Input};
use crate::rejection::{Origin, Rejection};

/// Bounds of [`Sizes::lines`] and [`Sizes::batch`]. A term is looked up once for each batch that
/// has it, so large batches take less work: with a quarter of these 150,000 passages took 14 % more
/// processor time. Four times as much gained nothing.
const BATCH_LINES: (u64, u64) = (256, 1024);
const BATCH_BYTES: (usize, usize) = (16 << 10, 1 << 20);

/// The time that documents of a batch wait for more of them if the input pauses.
const LINGER: Duration = Duration::from_millis(50);

/// Bytes of memory for each byte of a line until it is written.
const BYTES_PER_LINE_BYTE: usize = 12;

/// The sizes of batches and lines.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Lines with which a batch is full.
    pub lines: usize,
    /// Bytes with which a batch is full.
    pub batch: usize,
    /// Bytes of the longest line.
    pub line: usize,
}

impl Sizes {
    /// For an index on which so many threads work, and whose documents are made durable so many at
    /// a time.
    pub fn of(index: &Index, threads: usize, commit_every: Option<u64>) -> Sizes {
        // One batch is written and one is read while each thread prepares another.
        let batch = index.preparation_bytes() / BYTES_PER_LINE_BYTE / (threads + 2);
        let (least, most) = BATCH_BYTES;
        let (fewest, lines) = BATCH_LINES;
        Sizes {
            lines: commit_every.unwrap_or(lines).clamp(fewest, lines) as usize,
            batch: batch.clamp(least, most),
            line: index.document_bytes_max(),
        }
    }
}

/// Some consecutive lines of one source.
pub struct RawBatch {
    /// Its place among all batches, from 0.
    pub number: u64,
    /// The source of the lines.
    pub origin: Origin,
    /// The number of the last line that was looked at for this batch.
    pub last_line: u64,
    /// The files of the documents, where each has its own, with the number of the document in it.
    files: Vec<(u64, Arc<str>)>,
    /// The places of documents that may have several lines, with their numbers.
    places: Vec<(u64, DocumentStart)>,
    /// The changes that lines ask for which are no whole documents, with their numbers.
    changes: Vec<(u64, Change)>,
    /// Lines that were rejected before they could be looked at.
    pub rejected: Vec<Rejection>,
    /// Notes for the caller on the way the source is read.
    pub notes: Vec<String>,
    /// Why there are no more batches, if reading failed.
    pub failed: Option<String>,
    text: Vec<u8>,
    /// Each line's number and where its text ends.
    lines: Vec<(u64, usize)>,
    /// Given back when the batch is dropped.
    _permit: Option<Permit>,
}

impl RawBatch {
    /// An empty batch with this place.
    pub fn new(number: u64, origin: &Origin) -> RawBatch {
        RawBatch {
            number,
            origin: origin.clone(),
            last_line: 0,
            files: Vec::new(),
            places: Vec::new(),
            changes: Vec::new(),
            rejected: Vec::new(),
            notes: Vec::new(),
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

    /// Returns true if no more lines should be added to it.
    pub fn is_full(&self, sizes: &Sizes) -> bool {
        self.text.len() >= sizes.batch || self.lines.len() >= sizes.lines
    }

    /// Returns true if there is nothing to write or to report.
    pub fn says_nothing(&self) -> bool {
        self.has_no_lines() && self.notes.is_empty() && self.failed.is_none()
    }

    fn has_no_lines(&self) -> bool {
        self.lines.is_empty() && self.rejected.is_empty()
    }

    /// Returns true if all lines are whole documents.
    pub fn is_plain(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the change that a line asks for, if it is no whole document.
    pub fn change(&self, number: u64) -> Option<&Change> {
        // They are in order.
        let at = self
            .changes
            .binary_search_by_key(&number, |(number, _)| *number);
        at.ok().map(|at| &self.changes[at].1)
    }

    /// Fills the batch; whether there is more.
    fn fill(
        &mut self,
        documents: &mut dyn Documents,
        sizes: Sizes,
        asked: &Asked,
    ) -> io::Result<bool> {
        let mut until = None;
        while !self.is_full(&sizes) && !asked() {
            if !self.has_no_lines() {
                let until = *until.get_or_insert_with(|| Instant::now() + LINGER);
                if documents.pauses(until) {
                    break;
                }
            }
            let found = documents.next(&mut self.text)?;
            if found == Found::End {
                return Ok(false);
            }
            let number = documents.number();
            self.last_line = number;
            self.files
                .extend(documents.file().map(|file| (number, file)));
            self.places
                .extend(documents.place().map(|place| (number, place)));
            match found {
                Found::Rejected(reason) => self.rejected.push(self.rejection(number, reason)),
                Found::Change(change) => {
                    self.changes.push((number, change));
                    self.lines.push((number, self.text.len()));
                }
                _ => self.enter_line(number),
            }
        }
        Ok(!asked())
    }

    /// Adds a line.
    pub fn add_line(&mut self, number: u64, line: &[u8]) {
        self.last_line = number;
        self.text.extend_from_slice(line);
        self.lines.push((number, self.text.len()));
    }

    /// Waits until so much may be under way.
    pub fn enter(&mut self, gate: &Arc<Gate>, asked: &Asked) {
        self._permit = gate.enter(self.bytes() * BYTES_PER_LINE_BYTE, asked);
    }

    /// Takes the text behind the last line as one more; blank lines are nothing.
    fn enter_line(&mut self, number: u64) {
        let start = self.lines.last().map_or(0, |(_, end)| *end);
        if self.text[start..].trim_ascii().is_empty() {
            self.text.truncate(start)
        } else {
            self.lines.push((number, self.text.len()))
        }
    }

    /// Returns the rejection of a line of this batch.
    pub fn rejection(&self, line: u64, reason: String) -> Rejection {
        let mut places = self.places.iter().rev();
        let place = places.find(|(number, _)| *number == line);
        let reason = match place {
            None => reason,
            Some((_, place)) => place.within(&reason),
        };
        Rejection {
            origin: self.origin.clone(),
            file: self.file(line),
            line,
            reason,
        }
    }

    /// The file of a document that has its own.
    pub fn file(&self, number: u64) -> Option<Arc<str>> {
        let mut files = self.files.iter();
        let found = files.find(|(other, _)| *other == number);
        found.map(|(_, file)| Arc::clone(file))
    }
}

/// Takes batches; returns true if more are wanted.
pub type SendBatch<'a> = &'a mut dyn FnMut(RawBatch) -> bool;

/// Reads sources and sends their batches.
pub struct Reader {
    /// The sources to read, in order.
    pub sources: Vec<Input>,
    /// Bytes taken from the files so far.
    pub taken: Arc<AtomicU64>,
    /// The sizes of batches and lines.
    pub sizes: Sizes,
    /// The declared types of fields.
    pub mapping: Arc<FieldMapping>,
    /// The gate that limits the bytes under way.
    pub gate: Arc<Gate>,
    /// Tells whether the caller asked for the end.
    pub asked: Asked,
}

impl Reader {
    /// Reads to the end, to the first failure or until nobody wants more.
    pub fn run(self, send: SendBatch<'_>) {
        let mut number = 0;
        for source in &self.sources {
            if !self.read(source, &mut number, send) {
                return;
            }
        }
    }

    fn read(&self, source: &Input, number: &mut u64, send: SendBatch<'_>) -> bool {
        let mut origin = source.origin();
        let mut documents = match source.open(&self.taken, self.sizes.line, &self.mapping) {
            Ok(documents) => documents,
            Err(error) => {
                return self.send_failure(RawBatch::new(*number, &origin), &error, send);
            }
        };
        origin.unit = documents.unit();
        loop {
            let mut batch = RawBatch::new(*number, &origin);
            let filled = batch.fill(&mut *documents, self.sizes, &self.asked);
            let notes = documents.notes().into_iter();
            batch
                .notes
                .extend(notes.map(|note| format!("{origin}: {note}")));
            let more = match filled {
                Ok(more) => more,
                Err(error) => return self.send_failure(batch, &error, send),
            };
            if !batch.says_nothing() {
                *number += 1;
                if !self.send(batch, send) {
                    return false;
                }
            }
            if !more {
                return !(self.asked)();
            }
        }
    }

    fn send(&self, mut batch: RawBatch, send: SendBatch<'_>) -> bool {
        batch.enter(&self.gate, &self.asked);
        send(batch)
    }

    /// Sends what was read before the failure, and why it is all.
    fn send_failure(&self, mut batch: RawBatch, error: &io::Error, send: SendBatch<'_>) -> bool {
        let end = batch.lines.last().map_or(0, |(_, end)| *end);
        batch.text.truncate(end);
        let error = error.to_string();
        let sign = if error.starts_with("line ") { ',' } else { ':' };
        batch.failed = Some(format!("{}{sign} {error}", batch.origin));
        self.send(batch, send);
        false
    }
}
