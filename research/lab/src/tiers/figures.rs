//! What a run counts: where queries found what they need, and what that took.

use std::time::Duration;

use gannet_ssd::{Nanos, PAGE_BYTES};
use serde_json::{Value, json};

use super::prices::us;

/// The situations of the paper's table I, by where a query found what it needs.
pub const SITUATIONS: usize = 9;

/// What a query did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The situation, from 1 to 9 as in table I.
    pub situation: usize,
    /// Modelled time of its reads.
    pub read: Nanos,
    /// Modelled time of what it wrote to flash.
    pub written: Nanos,
    /// Lists that it asked for, and those of them that it found in memory or on flash as far as
    /// it needed them.
    pub lists: u64,
    /// See `lists`.
    pub list_hits: u64,
    /// Bytes of lists that its answer needs, whether its result was found or not.
    pub bytes: u64,
    /// Those of them that the slow store did not have to give.
    pub saved_bytes: u64,
}

/// The drive of the cache up to a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flashed {
    /// Queries so far.
    pub queries: u64,
    /// Requests, and their modelled time.
    pub requests: u64,
    /// See `requests`.
    pub nanos: Nanos,
    /// Pages of the host that were read, written.
    pub read_pages: u64,
    /// See `read_pages`.
    pub written_pages: u64,
    /// Blocks that were erased.
    pub erased: u64,
    /// Units that garbage collection moved, and that the host wrote.
    pub moved_units: u64,
    /// See `moved_units`.
    pub host_units: u64,
}

/// All queries of a run that are measured.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// How many were in each situation, and their time.
    situations: [(u64, Nanos); SITUATIONS],
    responses: Vec<Nanos>,
    read: Nanos,
    written: Nanos,
    lists: u64,
    list_hits: u64,
    bytes: u64,
    saved_bytes: u64,
    /// The drive when measuring began and when it ended.
    pub before: Flashed,
    /// See `before`.
    pub after: Flashed,
    /// The drive from the first query on, at ten points.
    pub points: Vec<Flashed>,
    /// Measured time of the policies.
    pub cpu: Duration,
    /// Measured time of searching in the index in memory, for queries without a cached result.
    pub search: Option<Duration>,
}

impl Figures {
    /// Counts a query.
    pub fn add(&mut self, answer: &Answer) {
        let (count, nanos) = &mut self.situations[answer.situation - 1];
        *count += 1;
        *nanos += answer.read + answer.written;
        self.responses.push(answer.read + answer.written);
        self.read += answer.read;
        self.written += answer.written;
        self.lists += answer.lists;
        self.list_hits += answer.list_hits;
        self.bytes += answer.bytes;
        self.saved_bytes += answer.saved_bytes;
    }

    /// Modelled nanoseconds of a query, the mean.
    pub fn response(&self) -> f64 {
        let total = (self.read + self.written) as f64;
        total / self.responses.len().max(1) as f64
    }

    /// The share of the needed bytes of lists that the slow store had to give.
    pub fn missed_bytes(&self) -> f64 {
        (self.bytes - self.saved_bytes) as f64 / self.bytes.max(1) as f64
    }

    fn queries(&self) -> f64 {
        self.responses.len().max(1) as f64
    }

    /// The share of queries in some situations.
    fn share(&self, situations: &[usize]) -> f64 {
        let count = situations
            .iter()
            .map(|number| self.situations[number - 1].0);
        count.sum::<u64>() as f64 / self.queries()
    }

    fn percentile(&self, share: f64) -> f64 {
        let mut responses = self.responses.clone();
        responses.sort_unstable();
        let at = (responses.len() as f64 * share) as usize;
        us(responses.get(at).or(responses.last()).copied().unwrap_or(0))
    }

    /// The figures by name. Modelled and measured times never share one.
    pub fn to_json(&self) -> Value {
        let each = |total: f64| total / self.queries();
        let cpu = each(self.cpu.as_secs_f64() * 1e6);
        let search = self.search.map(|time| each(time.as_secs_f64() * 1e6));
        let both = self.response() / 1e3 + cpu + search.unwrap_or(0.0);
        let situations = self
            .situations
            .iter()
            .enumerate()
            .map(|(at, (count, nanos))| {
                json!({
                    "situation": at + 1, "probability": *count as f64 / self.queries(),
                    "modelled_us": (*count > 0).then(|| us(*nanos) / *count as f64),
                })
            });
        json!({
            "queries": self.responses.len(),
            "hit_ratio": {
                "results": self.share(&[1, 3]),
                "lists": (self.lists > 0).then(|| self.list_hits as f64 / self.lists as f64),
                "bytes": (self.bytes > 0).then(|| self.saved_bytes as f64 / self.bytes as f64),
                "queries_without_slow_store": self.share(&[1, 2, 3, 4, 5]),
            },
            "situations": situations.collect::<Vec<_>>(),
            "modelled_response_us": self.response() / 1e3,
            "modelled_response_us_p50": self.percentile(0.5),
            "modelled_response_us_p99": self.percentile(0.99),
            "modelled_read_us": each(us(self.read)),
            "modelled_flash_write_us": each(us(self.written)),
            "measured_cache_cpu_us": cpu,
            "measured_search_cpu_us": search,
            "modelled_and_measured_us": both,
            "modelled_and_measured_queries_per_second": 1e6 / both.max(f64::MIN_POSITIVE),
            "flash": self.after.less(&self.before).to_json(),
            "points": self.points.iter().copied().map(Flashed::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Flashed {
    fn less(&self, before: &Flashed) -> Flashed {
        Flashed {
            queries: self.queries - before.queries,
            requests: self.requests - before.requests,
            nanos: self.nanos - before.nanos,
            read_pages: self.read_pages - before.read_pages,
            written_pages: self.written_pages - before.written_pages,
            erased: self.erased - before.erased,
            moved_units: self.moved_units - before.moved_units,
            host_units: self.host_units - before.host_units,
        }
    }

    fn to_json(self) -> Value {
        let written = self.host_units + self.moved_units;
        let pages = self.read_pages + self.written_pages;
        json!({
            "queries": self.queries,
            "requests": self.requests,
            "read_bytes": self.read_pages * u64::from(PAGE_BYTES),
            "written_bytes": self.written_pages * u64::from(PAGE_BYTES),
            "modelled_erased_blocks": self.erased,
            "modelled_device_write_amplification":
                (self.host_units > 0).then(|| written as f64 / self.host_units as f64),
            "modelled_access_us":
                (self.requests > 0).then(|| us(self.nanos) / self.requests as f64),
            "modelled_access_us_per_page":
                (pages > 0).then(|| us(self.nanos) / pages as f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_means_over_queries() {
        let mut figures = Figures::default();
        for (situation, read, hits) in [(1, 0, 0), (9, 3_000, 0), (2, 0, 2), (9, 9_000, 1)] {
            figures.add(&Answer {
                situation,
                read,
                written: 1_000,
                lists: 2 * u64::from(situation > 1),
                list_hits: hits,
                bytes: 100,
                saved_bytes: 30 * hits,
            });
        }
        figures.after = Flashed {
            requests: 4,
            nanos: 10_000,
            host_units: 10,
            moved_units: 5,
            ..Flashed::default()
        };
        let found = figures.to_json();
        assert_eq!(found["modelled_response_us"], 4.0);
        assert_eq!(found["modelled_read_us"], 3.0);
        assert_eq!(found["modelled_response_us_p99"], 10.0);
        assert_eq!(found["hit_ratio"]["results"], 0.25);
        assert_eq!(found["hit_ratio"]["lists"], 0.5);
        assert_eq!(found["hit_ratio"]["bytes"], 90.0 / 400.0);
        assert_eq!(figures.missed_bytes(), 310.0 / 400.0);
        assert_eq!(found["hit_ratio"]["queries_without_slow_store"], 0.5);
        assert_eq!(found["situations"][8]["probability"], 0.5);
        assert_eq!(found["situations"][8]["modelled_us"], 7.0);
        assert_eq!(found["flash"]["modelled_access_us"], 2.5);
        assert_eq!(found["flash"]["modelled_device_write_amplification"], 1.5);
    }
}
