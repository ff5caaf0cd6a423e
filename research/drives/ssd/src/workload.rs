//! Streams of requests, and how fast a drive answers them.

use std::ops::Range;

use gannet::Result;

use crate::clock::{Nanos, SECOND};
use crate::drive::Drive;
use crate::random::Random;
use crate::request::{Operation, Request};

/// How requests follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each begins where the one before it ended.
    Sequential,
    /// Anywhere, at a multiple of their length.
    Random,
}

/// Endless requests of one kind and length over the first pages of a drive.
#[derive(Debug)]
pub struct Stream {
    /// What is asked for.
    operation: Operation,
    order: Order,
    /// Pages of a request.
    pages: u32,
    /// Requests that fit.
    places: u64,
    next: u64,
    random: Random,
}

/// What came of requests.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// From the first one to the last answer.
    pub nanos: Nanos,
    /// What each waited, in ascending order.
    pub latencies: Vec<Nanos>,
}

impl Stream {
    /// Requests of `pages` pages over the first `span` pages; at least one fits.
    pub fn new(operation: Operation, order: Order, pages: u32, span: u64, seed: u64) -> Stream {
        Stream {
            operation,
            order,
            pages,
            places: (span / u64::from(pages.max(1))).max(1),
            next: 0,
            random: Random::new(seed, "stream"),
        }
    }
}

impl Iterator for Stream {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let place = match self.order {
            Order::Sequential => self.next % self.places,
            Order::Random => self.random.draw() % self.places,
        };
        self.next += 1;
        Some(Request {
            operation: self.operation,
            page: place * u64::from(self.pages),
            pages: self.pages,
        })
    }
}

impl Answered {
    /// MB a second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds() / 1e6
    }

    /// Requests a second.
    pub fn requests_per_second(&self) -> f64 {
        self.requests as f64 / self.seconds()
    }

    /// What this percentage of the requests waited at most.
    pub fn percentile(&self, percent: f64) -> Nanos {
        let rank = (percent / 100.0 * self.latencies.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.latencies.len().max(1)) - 1;
        self.latencies.get(at).copied().unwrap_or(0)
    }

    fn seconds(&self) -> f64 {
        self.nanos.max(1) as f64 / SECOND as f64
    }
}

/// Keeps `depth` requests under way until all are answered.
pub fn closed_loop(
    drive: &mut Drive,
    depth: usize,
    requests: impl IntoIterator<Item = Request>,
) -> Result<Answered> {
    let (mut requests, started) = (requests.into_iter(), drive.now());
    for request in requests.by_ref().take(depth.max(1)) {
        drive.submit(request)?;
    }
    let mut answered = Answered::default();
    while let Some(done) = drive.next_completion()? {
        answered.requests += 1;
        answered.bytes += done.request.bytes();
        answered.latencies.push(done.completed - done.submitted);
        if let Some(request) = requests.next() {
            drive.submit(request)?;
        }
    }
    answered.nanos = drive.now() - started;
    answered.latencies.sort_unstable();
    Ok(answered)
}

/// Brings a drive into the state of one that was written for long, without any time: its last
/// pages, the share `filled` of all, have content, and as many of them were overwritten at random,
/// `passes` times. Gives these pages.
pub fn age(drive: &mut Drive, filled: f64, passes: u32, seed: u64) -> Result<Range<u64>> {
    let end = drive.pages();
    let pages = (end as f64 * filled.clamp(0.0, 1.0)) as u64;
    let first = end - pages;
    for page in first..end {
        drive.preload(page, 1)?;
    }
    let mut random = Random::new(seed, "age");
    for _ in 0..u64::from(passes) * pages {
        drive.preload(first + random.draw() % pages, 1)?;
    }
    drive.reset_counts();
    Ok(first..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_answered() {
        let answered = Answered {
            latencies: (1..=200).collect(),
            ..Answered::default()
        };
        assert_eq!(answered.percentile(50.0), 100);
        assert_eq!(answered.percentile(99.0), 198);
        assert_eq!(answered.percentile(100.0), 200);
        assert_eq!(Answered::default().percentile(50.0), 0);
    }
}
