//! A session: what was asked for, how far its program is in virtual time, and what GET finds.

use gannet::device::{PageSpan, Poll, Task};
use gannet::{Error, Result};
use wasmi::Module;

use super::profile::SmartProfile;
use super::work::Work;
use crate::clock::Nanos;
use crate::request::PAGE_BYTES;

/// Bytes that a span takes in OPEN: file, page and pages.
const SPAN_BYTES: u64 = 12;

/// A session: what was asked for, and how far it is.
pub struct Session {
    /// The name of its program.
    pub program: String,
    /// The program, with counters.
    pub module: Module,
    /// What the program is told.
    pub parameters: Vec<u8>,
    /// The pages that it may read.
    pub spans: Vec<PageSpan>,
    /// What was done so far.
    pub work: Work,
    /// Time since OPEN.
    elapsed: Nanos,
    /// What came of the program, once it has been polled.
    pub outcome: Option<std::result::Result<Vec<u8>, String>>,
    /// Bytes that were fetched of it.
    fetched: usize,
}

impl Session {
    /// What OPEN asked for.
    pub fn new(task: &Task<'_>, module: Module) -> Session {
        let link_bytes = task.parameters.len() as u64 + SPAN_BYTES * task.spans.len() as u64;
        Session {
            program: task.program.to_owned(),
            module,
            parameters: task.parameters.to_vec(),
            spans: task.spans.to_vec(),
            work: Work {
                link_bytes,
                ..Work::default()
            },
            elapsed: 0,
            outcome: None,
            fetched: 0,
        }
    }

    /// What GET finds now.
    pub fn poll(&mut self, profile: &SmartProfile, most_bytes: usize) -> Result<Poll> {
        if self.elapsed < self.work.running(profile) {
            self.elapsed += profile.poll_nanos();
            self.work.polls += 1;
            return Ok(Poll::Running);
        }
        match &self.outcome {
            Some(Ok(results)) => {
                let end = results.len().min(self.fetched.saturating_add(most_bytes));
                let bytes = results[self.fetched..end].to_vec();
                self.work.link_bytes += bytes.len() as u64;
                self.fetched = end;
                let more = end < results.len();
                Ok(Poll::Results { bytes, more })
            }
            Some(Err(reason)) => Err(Error::Device {
                operation: "program",
                file: self.program.clone(),
                reason: reason.clone(),
                full: false,
            }),
            None => Err(Error::internal("a program that was polled and did not run")),
        }
    }

    /// The pages that PUT names.
    pub fn target(&self, span: usize, page: u32, bytes: usize) -> Result<PageSpan> {
        if self.outcome.is_some() {
            return Err(Error::invalid(
                "the program runs: write its pages before the first GET",
            ));
        }
        let count = bytes / PAGE_BYTES as usize;
        let known = self.spans.get(span).ok_or_else(|| {
            let known = self.spans.len();
            Error::invalid(format!(
                "span {span} of a session with {known}: expected a lower number"
            ))
        })?;
        let fits = u64::from(page) + count as u64 <= u64::from(known.pages);
        if count == 0 || !bytes.is_multiple_of(PAGE_BYTES as usize) || !fits {
            return Err(Error::invalid(format!(
                "{bytes} bytes at page {page} of a span of {} pages: expected whole pages in it",
                known.pages
            )));
        }
        Ok(PageSpan {
            page: known.page + page,
            pages: count as u32,
            ..*known
        })
    }
}
