//! The flash of the lab's own policy: one log for results and lists, with an admission of each
//! class.
//!
//! Both classes compete for the same blocks, so that none of them leaves flash unused that the
//! other needs. An entry is admitted at its second touch: when memory evicted it before and the
//! ghost list of its class still knows it. A small entry is admitted at once, as writing it takes
//! little beside the seek that it may save (size-aware admission: Berger et al., AdaptSize, 2017).

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use gannet_ssd::Request;

use super::flash::Flash;
use super::ghost::Ghost;
use super::{Entry, Key, Log};

/// The classes of entries.
const CLASSES: Key = 2;

/// The part of one class.
#[derive(Debug)]
pub struct Shared {
    log: Rc<RefCell<Log>>,
    /// Distinguishes the keys of the classes in the log.
    class: Key,
    admission: Admission,
}

/// What is written of what memory evicts.
#[derive(Debug)]
pub enum Admission {
    /// Everything.
    All,
    /// What is touched a second time, and what has at most so many bytes.
    Second(Ghost, u64),
}

impl Shared {
    /// The part of a class.
    pub fn new(log: &Rc<RefCell<Log>>, class: Key, admission: Admission) -> Shared {
        Shared {
            log: Rc::clone(log),
            class,
            admission,
        }
    }

    fn key(&self, key: Key) -> Key {
        key * CLASSES + self.class
    }
}

impl Admission {
    fn admits(&mut self, entry: &Entry) -> bool {
        match self {
            Admission::All => true,
            Admission::Second(ghost, small) => {
                entry.bytes <= *small || ghost.is_second(entry.key, entry.bytes)
            }
        }
    }
}

impl Flash for Shared {
    fn holds(&self, key: Key) -> bool {
        self.log.borrow().holds(self.key(key))
    }

    fn read(&mut self, key: Key, requests: &mut Vec<Request>) {
        self.log.borrow_mut().read(self.key(key), requests);
    }

    fn held(&self, key: Key) -> u64 {
        self.log.borrow().held(self.key(key))
    }

    fn read_part(&mut self, key: Key, part: Range<u64>, requests: &mut Vec<Request>) {
        self.log
            .borrow_mut()
            .read_part(self.key(key), part, requests);
    }

    fn offer(&mut self, entry: &Entry, requests: &mut Vec<Request>) {
        if self.held(entry.key) < entry.bytes && self.admission.admits(entry) {
            let key = self.key(entry.key);
            let entry = Entry { key, ..*entry };
            self.log.borrow_mut().offer(&entry, requests);
        }
    }

    fn remove(&mut self, key: Key, requests: &mut Vec<Request>) {
        self.log.borrow_mut().remove(self.key(key), requests);
    }

    #[cfg(test)]
    fn check(&self) {
        self.log.borrow().check();
    }
}

#[cfg(test)]
mod tests {
    use super::super::flash::tests::{entry, reads_what_was_written};
    use super::*;

    const PAGE: u64 = gannet_ssd::PAGE_BYTES as u64;

    fn second(small: u64) -> Admission {
        Admission::Second(Ghost::new(1 << 20), small)
    }

    fn part(class: Key, admission: Admission) -> Shared {
        let log = Rc::new(RefCell::new(Log::new(9, 0)));
        Shared::new(&log, class, admission)
    }

    #[test]
    fn what_is_large_is_admitted_at_its_second_touch() {
        let mut part = part(0, second(8 * PAGE));
        let mut offered = |key, pages| {
            part.offer(&entry(key, pages, 1), &mut Vec::new());
            part.holds(key)
        };
        assert!(offered(2, 8), "small");
        assert!(!offered(1, 9) && offered(1, 9));
        assert!(!offered(3, 9));
    }

    #[test]
    fn a_longer_beginning_is_admitted_like_a_new_entry() {
        let mut part = part(0, second(8 * PAGE));
        for pages in [8, 20, 4] {
            part.offer(&entry(1, pages, 1), &mut Vec::new());
            assert_eq!(part.held(1), 8 * PAGE);
        }
        part.offer(&entry(1, 20, 1), &mut Vec::new());
        assert_eq!(part.held(1), 20 * PAGE);
    }

    #[test]
    fn the_classes_share_the_log_and_not_the_keys() {
        let log = Rc::new(RefCell::new(Log::new(5, 0)));
        let make = |class| Shared::new(&log, class, Admission::All);
        let (mut results, mut lists, mut requests) = (make(0), make(1), Vec::new());
        results.offer(&entry(7, 5, 1), &mut requests);
        assert!(results.holds(7) && !lists.holds(7));
        for key in 0..4 {
            lists.offer(&entry(key, 32, 1), &mut requests);
        }
        assert!(!results.holds(7), "lists took its block");
        lists.remove(3, &mut requests);
        assert!(lists.holds(2) && !lists.holds(3));
    }

    #[test]
    fn it_reads_what_it_has_written() {
        let mut part = part(1, Admission::All);
        reads_what_was_written(&mut part, 9 * 32, |key| 1 + u64::from(key % 90));
    }
}
