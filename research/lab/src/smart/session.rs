//! A query in the drive and the same on the host, with what each did.

use gannet::Result;
use gannet::device::{FileId, Offload, PageSpan, Poll, Task};
use gannet_ssd::smart::{Limits, SmartProfile, SmartSsd, Times, Work};

use super::counted::Read;
use super::host;
use super::lists::{List, POSTING_BYTES, bytes, table};
use super::operation::{Operation, PROGRAMS, Query};

/// Bytes that a GET asks for.
const GET_BYTES: usize = 1 << 20;

/// A plan that was carried out.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it answered.
    pub answer: Vec<u8>,
    /// Counts.
    pub work: Work,
    /// Modelled times.
    pub times: Times,
    /// Modelled millijoules: power above idle, times the time, as the paper measures it.
    pub millijoules: f64,
}

/// A drive with the programs and the lists of a query.
pub struct Bench {
    drive: SmartSsd,
    /// Those of the lists, then those of their tables.
    spans: Vec<PageSpan>,
    lists: Vec<List>,
}

impl Bench {
    /// Puts lists on a drive.
    pub fn new(profile: &SmartProfile, limits: Limits, lists: Vec<List>) -> Result<Bench> {
        let drive = SmartSsd::new(profile, limits)?;
        for (name, code) in PROGRAMS {
            drive.load(name, code)?;
        }
        let mut bench = Bench {
            drive,
            spans: Vec::new(),
            lists: Vec::new(),
        };
        bench.replace(lists)?;
        Ok(bench)
    }

    /// Puts other lists in their place.
    pub fn replace(&mut self, lists: Vec<List>) -> Result<()> {
        self.spans.clear();
        let tables = lists.iter().map(|list| {
            let entries = table(list).into_iter();
            entries.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()
        });
        let stored = lists.iter().map(|list| bytes(list)).chain(tables);
        for (number, bytes) in stored.enumerate() {
            let file = FileId::Zone(number as u32);
            self.spans.push(self.drive.store(file, &bytes)?);
        }
        self.lists = lists;
        Ok(())
    }

    /// Its lists.
    pub fn lists(&self) -> &[List] {
        &self.lists
    }

    fn profile(&self) -> &SmartProfile {
        self.drive.profile()
    }

    /// Carries out a query in the drive. What the host does then is to rank the results that no
    /// program has ranked.
    pub fn in_device(&self, query: &Query) -> Result<Plan> {
        let sizes: Vec<usize> = self.lists.iter().map(List::len).collect();
        let spans = match query.operation {
            Operation::EarlyUnion => self.spans.as_slice(),
            _ => &self.spans[..self.lists.len()],
        };
        let session = self.drive.open(&Task {
            program: query.program(),
            parameters: &query.parameters(&sizes),
            spans,
        })?;
        let answer = self.fetch(session);
        let report = self.drive.report(session);
        self.drive.close(session)?;
        let (answer, report) = (answer?, report?);
        let results = match query.top {
            Some(_) => 0,
            None => answer.len() / POSTING_BYTES,
        };
        let host = &self.profile().host;
        let mut times = report.times;
        times.host = nanos(host.query_us * 1e3 + host.rank_ns * results as f64);
        let watts = self.profile().device.watts;
        Ok(plan(answer, report.work, times, watts))
    }

    fn fetch(&self, session: gannet::device::SessionId) -> Result<Vec<u8>> {
        let mut answer = Vec::new();
        loop {
            if let Poll::Results { bytes, more } = self.drive.get(session, GET_BYTES)? {
                answer.extend_from_slice(&bytes);
                if !more {
                    return Ok(answer);
                }
            }
        }
    }

    /// Carries out a query on the host, which reads the lists whole unless it terminates early.
    pub fn on_host(&self, query: &Query) -> Result<Plan> {
        let found = host::run(query, &self.lists);
        let span = |read: &Read| PageSpan {
            page: self.spans[read.span].page + read.page as u32,
            pages: read.pages as u32,
            ..self.spans[read.span]
        };
        let spans: Vec<PageSpan> = found.reads.iter().map(span).collect();
        let mut work = self.drive.read_by_host(&spans)?;
        work.operators = found.tally.operators;
        work.dram_accesses = found.tally.accesses;
        let host = &self.profile().host;
        let mut times = work.on_host(self.profile());
        times.host = nanos(host.query_us * 1e3 + host.rank_ns * found.results as f64);
        Ok(plan(found.bytes, work, times, host.watts))
    }
}

fn plan(answer: Vec<u8>, work: Work, times: Times, watts: f64) -> Plan {
    let millijoules = times.total() as f64 / 1e6 * watts;
    Plan {
        answer,
        work,
        times,
        millijoules,
    }
}

fn nanos(value: f64) -> u64 {
    value.round() as u64
}
