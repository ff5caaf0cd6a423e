//! Counts queries by where their answers or pages were: the nine situations of the paper on hybrid
//! caches, in its order.
//!
//! A query is in one situation. Its answer was in memory or on flash; or its pages were in memory,
//! in the flash tier or on the device of the index, or in several of these.

use std::time::Duration;

use gannet::{AnswerPlace, SearchResults};
use serde_json::{Value, json};

/// The places of each situation, in the paper's order.
const SITUATIONS: [&[&str]; 9] = [
    &["answer in memory"],
    &["memory"],
    &["answer on flash"],
    &["memory", "flash"],
    &["flash"],
    &["memory", "flash", "index"],
    &["memory", "index"],
    &["flash", "index"],
    &["index"],
];

/// Those in which nothing is read from the device of the index.
const SPARED: usize = 5;

/// The queries of each situation, and where the pages of all came from.
#[derive(Clone, Copy, Default)]
pub struct Situations {
    counts: [(u64, Duration); SITUATIONS.len()],
    /// Pages from memory, from the flash tier, and from the device of the index.
    pages: [u64; 3],
}

impl Situations {
    /// Counts a query that took so long.
    pub fn record(&mut self, answer: &SearchResults, took: Duration) {
        let io = &answer.io;
        let device = io.bytes / gannet::device::PAGE_SIZE as u64;
        let number = match answer.reused.map(|reused| reused.from) {
            Some(AnswerPlace::Memory) => 1,
            Some(AnswerPlace::Flash) => 3,
            None => {
                let pages = [io.frames_hit.into(), io.tier_hits.into(), device];
                self.pages = std::array::from_fn(|place| self.pages[place] + pages[place]);
                of_pages(pages)
            }
        };
        let (count, time) = &mut self.counts[number - 1];
        *count += 1;
        *time += took;
    }

    /// Adds those of another thread.
    pub fn add(&mut self, other: &Situations) {
        for ((count, time), more) in self.counts.iter_mut().zip(other.counts) {
            *count += more.0;
            *time += more.1;
        }
        self.pages = std::array::from_fn(|place| self.pages[place] + other.pages[place]);
    }

    /// The figures as JSON.
    pub fn json(&self) -> Value {
        let all = (1..).zip(SITUATIONS).zip(self.counts);
        let all = all.map(|((number, places), counted)| {
            json!({
                "situation": number,
                "from": places,
                "queries": counted.0,
                "us_mean": mean_us(counted),
            })
        });
        let [memory, flash, device] = self.pages;
        json!({
            "situations": all.collect::<Vec<_>>(),
            "pages": {"memory": memory, "flash": flash, "index": device},
            "spared_ms": self.spared_ms(),
        })
    }

    /// Says which situations there were; nothing where all queries were in the same.
    pub fn sentence(&self) -> Option<String> {
        let all = SITUATIONS.iter().zip(self.counts);
        let there = all.filter(|(_, (count, _))| *count > 0);
        let parts: Vec<String> = there
            .map(|(places, counted)| {
                let us = mean_us(counted).unwrap_or_default();
                format!("{} from {} ({us:.0} us)", counted.0, places.join(" and "))
            })
            .collect();
        (parts.len() > 1).then(|| format!("queries: {}", parts.join(", ")))
    }

    /// The time that queries without a read of the index took less than as many with one would
    /// have, by the mean of those; nothing if there were none.
    fn spared_ms(&self) -> Option<f64> {
        let (spared, read) = self.counts.split_at(SPARED);
        let [spared, read] = [spared, read].map(|of| {
            of.iter().fold((0, Duration::ZERO), |sum, one| {
                (sum.0 + one.0, sum.1 + one.1)
            })
        });
        let cost = mean_us(read)?;
        Some((cost * spared.0 as f64 - spared.1.as_secs_f64() * 1e6) / 1e3)
    }
}

/// The situation of a query whose pages were in memory, in the flash tier and on the device.
fn of_pages(pages: [u64; 3]) -> usize {
    match pages.map(|pages| pages > 0) {
        [true, true, true] => 6,
        [true, false, true] => 7,
        [false, true, true] => 8,
        [false, false, true] => 9,
        [true, true, false] => 4,
        [false, true, false] => 5,
        // One that needs no page needs none of the index.
        [_, false, false] => 2,
    }
}

fn mean_us((count, time): (u64, Duration)) -> Option<f64> {
    (count > 0).then(|| time.as_secs_f64() * 1e6 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_in_which_places_can_be_joined_are_situations() {
        for (number, places) in (1..).zip(SITUATIONS) {
            let has = |place: &str| u64::from(places.contains(&place));
            let pages = ["memory", "flash", "index"].map(has);
            if number != 1 && number != 3 {
                assert_eq!(of_pages(pages), number, "{places:?}");
            }
        }
        assert_eq!(of_pages([0, 0, 0]), 2);
    }

    #[test]
    fn what_is_spared_is_told_by_the_queries_that_read_the_index() {
        let mut found = Situations::default();
        found.counts[0] = (3, Duration::from_millis(3));
        assert_eq!(found.spared_ms(), None);
        found.counts[8] = (2, Duration::from_millis(20));
        assert_eq!(found.spared_ms(), Some(27.0));
        assert_eq!(found.json()["situations"][8]["us_mean"], 10_000.0);
        let said = found.sentence().unwrap();
        assert_eq!(
            said,
            "queries: 3 from answer in memory (1000 us), 2 from index (10000 us)"
        );
    }
}
