//! CBLRU's and CBSLRU's lists on flash: whole erase blocks in three states.
//!
//! - A block is *free*; *normal* when a list was written there; *replaceable* when that list was
//!   read back to memory; normal again when the list is evicted anew, or another one is written.
//!   A list that is evicted while its replaceable blocks are there is not written again.
//! - A list is written if its efficiency value reaches the threshold T_EV.
//! - The lists stand in LRU order. Its colder end is the replace-first region: the window W.
//!
//! Room is sought in this order: free blocks; a replaceable list of the window that is large
//! enough; a list of the window of the same size; several lists of the window, replaceable ones
//! first; then a list that is large enough anywhere; then several from anywhere. Blocks that a
//! victim has and the newcomer does not need become free, and are trimmed.
//!
//! The static part of CBSLRU is written at the beginning and never leaves.

use std::collections::HashMap;
use std::ops::Range;

use gannet_ssd::Request;

use super::efficiency::{efficiency, window_of};
use super::flash::{BLOCK_PAGES, Flash, blocks, pages};
use super::{Entry, Key, Ranked, Space};

/// What may happen to the blocks of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// They stay.
    Normal,
    /// They are overwritten first.
    Replaceable,
    /// They belong to the static part.
    Fixed,
}

/// A list on flash.
#[derive(Debug)]
struct List {
    /// Its blocks.
    runs: Vec<Range<u64>>,
    blocks: u64,
    /// Pages that hold its cached part.
    pages: u64,
    state: State,
}

/// The lists, and the free blocks.
#[derive(Debug)]
pub struct ListBlocks {
    threshold: f64,
    window: f64,
    /// Blocks of the dynamic part.
    dynamic: u64,
    space: Space,
    /// The dynamic part in LRU order.
    order: Ranked,
    lists: HashMap<Key, List>,
}

impl ListBlocks {
    /// So many blocks, with a threshold T_EV and the share of the lists that is the window W.
    pub fn new(blocks: u64, threshold: f64, window: f64) -> ListBlocks {
        ListBlocks {
            threshold,
            window,
            dynamic: blocks,
            space: Space::new(blocks),
            order: Ranked::default(),
            lists: HashMap::new(),
        }
    }

    /// Writes lists into the static part, in order, as far as they fit into `limit` blocks.
    pub fn fix(&mut self, entries: &[Entry], mut limit: u64, requests: &mut Vec<Request>) {
        for entry in entries {
            let blocks = blocks(entry.bytes);
            if blocks <= limit.min(self.space.free()) && !self.holds(entry.key) {
                self.write(entry, State::Fixed, requests);
                self.dynamic -= blocks;
                limit -= blocks;
            }
        }
    }

    fn write(&mut self, entry: &Entry, state: State, requests: &mut Vec<Request>) {
        let blocks = blocks(entry.bytes);
        let Some(runs) = self.space.take(blocks) else {
            return;
        };
        requests.extend(runs.iter().map(|run| {
            let pages = (run.end - run.start) * BLOCK_PAGES;
            Request::write(run.start * BLOCK_PAGES, pages as u32)
        }));
        let pages = pages(entry.bytes);
        let list = List {
            runs,
            blocks,
            pages,
            state,
        };
        self.lists.insert(entry.key, list);
    }

    /// The lists that leave so that `needed` blocks are free.
    fn victims(&self, needed: u64) -> Vec<Key> {
        let missing = needed.saturating_sub(self.space.free());
        if missing == 0 {
            return Vec::new();
        }
        let window: Vec<Key> = self.first(window_of(self.window, self.order.len()));
        let is_replaceable = |key: &&Key| self.lists[key].state == State::Replaceable;
        let size = |key: &Key| self.lists[key].blocks;
        let replaceable: Vec<Key> = window.iter().filter(is_replaceable).copied().collect();
        if let Some(key) = replaceable.iter().find(|key| size(key) >= needed) {
            return vec![*key];
        }
        if let Some(key) = window.iter().find(|key| size(key) == needed) {
            return vec![*key];
        }
        let others = window.iter().filter(|key| !is_replaceable(key)).copied();
        let assembled = self.assembled(replaceable.iter().copied().chain(others), missing);
        if let Some(victims) = assembled {
            return victims;
        }
        if let Some(key) = self.order.iter().find(|key| size(key) >= needed) {
            return vec![key];
        }
        self.assembled(self.order.iter(), missing)
            .unwrap_or_default()
    }

    /// The first lists that together have so many blocks.
    fn assembled(&self, keys: impl Iterator<Item = Key>, blocks: u64) -> Option<Vec<Key>> {
        let (mut found, mut victims) = (0, Vec::new());
        for key in keys {
            victims.push(key);
            found += self.lists[&key].blocks;
            if found >= blocks {
                return Some(victims);
            }
        }
        None
    }

    /// So many lists from the colder end.
    fn first(&self, lists: usize) -> Vec<Key> {
        self.order.iter().take(lists).collect()
    }

    /// Takes the blocks of a list.
    fn free(&mut self, key: Key) -> Vec<Range<u64>> {
        self.order.remove(key);
        let runs = self.lists.remove(&key).map_or(Vec::new(), |list| list.runs);
        runs.iter().for_each(|run| self.space.give(run.clone()));
        runs
    }

    /// Trims those of the blocks that were not written since.
    fn trim(&self, freed: &[Range<u64>], requests: &mut Vec<Request>) {
        let written: Vec<Range<u64>> = requests
            .iter()
            .map(|write| write.page..write.page + u64::from(write.pages))
            .collect();
        for block in freed.iter().cloned().flatten() {
            let page = block * BLOCK_PAGES;
            if !written.iter().any(|run| run.contains(&page)) {
                requests.push(Request::trim(page, BLOCK_PAGES as u32));
            }
        }
    }
}

impl Flash for ListBlocks {
    fn holds(&self, key: Key) -> bool {
        self.lists.contains_key(&key)
    }

    fn read(&mut self, key: Key, requests: &mut Vec<Request>) {
        let Some(list) = self.lists.get_mut(&key) else {
            return;
        };
        let mut left = list.pages;
        for run in &list.runs {
            let here = left.min((run.end - run.start) * BLOCK_PAGES);
            requests.push(Request::read(run.start * BLOCK_PAGES, here as u32));
            left -= here;
        }
        if list.state != State::Fixed {
            list.state = State::Replaceable;
            self.order.set(key, 0.0);
        }
    }

    fn offer(&mut self, entry: &Entry, requests: &mut Vec<Request>) {
        if let Some(list) = self.lists.get_mut(&entry.key) {
            if list.state != State::Fixed {
                list.state = State::Normal;
                self.order.set(entry.key, 0.0);
            }
            return;
        }
        let needed = blocks(entry.bytes);
        if efficiency(entry) < self.threshold || needed > self.dynamic {
            return;
        }
        let victims = self.victims(needed);
        let freed = victims.into_iter().flat_map(|victim| self.free(victim));
        let freed: Vec<Range<u64>> = freed.collect();
        let mut done = Vec::new();
        self.write(entry, State::Normal, &mut done);
        self.order.set(entry.key, 0.0);
        self.trim(&freed, &mut done);
        requests.append(&mut done);
    }

    fn remove(&mut self, key: Key, requests: &mut Vec<Request>) {
        let is_fixed = self.lists.get(&key).map(|list| list.state) == Some(State::Fixed);
        let freed = self.free(key);
        if is_fixed {
            self.dynamic += freed.iter().map(|run| run.end - run.start).sum::<u64>();
        }
        let mut trims = Vec::new();
        self.trim(&freed, &mut trims);
        requests.append(&mut trims);
    }

    #[cfg(test)]
    fn check(&self) {
        let mut dynamic = 0;
        for list in self.lists.values() {
            let blocks: u64 = list.runs.iter().map(|run| run.end - run.start).sum();
            assert_eq!(list.blocks, blocks, "a list has all its blocks");
            assert_eq!(list.pages.div_ceil(BLOCK_PAGES), blocks);
            dynamic += if list.state == State::Fixed {
                0
            } else {
                blocks
            };
        }
        assert_eq!(dynamic + self.space.free(), self.dynamic);
        let lists = self.lists.values();
        let dynamic = lists.filter(|list| list.state != State::Fixed);
        assert_eq!(dynamic.count(), self.order.len());
    }
}

#[cfg(test)]
mod tests {
    use gannet_ssd::Operation;

    use super::super::flash::tests::{entry, pages_of, reads_what_was_written};
    use super::*;

    /// A list of so many blocks.
    fn list(key: Key, blocks: u64) -> Entry {
        entry(key, blocks * BLOCK_PAGES, 9)
    }

    fn offered(flash: &mut ListBlocks, entry: Entry) -> Vec<Request> {
        let mut requests = Vec::new();
        flash.offer(&entry, &mut requests);
        flash.check();
        requests
    }

    #[test]
    fn it_reads_what_it_has_written() {
        let mut flash = ListBlocks::new(40, 0.0, 0.3);
        let mut requests = Vec::new();
        flash.fix(&[list(7, 3), list(8, 30), list(9, 1)], 5, &mut requests);
        assert!(flash.holds(7) && flash.holds(9) && !flash.holds(8));
        flash.remove(7, &mut requests);
        flash.remove(9, &mut requests);
        flash.check();
        reads_what_was_written(&mut flash, 40 * BLOCK_PAGES, |key| 1 + u64::from(key % 199));
    }

    #[test]
    fn victims_are_chosen_as_in_figure_13() {
        // C1 was used last, C10 longest ago; the window is C6 to C10, and C6 is replaceable.
        let sizes = [1, 3, 2, 6, 1, 2, 3, 2, 2, 1];
        let mut flash = ListBlocks::new(sizes.iter().sum(), 0.0, 0.5);
        for key in (1..=10).rev() {
            offered(&mut flash, list(key, sizes[key as usize - 1]));
        }
        flash.lists.get_mut(&6).unwrap().state = State::Replaceable;
        let mut leave = |newcomer: Key, blocks| {
            let before: Vec<Key> = (1..=10).filter(|key| flash.holds(*key)).collect();
            offered(&mut flash, list(newcomer, blocks));
            let left = before.into_iter().filter(|key| !flash.holds(*key));
            left.collect::<Vec<_>>()
        };
        assert_eq!(leave(11, 2), [6], "a replaceable one goes first");
        assert_eq!(leave(12, 3), [7], "then one of the same size");
        assert_eq!(leave(13, 4), [8, 9, 10], "then several");
        assert_eq!(leave(14, 6), [4], "then one from anywhere");
    }

    #[test]
    fn a_list_that_was_read_back_is_replaceable_and_not_written_again() {
        let mut flash = ListBlocks::new(4, 0.0, 1.0);
        assert_eq!(offered(&mut flash, list(1, 1)).len(), 1);
        assert_eq!(flash.lists[&1].state, State::Normal);
        flash.read(1, &mut Vec::new());
        assert_eq!(flash.lists[&1].state, State::Replaceable);
        assert_eq!(offered(&mut flash, list(1, 1)), [], "it is there");
        assert_eq!(flash.lists[&1].state, State::Normal);
    }

    #[test]
    fn what_is_below_the_threshold_is_discarded() {
        let mut flash = ListBlocks::new(9, 2.0, 1.0);
        assert_eq!(offered(&mut flash, entry(1, 5 * BLOCK_PAGES, 9)), []);
        assert_eq!(offered(&mut flash, entry(1, 4 * BLOCK_PAGES, 8)).len(), 1);
    }

    #[test]
    fn what_a_victim_leaves_over_is_trimmed() {
        let mut flash = ListBlocks::new(3, 0.0, 1.0);
        offered(&mut flash, list(1, 3));
        let requests = offered(&mut flash, list(2, 1));
        let trimmed = pages_of(&requests, Operation::Trim);
        assert_eq!(trimmed, (BLOCK_PAGES..3 * BLOCK_PAGES).collect::<Vec<_>>());
        assert_eq!(flash.space.free(), 2);
    }

    #[test]
    fn the_static_part_never_leaves() {
        let (mut flash, mut requests) = (ListBlocks::new(4, 0.0, 1.0), Vec::new());
        flash.fix(&[list(1, 2)], 2, &mut requests);
        for key in 2..20 {
            flash.read(1, &mut requests);
            offered(&mut flash, list(key, 1 + u64::from(key % 3)));
        }
        assert!(flash.holds(1));
    }
}
