//! The end of the stretch for which bounds hold that are taken of several lists at once.
//!
//! The first page that ends is where bounds change. Of very many lists the first few such ends are
//! passed over: else there would be a stretch for each page of all lists, and for each stretch all
//! lists would be bounded.

use crate::base::{DocId, END};

/// Of so many lists the end of one page is passed over, so that what bounds cost grows with the
/// lists as their pages do. Most queries have fewer.
const LISTS_A_PAGE: usize = 32;

/// Collects the ends of the next pages of several lists.
pub struct PageEnds {
    least: DocId,
    /// The number of ends that are passed over.
    passed: usize,
    /// The ends, if any are.
    all: Vec<DocId>,
}

impl PageEnds {
    /// Of so many lists.
    pub fn of(lists: usize) -> PageEnds {
        PageEnds {
            least: END,
            passed: lists / LISTS_A_PAGE,
            all: Vec::new(),
        }
    }

    /// Adds the last document of the next page of a list.
    pub fn add(&mut self, last: DocId) {
        self.least = self.least.min(last);
        if self.passed > 0 {
            self.all.push(last);
        }
    }

    /// The last document of the stretch.
    pub fn end(mut self) -> DocId {
        match self.all.get(self.passed) {
            None => self.least,
            Some(_) => *self.all.select_nth_unstable(self.passed).1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_lists_some_ends_are_passed_over() {
        let end = |lists: usize| {
            let mut ends = PageEnds::of(lists);
            (0..lists).rev().for_each(|last| ends.add(last as DocId));
            ends.end()
        };
        assert_eq!((end(0), end(1), end(31)), (END, 0, 0));
        assert_eq!((end(32), end(320)), (1, 10));
    }
}
