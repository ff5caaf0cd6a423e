//! Coding a piece: as many leading documents as fit, each part in its smallest form.

use super::header::Header;
use super::keys::{self, Scale};
use super::packed::{self, WIDTH_MAX, bits_of};
use super::{Summary, presence};
use crate::PIECE_DOCUMENTS;
use crate::bits::Bits;

/// A coded piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes that [`crate::Piece::parse`] reads.
    pub bytes: Vec<u8>,
    /// The leading documents that are in it.
    pub documents: usize,
    /// The summary that its owner keeps of it.
    pub summary: Summary,
}

/// Codes as many whole leading documents as fit in `bytes_max`: all, or the greatest power of two
/// of them. None if not even one fits, which [`crate::PIECE_BYTES_LEAST`] bytes exclude.
///
/// `values` has the number of a document among the `documents` next ones, and a key. Documents
/// ascend, and so do the keys of each. Documents from the 1,024th on are not looked at.
pub fn encode(values: &[(u16, u64)], documents: usize, bytes_max: usize) -> Option<Encoded> {
    let mut documents = documents.min(PIECE_DOCUMENTS);
    while documents > 0 {
        let end = values.partition_point(|(document, _)| usize::from(*document) < documents);
        let plan = Plan::of(values.get(..end).unwrap_or_default(), documents);
        if plan.length() <= bytes_max {
            return Some(plan.write());
        }
        documents = next_fewer(documents);
    }
    None
}

/// Returns the greatest power of two below a number, 0 below 1.
fn next_fewer(documents: usize) -> usize {
    let below = documents.saturating_sub(1);
    below.checked_ilog2().map_or(0, |exponent| 1 << exponent)
}

/// The code that a piece will have.
struct Plan<'a> {
    values: &'a [(u16, u64)],
    documents: usize,
    present: Bits,
    presence: u8,
    several: bool,
    codec: Codec,
    summary: Summary,
}

enum Codec {
    Constant,
    Packed {
        scale: Scale,
        width: usize,
    },
    Delta {
        scale: Scale,
        width: usize,
        anchor_width: usize,
    },
    Raw,
}

impl<'a> Plan<'a> {
    fn of(values: &'a [(u16, u64)], documents: usize) -> Plan<'a> {
        let mut present = Bits::EMPTY;
        values
            .iter()
            .for_each(|(document, _)| present.insert(usize::from(*document)));
        let count = present.count();
        let presence = if count == documents {
            presence::ALL
        } else if 2 + 2 * count < documents.div_ceil(8) {
            presence::SPARSE
        } else {
            presence::BITMAP
        };
        let keys = || values.iter().map(|(_, key)| *key);
        let summary = Summary {
            least: keys().min().unwrap_or_default(),
            greatest: keys().max().unwrap_or_default(),
            documents_with_values: count as u32,
            values: values.len() as u32,
        };
        Plan {
            values,
            documents,
            present,
            presence,
            several: values.len() > count,
            codec: Codec::smallest(values, &summary),
            summary,
        }
    }

    fn length(&self) -> usize {
        let presence = match self.presence {
            presence::ALL => 0,
            presence::BITMAP => self.documents.div_ceil(8),
            _ => 2 + 2 * self.present.count(),
        };
        let starts = if self.several {
            4 + self.values.len().div_ceil(8)
        } else {
            0
        };
        1 + presence + starts + self.codec.length(self.values.len())
    }

    fn write(&self) -> Encoded {
        let mut bytes = Vec::with_capacity(self.length());
        let header = Header {
            presence: self.presence,
            several: self.several,
            codec: self.codec.code(),
        };
        bytes.push(header.byte());
        self.write_presence(&mut bytes);
        if self.several {
            self.write_starts(&mut bytes);
        }
        self.codec.write(self.values, &mut bytes);
        Encoded {
            bytes,
            documents: self.documents,
            summary: self.summary,
        }
    }

    fn write_presence(&self, bytes: &mut Vec<u8>) {
        match self.presence {
            presence::ALL => {}
            presence::BITMAP => {
                let words = self.present.words().iter();
                let all = words.flat_map(|word| word.to_le_bytes());
                bytes.extend(all.take(self.documents.div_ceil(8)));
            }
            _ => {
                bytes.extend((self.present.count() as u16).to_le_bytes());
                let documents = self.present.iter();
                bytes.extend(documents.flat_map(|document| (document as u16).to_le_bytes()));
            }
        }
    }

    fn write_starts(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.values.len() as u32).to_le_bytes());
        let mut before = None;
        let starts = self.values.iter().map(|(document, _)| {
            let is_start = before != Some(*document);
            before = Some(*document);
            u64::from(is_start)
        });
        packed::write_in_row(starts, 1, bytes);
    }
}

/// The figures that decide the codec, found in one pass.
struct Shape {
    divisor: u64,
    never_falls: bool,
    /// The greatest difference of neighbours, where they never fall.
    rise: u64,
}

impl Shape {
    fn of(values: &[(u16, u64)], least: u64) -> Shape {
        let mut shape = Shape {
            divisor: 0,
            never_falls: true,
            rise: 0,
        };
        let mut before = values.first().map_or(0, |(_, key)| *key);
        for (_, key) in values {
            shape.divisor = greatest_common_divisor(shape.divisor, key - least);
            shape.never_falls &= *key >= before;
            shape.rise = shape.rise.max(key.saturating_sub(before));
            before = *key;
        }
        shape
    }
}

/// Returns the greatest common divisor; that of a number and 0 is the number.
fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 && one != 1 {
        (one, other) = (other, one % other);
    }
    one
}

impl Codec {
    fn smallest(values: &[(u16, u64)], summary: &Summary) -> Codec {
        if summary.least == summary.greatest {
            return Codec::Constant;
        }
        let shape = Shape::of(values, summary.least);
        let scale = Scale {
            base: summary.least,
            divisor: shape.divisor,
        };
        let mut smallest = Codec::Raw;
        for codec in [
            Codec::packed(scale, summary),
            Codec::delta(scale, &shape, summary),
        ] {
            if let Some(codec) =
                codec.filter(|codec| codec.length(values.len()) < smallest.length(values.len()))
            {
                smallest = codec;
            }
        }
        smallest
    }

    /// Returns none where the widest numbers, or the greatest that a damaged one may be, are too
    /// large.
    fn packed(scale: Scale, summary: &Summary) -> Option<Codec> {
        let width = bits_of((summary.greatest - summary.least) / scale.divisor);
        let greatest = crate::bits::low_bits(width);
        let fits = width <= WIDTH_MAX && scale.checked_key(greatest).is_some();
        fits.then_some(Codec::Packed { scale, width })
    }

    fn delta(scale: Scale, shape: &Shape, summary: &Summary) -> Option<Codec> {
        let width = bits_of(shape.rise / scale.divisor);
        if !shape.never_falls || width > WIDTH_MAX {
            return None;
        }
        let greatest = (summary.greatest - summary.least) / scale.divisor;
        let rise = crate::bits::low_bits(width) * keys::BLOCK as u64;
        scale.checked_key(greatest.checked_add(rise)?)?;
        let anchor_width = bits_of(greatest).div_ceil(8);
        Some(Codec::Delta {
            scale,
            width,
            anchor_width,
        })
    }

    fn code(&self) -> u8 {
        match self {
            Codec::Constant => keys::CONSTANT,
            Codec::Packed { .. } => keys::PACKED,
            Codec::Delta { .. } => keys::DELTA,
            Codec::Raw => keys::RAW,
        }
    }

    fn length(&self, values: usize) -> usize {
        match self {
            Codec::Constant => 8,
            Codec::Packed { width, .. } => 17 + packed::length(values, *width),
            Codec::Delta {
                width,
                anchor_width,
                ..
            } => 18 + values.div_ceil(keys::BLOCK) * anchor_width + packed::length(values, *width),
            Codec::Raw => 8 * values,
        }
    }

    fn write(&self, values: &[(u16, u64)], bytes: &mut Vec<u8>) {
        let keys = values.iter().map(|(_, key)| *key);
        match self {
            Codec::Constant => {
                bytes.extend(values.first().map_or(0, |(_, key)| *key).to_le_bytes());
            }
            Codec::Packed { scale, width } => {
                write_scale(*scale, *width, bytes);
                let multiples: Vec<u64> = keys.map(|key| scale.multiple(key)).collect();
                packed::write(&multiples, *width, bytes);
            }
            Codec::Delta {
                scale,
                width,
                anchor_width,
            } => {
                write_scale(*scale, *width, bytes);
                bytes.push(*anchor_width as u8);
                for first in keys.clone().step_by(keys::BLOCK) {
                    let anchor = scale.multiple(first).to_le_bytes();
                    bytes.extend(&anchor[..*anchor_width]);
                }
                let rises: Vec<u64> = rises(keys, *scale).collect();
                packed::write(&rises, *width, bytes);
            }
            Codec::Raw => bytes.extend(keys.flat_map(u64::to_le_bytes)),
        }
    }
}

fn write_scale(scale: Scale, width: usize, bytes: &mut Vec<u8>) {
    bytes.extend(scale.base.to_le_bytes());
    bytes.extend(scale.divisor.to_le_bytes());
    bytes.push(width as u8);
}

/// Returns the differences of neighbours, 0 at the begin of each block.
fn rises(keys: impl Iterator<Item = u64>, scale: Scale) -> impl Iterator<Item = u64> {
    let mut before = 0;
    keys.enumerate().map(move |(number, key)| {
        let multiple = scale.multiple(key);
        let rise = if number.is_multiple_of(keys::BLOCK) {
            0
        } else {
            multiple - before
        };
        before = multiple;
        rise
    })
}

impl Scale {
    /// Returns the multiple of a key that has one.
    fn multiple(self, key: u64) -> u64 {
        (key - self.base) / self.divisor
    }
}
