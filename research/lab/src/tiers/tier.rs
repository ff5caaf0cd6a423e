//! A cache in memory over its part of flash: that of results, or that of lists.

use std::collections::HashMap;

use clap::ValueEnum;
use gannet_ssd::Request;

use super::{Cache, Entry, Flash, Key};

/// What flash holds of what memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scheme {
    /// All of it: an entry is written when it enters memory.
    Inclusive,
    /// Nothing of it: an entry is removed from flash when it is read to memory.
    Exclusive,
    /// Some: an entry is offered to flash when memory evicts it, and stays there when it is read.
    Hybrid,
}

/// Where an entry was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// In memory.
    Memory,
    /// In the write buffer, which is in memory too, on its way to flash.
    Buffer,
    /// On flash.
    Flash,
    /// Nowhere, or only too old.
    Nowhere,
}

/// Both levels.
#[derive(Debug)]
pub struct Tier {
    cache: Cache,
    flash: Box<dyn Flash>,
    scheme: Scheme,
    /// The page at which its part of flash begins.
    base: u64,
    /// Queries after which an entry is too old.
    ttl: Option<u64>,
    /// When each entry was read from the slow store, if that matters.
    since: HashMap<Key, u64>,
}

impl Tier {
    /// A tier whose part of flash begins at a page.
    pub fn new(
        cache: Cache,
        flash: Box<dyn Flash>,
        scheme: Scheme,
        base: u64,
        ttl: Option<u64>,
    ) -> Tier {
        Tier {
            cache,
            flash,
            scheme,
            base,
            ttl,
            since: HashMap::new(),
        }
    }

    /// Whether it has room for nothing at all in memory.
    pub fn is_off(&self) -> bool {
        self.cache.capacity() == 0
    }

    /// Whether memory holds an entry, or its beginning.
    pub fn is_in_memory(&self, key: Key) -> bool {
        self.cache.held(key) > 0
    }

    /// Whether flash holds an entry.
    pub fn is_on_flash(&self, key: Key) -> bool {
        self.flash.holds(key)
    }

    /// Looks an entry up in memory and then on flash, where it is read. Of a list that was cached
    /// before, fewer bytes may be there than the entry has: gives how many there are.
    pub fn ask(&mut self, entry: &Entry, now: u64, requests: &mut Vec<Request>) -> (Found, u64) {
        let first = requests.len();
        self.expire(entry.key, now, requests);
        let memory = self.cache.held(entry.key);
        let flash = self.flash.held(entry.key);
        let found = if memory >= entry.bytes && self.cache.ask(entry) {
            (Found::Memory, memory)
        } else if flash > memory {
            self.read(entry, memory, requests)
        } else if memory > 0 {
            (Found::Memory, memory)
        } else {
            (Found::Nowhere, 0)
        };
        self.place(requests, first);
        found
    }

    /// Takes an entry into memory that was not there, or more of one. What leaves memory is offered
    /// to flash.
    pub fn keep(&mut self, entry: Entry, found: Found, now: u64, requests: &mut Vec<Request>) {
        let first = requests.len();
        if found == Found::Nowhere && self.ttl.is_some() {
            self.since.insert(entry.key, now);
        }
        if self.scheme == Scheme::Inclusive {
            self.flash.offer(&entry, requests);
        }
        for gone in self.cache.admit(entry) {
            if self.scheme != Scheme::Inclusive {
                self.flash.offer(&gone, requests);
            }
        }
        self.place(requests, first);
    }

    /// Reads what flash has of an entry beyond what memory has. What is removed is read as a whole.
    fn read(&mut self, entry: &Entry, memory: u64, requests: &mut Vec<Request>) -> (Found, u64) {
        let first = requests.len();
        let held = self.flash.held(entry.key);
        let end = match self.scheme {
            Scheme::Exclusive if held < u64::MAX => held,
            _ => held.min(entry.bytes),
        };
        self.flash.read_part(entry.key, memory..end, requests);
        let is_read = requests.len() > first;
        if self.scheme == Scheme::Exclusive {
            self.flash.remove(entry.key, requests);
        }
        if is_read {
            (Found::Flash, end)
        } else {
            (Found::Buffer, end)
        }
    }

    fn expire(&mut self, key: Key, now: u64, requests: &mut Vec<Request>) {
        let Some(ttl) = self.ttl else {
            return;
        };
        if self.since.get(&key).is_some_and(|since| since + ttl < now) {
            self.since.remove(&key);
            self.cache.remove(key);
            self.flash.remove(key, requests);
        }
    }

    /// Moves requests from `first` on to where the part of flash begins.
    fn place(&self, requests: &mut [Request], first: usize) {
        for request in &mut requests[first..] {
            request.page += self.base;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flash::tests::entry;
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::super::shared::{Admission, Shared};
    use super::super::{Direct, Log, Lru};
    use super::*;

    fn tier(scheme: Scheme, ttl: Option<u64>) -> Tier {
        let cache = Cache::new(2 * 4096, Box::<Lru>::default());
        Tier::new(cache, Box::new(Direct::new(10)), scheme, 100, ttl)
    }

    /// Asks for entries of a page; gives where each was found, and the requests.
    fn ask(tier: &mut Tier, keys: &[Key]) -> (Vec<Found>, Vec<Request>) {
        let mut requests = Vec::new();
        let mut found = Vec::new();
        for (now, key) in keys.iter().enumerate() {
            let entry = entry(*key, 1, 1);
            found.push(tier.ask(&entry, now as u64, &mut requests).0);
            if found.last() != Some(&Found::Memory) {
                tier.keep(entry, found[now], now as u64, &mut requests);
            }
        }
        (found, requests)
    }

    use Found::{Flash, Memory, Nowhere};

    #[test]
    fn hybrid_writes_what_memory_evicts_and_keeps_what_is_read() {
        let mut tier = tier(Scheme::Hybrid, None);
        let (found, requests) = ask(&mut tier, &[1, 2, 2, 3, 1]);
        assert_eq!(found, [Nowhere, Nowhere, Memory, Nowhere, Flash]);
        let write = |page| Request::write(page, 1);
        assert_eq!(requests, [write(100), Request::read(100, 1), write(101)]);
        assert!(tier.is_on_flash(1));
    }

    #[test]
    fn inclusive_writes_what_enters() {
        let mut tier = tier(Scheme::Inclusive, None);
        let (found, requests) = ask(&mut tier, &[1, 2, 3, 1]);
        assert_eq!(found[3], Flash);
        let writes: Vec<Request> = (100..103).map(|page| Request::write(page, 1)).collect();
        assert_eq!((&requests[..3], requests.len()), (&writes[..], 4));
    }

    #[test]
    fn exclusive_removes_what_is_read() {
        let mut tier = tier(Scheme::Exclusive, None);
        ask(&mut tier, &[1, 2, 3, 1]);
        assert!(!tier.is_on_flash(1) && tier.is_on_flash(2));
    }

    #[test]
    fn of_a_list_that_has_grown_the_rest_is_read() {
        let log = Rc::new(RefCell::new(Log::new(9, 0)));
        let flash = Box::new(Shared::new(&log, 1, Admission::All));
        let cache = Cache::new(40 * 4096, Box::<Lru>::default());
        let mut tier = Tier::new(cache, flash, Scheme::Hybrid, 0, None);
        let mut requests = Vec::new();
        for (key, pages) in [(1, 32), (2, 40)] {
            tier.keep(entry(key, pages, 1), Nowhere, 0, &mut requests);
        }
        assert_eq!(
            requests,
            [Request::write(0, 32)],
            "the first one is on flash alone"
        );
        requests.clear();
        let mut ask = |pages| {
            let (found, held) = tier.ask(&entry(1, pages, 1), 0, &mut requests);
            tier.keep(
                entry(1, pages.min(held / 4096), 1),
                found,
                0,
                &mut Vec::new(),
            );
            (found, held / 4096)
        };
        assert_eq!(
            [ask(4), ask(3), ask(10), ask(35)],
            [(Flash, 4), (Memory, 4), (Flash, 10), (Flash, 32)]
        );
        let read = [
            Request::read(0, 4),
            Request::read(4, 6),
            Request::read(10, 22),
        ];
        assert_eq!(requests, read);
    }

    #[test]
    fn what_is_too_old_is_read_anew() {
        let mut tier = tier(Scheme::Hybrid, Some(2));
        let (found, _) = ask(&mut tier, &[1, 1, 1, 1, 1, 2, 3, 4, 1]);
        assert_eq!(found[..5], [Nowhere, Memory, Memory, Nowhere, Memory]);
        assert_eq!(found[8], Nowhere, "flash has it, too old");
    }
}
