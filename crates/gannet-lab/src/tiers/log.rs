//! Gannet's flash: a log that goes round in its part, written in whole erase blocks.
//!
//! - An entry is admitted at its second touch: when it was evicted from memory before and the
//!   ghost list still knows it. With a ghost list of no bytes every entry is admitted.
//! - Entries are put one behind the other, in pages of the host. A block is written when it is
//!   full, so the drive sees sequential writes alone. Its tail waits in memory until then.
//! - The oldest block is overwritten. What was read since it was written is put at the head again,
//!   the rest leaves.
//!
//! Positions count pages since the beginning and never wrap; the page of a position is its
//! remainder. Invariant: `tail <= position of each entry < head`, and head and tail are at most as
//! far apart as the part is long.

use std::collections::{HashMap, VecDeque};

use gannet_ssd::Request;

use super::flash::{BLOCK_PAGES, Flash, pages};
use super::{Entry, Key, ghost::Ghost};

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    position: u64,
    pages: u64,
    /// Whether it was read since it was written.
    is_read: bool,
}

/// The log.
#[derive(Debug)]
pub struct Log {
    /// Pages, in whole blocks.
    capacity: u64,
    head: u64,
    /// Positions before this one are on flash, others wait in memory.
    written: u64,
    tail: u64,
    places: HashMap<Key, Place>,
    /// Keys in the order of their positions; one that left since is skipped.
    order: VecDeque<(Key, u64)>,
    ghost: Option<Ghost>,
    /// Whether what was read is put at the head again.
    keeps_read: bool,
}

impl Log {
    /// So many blocks, and a ghost list of so many bytes.
    pub fn new(blocks: u64, ghost: u64, keeps_read: bool) -> Log {
        Log {
            capacity: blocks * BLOCK_PAGES,
            head: 0,
            written: 0,
            tail: 0,
            places: HashMap::new(),
            order: VecDeque::new(),
            ghost: (ghost > 0).then(|| Ghost::new(ghost)),
            keeps_read,
        }
    }

    /// Puts an entry at the head.
    fn append(&mut self, key: Key, pages: u64, requests: &mut Vec<Request>) {
        let place = Place {
            position: self.head,
            pages,
            is_read: false,
        };
        self.places.insert(key, place);
        self.order.push_back((key, self.head));
        self.head += pages;
        while self.written + BLOCK_PAGES <= self.head {
            let page = self.written % self.capacity;
            requests.push(Request::write(page, BLOCK_PAGES as u32));
            self.written += BLOCK_PAGES;
        }
    }

    /// Overwrites the oldest entries until so many pages more are within the capacity. The head
    /// counts as whole blocks, since these are written.
    fn make_room(&mut self, pages: u64, requests: &mut Vec<Request>) {
        // Each entry is put at the head once at most, so that this ends.
        let mut kept = 0;
        while (self.head + pages).next_multiple_of(BLOCK_PAGES) > self.tail + self.capacity {
            let Some((key, position)) = self.order.pop_front() else {
                self.tail = self.head / BLOCK_PAGES * BLOCK_PAGES;
                return;
            };
            let found = self.places.get(&key).copied();
            let current = found.filter(|place| place.position == position);
            if let Some(place) = current {
                self.places.remove(&key);
                self.move_tail();
                let is_kept = place.is_read && self.keeps_read && kept < self.capacity / 2;
                if is_kept && self.fits(place.pages) {
                    kept += place.pages;
                    self.append(key, place.pages, requests);
                }
            }
            self.move_tail();
        }
    }

    fn fits(&self, pages: u64) -> bool {
        (self.head + pages).next_multiple_of(BLOCK_PAGES) <= self.tail + self.capacity
    }

    /// The tail is the block of the oldest entry.
    fn move_tail(&mut self) {
        let oldest = self
            .order
            .front()
            .map_or(self.head, |(_, position)| *position);
        self.tail = oldest / BLOCK_PAGES * BLOCK_PAGES;
    }
}

impl Flash for Log {
    fn holds(&self, key: Key) -> bool {
        self.places.contains_key(&key)
    }

    fn read(&mut self, key: Key, requests: &mut Vec<Request>) {
        let Some(place) = self.places.get_mut(&key) else {
            return;
        };
        place.is_read = true;
        let end = (place.position + place.pages).min(self.written);
        let mut position = place.position;
        while position < end {
            let page = position % self.capacity;
            let here = (end - position).min(self.capacity - page);
            requests.push(Request::read(page, here as u32));
            position += here;
        }
    }

    fn offer(&mut self, entry: &Entry, requests: &mut Vec<Request>) {
        let pages = pages(entry.bytes);
        // An entry and the block that is being filled must fit beside each other.
        if self.holds(entry.key) || pages + 2 * BLOCK_PAGES > self.capacity {
            return;
        }
        let ghost = self.ghost.as_mut();
        if ghost.is_none_or(|ghost| ghost.is_second(entry.key, entry.bytes)) {
            self.make_room(pages, requests);
            self.append(entry.key, pages, requests);
        }
    }

    fn remove(&mut self, key: Key, _: &mut Vec<Request>) {
        self.places.remove(&key);
    }

    #[cfg(test)]
    fn check(&self) {
        assert!(self.tail <= self.written && self.written <= self.head);
        assert!(self.head.next_multiple_of(BLOCK_PAGES) - self.tail <= self.capacity);
        for place in self.places.values() {
            assert!(place.position >= self.tail && place.position + place.pages <= self.head);
        }
        assert!(self.places.len() <= self.order.len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::flash::tests::{entry, reads_what_was_written};
    use super::*;

    #[test]
    fn the_log_goes_round_and_writes_whole_blocks_one_after_the_other() {
        for keeps_read in [false, true] {
            let mut log = Log::new(20, 0, keeps_read);
            let mut next = 0;
            for key in 0..2_000 {
                let mut requests = Vec::new();
                if log.holds(key % 70) {
                    log.read(key % 70, &mut Vec::new());
                }
                log.offer(&entry(key % 70, 1 + u64::from(key % 50), 1), &mut requests);
                log.check();
                for request in requests {
                    assert_eq!(request, Request::write(next, BLOCK_PAGES as u32));
                    next = (next + BLOCK_PAGES) % (20 * BLOCK_PAGES);
                }
            }
        }
    }

    #[test]
    fn what_was_read_is_kept_and_the_rest_leaves() {
        let mut log = Log::new(4, 0, true);
        let mut requests = Vec::new();
        for key in 0..4 {
            log.offer(&entry(key, BLOCK_PAGES, 1), &mut requests);
        }
        log.read(0, &mut requests);
        log.offer(&entry(4, BLOCK_PAGES, 1), &mut requests);
        let held: Vec<Key> = (0..5).filter(|key| log.holds(*key)).collect();
        assert_eq!(held, [0, 2, 3, 4]);
    }

    #[test]
    fn an_entry_is_admitted_at_its_second_touch() {
        let mut log = Log::new(4, 1 << 20, true);
        log.offer(&entry(1, 9, 1), &mut Vec::new());
        assert!(!log.holds(1));
        log.offer(&entry(1, 9, 1), &mut Vec::new());
        assert!(log.holds(1));
        let mut requests = Vec::new();
        log.read(1, &mut requests);
        assert_eq!(requests, [], "its block is not full yet");
    }

    #[test]
    fn it_reads_what_it_has_written() {
        for keeps_read in [false, true] {
            let mut log = Log::new(30, 0, keeps_read);
            let limit = 30 * BLOCK_PAGES;
            reads_what_was_written(&mut log, limit, |key| 1 + u64::from(key % 90));
        }
    }
}
