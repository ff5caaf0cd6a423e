//! The thread that writes drafts to regions.

use std::sync::Arc;

use super::TierShared;
use super::header::{Header, REGION_PAGES, place, toggle_mark};
use super::size::TIER;
use super::state::Draft;
use crate::base::{Error, Result};
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

fn write(shared: &TierShared, draft: &Draft, pool: &PagePool) -> Result<()> {
    let (region, sequence) = match draft.begun {
        Some(begun) => begun,
        None => begin(shared, pool)?,
    };
    let (mark, lineage) = {
        let state = shared.state();
        (state.mark, state.lineage())
    };
    let header = Header {
        region,
        sequence,
        mark,
        lineage,
        pages: draft.pages.clone(),
    };
    let written = draft.written();
    let mut batch = transfers(&header, draft, pool)?;
    shared.device().write(&mut batch)?;
    let mut state = shared.state();
    for (number, address) in header.pages.iter().enumerate().skip(written) {
        state.map.insert(*address, place(region, number + 1));
    }
    state.regions.fill(region, header.pages.len());
    state.policy.fill(region, &header.pages);
    state.counts.written += (header.pages.len() - written) as u64;
    Ok(())
}

/// Chooses a region, and forgets what it holds.
fn begin(shared: &TierShared, pool: &PagePool) -> Result<(u32, u64)> {
    let (region, filled, sequence) = {
        let mut state = shared.state();
        let free = state.regions.take_free();
        let region = free.unwrap_or_else(|| state.policy.choose());
        state.sequence += 1;
        state.newest_region = region;
        (region, state.regions.filled(region), state.sequence)
    };
    if filled > 0 {
        forget(shared, region, take(pool)?);
    }
    Ok((region, sequence))
}

/// Removes the pages of a region from the map. A page that the header does not tell of is forgotten
/// when it does not prove itself.
fn forget(shared: &TierShared, region: u32, page: PageBuffer) {
    let mut batch = [transfer(region, 0, vec![page])];
    let read = shared.device().read(&mut batch);
    let mut state = shared.state();
    state.regions.fill(region, 0);
    if let (Ok(()), Some(page)) = (read, batch[0].buffers.first())
        && let Some(header) = Header::decode(page, region)
    {
        for (number, address) in header.pages.iter().enumerate() {
            state.map.remove(*address, place(region, number + 1));
        }
    }
}

/// The header and the pages that were not written yet, one transfer where they adjoin.
fn transfers(header: &Header, draft: &Draft, pool: &PagePool) -> Result<Vec<Transfer>> {
    let mut first = take(pool)?;
    header.encode(&mut first);
    let mut pages = Vec::with_capacity(draft.buffers.len());
    for page in &draft.buffers {
        let mut copy = take(pool)?;
        copy.copy_from_slice(&page[..]);
        toggle_mark(&mut copy, header.mark);
        pages.push(copy);
    }
    let mut begin = transfer(header.region, 0, vec![first]);
    Ok(match draft.written() {
        0 => {
            begin.buffers.extend(pages);
            vec![begin]
        }
        written => vec![begin, transfer(header.region, written + 1, pages)],
    })
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
