//! The policies that are compared, each a pair of tiers with the values it is tuned by.

use std::cell::RefCell;
use std::rc::Rc;

use clap::ValueEnum;
use gannet_ssd::Request;
use serde_json::{Value, json};

use super::efficiency::efficiency;
use super::flash::{BLOCK_BYTES, BLOCK_PAGES, pages};
use super::ghost::Ghost;
use super::learned::Statistic;
use super::shared::{Admission, Shared};
use super::{
    Cache, Direct, Efficiency, Entry, Flash, GreedyDual, Key, Learned, ListBlocks, Log, Lru,
    Policy, ResultBlocks, Scheme, Tier, Workload,
};

/// Bytes of a result in the paper: 50 documents of 400 bytes.
pub const RESULT_BYTES: u64 = 50 * 400;

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// LRU in memory and on flash, whole lists: the paper's baseline
    Lru,
    /// The same with the used prefixes of lists
    LruPartial,
    /// The same with parts of lists that grow, and are read in part
    LruGrows,
    /// Cost-based LRU, as printed
    Cblru,
    /// Cost-based LRU with a static part
    Cbslru,
    /// The lab's own, not the engine's: GDSF, parts of lists that grow, a log with an admission
    Gannet,
    /// The same without an admission: all that memory evicts is written
    GannetAll,
}

/// What a policy is tuned by. Each uses some of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuned {
    /// P_U: what prefix of a list is cached.
    pub statistic: Statistic,
    /// T_EV.
    pub threshold: f64,
    /// W, as a share of the entries.
    pub window: f64,
    /// The static part, as a share of flash.
    pub fixed: f64,
    /// Bytes that the ghost list remembers, as a multiple of flash.
    pub ghost: f64,
    /// Bytes up to which a list is written without it.
    pub small: u64,
    /// Whether results are written without it.
    pub admits_results: bool,
    /// Bytes up to which an entry that was read is kept when the log comes round.
    pub keeps: u64,
}

/// Bytes in memory, and blocks on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of results in memory.
    pub memory_results: u64,
    /// Of lists in memory.
    pub memory_lists: u64,
    /// Of results on flash.
    pub flash_results: u64,
    /// Of lists on flash.
    pub flash_lists: u64,
}

/// How the tiers are made.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The policy.
    pub name: Name,
    /// Its values.
    pub tuned: Tuned,
    /// How large the tiers are.
    pub sizes: Sizes,
    /// What flash holds of what memory holds.
    pub scheme: Scheme,
    /// Queries after which an entry is too old.
    pub ttl: Option<u64>,
}

/// What tuning chose at most capacities; for runs that are not tuned.
impl Default for Tuned {
    fn default() -> Tuned {
        Tuned {
            statistic: Statistic::Mean,
            threshold: 2.0,
            window: 0.1,
            fixed: 0.75,
            ghost: 0.25,
            small: 32 << 10,
            admits_results: false,
            keeps: 128 << 10,
        }
    }
}

impl Tuned {
    /// The values that a policy uses.
    pub fn to_json(self, name: Name) -> Value {
        let prefix = format!("{:?}", self.statistic).to_lowercase();
        match name {
            Name::Lru => json!({}),
            Name::LruPartial | Name::LruGrows => json!({ "prefix": prefix }),
            Name::Cblru => {
                json!({ "prefix": prefix, "threshold": self.threshold, "window": self.window })
            }
            Name::Cbslru => json!({
                "prefix": prefix, "threshold": self.threshold, "window": self.window,
                "static": self.fixed,
            }),
            Name::Gannet => json!({
                "prefix": prefix, "ghost": self.ghost, "small": self.small,
                "admits_results": self.admits_results,
            }),
            Name::GannetAll => json!({ "prefix": prefix, "keeps": self.keeps }),
        }
    }
}

impl Sizes {
    /// Splits a memory of `bytes`: a share goes to results. Flash is a multiple of each part.
    pub fn split(bytes: u64, results: f64, flash_results: f64, flash_lists: f64) -> Sizes {
        let memory_results = (bytes as f64 * results) as u64;
        let memory_lists = bytes - memory_results;
        let blocks = |bytes: u64, multiple: f64| (bytes as f64 * multiple) as u64 / BLOCK_BYTES;
        Sizes {
            memory_results,
            memory_lists,
            flash_results: blocks(memory_results, flash_results),
            flash_lists: blocks(memory_lists, flash_lists),
        }
    }

    /// Bytes on flash.
    pub fn flash_bytes(&self) -> u64 {
        (self.flash_results + self.flash_lists) * BLOCK_BYTES
    }
}

impl Settings {
    /// Whether lists are cached as a whole.
    pub fn caches_whole_lists(&self) -> bool {
        self.name == Name::Lru
    }

    /// Whether the cached part of a list grows with what queries use of it.
    pub fn grows(&self) -> bool {
        self.name == Name::LruGrows || self.is_gannets()
    }

    fn is_gannets(&self) -> bool {
        matches!(self.name, Name::Gannet | Name::GannetAll)
    }

    /// The tiers of results and of lists. What the static parts need is added to `requests`.
    pub fn tiers(
        &self,
        workload: &Workload,
        learned: &Learned,
        requests: &mut Vec<Request>,
    ) -> (Tier, Tier) {
        let sizes = self.sizes;
        if self.is_gannets() {
            return self.shared();
        }
        let results = Cache::new(sizes.memory_results, self.result_order());
        let lists = Cache::new(sizes.memory_lists, self.list_order());
        let base = sizes.flash_results * BLOCK_PAGES;
        let flash_results = self.flash_results(learned, requests);
        let first = requests.len();
        let flash_lists = self.flash_lists(workload, learned, requests);
        requests[first..]
            .iter_mut()
            .for_each(|request| request.page += base);
        (
            Tier::new(results, flash_results, self.scheme, 0, self.ttl),
            Tier::new(lists, flash_lists, self.scheme, base, self.ttl),
        )
    }

    /// Tiers over one log. The block that the log fills takes its memory from lists.
    fn shared(&self) -> (Tier, Tier) {
        let blocks = self.sizes.flash_results + self.sizes.flash_lists;
        let filled = if blocks > 0 { BLOCK_BYTES } else { 0 };
        let memory_lists = self.sizes.memory_lists.saturating_sub(filled);
        let results = Cache::new(self.sizes.memory_results, self.result_order());
        let lists = Cache::new(memory_lists, self.list_order());
        let log = Rc::new(RefCell::new(Log::new(blocks, self.tuned.keeps)));
        let tier = |cache, class, small| {
            let flash = Box::new(Shared::new(&log, class, self.admission(small)));
            Tier::new(cache, flash, self.scheme, 0, self.ttl)
        };
        let small_results = if self.tuned.admits_results {
            RESULT_BYTES
        } else {
            0
        };
        (
            tier(results, 0, small_results),
            tier(lists, 1, self.tuned.small),
        )
    }

    fn result_order(&self) -> Box<dyn Policy> {
        match self.name {
            Name::Gannet | Name::GannetAll => Box::<GreedyDual>::default(),
            _ => Box::<Lru>::default(),
        }
    }

    fn list_order(&self) -> Box<dyn Policy> {
        match self.name {
            Name::Lru | Name::LruPartial | Name::LruGrows => Box::<Lru>::default(),
            Name::Cblru | Name::Cbslru => Box::new(Efficiency::new(self.tuned.window)),
            Name::Gannet | Name::GannetAll => Box::<GreedyDual>::default(),
        }
    }

    fn flash_results(&self, learned: &Learned, requests: &mut Vec<Request>) -> Box<dyn Flash> {
        let (blocks, tuned) = (self.sizes.flash_results, self.tuned);
        let pages = pages(RESULT_BYTES);
        match self.name {
            Name::Cblru | Name::Cbslru => {
                let mut flash = ResultBlocks::new(blocks, pages, tuned.threshold, tuned.window);
                flash.fix(&best_results(learned), self.fixed(blocks), requests);
                Box::new(flash)
            }
            _ => Box::new(Direct::new(blocks * BLOCK_PAGES)),
        }
    }

    fn flash_lists(
        &self,
        workload: &Workload,
        learned: &Learned,
        requests: &mut Vec<Request>,
    ) -> Box<dyn Flash> {
        let (blocks, tuned) = (self.sizes.flash_lists, self.tuned);
        match self.name {
            Name::Cblru | Name::Cbslru => {
                let mut flash = ListBlocks::new(blocks, tuned.threshold, tuned.window);
                let best = best_lists(workload, learned);
                flash.fix(&best, self.fixed(blocks), requests);
                Box::new(flash)
            }
            _ => Box::new(Direct::new(blocks * BLOCK_PAGES)),
        }
    }

    fn admission(&self, small: u64) -> Admission {
        let ghost = self.tuned.ghost * self.sizes.flash_bytes() as f64;
        match self.name {
            Name::GannetAll => Admission::All,
            _ => Admission::Second(Ghost::new(ghost as u64), small),
        }
    }

    /// Blocks of the static part.
    fn fixed(&self, blocks: u64) -> u64 {
        match self.name {
            Name::Cbslru => (self.tuned.fixed * blocks as f64) as u64,
            _ => 0,
        }
    }
}

/// The results that were asked for most.
fn best_results(learned: &Learned) -> Vec<Entry> {
    let entries = learned.queries.iter();
    best(entries.map(|(key, asked)| entry(*key, RESULT_BYTES, *asked)))
}

/// The lists of the highest efficiency value.
fn best_lists(workload: &Workload, learned: &Learned) -> Vec<Entry> {
    let entries = learned.terms.iter().map(|(term, asked)| {
        let whole = workload.lists[*term as usize];
        entry(*term, learned.known_prefix(*term).min(whole), *asked)
    });
    best(entries)
}

fn best(entries: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = entries.collect();
    let order = |entry: &Entry| (efficiency(entry), std::cmp::Reverse(entry.key));
    entries.sort_by(|left, right| {
        let (left, right) = (order(left), order(right));
        right.0.total_cmp(&left.0).then(right.1.cmp(&left.1))
    });
    entries
}

fn entry(key: Key, bytes: u64, asked: u32) -> Entry {
    Entry {
        key,
        bytes,
        asked,
        again: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::workload::tests::workload;
    use super::*;

    #[test]
    fn memory_and_flash_are_split_as_the_paper_has_it() {
        let sizes = Sizes::split(20_000_000, 0.2, 10.0, 100.0);
        assert_eq!(
            (sizes.memory_results, sizes.memory_lists),
            (4_000_000, 16_000_000)
        );
        assert_eq!(sizes.flash_results, 40_000_000 / BLOCK_BYTES);
        assert_eq!(sizes.flash_lists, 1_600_000_000 / BLOCK_BYTES);
    }

    #[test]
    fn the_static_part_takes_the_most_efficient_lists() {
        let workload = workload(&[1, 4, 1], &[&[0], &[1], &[2]], &[0, 1, 1, 1, 2, 2]);
        let learned = Learned::from(&workload, &workload.asked, Statistic::Mean);
        let keys = |entries: Vec<Entry>| entries.iter().map(|entry| entry.key).collect::<Vec<_>>();
        assert_eq!(keys(best_lists(&workload, &learned)), [2, 0, 1]);
        assert_eq!(keys(best_results(&learned)), [1, 2, 0]);
    }
}
