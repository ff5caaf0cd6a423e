//! Pieces against a list of documents and keys.

use std::ops::RangeInclusive;

use gannet_values::{
    Bits, DOCUMENT_VALUES, Encoded, PIECE_BYTES_LEAST, PIECE_DOCUMENTS, Piece, Summary, encode,
};
use proptest::prelude::*;

type Values = Vec<(u16, u64)>;

/// The look of the keys of a column.
#[derive(Clone, Debug)]
enum Shape {
    Constant(u64),
    Near { base: u64, span: u64, divisor: u64 },
    Rising { base: u64, step: u64, divisor: u64 },
    Any,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let bases = prop_oneof![
        any::<u64>(),
        Just(0),
        u64::MAX - 5_000..=u64::MAX,
        0..100_u64
    ];
    let divisors = prop::sample::select(vec![1, 1, 2, 10, 1_000, 86_400_000]);
    let spans = (0..63_u32).prop_map(|bits| 1_u64 << bits);
    prop_oneof![
        any::<u64>().prop_map(Shape::Constant),
        (bases.clone(), spans.clone(), divisors.clone()).prop_map(|(base, span, divisor)| {
            Shape::Near {
                base,
                span,
                divisor,
            }
        }),
        (bases, spans, divisors).prop_map(|(base, step, divisor)| Shape::Rising {
            base,
            step,
            divisor
        }),
        Just(Shape::Any),
    ]
}

impl Shape {
    fn keys(&self, random: &[u64]) -> Vec<u64> {
        let mut last = 0_u64;
        let key = |random: &u64| match self {
            Shape::Constant(key) => *key,
            Shape::Near {
                base,
                span,
                divisor,
            } => base.saturating_add((random % span).saturating_mul(*divisor)),
            Shape::Rising {
                base,
                step,
                divisor,
            } => {
                last = last.saturating_add(random % step);
                base.saturating_add(last.saturating_mul(*divisor))
            }
            Shape::Any => *random,
        };
        random.iter().map(key).collect()
    }
}

/// Documents with values: `present` of 256 have some, at most `most` each.
fn columns() -> impl Strategy<Value = (usize, Values)> {
    let documents = prop_oneof![1..=PIECE_DOCUMENTS, 1..130_usize, Just(PIECE_DOCUMENTS)];
    let present = prop_oneof![Just(256_u32), Just(255), 0..=256_u32, 0..10_u32];
    let most = prop_oneof![4 => Just(1_usize), 3 => 1..4_usize, 1 => 1..=DOCUMENT_VALUES];
    (documents, present, most, shapes(), any::<u64>()).prop_map(
        |(documents, present, most, shape, seed)| {
            let mut random = Random(seed | 1);
            let mut values = Values::new();
            let mut raw = Vec::new();
            let mut owners = Vec::new();
            for document in 0..documents {
                if random.next() % 256 < u64::from(present) {
                    let count = 1 + random.next() as usize % most;
                    owners.extend(std::iter::repeat_n(document as u16, count));
                }
            }
            raw.extend(owners.iter().map(|_| random.next()));
            values.extend(owners.into_iter().zip(shape.keys(&raw)));
            values.sort_unstable();
            (documents, values)
        },
    )
}

/// Numbers of which each gives the next (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3 ^ self.0
    }
}

fn of(values: &Values, document: usize) -> Vec<u64> {
    let own = values
        .iter()
        .filter(|(own, _)| usize::from(*own) == document);
    own.map(|(_, key)| *key).collect()
}

fn documents_where(values: &Values, mut wanted: impl FnMut(u64) -> bool) -> Bits {
    let mut bits = Bits::EMPTY;
    for (document, key) in values {
        if wanted(*key) {
            bits.insert(usize::from(*document));
        }
    }
    bits
}

fn selected(piece: &Piece<'_>, range: RangeInclusive<u64>) -> Bits {
    let mut bits = Bits::EMPTY;
    piece.select(range, &mut bits);
    bits
}

/// Ranges whose ends are keys, or beside them.
fn ranges(values: &Values, seed: u64) -> Vec<RangeInclusive<u64>> {
    let mut random = Random(seed | 1);
    let mut ranges = vec![0..=u64::MAX, 0..=0, u64::MAX..=u64::MAX];
    for _ in 0..12 {
        let mut end = || match values.len() {
            0 => random.next(),
            count => {
                let key = values[random.next() as usize % count].1;
                match random.next() % 3 {
                    0 => key.saturating_sub(1),
                    1 => key.saturating_add(1),
                    _ => key,
                }
            }
        };
        let (one, other) = (end(), end());
        ranges.push(one.min(other)..=one.max(other));
        ranges.push(one..=one);
    }
    #[expect(
        clippy::reversed_empty_ranges,
        reason = "a range upside down holds nothing"
    )]
    ranges.push(7..=3);
    ranges
}

fn summary(values: &Values) -> Summary {
    let keys = || values.iter().map(|(_, key)| *key);
    Summary {
        least: keys().min().unwrap_or_default(),
        greatest: keys().max().unwrap_or_default(),
        documents_with_values: documents_where(values, |_| true).count() as u32,
        values: values.len() as u32,
    }
}

fn compare(encoded: &Encoded, values: &Values, seed: u64) {
    let piece = Piece::parse(&encoded.bytes, encoded.documents).expect("a piece is read");
    assert_eq!(encoded.summary, summary(values));
    assert_eq!(piece.check(), Ok(encoded.summary));
    assert_eq!(piece.values(), values.len());
    for document in 0..PIECE_DOCUMENTS + 1 {
        let (own, mut keys) = (of(values, document), Vec::new());
        piece.keys_of(document, &mut keys);
        assert_eq!(keys, own, "of document {document}");
        assert_eq!(piece.count_of(document), own.len());
    }
    let some = (0..PIECE_DOCUMENTS + 1).filter(|document| (seed >> (document % 64)) & 1 == 1);
    let (mut read, mut expected) = (Values::new(), Values::new());
    for document in some.clone() {
        let own = of(values, document).into_iter();
        expected.extend(own.map(|key| (document as u16, key)));
    }
    piece.for_each_of(some, |document, key| read.push((document as u16, key)));
    assert_eq!(read, expected);
    let mut pairs = Values::new();
    piece.for_each(|document, key| pairs.push((document as u16, key)));
    assert_eq!(pairs, *values);
    let mut present = Bits::EMPTY;
    piece.select(0..=u64::MAX, &mut present);
    assert_eq!(present, documents_where(values, |_| true));
    for range in ranges(values, seed) {
        let expected = documents_where(values, |key| range.contains(&key));
        assert_eq!(selected(&piece, range.clone()), expected, "{range:?}");
    }
    for count in [0, 1, 2, 5, 100] {
        let mut random = Random(seed | 1);
        let some = (0..count).map(|_| match values.len() {
            0 => random.next(),
            count => values[random.next() as usize % count].1 ^ (random.next() & 1),
        });
        let mut wanted: Vec<u64> = some.collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut bits = Bits::EMPTY;
        piece.select_any(&wanted, &mut bits);
        assert_eq!(bits, documents_where(values, |key| wanted.contains(&key)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Every way to read a piece gives what a plain list of its values gives.
    #[test]
    fn a_piece_answers_as_a_list_does((documents, values) in columns(), seed in any::<u64>()) {
        let encoded = encode(&values, documents, usize::MAX).expect("there is no limit");
        prop_assert_eq!(encoded.documents, documents);
        compare(&encoded, &values, seed);
    }

    /// A column is coded as pieces that are within the limit, in order, without a gap.
    #[test]
    fn pieces_fit_and_hold_all_documents(
        (documents, values) in columns(),
        bytes_max in PIECE_BYTES_LEAST..2_000,
        seed in any::<u64>(),
    ) {
        let (mut first, mut rest) = (0, values);
        while first < documents {
            let encoded = encode(&rest, documents - first, bytes_max).expect("one fits");
            prop_assert!(encoded.bytes.len() <= bytes_max);
            prop_assert!(encoded.documents >= 1);
            let end = encoded.documents as u16;
            let (own, later): (Values, Values) = rest.iter().partition(|(at, _)| *at < end);
            compare(&encoded, &own, seed);
            rest = later.iter().map(|(at, key)| (at - end, *key)).collect();
            first += encoded.documents;
        }
        prop_assert!(rest.is_empty());
    }

    /// A damaged piece is rejected, or read without panics.
    #[test]
    fn damaged_pieces_are_read_without_panics(
        (documents, values) in columns(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        of_documents in 0..1_100_usize,
        is_cut in any::<bool>(),
    ) {
        let mut bytes = encode(&values, documents, usize::MAX).expect("no limit").bytes;
        for (at, byte) in changes {
            // Half of the changes meet the outline, which is at the begin.
            let at = if byte & 1 == 0 { at.index(bytes.len()) } else { at.index(bytes.len().min(32)) };
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        read_all(&bytes, documents);
        read_all(&bytes, of_documents);
    }

    /// Random bytes are rejected, or read without panics.
    #[test]
    fn random_bytes_are_read_without_panics(
        head in 0..32_u8,
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        documents in 0..1_100_usize,
    ) {
        read_all(&bytes, documents);
        let with_head: Vec<u8> = std::iter::once(head).chain(bytes).collect();
        read_all(&with_head, documents);
    }
}

fn read_all(bytes: &[u8], documents: usize) {
    let Ok(piece) = Piece::parse(bytes, documents) else {
        return;
    };
    let _ = piece.check();
    let (mut keys, mut bits) = (Vec::new(), Bits::EMPTY);
    for document in [0, 1, 7, 63, 64, 500, 1_023, 1_024, usize::MAX] {
        piece.keys_of(document, &mut keys);
    }
    piece.for_each_of([0, 7, 63, 500, 1_023, usize::MAX], |_, key| keys.push(key));
    for range in [0..=0, 0..=u64::MAX, 1_000..=1 << 40, u64::MAX..=u64::MAX] {
        piece.select(range, &mut bits);
    }
    piece.select_any(&[0, 1, 1 << 20, 1 << 63], &mut bits);
    piece.for_each(|_, key| keys.push(key));
}

/// The worst document fits in the bytes that are always enough.
#[test]
fn one_document_always_fits() {
    let mut random = Random(5);
    for count in [1, 2, 99, DOCUMENT_VALUES] {
        let mut values: Values = (0..count).map(|_| (0, random.next())).collect();
        values.sort_unstable();
        let encoded = encode(&values, 1, PIECE_BYTES_LEAST).expect("it fits");
        compare(&encoded, &values, 1);
    }
    assert_eq!(encode(&[(0, 1), (1, 2)], 2, 5), None);
}

/// Columns of usual shapes take few bytes.
#[test]
fn usual_columns_are_small() {
    let size = |key: &dyn Fn(u64) -> u64| {
        let values: Values = (0..1_024).map(|at| (at as u16, key(at))).collect();
        let encoded = encode(&values, 1_024, usize::MAX).expect("no limit");
        encoded.bytes.len()
    };
    assert_eq!(size(&|_| 7), 9);
    // Ten bits each.
    assert_eq!(size(&|at| at * 7 % 1_024), 18 + 1_280);
    // One a second, in milliseconds: one bit each, and 8 anchors of two bytes.
    assert_eq!(size(&|at| at * 1_000), 19 + 16 + 128);
}
