//! The write buffer of the file of answers: answers that are to be written to one block.
//!
//! Later answers begin on a page of their own, and leave those that were written as they are. So a
//! block is filled by several writes, also of several processes.

use std::time::{Duration, Instant};

use super::block::{ANSWERS_MAX, AnswerBlock, AnswerSlot, BLOCK_BYTES, BLOCK_PAGES, BlockName};
use crate::base::PAGE_SIZE;

/// Answers on their way to a block.
#[derive(Debug)]
pub(super) struct AnswerDraft {
    /// The block, if it has answers already.
    pub(super) begun: Option<BlockName>,
    /// All answers of the block.
    slots: Vec<AnswerSlot>,
    /// The number of them that were written.
    written: usize,
    /// The page where the others begin, and their bytes.
    first_page: usize,
    bytes: Vec<u8>,
    /// The time at which the first of the others came.
    since: Option<Instant>,
}

/// Answers that are written to a block at once.
#[derive(Debug)]
pub(super) struct AnswerWrite {
    pub(super) name: BlockName,
    /// All answers of the block; those from `written` on are new.
    pub(super) slots: Vec<AnswerSlot>,
    pub(super) written: usize,
    pub(super) first_page: usize,
    pub(super) bytes: Vec<u8>,
}

impl Default for AnswerDraft {
    fn default() -> AnswerDraft {
        AnswerDraft {
            begun: None,
            slots: Vec::new(),
            written: 0,
            first_page: 1,
            bytes: Vec::new(),
            since: None,
        }
    }
}

impl AnswerDraft {
    /// The draft that goes on in a block, if that has room.
    pub(super) fn going_on(block: AnswerBlock) -> AnswerDraft {
        let ends = block.slots.iter().map(|slot| {
            let (first, pages) = slot.span();
            first + pages
        });
        let first_page = ends.max().unwrap_or(1);
        if block.slots.len() >= ANSWERS_MAX || first_page >= BLOCK_PAGES {
            return AnswerDraft::default();
        }
        AnswerDraft {
            begun: Some(block.name),
            written: block.slots.len(),
            slots: block.slots,
            first_page,
            ..AnswerDraft::default()
        }
    }

    /// Returns true if an answer of so many bytes fits the block.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.slots.len() < ANSWERS_MAX && self.end() + bytes <= BLOCK_BYTES
    }

    /// Returns true if it has answers that were not written.
    pub(super) fn has_news(&self) -> bool {
        self.slots.len() > self.written
    }

    /// Returns true if it has had an answer that was not written for so long.
    pub(super) fn waits(&self, most: Duration) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= most)
    }

    /// Adds an answer, which fits, with the hashes of its question and its state.
    pub(super) fn add(&mut self, question: u32, state: u32, answer: &[u8]) {
        self.slots.push(AnswerSlot {
            offset: self.end() as u32,
            length: answer.len() as u32,
            question,
            state,
            sum: 0,
        });
        self.bytes.extend_from_slice(answer);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Takes what is to be written, to `name` if no block was begun. Later answers go on behind it,
    /// or begin another block if this one is full.
    pub(super) fn take(&mut self, name: BlockName) -> AnswerWrite {
        let name = *self.begun.get_or_insert(name);
        let first_page = self.first_page;
        for slot in &mut self.slots[self.written..] {
            let from = slot.offset as usize - first_page * PAGE_SIZE;
            slot.sum = name.sum(&self.bytes[from..from + slot.length as usize]);
        }
        let taken = AnswerWrite {
            name,
            slots: self.slots.clone(),
            written: self.written,
            first_page,
            bytes: std::mem::take(&mut self.bytes),
        };
        (self.written, self.since) = (self.slots.len(), None);
        self.first_page += taken.bytes.len().div_ceil(PAGE_SIZE);
        if self.written >= ANSWERS_MAX || self.first_page >= BLOCK_PAGES {
            *self = AnswerDraft::default();
        }
        taken
    }

    /// The answers to a question that were not written, the newest first.
    pub(super) fn find(&self, question: u32) -> impl Iterator<Item = &[u8]> {
        let news = &self.slots[self.written..];
        of_question(news, question, self.first_page, &self.bytes)
    }

    /// Returns true if it has the answer of this state to a question.
    pub(super) fn knows(&self, question: u32, state: u32) -> bool {
        let mut slots = self.slots[self.written..].iter();
        slots.any(|slot| slot.question == question && slot.state == state)
    }

    fn end(&self) -> usize {
        self.first_page * PAGE_SIZE + self.bytes.len()
    }
}

impl AnswerWrite {
    /// The answers to a question, the newest first.
    pub(super) fn find(&self, question: u32) -> impl Iterator<Item = &[u8]> {
        let news = &self.slots[self.written..];
        of_question(news, question, self.first_page, &self.bytes)
    }

    /// Returns true if it has the answer of this state to a question.
    pub(super) fn knows(&self, question: u32, state: u32) -> bool {
        let mut slots = self.slots[self.written..].iter();
        slots.any(|slot| slot.question == question && slot.state == state)
    }
}

fn of_question<'a>(
    slots: &'a [AnswerSlot],
    question: u32,
    first_page: usize,
    bytes: &'a [u8],
) -> impl Iterator<Item = &'a [u8]> {
    let slots = slots.iter().rev();
    let same = slots.filter(move |slot| slot.question == question);
    same.filter_map(move |slot| {
        let from = slot.offset as usize - first_page * PAGE_SIZE;
        bytes.get(from..from + slot.length as usize)
    })
}
