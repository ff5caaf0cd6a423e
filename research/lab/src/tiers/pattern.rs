//! What the queries of a log ask of the slow store when nothing is cached: the paper's figure 1.
//!
//! The paper names four properties of the reads of a search engine, and each is a figure here.
//! Reads dominate: lists are static, so all requests are reads. Locality: much goes to few pages.
//! Random reads: few requests begin where the last one ended. Skipped reads: much of the lists that
//! are asked for is passed over.

use serde_json::{Value, json};

use super::Workload;
use super::flash::pages;

/// The most read pages that locality is told for, as shares of those that are read at all.
const HOT: [f64; 2] = [0.01, 0.1];

/// The figures.
pub fn pattern(workload: &Workload) -> Value {
    Reads::of(workload).to_json()
}

/// The share of the bytes that the queries from `start` on need which earlier queries needed too:
/// no cache that reads what queries use, and no more, has a higher hit ratio by bytes.
pub fn needed_before(workload: &Workload, start: usize) -> f64 {
    let mut longest = vec![0; workload.lists.len()];
    let (mut again, mut all) = (0, 0);
    for (at, query) in workload.asked.iter().enumerate() {
        for used in &workload.queries[*query as usize] {
            let known: &mut u64 = &mut longest[used.term as usize];
            if at >= start {
                again += used.bytes.min(*known);
                all += used.bytes;
            }
            *known = used.bytes.max(*known);
        }
    }
    again as f64 / all.max(1) as f64
}

/// Requests of one list each, from its beginning.
#[derive(Default)]
struct Reads {
    requests: u64,
    pages: u64,
    /// Pages of the whole lists that were asked for.
    whole_pages: u64,
    /// Requests that leave a part of their list.
    partial: u64,
    /// Requests that begin where the last one ended.
    sequential: u64,
    /// Pages that were read before.
    again: u64,
    /// Of each list, how many of its reads ended with each page.
    ends: Vec<Vec<u32>>,
}

impl Reads {
    fn of(workload: &Workload) -> Reads {
        let mut reads = Reads {
            ends: vec![Vec::new(); workload.lists.len()],
            ..Reads::default()
        };
        // Lists stand one behind the other in the order of their terms.
        let mut next = None;
        for query in &workload.asked {
            for used in &workload.queries[*query as usize] {
                let whole = pages(workload.lists[used.term as usize]);
                let read = pages(used.bytes);
                reads.sequential += u64::from(next == Some(used.term));
                next = (read == whole).then_some(used.term + 1);
                reads.add(used.term as usize, read, whole);
            }
        }
        reads
    }

    fn add(&mut self, list: usize, read: u64, whole: u64) {
        self.requests += 1;
        self.pages += read;
        self.whole_pages += whole;
        self.partial += u64::from(read < whole);
        let ends = &mut self.ends[list];
        self.again += read.min(ends.len() as u64);
        ends.resize(ends.len().max(read as usize), 0);
        ends[read as usize - 1] += 1;
    }

    /// How often each page was read, the most read first.
    fn counts(&self) -> Vec<u32> {
        let mut counts = Vec::new();
        for ends in &self.ends {
            let mut reads = 0;
            counts.extend(ends.iter().rev().map(|here| {
                reads += here;
                reads
            }));
        }
        counts.sort_unstable_by(|left, right| right.cmp(left));
        counts
    }

    /// The share of the reads of pages that goes to the most read ones.
    fn hot(&self, share: f64) -> f64 {
        let counts = self.counts();
        let hot = &counts[..(share * counts.len() as f64).ceil() as usize];
        part(hot.iter().map(|reads| u64::from(*reads)).sum(), self.pages)
    }

    fn to_json(&self) -> Value {
        json!({
            "requests": self.requests,
            "reads": 1.0,
            "pages_read_before": part(self.again, self.pages),
            "reads_of_hottest": HOT.map(|share| json!([share, self.hot(share)])),
            "random": part(self.requests - self.sequential, self.requests),
            "leave_a_part": part(self.partial, self.requests),
            "pages_skipped": part(self.whole_pages - self.pages, self.whole_pages),
        })
    }
}

fn part(some: u64, all: u64) -> f64 {
    some as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::flash::{BLOCK_BYTES, BLOCK_PAGES};
    use super::super::workload::tests::workload;
    use super::*;

    /// A list of four blocks, of which a query uses one and another all; then a list of one block.
    fn some() -> Workload {
        let mut workload = workload(&[4, 1], &[&[0], &[0, 1]], &[0, 1, 0]);
        workload.queries[0][0].bytes = BLOCK_BYTES;
        workload
    }

    #[test]
    fn the_figures_tell_what_is_read_without_a_cache() {
        let found = pattern(&some());
        assert_eq!(found["requests"], 4);
        assert_eq!(found["pages_read_before"], 2.0 / 7.0);
        assert_eq!(found["random"], 0.75);
        assert_eq!(found["leave_a_part"], 0.5);
        assert_eq!(found["pages_skipped"], 6.0 / 13.0);
        // 1 % and 10 % of 160 pages are 2 and 16, each read three times.
        let page = 7.0 * BLOCK_PAGES as f64;
        assert_eq!(found["reads_of_hottest"][0][1], 6.0 / page);
        assert_eq!(found["reads_of_hottest"][1][1], 48.0 / page);
    }

    #[test]
    fn what_was_needed_before_is_the_longest_use_so_far() {
        assert_eq!(needed_before(&some(), 0), 2.0 / 7.0);
        assert_eq!(needed_before(&some(), 1), 2.0 / 6.0);
        assert_eq!(needed_before(&some(), 2), 1.0);
        let mut falling = some();
        falling.asked = vec![1, 0, 1];
        assert_eq!(needed_before(&falling, 2), 1.0, "not the last use");
    }
}
