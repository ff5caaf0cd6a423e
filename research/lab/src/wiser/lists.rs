//! Lists in files, grouped as in the paper or one file for each kind of data as in Elasticsearch,
//! and cursors over them.
//!
//! *Grouped*: all of a list in one piece. *By stage*: heads with documents and frequencies,
//! filters, positions, offsets, each of all lists in a file. Either has a dictionary: blocks of
//! 32 term entries, the first word of each in memory. The paper keeps all entries in memory.

use std::path::Path;

use gannet::Result;
use gannet::device::PAGE_SIZE;

use super::code::{BEFORE, BEHIND, BLOCK, Coded, DOCS, KINDS, OFFSETS, POSITIONS, Part};
use super::filter::BLOOM_BYTES;
use super::pages::{FileNumber, Pages, Stream, Writer, Zone};
use crate::bytes::put_varint;

/// Entries of a block of the dictionary.
const ENTRIES: usize = 32;

/// How lists lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// All of a list in one place.
    pub is_grouped: bool,
    /// With Bloom filters.
    pub has_filters: bool,
}

/// Where a list is: where its zone, filters, positions and offsets start, as far as its layout
/// needs, and the bytes of its zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// By place.
    starts: [u64; PLACES],
    /// Bytes of the zone.
    pub zone: u64,
}

/// Files of a layout beside the dictionary: zones, filters, positions, offsets.
const PLACES: usize = 4;

/// The file of a layout with its dictionary.
const DICTIONARY: FileNumber = PLACES as FileNumber;

/// The place of each kind of data.
const PLACE_OF: [usize; KINDS] = [0, 1, 1, 2, 3];

/// The part of each kind of data.
const PART_OF: [Part; KINDS] = [
    Part::Zone,
    Part::Filters,
    Part::Filters,
    Part::Positions,
    Part::Offsets,
];

impl Layout {
    /// All of them.
    pub const ALL: [Layout; 4] = [
        Layout::new(false, false),
        Layout::new(false, true),
        Layout::new(true, false),
        Layout::new(true, true),
    ];

    const fn new(is_grouped: bool, has_filters: bool) -> Layout {
        Layout {
            is_grouped,
            has_filters,
        }
    }

    fn file(self, place: usize) -> FileNumber {
        let number = 2 * FileNumber::from(self.is_grouped) + FileNumber::from(self.has_filters);
        let place = if self.is_grouped { 0 } else { place };
        number * 8 + place as FileNumber
    }

    fn dictionary_file(self) -> FileNumber {
        self.file(0) + DICTIONARY
    }

    fn kinds(self) -> impl Iterator<Item = usize> {
        (0..KINDS).filter(move |kind| self.has_filters || !matches!(*kind, BEHIND | BEFORE))
    }

    fn places(self) -> usize {
        if self.is_grouped { 1 } else { PLACES }
    }
}

/// Writes the lists of a layout, in the order of their words.
pub struct ListWriter {
    layout: Layout,
    files: Vec<Writer>,
    dictionary: Writer,
    /// Of words in order.
    lists: Lists,
    block: Vec<(Box<str>, Entry)>,
}

/// The lists of a layout: where they are.
pub struct Lists {
    layout: Layout,
    /// All words and entries, as the paper has them in memory.
    terms: Vec<(Box<str>, Entry)>,
    /// The first word of each block of the dictionary, and where the block starts.
    index: Vec<(Box<str>, u64)>,
    /// Bytes of each file: those of the places, then the dictionary.
    pub file_bytes: Vec<u64>,
}

impl ListWriter {
    /// New files in a folder.
    pub fn create(folder: &Path, layout: Layout) -> std::io::Result<ListWriter> {
        let files = (0..layout.places()).map(|place| Writer::create(folder, layout.file(place)));
        Ok(ListWriter {
            layout,
            files: files.collect::<std::io::Result<_>>()?,
            dictionary: Writer::create(folder, layout.dictionary_file())?,
            lists: Lists {
                layout,
                terms: Vec::new(),
                index: Vec::new(),
                file_bytes: Vec::new(),
            },
            block: Vec::new(),
        })
    }

    /// Appends a list; words come in order.
    pub fn put(&mut self, word: &str, coded: &Coded) -> std::io::Result<()> {
        let (layout, head) = (self.layout, coded.head(self.layout.has_filters));
        let mut entry = Entry {
            zone: (head.len() + coded.kinds[DOCS].len()) as u64,
            ..Entry::default()
        };
        entry.starts = std::array::from_fn(|place| match self.files.get(place) {
            Some(file) => file.bytes,
            None => 0,
        });
        self.files[0].put(&head)?;
        for kind in layout.kinds() {
            let place = if layout.is_grouped { 0 } else { PLACE_OF[kind] };
            self.files[place].put(&coded.kinds[kind])?;
        }
        self.lists.terms.push((word.into(), entry));
        self.block.push((word.into(), entry));
        if self.block.len() == ENTRIES {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> std::io::Result<()> {
        let (mut bytes, mut before, mut last) = (Vec::new(), "", Entry::default());
        put_varint(&mut bytes, self.block.len() as u64);
        for (word, entry) in &self.block {
            let same = word
                .bytes()
                .zip(before.bytes())
                .take_while(|(one, other)| one == other)
                .count();
            put_varint(&mut bytes, same as u64);
            put_varint(&mut bytes, (word.len() - same) as u64);
            bytes.extend_from_slice(&word.as_bytes()[same..]);
            put_varint(&mut bytes, entry.zone);
            for place in 0..self.layout.places() {
                put_varint(&mut bytes, entry.starts[place] - last.starts[place]);
            }
            (before, last) = (word, *entry);
        }
        if let Some((word, _)) = self.block.first() {
            let start = self.dictionary.put(&bytes)?;
            self.lists.index.push((word.clone(), start));
        }
        self.block.clear();
        Ok(())
    }

    /// Ends the files.
    pub fn end(mut self) -> std::io::Result<Lists> {
        self.end_block()?;
        for file in self.files {
            self.lists.file_bytes.push(file.end()?);
        }
        self.lists.file_bytes.push(self.dictionary.end()?);
        Ok(self.lists)
    }
}

impl Lists {
    /// Bytes of memory that entries take: all words with eight bytes each, or the first of each
    /// block.
    pub fn memory(&self, in_memory: bool) -> u64 {
        let bytes = |words: &mut dyn Iterator<Item = &Box<str>>| -> u64 {
            words.map(|word| word.len() as u64 + 8).sum()
        };
        if in_memory {
            bytes(&mut self.terms.iter().map(|(word, _)| word))
        } else {
            bytes(&mut self.index.iter().map(|(word, _)| word))
        }
    }

    /// The entry of a word, from memory or from the dictionary's file.
    pub fn entry(&self, word: &str, in_memory: bool, pages: &mut Pages) -> Result<Option<Entry>> {
        if in_memory {
            let at = self
                .terms
                .binary_search_by(|(other, _)| (**other).cmp(word));
            return Ok(at.ok().map(|at| self.terms[at].1));
        }
        let block = self.index.partition_point(|(first, _)| **first <= *word);
        let Some((_, start)) = block.checked_sub(1).map(|block| &self.index[block]) else {
            return Ok(None);
        };
        let mut stream = Stream::new(self.layout.dictionary_file(), *start, Part::Dictionary);
        let (mut found, mut last) = (Vec::new(), Entry::default());
        for _ in 0..stream.varint(pages)? {
            let from = stream.at;
            let same = stream.varint(pages)?;
            let count = stream.varint(pages)?;
            found.truncate(same as usize);
            found.extend(stream.take(count, pages)?);
            last.zone = stream.varint(pages)?;
            for place in 0..self.layout.places() {
                last.starts[place] += stream.varint(pages)?;
            }
            if found == word.as_bytes() {
                pages.counts[Part::Dictionary as usize].needed += stream.at - from;
                return Ok(Some(last));
            }
        }
        Ok(None)
    }

    /// The zone of a list, in pages and bytes.
    pub fn zone(&self, entry: &Entry) -> (Zone, u64) {
        let page = |at: u64| (at / PAGE_SIZE as u64) as u32;
        let zone = Zone {
            file: self.layout.file(0),
            first: page(entry.starts[0]),
            end: page(entry.starts[0] + entry.zone - 1) + 1,
        };
        (zone, entry.zone)
    }

    /// Opens a list: reads its head.
    pub fn open(&self, entry: &Entry, pages: &mut Pages) -> Result<Cursor> {
        let mut stream = Stream::new(self.layout.file(0), entry.starts[0], Part::Zone);
        stream.varint(pages)?;
        let count = stream.varint(pages)? as u32;
        let mut cursor = Cursor {
            layout: self.layout,
            count,
            blocks: Vec::new(),
            ends: [0; KINDS],
            starts: [0; KINDS],
            postings: Vec::new(),
            block: usize::MAX,
            at: 0,
        };
        for _ in 0..(count as usize).div_ceil(BLOCK) {
            let before = cursor.blocks.last().map_or(0, |block| block.last);
            let last = before + stream.varint(pages)? as u32;
            cursor.blocks.push(Block {
                last,
                starts: cursor.ends,
            });
            for kind in self.layout.kinds() {
                cursor.ends[kind] += stream.varint(pages)?;
            }
        }
        pages.counts[Part::Zone as usize].needed += stream.at - entry.starts[0];
        cursor.place(entry, stream.at);
        Ok(cursor)
    }
}

/// A block of a list.
struct Block {
    last: u32,
    /// Where it starts in each kind of data.
    starts: [u64; KINDS],
}

/// A posting.
#[derive(Clone, Copy, Debug)]
struct Posting {
    doc: u32,
    frequency: u32,
}

/// A list that is being read.
pub struct Cursor {
    layout: Layout,
    /// Postings.
    pub count: u32,
    blocks: Vec<Block>,
    /// Bytes of each kind of data, and where it starts in its file.
    ends: [u64; KINDS],
    starts: [u64; KINDS],
    /// Those of the block that was read last.
    postings: Vec<Posting>,
    block: usize,
    at: usize,
}

impl Cursor {
    /// Knows where each kind of data starts; that of documents follows the head.
    fn place(&mut self, entry: &Entry, docs: u64) {
        let mut end = docs;
        for kind in self.layout.kinds() {
            self.starts[kind] = match self.layout.is_grouped || kind == DOCS {
                true => end,
                false if kind == BEFORE => self.starts[BEHIND] + self.ends[BEHIND],
                false => entry.starts[PLACE_OF[kind]],
            };
            end = self.starts[kind] + self.ends[kind];
        }
    }

    /// Bytes of filters on one side, and of positions.
    pub fn costs(&self, side: usize) -> (u64, u64) {
        (self.ends[side], self.ends[POSITIONS])
    }

    /// The first document that is not below `doc`, with its frequency.
    pub fn seek(&mut self, doc: u32, pages: &mut Pages) -> Result<Option<(u32, u32)>> {
        let block = self.blocks.partition_point(|block| block.last < doc);
        if block == self.blocks.len() {
            return Ok(None);
        }
        if block != self.block {
            self.read_block(block, pages)?;
        }
        self.at = self.postings.partition_point(|posting| posting.doc < doc);
        Ok(self
            .postings
            .get(self.at)
            .map(|found| (found.doc, found.frequency)))
    }

    fn read_block(&mut self, block: usize, pages: &mut Pages) -> Result<()> {
        self.postings.clear();
        let mut stream = self.stream(DOCS, block);
        let from = stream.at;
        let mut doc = block
            .checked_sub(1)
            .map_or(u32::MAX, |before| self.blocks[before].last);
        for _ in 0..(self.count as usize - block * BLOCK).min(BLOCK) {
            let coded = stream.varint(pages)?;
            doc = doc.wrapping_add((coded >> 1) as u32).wrapping_add(1);
            let frequency = match coded & 1 {
                1 => 1,
                _ => stream.varint(pages)? as u32,
            };
            self.postings.push(Posting { doc, frequency });
        }
        self.block = block;
        pages.counts[Part::Zone as usize].needed += stream.at - from;
        Ok(())
    }

    /// The bytes of a kind from a block on.
    fn stream(&self, kind: usize, block: usize) -> Stream {
        let at = self.starts[kind] + self.blocks[block].starts[kind];
        Stream::new(self.layout.file(PLACE_OF[kind]), at, PART_OF[kind])
    }

    /// Whether the filter of the posting last sought passes these bits.
    pub fn passes(&self, side: usize, bits: u128, pages: &mut Pages) -> Result<bool> {
        let mut stream = self.stream(side, self.block);
        let bitmap = stream.take((self.postings.len() as u64).div_ceil(8), pages)?;
        let has_filter = |at: usize| bitmap[at / 8] >> (at % 8) & 1 == 1;
        // The bit; of the bitmap no more is needed than that.
        pages.counts[Part::Filters as usize].needed += 1;
        if !has_filter(self.at) {
            return Ok(bits == 0);
        }
        let before = (0..self.at).filter(|at| has_filter(*at)).count();
        stream.at += (before * BLOOM_BYTES) as u64;
        let mut filter = [0; size_of::<u128>()];
        filter[..BLOOM_BYTES].copy_from_slice(&stream.take(BLOOM_BYTES as u64, pages)?);
        pages.counts[Part::Filters as usize].needed += BLOOM_BYTES as u64;
        Ok(u128::from_le_bytes(filter) & bits == bits)
    }

    /// The positions of the posting last sought.
    pub fn positions(&self, pages: &mut Pages) -> Result<Vec<u32>> {
        let mut stream = self.stream(POSITIONS, self.block);
        for _ in 0..self.tokens_before() {
            stream.varint(pages)?;
        }
        let (from, mut position) = (stream.at, 0);
        let mut positions = Vec::new();
        for _ in 0..self.postings[self.at].frequency {
            position += stream.varint(pages)? as u32;
            positions.push(position);
        }
        pages.counts[Part::Positions as usize].needed += stream.at - from;
        Ok(positions)
    }

    /// Where the tokens of the posting last sought stand in the text: starts and lengths.
    pub fn offsets(&self, pages: &mut Pages) -> Result<Vec<(usize, usize)>> {
        let mut stream = self.stream(OFFSETS, self.block);
        for _ in 0..2 * self.tokens_before() {
            stream.varint(pages)?;
        }
        let (from, mut start) = (stream.at, 0);
        let mut offsets = Vec::new();
        for _ in 0..self.postings[self.at].frequency {
            start += stream.varint(pages)? as usize;
            offsets.push((start, stream.varint(pages)? as usize));
        }
        pages.counts[Part::Offsets as usize].needed += stream.at - from;
        Ok(offsets)
    }

    fn tokens_before(&self) -> u32 {
        self.postings[..self.at]
            .iter()
            .map(|posting| posting.frequency)
            .sum()
    }
}
