//! LRU on flash: each entry is written by itself, in pages of the host, where there is room.
//!
//! The entry that was used longest ago leaves. One that has grown is written anew. What it leaves
//! may be too short for the next one, which then stands in several runs. Nothing is trimmed: the
//! drive learns of free pages when they are written again.

use std::collections::HashMap;
use std::ops::Range;

use gannet_ssd::{PAGE_BYTES, Request};

use super::flash::{Flash, pages};
use super::{Entry, Key, Ranked, Space};

/// Entries by when they were used last.
#[derive(Debug)]
pub struct Direct {
    capacity: u64,
    space: Space,
    order: Ranked,
    entries: HashMap<Key, Held>,
}

/// An entry that is held.
#[derive(Debug)]
struct Held {
    bytes: u64,
    runs: Vec<Range<u64>>,
}

impl Held {
    /// Reads of the pages that a part takes.
    fn reads(&self, part: Range<u64>, requests: &mut Vec<Request>) {
        let mut skipped = part.start / u64::from(PAGE_BYTES);
        let mut left = pages(part.end.min(self.bytes)).saturating_sub(skipped);
        for run in &self.runs {
            let first = skipped.min(run.end - run.start);
            let here = left.min(run.end - run.start - first);
            if here > 0 {
                requests.push(Request::read(run.start + first, here as u32));
            }
            skipped -= first;
            left -= here;
        }
    }
}

impl Direct {
    /// So many pages.
    pub fn new(capacity: u64) -> Direct {
        Direct {
            capacity,
            space: Space::new(capacity),
            order: Ranked::default(),
            entries: HashMap::new(),
        }
    }
}

impl Flash for Direct {
    fn holds(&self, key: Key) -> bool {
        self.entries.contains_key(&key)
    }

    fn held(&self, key: Key) -> u64 {
        self.entries.get(&key).map_or(0, |held| held.bytes)
    }

    fn read(&mut self, key: Key, requests: &mut Vec<Request>) {
        self.read_part(key, 0..u64::MAX, requests);
    }

    fn read_part(&mut self, key: Key, part: Range<u64>, requests: &mut Vec<Request>) {
        if let Some(held) = self.entries.get(&key) {
            self.order.set(key, 0.0);
            held.reads(part, requests);
        }
    }

    fn offer(&mut self, entry: &Entry, requests: &mut Vec<Request>) {
        let pages = pages(entry.bytes);
        if self.held(entry.key) >= entry.bytes {
            self.order.set(entry.key, 0.0);
            return;
        }
        if pages > self.capacity {
            return;
        }
        self.remove(entry.key, requests);
        while self.space.free() < pages {
            match self.order.first() {
                Some(victim) => self.remove(victim, requests),
                None => return,
            }
        }
        let Some(runs) = self.space.take(pages) else {
            return;
        };
        let write = |run: &Range<u64>| Request::write(run.start, (run.end - run.start) as u32);
        requests.extend(runs.iter().map(write));
        self.order.set(entry.key, 0.0);
        let bytes = entry.bytes;
        self.entries.insert(entry.key, Held { bytes, runs });
    }

    fn remove(&mut self, key: Key, _: &mut Vec<Request>) {
        self.order.remove(key);
        if let Some(held) = self.entries.remove(&key) {
            held.runs.into_iter().for_each(|run| self.space.give(run));
        }
    }

    #[cfg(test)]
    fn check(&self) {
        let used: u64 = self
            .entries
            .values()
            .flat_map(|held| &held.runs)
            .map(|run| run.end - run.start)
            .sum();
        assert_eq!(used + self.space.free(), self.capacity);
        assert_eq!(self.order.len(), self.entries.len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::flash::tests::{entry, reads_what_was_written};
    use super::*;

    #[test]
    fn it_reads_what_it_has_written() {
        let mut flash = Direct::new(1_000);
        reads_what_was_written(&mut flash, 1_000, |key| 1 + u64::from(key % 60));
    }

    #[test]
    fn what_was_used_longest_ago_leaves() {
        let (mut flash, mut requests) = (Direct::new(10), Vec::new());
        for key in [1, 2] {
            flash.offer(&entry(key, 5, 1), &mut requests);
        }
        flash.read(1, &mut requests);
        requests.clear();
        flash.offer(&entry(3, 2, 1), &mut requests);
        assert!(flash.holds(1) && !flash.holds(2));
        flash.offer(&entry(4, 11, 1), &mut requests);
        assert!(!flash.holds(4) && flash.holds(1), "larger than all of it");
        assert_eq!(requests, [Request::write(5, 2)]);
    }

    #[test]
    fn what_has_grown_is_written_anew_and_parts_are_read() {
        let (mut flash, mut requests) = (Direct::new(20), Vec::new());
        for (key, pages) in [(1, 2), (2, 2), (1, 5), (1, 3)] {
            flash.offer(&entry(key, pages, 1), &mut requests);
            flash.check();
        }
        let page = u64::from(PAGE_BYTES);
        assert_eq!((flash.held(1), flash.held(2)), (5 * page, 2 * page));
        assert_eq!(
            requests[2..],
            [Request::write(4, 5)],
            "the shorter one is there"
        );
        requests.clear();
        flash.remove(2, &mut requests);
        flash.offer(&entry(1, 20, 1), &mut requests);
        requests.clear();
        flash.read_part(1, 3 * page + 1..6 * page, &mut requests);
        assert_eq!(requests, [Request::read(3, 3)]);
    }
}
