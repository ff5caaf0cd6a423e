//! Reads pages for a query: it computes with the pages it has and says which it needs next.
//!
//! A step that misses a page notes its address and stops with [`Stop::Pages`]. Whoever drives the
//! query fetches all noted pages in one batch (a *round*) and calls the step again. Steps are
//! therefore written so that calling them again with the same arguments goes on where they stopped.
//! A driver of many queries fetches for all of them at once.

use std::ops::{Deref, Range};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::frames::{Frame, FramePool};
use super::pinned::PinnedPages;
use super::reading::{IoCounts, Reading, UsedPage};
use super::request::{PageRequest, PageSource};
use crate::base::{Error, Interrupt, PAGE_PAYLOAD, PAGE_SIZE, PageAddress, Result, Span, Steps};
use crate::storage::{IndexIdentity, PageKind};

/// Pages that a round asks for ahead of need, at least and at most.
const ROUND_PAGES: (usize, usize) = (4, 1024);

/// The time that a query waits for frames that searches hold. It looks again after it although none
/// came back: it is not told of one that did before the wait.
const FRAMES_COME_BACK: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(10);

/// Pages that may stay held between rounds, at least and at most: more than a round asks for, and
/// few enough that the map of them is small beside what a query reserves.
const HELD_MAX: (usize, usize) = (32, 4096);

/// The cost of looking a page up, in steps.
const LOOK_UP_STEPS: usize = 8;

/// Pages noted last among which one that is wanted is looked for first.
const RECENT: usize = 4;

/// The most bytes of a span for which memory is taken before its pages are there.
const JOINED_BYTES: usize = 1 << 20;

/// The result of a step: a value, or the reason why there is none yet.
pub type Step<T> = std::result::Result<T, Stop>;

/// Why a step stopped.
#[derive(Debug)]
pub enum Stop {
    /// It needs the pages that it noted; fetch them and call it again.
    Pages,
    /// It failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

/// One query's access to pages.
#[derive(Debug)]
pub struct Pages<'a> {
    pool: &'a FramePool,
    held: FxHashMap<PageAddress, Held>,
    wanted: Vec<PageAddress>,
    counts: IoCounts,
    reading: Reading,
    steps: Steps<'a>,
    /// Set if the query waits for frames that others hold.
    waits: bool,
    /// The pages used, each once for every time it was taken in, if they are to be listed.
    used: Vec<UsedPage>,
    /// The pages asked for, if they are to be listed.
    requests: Vec<PageRequest>,
    /// The times that noted pages were fetched.
    round: u32,
    /// The number of pages that a round may leave held before older ones are let go.
    held_max: usize,
    /// The number of pages that a round asks for ahead of need.
    round_max: usize,
}

#[derive(Debug)]
struct Held {
    frame: Frame,
    round: u32,
    /// Set if a round of this query brought it.
    fetched: bool,
    /// Set if it was listed as used.
    used: bool,
}

/// The whereabouts of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// A frame has it.
    Memory,
    /// It is on the device alone.
    Device,
    /// It is on its way to the device.
    WriteBuffer,
}

/// Bytes of a span: inside a frame where the span lies in one page, copied together where it does
/// not.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// A range of a frame's payload.
    Frame(Frame, Range<usize>),
    /// A copy.
    Owned(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Frame(frame, range) => &frame[range.clone()],
            Bytes::Owned(bytes) => bytes,
        }
    }
}

impl std::fmt::Debug for FramePool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FramePool({} frames)", self.capacity())
    }
}

/// Pages that may stay held between rounds, of a share of so many frames.
fn held_max(share: usize) -> usize {
    (share / 4).clamp(HELD_MAX.0, HELD_MAX.1)
}

impl<'a> Pages<'a> {
    /// Access to the pages of `pool`, with nothing read so far, for the writer and whatever is done
    /// once at a time: where searches hold all frames it waits for some, for these fail rather than
    /// wait and so let go.
    pub fn new(pool: &'a FramePool) -> Pages<'a> {
        Pages::of_walks(pool, 1)
    }

    /// The same for one of so many walks that go forward together: each holds its share of the pool
    /// at most.
    pub fn of_walks(pool: &'a FramePool, walks: usize) -> Pages<'a> {
        Pages {
            waits: true,
            ..Pages::sharing(pool, walks)
        }
    }

    /// Access for one of so many queries that go forward together: each holds its share of the pool
    /// at most, and fails where there are no frames.
    pub fn sharing(pool: &'a FramePool, queries: usize) -> Pages<'a> {
        let share = pool.capacity() / queries.max(1);
        Pages {
            pool,
            held: FxHashMap::default(),
            wanted: Vec::new(),
            counts: IoCounts::default(),
            reading: Reading::default(),
            steps: Steps::default(),
            waits: false,
            used: Vec::new(),
            requests: Vec::new(),
            round: 0,
            held_max: held_max(share),
            round_max: (share / 16).clamp(ROUND_PAGES.0, ROUND_PAGES.1),
        }
    }

    /// Reads as `reading` says.
    pub fn reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// Fails when `interrupt` says so.
    pub fn until(mut self, interrupt: &'a dyn Interrupt) -> Self {
        self.steps = Steps::until(interrupt);
        self
    }

    /// Counts steps of a loop over what is in memory, and fails if the query is to be given up.
    /// Looking a page up counts by itself.
    #[inline]
    pub fn count_steps(&mut self, steps: usize) -> Result<()> {
        self.steps.count(steps)
    }

    /// The steps of the query, for work that needs no pages.
    pub fn steps(&mut self) -> &mut Steps<'a> {
        &mut self.steps
    }

    /// Returns true if pages that will be gone through are to be noted before they are reached.
    pub fn reads_ahead(&self) -> bool {
        self.reading.ahead
    }

    /// Returns the counts of reads so far.
    pub fn counts(&self) -> IoCounts {
        self.counts
    }

    /// The identity of the index.
    pub fn identity(&self) -> IndexIdentity {
        self.pool.identity()
    }

    /// Returns the whereabouts of a page without asking for it.
    pub fn whereabouts(&self, address: PageAddress) -> Whereabouts {
        if self.held.contains_key(&address) || self.pool.get(address).is_some() {
            return Whereabouts::Memory;
        }
        if self.pool.is_pending(address) {
            Whereabouts::WriteBuffer
        } else {
            Whereabouts::Device
        }
    }

    /// A page, or a stop that notes it.
    pub fn page(&mut self, address: PageAddress) -> Step<Frame> {
        match self.find(address)? {
            Some(frame) => {
                if self.reading.listed {
                    self.list(address, frame.kind());
                }
                Ok(frame)
            }
            None => {
                self.note(address);
                Err(Stop::Pages)
            }
        }
    }

    /// The pages used so far in the order of their first use, and all that were asked for, if they
    /// were to be listed.
    pub fn into_lists(self) -> (Vec<UsedPage>, Vec<PageRequest>) {
        (self.used, self.requests)
    }

    #[cold]
    fn list_request(&mut self, address: PageAddress, kind: PageKind, source: PageSource) {
        let PageAddress { zone, page } = address;
        self.requests.push(PageRequest {
            round: self.round,
            zone,
            page,
            kind,
            source,
        });
    }

    #[cold]
    fn list(&mut self, address: PageAddress, kind: PageKind) {
        let PageAddress { zone, page } = address;
        let held = self.held.get_mut(&address);
        if held.is_some_and(|held| !std::mem::replace(&mut held.used, true)) {
            self.used.push(UsedPage { zone, page, kind });
        }
    }

    /// Notes a page that will be needed, if it is not at hand. Tells whether it is.
    pub fn want(&mut self, address: PageAddress) -> Step<bool> {
        // Neighbours want the same pages: to look each up takes locks.
        if self.wanted.iter().rev().take(RECENT).any(|w| *w == address) {
            return Ok(false);
        }
        let found = self.find(address)?.is_some();
        if !found {
            self.note(address);
        }
        Ok(found)
    }

    /// Notes a page. One that is asked for twice takes the room of one.
    fn note(&mut self, address: PageAddress) {
        if self.wanted.last() != Some(&address) {
            self.wanted.push(address);
        }
    }

    /// Returns true if the coming round has room for pages that are asked for ahead of need.
    pub fn has_room(&self) -> bool {
        self.wanted.len() < self.round_max
    }

    /// The bytes of a span, or a stop that notes all its missing pages.
    pub fn span(&mut self, span: Span) -> Step<Bytes> {
        if span.page_count() == 1 {
            let frame = self.page(span.first())?;
            let start = span.offset as usize;
            return Ok(Bytes::Frame(frame, start..start + span.length as usize));
        }
        let mut complete = true;
        for address in span.pages() {
            complete &= self.want(address)?;
        }
        if !complete {
            return Err(Stop::Pages);
        }
        self.join(span).map(Bytes::Owned)
    }

    /// Returns true if a page of a table is pinned in its column, and so needs no looking up; it
    /// then counts as found in memory. If pages are listed, all are looked up.
    #[inline]
    pub fn is_pinned(&mut self, column: &PinnedPages, page: usize, address: PageAddress) -> bool {
        let pinned = !self.reading.listed && column.get(page, address).is_some();
        self.counts.frames_hit += u32::from(pinned);
        pinned
    }

    /// [`Pages::want`] of a page of a table that may be pinned.
    pub fn want_unpinned(
        &mut self,
        column: &PinnedPages,
        page: usize,
        address: PageAddress,
    ) -> Step<bool> {
        match column.get(page, address) {
            Some(_) if !self.reading.listed => Ok(true),
            _ => self.want(address),
        }
    }

    /// [`Pages::page`] of a page of a table, which is then pinned if there is room.
    pub fn page_to_pin(
        &mut self,
        column: &PinnedPages,
        page: usize,
        address: PageAddress,
    ) -> Step<Frame> {
        let frame = self.page(address)?;
        column.pin(page, address, &frame, self.pool);
        Ok(frame)
    }

    /// Does what stops where a page is not in memory, and notes none of the pages that it missed.
    pub fn peek<T>(&mut self, act: impl FnOnce(&mut Self) -> Step<T>) -> Step<T> {
        let noted = self.wanted.len();
        let done = act(self);
        self.wanted.truncate(noted);
        done
    }

    /// Returns true if pages were noted and not fetched yet.
    pub fn has_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Lets go of all pages held when they are many. For steps that go through many pages without
    /// looking back, at a moment when they need none of those before: pages found in memory are
    /// held too, and no round may come that would let go of them.
    pub fn trim(&mut self) {
        if self.held.len() > self.held_max {
            self.clear();
        }
    }

    /// Lets go of all pages held. For steps that never look back.
    pub fn clear(&mut self) {
        self.held.clear();
    }

    fn join(&mut self, span: Span) -> Step<Vec<u8>> {
        // A length that is not true takes no memory before its pages are there.
        let mut bytes = Vec::with_capacity(JOINED_BYTES.min(span.length as usize));
        let mut skip = span.offset as usize;
        for address in span.pages() {
            let frame = self.page(address)?;
            let rest = span.length as usize - bytes.len();
            let end = PAGE_PAYLOAD.min(skip + rest);
            bytes.extend_from_slice(&frame[skip..end]);
            skip = 0;
        }
        Ok(bytes)
    }

    fn find(&mut self, address: PageAddress) -> Step<Option<Frame>> {
        self.steps.count(LOOK_UP_STEPS)?;
        let round = self.round;
        if let Some(held) = self.held.get_mut(&address) {
            held.round = round;
            return Ok(Some(held.frame.clone()));
        }
        let found = match self.pool.get(address) {
            Some(frame) => Some(frame),
            None => self.with_frames(|pages| pages.pool.copy_pending(address))?,
        };
        if let Some(frame) = &found {
            self.counts.frames_hit += 1;
            if self.reading.listed {
                self.list_request(address, frame.kind(), PageSource::Memory);
            }
            self.hold(address, frame.clone(), false);
        }
        Ok(found)
    }

    /// Fetches what was noted, as a round of its own.
    pub fn fetch(&mut self) -> Result<()> {
        self.with_frames(|pages| fetch_round(pages.pool, &mut [pages]))
    }

    /// Does what takes frames, again and again where there are none and they are waited for.
    fn with_frames<T>(&mut self, mut act: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        let start = Instant::now();
        loop {
            match act(self) {
                Err(Error::Memory { .. }) if self.waits && start.elapsed() < FRAMES_COME_BACK => {
                    self.pool.wait_for_frame(LOOK);
                }
                done => return done,
            }
        }
    }

    fn hold(&mut self, address: PageAddress, frame: Frame, fetched: bool) {
        let round = self.round;
        let held = Held {
            frame,
            round,
            fetched,
            used: false,
        };
        self.held.insert(address, held);
        if self.held.len() > self.held_max * 2 {
            self.let_go_of_hits();
        }
    }

    /// Lets go of pages that no recent round fetched: those found in memory can be found again, and
    /// those of the last round are what keeps a step going forward.
    fn let_go_of_hits(&mut self) {
        let round = self.round;
        self.held
            .retain(|_, held| held.fetched && held.round + 1 >= round);
    }

    /// Lets go of pages that were not used in this round or the last, when there are many.
    fn let_go(&mut self) {
        if self.held.len() > self.held_max {
            let round = self.round;
            self.held.retain(|_, held| held.round + 1 >= round);
        }
    }
}

/// Fetches what all of `queries` noted, in one batch: one round for each query that noted anything.
/// For a query that does not read in batches, each page is a round.
pub fn fetch_round(pool: &FramePool, queries: &mut [&mut Pages<'_>]) -> Result<()> {
    let mut all = Vec::new();
    for query in queries.iter_mut() {
        query.wanted.sort_unstable();
        query.wanted.dedup();
        all.extend_from_slice(&query.wanted);
    }
    if queries.len() > 1 {
        all.sort_unstable();
        all.dedup();
    }
    let in_batches = queries.iter().all(|query| query.reading.in_batches);
    let together = if in_batches { all.len() } else { 1 };
    let mut frames = Vec::with_capacity(all.len());
    for batch in all.chunks(together.max(1)) {
        frames.append(&mut pool.read(batch)?.0);
    }
    for query in queries.iter_mut() {
        query.receive(&frames);
    }
    Ok(())
}

impl Pages<'_> {
    /// Takes what was noted out of the `frames` that were read, and counts it.
    fn receive(&mut self, frames: &[(PageAddress, Frame)]) {
        if self.wanted.is_empty() {
            return;
        }
        self.let_go();
        let wanted = std::mem::take(&mut self.wanted);
        if self.reading.listed {
            self.list_fetched(&wanted, frames);
        }
        self.round += 1;
        let pages = wanted.len();
        // Those that the device was asked for.
        let mut asked = Vec::with_capacity(pages);
        for address in wanted {
            let frame = frame_of(frames, address).cloned();
            if !frame.as_ref().is_some_and(Frame::is_from_tier) {
                asked.push(address);
            }
            if let Some(frame) = frame {
                self.hold(address, frame, true);
            }
        }
        let (rounds, reads) = if self.reading.in_batches {
            (1, operations(&asked))
        } else {
            (pages as u32, asked.len() as u32)
        };
        self.counts.rounds += rounds;
        self.counts.reads += reads;
        self.counts.bytes += (asked.len() * PAGE_SIZE) as u64;
        self.counts.tier_hits += (pages - asked.len()) as u32;
    }

    #[cold]
    fn list_fetched(&mut self, wanted: &[PageAddress], frames: &[(PageAddress, Frame)]) {
        for address in wanted {
            if let Some(frame) = frame_of(frames, *address) {
                let source = if frame.is_from_tier() {
                    PageSource::Tier
                } else {
                    PageSource::Device
                };
                self.list_request(*address, frame.kind(), source);
            }
        }
    }
}

/// The frame of a page among sorted ones.
fn frame_of(frames: &[(PageAddress, Frame)], address: PageAddress) -> Option<&Frame> {
    let found = frames.binary_search_by_key(&address, |(address, _)| *address);
    found.ok().map(|at| &frames[at].1)
}

/// Read operations for sorted addresses: neighbours are read together.
fn operations(sorted: &[PageAddress]) -> u32 {
    let breaks = sorted.windows(2).filter(|pair| {
        pair[0].zone != pair[1].zone || pair[0].page.wrapping_add(1) != pair[1].page
    });
    u32::from(!sorted.is_empty()) + breaks.count() as u32
}

/// The values of `step` for all of `items`, in their order; if any misses pages, all have noted
/// theirs.
pub fn gather<I: Copy, T>(items: &[I], mut step: impl FnMut(I) -> Step<T>) -> Step<Vec<T>> {
    let mut values = Vec::with_capacity(items.len());
    let mut complete = true;
    for item in items {
        match step(*item) {
            Ok(value) => values.push(value),
            Err(Stop::Pages) => complete = false,
            Err(failed) => return Err(failed),
        }
    }
    if complete {
        Ok(values)
    } else {
        Err(Stop::Pages)
    }
}

/// Drives one query alone: calls `step` until it has a value, fetching a round whenever it stops
/// for pages.
pub fn finish<T>(
    pages: &mut Pages<'_>,
    mut step: impl FnMut(&mut Pages<'_>) -> Step<T>,
) -> Result<T> {
    loop {
        match step(pages) {
            Ok(value) => return Ok(value),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Pages) if pages.has_wanted() => {
                pages.fetch()?;
            }
            Err(Stop::Pages) => {
                return Err(Error::internal(
                    "a query stopped for pages without naming any",
                ));
            }
        }
    }
}
