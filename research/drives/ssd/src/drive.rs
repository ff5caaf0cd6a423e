//! A drive: requests go through the queue, over the link, to the planes, and are answered.
//!
//! - Each request takes the link for its command; a write for its data too.
//! - A read asks the plane of each page it needs. The plane reads the page into its register and
//!   keeps it until the channel has carried it away; then the link takes it to the host. What is
//!   still in the write buffer, and what has no content, needs the link alone.
//! - A write waits until the write buffer has room, unit by unit, and is complete when all of it is
//!   in there. Without a buffer it is complete when its pages are programmed. A page is carried to
//!   its plane by the channel and programmed; then its units leave the buffer.
//! - What garbage collection does is queued at the planes like everything else, so requests wait
//!   behind it.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use gannet::{Error, Result};

use crate::array::{Array, PlaneJob};
use crate::buffer::WriteBuffer;
use crate::clock::{Clock, Nanos};
use crate::counts::{Counts, wear_histogram};
use crate::event::Event;
use crate::flash::Slot;
use crate::ftl::{FlashKind, FlashOperation, Ftl};
use crate::link::{Direction, HostLink, LinkJob};
use crate::profile::Profile;
use crate::queue::Queue;
use crate::reading::ReadPlan;
use crate::request::{Operation, Request};

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request.
    pub request: Request,
    /// When the host gave it.
    pub submitted: Nanos,
    /// When it was answered.
    pub completed: Nanos,
}

/// A request that the drive has taken.
#[derive(Clone, Copy, Debug)]
struct Active {
    request: Request,
    submitted: Nanos,
    /// Parts of it that are under way.
    parts: u32,
    /// The next unit of a write that needs room in the buffer.
    next_unit: u32,
}

/// A solid-state drive on a virtual clock.
#[derive(Debug)]
pub struct Drive {
    profile: Profile,
    ftl: Ftl,
    clock: Clock<Event>,
    queue: Queue<(Request, Nanos)>,
    link: HostLink,
    array: Array,
    buffer: WriteBuffer,
    /// Requests inside, and places that are free for others.
    active: Vec<Active>,
    vacant: Vec<usize>,
    completions: VecDeque<Completion>,
    /// What the translation layer asks for, kept for its memory.
    operations: Vec<FlashOperation>,
    events: u64,
}

impl Drive {
    /// An empty drive.
    pub fn new(profile: &Profile) -> Result<Drive> {
        profile.check()?;
        Ok(Drive {
            profile: *profile,
            ftl: Ftl::new(profile),
            clock: Clock::new(),
            queue: Queue::new(profile.link.queue_depth),
            link: HostLink::new(profile.link),
            array: Array::new(profile),
            buffer: WriteBuffer::new(profile.buffer.bytes / profile.geometry.unit_bytes),
            active: Vec::new(),
            vacant: Vec::new(),
            completions: VecDeque::new(),
            operations: Vec::new(),
            events: 0,
        })
    }

    /// What it was made of.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Pages that the host sees.
    pub fn pages(&self) -> u64 {
        u64::from(self.ftl.units() / self.profile.geometry.units_per_host_page())
    }

    /// The time on its clock.
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// What it did since it was made, or since [`Drive::reset_counts`].
    pub fn counts(&self) -> &Counts {
        self.ftl.counts()
    }

    /// Begins to count anew. The erases of each block stay.
    pub fn reset_counts(&mut self) {
        self.ftl.reset_counts();
    }

    /// How many blocks were erased how often.
    pub fn wear(&self) -> BTreeMap<u32, u64> {
        wear_histogram(self.ftl.flash().erases())
    }

    /// Events that were handled: a measure of the work of the model itself.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Whether a page of the host has content.
    pub fn is_mapped(&self, page: u64) -> bool {
        let is_mapped = |unit| self.ftl.find(unit).is_some();
        page < self.pages() && self.units(&Request::read(page, 1)).all(is_mapped)
    }

    /// Writes pages without any time, as the state that a run begins with. The rest of a page that
    /// is not full stays in the controller, and is programmed when later writes fill it.
    pub fn preload(&mut self, page: u64, pages: u32) -> Result<()> {
        let request = Request::write(page, pages);
        self.check(&request)?;
        for unit in self.units(&request) {
            self.ftl.write(unit, &mut self.operations)?;
            self.operations.clear();
        }
        Ok(())
    }

    /// Takes a request; it is under way when the drive has room for it.
    pub fn submit(&mut self, request: Request) -> Result<()> {
        self.check(&request)?;
        self.queue.push((request, self.clock.now()));
        self.take_requests();
        Ok(())
    }

    /// Goes on until a request is answered; nothing when none is under way.
    pub fn next_completion(&mut self) -> Result<Option<Completion>> {
        while self.completions.is_empty() && self.queue.outstanding() > 0 {
            self.step()?;
        }
        Ok(self.completions.pop_front())
    }

    /// Carries out requests that are given at once; gives the time until all are answered.
    pub fn serve(&mut self, batch: &[Request]) -> Result<Nanos> {
        let started = self.clock.now();
        batch.iter().try_for_each(|request| self.check(request))?;
        for request in batch {
            self.queue.push((*request, started));
        }
        self.take_requests();
        while self.next_completion()?.is_some() {}
        Ok(self.clock.now() - started)
    }

    fn check(&self, request: &Request) -> Result<()> {
        let (first, pages) = (request.page, u64::from(request.pages));
        if first.saturating_add(pages) <= self.pages() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "pages {first} to {} of a modelled drive of {} pages: give it a larger capacity",
            first.saturating_add(pages),
            self.pages()
        )))
    }

    fn units(&self, request: &Request) -> Range<u32> {
        let per_page = self.profile.geometry.units_per_host_page();
        let first = (request.page * u64::from(per_page)) as u32;
        first..first + request.pages * per_page
    }

    fn take_requests(&mut self) {
        while let Some((request, submitted)) = self.queue.admit() {
            let next_unit = self.units(&request).start;
            let place = self.place(Active {
                request,
                submitted,
                parts: 0,
                next_unit,
            });
            let bytes = match request.operation {
                Operation::Write => request.bytes(),
                _ => 0,
            };
            self.send(place, bytes, Direction::ToDrive);
        }
    }

    /// Gives a request a place.
    fn place(&mut self, active: Active) -> usize {
        match self.vacant.pop() {
            Some(place) => {
                self.active[place] = active;
                place
            }
            None => {
                self.active.push(active);
                self.active.len() - 1
            }
        }
    }

    fn send(&mut self, place: usize, bytes: u64, direction: Direction) {
        let job = LinkJob {
            place,
            bytes,
            direction,
        };
        self.link.push(job, &mut self.clock);
    }

    /// Handles the next event.
    fn step(&mut self) -> Result<()> {
        let event = self.clock.advance();
        let event = event.ok_or_else(|| Error::internal("a request that nothing answers"))?;
        self.events += 1;
        let clock = &mut self.clock;
        match event {
            Event::Linked(line) => match self.link.linked(line, clock) {
                Some(job) => self.linked(job),
                None => Ok(()),
            },
            Event::Worked(plane) => {
                let done = self.array.worked(plane, clock);
                self.plane_done(done)
            }
            Event::Carried(channel) => {
                let done = self.array.carried(channel, clock);
                self.plane_done(done)
            }
            Event::Answered(place) => {
                self.answered(place);
                Ok(())
            }
        }
    }

    fn answered(&mut self, place: usize) {
        let active = self.active[place];
        self.vacant.push(place);
        self.completions.push_back(Completion {
            request: active.request,
            submitted: active.submitted,
            completed: self.clock.now(),
        });
        self.queue.complete();
        self.take_requests();
    }

    fn answer(&mut self, place: usize, delay: Nanos) {
        self.clock.schedule(delay, Event::Answered(place));
    }

    fn linked(&mut self, job: LinkJob) -> Result<()> {
        match job.direction {
            Direction::ToDrive => self.begin(job.place),
            Direction::ToHost => {
                self.part_done(job.place, 0);
                Ok(())
            }
        }
    }

    /// The drive knows what a request asks for.
    fn begin(&mut self, place: usize) -> Result<()> {
        let request = self.active[place].request;
        match request.operation {
            Operation::Read => self.begin_read(place),
            Operation::Write => {
                self.buffer.push_write(place);
                return self.admit_writes();
            }
            Operation::Trim => {
                self.units(&request).for_each(|unit| self.ftl.trim(unit));
                self.answer(place, 0);
            }
            Operation::Flush => self.begin_flush(place),
        }
        Ok(())
    }

    fn begin_read(&mut self, place: usize) {
        let geometry = &self.profile.geometry;
        let (per_page, unit_bytes) = (geometry.units_per_page(), geometry.unit_bytes);
        let units = self.units(&self.active[place].request);
        let plan = ReadPlan::new(units.clone(), &self.ftl, &self.array, per_page);
        let unmapped = u64::from(plan.unmapped);
        self.ftl.count_read(
            u64::from(units.end - units.start) - unmapped,
            unmapped,
            plan.pages.len() as u64,
        );
        // One part more than pages: what needs no flash, be it nothing.
        self.active[place].parts = plan.pages.len() as u32 + 1;
        for (slot, units) in plan.pages {
            self.read_page(place, slot, units * unit_bytes);
        }
        match plan.buffered + plan.unmapped {
            0 => self.part_done(place, 0),
            units => {
                let bytes = u64::from(units) * u64::from(unit_bytes);
                self.send(place, bytes, Direction::ToHost);
            }
        }
    }

    /// Asks a plane for bytes of the page of a slot.
    fn read_page(&mut self, place: usize, slot: Slot, bytes: u32) {
        let operation = FlashOperation {
            kind: FlashKind::Read,
            block: self.ftl.flash().block_of(slot),
            bytes,
            host_units: 0,
        };
        let place = Some(place);
        self.array
            .push(PlaneJob { operation, place }, &mut self.clock);
    }

    /// Takes the units of waiting writes into the buffer while it has room.
    fn admit_writes(&mut self) -> Result<()> {
        while let Some(place) = self.buffer.first_write() {
            let end = self.units(&self.active[place].request).end;
            while self.active[place].next_unit < end {
                if !self.buffer.has_room() {
                    return Ok(());
                }
                self.write_unit(place)?;
            }
            self.buffer.pop_write();
            // Parts are left only where there is no buffer.
            if self.active[place].parts == 0 {
                self.answer(place, self.profile.buffer.write_latency);
            }
        }
        Ok(())
    }

    fn write_unit(&mut self, place: usize) -> Result<()> {
        let unit = self.active[place].next_unit;
        self.active[place].next_unit += 1;
        self.buffer.put();
        self.ftl.write(unit, &mut self.operations)?;
        self.give_operations((!self.buffer.keeps_writes()).then_some(place));
        Ok(())
    }

    /// Gives the planes what the translation layer asked for. Without a buffer, a request waits for
    /// the pages that have units of the host's.
    fn give_operations(&mut self, waiting: Option<usize>) {
        let mut operations = std::mem::take(&mut self.operations);
        for operation in operations.drain(..) {
            let place = waiting.filter(|_| operation.host_units > 0);
            if let Some(place) = place {
                self.active[place].parts += 1;
            }
            self.array
                .push(PlaneJob { operation, place }, &mut self.clock);
        }
        self.operations = operations;
    }

    fn begin_flush(&mut self, place: usize) {
        if self.profile.buffer.is_durable || self.buffer.is_empty() {
            return self.answer(place, 0);
        }
        self.ftl.pad(&mut self.operations);
        self.give_operations(None);
        self.buffer.push_flush(place);
    }

    /// A plane may have finished a job.
    fn plane_done(&mut self, done: Option<PlaneJob>) -> Result<()> {
        let Some(PlaneJob { operation, place }) = done else {
            return Ok(());
        };
        match (operation.kind, place) {
            (FlashKind::Read, Some(place)) => {
                self.send(place, u64::from(operation.bytes), Direction::ToHost);
            }
            (FlashKind::Program, _) => self.program_done(operation.host_units, place)?,
            _ => {}
        }
        Ok(())
    }

    fn program_done(&mut self, host_units: u32, place: Option<usize>) -> Result<()> {
        self.buffer.take(host_units);
        if let Some(place) = place {
            self.part_done(place, self.profile.buffer.write_latency);
        }
        self.admit_writes()?;
        for place in self.buffer.take_flushes() {
            self.answer(place, 0);
        }
        Ok(())
    }

    /// A part of a request is done; the last one answers it.
    fn part_done(&mut self, place: usize, delay: Nanos) {
        let active = &mut self.active[place];
        active.parts -= 1;
        if active.parts == 0 {
            self.answer(place, delay);
        }
    }
}
