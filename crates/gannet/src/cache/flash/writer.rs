//! The thread that writes drafts to regions.
//!
//! A region that is full gives up some of its pages, whose places are written over. The others
//! stay where they are: to write the region whole would write them again.

use std::sync::Arc;

use super::TierShared;
use super::header::{ENTRIES, Header, REGION_PAGES, place, toggle_mark};
use super::size::TIER;
use super::state::Draft;
use crate::base::{Error, PageAddress, Result};
use crate::device::{PageBuffer, PagePool, Transfer};

/// Writes drafts until the tier closes and none is left.
fn serve(shared: &TierShared) {
    let _end = End(shared);
    // Pages of drafts are read while they are written, so they are written from copies.
    let copies = PagePool::new(REGION_PAGES);
    while let Some(draft) = next(shared) {
        let written = write(shared, &draft, &copies);
        // Its pages are free for the next draft before anyone hears of it.
        drop(draft);
        let mut state = shared.state();
        state.ready = None;
        if let Err(error) = written {
            state.stopped = Some(error.to_string());
        }
        shared.changed.notify_all();
    }
}

/// Tells those who wait when the thread ends, by a panic too.
struct End<'a>(&'a TierShared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_over = true;
        if std::thread::panicking() {
            state.stopped = Some("the thread that writes it has failed".to_owned());
        }
        self.0.changed.notify_all();
    }
}

fn next(shared: &TierShared) -> Option<Arc<Draft>> {
    let mut state = shared.state();
    loop {
        if let Some(draft) = &state.ready {
            return Some(Arc::clone(draft));
        }
        if state.is_closing {
            return None;
        }
        let woken = shared.changed.wait(state);
        state = woken.unwrap_or_else(|e| e.into_inner());
    }
}

/// Writes the pages of a draft to as many regions as it takes.
fn write(shared: &TierShared, draft: &Draft, pool: &PagePool) -> Result<()> {
    let mut written = 0;
    while written < draft.pages.len() {
        written += write_some(shared, draft, written, pool)?;
    }
    Ok(())
}

/// Writes pages of a draft, from one on, to the next region: where it has room, or over the pages
/// that it gives up. Returns their number.
fn write_some(shared: &TierShared, draft: &Draft, first: usize, pool: &PagePool) -> Result<usize> {
    let (region, sequence, filled) = next_region(shared);
    let mut pages = match filled {
        0 => Vec::new(),
        _ => contents(shared, region, take(pool)?),
    };
    let places = make_room(shared, region, &pages, draft.pages.len() - first);
    let changed = places.iter().zip(first..);
    for (place, number) in changed.clone() {
        let page = draft.pages[number];
        match pages.get_mut(*place) {
            Some(old) => *old = page,
            None => pages.push(page),
        }
    }
    let header = {
        let state = shared.state();
        Header {
            region,
            sequence,
            mark: state.mark,
            lineage: state.lineage(),
            notes: pages.iter().map(|page| state.policy.note(*page)).collect(),
            pages,
        }
    };
    let changed = changed.map(|(place, number)| (*place, &draft.buffers[number]));
    let mut batch = transfers(&header, changed, pool)?;
    shared.device().write(&mut batch)?;
    let mut state = shared.state();
    for number in &places {
        let address = header.pages[*number];
        state.map.insert(address, place(region, number + 1));
    }
    state.regions.fill(region, header.pages.len());
    state.policy.fill(region, &header.pages);
    state.counts.written += places.len() as u64;
    Ok(places.len())
}

/// The region that is written to, its sequence, and the number of its pages: the last one as long
/// as it has room, then one that is free, then one that the policy chooses.
fn next_region(shared: &TierShared) -> (u32, u64, usize) {
    let mut state = shared.state();
    let newest = state.newest_region;
    let filled = state.regions.filled(newest);
    if filled > 0 && filled < ENTRIES {
        return (newest, state.sequence, filled);
    }
    let free = state.regions.take_free();
    let region = free.unwrap_or_else(|| state.policy.choose());
    state.sequence += 1;
    state.newest_region = region;
    (region, state.sequence, state.regions.filled(region))
}

/// The pages that a region has, by its header. Without that it has none: then the map forgets them.
fn contents(shared: &TierShared, region: u32, page: PageBuffer) -> Vec<PageAddress> {
    let mut batch = [transfer(region, 0, vec![page])];
    let read = shared.device().read(&mut batch);
    let page = batch[0].buffers.first().filter(|_| read.is_ok());
    let header = page.and_then(|page| Header::decode(page, region));
    header.map_or_else(
        || {
            let places = place(region, 0)..place(region, REGION_PAGES);
            shared.state().map.remove_places(places);
            Vec::new()
        },
        |header| header.pages,
    )
}

/// The places of a region, numbered from 0, that at most so many pages are written to, and that
/// the map does not name any more: what is free, what was forgotten, or what the policy gives up.
fn make_room(shared: &TierShared, region: u32, pages: &[PageAddress], most: usize) -> Vec<usize> {
    if pages.len() < ENTRIES {
        return (pages.len()..ENTRIES).take(most).collect();
    }
    let mut state = shared.state();
    let is_forgotten = |number: &usize| {
        let place = place(region, number + 1);
        let mut found = state.map.candidates(pages[*number]);
        !found.any(|one| one == place)
    };
    let forgotten: Vec<usize> = (0..pages.len()).filter(is_forgotten).take(most).collect();
    if !forgotten.is_empty() {
        return forgotten;
    }
    let given_up = state.policy.give_up(pages, most);
    for number in &given_up {
        state.map.remove(pages[*number], place(region, number + 1));
    }
    given_up
}

/// The header of a region, and pages for places in ascending order: one transfer where they adjoin.
fn transfers<'a>(
    header: &Header,
    changed: impl Iterator<Item = (usize, &'a PageBuffer)>,
    pool: &PagePool,
) -> Result<Vec<Transfer>> {
    let mut first = take(pool)?;
    header.encode(&mut first);
    let mut batch = vec![transfer(header.region, 0, vec![first])];
    let mut next = 0;
    for (number, page) in changed {
        let mut copy = take(pool)?;
        copy.copy_from_slice(&page[..]);
        toggle_mark(&mut copy, header.mark);
        match batch.last_mut() {
            Some(last) if number == next => last.buffers.push(copy),
            _ => batch.push(transfer(header.region, number + 1, vec![copy])),
        }
        next = number + 1;
    }
    Ok(batch)
}

fn transfer(region: u32, number: usize, buffers: Vec<PageBuffer>) -> Transfer {
    Transfer {
        file: TIER,
        page: place(region, number),
        buffers,
    }
}

/// A page of memory. Without it, which a device has that failed, nothing can be written.
fn take(pool: &PagePool) -> Result<PageBuffer> {
    pool.take()
        .ok_or_else(|| Error::internal("the device has kept pages that were written to the cache"))
}

/// Begins the thread, or says why it could not.
pub(super) fn start(shared: &Arc<TierShared>) -> std::io::Result<std::thread::JoinHandle<()>> {
    let shared = Arc::clone(shared);
    let thread = std::thread::Builder::new().name("gannet-tier".to_owned());
    thread.spawn(move || serve(&shared))
}
