//! The result cache: whole answers in memory, given again to whoever asks the same.
//!
//! The key of an answer is the query and all options that change the answer ([`key_of`]). With it
//! stands the number of the state of the index that it was computed on. It is reused for this state
//! only. Where the caller allows older answers, it is also reused on later states until it is too
//! old. An answer is never given for an earlier state than its own.
//!
//! Behind the answers in memory there may be a file of answers on flash ([`FlashAnswers`]), which
//! outlives the process. What is read there is kept in memory too.
//!
//! Nothing is invalidated: a write publishes a state with another number. The answer of an older
//! state is replaced when its question is asked again, or evicted. The cache is a part of the
//! budget that is set aside when it is made. Each answer reserves its bytes there before they are
//! allocated, so the bound includes answers that are evicted while another thread copies them.

mod bytes;
pub(crate) mod codec;
mod flash;
mod key;
mod seen;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::results::{AnswerPlace, Reused, SearchResults};
use crate::base::{Budget, Reservation, Result};
use crate::cache::{AnswerFileFigures, Sieve};

pub use flash::FlashAnswers;
use key::ANSWER_ONE_OF;
use key::AnswerKey;
pub use key::{RESULT_CACHE_MIN, key_of};
pub use seen::{SeenRoot, SeenState};

/// Counts and lengths beside a key and an answer on the heap.
const HEADER_BYTES: usize = 2 * 2 * size_of::<usize>();

/// The answers that are kept.
pub struct ResultCache {
    answers: Mutex<Answers>,
    /// The greatest age of an answer of an earlier state.
    ttl: Option<Duration>,
    /// Its part of the budget.
    memory: Budget,
    /// The level behind it, if there is one.
    flash: Option<FlashAnswers>,
    reused: AtomicU64,
    reused_from_flash: AtomicU64,
    reused_older: AtomicU64,
    computed: AtomicU64,
}

struct Answers {
    kept: Sieve<AnswerKey, Arc<Answer>>,
    count: u64,
    /// Memory of the tables of `kept`, which never shrink.
    tables: Reservation,
}

struct Answer {
    results: SearchResults,
    /// The number of its state, and the time at which the snapshot was taken.
    state: u64,
    at: Instant,
    /// Memory of it and its key.
    memory: Reservation,
}

/// Figures of a result cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultCacheFigures {
    /// Bytes that it may take.
    pub capacity_bytes: u64,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Answers that it holds.
    pub answers: u64,
    /// Queries that were answered from it, or from the file of answers behind it.
    pub reused: u64,
    /// The number of them that were answered from the file of answers on flash.
    pub reused_from_flash: u64,
    /// The number of them that got an answer of an earlier state of the index.
    pub reused_older: u64,
    /// Queries that it had no answer for. They were computed, or failed.
    pub computed: u64,
}

impl ResultCache {
    /// A cache of so many bytes of the budget. An answer of an earlier state is reused for `ttl`,
    /// if at all.
    pub fn new(bytes: usize, ttl: Option<Duration>, budget: &Budget) -> Result<ResultCache> {
        let memory = budget.part("the result cache", bytes)?;
        let answers = Answers {
            kept: Sieve::new(),
            count: 0,
            tables: memory.reserve("the tables of the result cache", 0)?,
        };
        Ok(ResultCache {
            answers: Mutex::new(answers),
            ttl,
            memory,
            flash: None,
            reused: AtomicU64::new(0),
            reused_from_flash: AtomicU64::new(0),
            reused_older: AtomicU64::new(0),
            computed: AtomicU64::new(0),
        })
    }

    /// The same with answers on flash behind it.
    pub fn with_flash(mut self, flash: FlashAnswers) -> ResultCache {
        self.flash = Some(flash);
        self
    }

    /// The answer to the question of this key on a state of the index. Nothing if there is none, or
    /// if the budget has no room for a copy.
    pub fn get(&self, key: &AnswerKey, seen: &SeenState, budget: &Budget) -> Option<SearchResults> {
        let found = self.answers().kept.get(key);
        let copy = found.and_then(|answer| answer.copy(seen, self.ttl, budget));
        let copy = copy.or_else(|| self.get_from_flash(key, seen, budget));
        let reused = copy.as_ref().and_then(|results| results.reused);
        let counted = match reused {
            Some(_) => &self.reused,
            None => &self.computed,
        };
        counted.fetch_add(1, Ordering::Relaxed);
        if reused.is_some_and(|reused| reused.is_older) {
            self.reused_older.fetch_add(1, Ordering::Relaxed);
        }
        if reused.is_some_and(|reused| reused.from == AnswerPlace::Flash) {
            self.reused_from_flash.fetch_add(1, Ordering::Relaxed);
        }
        copy
    }

    /// The answer that flash has, which is kept in memory from now on if it is one of this state.
    fn get_from_flash(
        &self,
        key: &AnswerKey,
        seen: &SeenState,
        budget: &Budget,
    ) -> Option<SearchResults> {
        let results = self.flash.as_ref()?.get(key, seen, self.ttl, budget)?;
        let reused = results.reused?;
        let at = flash::taken_at(reused.age).filter(|_| !reused.is_older);
        if let Some(at) = at {
            self.keep_in_memory(Arc::clone(key), seen.state, at, &results);
        }
        Some(results)
    }

    /// Keeps an answer in memory, in the place of others if need be, and on flash if its state is
    /// durable.
    pub fn keep(&self, key: AnswerKey, seen: &SeenState, results: &SearchResults, budget: &Budget) {
        if let Some(flash) = &self.flash {
            flash.store(&key, seen, results, budget);
        }
        self.keep_in_memory(key, seen.state, seen.at, results);
    }

    fn keep_in_memory(&self, key: AnswerKey, state: u64, at: Instant, results: &SearchResults) {
        let bytes = key.len() + size_of::<Answer>() + HEADER_BYTES + results.heap_bytes();
        let is_whole = results.hits.iter().all(|hit| hit.error.is_none());
        if !is_whole || bytes > self.memory.total() / ANSWER_ONE_OF {
            return;
        }
        let Some(memory) = self.make_room(&key, state, bytes) else {
            return;
        };
        let answer = Arc::new(Answer {
            results: SearchResults {
                io: Default::default(),
                memory: None,
                ..results.clone()
            },
            state,
            at,
            memory,
        });
        self.answers().insert(key, answer);
    }

    /// Reserves memory for an answer and evicts others for it. Gives nothing if the answer of this
    /// state or a later one is there.
    fn make_room(&self, key: &AnswerKey, state: u64, bytes: usize) -> Option<Reservation> {
        let mut answers = self.answers();
        if answers.knows(key, state) {
            return None;
        }
        loop {
            match self.memory.reserve("an answer that is kept", bytes) {
                Ok(memory) => return Some(memory),
                Err(_) => answers.evict()?,
            }
        }
    }

    /// Writes answers that are on their way to flash.
    pub fn flush(&self) {
        if let Some(flash) = &self.flash {
            flash.flush();
        }
    }

    /// The figures of the file of answers; nothing if there is none.
    pub fn flash_figures(&self) -> Option<AnswerFileFigures> {
        self.flash.as_ref().map(FlashAnswers::figures)
    }

    /// The figures now.
    pub fn figures(&self) -> ResultCacheFigures {
        ResultCacheFigures {
            capacity_bytes: self.memory.total() as u64,
            bytes: self.memory.used() as u64,
            answers: self.answers().count,
            reused: self.reused.load(Ordering::Relaxed),
            reused_from_flash: self.reused_from_flash.load(Ordering::Relaxed),
            reused_older: self.reused_older.load(Ordering::Relaxed),
            computed: self.computed.load(Ordering::Relaxed),
        }
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Answers {
    /// Returns true if the answer of this state or a later one is kept.
    fn knows(&self, key: &AnswerKey, state: u64) -> bool {
        let known = self.kept.peek(key);
        known.is_some_and(|known| known.state >= state)
    }

    /// Adds an answer, or puts it in the place of that of an earlier state.
    fn insert(&mut self, key: AnswerKey, answer: Arc<Answer>) {
        // Another thread may have come before.
        if self.knows(&key, answer.state) || self.kept.replace(&key, Arc::clone(&answer)).is_some()
        {
            return;
        }
        if !self.kept.has_vacant() {
            let tables = Sieve::<AnswerKey, Arc<Answer>>::table_bytes(self.kept.slots() + 1);
            if self.tables.grow_to(tables).is_err() && self.evict().is_none() {
                return;
            }
        }
        self.kept.insert(key, answer);
        self.count += 1;
    }

    fn evict(&mut self) -> Option<()> {
        self.kept.evict()?;
        self.count -= 1;
        Some(())
    }
}

impl Answer {
    /// A copy for who asks on a state, if the answer may be reused there and the budget has room.
    fn copy(
        &self,
        seen: &SeenState,
        ttl: Option<Duration>,
        budget: &Budget,
    ) -> Option<SearchResults> {
        let reused = self.reused(seen, ttl)?;
        let memory = budget.reserve("an answer that is reused", self.memory.bytes());
        Some(SearchResults {
            reused: Some(reused),
            memory: Some(Arc::new(memory.ok()?)),
            ..self.results.clone()
        })
    }

    /// Tells the age of the answer, if a search of this state may reuse it.
    fn reused(&self, seen: &SeenState, ttl: Option<Duration>) -> Option<Reused> {
        let age = self.at.elapsed();
        let is_older = self.state < seen.state;
        let is_same = self.state == seen.state;
        let may = is_same || is_older && ttl.is_some_and(|ttl| age <= ttl);
        may.then_some(Reused {
            age,
            is_older,
            from: AnswerPlace::Memory,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Error;
    use crate::search::{Hit, Operator, SearchOptions, parse};

    fn asked(text: &str) -> AnswerKey {
        let query = parse(text, Operator::Or, &Default::default()).unwrap();
        key_of(&query, &SearchOptions::default()).unwrap()
    }

    fn answer(total: u64, source: usize) -> SearchResults {
        let hit = Hit {
            id: "17".into(),
            source: Some(vec![b'x'; source]),
            ..Hit::default()
        };
        SearchResults {
            total,
            hits: vec![hit],
            ..SearchResults::default()
        }
    }

    fn seen(state: u64) -> SeenState {
        let at = Instant::now();
        let root = None;
        SeenState { state, at, root }
    }

    fn cache(budget: &Budget, ttl: Option<Duration>) -> ResultCache {
        ResultCache::new(RESULT_CACHE_MIN, ttl, budget).unwrap()
    }

    #[test]
    fn an_answer_is_reused_for_its_own_state_and_no_other() {
        let budget = Budget::new(1 << 20);
        let cache = cache(&budget, None);
        let total = |key, state| Some(cache.get(&key, &seen(state), &budget)?.total);
        cache.keep(asked("a"), &seen(5), &answer(7, 100), &budget);
        assert_eq!(total(asked("a"), 5), Some(7));
        assert_eq!(total(asked("b"), 5), None);
        assert_eq!(total(asked("a"), 4), None);
        assert_eq!(total(asked("a"), 6), None);
        // A snapshot of an earlier state does not put its answer in the place of a later one's.
        cache.keep(asked("a"), &seen(4), &answer(6, 100), &budget);
        assert_eq!(total(asked("a"), 5), Some(7));
        cache.keep(asked("a"), &seen(6), &answer(8, 100), &budget);
        assert_eq!(total(asked("a"), 6), Some(8));
        assert_eq!(total(asked("a"), 5), None);
        let figures = cache.figures();
        assert_eq!((figures.answers, figures.reused), (1, 3));
        assert_eq!(figures.computed, 4);
    }

    #[test]
    fn an_older_answer_is_reused_as_long_as_that_is_allowed_and_says_so() {
        let budget = Budget::new(1 << 20);
        let cache = cache(&budget, Some(Duration::from_secs(100)));
        let before = |state, seconds| SeenState {
            state,
            at: Instant::now() - Duration::from_secs(seconds),
            root: None,
        };
        let reused = |state| cache.get(&asked("a"), &seen(state), &budget)?.reused;
        cache.keep(asked("a"), &before(5, 50), &answer(7, 100), &budget);
        let older = reused(6).unwrap();
        assert!(older.is_older && older.age >= Duration::from_secs(50));
        assert_eq!(reused(4), None);
        cache.keep(asked("a"), &before(6, 150), &answer(7, 100), &budget);
        assert_eq!(reused(7), None);
        // On its own state an answer never becomes too old.
        assert!(!reused(6).unwrap().is_older);
        assert_eq!(cache.figures().reused_older, 1);
    }

    #[test]
    fn it_keeps_to_its_bytes_and_a_copy_is_reserved() {
        let budget = Budget::new(RESULT_CACHE_MIN + 5_000);
        let cache = cache(&budget, None);
        for number in 0..100 {
            let key = asked(&format!("w{number}"));
            cache.keep(key, &seen(1), &answer(number, 2_000), &budget);
            assert!(cache.figures().bytes <= RESULT_CACHE_MIN as u64);
        }
        let figures = cache.figures();
        assert!((15..30).contains(&figures.answers), "{figures:?}");
        assert_eq!(budget.used(), RESULT_CACHE_MIN);
        let first = cache.get(&asked("w99"), &seen(1), &budget).unwrap();
        assert!(budget.used() > RESULT_CACHE_MIN + 2_000);
        // There is no memory for a second copy.
        assert!(cache.get(&asked("w99"), &seen(1), &budget).is_none());
        drop(first);
        assert!(cache.get(&asked("w99"), &seen(1), &budget).is_some());
        cache.keep(
            asked("large"),
            &seen(1),
            &answer(1, RESULT_CACHE_MIN / 8),
            &budget,
        );
        assert!(cache.get(&asked("large"), &seen(1), &budget).is_none());
    }

    #[test]
    fn memory_of_tables_counts_after_many_small_answers() {
        let budget = Budget::new(1 << 20);
        let cache = cache(&budget, None);
        let keep = |number: u64, source| {
            let key = asked(&format!("9{number}"));
            cache.keep(key, &seen(1), &answer(number, source), &budget);
        };
        (0..1_000).for_each(|number| keep(number, 0));
        let slots = cache.answers().kept.slots();
        let small = cache.figures().answers;
        assert_eq!(slots as u64, small);
        (1_000..1_100).for_each(|number| keep(number, 4_000));
        let large = cache.figures();
        assert!(large.answers < small / 2 && large.bytes <= large.capacity_bytes);
        let tables = Sieve::<AnswerKey, Arc<Answer>>::table_bytes(slots);
        assert!(cache.answers().tables.bytes() >= tables);
    }

    #[test]
    fn an_answer_that_is_not_whole_is_not_kept() {
        let budget = Budget::new(1 << 20);
        let cache = cache(&budget, None);
        let mut partial = answer(1, 10);
        partial.hits[0].error = Some(Error::invalid("too large"));
        cache.keep(asked("a"), &seen(1), &partial, &budget);
        assert_eq!(cache.figures().answers, 0);
    }
}
