//! Decides when a list's chunks are rewritten.
//!
//! A list grows by a chunk at its end; nothing that is on the device is read or written again,
//! except where reading the list would suffer. The rules, all in [`absorbed`]:
//!
//! 1. Up to `INLINE_LIMIT` bytes stay in the dictionary's leaf: a rare term costs one read in all.
//!    Behind chunks it is `TAIL_LIMIT`, so that entries that are asked for often are short.
//! 2. A *small* chunk (its docs take less than a page) is rewritten together with what comes behind
//!    it once that is at least two thirds as large. So sizes fall geometrically along a list and a
//!    short list is a handful of reads, for which each posting is written a few times. Half in
//!    place of two thirds writes 11 % more bytes of chunks for 540,000 passages in 32 flushes.
//!    Words in 100 to 10,000 documents then take 4 to 5 % fewer reads. As large as what comes
//!    behind writes 12 % fewer bytes, for 20 to 38 % more reads. Were chunks small by all their
//!    bytes, a list that grew slowly would have its docs a quarter of a page here and there: with
//!    100 flushes a word in 10,000 documents took 7.2 reads instead of 3.8, for 7 % less written.
//! 3. Larger chunks stay where they are: a round reads all chunks of a list at once, and 8 to 32
//!    reads in one round take about as long as one. Only a list with more than [`CHUNKS_AIMED`]
//!    chunks is relocated, from its end on, as far as each chunk is no larger than all behind it;
//!    so a posting is rewritten a logarithmic number of times, however long the index grows.
//! 4. No chunk gets larger than the memory allows, [`CHUNK_BYTES`] at most (or an eighth of its
//!    list). This bounds the memory of a rewriting. Chunks of that size are not rewritten to save
//!    their number.
//! 5. Beside a very long key an entry has room for fewer chunks ([`chunks_most`]): there as many
//!    are rewritten as it takes, of any size.

use crate::base::PAGE_PAYLOAD;
use crate::btree::value_max;
use crate::postings::codec::entry::{CHUNKS_LIMIT, ChunkRef, ENTRY_LIMIT, Layout, TAIL_LIMIT};

/// A small chunk is rewritten when what comes behind it is at least this share of its size.
const SMALL_SHARE: (usize, usize) = (2, 3);

/// The most chunks a list has after a merge, unless all are too large to be rewritten.
const CHUNKS_AIMED: usize = 16;

/// The greatest number of bytes of an entry for a chunk, in two runs and an index of hundreds of
/// GiB; and beside its chunks and tail.
const CHUNK_REF_BYTES: usize = 40;
const BESIDE_CHUNKS: usize = 3;

/// The largest chunk where there is much memory, unless the list has more than eight times as much.
pub(crate) const CHUNK_BYTES: usize = 4 << 20;

/// A small chunk of more bytes than this lies in two runs, so that the pages of what every query
/// reads hold nothing that only phrases read: more lists fit the same memory. For a shorter one a
/// second read would cost a phrase more than others save.
const APART_BYTES: u32 = 512;

const _: () = assert!(
    CHUNKS_AIMED < CHUNKS_LIMIT,
    "an entry must have room for the rule"
);

/// Returns true if a chunk's docs take less than a page: a read brings less than it could.
pub(crate) fn is_small(chunk: &ChunkRef) -> bool {
    (chunk.docs_length as usize) < PAGE_PAYLOAD
}

/// Returns true if the front and the back of a chunk lie apart (see [`APART_BYTES`]).
pub(crate) fn is_apart(chunk: &ChunkRef) -> bool {
    chunk.layout == Layout::Grouped && is_small(chunk) && chunk.length() > APART_BYTES
}

/// The most chunks that the entry of a term has room for whose key has so many bytes.
pub(crate) fn chunks_most(key_bytes: usize) -> usize {
    let entry_bytes = value_max(key_bytes).min(ENTRY_LIMIT);
    let room = entry_bytes.saturating_sub(BESIDE_CHUNKS + TAIL_LIMIT);
    (room / CHUNK_REF_BYTES).clamp(1, CHUNKS_LIMIT)
}

/// Returns the number of chunks at the end of a list that are rewritten together with `fresh` new
/// bytes. The entry has room for `most` chunks, and a chunk of `complete` bytes is complete.
pub(crate) fn absorbed(chunks: &[ChunkRef], fresh: usize, most: usize, complete: usize) -> usize {
    let limit = chunk_limit(chunks, fresh, most, complete);
    let aimed = CHUNKS_AIMED.min(most / 2).max(1);
    let (mut count, mut behind) = (0, fresh);
    for chunk in chunks.iter().rev() {
        let length = chunk.length() as usize;
        let small = is_small(chunk) && SMALL_SHARE.0 * length <= SMALL_SHARE.1 * behind;
        let crowded = chunks.len() + 1 > aimed;
        let too_many = chunks.len() - count + 1 > aimed;
        let rewrite = small || (crowded && length < limit && (too_many || length <= behind));
        let forced = chunks.len() - count + 1 >= most;
        if !rewrite && !forced {
            break;
        }
        count += 1;
        behind += length;
    }
    count
}

/// Returns the number of small chunks at the end of a list that can be joined to fewer, if a chunk
/// of `complete` bytes is complete.
pub(crate) fn joined(chunks: &[ChunkRef], complete: usize) -> usize {
    let small = chunks.iter().rev();
    let small = small.take_while(|chunk| is_small(chunk) && (chunk.length() as usize) < complete);
    let (mut count, mut bytes) = (0, 0);
    for chunk in small {
        count += 1;
        bytes += chunk.length() as usize;
    }
    if bytes.div_ceil(complete) < count {
        count
    } else {
        0
    }
}

/// The size at which a chunk is complete, of a list that gets `fresh` new bytes and whose entry has
/// room for `most` chunks: `complete` bytes, or more if the list is very long.
pub(crate) fn chunk_limit(
    chunks: &[ChunkRef],
    fresh: usize,
    most: usize,
    complete: usize,
) -> usize {
    let total: u64 = chunks.iter().map(|chunk| chunk.length() as u64).sum();
    let total = total as usize + fresh;
    // A quarter of the room is enough for all of a list that is written at once, beside those that
    // it has.
    complete
        .max(total / (most / 4).max(1))
        .min(u32::MAX as usize / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{PhraseFilters, Span};
    use crate::postings::codec::entry::{ChunkPlace, TermEntry};
    use crate::postings::codec::fragment::Fragment;

    fn chunks(lengths: &[u32]) -> Vec<ChunkRef> {
        let chunk = |length: &u32| ChunkRef {
            place: ChunkPlace::nowhere(*length),
            layout: Layout::Split,
            first: 0,
            last: 0,
            count: 1,
            total_frequency: 1,
            head_length: 0,
            docs_length: *length,
            filters: PhraseFilters::None,
            filter_lengths: [0; 2],
        };
        lengths.iter().map(chunk).collect()
    }

    #[test]
    fn small_chunks_are_rewritten_with_what_comes_behind() {
        assert_eq!(absorbed(&chunks(&[300]), 260, CHUNKS_LIMIT, CHUNK_BYTES), 1);
        assert_eq!(
            absorbed(&chunks(&[4000, 300]), 260, CHUNKS_LIMIT, CHUNK_BYTES),
            1
        );
        assert_eq!(
            absorbed(&chunks(&[3700, 1500, 600]), 400, CHUNKS_LIMIT, CHUNK_BYTES),
            3
        );
        assert_eq!(
            absorbed(&chunks(&[4000, 2500, 600]), 400, CHUNKS_LIMIT, CHUNK_BYTES),
            1
        );
        assert_eq!(
            absorbed(&chunks(&[9000, 8000]), 300, CHUNKS_LIMIT, CHUNK_BYTES),
            0
        );
    }

    #[test]
    fn as_many_chunks_as_there_may_be_fit_beside_a_long_key() {
        for key in [8, 500, 1_022] {
            let entry_bytes = value_max(key).min(ENTRY_LIMIT);
            let most = chunks_most(key);
            assert!(most >= CHUNKS_AIMED || key > 500);
            let run = |zone, length| Span {
                zone,
                page: 16_000,
                offset: 4_000,
                length,
            };
            let chunk = |number: u32| ChunkRef {
                place: ChunkPlace {
                    front: run(4_000 * (number % 2), 3_000),
                    back: Some(run(8_000, 12_000)),
                },
                layout: Layout::Grouped,
                first: number * 100_000_000 + 50_000_000,
                last: number * 100_000_000 + 99_999_999,
                count: 10_000,
                total_frequency: 20_500,
                head_length: 100,
                docs_length: 3_000,
                filters: PhraseFilters::Common,
                filter_lengths: [1_500; 2],
            };
            let entry = TermEntry {
                chunks: (0..most as u32).map(chunk).collect(),
                tail: Fragment::default(),
            };
            let bytes = entry.encode().unwrap().len() + TAIL_LIMIT;
            assert!(
                bytes <= entry_bytes,
                "{most} chunks take {bytes} bytes of {entry_bytes}"
            );
        }
    }

    #[test]
    fn fifteen_chunks_leave_room_for_very_many_new_postings() {
        let (list, fresh) = (chunks(&[5000; 15]), 200_000_000);
        let kept = list.len() - absorbed(&list, fresh, CHUNKS_LIMIT, CHUNK_BYTES);
        let new = fresh.div_ceil(chunk_limit(&list, fresh, CHUNKS_LIMIT, CHUNK_BYTES));
        assert!(kept + new <= CHUNKS_LIMIT, "{kept} and {new}");
    }

    #[test]
    fn what_is_small_at_the_end_is_joined_if_there_are_several() {
        assert_eq!(joined(&chunks(&[9000, 4000, 1500, 600]), CHUNK_BYTES), 3);
        assert_eq!(joined(&chunks(&[600, 9000, 600]), CHUNK_BYTES), 0);
        // What would be as many chunks again, or is complete, stays.
        assert_eq!(joined(&chunks(&[4000, 3000]), 4000), 0);
        assert_eq!(joined(&chunks(&[3000, 3000]), 4000), 0);
        assert_eq!(joined(&chunks(&[3000, 900]), 4000), 2);
        assert_eq!(
            joined(&chunks(&[300]), CHUNK_BYTES) + joined(&[], CHUNK_BYTES),
            0
        );
    }

    #[test]
    fn only_small_grouped_chunks_that_are_worth_it_lie_apart() {
        let chunk = |docs: u32, behind: u32, layout| ChunkRef {
            layout,
            docs_length: docs,
            ..chunks(&[docs + behind])[0]
        };
        assert!(is_apart(&chunk(1000, 3000, Layout::Grouped)));
        assert!(!is_apart(&chunk(200, 300, Layout::Grouped)));
        assert!(!is_apart(&chunk(5000, 9000, Layout::Grouped)));
        assert!(!is_apart(&chunk(1000, 90_000, Layout::Split)));
    }

    #[test]
    fn a_crowded_list_is_relocated_from_its_end() {
        assert_eq!(
            absorbed(&chunks(&[5000; 15]), 5000, CHUNKS_LIMIT, CHUNK_BYTES),
            0
        );
        assert_eq!(
            absorbed(&chunks(&[5000; 16]), 5000, CHUNKS_LIMIT, CHUNK_BYTES),
            16
        );
        let mut long = vec![1_000_000];
        long.extend([5000; 15]);
        assert_eq!(
            absorbed(&chunks(&long), 5000, CHUNKS_LIMIT, CHUNK_BYTES),
            15
        );
    }

    #[test]
    fn the_number_of_chunks_stays_bounded_and_rewriting_stays_cheap() {
        let long = CHUNKS_LIMIT;
        for (increment, rounds, most) in [
            (300u32, 2000, long),
            (5_000, 2000, long),
            (400_000, 2000, long),
            (200_000_000, 10, long),
            (5_000, 2000, chunks_most(1_022)),
            (400_000, 2000, chunks_most(1_022)),
        ] {
            let (mut list, mut written) = (Vec::new(), 0u64);
            for _ in 0..rounds {
                let kept =
                    list.len() - absorbed(&chunks(&list), increment as usize, most, CHUNK_BYTES);
                let limit =
                    chunk_limit(&chunks(&list), increment as usize, most, CHUNK_BYTES) as u32;
                let mut merged: u32 = list.drain(kept..).sum::<u32>() + increment;
                written += merged as u64;
                while merged > limit {
                    list.push(limit);
                    merged -= limit;
                }
                list.push(merged);
                assert!(list.len() <= most, "{list:?}");
            }
            let amplification = written as f64 / (rounds as f64 * increment as f64);
            println!(
                "increment {increment}: {amplification:.2}, {} chunks",
                list.len()
            );
            // The less room there is, the more is rewritten.
            let bound = if most < long { 100.0 } else { 8.0 };
            assert!(amplification < bound, "{increment}: {amplification}");
        }
    }
}
