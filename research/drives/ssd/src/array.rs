//! The flash memory in time: planes that work, and channels that carry pages between them and the
//! controller.
//!
//! A plane does one operation at a time, in order. A read senses the page and then waits for the
//! channel; a program waits for the channel and then writes the page. The plane is taken until both
//! are done, as it has one register. Real drives may read ahead of waiting programs; here a read
//! waits for its turn.

use crate::clock::{Clock, transfer};
use crate::event::Event;
use crate::ftl::{FlashKind, FlashOperation};
use crate::line::Line;
use crate::profile::{Profile, Timing};

/// What a plane does.
#[derive(Clone, Copy, Debug)]
pub struct PlaneJob {
    /// The operation.
    pub operation: FlashOperation,
    /// The place of the request that waits for it, if one does.
    pub place: Option<usize>,
}

/// Planes and channels.
#[derive(Debug)]
pub struct Array {
    timing: Timing,
    blocks_per_plane: u32,
    planes: Vec<Line<PlaneJob>>,
    /// The planes that wait for each channel.
    channels: Vec<Line<usize>>,
    /// Programs of each block that are not done yet.
    unprogrammed: Vec<u32>,
}

impl Array {
    /// Idle planes and channels.
    pub fn new(profile: &Profile) -> Array {
        let geometry = &profile.geometry;
        let planes = geometry.all_planes();
        Array {
            timing: profile.timing,
            blocks_per_plane: geometry.blocks,
            planes: (0..planes).map(|_| Line::new()).collect(),
            channels: (0..geometry.channels).map(|_| Line::new()).collect(),
            unprogrammed: vec![0; planes as usize * geometry.blocks as usize],
        }
    }

    /// Programs of a block that are not done yet.
    pub fn unprogrammed(&self, block: u32) -> u32 {
        self.unprogrammed[block as usize]
    }

    /// Gives a plane something to do.
    pub fn push(&mut self, job: PlaneJob, clock: &mut Clock<Event>) {
        if job.operation.kind == FlashKind::Program {
            self.unprogrammed[job.operation.block as usize] += 1;
        }
        let plane = (job.operation.block / self.blocks_per_plane) as usize;
        if self.planes[plane].push(job) {
            self.start_plane(plane, clock);
        }
    }

    /// A plane has read, programmed or erased. Gives its job if that is done.
    pub fn worked(&mut self, plane: usize, clock: &mut Clock<Event>) -> Option<PlaneJob> {
        match self.kind(plane) {
            Some(FlashKind::Read) => {
                self.carry(plane, clock);
                None
            }
            _ => self.finish(plane, clock),
        }
    }

    /// A channel has carried a page. Gives the job of its plane if that is done.
    pub fn carried(&mut self, channel: usize, clock: &mut Clock<Event>) -> Option<PlaneJob> {
        let plane = self.channels[channel].finish()?;
        self.start_channel(channel, clock);
        match self.kind(plane) {
            Some(FlashKind::Program) => {
                clock.schedule(self.timing.program, Event::Worked(plane));
                None
            }
            _ => self.finish(plane, clock),
        }
    }

    fn kind(&self, plane: usize) -> Option<FlashKind> {
        self.planes[plane].current().map(|job| job.operation.kind)
    }

    fn start_plane(&mut self, plane: usize, clock: &mut Clock<Event>) {
        match self.kind(plane) {
            Some(FlashKind::Read) => clock.schedule(self.timing.read, Event::Worked(plane)),
            Some(FlashKind::Erase) => clock.schedule(self.timing.erase, Event::Worked(plane)),
            Some(FlashKind::Program) => self.carry(plane, clock),
            None => {}
        }
    }

    /// A plane waits for its channel. Planes follow each other over the channels, so pages that
    /// follow each other are carried at the same time.
    fn carry(&mut self, plane: usize, clock: &mut Clock<Event>) {
        let channel = plane % self.channels.len();
        if self.channels[channel].push(plane) {
            self.start_channel(channel, clock);
        }
    }

    fn start_channel(&mut self, channel: usize, clock: &mut Clock<Event>) {
        let plane = self.channels[channel].current();
        if let Some(job) = plane.and_then(|plane| self.planes[*plane].current()) {
            let bytes = u64::from(job.operation.bytes);
            let time = transfer(bytes, self.timing.channel_rate);
            clock.schedule(time, Event::Carried(channel));
        }
    }

    fn finish(&mut self, plane: usize, clock: &mut Clock<Event>) -> Option<PlaneJob> {
        let job = self.planes[plane].finish()?;
        if job.operation.kind == FlashKind::Program {
            self.unprogrammed[job.operation.block as usize] -= 1;
        }
        self.start_plane(plane, clock);
        Some(job)
    }
}
