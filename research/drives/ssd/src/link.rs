//! The link between host and drive: it carries one job at a time, or one in each direction.

use crate::clock::{Clock, Nanos, transfer};
use crate::event::Event;
use crate::line::Line;
use crate::profile;

/// Where the link carries something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A command, with the data of a write.
    ToDrive,
    /// Data that was read.
    ToHost,
}

/// What the link carries.
#[derive(Clone, Copy, Debug)]
pub struct LinkJob {
    /// The place of the request in the drive.
    pub place: usize,
    /// Bytes of data.
    pub bytes: u64,
    /// Where to.
    pub direction: Direction,
}

/// The link with the jobs that wait for it.
#[derive(Debug)]
pub struct HostLink {
    profile: profile::Link,
    /// By direction; only the first if the link is not full duplex.
    lines: [Line<LinkJob>; 2],
}

impl HostLink {
    /// An idle link.
    pub fn new(profile: profile::Link) -> HostLink {
        HostLink {
            profile,
            lines: [Line::new(), Line::new()],
        }
    }

    /// Takes a job.
    pub fn push(&mut self, job: LinkJob, clock: &mut Clock<Event>) {
        let is_second = job.direction == Direction::ToHost && self.profile.full_duplex;
        let line = usize::from(is_second);
        if self.lines[line].push(job) {
            self.start(line, clock);
        }
    }

    /// A line has carried its job; the next one begins.
    pub fn linked(&mut self, line: usize, clock: &mut Clock<Event>) -> Option<LinkJob> {
        let job = self.lines[line].finish();
        self.start(line, clock);
        job
    }

    fn start(&self, line: usize, clock: &mut Clock<Event>) {
        if let Some(job) = self.lines[line].current() {
            clock.schedule(self.time(job), Event::Linked(line));
        }
    }

    fn time(&self, job: &LinkJob) -> Nanos {
        let data = transfer(job.bytes, self.profile.rate);
        match job.direction {
            Direction::ToDrive => self.profile.command + data,
            Direction::ToHost => data,
        }
    }
}
