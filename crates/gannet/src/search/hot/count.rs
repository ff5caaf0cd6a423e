//! The number of documents that have all of some words, or any.

use std::sync::Arc;

use super::candidates::{CANDIDATES, FoundPlaces};
use super::list::HotList;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::matching::matcher::BLOCK_STEPS;

/// Documents whose bits are joined at once.
const STRETCH: usize = 1 << 16;

const WORDS: usize = STRETCH / 64;

/// Counts the documents below `until` that have all of the words, or any. The shortest list comes
/// first.
pub fn count(
    lists: &[Arc<HotList>],
    all_required: bool,
    until: DocId,
    pages: &mut Pages<'_>,
) -> Step<u64> {
    let shortest = lists.first().and_then(|list| list.docs());
    match (lists, shortest) {
        ([one], _) if one.until == until => Ok(one.postings() as u64),
        (_, Some(docs)) if all_required => {
            let docs = &docs[..docs.partition_point(|doc| *doc < until)];
            count_found(docs, &lists[1..], pages)
        }
        _ => count_joined(lists, all_required, until, pages),
    }
}

/// Counts those of some documents that are in all of the lists.
fn count_found(docs: &[DocId], lists: &[Arc<HotList>], pages: &mut Pages<'_>) -> Step<u64> {
    let (mut sum, mut found, mut left) = (0, FoundPlaces::default(), [0; CANDIDATES]);
    for docs in docs.chunks(CANDIDATES) {
        pages.count_steps(BLOCK_STEPS)?;
        left[..docs.len()].copy_from_slice(docs);
        let mut length = docs.len();
        for list in lists {
            let mut hits = list.find_all(&left[..length], &mut found);
            length = 0;
            while hits != 0 {
                left[length] = left[hits.trailing_zeros() as usize];
                length += 1;
                hits &= hits - 1;
            }
        }
        sum += length as u64;
    }
    Ok(sum)
}

/// Counts by a bit for each document.
fn count_joined(
    lists: &[Arc<HotList>],
    all_required: bool,
    until: DocId,
    pages: &mut Pages<'_>,
) -> Step<u64> {
    let mut sum = 0;
    let mut begins = vec![0; lists.len()];
    for first in (0..until).step_by(STRETCH) {
        pages.count_steps(BLOCK_STEPS)?;
        let below = until.min(first.saturating_add(STRETCH as DocId));
        let mut joined = if all_required {
            [u64::MAX; WORDS]
        } else {
            [0; WORDS]
        };
        for (list, begin) in lists.iter().zip(&mut begins) {
            let mut own = [0; WORDS];
            let bits = bits_of(list, first, below, begin, &mut own);
            for (joined, bits) in joined.iter_mut().zip(bits) {
                if all_required {
                    *joined &= bits;
                } else {
                    *joined |= bits;
                }
            }
        }
        let whole = (below - first) as usize / 64;
        let (words, rest) = joined.split_at(whole);
        sum += words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum::<u64>();
        if let Some(last) = rest.first() {
            let mask = (1 << ((below - first) % 64)) - 1;
            sum += u64::from((last & mask).count_ones());
        }
    }
    Ok(sum)
}

/// The bits of the documents from `first` to below `below`, in `own` if they have to be made: from
/// the place `begin` on, which moves behind them.
fn bits_of<'a>(
    list: &'a HotList,
    first: DocId,
    below: DocId,
    begin: &mut usize,
    own: &'a mut [u64; WORDS],
) -> &'a [u64] {
    if let Some(bits) = list.bits() {
        let from = bits.len().min(first as usize / 64);
        let to = bits.len().min(from + WORDS);
        own[..to - from].copy_from_slice(&bits[from..to]);
        return own;
    }
    for doc in &list.docs().unwrap_or_default()[*begin..] {
        if *doc >= below {
            break;
        }
        let at = (doc - first) as usize;
        own[at / 64] |= 1 << (at % 64);
        *begin += 1;
    }
    own
}
