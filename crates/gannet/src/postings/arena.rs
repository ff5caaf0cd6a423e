//! Byte streams that grow side by side in one arena.
//!
//! A stream is a chain of slices in 64 KiB blocks, each slice larger than the one before, the last four bytes
//! of a full slice naming the next. So a list of two postings costs a few bytes, a list of a million costs no
//! copying, and the memory of all lists is known exactly. Source: the byte block pool of Lucene's indexing
//! chain (Cutting et al.).

const BLOCK_BITS: u32 = 16;
const BLOCK_BYTES: usize = 1 << BLOCK_BITS;
const LINK_BYTES: usize = 4;

/// Slice sizes in bytes by level, links included; the last goes on for ever.
const SLICE_BYTES: [usize; 16] = [
    12, 16, 24, 36, 52, 76, 116, 172, 260, 388, 580, 868, 1_300, 1_956, 2_932, 4_396,
];

/// The memory of many streams.
#[derive(Debug, Default)]
pub(super) struct Arena {
    blocks: Vec<Box<[u8]>>,
    used: usize,
}

/// One stream: where it starts and where it goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    first: u32,
    at: u32,
    left: u16,
    level: u8,
    length: u32,
}

impl Arena {
    /// Bytes of memory held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    /// Copies bytes that stay where they are, and gives their place. At most a block's size.
    pub(super) fn store(&mut self, bytes: &[u8]) -> u32 {
        let at = self.allocate(bytes.len());
        self.bytes_mut(at, bytes.len()).copy_from_slice(bytes);
        at
    }

    /// What [`Arena::store`] kept.
    pub(super) fn stored(&self, at: u32, length: usize) -> &[u8] {
        let start = at as usize % BLOCK_BYTES;
        &self.blocks[at as usize >> BLOCK_BITS][start..start + length]
    }

    /// Appends bytes to a stream.
    pub(super) fn append(&mut self, stream: &mut Stream, mut bytes: &[u8]) {
        stream.length += bytes.len() as u32;
        while !bytes.is_empty() {
            if stream.left == 0 {
                self.extend(stream);
            }
            let part = bytes.len().min(stream.left as usize);
            self.bytes_mut(stream.at, part)
                .copy_from_slice(&bytes[..part]);
            stream.at += part as u32;
            stream.left -= part as u16;
            bytes = &bytes[part..];
        }
    }

    /// A byte near the end of a stream.
    pub(super) fn end_of(&self, stream: &Stream) -> u8 {
        let block = self.blocks.get(stream.at as usize >> BLOCK_BITS);
        block.map_or(0, |block| block[stream.at as usize % BLOCK_BYTES])
    }

    /// Copies a whole stream to the end of `out`.
    pub(super) fn copy(&self, stream: &Stream, out: &mut Vec<u8>) {
        out.reserve(stream.length as usize);
        let mut rest = stream.length as usize;
        let (mut at, mut level) = (stream.first, 0);
        while rest > 0 {
            let capacity = SLICE_BYTES[level] - LINK_BYTES;
            let part = rest.min(capacity);
            out.extend_from_slice(self.stored(at, part));
            rest -= part;
            if rest > 0 {
                at = self.link(at + capacity as u32);
                level = (level + 1).min(SLICE_BYTES.len() - 1);
            }
        }
    }

    /// Gives a stream its first or its next slice.
    fn extend(&mut self, stream: &mut Stream) {
        let is_first = stream.first == stream.at && stream.level == 0;
        let level = if is_first { 0 } else { stream.level as usize };
        let slice = self.allocate(SLICE_BYTES[level]);
        if is_first {
            stream.first = slice;
        } else {
            self.bytes_mut(stream.at, LINK_BYTES)
                .copy_from_slice(&slice.to_le_bytes());
        }
        stream.at = slice;
        stream.left = (SLICE_BYTES[level] - LINK_BYTES) as u16;
        stream.level = (level + 1).min(SLICE_BYTES.len() - 1) as u8;
    }

    fn link(&self, at: u32) -> u32 {
        let mut link = [0; LINK_BYTES];
        link.copy_from_slice(self.stored(at, LINK_BYTES));
        u32::from_le_bytes(link)
    }

    /// Room inside one block; what is left of a block too full is given up.
    fn allocate(&mut self, length: usize) -> u32 {
        debug_assert!(length <= BLOCK_BYTES);
        if self.blocks.is_empty() || self.used + length > BLOCK_BYTES {
            self.blocks.push(vec![0; BLOCK_BYTES].into_boxed_slice());
            self.used = 0;
        }
        let at = ((self.blocks.len() - 1) << BLOCK_BITS) + self.used;
        self.used += length;
        at as u32
    }

    fn bytes_mut(&mut self, at: u32, length: usize) -> &mut [u8] {
        let start = at as usize % BLOCK_BYTES;
        &mut self.blocks[at as usize >> BLOCK_BITS][start..start + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_grow_side_by_side() {
        let mut arena = Arena::default();
        let mut streams = [Stream::default(); 5];
        let mut expected: [Vec<u8>; 5] = Default::default();
        for round in 0..4_000usize {
            let which = round * 7 % 5;
            let bytes: Vec<u8> = (0..round % 23).map(|i| (i * round) as u8).collect();
            arena.append(&mut streams[which], &bytes);
            expected[which].extend_from_slice(&bytes);
        }
        for (stream, expected) in streams.iter().zip(&expected) {
            let mut read = Vec::new();
            arena.copy(stream, &mut read);
            assert!(read == *expected);
        }
    }

    #[test]
    fn stored_bytes_stay() {
        let mut arena = Arena::default();
        let places: Vec<u32> = (0..9_000u32)
            .map(|i| arena.store(&i.to_le_bytes()))
            .collect();
        for (i, at) in (0u32..).zip(places) {
            assert_eq!(arena.stored(at, 4), i.to_le_bytes());
        }
    }
}
