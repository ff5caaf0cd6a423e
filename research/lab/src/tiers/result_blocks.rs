//! CBLRU's and CBSLRU's results on flash: result blocks (RB) of an erase block each.
//!
//! - A write buffer in memory collects evicted results until they fill a block, which is then
//!   written as a whole. The paper's block of 128 KB and its flag of eight bits do not agree with
//!   results of 20 KB: six fit.
//! - Each block has a bitmap of the results that are valid. A result that was read back to memory
//!   is replaceable; one that expired is invalid. IREN counts both, and empty places.
//! - A result that is evicted while its replaceable copy is there is not written again.
//! - A result is written if it was asked for at least T_EV times: its size is one block at most.
//! - The blocks stand in LRU order. Its colder end is the replace-first region: the window W. The
//!   block of the window with the largest IREN is overwritten; its other results are lost.

use std::collections::HashMap;

use gannet_ssd::Request;

use super::efficiency::{efficiency, window_of};
use super::flash::{BLOCK_PAGES, Flash};
use super::{Entry, Key, Ranked};

/// A result block.
#[derive(Clone, Debug, Default)]
struct Block {
    /// The results by place.
    keys: Vec<Key>,
    /// A bit for each place whose result is valid.
    valid: u32,
    /// A bit for each valid place whose result was read back to memory.
    replaceable: u32,
}

/// The result blocks, and the write buffer.
#[derive(Debug)]
pub struct ResultBlocks {
    threshold: f64,
    window: f64,
    /// Pages of a result, and results of a block.
    pages: u64,
    places: usize,
    blocks: Vec<Block>,
    free: Vec<u32>,
    /// Written blocks of the dynamic part in LRU order.
    order: Ranked,
    /// The block and place of each result.
    results: HashMap<Key, (u32, usize)>,
    buffer: Vec<Key>,
}

impl Block {
    fn iren(&self, places: usize) -> u32 {
        places as u32 - (self.valid & !self.replaceable).count_ones()
    }
}

impl ResultBlocks {
    /// So many blocks, for results of so many pages, with a threshold T_EV and the share of the
    /// blocks that is the window W.
    pub fn new(blocks: u64, pages: u64, threshold: f64, window: f64) -> ResultBlocks {
        ResultBlocks {
            threshold,
            window,
            pages,
            places: (BLOCK_PAGES / pages.max(1)) as usize,
            blocks: vec![Block::default(); blocks as usize],
            free: (0..blocks as u32).rev().collect(),
            order: Ranked::default(),
            results: HashMap::new(),
            buffer: Vec::new(),
        }
    }

    /// Writes results into the static part, in order, as far as they fit into `limit` blocks.
    pub fn fix(&mut self, entries: &[Entry], limit: u64, requests: &mut Vec<Request>) {
        for some in entries.chunks(self.places.max(1)).take(limit as usize) {
            if let Some(block) = self.free.pop() {
                let keys = some.iter().map(|entry| entry.key).collect();
                self.write(block, keys, requests);
            }
        }
    }

    fn write(&mut self, block: u32, keys: Vec<Key>, requests: &mut Vec<Request>) {
        for (place, key) in keys.iter().enumerate() {
            self.results.insert(*key, (block, place));
        }
        let first = u64::from(block) * BLOCK_PAGES;
        requests.push(Request::write(first, BLOCK_PAGES as u32));
        self.blocks[block as usize] = Block {
            valid: (1 << keys.len()) - 1,
            replaceable: 0,
            keys,
        };
    }

    /// Writes the buffer to a free block, or over the victim.
    fn flush(&mut self, requests: &mut Vec<Request>) {
        let keys = std::mem::take(&mut self.buffer);
        let Some(block) = self.free.pop().or_else(|| self.overwritten()) else {
            return;
        };
        self.write(block, keys, requests);
        self.order.set(block, 0.0);
    }

    /// The block of the window with the largest IREN, the coldest of these; its results are lost.
    fn overwritten(&mut self) -> Option<u32> {
        let window = window_of(self.window, self.order.len());
        let candidates: Vec<u32> = self.order.iter().take(window).collect();
        let iren = |block: &u32| self.blocks[*block as usize].iren(self.places);
        let victim = candidates.into_iter().rev().max_by_key(iren)?;
        self.order.remove(victim);
        let block = std::mem::take(&mut self.blocks[victim as usize]);
        for (place, key) in block.keys.into_iter().enumerate() {
            if block.valid & (1 << place) != 0 {
                self.results.remove(&key);
            }
        }
        Some(victim)
    }
}

impl Flash for ResultBlocks {
    fn holds(&self, key: Key) -> bool {
        self.results.contains_key(&key) || self.buffer.contains(&key)
    }

    fn read(&mut self, key: Key, requests: &mut Vec<Request>) {
        self.buffer.retain(|waiting| *waiting != key);
        let Some(&(block, place)) = self.results.get(&key) else {
            return;
        };
        let page = u64::from(block) * BLOCK_PAGES + place as u64 * self.pages;
        requests.push(Request::read(page, self.pages as u32));
        if self.order.remove(block) {
            self.order.set(block, 0.0);
            self.blocks[block as usize].replaceable |= 1 << place;
        }
    }

    fn offer(&mut self, entry: &Entry, requests: &mut Vec<Request>) {
        if let Some(&(block, place)) = self.results.get(&entry.key) {
            self.blocks[block as usize].replaceable &= !(1 << place);
            return;
        }
        let is_wanted = efficiency(entry) >= self.threshold && self.places > 0;
        if is_wanted && !self.buffer.contains(&entry.key) {
            self.buffer.push(entry.key);
            if self.buffer.len() == self.places {
                self.flush(requests);
            }
        }
    }

    fn remove(&mut self, key: Key, requests: &mut Vec<Request>) {
        self.buffer.retain(|waiting| *waiting != key);
        let Some((number, place)) = self.results.remove(&key) else {
            return;
        };
        let block = &mut self.blocks[number as usize];
        block.valid &= !(1 << place);
        block.replaceable &= block.valid;
        if block.valid == 0 {
            *block = Block::default();
            self.order.remove(number);
            self.free.push(number);
            let first = u64::from(number) * BLOCK_PAGES;
            requests.push(Request::trim(first, BLOCK_PAGES as u32));
        }
    }

    #[cfg(test)]
    fn check(&self) {
        let valid: u32 = self
            .blocks
            .iter()
            .map(|block| block.valid.count_ones())
            .sum();
        assert_eq!(valid as usize, self.results.len());
        for (key, (block, place)) in &self.results {
            let block = &self.blocks[*block as usize];
            assert_eq!(block.keys[*place], *key);
            assert!(block.valid & (1 << place) != 0);
            assert_eq!(block.replaceable & !block.valid, 0);
        }
        assert!(self.buffer.len() < self.places);
        assert!(self.order.len() + self.free.len() <= self.blocks.len());
        assert!(
            self.buffer
                .iter()
                .all(|key| !self.results.contains_key(key))
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::flash::tests::{entry, reads_what_was_written};
    use super::*;

    fn offer(flash: &mut ResultBlocks, keys: std::ops::Range<Key>) -> Vec<Request> {
        let mut requests = Vec::new();
        for key in keys {
            flash.offer(&entry(key, 5, 2), &mut requests);
            flash.check();
        }
        requests
    }

    #[test]
    fn it_reads_what_it_has_written() {
        let mut flash = ResultBlocks::new(9, 5, 0.0, 0.3);
        let fixed: Vec<Entry> = (300..307).map(|key| entry(key, 5, 9)).collect();
        flash.fix(&fixed, 2, &mut Vec::new());
        reads_what_was_written(&mut flash, 9 * BLOCK_PAGES, |_| 5);
        assert!(fixed.iter().all(|entry| flash.holds(entry.key)), "static");
    }

    #[test]
    fn six_results_are_one_write() {
        let mut flash = ResultBlocks::new(2, 5, 0.0, 1.0);
        assert_eq!(offer(&mut flash, 0..5), []);
        assert_eq!(offer(&mut flash, 5..7), [Request::write(0, 32)]);
        assert_eq!(flash.buffer, [6]);
        let mut requests = Vec::new();
        flash.read(6, &mut requests);
        assert_eq!(requests, [], "the write buffer is in memory");
        flash.read(3, &mut requests);
        assert_eq!(requests, [Request::read(15, 5)]);
        assert_eq!(flash.blocks[0].replaceable, 0b1000);
        assert_eq!(flash.blocks[0].iren(6), 1);
        assert_eq!(offer(&mut flash, 3..4), [], "its replaceable copy is there");
        assert_eq!(flash.blocks[0].replaceable, 0);
    }

    #[test]
    fn the_block_with_the_largest_iren_of_the_window_is_overwritten() {
        let mut flash = ResultBlocks::new(4, 5, 0.0, 0.5);
        offer(&mut flash, 0..24);
        let mut requests = Vec::new();
        // Two of the window's blocks, and all of one outside, were read back; order 2, 3, 0, 1.
        [0, 1]
            .iter()
            .for_each(|key| flash.read(*key, &mut requests));
        (6..12).for_each(|key| flash.read(key, &mut requests));
        flash.blocks[3].replaceable = 0b111;
        assert_eq!(offer(&mut flash, 30..36), [Request::write(3 * 32, 32)]);
        assert!(
            !flash.holds(18) && flash.holds(12),
            "block 2 is colder, with IREN 0"
        );
    }

    #[test]
    fn the_threshold_holds_for_results_too() {
        let mut flash = ResultBlocks::new(4, 5, 3.0, 0.5);
        offer(&mut flash, 0..24);
        assert!(
            !flash.holds(0),
            "asked for twice, and three times are needed"
        );
    }
}
