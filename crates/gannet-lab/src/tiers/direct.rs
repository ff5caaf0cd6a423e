//! LRU on flash: each entry is written by itself, in pages of the host, where there is room.
//!
//! The entry that was used longest ago leaves. What it leaves may be too short for the next one,
//! which then stands in several runs. Nothing is trimmed: the drive learns of free pages when they
//! are written again.

use std::collections::HashMap;
use std::ops::Range;

use gannet_ssd::Request;

use super::flash::{Flash, pages};
use super::{Entry, Key, Ranked, Space};

/// Entries by when they were used last.
#[derive(Debug)]
pub struct Direct {
    capacity: u64,
    space: Space,
    order: Ranked,
    runs: HashMap<Key, Vec<Range<u64>>>,
}

impl Direct {
    /// So many pages.
    pub fn new(capacity: u64) -> Direct {
        Direct {
            capacity,
            space: Space::new(capacity),
            order: Ranked::default(),
            runs: HashMap::new(),
        }
    }
}

impl Flash for Direct {
    fn holds(&self, key: Key) -> bool {
        self.runs.contains_key(&key)
    }

    fn read(&mut self, key: Key, requests: &mut Vec<Request>) {
        let Some(runs) = self.runs.get(&key) else {
            return;
        };
        self.order.set(key, 0.0);
        let read = |run: &Range<u64>| Request::read(run.start, (run.end - run.start) as u32);
        requests.extend(runs.iter().map(read));
    }

    fn offer(&mut self, entry: &Entry, requests: &mut Vec<Request>) {
        let pages = pages(entry.bytes);
        if self.holds(entry.key) {
            self.order.set(entry.key, 0.0);
            return;
        }
        if pages > self.capacity {
            return;
        }
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
        self.runs.insert(entry.key, runs);
    }

    fn remove(&mut self, key: Key, _: &mut Vec<Request>) {
        self.order.remove(key);
        for run in self.runs.remove(&key).unwrap_or_default() {
            self.space.give(run);
        }
    }

    #[cfg(test)]
    fn check(&self) {
        let used: u64 = self
            .runs
            .values()
            .flatten()
            .map(|run| run.end - run.start)
            .sum();
        assert_eq!(used + self.space.free(), self.capacity);
        assert_eq!(self.order.len(), self.runs.len());
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
}
