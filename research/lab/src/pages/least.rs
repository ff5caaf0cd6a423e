//! The fewest reads with which a sequence of page uses can be served, by an eviction that knows the
//! future.
//!
//! Belady, "A study of replacement algorithms for a virtual-storage computer", 1966: evict what is
//! used again last. A page need not be kept after its use, which reads no more than where it must.

use std::collections::{BTreeSet, HashMap};

/// A use that never comes.
const NEVER: usize = usize::MAX;

/// Reads of a cache of so many frames that is empty at first.
pub fn least_reads<T: Copy + Eq + std::hash::Hash>(uses: &[T], frames: usize) -> u64 {
    let next = next_uses(uses);
    // By when they are used next, which no two pages share.
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    let mut reads = 0;
    for (at, next) in next.into_iter().enumerate() {
        if !kept.remove(&at) {
            reads += 1;
        }
        if next != NEVER {
            kept.insert(next);
        }
        if kept.len() > frames {
            kept.pop_last();
        }
    }
    reads
}

/// For each use, the next one of the same page.
fn next_uses<T: Copy + Eq + std::hash::Hash>(uses: &[T]) -> Vec<usize> {
    let mut later = HashMap::new();
    let mut next = vec![NEVER; uses.len()];
    for (at, page) in uses.iter().enumerate().rev() {
        next[at] = later.insert(*page, at).unwrap_or(NEVER);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_textbook_example() {
        // Three frames: 9 reads where every page that is read must be kept, 8 where it need not.
        let uses = [7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1];
        assert_eq!(least_reads(&uses, 3), 8);
        assert_eq!(least_reads(&uses, 0), 20);
        assert_eq!(least_reads(&uses, 6), 6);
    }

    #[test]
    fn no_way_to_keep_pages_reads_less() {
        let mut random = Random::new(5, "least");
        for _ in 0..300 {
            let uses: Vec<usize> = (0..9).map(|_| random.below(5)).collect();
            for frames in 0..4 {
                let tried = tried(&uses, frames, &mut Vec::new());
                assert_eq!(least_reads(&uses, frames), tried, "{uses:?} {frames}");
            }
        }
    }

    /// The fewest reads of all ways to choose what is dropped.
    fn tried(uses: &[usize], frames: usize, kept: &mut Vec<usize>) -> u64 {
        let Some((page, rest)) = uses.split_first() else {
            return 0;
        };
        if kept.contains(page) {
            return tried(rest, frames, kept);
        }
        let mut least = tried(rest, frames, kept);
        if kept.len() < frames {
            let mut more = kept.clone();
            more.push(*page);
            least = least.min(tried(rest, frames, &mut more));
        } else {
            for at in 0..kept.len() {
                let mut other = kept.clone();
                other[at] = *page;
                least = least.min(tried(rest, frames, &mut other));
            }
        }
        least + 1
    }
}
