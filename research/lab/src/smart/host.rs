//! The operations on the host, by the same algorithms as the programs of the drive.
//!
//! Work is counted where it is done: each block of a loop adds its operators when it executes. An
//! operator is a comparison, a sum, a load, a store or a jump of the source as it stands here. The
//! drive counts those of its own machine code, which has more of them for the same source. So the
//! cost of an operator is a parameter of its own on each side. Accesses are counted alike on both
//! sides: one for each head that is looked at, and each word that is stored. Ranking is not
//! counted: the paper gives what it takes for a result, and that is its price.

use super::counted::{Found, Read, Tally};
use super::early;
use super::lists::{List, Posting, WORDS, document, pages, score, with_score};
use super::operation::{Operation, Query};

/// The size ratio below which lists are searched step by step.
const LINEAR_BELOW: usize = 4;

/// A list and how far it is.
struct Cursor<'a> {
    list: &'a [Posting],
    place: usize,
}

/// Carries out a query.
pub fn run(query: &Query, lists: &[List]) -> Found {
    match (query.operation, query.top) {
        (Operation::EarlyUnion, Some(top)) => early::union(lists, top),
        _ => plain(query, lists),
    }
}

/// Lists are read whole.
fn plain(query: &Query, lists: &[List]) -> Found {
    let mut tally = Tally::default();
    let mut cursors: Vec<Cursor> = lists.iter().map(|list| Cursor { list, place: 0 }).collect();
    let results = match query.operation {
        Operation::Intersection => intersection(&mut cursors, &mut tally),
        Operation::Difference => difference(&mut cursors, &mut tally),
        Operation::Union | Operation::EarlyUnion => union(&mut cursors, &mut tally),
    };
    let bytes = match query.top {
        Some(top) => best(&results, top),
        None => super::lists::bytes(&results),
    };
    let whole = |(span, list): (usize, &List)| Read {
        span,
        page: 0,
        pages: pages(list.len()),
    };
    Found {
        bytes,
        results: results.len(),
        reads: lists.iter().enumerate().map(whole).collect(),
        tally,
    }
}

/// Algorithm 1: a pivot goes through the lists in cycle until one of them is exhausted. Results are
/// postings of the shortest list, the first of several.
fn intersection(cursors: &mut [Cursor], tally: &mut Tally) -> List {
    let mut results = List::new();
    if cursors.iter().any(|cursor| cursor.list.is_empty()) {
        return results;
    }
    let (order, shortest) = orders(cursors);
    let mut from = order[order.len() - 1];
    let mut pivot = cursors[from].list[0][0];
    let (mut turn, mut found) = (0, 1);
    loop {
        let current = order[turn];
        let linear = is_linear(cursors[current].list.len(), cursors[from].list.len());
        tally.add(9, 0);
        let Some(mut head) = cursors[current].successor(document(pivot), linear, tally) else {
            return results;
        };
        if document(head) == document(pivot) {
            pivot = with_score(pivot, score(pivot).saturating_add(score(head)));
            found += 1;
            tally.add(6, 0);
            if found == order.len() {
                let kept_of = &cursors[shortest];
                results.push(kept(&kept_of.list[kept_of.place], pivot, tally));
                cursors[current].place += 1;
                let Some(next) = cursors[current].list.get(cursors[current].place) else {
                    return results;
                };
                tally.add(3, 1);
                head = next[0];
            }
        }
        if document(head) != document(pivot) {
            (pivot, found, from) = (head, 1, current);
            tally.add(3, 0);
        }
        turn = (turn + 1) % order.len();
    }
}

/// Lists in the order of their first documents, and the shortest of them.
fn orders(cursors: &[Cursor]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..cursors.len()).collect();
    order.sort_by_key(|at| document(cursors[*at].list[0][0]));
    let shortest = (0..cursors.len()).min_by_key(|at| cursors[*at].list.len());
    (order, shortest.unwrap_or(0))
}

/// Algorithm 2 as printed: for each result all lists are looked at twice.
fn union(cursors: &mut [Cursor], tally: &mut Tally) -> List {
    let mut results = List::new();
    loop {
        let mut least = None;
        for cursor in cursors.iter() {
            tally.add(3, 0);
            if let Some(posting) = cursor.list.get(cursor.place) {
                tally.add(3, 1);
                let found = document(posting[0]);
                least = Some(least.map_or(found, |least: u32| least.min(found)));
            }
        }
        let Some(least) = least else {
            return results;
        };
        let mut result: Option<Posting> = None;
        for cursor in cursors.iter_mut() {
            tally.add(3, 0);
            let Some(posting) = cursor.list.get(cursor.place) else {
                continue;
            };
            tally.add(2, 1);
            if document(posting[0]) == least {
                let before = result.map_or(0, |result| score(result[0]));
                let sum = before.saturating_add(score(posting[0]));
                let first = result.get_or_insert(*posting);
                first[0] = with_score(first[0], sum);
                cursor.place += 1;
                tally.add(6, 0);
            }
        }
        if let Some(result) = result {
            results.push(kept(&result, result[0], tally));
        }
    }
}

/// All postings of the first list that the second does not have.
fn difference(cursors: &mut [Cursor], tally: &mut Tally) -> List {
    let mut results = List::new();
    let [a, b] = cursors else {
        return results;
    };
    let linear = is_linear(a.list.len(), b.list.len());
    for posting in a.list {
        tally.add(4, 1);
        let found = b.successor(document(posting[0]), linear, tally);
        if found.is_none_or(|head| document(head) != document(posting[0])) {
            results.push(kept(posting, posting[0], tally));
        }
    }
    results
}

/// Whether two lists are searched step by step rather than by halves.
fn is_linear(one: usize, other: usize) -> bool {
    one.max(other) < one.min(other) * LINEAR_BELOW
}

/// A result, which is a posting with the sum of the scores.
fn kept(posting: &Posting, head: u64, tally: &mut Tally) -> Posting {
    tally.add(2, WORDS as u64);
    let mut result = *posting;
    result[0] = head;
    result
}

impl Cursor<'_> {
    /// Moves to the first posting not below a document and gives its head.
    fn successor(&mut self, wanted: u32, linear: bool, tally: &mut Tally) -> Option<u64> {
        if linear {
            while let Some(posting) = self.list.get(self.place) {
                tally.add(4, 1);
                if document(posting[0]) >= wanted {
                    return Some(posting[0]);
                }
                self.place += 1;
            }
            return None;
        }
        let (mut low, mut high) = (self.place, self.list.len());
        while low < high {
            let middle = low + (high - low) / 2;
            tally.add(7, 1);
            if document(self.list[middle][0]) < wanted {
                low = middle + 1
            } else {
                high = middle
            }
        }
        self.place = low;
        tally.add(2, 1);
        self.list.get(low).map(|posting| posting[0])
    }
}

/// The heads of the best results, best first: higher scores, then lower documents.
fn best(results: &[Posting], top: usize) -> Vec<u8> {
    let mut heads: Vec<u64> = results.iter().map(|posting| posting[0]).collect();
    heads.sort_unstable_by_key(|head| (u32::MAX - score(*head), document(*head)));
    heads.truncate(top);
    heads.into_iter().flat_map(u64::to_le_bytes).collect()
}
