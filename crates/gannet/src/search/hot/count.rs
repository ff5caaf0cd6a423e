//! The number of documents that have words.

use std::ops::Range;

use super::candidates::{CANDIDATES, FoundPlaces};
use super::list::HotList;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::matching::matcher::{BLOCK_STEPS, Role};

/// Documents whose bits are joined at once.
const STRETCH: usize = 1 << 16;

const WORDS: usize = STRETCH / 64;

/// The lists of a clause: a document has it that is in any of them.
pub struct CountedLists<'a> {
    pub role: Role,
    pub lists: Vec<&'a HotList>,
}

/// Counts the documents below `until` that match: with all that is required, or any of the clauses
/// where none is, and without what is excluded.
pub fn count(mut clauses: Vec<CountedLists<'_>>, until: DocId, pages: &mut Pages<'_>) -> Step<u64> {
    if clauses.iter().any(|clause| clause.role == Role::Required) {
        clauses.retain(|clause| clause.role != Role::Optional);
    }
    let all = |lists: &[&HotList]| lists.iter().map(|list| list.postings()).sum::<usize>();
    clauses.sort_by_key(|clause| (clause.role == Role::Excluded, all(&clause.lists)));
    if let [only] = clauses.as_slice()
        && let [list] = only.lists.as_slice()
        && list.until == until
    {
        return Ok(list.postings() as u64);
    }
    let single = clauses.iter().map(|clause| match clause.lists.as_slice() {
        [list] if clause.role == Role::Required => Some(*list),
        _ => None,
    });
    let single: Option<Vec<&HotList>> = single.collect();
    if let Some([shortest, others @ ..]) = single.as_deref()
        && let Some(docs) = shortest.docs()
    {
        let docs = &docs[..docs.partition_point(|doc| *doc < until)];
        return count_found(docs, others, pages);
    }
    count_joined(&clauses, until, pages)
}

/// Counts those of some documents that are in all of the lists.
fn count_found(docs: &[DocId], lists: &[&HotList], pages: &mut Pages<'_>) -> Step<u64> {
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

/// Counts by a bit for each document. What is excluded comes last.
fn count_joined(clauses: &[CountedLists<'_>], until: DocId, pages: &mut Pages<'_>) -> Step<u64> {
    let mut sum = 0;
    let begins = clauses.iter().map(|clause| vec![0; clause.lists.len()]);
    let mut begins: Vec<Vec<usize>> = begins.collect();
    for first in (0..until).step_by(STRETCH) {
        pages.count_steps(BLOCK_STEPS)?;
        let below = until.min(first.saturating_add(STRETCH as DocId));
        let mut joined = [0; WORDS];
        for (at, (clause, begins)) in clauses.iter().zip(&mut begins).enumerate() {
            let mut own = [0; WORDS];
            for (list, begin) in clause.lists.iter().zip(begins) {
                add_bits(list, first..below, begin, &mut own);
            }
            for (joined, own) in joined.iter_mut().zip(own) {
                match clause.role {
                    Role::Excluded => *joined &= !own,
                    Role::Required if at > 0 => *joined &= own,
                    Role::Required | Role::Optional => *joined |= own,
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

/// Adds the bits of the documents of a list within a range, from the place `begin` on, which moves
/// behind them.
fn add_bits(list: &HotList, range: Range<DocId>, begin: &mut usize, own: &mut [u64; WORDS]) {
    if let Some(bits) = list.bits() {
        let from = bits.len().min(range.start as usize / 64);
        let to = bits.len().min(from + WORDS);
        let bits = &bits[from..to];
        own.iter_mut()
            .zip(bits)
            .for_each(|(own, bits)| *own |= bits);
        return;
    }
    for doc in &list.docs().unwrap_or_default()[*begin..] {
        if *doc >= range.end {
            break;
        }
        let at = (doc - range.start) as usize;
        own[at / 64] |= 1 << (at % 64);
        *begin += 1;
    }
}
