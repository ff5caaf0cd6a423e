//! Queries through both tiers, with a modelled drive under the caches and a slow store behind them.
//!
//! A query looks its result up, then its lists. It reads from flash, then from the slow store, each
//! in one batch; then it waits for what its evictions write to flash, since memory is needed for
//! what it has read. The devices do nothing else, so that a query's time is its own.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gannet_ssd::{Disk, Drive, Medium, Nanos, PAGE_BYTES, Profile, Request};

use super::figures::{Answer, Figures, Flashed};
use super::flash::pages;
use super::policies::{RESULT_BYTES, Settings};
use super::prices::Price;
use super::tier::{Found, Tier};
use super::workload::Use;
use super::{Entry, Key, Learned, Workload};
use crate::Outcome;

/// The least drive that is made, for caches that hardly use flash.
const DRIVE_BYTES_MIN: u64 = 16 << 20;

/// Where the index lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slow {
    /// On a disk.
    Disk(gannet_ssd::DiskProfile),
    /// On a drive of its own, of the profile that the cache's has.
    Drive,
}

/// All that a run needs.
pub struct System<'a> {
    workload: &'a Workload,
    settings: Settings,
    learned: Learned,
    results: Tier,
    lists: Tier,
    drive: Drive,
    slow: Medium,
    flash_price: Price,
    slow_price: Price,
    /// The first page of each list in the slow store.
    places: Vec<u64>,
    /// How often each query and each term was asked for so far.
    queries_asked: HashMap<Key, u32>,
    terms_asked: HashMap<Key, u32>,
    /// What reading the lists of each query took when its result was made last.
    result_prices: HashMap<Key, f64>,
    flashed: Flashed,
    now: u64,
    cpu: Duration,
    requests: Vec<Request>,
    slow_requests: Vec<Request>,
}

/// Which of the levels a query has read lists from.
#[derive(Clone, Copy, Debug, Default)]
struct Sources {
    memory: bool,
    flash: bool,
    slow: bool,
}

impl Sources {
    /// The number in table I.
    fn situation(self) -> usize {
        match (self.memory, self.flash, self.slow) {
            (true, false, false) => 2,
            (true, true, false) => 4,
            (false, true, false) => 5,
            (true, true, true) => 6,
            (true, false, true) => 7,
            (false, true, true) => 8,
            (false, false, _) => 9,
        }
    }
}

impl<'a> System<'a> {
    /// Empty caches, but for static parts, which take no time.
    pub fn new(
        workload: &'a Workload,
        settings: Settings,
        learned: Learned,
        profile: &Profile,
        slow: Slow,
    ) -> Outcome<System<'a>> {
        let bytes = settings.sizes.flash_bytes().max(DRIVE_BYTES_MIN);
        let mut drive = Drive::new(&profile.with_capacity(bytes)?)?;
        let mut requests = Vec::new();
        let (results, lists) = settings.tiers(workload, &learned, &mut requests);
        for write in requests.drain(..) {
            drive.preload(write.page, write.pages)?;
        }
        drive.reset_counts();
        let flash_price = Price::of_drive(profile)?;
        let places = places(workload);
        let (slow, slow_price) = match slow {
            Slow::Disk(disk) => (Disk::new(disk).into(), Price::of_disk(Disk::new(disk))?),
            Slow::Drive => (index_drive(profile, &places, workload)?, flash_price),
        };
        Ok(System {
            workload,
            settings,
            learned,
            results,
            lists,
            drive,
            slow,
            flash_price,
            slow_price,
            places,
            queries_asked: HashMap::new(),
            terms_asked: HashMap::new(),
            result_prices: HashMap::new(),
            flashed: Flashed::default(),
            now: 0,
            cpu: Duration::ZERO,
            requests,
            slow_requests: Vec::new(),
        })
    }

    /// Asks queries; those from `measured` on are counted.
    pub fn run(&mut self, asked: &[Key], measured: usize, search: &[Duration]) -> Outcome<Figures> {
        let mut figures = Figures::default();
        let mut searched = Duration::ZERO;
        let step = asked.len().div_ceil(10).max(1);
        for (at, query) in asked.iter().enumerate() {
            if at == measured {
                figures.before = self.flashed();
                self.cpu = Duration::ZERO;
            }
            let answer = self.ask(*query)?;
            if at >= measured {
                figures.add(&answer);
                if answer.lists > 0 {
                    searched += search.get(*query as usize).copied().unwrap_or_default();
                }
            }
            if (at + 1) % step == 0 || at + 1 == asked.len() {
                figures.points.push(self.flashed());
            }
        }
        figures.after = self.flashed();
        figures.cpu = self.cpu;
        figures.search = (!search.is_empty()).then_some(searched);
        Ok(figures)
    }

    /// Asks one query.
    pub fn ask(&mut self, query: Key) -> Outcome<Answer> {
        self.now += 1;
        *self.queries_asked.entry(query).or_default() += 1;
        let used = self.workload.queries[query as usize].iter();
        let bytes: u64 = used.map(|used| used.bytes).sum();
        let mut answer = Answer {
            bytes,
            saved_bytes: bytes,
            ..Answer::default()
        };
        let entry = self.result(query);
        let (found, _) = self.timed(|system| {
            let requests = &mut system.requests;
            system.results.ask(&entry, system.now, requests)
        });
        answer.read += self.serve_flash()?;
        match found {
            Found::Memory => answer.situation = 1,
            Found::Buffer => answer.situation = 1,
            Found::Flash => answer.situation = 3,
            Found::Nowhere => self.ask_lists(query, &mut answer)?,
        }
        if found != Found::Memory {
            let entry = self.result(query);
            self.timed(|system| {
                let (now, requests) = (system.now, &mut system.requests);
                system.results.keep(entry, found, now, requests);
            });
        }
        answer.written += self.serve_flash()?;
        Ok(answer)
    }

    /// Reads the lists of a query. What is to be written is left in the requests.
    fn ask_lists(&mut self, query: Key, answer: &mut Answer) -> Outcome {
        let workload = self.workload;
        let mut sources = Sources::default();
        let mut new = Vec::new();
        for used in &workload.queries[query as usize] {
            *self.terms_asked.entry(used.term).or_default() += 1;
            let entry = self.list(used.term, used.bytes);
            let (found, held) = self.timed(|system| {
                let requests = &mut system.requests;
                system.lists.ask(&entry, system.now, requests)
            });
            sources.memory |= self.lists.is_in_memory(used.term) || found == Found::Buffer;
            sources.flash |= found == Found::Flash;
            let is_whole = pages(held) >= pages(used.bytes);
            sources.slow |= !is_whole;
            answer.lists += 1;
            answer.list_hits += u64::from(is_whole);
            if !is_whole {
                answer.saved_bytes -= used.bytes - held;
            }
            let read = self.read_rest(used, &entry, held);
            let bytes = if self.settings.grows() {
                held.max(read)
            } else {
                entry.bytes
            };
            if found != Found::Memory || bytes > held {
                new.push((Entry { bytes, ..entry }, found));
            }
        }
        let read = self.serve_flash()? + self.serve_slow()?;
        answer.read += read;
        answer.situation = sources.situation();
        self.result_prices.insert(query, read as f64);
        for (entry, found) in new {
            self.timed(|system| {
                let (now, requests) = (system.now, &mut system.requests);
                system.lists.keep(entry, found, now, requests);
            });
        }
        Ok(())
    }

    /// Asks the slow store for what a list has not cached, and for the prefix where that is kept;
    /// tells how much has been read then.
    fn read_rest(&mut self, used: &Use, entry: &Entry, held: u64) -> u64 {
        if pages(held) >= pages(used.bytes) {
            return held;
        }
        let end = match () {
            () if self.lists.is_off() => used.bytes,
            () if self.settings.grows() => self.prefix(used.term, used.bytes).max(entry.bytes),
            () if held == 0 => entry.bytes.max(used.bytes),
            () => used.bytes,
        };
        let place = self.places[used.term as usize];
        let (first, last) = (held / u64::from(PAGE_BYTES), pages(end));
        let request = Request::read(place + first, (last - first) as u32);
        self.slow_requests.push(request);
        end
    }

    /// What is cached of a list at first.
    fn prefix(&mut self, term: Key, used: u64) -> u64 {
        let whole = self.workload.lists[term as usize];
        self.learned.prefix(term, used).min(whole)
    }

    fn result(&self, query: Key) -> Entry {
        let price = self.result_prices.get(&query).copied();
        let slow = price.unwrap_or_else(|| self.slow_price.read(1));
        let is_on_flash = self.results.is_on_flash(query);
        Entry {
            key: query,
            bytes: RESULT_BYTES,
            asked: self.queries_asked.get(&query).copied().unwrap_or(0),
            again: if is_on_flash {
                self.flash_price.read(pages(RESULT_BYTES))
            } else {
                slow
            },
        }
    }

    fn list(&mut self, term: Key, used: u64) -> Entry {
        let whole = self.workload.lists[term as usize];
        let bytes = match () {
            () if self.settings.caches_whole_lists() => whole,
            () if self.settings.grows() => (pages(used) * u64::from(PAGE_BYTES)).min(whole),
            () => self.prefix(term, used),
        };
        let is_on_flash = self.lists.is_on_flash(term);
        let price = if is_on_flash {
            self.flash_price
        } else {
            self.slow_price
        };
        Entry {
            key: term,
            bytes,
            asked: self.terms_asked.get(&term).copied().unwrap_or(0),
            again: price.read(pages(bytes)),
        }
    }

    fn serve_flash(&mut self) -> Outcome<Nanos> {
        if self.requests.is_empty() {
            return Ok(0);
        }
        let nanos = self.drive.serve(&self.requests)?;
        for request in self.requests.drain(..) {
            match request.operation {
                gannet_ssd::Operation::Read => self.flashed.read_pages += u64::from(request.pages),
                gannet_ssd::Operation::Write => {
                    self.flashed.written_pages += u64::from(request.pages)
                }
                _ => continue,
            }
            self.flashed.requests += 1;
        }
        self.flashed.nanos += nanos;
        Ok(nanos)
    }

    fn serve_slow(&mut self) -> Outcome<Nanos> {
        let nanos = self.slow.serve(&self.slow_requests)?;
        self.slow_requests.clear();
        Ok(nanos)
    }

    fn flashed(&self) -> Flashed {
        let counts = self.drive.counts();
        Flashed {
            queries: self.now,
            erased: counts.erased_blocks,
            moved_units: counts.moved_units,
            host_units: counts.host_written_units,
            ..self.flashed
        }
    }

    /// Measures what the policies take.
    fn timed<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let done = work(self);
        self.cpu += start.elapsed();
        done
    }
}

/// The lists one behind the other.
fn places(workload: &Workload) -> Vec<u64> {
    let mut next = 0;
    let place = |bytes: &u64| {
        let place = next;
        next += pages(*bytes);
        place
    };
    workload.lists.iter().map(place).collect()
}

/// A drive with the index on it.
fn index_drive(profile: &Profile, places: &[u64], workload: &Workload) -> Outcome<Medium> {
    let last = places.last().zip(workload.lists.last());
    let end = last.map_or(0, |(place, bytes)| place + pages(*bytes));
    let bytes = (end * u64::from(gannet_ssd::PAGE_BYTES)).max(DRIVE_BYTES_MIN);
    let mut drive = Drive::new(&profile.with_capacity(bytes)?)?;
    drive.preload(0, end as u32)?;
    Ok(drive.into())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use gannet_ssd::hdd::WD3200AAJS;
    use gannet_ssd::profile::HYBRID_CACHE_TABLE;

    use super::super::flash::BLOCK_BYTES;
    use super::super::learned::Statistic;
    use super::super::policies::{Name, Sizes, Tuned};
    use super::super::tier::Scheme;
    use super::super::workload::tests::workload;
    use super::*;
    use crate::random::Random;

    fn settings(name: Name, results: u64, lists: u64) -> Settings {
        Settings {
            name,
            tuned: Tuned::default(),
            sizes: Sizes {
                memory_results: results * RESULT_BYTES,
                memory_lists: lists * BLOCK_BYTES,
                flash_results: 4 * results.div_ceil(6),
                flash_lists: 8 * lists,
            },
            scheme: Scheme::Hybrid,
            ttl: None,
        }
    }

    fn system<'a>(workload: &'a Workload, settings: Settings) -> System<'a> {
        let learned = Learned::from(workload, &[], Statistic::Mean);
        let slow = Slow::Disk(WD3200AAJS);
        System::new(workload, settings, learned, &HYBRID_CACHE_TABLE, slow).unwrap()
    }

    fn situations(system: &mut System, asked: &[Key]) -> Vec<usize> {
        let situation = |query: &Key| system.ask(*query).unwrap().situation;
        asked.iter().map(situation).collect()
    }

    #[test]
    fn a_query_is_in_one_of_nine_situations() {
        // Lists of one block each. Memory has room for two, and no results are cached.
        let queries: [&[Key]; 7] = [&[0], &[1], &[2], &[1, 2], &[0, 2], &[0, 2, 3], &[0, 1, 4]];
        let workload = workload(&[1; 9], &queries, &[]);
        let mut lists = system(&workload, settings(Name::LruPartial, 0, 2));
        let found = situations(&mut lists, &[0, 0, 1, 2, 3, 0, 4, 5, 3, 6]);
        assert_eq!(found, [9, 2, 9, 9, 2, 5, 2, 7, 4, 6]);
        let mut lists = system(&workload, settings(Name::LruPartial, 0, 1));
        let found = situations(&mut lists, &[0, 1, 2, 3, 5, 4]);
        assert_eq!(found, [9, 9, 9, 4, 8, 5], "room for one in memory");
        let mut results = system(&workload, settings(Name::LruPartial, 1, 0));
        assert_eq!(situations(&mut results, &[0, 0, 1, 0]), [9, 1, 9, 3]);
    }

    #[test]
    fn times_are_those_of_the_devices() {
        let workload = workload(&[1, 1], &[&[0], &[1]], &[]);
        let mut system = system(&workload, settings(Name::LruPartial, 0, 1));
        let miss = system.ask(0).unwrap();
        let disk = 8_900_000 + 4_170_000 + 128 * 1024 * 10;
        assert_eq!((miss.read, miss.written), (disk, 0));
        let evicting = system.ask(1).unwrap();
        assert_eq!(evicting.written, 64 * 101_475, "64 pages of flash");
        let hit = system.ask(0).unwrap();
        assert_eq!(hit.read, 64 * 32_725);
    }

    #[test]
    fn what_a_query_needs_beyond_the_cached_prefix_comes_from_the_slow_store() {
        let mut workload = workload(&[4], &[&[0], &[0]], &[]);
        workload.queries[0][0].bytes = BLOCK_BYTES;
        let mut system = system(&workload, settings(Name::LruPartial, 0, 9));
        assert_eq!(situations(&mut system, &[0, 0, 1, 1]), [9, 2, 7, 7]);
        let mut whole = super::tests::system(&workload, settings(Name::Lru, 0, 9));
        assert_eq!(situations(&mut whole, &[0, 0, 1, 1]), [9, 2, 2, 2]);
    }

    #[test]
    fn what_gannet_caches_of_a_list_grows_with_its_use() {
        let mut workload = workload(&[4], &[&[0], &[0]], &[]);
        workload.queries[0][0].bytes = BLOCK_BYTES;
        let mut system = system(&workload, settings(Name::Gannet, 0, 9));
        let access = 8_900_000 + 4_170_000;
        let mut ask = |query| {
            let answer = system.ask(query).unwrap();
            (answer.situation, answer.read, answer.saved_bytes)
        };
        assert_eq!(ask(0), (9, access + 128 * 1024 * 10, 0));
        // The disk is there already.
        let rest = 3 * 128 * 1024 * 10;
        assert_eq!(ask(1), (7, rest, BLOCK_BYTES), "the rest alone is read");
        assert_eq!(ask(1), (2, 0, 4 * BLOCK_BYTES), "and kept");
        assert_eq!(ask(0), (2, 0, BLOCK_BYTES));
    }

    #[test]
    fn the_block_that_the_log_fills_takes_its_memory_from_lists() {
        // Memory for two blocks, and a list of one block each.
        let workload = workload(&[1, 1], &[&[0], &[1]], &[]);
        let found = |name| {
            let mut system = system(&workload, settings(name, 0, 2));
            situations(&mut system, &[0, 1, 1, 0])
        };
        assert_eq!(found(Name::LruGrows), [9, 9, 2, 2]);
        assert_eq!(found(Name::Gannet), [9, 9, 2, 9]);
    }

    #[test]
    fn results_wait_for_a_second_touch_or_are_admitted_at_once() {
        let workload = workload(&[1], &[&[0], &[0]], &[]);
        let found = |admits_results| {
            let mut settings = settings(Name::Gannet, 1, 0);
            settings.tuned.admits_results = admits_results;
            settings.sizes.flash_results = 9;
            situations(&mut system(&workload, settings), &[0, 1, 0, 1, 0])
        };
        assert_eq!(found(true), [9, 9, 1, 1, 1], "from the log's tail");
        assert_eq!(found(false), [9, 9, 5, 5, 1], "memory evicted it twice");
    }

    #[test]
    fn without_a_cache_a_query_reads_what_it_uses_alone() {
        let mut workload = workload(&[4], &[&[0], &[0]], &[]);
        workload.queries[0][0].bytes = BLOCK_BYTES;
        let mut system = system(&workload, settings(Name::Lru, 0, 0));
        let access = 8_900_000 + 4_170_000;
        assert_eq!(system.ask(0).unwrap().read, access + 128 * 1024 * 10);
        assert_eq!(system.ask(1).unwrap().read, access + 4 * 128 * 1024 * 10);
    }

    /// A log in which some queries come often.
    fn skewed() -> Workload {
        let mut random = Random::new(5, "skewed");
        let sizes: Vec<u64> = (0..200).map(|_| 1 + random.below(6) as u64).collect();
        let queries: Vec<Vec<Key>> = (0..300)
            .map(|_| {
                let term = |_| random.below(200).min(random.below(200)) as Key;
                let mut terms: Vec<Key> = (0..2).map(term).collect();
                terms.dedup();
                terms
            })
            .collect();
        let queries: Vec<&[Key]> = queries.iter().map(Vec::as_slice).collect();
        workload(&sizes, &queries, &[0]).redrawn(0.8, 3_000, 1)
    }

    #[test]
    fn every_policy_is_deterministic_and_answers_every_query() {
        let workload = skewed();
        for name in Name::value_variants().iter().copied() {
            let run = || {
                let mut settings = settings(name, 12, 20);
                settings.tuned.fixed = 0.5;
                let learned = Learned::from(&workload, &workload.asked[..1_500], Statistic::Mean);
                let slow = Slow::Disk(WD3200AAJS);
                let profile = &HYBRID_CACHE_TABLE;
                let mut system = System::new(&workload, settings, learned, profile, slow).unwrap();
                let figures = system.run(&workload.asked, 1_500, &[]).unwrap();
                let mut figures = figures.to_json();
                let figures = figures.as_object_mut().unwrap();
                figures.retain(|name, _| !name.contains("measured"));
                serde_json::Value::from(figures.clone())
            };
            let figures = run();
            assert_eq!(figures, run(), "{name:?}");
            assert_eq!(figures["queries"], 1_500);
            let probabilities = figures["situations"].as_array().unwrap().iter();
            let sum: f64 = probabilities
                .map(|s| s["probability"].as_f64().unwrap())
                .sum();
            assert!((sum - 1.0).abs() < 1e-9, "{name:?}: {sum}");
            let hits = figures["hit_ratio"]["results"].as_f64().unwrap();
            assert!(
                hits > 0.1 && hits <= workload.repeated(1_500),
                "{name:?}: {hits}"
            );
        }
    }
}
