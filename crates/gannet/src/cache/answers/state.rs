//! The state of the file of answers that threads share: places, the write buffer, and who writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::block::{AnswerBlock, AnswerRecord, BlockName};
use super::draft::{AnswerDraft, AnswerWrite};
use super::places::AnswerPlaces;
use crate::device::Device;

/// The time for which an answer waits in the write buffer while others come.
const WAITS: Duration = Duration::from_secs(1);

/// The counts since the file was opened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AnswerCounts {
    pub(super) read: u64,
    pub(super) read_bytes: u64,
    pub(super) written: u64,
    pub(super) written_bytes: u64,
    pub(super) known: u64,
    pub(super) passed_over: u64,
    pub(super) unproven: u64,
}

/// The contents that threads share. Invariants:
///
/// 1. Places name only what was written: those of a block are forgotten before it is overwritten,
///    and an answer enters when its write has ended.
/// 2. One write is under way at a time, and an answer is found in its buffer until it has ended.
pub(super) struct AnswerContents {
    pub(super) device: Arc<dyn Device>,
    /// Set if this process has the lock, and nobody else writes.
    pub(super) writes: bool,
    pub(super) places: AnswerPlaces,
    pub(super) draft: AnswerDraft,
    pub(super) writing: Option<Arc<AnswerWrite>>,
    /// Why nothing is written any more.
    pub(super) stopped: Option<String>,
    pub(super) counts: AnswerCounts,
    /// The last looks for later blocks, and for a writer that has ended.
    pub(super) looked_at: Option<Instant>,
    pub(super) tried_at: Option<Instant>,
}

/// The outcome of offering an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerOffer {
    /// It was taken, or is not wanted.
    Done,
    /// It was taken, and the write buffer is to be written.
    Taken,
    /// The write buffer is to be written first.
    Full,
}

impl AnswerContents {
    pub(super) fn new(device: Arc<dyn Device>, writes: bool, places: AnswerPlaces) -> Self {
        AnswerContents {
            device,
            writes,
            places,
            draft: AnswerDraft::default(),
            writing: None,
            stopped: None,
            counts: AnswerCounts::default(),
            looked_at: None,
            tried_at: None,
        }
    }

    /// Goes on in the block that was begun last, if that has room.
    pub(super) fn go_on(&mut self, newest: Option<AnswerBlock>) {
        self.draft = newest.map_or_else(AnswerDraft::default, AnswerDraft::going_on);
    }

    /// Offers an answer, which has these bytes.
    pub(super) fn offer(&mut self, answer: &AnswerRecord<'_>, encoded: &[u8]) -> AnswerOffer {
        let question = AnswerRecord::question_hash(answer.question);
        let state = answer.state.hash();
        if self.knows(question, state) {
            self.counts.known += 1;
            return AnswerOffer::Done;
        }
        if !self.draft.has_room(encoded.len()) {
            if self.draft.has_news() {
                return AnswerOffer::Full;
            }
            // All of the block was written, and what is left of it is too little: the next begins.
            self.draft = AnswerDraft::default();
        }
        self.draft.add(question, state, encoded);
        if self.draft.waits(WAITS) {
            AnswerOffer::Taken
        } else {
            AnswerOffer::Done
        }
    }

    fn knows(&self, question: u32, state: u32) -> bool {
        let mut writing = self.writing.iter();
        self.places.knows(question, state)
            || self.draft.knows(question, state)
            || writing.any(|writing| writing.knows(question, state))
    }

    /// The answers to a question that are on their way, the newest first.
    pub(super) fn on_their_way(&self, question: u32) -> Vec<Vec<u8>> {
        let writing = self.writing.iter().flat_map(|write| write.find(question));
        let all = self.draft.find(question).chain(writing);
        all.map(<[u8]>::to_vec).collect()
    }

    /// Takes what is to be written, unless a write is under way: to the block that was begun, or to
    /// the one behind the newest, the oldest of a full file, whose answers are forgotten.
    pub(super) fn begin_write(&mut self, now: u64, mark: u64) -> Option<Arc<AnswerWrite>> {
        let can_write = self.writes && self.stopped.is_none();
        if self.writing.is_some() || !can_write || !self.draft.has_news() {
            return None;
        }
        let next = self.next_block(now, mark);
        let write = Arc::new(self.draft.take(next));
        if write.written == 0 {
            self.places.clear(write.name.number);
        }
        self.writing = Some(Arc::clone(&write));
        Some(write)
    }

    /// Sequences are times, or follow each other where the clock stands. So those of a file that
    /// was made anew are later too.
    fn next_block(&self, now: u64, mark: u64) -> BlockName {
        let blocks = self.places.blocks() as u32;
        let (number, after) = match self.places.newest() {
            Some((block, sequence)) => ((block + 1) % blocks, sequence.saturating_add(1)),
            None => (0, 1),
        };
        BlockName {
            number,
            sequence: now.max(after),
            mark,
        }
    }

    /// Returns true if so much time has passed since `then`, which is now from then on.
    pub(super) fn is_time(then: &mut Option<Instant>, interval: Duration) -> bool {
        let is_time = then.is_none_or(|then| then.elapsed() >= interval);
        if is_time {
            *then = Some(Instant::now());
        }
        is_time
    }
}
