//! The places of answers in their file, by the hash of their question: a table of a fixed size,
//! with chains.
//!
//! A place is the number of a block times 64, plus the number of the answer in the block. Of two
//! answers whose questions have one hash, only that of the later block is known, or the later one
//! of a block. That may lose an answer, and never gives a wrong one: whoever reads a place compares
//! the whole question.

use super::block::{ANSWERS_MAX, AnswerBlock, AnswerSlot};

const NONE: u32 = u32::MAX;

/// Bytes of memory for a place: its end of a chain, the next place, two hashes, and its pages.
const PLACE_BYTES: usize = 4 * size_of::<u32>() + 2;

/// The answers that can be read.
#[derive(Debug)]
pub(super) struct AnswerPlaces {
    heads: Vec<u32>,
    next: Vec<u32>,
    questions: Vec<u32>,
    states: Vec<u32>,
    /// The first page of each in its block, and the number of its pages: 0 if it is not valid.
    spans: Vec<(u8, u8)>,
    /// The sequence of each block; 0 of one that was never written.
    sequences: Vec<u64>,
    /// The number of answers of each block, those included that are not valid any more.
    lengths: Vec<u8>,
    count: u64,
}

/// A place where the answer to a question may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceOfAnswer {
    pub(super) block: u32,
    pub(super) number: usize,
    pub(super) first_page: usize,
    pub(super) pages: usize,
}

impl AnswerPlaces {
    /// The empty table for so many blocks.
    pub(super) fn new(blocks: usize) -> AnswerPlaces {
        let places = blocks * ANSWERS_MAX;
        AnswerPlaces {
            heads: vec![NONE; places],
            next: vec![NONE; places],
            questions: vec![0; places],
            states: vec![0; places],
            spans: vec![(0, 0); places],
            sequences: vec![0; blocks],
            lengths: vec![0; blocks],
            count: 0,
        }
    }

    /// Bytes of the table for so many blocks.
    pub(super) fn memory_bytes(blocks: usize) -> usize {
        blocks * (ANSWERS_MAX * PLACE_BYTES + size_of::<u64>() + 1)
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.sequences.len()
    }

    /// The number of answers that are valid.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The block that was begun last, with its sequence; nothing if none was.
    pub(super) fn newest(&self) -> Option<(u32, u64)> {
        let blocks = (0..).zip(&self.sequences);
        let newest = blocks.max_by_key(|(_, sequence)| **sequence);
        newest.and_then(|(block, sequence)| (*sequence > 0).then_some((block, *sequence)))
    }

    /// The places of a question.
    pub(super) fn find(&self, question: u32) -> Vec<PlaceOfAnswer> {
        let chain = self.chain(question);
        let same = chain.filter(|place| self.questions[*place] == question);
        same.map(|place| self.place(place)).collect()
    }

    /// Returns true if the answer of this state to a question is known.
    pub(super) fn knows(&self, question: u32, state: u32) -> bool {
        let mut chain = self.chain(question);
        chain.any(|place| self.questions[place] == question && self.states[place] == state)
    }

    /// The answers of a block that are valid, as bits.
    pub(super) fn valid(&self, block: u32) -> u64 {
        let numbers = 0..ANSWERS_MAX;
        let valid = numbers.filter(|number| self.spans[place_of(block, *number)].1 > 0);
        valid.fold(0, |bits, number| bits | 1 << number)
    }

    /// Returns true if a header tells of more than was taken in of its block, or of a later one.
    pub(super) fn is_news(&self, header: &AnswerBlock) -> bool {
        let block = header.name.number as usize;
        let known = (self.sequences.get(block), self.lengths.get(block));
        let (Some(sequence), Some(length)) = known else {
            return false;
        };
        (*sequence, *length as usize) < (header.name.sequence, header.slots.len())
    }

    /// Takes in what a block holds, in place of what it held.
    pub(super) fn take_in(&mut self, header: &AnswerBlock) {
        let block = header.name.number;
        if block as usize >= self.blocks() {
            return;
        }
        self.clear(block);
        self.sequences[block as usize] = header.name.sequence;
        self.lengths[block as usize] = header.slots.len() as u8;
        for (number, slot) in header.valid_slots() {
            self.insert(place_of(block, number), slot);
        }
    }

    /// Forgets what a block holds.
    pub(super) fn clear(&mut self, block: u32) {
        for number in 0..ANSWERS_MAX {
            self.remove(block, number);
        }
    }

    /// Forgets an answer.
    pub(super) fn remove(&mut self, block: u32, number: usize) {
        let place = place_of(block, number);
        if self.spans[place].1 == 0 {
            return;
        }
        self.spans[place] = (0, 0);
        self.count -= 1;
        let after = self.next[place];
        let head = self.head(self.questions[place]);
        if self.heads[head] == place as u32 {
            self.heads[head] = after;
            return;
        }
        let mut at = self.heads[head] as usize;
        while self.next[at] != place as u32 {
            at = self.next[at] as usize;
        }
        self.next[at] = after;
    }

    /// Adds an answer, unless a later one to its question is known.
    fn insert(&mut self, place: usize, slot: &AnswerSlot) {
        if let Some(known) = self.first_of(slot.question) {
            let age = |place: usize| (self.sequences[place / ANSWERS_MAX], place % ANSWERS_MAX);
            if age(known) > age(place) {
                return;
            }
            self.remove((known / ANSWERS_MAX) as u32, known % ANSWERS_MAX);
        }
        let (first, pages) = slot.span();
        self.spans[place] = (first as u8, pages as u8);
        self.questions[place] = slot.question;
        self.states[place] = slot.state;
        let head = self.head(slot.question);
        self.next[place] = self.heads[head];
        self.heads[head] = place as u32;
        self.count += 1;
    }

    fn first_of(&self, question: u32) -> Option<usize> {
        let mut chain = self.chain(question);
        chain.find(|place| self.questions[*place] == question)
    }

    fn chain(&self, question: u32) -> impl Iterator<Item = usize> {
        let first = self.heads.get(self.head(question)).copied();
        let is_place = |place: &u32| *place != NONE;
        let first = first.filter(is_place);
        std::iter::successors(first, move |place| {
            Some(self.next[*place as usize]).filter(is_place)
        })
        .map(|place| place as usize)
    }

    fn head(&self, question: u32) -> usize {
        question as usize % self.heads.len().max(1)
    }

    fn place(&self, place: usize) -> PlaceOfAnswer {
        let (first, pages) = self.spans[place];
        PlaceOfAnswer {
            block: (place / ANSWERS_MAX) as u32,
            number: place % ANSWERS_MAX,
            first_page: first as usize,
            pages: pages as usize,
        }
    }
}

fn place_of(block: u32, number: usize) -> usize {
    block as usize * ANSWERS_MAX + number
}

#[cfg(test)]
mod tests {
    use super::super::block::BlockName;
    use super::*;
    use crate::base::PAGE_SIZE;

    fn block(number: u32, sequence: u64, questions: &[u32]) -> AnswerBlock {
        let slot = |question: &u32| AnswerSlot {
            offset: PAGE_SIZE as u32,
            length: 10,
            question: *question,
            state: sequence as u32,
            sum: 0,
        };
        let mark = 0;
        AnswerBlock {
            name: BlockName {
                number,
                sequence,
                mark,
            },
            valid: u64::MAX,
            slots: questions.iter().map(slot).collect(),
        }
    }

    #[test]
    fn the_later_answer_counts_in_whatever_order_blocks_are_read() {
        for order in [[0, 1], [1, 0]] {
            let blocks = [block(0, 9, &[7, 8, 7 + 128]), block(1, 4, &[7, 9, 9])];
            let mut places = AnswerPlaces::new(2);
            order.iter().for_each(|at| places.take_in(&blocks[*at]));
            assert_eq!(places.count(), 4);
            assert_eq!(places.newest(), Some((0, 9)));
            let found = |question| -> Vec<(u32, usize)> {
                let places = places.find(question);
                places.iter().map(|at| (at.block, at.number)).collect()
            };
            assert_eq!(found(7), [(0, 0)]);
            assert_eq!(found(9), [(1, 2)]);
            assert_eq!(found(7 + 128), [(0, 2)]);
            assert_eq!((places.valid(0), places.valid(1)), (0b111, 0b100));
            assert!(places.knows(8, 9) && !places.knows(8, 4));
            places.clear(0);
            assert_eq!((places.count(), places.valid(0)), (1, 0));
            assert!(places.find(7).is_empty());
        }
    }
}
