//! Blocks of the file of answers: a page that says what the block holds, then the answers, one
//! behind the other.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `GANNETAN` |
//! | 4 | version: 1 |
//! | 4 | number of the block |
//! | 8 | sequence: ascending with each block that is begun |
//! | 8 | mark: drawn at random when the block was begun |
//! | 8 | bitmap: which of the answers were valid when the page was written |
//! | varint, then for each | answers that follow: offset, length, two hashes, checksum, u32 each |
//! | … | zeros |
//! | last 4 | CRC-32C of all before |
//!
//! The hashes are those of the question and of the state. An answer is its question, the root and
//! the operation of its state, the time, and its content.
//! Its checksum covers the number, the sequence and the mark of the block too. So neither a block
//! in another place nor what an earlier writing has left below a new header passes for an answer.

use crate::base::{
    ByteReader, PAGE_SIZE, Result, Sequence, put_bytes, put_u32, put_u64, put_varint,
};
use crate::storage::Lineage;

/// Pages of a block, its header included: 128 KiB.
pub(super) const BLOCK_PAGES: usize = 32;

/// Bytes of a block.
pub(super) const BLOCK_BYTES: usize = BLOCK_PAGES * PAGE_SIZE;

/// The most answers of a block: the bitmap has a bit for each.
pub(super) const ANSWERS_MAX: usize = 64;

/// Bytes of the longest answer.
pub(super) const ANSWER_BYTES_MAX: usize = BLOCK_BYTES - PAGE_SIZE;

const MAGIC: &[u8; 8] = b"GANNETAN";
const VERSION: u32 = 1;
const SUM_AT: usize = PAGE_SIZE - 4;

/// The names of a block that is begun, which the checksums of its answers cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockName {
    pub(super) number: u32,
    pub(super) sequence: u64,
    pub(super) mark: u64,
}

/// The header of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerBlock {
    pub(super) name: BlockName,
    pub(super) valid: u64,
    pub(super) slots: Vec<AnswerSlot>,
}

/// The place of an answer in its block, and what tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerSlot {
    pub(super) offset: u32,
    pub(super) length: u32,
    /// Hashes of the question and of the state.
    pub(super) question: u32,
    pub(super) state: u32,
    pub(super) sum: u32,
}

/// The state that an answer belongs to: a root, with all operations up to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerState {
    /// The root.
    pub root: Lineage,
    /// The last operation.
    pub sequence: Sequence,
}

/// An answer with all by which it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerRecord<'a> {
    /// All that the content depends on, but for the state.
    pub question: &'a [u8],
    /// The state.
    pub state: AnswerState,
    /// The time at which the state was looked at, in microseconds since 1970.
    pub at: u64,
    /// The answer itself.
    pub content: &'a [u8],
}

impl BlockName {
    /// The checksum of an answer of the block.
    pub(super) fn sum(&self, answer: &[u8]) -> u32 {
        let mut seed = Vec::with_capacity(20);
        put_u32(&mut seed, self.number);
        put_u64(&mut seed, self.sequence);
        put_u64(&mut seed, self.mark);
        crc32c::crc32c_append(crc32c::crc32c(&seed), answer)
    }
}

impl AnswerBlock {
    /// Fills a page with it.
    pub(super) fn encode(&self, page: &mut [u8; PAGE_SIZE]) {
        let mut bytes = Vec::with_capacity(PAGE_SIZE);
        bytes.extend_from_slice(MAGIC);
        put_u32(&mut bytes, VERSION);
        put_u32(&mut bytes, self.name.number);
        put_u64(&mut bytes, self.name.sequence);
        put_u64(&mut bytes, self.name.mark);
        put_u64(&mut bytes, self.valid);
        put_varint(&mut bytes, self.slots.len() as u64);
        for slot in &self.slots {
            let numbers = [
                slot.offset,
                slot.length,
                slot.question,
                slot.state,
                slot.sum,
            ];
            numbers
                .iter()
                .for_each(|number| put_u32(&mut bytes, *number));
        }
        page.fill(0);
        page[..bytes.len()].copy_from_slice(&bytes);
        let sum = crc32c::crc32c(&page[..SUM_AT]);
        page[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
    }

    /// The header of the block `number`, if the page is one.
    pub(crate) fn decode(page: &[u8; PAGE_SIZE], number: u32) -> Option<AnswerBlock> {
        let sum = crc32c::crc32c(&page[..SUM_AT]).to_le_bytes();
        let block = (page[SUM_AT..] == sum).then(|| AnswerBlock::read(&page[..SUM_AT]));
        block?.ok()?.filter(|block| block.name.number == number)
    }

    /// Reads a header, even if its checksum does not fit.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<AnswerBlock>> {
        let mut reader = ByteReader::new(bytes, "a block of answers");
        if reader.take(MAGIC.len())? != MAGIC || reader.u32()? != VERSION {
            return Ok(None);
        }
        let name = BlockName {
            number: reader.u32()?,
            sequence: reader.u64()?,
            mark: reader.u64()?,
        };
        let valid = reader.u64()?;
        let count = reader.length(ANSWERS_MAX)?;
        let slots = (0..count).map(|_| AnswerSlot::read(&mut reader));
        let slots = slots.collect::<Result<_>>()?;
        Ok(Some(AnswerBlock { name, valid, slots }))
    }

    /// The answers that are valid, with their numbers.
    pub(super) fn valid_slots(&self) -> impl Iterator<Item = (usize, &AnswerSlot)> {
        let slots = self.slots.iter().enumerate();
        slots.filter(|(number, _)| self.valid >> number & 1 == 1)
    }
}

impl AnswerSlot {
    fn read(reader: &mut ByteReader<'_>) -> Result<AnswerSlot> {
        let slot = AnswerSlot {
            offset: reader.u32()?,
            length: reader.u32()?,
            question: reader.u32()?,
            state: reader.u32()?,
            sum: reader.u32()?,
        };
        let end = u64::from(slot.offset) + u64::from(slot.length);
        let fits = slot.offset as usize >= PAGE_SIZE && end <= BLOCK_BYTES as u64;
        if fits && slot.length > 0 {
            Ok(slot)
        } else {
            Err(reader.damaged("an answer within its block", end))
        }
    }

    /// The first page of the block that it stands in, and how many it touches.
    pub(super) fn span(&self) -> (usize, usize) {
        let first = self.offset as usize / PAGE_SIZE;
        let end = (self.offset as usize + self.length as usize).div_ceil(PAGE_SIZE);
        (first, end - first)
    }
}

impl AnswerState {
    /// Appends it.
    fn encode(&self, out: &mut Vec<u8>) {
        self.root.encode(out);
        put_varint(out, self.sequence);
    }

    /// The hash of the state.
    pub(super) fn hash(&self) -> u32 {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        crc32c::crc32c(&bytes)
    }
}

impl AnswerRecord<'_> {
    /// Appends it.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.question);
        self.state.encode(out);
        put_u64(out, self.at);
        out.extend_from_slice(self.content);
    }

    /// Reads what [`AnswerRecord::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Result<AnswerRecord<'_>> {
        let mut reader = ByteReader::new(bytes, "an answer on flash");
        Ok(AnswerRecord {
            question: reader.bytes()?,
            state: AnswerState {
                root: Lineage::decode(&mut reader)?,
                sequence: reader.varint()?,
            },
            at: reader.u64()?,
            content: reader.rest(),
        })
    }

    /// The hash of the question.
    pub(super) fn question_hash(question: &[u8]) -> u32 {
        crc32c::crc32c(question)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_passes_only_whole_and_at_its_own_place() {
        let slot = |number: u32| AnswerSlot {
            offset: PAGE_SIZE as u32 + number * 100,
            length: 100,
            question: number,
            state: number * 7,
            sum: number * 9,
        };
        let block = AnswerBlock {
            name: BlockName {
                number: 3,
                sequence: 8,
                mark: 5,
            },
            valid: u64::MAX ^ 6,
            slots: (0..ANSWERS_MAX as u32).map(slot).collect(),
        };
        let mut page = [1; PAGE_SIZE];
        block.encode(&mut page);
        assert_eq!(AnswerBlock::decode(&page, 4), None);
        for bit in 0..PAGE_SIZE * 8 {
            page[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(AnswerBlock::decode(&page, 3), None, "{bit}");
            page[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(block.valid_slots().count(), ANSWERS_MAX - 2);
        assert_eq!(AnswerBlock::decode(&page, 3), Some(block));
    }
}
