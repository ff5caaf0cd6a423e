//! Answers on flash, behind those in memory: which states have them, and how old they may be.
//!
//! Only an answer of a durable state goes to flash, one that a root names alone: so a state of the
//! same name is the same in each process, after a power loss too. Ages are by the system's clock.
//! An answer from the future is forgotten.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::codec::{decode_answer, decoded_bytes, encode_answer, question_of};
use super::key::AnswerKey;
use super::seen::{SeenRoot, SeenState};
use crate::base::{Budget, Reservation};
use crate::cache::{AnswerFile, AnswerFileFigures, AnswerFound, AnswerRecord};
use crate::search::results::{AnswerPlace, Reused, SearchResults};

/// An answer that takes more bytes in memory is not encoded: it does not fit a block.
const HEAP_BYTES_MAX: usize = 1 << 20;

/// Answers in a file on flash.
pub struct FlashAnswers {
    file: AnswerFile,
    /// The time in microseconds since 1970.
    clock: fn() -> u64,
}

impl FlashAnswers {
    /// Those of a file, by a clock.
    pub fn new(file: AnswerFile, clock: fn() -> u64) -> FlashAnswers {
        FlashAnswers { file, clock }
    }

    /// The figures of the file.
    pub fn figures(&self) -> AnswerFileFigures {
        self.file.figures()
    }

    /// Writes answers that are on their way.
    pub fn flush(&self) {
        self.file.flush();
    }

    /// The answer to a question on a state, or on an earlier one that is no older than `ttl`, with
    /// its memory.
    pub(super) fn get(
        &self,
        key: &AnswerKey,
        seen: &SeenState,
        ttl: Option<Duration>,
        budget: &Budget,
    ) -> Option<SearchResults> {
        let root = seen
            .root
            .as_ref()
            .filter(|root| root.is_durable || ttl.is_some())?;
        let question = question_of(key, root.slot.identity);
        let mut take = |answer: &AnswerRecord<'_>| self.verdict(answer, root, ttl, budget);
        self.file.get(&question, budget, &mut take)
    }

    /// Stores an answer of a durable state.
    pub(super) fn store(
        &self,
        key: &AnswerKey,
        seen: &SeenState,
        results: &SearchResults,
        budget: &Budget,
    ) {
        let root = seen.root.as_ref().filter(|root| root.is_durable);
        let heap_bytes = results.heap_bytes();
        let (Some(root), true) = (root, heap_bytes <= HEAP_BYTES_MAX) else {
            return;
        };
        // As bytes, alone and with its question.
        let needed = 4 * (heap_bytes + key.len());
        let Ok(_reserved) = budget.reserve("an answer on its way to flash", needed) else {
            return;
        };
        let Some(content) = encode_answer(results) else {
            return;
        };
        self.file.store(&AnswerRecord {
            question: &question_of(key, root.slot.identity),
            state: root.state(),
            at: (self.clock)().saturating_sub(micros(seen.at.elapsed())),
            content: &content,
        });
    }

    /// Decides on an answer to the question that the file has.
    fn verdict(
        &self,
        answer: &AnswerRecord<'_>,
        root: &SeenRoot,
        ttl: Option<Duration>,
        budget: &Budget,
    ) -> AnswerFound<SearchResults> {
        let Some(age) = (self.clock)().checked_sub(answer.at) else {
            return AnswerFound::Useless;
        };
        let age = Duration::from_micros(age);
        let is_same = root.is(&answer.state);
        let may = ttl.is_some_and(|ttl| age <= ttl) && root.follows(&answer.state);
        if !is_same && !may {
            return AnswerFound::Passed;
        }
        let Ok(bytes) = decoded_bytes(answer.content) else {
            return AnswerFound::Useless;
        };
        let bytes = bytes + size_of::<SearchResults>();
        let Ok(memory) = budget.reserve("an answer that is read from flash", bytes) else {
            return AnswerFound::Passed;
        };
        match decode_answer(answer.content) {
            Ok(results) => AnswerFound::Given(given(results, age, !is_same, memory)),
            Err(_) => AnswerFound::Useless,
        }
    }
}

/// The time at which a snapshot of this age was taken, if the clock goes back so far.
pub(super) fn taken_at(age: Duration) -> Option<Instant> {
    Instant::now().checked_sub(age)
}

fn given(
    results: SearchResults,
    age: Duration,
    is_older: bool,
    memory: Reservation,
) -> SearchResults {
    SearchResults {
        reused: Some(Reused {
            age,
            is_older,
            from: AnswerPlace::Flash,
        }),
        memory: Some(Arc::new(memory)),
        ..results
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::base::Span;
    use crate::cache::OpenAnswers;
    use crate::device::{Device, MemoryDevice};
    use crate::search::{Operator, SearchOptions, key_of, parse};
    use crate::storage::{History, RootSlot, SlotKind};

    const SECOND: u64 = 1_000_000;

    /// The clock, which the test alone sets.
    static NOW: AtomicU64 = AtomicU64::new(0);

    fn now() -> u64 {
        NOW.load(Ordering::Relaxed)
    }

    fn seen(generation: u64, is_durable: bool) -> SeenState {
        let nowhere = Span {
            zone: 0,
            page: 0,
            offset: 0,
            length: 0,
        };
        let mut history = History::default();
        history.open(9, 1);
        let slot = RootSlot {
            identity: 5,
            generation,
            root: nowhere,
            kind: SlotKind::Index,
            history,
        };
        SeenState {
            state: generation,
            at: Instant::now(),
            root: Some(SeenRoot {
                slot: Arc::new(slot),
                sequence: generation * 10 + u64::from(!is_durable),
                is_durable,
            }),
        }
    }

    fn asked(number: usize) -> AnswerKey {
        let query = parse(&format!("w{number}"), Operator::Or, &Default::default()).unwrap();
        key_of(&query, &SearchOptions::default()).unwrap()
    }

    fn below(random: &mut u64, end: u64) -> u64 {
        *random = random
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (*random >> 33) % end
    }

    /// An answer whose total tells its generation and its time.
    fn answer(generation: u64, at: u64) -> SearchResults {
        SearchResults {
            total: (generation << 40) | (at / SECOND),
            ..SearchResults::default()
        }
    }

    #[test]
    fn ages_hold_across_handles_under_a_clock_that_steps() {
        let device: Arc<dyn Device> = Arc::new(MemoryDevice::new());
        let budget = Budget::new(64 << 20);
        let open = || {
            let device = Arc::clone(&device);
            let open: OpenAnswers = Box::new(move |_| Ok(Arc::clone(&device)));
            let file = AnswerFile::open(open, 1 << 20, &budget).unwrap();
            FlashAnswers::new(file, now)
        };
        NOW.store(1_000 * SECOND, Ordering::Relaxed);
        let (mut flash, mut random, mut newest) = (open(), 1, 1);
        let ttl = Duration::from_secs(50);
        let (mut exact, mut older, mut missed) = (0, 0, 0);
        for _ in 0..20_000 {
            let key = asked(below(&mut random, 20) as usize);
            match below(&mut random, 12) {
                0 => drop(NOW.fetch_add(below(&mut random, 40) * SECOND, Ordering::Relaxed)),
                1 if below(&mut random, 4) == 0 => {
                    NOW.fetch_sub(below(&mut random, 60) * SECOND, Ordering::Relaxed);
                }
                2 if below(&mut random, 3) == 0 => newest += 1,
                3 if below(&mut random, 20) == 0 => {
                    drop(flash);
                    flash = open();
                }
                4..7 => {
                    let is_durable = below(&mut random, 4) > 0;
                    let generation = newest - below(&mut random, 2).min(newest - 1);
                    let kept = answer(if is_durable { generation } else { 0 }, now());
                    flash.store(&key, &seen(generation, is_durable), &kept, &budget);
                }
                _ => {
                    let generation = newest - below(&mut random, 2).min(newest - 1);
                    let given = (below(&mut random, 2) == 0).then_some(ttl);
                    let is_durable = below(&mut random, 4) > 0;
                    let seen = seen(generation, is_durable);
                    let Some(found) = flash.get(&key, &seen, given, &budget) else {
                        missed += 1;
                        continue;
                    };
                    let (of, at) = (found.total >> 40, found.total & ((1 << 40) - 1));
                    assert!(
                        of > 0 && at <= now() / SECOND,
                        "one from the future, or not durable"
                    );
                    let reused = found.reused.unwrap();
                    if reused.is_older {
                        let age = now() / SECOND - at;
                        assert!(given.is_some() && age <= ttl.as_secs() + 1, "{age}");
                        assert!(of < generation || of == generation && !is_durable);
                        older += 1;
                    } else {
                        assert!(of == generation && is_durable);
                        exact += 1;
                    }
                }
            }
        }
        assert!(
            exact > 500 && older > 200 && missed > 500,
            "{exact} {older} {missed}"
        );
        assert!(budget.used() > 0);
    }
}
