//! The flash of the lab's own policy: a log that goes round in its part, written in whole erase
//! blocks.
//!
//! - Entries are put one behind the other, in pages of the host. A block is written when it is
//!   full, so the drive sees sequential writes alone. Its tail waits in memory until then.
//! - The oldest block is overwritten. What was read since it was written and is small enough is
//!   read and put at the head again, the rest leaves. One block stays spare, so that what is put at
//!   the head never overwrites the block that it is read from.
//! - An entry is the beginning of a list, or a result. A longer beginning takes the place of a
//!   shorter one. A part can be read by itself.
//!
//! Positions count pages since the beginning and never wrap; the page of a position is its
//! remainder. Invariant: `tail <= position of each entry < head`, and head and tail are at most as
//! far apart as the part is long, less the spare block.

use std::collections::{HashMap, VecDeque};

use std::ops::Range;

use gannet_ssd::{PAGE_BYTES, Request};

use super::flash::{BLOCK_PAGES, Flash, pages};
use super::{Entry, Key};

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    position: u64,
    bytes: u64,
    /// Whether it was read since it was written.
    is_read: bool,
}

/// The log.
#[derive(Debug)]
pub struct Log {
    /// Pages, in whole blocks, with the spare one.
    capacity: u64,
    head: u64,
    /// Positions before this one are on flash, others wait in memory.
    written: u64,
    tail: u64,
    places: HashMap<Key, Place>,
    /// Keys in the order of their positions; one that left since is skipped.
    order: VecDeque<(Key, u64)>,
    /// Bytes up to which an entry that was read is put at the head again.
    keeps: u64,
}

impl Log {
    /// So many blocks. What was read and has at most `keeps` bytes is put at the head again.
    pub fn new(blocks: u64, keeps: u64) -> Log {
        Log {
            capacity: blocks * BLOCK_PAGES,
            head: 0,
            written: 0,
            tail: 0,
            places: HashMap::new(),
            order: VecDeque::new(),
            keeps,
        }
    }

    /// Puts an entry at the head.
    fn append(&mut self, key: Key, bytes: u64, requests: &mut Vec<Request>) {
        let place = Place {
            position: self.head,
            bytes,
            is_read: false,
        };
        self.places.insert(key, place);
        self.order.push_back((key, self.head));
        self.head += pages(bytes);
        while self.written + BLOCK_PAGES <= self.head {
            let page = self.written % self.capacity;
            requests.push(Request::write(page, BLOCK_PAGES as u32));
            self.written += BLOCK_PAGES;
        }
    }

    /// Overwrites the oldest blocks until so many pages more are within the capacity. The head
    /// counts as whole blocks, since these are written.
    fn make_room(&mut self, needed: u64, requests: &mut Vec<Request>) {
        // An entry that is put at the head counts as not read, so that this ends.
        let mut kept = 0;
        while !self.fits(needed) {
            if self.order.is_empty() {
                self.tail = self.head / BLOCK_PAGES * BLOCK_PAGES;
                return;
            }
            for (key, place) in self.leave() {
                let pages = pages(place.bytes);
                if kept < self.capacity / 2 && self.fits(pages) {
                    kept += pages;
                    self.read_at(place, 0..place.bytes, requests);
                    self.append(key, place.bytes, requests);
                }
            }
        }
    }

    /// Empties the oldest block. Gives what is to be put at the head again.
    fn leave(&mut self) -> Vec<(Key, Place)> {
        let mut again = Vec::new();
        let end = self.tail + BLOCK_PAGES;
        while let Some((key, position)) = self.order.front().copied()
            && position < end
        {
            self.order.pop_front();
            let Some(place) = self.places.get(&key).copied() else {
                continue;
            };
            if place.position == position {
                self.places.remove(&key);
                if place.is_read && place.bytes <= self.keeps {
                    again.push((key, place));
                }
            }
        }
        self.move_tail();
        again
    }

    fn fits(&self, pages: u64) -> bool {
        let end = (self.head + pages).next_multiple_of(BLOCK_PAGES);
        end + BLOCK_PAGES <= self.tail + self.capacity
    }

    /// Reads a part of an entry that stands there, as far as it is on flash.
    fn read_at(&self, place: Place, part: Range<u64>, requests: &mut Vec<Request>) {
        let end = place.position + pages(place.bytes.min(part.end));
        let end = end.min(self.written);
        let mut position = place.position + part.start / u64::from(PAGE_BYTES);
        while position < end {
            let page = position % self.capacity;
            let here = (end - position).min(self.capacity - page);
            requests.push(Request::read(page, here as u32));
            position += here;
        }
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

    fn held(&self, key: Key) -> u64 {
        self.places.get(&key).map_or(0, |place| place.bytes)
    }

    fn read(&mut self, key: Key, requests: &mut Vec<Request>) {
        self.read_part(key, 0..u64::MAX, requests);
    }

    fn read_part(&mut self, key: Key, part: Range<u64>, requests: &mut Vec<Request>) {
        let Some(place) = self.places.get_mut(&key) else {
            return;
        };
        place.is_read = true;
        let place = *place;
        self.read_at(place, part, requests);
    }

    fn offer(&mut self, entry: &Entry, requests: &mut Vec<Request>) {
        let pages = pages(entry.bytes);
        // An entry, the block that is being filled and the spare one must fit beside each other.
        let is_too_long = pages + 3 * BLOCK_PAGES > self.capacity;
        if self.held(entry.key) >= entry.bytes || is_too_long {
            return;
        }
        self.remove(entry.key, requests);
        self.make_room(pages, requests);
        self.append(entry.key, entry.bytes, requests);
    }

    fn remove(&mut self, key: Key, _: &mut Vec<Request>) {
        self.places.remove(&key);
    }

    #[cfg(test)]
    fn check(&self) {
        assert!(self.tail <= self.written && self.written <= self.head);
        let held = self.head.next_multiple_of(BLOCK_PAGES) - self.tail;
        assert!(held == 0 || held + BLOCK_PAGES <= self.capacity);
        for place in self.places.values() {
            assert!(
                place.position >= self.tail && place.position + pages(place.bytes) <= self.head
            );
        }
        assert!(self.places.len() <= self.order.len());
    }
}

#[cfg(test)]
mod tests {
    use gannet_ssd::Operation;

    use super::super::flash::tests::{entry, reads_what_was_written};
    use super::*;

    #[test]
    fn the_log_goes_round_and_writes_whole_blocks_one_after_the_other() {
        for keeps in [0, u64::MAX] {
            let mut log = Log::new(20, keeps);
            let mut next = 0;
            for key in 0..2_000 {
                let mut requests = Vec::new();
                if log.holds(key % 70) {
                    log.read(key % 70, &mut Vec::new());
                }
                log.offer(&entry(key % 70, 1 + u64::from(key % 50), 1), &mut requests);
                log.check();
                for request in requests {
                    if request.operation == Operation::Read {
                        continue;
                    }
                    assert_eq!(request, Request::write(next, BLOCK_PAGES as u32));
                    next = (next + BLOCK_PAGES) % (20 * BLOCK_PAGES);
                }
            }
        }
    }

    #[test]
    fn what_was_read_is_kept_and_the_rest_leaves() {
        let mut log = Log::new(5, u64::MAX);
        let mut requests = Vec::new();
        for key in 0..4 {
            log.offer(&entry(key, BLOCK_PAGES, 1), &mut requests);
        }
        log.read(0, &mut requests);
        requests.clear();
        log.offer(&entry(4, BLOCK_PAGES, 1), &mut requests);
        let pages = BLOCK_PAGES as u32;
        let again = [
            Request::read(0, pages),
            Request::write(4 * BLOCK_PAGES, pages),
            Request::write(0, pages),
        ];
        assert_eq!(requests, again, "it is read before its block is written");
        let held: Vec<Key> = (0..5).filter(|key| log.holds(*key)).collect();
        assert_eq!(held, [0, 2, 3, 4]);
    }

    #[test]
    fn what_is_large_leaves_though_it_was_read() {
        let mut log = Log::new(5, u64::from(PAGE_BYTES));
        let mut requests = Vec::new();
        for (key, pages) in [
            (0, 1),
            (1, BLOCK_PAGES - 1),
            (2, BLOCK_PAGES),
            (3, BLOCK_PAGES),
        ] {
            log.offer(&entry(key, pages, 1), &mut requests);
            log.read(key, &mut requests);
        }
        for key in 4..6 {
            log.offer(&entry(key, BLOCK_PAGES, 1), &mut requests);
        }
        let held: Vec<Key> = (0..6).filter(|key| log.holds(*key)).collect();
        assert_eq!(held, [0, 3, 4, 5]);
    }

    #[test]
    fn a_longer_beginning_takes_the_place_of_a_shorter_one_and_parts_are_read() {
        let mut log = Log::new(8, 0);
        let mut requests = Vec::new();
        for pages in [BLOCK_PAGES, 2 * BLOCK_PAGES, BLOCK_PAGES] {
            log.offer(&entry(1, pages, 1), &mut requests);
            log.check();
        }
        let page = u64::from(PAGE_BYTES);
        assert_eq!(log.held(1), 2 * BLOCK_PAGES * page);
        assert_eq!(requests.len(), 3, "the shorter one is there");
        requests.clear();
        log.read_part(1, page + 1..3 * page, &mut requests);
        assert_eq!(requests, [Request::read(BLOCK_PAGES + 1, 2)]);
    }

    #[test]
    fn it_reads_what_it_has_written() {
        for keeps in [0, u64::MAX] {
            let mut log = Log::new(30, keeps);
            let limit = 30 * BLOCK_PAGES;
            reads_what_was_written(&mut log, limit, |key| 1 + u64::from(key % 90));
        }
    }
}
