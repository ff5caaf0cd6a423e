//! The file of answers: whole answers of searches in a file on flash, behind those in memory.
//!
//! Answers are packed into blocks of 128 KiB (`block`), which are written in a ring: the oldest one
//! is overwritten (`state`). A table in memory gives the places where the answer to a question may
//! be (`places`). What comes from the file proves itself by checksums (`reading`), and its question
//! and its state are compared as a whole. So nothing in the file has to be right, or durable, and
//! nothing is synced: what does not prove itself is a miss.
//!
//! New answers gather in a write buffer (`draft`). An answer that the file has is not written
//! again. The buffer is written when a block is full, when an answer has waited for a second and
//! another one comes, and at the end.
//!
//! One process writes, any number read beside it. Who only reads looks for later blocks after a
//! miss, and takes over when the writer has ended and it has an answer to store.

pub(crate) mod block;
mod draft;
mod places;
mod reading;
mod sharing;
mod state;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use block::{ANSWER_BYTES_MAX, AnswerBlock, BLOCK_BYTES, BLOCK_PAGES};
pub use block::{AnswerRecord, AnswerState};
use draft::AnswerWrite;
use places::{AnswerPlaces, PlaceOfAnswer};
use reading::transfer;
use state::{AnswerContents, AnswerOffer};

use crate::base::{Budget, Error, PAGE_SIZE, Reservation, Result};
use crate::device::{Access, Device, PageBuffer, PagePool, Transfer};

/// The smallest file of answers: 1 MiB.
pub const ANSWERS_BYTES_MIN: u64 = 1 << 20;

/// The largest.
const ANSWERS_BYTES_MAX: u64 = 16 << 30;

/// Opens the device of a file of answers to read it or to write it.
pub type OpenAnswers = Box<dyn Fn(Access) -> Result<Arc<dyn Device>> + Send + Sync>;

/// The file of answers of an index that is open.
pub struct AnswerFile {
    open: OpenAnswers,
    state: Mutex<AnswerContents>,
    /// Buffers of a block that is written, or of headers that are read.
    buffers: PagePool,
    _reserved: Reservation,
}

/// The verdict on an answer that was found.
pub enum AnswerFound<T> {
    /// It is the one that is wanted.
    Given(T),
    /// It is of another state.
    Passed,
    /// It is of no use to anyone, and can be forgotten.
    Useless,
}

/// Figures of a file of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFileFigures {
    /// Bytes that the file may take.
    pub capacity_bytes: u64,
    /// Answers that can be read from it.
    pub answers: u64,
    /// Bytes of the memory budget that its table and its buffers take.
    pub memory_bytes: u64,
    /// Answers that were read from it since the index was opened, and their bytes.
    pub read_answers: u64,
    /// Bytes of these.
    pub read_bytes: u64,
    /// Answers that were written to it since the index was opened.
    pub written_answers: u64,
    /// Bytes that were written, headers and the ends of pages included.
    pub written_bytes: u64,
    /// Answers that were not written, since the file had them.
    pub known_answers: u64,
    /// Answers that were not written, since another process writes, or a write was under way.
    pub passed_over_answers: u64,
    /// Answers that were damaged or overwritten, and were computed again.
    pub unproven_answers: u64,
    /// Set if this process writes the file, and others only read it.
    pub writes: bool,
    /// Why nothing is written to it any more.
    pub stopped: Option<String>,
}

impl AnswerFile {
    /// The file of at most so many bytes on the device that `open` opens.
    ///
    /// # Errors
    ///
    /// If the budget lacks [`AnswerFile::memory_bytes`], or the device cannot be opened.
    pub fn open(open: OpenAnswers, bytes: u64, budget: &Budget) -> Result<AnswerFile> {
        let needed = AnswerFile::memory_bytes(bytes);
        let reserved = budget.reserve("the table of answers on flash", needed)?;
        let (device, writes) = match open(Access::Write) {
            Ok(device) => (device, true),
            Err(Error::Locked { .. }) => (open(Access::Read)?, false),
            Err(error) => return Err(error),
        };
        let blocks = block_count(bytes);
        if writes {
            reading::make_ready(&device, blocks)?;
        }
        let buffers = PagePool::new(BLOCK_PAGES);
        let mut places = AnswerPlaces::new(blocks);
        let newest = reading::scan(&device, &mut places, &buffers);
        let mut state = AnswerContents::new(device, writes, places);
        state.go_on(newest);
        Ok(AnswerFile {
            open,
            state: Mutex::new(state),
            buffers,
            _reserved: reserved,
        })
    }

    /// Bytes of memory that a file of so many bytes takes: a hundredth of it, and buffers of three
    /// blocks.
    pub fn memory_bytes(bytes: u64) -> usize {
        AnswerPlaces::memory_bytes(block_count(bytes)) + 3 * BLOCK_BYTES
    }

    /// Bytes of the largest file for which so many bytes of memory are enough.
    pub fn largest(memory: usize) -> u64 {
        let blocks = memory.saturating_sub(3 * BLOCK_BYTES) / AnswerPlaces::memory_bytes(1);
        ((blocks * BLOCK_BYTES) as u64).min(ANSWERS_BYTES_MAX)
    }

    /// Shows `take` the answers to a question that the file has, until it takes one. Gives nothing
    /// if it takes none, or if the budget has no room to read them.
    pub fn get<T>(
        &self,
        question: &[u8],
        budget: &Budget,
        take: &mut dyn FnMut(&AnswerRecord<'_>) -> AnswerFound<T>,
    ) -> Option<T> {
        let found = self.find(question, budget, take);
        if found.is_none() && self.look_again() {
            return self.find(question, budget, take);
        }
        found
    }

    /// Stores an answer, unless the file has it.
    pub fn store(&self, answer: &AnswerRecord<'_>) {
        let mut bytes = Vec::new();
        answer.encode(&mut bytes);
        if bytes.len() > ANSWER_BYTES_MAX || !self.can_write() {
            return;
        }
        let offered = self.state().offer(answer, &bytes);
        match offered {
            AnswerOffer::Done => {}
            AnswerOffer::Taken => self.flush(),
            AnswerOffer::Full => {
                self.flush();
                if self.state().offer(answer, &bytes) == AnswerOffer::Full {
                    self.state().counts.passed_over += 1;
                }
            }
        }
    }

    /// Writes what the write buffer has.
    pub fn flush(&self) {
        let begun = {
            let mut state = self.state();
            let mark = draw_mark();
            let begun = state.begin_write(micros_since_1970(), mark);
            begun.map(|write| (write, Arc::clone(&state.device)))
        };
        let Some((write, device)) = begun else {
            return;
        };
        let block = AnswerBlock {
            name: write.name,
            valid: self.state().places.valid(write.name.number) | new_bits(&write),
            slots: write.slots.clone(),
        };
        let written = self.write(&device, &block, &write);
        let mut state = self.state();
        state.writing = None;
        match written {
            Ok(bytes) => {
                state.counts.written += (write.slots.len() - write.written) as u64;
                state.counts.written_bytes += bytes as u64;
                state.places.take_in(&block);
            }
            Err(error) => {
                state.places.clear(write.name.number);
                state.stopped = Some(error.to_string());
            }
        }
    }

    /// The figures now.
    pub fn figures(&self) -> AnswerFileFigures {
        let state = self.state();
        let bytes = (state.places.blocks() * BLOCK_BYTES) as u64;
        let counts = state.counts;
        AnswerFileFigures {
            capacity_bytes: bytes,
            answers: state.places.count(),
            memory_bytes: AnswerFile::memory_bytes(bytes) as u64,
            read_answers: counts.read,
            read_bytes: counts.read_bytes,
            written_answers: counts.written,
            written_bytes: counts.written_bytes,
            known_answers: counts.known,
            passed_over_answers: counts.passed_over,
            unproven_answers: counts.unproven,
            writes: state.writes,
            stopped: state.stopped.clone(),
        }
    }

    fn find<T>(
        &self,
        question: &[u8],
        budget: &Budget,
        take: &mut dyn FnMut(&AnswerRecord<'_>) -> AnswerFound<T>,
    ) -> Option<T> {
        let hash = AnswerRecord::question_hash(question);
        let (on_their_way, device, places) = {
            let state = self.state();
            let device = Arc::clone(&state.device);
            (state.on_their_way(hash), device, state.places.find(hash))
        };
        for bytes in on_their_way {
            if let AnswerFound::Given(found) = verdict(&bytes, question, take) {
                return Some(found);
            }
        }
        for place in places {
            let needed = reading::reading_bytes(&place);
            let _reserved = budget
                .reserve("an answer that is read from flash", needed)
                .ok()?;
            let Some(bytes) = reading::answer(&device, &place) else {
                self.forget(&place, true);
                continue;
            };
            match verdict(&bytes, question, take) {
                AnswerFound::Given(found) => {
                    let mut state = self.state();
                    state.counts.read += 1;
                    state.counts.read_bytes += bytes.len() as u64;
                    return Some(found);
                }
                AnswerFound::Passed => {}
                AnswerFound::Useless => self.forget(&place, false),
            }
        }
        None
    }

    fn forget(&self, place: &PlaceOfAnswer, is_unproven: bool) {
        let mut state = self.state();
        state.counts.unproven += u64::from(is_unproven);
        // Another answer may have taken the place meanwhile: then that is computed once more.
        state.places.remove(place.block, place.number);
    }

    /// Writes new answers of a block and its header. Gives the bytes that were written.
    fn write(
        &self,
        device: &Arc<dyn Device>,
        block: &AnswerBlock,
        write: &AnswerWrite,
    ) -> Result<usize> {
        reading::check_there(device)?;
        let mut first = self.buffer()?;
        block.encode(&mut first);
        let mut pages = Vec::new();
        for bytes in write.bytes.chunks(PAGE_SIZE) {
            let mut page = self.buffer()?;
            page[..bytes.len()].copy_from_slice(bytes);
            page[bytes.len()..].fill(0);
            pages.push(page);
        }
        let written = (1 + pages.len()) * PAGE_SIZE;
        let number = write.name.number;
        let mut batch: Vec<Transfer> = Vec::new();
        if write.first_page == 1 {
            let all = std::iter::once(first).chain(pages).collect();
            batch.push(transfer(number, 0, all));
        } else {
            batch.push(transfer(number, write.first_page, pages));
            batch.push(transfer(number, 0, vec![first]));
        }
        device.write(&mut batch)?;
        Ok(written)
    }

    fn buffer(&self) -> Result<PageBuffer> {
        let buffer = self.buffers.take();
        buffer.ok_or_else(|| Error::internal("the device has kept pages of answers"))
    }

    fn state(&self) -> MutexGuard<'_, AnswerContents> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for AnswerFile {
    /// Writes what the write buffer has.
    fn drop(&mut self) {
        self.flush();
    }
}

/// The verdict on bytes that prove themselves.
fn verdict<T>(
    bytes: &[u8],
    question: &[u8],
    take: &mut dyn FnMut(&AnswerRecord<'_>) -> AnswerFound<T>,
) -> AnswerFound<T> {
    match AnswerRecord::decode(bytes) {
        Ok(answer) if answer.question == question => take(&answer),
        Ok(_) => AnswerFound::Passed,
        Err(_) => AnswerFound::Useless,
    }
}

/// Answers of a block that are written now, as bits.
fn new_bits(write: &AnswerWrite) -> u64 {
    let numbers = write.written..write.slots.len();
    numbers.fold(0, |bits, number| bits | 1 << number)
}

/// Without random numbers marks are all the same: then only sequences tell blocks apart.
fn draw_mark() -> u64 {
    getrandom::u64().unwrap_or(0)
}

/// The time by the system's clock.
pub fn micros_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as u64)
}

fn block_count(bytes: u64) -> usize {
    (bytes.clamp(ANSWERS_BYTES_MIN, ANSWERS_BYTES_MAX) / BLOCK_BYTES as u64) as usize
}
