//! A piece that is read in place.

use std::ops::RangeInclusive;

use super::ascending::AscendingKeys;
use super::header::Header;
use super::keys::{Keys, Mask, Wanted};
use super::presence::Presence;
use super::reader::Reader;
use super::starts::{Starts, add_ordinals};
use super::{Damaged, Summary, WORD};
use crate::bits::{Bits, ones};
use crate::{DOCUMENT_VALUES, PIECE_DOCUMENTS};

/// A piece that is read in place. Documents are named by their number in it.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    documents: usize,
    presence: Presence<'a>,
    starts: Option<Starts<'a>>,
    keys: Keys<'a>,
}

impl<'a> Piece<'a> {
    /// Reads the outline of a piece of `documents` documents, and checks all that later reads rely
    /// on.
    pub fn parse(bytes: &'a [u8], documents: usize) -> Result<Piece<'a>, Damaged> {
        if documents == 0 || documents > PIECE_DOCUMENTS {
            return Err(Damaged("it has no documents, or more than 1,024"));
        }
        let mut reader = Reader::new(bytes);
        let header = Header::of(reader.byte()?)?;
        let presence = Presence::parse(header.presence, documents, &mut reader)?;
        let (starts, values) = if header.several {
            let starts = Starts::parse(presence.count(), &mut reader)?;
            let values = starts.values();
            (Some(starts), values)
        } else {
            (None, presence.count())
        };
        let keys = Keys::parse(header.codec, values, &mut reader)?;
        reader.end()?;
        Ok(Piece {
            documents,
            presence,
            starts,
            keys,
        })
    }

    /// Returns the number of documents, with values or without.
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// Returns the number of values.
    pub fn values(&self) -> usize {
        self.keys.count()
    }

    /// Returns if every document has exactly one value.
    pub fn is_dense(&self) -> bool {
        matches!(self.presence, Presence::All(_)) && self.starts.is_none()
    }

    /// Returns the number of values of a document.
    pub fn count_of(&self, document: usize) -> usize {
        self.numbers_of(document).len()
    }

    /// Adds the keys of a document, ascending.
    pub fn keys_of(&self, document: usize, keys: &mut Vec<u64>) {
        let numbers = self.numbers_of(document);
        keys.extend(numbers.map(|number| self.keys.get(number)));
    }

    /// Returns the numbers of the values of a document.
    fn numbers_of(&self, document: usize) -> std::ops::Range<usize> {
        match self.presence.ordinal(document) {
            None => 0..0,
            Some(ordinal) => match &self.starts {
                None => ordinal..ordinal + 1,
                Some(starts) => starts.of(ordinal),
            },
        }
    }

    /// Adds all documents that have a value.
    pub fn select_all(&self, bits: &mut Bits) {
        self.presence.add_all(bits);
    }

    /// Adds the documents that have a key in a range.
    pub fn select(&self, range: RangeInclusive<u64>, bits: &mut Bits) {
        match self.keys.wanted(&range) {
            Wanted::Nothing => {}
            Wanted::Everything => self.presence.add_all(bits),
            wanted => self.add_blocks(bits, |block| self.keys.mask(block, &wanted)),
        }
    }

    /// Adds the documents that have one of several keys, which ascend.
    pub fn select_any(&self, wanted: &[u64], bits: &mut Bits) {
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
            return;
        };
        if wanted.len() == 1 {
            return self.select(*first..=*last, bits);
        }
        let span = self.keys.wanted(&(*first..=*last));
        if span == Wanted::Nothing {
            return;
        }
        self.add_blocks(bits, |block| {
            let candidates = self.keys.mask(block, &span);
            if candidates == [0; 2] {
                return candidates;
            }
            let keys = self.keys.block(block);
            let (halves, _) = keys.as_chunks::<WORD>();
            let found = |half: usize| {
                let has = |bit: &usize| wanted.binary_search(&halves[half][*bit]).is_ok();
                let found = ones(candidates[half]).filter(has);
                found.fold(0, |mask, bit| mask | 1 << bit)
            };
            [found(0), found(1)]
        });
    }

    /// Adds the documents of the keys that `mask` gives of each block.
    fn add_blocks(&self, bits: &mut Bits, mut mask: impl FnMut(usize) -> Mask) {
        let mut ordinals = Bits::EMPTY;
        match &self.starts {
            None => {
                let (blocks, _) = ordinals.words_mut().as_chunks_mut();
                for (block, words) in blocks.iter_mut().enumerate().take(self.keys.blocks()) {
                    *words = mask(block);
                }
            }
            Some(starts) => {
                let mut before = 0;
                for block in 0..self.keys.blocks() {
                    for (half, mask) in mask(block).into_iter().enumerate() {
                        let word = starts.word(2 * block + half);
                        add_ordinals(word, before, mask, &mut ordinals);
                        before += word.count_ones() as usize;
                    }
                }
            }
        }
        self.presence.add(&ordinals, bits);
    }

    /// Calls `each` with the document and the key of every value of some documents, which ascend.
    pub fn for_each_of(
        &self,
        documents: impl IntoIterator<Item = usize>,
        mut each: impl FnMut(usize, u64),
    ) {
        let mut keys = AscendingKeys::new(&self.presence, self.starts.as_ref(), &self.keys);
        for document in documents {
            keys.each(document, |key| each(document, key));
        }
    }

    /// Calls `each` with the document and the key of every value, in the order of documents.
    pub fn for_each(&self, mut each: impl FnMut(usize, u64)) {
        let (mut documents, mut keys) = (Vec::new(), Vec::new());
        self.decode(&mut documents, &mut keys);
        for (document, key) in documents.iter().zip(&keys) {
            each(usize::from(*document), *key);
        }
    }

    /// Adds the document and the key of every value to two lists, in the order of documents.
    pub fn decode(&self, documents: &mut Vec<u16>, keys: &mut Vec<u64>) {
        self.keys.decode(keys);
        match &self.starts {
            None => self.presence.list(documents),
            Some(starts) => {
                let mut present = Vec::new();
                self.presence.list(&mut present);
                starts.repeat(&present, documents);
            }
        }
    }

    /// Reads all values, checks that those of each document ascend, and returns the summary.
    pub fn check(&self) -> Result<Summary, Damaged> {
        let (mut documents, mut keys) = (Vec::new(), Vec::new());
        self.decode(&mut documents, &mut keys);
        let mut values = documents.iter().zip(&keys);
        let pairs = values.clone().zip(values.by_ref().skip(1));
        for ((document, key), (next_document, next_key)) in pairs {
            if document == next_document && key > next_key {
                return Err(Damaged("the values of a document do not ascend"));
            }
        }
        let most = (0..self.documents)
            .map(|document| self.count_of(document))
            .max();
        if most.is_some_and(|most| most > DOCUMENT_VALUES) {
            return Err(Damaged("a document has more than 100 values"));
        }
        self.keys.check()?;
        Ok(Summary {
            least: keys.iter().min().copied().unwrap_or_default(),
            greatest: keys.iter().max().copied().unwrap_or_default(),
            documents_with_values: self.presence.count() as u32,
            values: keys.len() as u32,
        })
    }
}
