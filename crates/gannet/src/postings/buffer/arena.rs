//! Byte streams that grow side by side in one arena.
//!
//! A stream begins with a key that never changes. What is appended lies behind it in a chain of
//! slices in 64 KiB blocks. Each slice is larger than the one before. The last four bytes of a full
//! slice name the next. So a list of two postings costs a few bytes, a list of a million costs no
//! copying, and the memory of all lists is known exactly. Source: the byte block pool of Lucene's
//! indexing chain (Cutting et al.).

const BLOCK_BITS: u32 = 16;
const BLOCK_BYTES: usize = 1 << BLOCK_BITS;
const LINK_BYTES: usize = 4;

/// The most that addresses of 32 bits can name.
pub(crate) const ARENA_BYTES_MAX: usize = 1 << 32;

/// Bytes of a key's length, before the key.
const KEY_LENGTH_BYTES: usize = 2;

/// Slice sizes in bytes by level, links included; the last goes on for ever. The first has room for
/// a posting with one token.
const SLICE_BYTES: [usize; 16] = [
    12, 16, 24, 36, 52, 76, 116, 172, 260, 388, 580, 868, 1_300, 1_956, 2_932, 4_396,
];

/// The memory of many streams.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    blocks: Vec<Box<[u8]>>,
    used: usize,
}

/// One stream: where its key stands, with the first slice behind it, and where it goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stream {
    key: u32,
    at: u32,
    /// Bytes behind the key.
    pub(crate) length: u32,
    left: u16,
    level: u8,
}

/// Reads what was appended to a stream, in order.
pub(crate) struct StreamReader<'a> {
    arena: &'a Arena,
    at: u32,
    /// Bytes left in the slice, and in all.
    left: usize,
    rest: usize,
    level: usize,
}

impl Arena {
    /// Bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    /// Returns true if addresses of 32 bits can name so many bytes more.
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        // What is left of the last blocks may be too short for what comes.
        let wasted = bytes / BLOCK_BYTES * SLICE_BYTES[SLICE_BYTES.len() - 1] + 2 * BLOCK_BYTES;
        (self.memory_bytes() + bytes + wasted) as u64 <= ARENA_BYTES_MAX as u64
    }

    /// Begins a stream with a key, which is far shorter than a block.
    pub(crate) fn begin(&mut self, key: &[u8]) -> Stream {
        let front = KEY_LENGTH_BYTES + key.len();
        let at = self.allocate(front + SLICE_BYTES[0]);
        let (length, copy) = self.bytes_mut(at, front).split_at_mut(KEY_LENGTH_BYTES);
        length.copy_from_slice(&(key.len() as u16).to_le_bytes());
        copy.copy_from_slice(key);
        Stream {
            key: at,
            at: at + front as u32,
            length: 0,
            left: (SLICE_BYTES[0] - LINK_BYTES) as u16,
            level: 0,
        }
    }

    /// The key of a stream.
    pub(crate) fn key(&self, stream: &Stream) -> &[u8] {
        let mut length = [0; KEY_LENGTH_BYTES];
        length.copy_from_slice(self.bytes(stream.key, KEY_LENGTH_BYTES));
        let at = stream.key + KEY_LENGTH_BYTES as u32;
        self.bytes(at, u16::from_le_bytes(length) as usize)
    }

    /// Appends bytes to a stream.
    pub(crate) fn append(&mut self, stream: &mut Stream, mut bytes: &[u8]) {
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
    pub(crate) fn end_of(&self, stream: &Stream) -> u8 {
        let block = self.blocks.get(stream.at as usize >> BLOCK_BITS);
        block.map_or(0, |block| block[stream.at as usize % BLOCK_BYTES])
    }

    /// A reader of what was appended to a stream.
    pub(crate) fn reader(&self, stream: &Stream) -> StreamReader<'_> {
        StreamReader {
            arena: self,
            at: stream.key + (KEY_LENGTH_BYTES + self.key(stream).len()) as u32,
            left: SLICE_BYTES[0] - LINK_BYTES,
            rest: stream.length as usize,
            level: 0,
        }
    }

    /// All that was appended to a stream, if it lies in the first slice: right behind the key.
    pub(crate) fn first_slice(&self, stream: &Stream) -> Option<&[u8]> {
        let length = stream.length as usize;
        let is_first = length <= SLICE_BYTES[0] - LINK_BYTES;
        is_first.then(|| self.bytes(stream.at - stream.length, length))
    }

    /// Gives a stream its next slice.
    fn extend(&mut self, stream: &mut Stream) {
        let level = next_level(stream.level as usize);
        let slice = self.allocate(SLICE_BYTES[level]);
        self.bytes_mut(stream.at, LINK_BYTES)
            .copy_from_slice(&slice.to_le_bytes());
        stream.at = slice;
        stream.left = (SLICE_BYTES[level] - LINK_BYTES) as u16;
        stream.level = level as u8;
    }

    fn link(&self, at: u32) -> u32 {
        let mut link = [0; LINK_BYTES];
        link.copy_from_slice(self.bytes(at, LINK_BYTES));
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

    fn bytes(&self, at: u32, length: usize) -> &[u8] {
        let start = at as usize % BLOCK_BYTES;
        &self.blocks[at as usize >> BLOCK_BITS][start..start + length]
    }

    fn bytes_mut(&mut self, at: u32, length: usize) -> &mut [u8] {
        let start = at as usize % BLOCK_BYTES;
        &mut self.blocks[at as usize >> BLOCK_BITS][start..start + length]
    }
}

fn next_level(level: usize) -> usize {
    (level + 1).min(SLICE_BYTES.len() - 1)
}

impl StreamReader<'_> {
    /// Returns true if all was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest == 0
    }

    /// The next byte; 0 behind the end.
    pub(crate) fn byte(&mut self) -> u8 {
        self.part(1).first().copied().unwrap_or_default()
    }

    /// Moves the next `count` bytes, or all that are left, to the end of `out`.
    pub(crate) fn copy(&mut self, count: usize, out: &mut Vec<u8>) {
        let mut count = count.min(self.rest);
        out.reserve(count);
        while count > 0 {
            let part = self.part(count);
            count -= part.len();
            out.extend_from_slice(part);
        }
    }

    /// Goes past the next `count` bytes, or all that are left.
    pub(crate) fn skip(&mut self, count: usize) {
        let mut count = count.min(self.rest);
        while count > 0 {
            count -= self.part(count).len();
        }
    }

    /// The next bytes of one slice, `count` at most.
    fn part(&mut self, count: usize) -> &[u8] {
        if self.left == 0 && self.rest > 0 {
            self.at = self.arena.link(self.at);
            self.level = next_level(self.level);
            self.left = SLICE_BYTES[self.level] - LINK_BYTES;
        }
        let part = count.min(self.left).min(self.rest);
        let bytes = self.arena.bytes(self.at, part);
        self.at += part as u32;
        self.left -= part;
        self.rest -= part;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_grow_side_by_side() {
        let mut arena = Arena::default();
        let mut streams: Vec<Stream> = (0..5u8).map(|i| arena.begin(&[i; 9])).collect();
        let mut expected: [Vec<u8>; 5] = Default::default();
        for round in 0..4_000usize {
            let which = round * 7 % 5;
            let bytes: Vec<u8> = (0..round % 23).map(|i| (i * round) as u8).collect();
            arena.append(&mut streams[which], &bytes);
            expected[which].extend_from_slice(&bytes);
        }
        for (i, (stream, expected)) in (0u8..).zip(streams.iter().zip(&expected)) {
            let mut reader = arena.reader(stream);
            let mut read = vec![reader.byte()];
            while !reader.is_at_end() {
                reader.copy(97, &mut read);
            }
            assert!(read == *expected && arena.key(stream) == [i; 9]);
        }
    }

    #[test]
    fn an_arena_ends_where_addresses_do() {
        let mut arena = Arena::default();
        assert!(arena.has_room_for(1 << 30));
        assert!(!arena.has_room_for(ARENA_BYTES_MAX));
        arena.blocks = vec![Box::default(); ARENA_BYTES_MAX / BLOCK_BYTES - 64];
        assert!(arena.has_room_for(1 << 20));
        assert!(!arena.has_room_for(4 << 20));
    }

    #[test]
    fn keys_stay_and_a_stream_may_be_empty() {
        let mut arena = Arena::default();
        let begin = |i: u32| arena.begin(&i.to_le_bytes());
        let streams: Vec<Stream> = (0..9_000).map(begin).collect();
        for (i, stream) in (0u32..).zip(streams) {
            assert_eq!(arena.key(&stream), i.to_le_bytes());
            let mut reader = arena.reader(&stream);
            assert!(reader.is_at_end() && reader.byte() == 0);
        }
    }
}
