//! What a tier asks its part of flash.

use std::ops::Range;

use gannet_ssd::{PAGE_BYTES, Request};

use super::{Entry, Key};

/// Bytes of an erase block in the paper, S_B.
pub const BLOCK_BYTES: u64 = 128 << 10;

/// Pages of the host of an erase block.
pub const BLOCK_PAGES: u64 = BLOCK_BYTES / PAGE_BYTES as u64;

/// Pages that bytes take.
pub fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(u64::from(PAGE_BYTES))
}

/// Erase blocks that bytes take: S_C of the paper, whose bytes are S_I * P_U.
pub fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES)
}

/// Which entries are on flash, and where.
///
/// It adds what the drive has to do to `requests`, with pages counted from the beginning of this
/// part. Everything is static in content, so an entry that is held is never written again.
pub trait Flash: std::fmt::Debug {
    /// Whether it holds an entry.
    fn holds(&self, key: Key) -> bool;

    /// Reads an entry that it holds into memory. What still waits in memory to be written needs no
    /// requests.
    fn read(&mut self, key: Key, requests: &mut Vec<Request>);

    /// Bytes that it holds from the beginning of an entry. Where parts cannot be held, an entry
    /// that is there counts as whole.
    fn held(&self, key: Key) -> u64 {
        if self.holds(key) { u64::MAX } else { 0 }
    }

    /// Reads a part of an entry that it holds. Where parts cannot be read, this reads all of it.
    fn read_part(&mut self, key: Key, _: Range<u64>, requests: &mut Vec<Request>) {
        self.read(key, requests);
    }

    /// Memory evicts an entry: it is written, or kept if it is held, or discarded.
    fn offer(&mut self, entry: &Entry, requests: &mut Vec<Request>);

    /// Removes an entry, if it is held.
    fn remove(&mut self, key: Key, requests: &mut Vec<Request>);

    /// Panics unless its parts agree with each other.
    #[cfg(test)]
    fn check(&self);
}

/// Battery of tests that every implementation passes.
#[cfg(test)]
pub mod tests {
    use std::collections::{HashMap, HashSet};

    use gannet_ssd::Operation;

    use super::*;
    use crate::random::Random;

    /// An entry of so many pages that was asked for so often.
    pub fn entry(key: Key, pages: u64, asked: u32) -> Entry {
        Entry {
            key,
            bytes: pages * u64::from(PAGE_BYTES),
            asked,
            again: 1.0,
        }
    }

    /// The pages of requests of a kind.
    pub fn pages_of(requests: &[Request], operation: Operation) -> Vec<u64> {
        let same = requests
            .iter()
            .filter(|request| request.operation == operation);
        same.flat_map(|request| request.page..request.page + u64::from(request.pages))
            .collect()
    }

    /// Offers, reads and removes entries at random; the content of the drive is modelled page by
    /// page, so that each read gives what was written for its key.
    ///
    /// `size` gives the pages of a key. A write is known to be that of the entries of which a read
    /// expects it: the pages that a read names must have been written since the entry was offered.
    pub fn reads_what_was_written(flash: &mut dyn Flash, limit: u64, size: impl Fn(Key) -> u64) {
        let mut random = Random::new(3, "flash");
        let mut written: HashMap<u64, usize> = HashMap::new();
        let mut owner: HashMap<u64, (Key, usize)> = HashMap::new();
        for time in 0..20_000 {
            let key = random.below(200).min(random.below(200)) as Key;
            let mut requests = Vec::new();
            match random.below(20) {
                0 => {
                    flash.remove(key, &mut requests);
                    assert!(!flash.holds(key));
                }
                _ if flash.holds(key) => {
                    flash.read(key, &mut requests);
                    let read = pages_of(&requests, Operation::Read);
                    // The rest waits in memory.
                    assert!(read.len() as u64 <= size(key), "{key}");
                    let distinct: HashSet<&u64> = read.iter().collect();
                    assert_eq!(distinct.len(), read.len(), "no page twice");
                    for page in &read {
                        let at = written.get(page).expect("a page that is read was written");
                        // Nobody else has read the page since it was written.
                        let (whose, since) = *owner.entry(*page).or_insert((key, *at));
                        assert!(since != *at || whose == key, "page {page} of {key}");
                        owner.insert(*page, (key, *at));
                    }
                }
                _ => flash.offer(
                    &entry(key, size(key), 1 + random.below(9) as u32),
                    &mut requests,
                ),
            }
            reads_before_it_writes(&requests);
            for page in pages_of(&requests, Operation::Write) {
                written.insert(page, time);
                owner.remove(&page);
            }
            for page in pages_of(&requests, Operation::Trim) {
                written.remove(&page);
                owner.remove(&page);
            }
            let last = requests
                .iter()
                .map(|request| request.page + u64::from(request.pages));
            assert!(last.max().unwrap_or(0) <= limit, "within the part");
            flash.check();
        }
    }

    /// No page is read behind a write of it in the same batch: what stood there is gone.
    fn reads_before_it_writes(requests: &[Request]) {
        for (at, request) in requests.iter().enumerate() {
            let written: HashSet<u64> = pages_of(&requests[..at], Operation::Write)
                .into_iter()
                .collect();
            let read = pages_of(&[*request], Operation::Read);
            assert!(read.iter().all(|page| !written.contains(page)));
        }
    }
}
