//! BM25 as Lucene 10's `BM25Similarity` defines it, written down anew.

/// Counts of a field: documents that have it, and tokens in all of them.
#[derive(Clone, Copy, Default)]
pub struct Totals {
    /// Documents that have the field.
    pub documents: u64,
    /// Tokens of all of them.
    pub tokens: u64,
}

/// The score of `frequency` occurrences in a field of `length` tokens.
pub fn score(weight: f32, frequency: f32, length: u32, totals: Totals) -> f32 {
    let average = (totals.tokens as f64 / totals.documents as f64) as f32;
    // Where a frequency is small, weight and quotient nearly cancel out: only the same order of
    // roundings as Lucene's gives the same score.
    let inverse = 1.0 / (1.2 * (0.25 + 0.75 * kept_length(length) as f32 / average));
    weight - weight / (1.0 + frequency * inverse)
}

/// ln(1 + (N - df + 0.5) / (df + 0.5)).
pub fn idf(totals: Totals, document_frequency: u64) -> f32 {
    let (all, having) = (totals.documents as f64, document_frequency as f64);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln() as f32
}

/// The length that one byte keeps (`SmallFloat.intToByte4` and back): lengths below 24 as they are,
/// of the part above 24 the four highest bits.
fn kept_length(length: u32) -> u32 {
    match length.checked_sub(24) {
        None => length,
        Some(above) => 24 + highest_four_bits(above),
    }
}

fn highest_four_bits(number: u32) -> u32 {
    let mut step = 1;
    while number / step >= 16 {
        step *= 2;
    }
    number / step * step
}

#[test]
fn lengths_are_cut_as_lucene_cuts_them() {
    // Pairs given by SmallFloat.byte4ToInt(SmallFloat.intToByte4(length)).
    for (length, kept) in [(0, 0), (23, 23), (39, 39), (41, 40), (42, 42), (1_000, 984)] {
        assert_eq!(kept_length(length), kept, "{length} tokens");
    }
}
