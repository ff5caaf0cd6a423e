//! The documents of a piece that have values: all, a bitmap, or a list of a few.
//!
//! The *ordinal* of a document is the number of documents with values before it.

use super::reader::{Reader, word_at};
use super::{Damaged, WORD};
use crate::PIECE_DOCUMENTS;
use crate::bits::{Bits, low_bits, ones};

#[derive(Clone, Debug)]
pub(super) enum Presence<'a> {
    /// As many documents as there are.
    All(usize),
    Bitmap(Bitmap),
    /// Numbers of 16 bits, ascending.
    Sparse(&'a [[u8; 2]]),
}

/// Documents as bits.
#[derive(Clone, Debug)]
pub(super) struct Bitmap {
    bits: Bits,
    /// The number of documents before each word.
    before: [u16; PIECE_DOCUMENTS / WORD],
    count: usize,
}

/// The coded forms, as the first byte of a piece has them.
pub(super) const ALL: u8 = 0;
pub(super) const BITMAP: u8 = 1;
pub(super) const SPARSE: u8 = 2;

impl<'a> Presence<'a> {
    pub(super) fn parse(
        form: u8,
        documents: usize,
        reader: &mut Reader<'a>,
    ) -> Result<Presence<'a>, Damaged> {
        match form {
            ALL => Ok(Presence::All(documents)),
            BITMAP => {
                let bytes = reader.take(documents.div_ceil(8))?;
                let mut bits = Bits::EMPTY;
                for (number, word) in bits.words_mut().iter_mut().enumerate() {
                    *word = word_at(bytes, number * 8);
                }
                let possible = Bits::first(documents);
                let mut words = bits.words().iter().zip(possible.words());
                if words.any(|(own, possible)| own & !possible != 0) {
                    return Err(Damaged("documents beyond its end have values"));
                }
                Ok(Presence::Bitmap(Bitmap::new(bits)))
            }
            SPARSE => {
                let count = usize::from(reader.u16()?);
                let (numbers, _) = reader.take(count * 2)?.as_chunks::<2>();
                let mut next = 0;
                for number in numbers {
                    let document = number_of(number);
                    if document < next || document >= documents {
                        return Err(Damaged(
                            "its documents do not ascend, or are beyond its end",
                        ));
                    }
                    next = document + 1;
                }
                Ok(Presence::Sparse(numbers))
            }
            _ => Err(Damaged("its presence is unknown")),
        }
    }

    /// Returns the number of documents with values.
    pub(super) fn count(&self) -> usize {
        match self {
            Presence::All(documents) => *documents,
            Presence::Bitmap(bitmap) => bitmap.count,
            Presence::Sparse(numbers) => numbers.len(),
        }
    }

    /// Returns the ordinal of a document, none if it has no value.
    pub(super) fn ordinal(&self, document: usize) -> Option<usize> {
        match self {
            Presence::All(documents) => (document < *documents).then_some(document),
            Presence::Bitmap(bitmap) => bitmap.ordinal(document),
            Presence::Sparse(numbers) => numbers.binary_search_by_key(&document, number_of).ok(),
        }
    }

    /// Adds all documents with values.
    pub(super) fn add_all(&self, bits: &mut Bits) {
        match self {
            Presence::All(documents) => add(bits, &Bits::first(*documents)),
            Presence::Bitmap(own) => add(bits, &own.bits),
            Presence::Sparse(numbers) => {
                numbers
                    .iter()
                    .for_each(|number| bits.insert(number_of(number)));
            }
        }
    }

    /// Lists all documents with values.
    pub(super) fn list(&self, documents: &mut Vec<u16>) {
        match self {
            Presence::All(count) => documents.extend((0..*count).map(|document| document as u16)),
            Presence::Bitmap(own) => {
                for (number, word) in own.bits.words().iter().enumerate() {
                    let first = (number * WORD) as u16;
                    if *word == u64::MAX {
                        documents.extend(first..first + WORD as u16);
                        continue;
                    }
                    // Put aside first: a list that may grow looks at its end for each of them.
                    let (mut some, mut count) = ([0; WORD], 0);
                    for (place, bit) in some.iter_mut().zip(ones(*word)) {
                        *place = first + bit as u16;
                        count += 1;
                    }
                    documents.extend_from_slice(&some[..count]);
                }
            }
            Presence::Sparse(numbers) => {
                documents.extend(numbers.iter().map(|number| u16::from_le_bytes(*number)));
            }
        }
    }

    /// Adds the documents of some ordinals.
    pub(super) fn add(&self, ordinals: &Bits, bits: &mut Bits) {
        match self {
            Presence::All(_) => add(bits, ordinals),
            Presence::Bitmap(own) => {
                let mut from = 0;
                for (word, own) in bits.words_mut().iter_mut().zip(own.bits.words()) {
                    let count = own.count_ones() as usize;
                    *word |= spread(bits_from(ordinals, from, count), *own);
                    from += count;
                }
            }
            Presence::Sparse(numbers) => {
                let numbers = ordinals.iter().filter_map(|ordinal| numbers.get(ordinal));
                numbers.for_each(|number| bits.insert(number_of(number)));
            }
        }
    }
}

impl Bitmap {
    fn new(bits: Bits) -> Bitmap {
        let (mut before, mut count) = ([0; PIECE_DOCUMENTS / WORD], 0);
        for (before, word) in before.iter_mut().zip(bits.words()) {
            *before = count as u16;
            count += word.count_ones() as usize;
        }
        Bitmap {
            bits,
            before,
            count,
        }
    }

    fn ordinal(&self, document: usize) -> Option<usize> {
        let at = document / WORD;
        let (word, before) = (self.bits.words().get(at)?, self.before.get(at)?);
        let here = (word & low_bits(document % WORD)).count_ones();
        let ordinal = usize::from(*before) + here as usize;
        (word >> (document % WORD) & 1 == 1).then_some(ordinal)
    }
}

fn number_of(number: &[u8; 2]) -> usize {
    usize::from(u16::from_le_bytes(*number))
}

fn add(bits: &mut Bits, other: &Bits) {
    for (word, other) in bits.words_mut().iter_mut().zip(other.words()) {
        *word |= other;
    }
}

/// Returns `count` bits of a set from the bit `from` on, at most 64.
fn bits_from(bits: &Bits, from: usize, count: usize) -> u64 {
    let (at, shift) = (from / WORD, from % WORD);
    let word = |at: usize| bits.words().get(at).copied().unwrap_or_default();
    let low = word(at) >> shift;
    let high = word(at + 1).checked_shl((WORD - shift) as u32);
    (low | high.unwrap_or_default()) & low_bits(count)
}

/// Puts the bits of `dense` where `places` has ones, the lowest first.
fn spread(dense: u64, places: u64) -> u64 {
    if dense == 0 {
        return 0;
    }
    if dense == low_bits(places.count_ones() as usize) {
        return places;
    }
    if places.count_zeros() < places.count_ones() {
        // A zero for each place that is left out is put between the others.
        return ones(!places).fold(dense, |word, gap| {
            let below = low_bits(gap);
            word & below | (word & !below) << 1
        });
    }
    let places = ones(places).enumerate();
    places.fold(0, |word, (number, place)| {
        word | (dense >> number & 1) << place
    })
}
