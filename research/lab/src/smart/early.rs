//! Union with early termination on the host, by the same algorithm as `programs/early-union.c`.
//!
//! A posting has no room for bounds. So a table stands beside each list: for each page of postings
//! its last document and its largest score.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::counted::{Found, Read, Tally};
use super::lists::{List, POSTINGS_OF_PAGE, Posting, document, score, table};

/// Pages that are read at once where a list is read in order.
const MOST_AHEAD: usize = 16;

/// Bytes of a page, and of an entry of a table.
const PAGE_BYTES: usize = 4096;
const ENTRY_BYTES: usize = 8;

/// A list, its table, and how far it is.
struct Bounded<'a> {
    list: &'a [Posting],
    table: Vec<u64>,
    /// The page that would hold the next document.
    page: usize,
    /// The place in the list.
    place: Option<usize>,
    /// The pages that were read last.
    loaded: std::ops::Range<usize>,
    /// The largest score of the stretch that is looked at.
    bound: u64,
    is_optional: bool,
}

/// What is done for a query.
struct Union<'a> {
    lists: Vec<Bounded<'a>>,
    longest_first: Vec<usize>,
    optional_bound: u64,
    top: usize,
    /// Scores above, and below what is larger for a lower document.
    best: BinaryHeap<Reverse<u64>>,
    ranked: usize,
    reads: Vec<Read>,
    tally: Tally,
}

/// The best documents of any list, best first.
pub fn union(lists: &[List], top: usize) -> Found {
    let mut union = Union::new(lists, top);
    let mut target = 0;
    while let Some(last) = union.look(target) {
        union.choose();
        union.unite_until(target, last);
        target = last + 1;
    }
    let best = union.best.into_sorted_vec();
    let head = |Reverse(rank): Reverse<u64>| rank ^ u64::from(u32::MAX);
    Found {
        bytes: best
            .into_iter()
            .map(head)
            .flat_map(u64::to_le_bytes)
            .collect(),
        results: union.ranked,
        reads: union.reads,
        tally: union.tally,
    }
}

impl Union<'_> {
    /// Reads the tables.
    fn new(lists: &[List], top: usize) -> Union<'_> {
        let bounded = |list| Bounded {
            list,
            table: table(list),
            page: 0,
            place: None,
            loaded: 0..0,
            bound: 0,
            is_optional: false,
        };
        let bounded: Vec<Bounded> = lists.iter().map(|list| bounded(list)).collect();
        let pages = |list: &Bounded| (list.table.len() * ENTRY_BYTES).div_ceil(PAGE_BYTES);
        let read = |(number, list)| Read {
            span: lists.len() + number,
            page: 0,
            pages: pages(list),
        };
        let tables = bounded.iter().enumerate().map(read);
        let mut longest_first: Vec<usize> = (0..lists.len()).collect();
        longest_first.sort_by_key(|number| Reverse(lists[*number].len()));
        Union {
            reads: tables.filter(|read| read.pages > 0).collect(),
            lists: bounded,
            longest_first,
            optional_bound: 0,
            top,
            best: BinaryHeap::new(),
            ranked: 0,
            tally: Tally::default(),
        }
    }

    /// Whether a sum of scores can enter: documents come in order, so one that is equal cannot.
    fn may_enter(&mut self, most: u64) -> bool {
        self.tally.add(4, 0);
        self.best.len() < self.top
            || self
                .best
                .peek()
                .is_some_and(|Reverse(least)| most > u64::from(score(*least)))
    }

    /// Finds the pages that would hold `target`. Gives up to where their bounds hold, if there is
    /// any.
    fn look(&mut self, target: u32) -> Option<u32> {
        let mut last = None;
        for list in &mut self.lists {
            list.bound = 0;
            self.tally.add(4, 0);
            while let Some(entry) = list.table.get(list.page).copied() {
                self.tally.add(4, 1);
                if document(entry) >= target {
                    list.bound = u64::from(score(entry));
                    last = Some(last.map_or(document(entry), |last| document(entry).min(last)));
                    self.tally.add(4, 0);
                    break;
                }
                list.page += 1;
            }
        }
        last
    }

    /// Chooses the longest lists that are optional.
    fn choose(&mut self) {
        self.optional_bound = 0;
        for at in 0..self.longest_first.len() {
            let number = self.longest_first[at];
            let most = self.optional_bound + self.lists[number].bound;
            let is_optional = !self.may_enter(most);
            self.lists[number].is_optional = is_optional;
            self.tally.add(6, 0);
            if is_optional {
                self.optional_bound = most;
            }
        }
    }

    /// Ranks documents from `target` to `last` that may enter.
    fn unite_until(&mut self, mut target: u32, last: u32) {
        while target <= last {
            let mut least = None;
            let mut total = 0_u32;
            for number in 0..self.lists.len() {
                self.tally.add(4, 0);
                if self.lists[number].is_optional {
                    continue;
                }
                let Some(head) = self.advance(number, target) else {
                    continue;
                };
                if least.is_none_or(|least| document(head) < least) {
                    (least, total) = (Some(document(head)), 0);
                }
                if least == Some(document(head)) {
                    total = total.saturating_add(score(head));
                }
                self.tally.add(5, 0);
            }
            let Some(doc) = least.filter(|doc| *doc <= last) else {
                return;
            };
            target = doc + 1;
            total = self.complete(doc, total);
            if self.may_enter(u64::from(total)) {
                self.rank(doc, total);
                self.choose();
            }
        }
    }

    /// Adds the scores of optional lists, as long as the document can enter.
    fn complete(&mut self, doc: u32, mut total: u32) -> u32 {
        let mut rest = self.optional_bound;
        for at in (0..self.longest_first.len()).rev() {
            let number = self.longest_first[at];
            self.tally.add(4, 0);
            if !self.lists[number].is_optional {
                continue;
            }
            if !self.may_enter(u64::from(total) + rest) {
                break;
            }
            rest -= self.lists[number].bound;
            let found = self.advance(number, doc);
            self.tally.add(4, 0);
            if let Some(head) = found.filter(|head| document(*head) == doc) {
                total = total.saturating_add(score(head));
            }
        }
        total
    }

    fn rank(&mut self, doc: u32, total: u32) {
        self.ranked += 1;
        if self.best.len() == self.top {
            self.best.pop();
        }
        self.best
            .push(Reverse(u64::from(total) << 32 | u64::from(!doc)));
    }

    /// Moves to the first document from `target` on, which is in the stretch, and gives its head;
    /// nothing where the list has ended.
    fn advance(&mut self, number: usize, target: u32) -> Option<u64> {
        self.load(number);
        let (list, tally) = (&mut self.lists[number], &mut self.tally);
        tally.add(5, 0);
        let first = list.page * POSTINGS_OF_PAGE;
        let end = list.list.len().min(first + POSTINGS_OF_PAGE);
        if first >= end {
            return None;
        }
        let mut low = first;
        if let Some(place) = list.place.filter(|place| *place >= first) {
            let head = list.list[place][0];
            if document(head) >= target {
                return Some(head);
            }
            low = place + 1;
        }
        tally.add(4, 1);
        if document(list.list[low][0]) < target {
            let mut high = end - 1;
            low += 1;
            while low < high {
                let middle = (low + high) / 2;
                tally.add(7, 1);
                if document(list.list[middle][0]) < target {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            tally.add(2, 1);
        }
        list.place = Some(low);
        Some(list.list[low][0])
    }

    /// Reads the page that was found, if it is not there. In order, each read takes twice as many
    /// pages as the one before.
    fn load(&mut self, number: usize) {
        let list = &mut self.lists[number];
        let left = list.table.len() - list.page;
        if left == 0 || list.loaded.contains(&list.page) {
            return;
        }
        let ahead = if list.page == list.loaded.end {
            (2 * list.loaded.len()).clamp(1, MOST_AHEAD)
        } else {
            1
        };
        list.loaded = list.page..list.page + ahead.min(left);
        self.tally.add(8, 0);
        self.reads.push(Read {
            span: number,
            page: list.page,
            pages: list.loaded.len(),
        });
    }
}
