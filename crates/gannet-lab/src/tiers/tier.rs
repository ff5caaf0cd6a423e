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

    /// Whether flash holds an entry.
    pub fn is_on_flash(&self, key: Key) -> bool {
        self.flash.holds(key)
    }

    /// Looks an entry up in memory and then on flash, where it is read.
    pub fn ask(&mut self, entry: &Entry, now: u64, requests: &mut Vec<Request>) -> Found {
        let first = requests.len();
        self.expire(entry.key, now, requests);
        let found = if self.cache.ask(entry) {
            Found::Memory
        } else if self.flash.holds(entry.key) {
            self.read(entry.key, requests)
        } else {
            Found::Nowhere
        };
        self.place(requests, first);
        found
    }

    /// Takes an entry into memory that was not there. What leaves memory is offered to flash.
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

    fn read(&mut self, key: Key, requests: &mut Vec<Request>) -> Found {
        let first = requests.len();
        self.flash.read(key, requests);
        let is_read = requests.len() > first;
        if self.scheme == Scheme::Exclusive {
            self.flash.remove(key, requests);
        }
        match is_read {
            true => Found::Flash,
            false => Found::Buffer,
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
    use super::super::{Direct, Lru};
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
            found.push(tier.ask(&entry, now as u64, &mut requests));
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
    fn what_is_too_old_is_read_anew() {
        let mut tier = tier(Scheme::Hybrid, Some(2));
        let (found, _) = ask(&mut tier, &[1, 1, 1, 1, 1, 2, 3, 4, 1]);
        assert_eq!(found[..5], [Nowhere, Memory, Memory, Nowhere, Memory]);
        assert_eq!(found[8], Nowhere, "flash has it, too old");
    }
}
