//! Reading an index that another process may write at the same time.
//!
//! A reader opens the newest root and holds it by a lease (see `device/lease.rs` and `leases`). It
//! sees the state of that root and leaves the log behind the root to the writer. If nobody writes,
//! that log is what a crash has left, and the reader takes it in as a recovery does; so it does
//! beside a writer until a root has what that writer found. Invariants:
//!
//! 1. A root is read only while a lease of it counts that was made before the root was found to be
//!    the newest.
//! 2. A reader never goes back: it moves to another root only if that goes on from its own and
//!    knows as much. Nor does an opening after another: what one takes in of a log was there before
//!    the root that ends the recovery of that log.
//! 3. A page that proves itself is the one that was meant, for a zone number is never given again.
//!    A page that the writer has removed cannot be read; then the lease has expired, and the reader
//!    says so.

use std::path::Path;
use std::sync::Arc;

use super::recover::{recover, recover_again};
use super::roots::{check_zones, no_index, open_root, read_root, take_zones, unfinished};
use super::tier::tier_root;
use super::waiting::read_log;
use crate::base::{Error, Result};
use crate::device::{Device, Readers};
use crate::index::handle::Index;
use crate::index::state::{HeldRoot, Options, Shared, State};
use crate::storage::{Found, LogReach, RootSlot, find_root};

/// The number of attempts of a reader whose lease expires while it opens a root.
const TRIES: u32 = 20;

impl HeldRoot {
    /// Holds the newest root.
    fn newest(device: &Arc<dyn Device>, path: &Path) -> Result<HeldRoot> {
        let mut slot = newest_slot(device, path)?;
        loop {
            let readers = device.readers();
            let lease = readers.map(|readers| readers.lease(slot.generation));
            let lease = lease.transpose()?.flatten();
            let reach = reach(device, &slot)?;
            // A writer that has not seen the lease has written a newer root before.
            let newest = newest_slot(device, path)?;
            if newest == slot {
                return Ok(HeldRoot { slot, lease, reach });
            }
            slot = newest;
        }
    }

    /// Returns true if no newer root can know less than what was read of the log behind this one.
    fn is_newest(&self, device: &Arc<dyn Device>, path: &Path) -> Result<bool> {
        Ok(self.reach == LogReach::Known
            || self.reach == reach(device, &self.slot)? && self.slot == newest_slot(device, path)?)
    }
}

/// Opens an index for reading.
pub(crate) fn open(
    device: &Arc<dyn Device>,
    path: &Path,
    options: &Options,
) -> Result<Arc<Shared>> {
    begin_anew(device, || {
        let root = HeldRoot::newest(device, path)?;
        let opened = open_root(Arc::clone(device), path, root.clone())?;
        let covered = opened.record.covered;
        let (shared, mut writer) = recover(opened, options.clone())?;
        read_log(&mut writer, covered, &root)?;
        writer.keep_tables();
        let done = root.is_newest(device, path)?;
        *shared.reading() = Some(root);
        Ok(done.then_some(shared))
    })
}

impl Index {
    /// Moves an index that was opened for reading to the newest root, if there is a newer one;
    /// snapshots from now on are of that. Those from before stay what they are. Tells whether
    /// anything has changed. What a writer in another process has written can be seen once a
    /// checkpoint has made a root of it ([`Index::checkpoint`],
    /// [`Limits::visible_after`](crate::Limits::visible_after)). An index that is open for writing
    /// always sees what it has written: there is nothing to do.
    ///
    /// # Errors
    ///
    /// [`Error::LogMemory`] if the memory does not hold what was written while the last flush ran:
    /// an index that is opened beside a writer sets more of its memory aside for that.
    /// [`Error::Invalid`] if the folder holds another index by now, or an older state of it. The
    /// index stays where it was then.
    pub fn refresh(&self) -> Result<bool> {
        let shared = self.shared();
        let device = shared.store.device();
        let mut reading = shared.reading();
        let Some(held) = &mut *reading else {
            return Ok(false);
        };
        let place = |state: &State| (state.epoch.generation, state.sequence);
        let before = place(&shared.published.get());
        begin_anew(device, || refresh(shared, held))?;
        Ok(before != place(&shared.published.get()))
    }
}

/// Moves to the newest root. Gives nothing if there is a newer one again.
fn refresh(shared: &Arc<Shared>, held: &mut HeldRoot) -> Result<Option<()>> {
    let (device, path) = (shared.store.device(), Path::new("the index"));
    let counts = held.lease.as_ref().is_none_or(|lease| lease.is_there());
    if !counts {
        // The whole folder may be another's.
        device.close_files();
    }
    let newest = newest_slot(device, path)?;
    let is_read = newest == held.slot && counts;
    if is_read && (held.reach == newest.log_reach() || held.reach == reach(device, &newest)?) {
        return Ok(Some(()));
    }
    let root = HeldRoot::newest(device, path)?;
    check_goes_on(&held.slot, &root.slot)?;
    let record = read_root(&shared.store, &root.slot)?;
    // It has taken in more of the log than the root knows.
    if record.sequence < shared.published.get().sequence && root.reach == LogReach::Known {
        return Ok(Some(()));
    }
    check_zones(&shared.store, &record.zones)?;
    // A file that was not named by the root before may have been another of that name.
    device.close_files();
    let zones = shared.store.zones().clone();
    take_zones(&shared.store, &record, &root.slot);
    if let Err(error) = recover_again(shared, &record, &root) {
        *shared.store.zones() = zones;
        return Err(error);
    }
    // Forgets epochs that are over. A reader has no zones to remove.
    shared.published.take_unreachable(None);
    if let Some(tier) = shared.pool.tier() {
        tier.follow(&tier_root(Some(&root), &record, &shared.store));
    }
    let done = root.is_newest(device, path)?;
    *held = root;
    Ok(done.then_some(()))
}

/// Carries out an opening, anew if there is a newer root by then, or what it reads is removed
/// meanwhile.
fn begin_anew<T>(
    device: &Arc<dyn Device>,
    mut open: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let mut last = Error::internal("a root was replaced each time that it was read");
    for _ in 0..TRIES {
        last = match open() {
            Ok(Some(done)) => return Ok(done),
            Ok(None) => continue,
            Err(error @ Error::Expired { .. }) => error,
            // A writer has come, and removes what the crash of the one before has left of the log.
            Err(error @ (Error::Device { .. } | Error::Damaged { .. }))
                if writer(device)?.is_some() =>
            {
                error
            }
            Err(error) => return Err(error),
        };
        device.close_files();
    }
    Err(last)
}

/// Returns the end of the log behind a root that is read.
fn reach(device: &Arc<dyn Device>, slot: &RootSlot) -> Result<LogReach> {
    let rooted = device.readers().map(Readers::has_rooted_writer);
    match rooted.transpose()? {
        Some(true) => Ok(LogReach::Known),
        _ => Ok(slot.log_reach()),
    }
}

/// The newest root. Where there is none and somebody writes, it is still to come.
fn newest_slot(device: &Arc<dyn Device>, path: &Path) -> Result<RootSlot> {
    let error = match find_root(device, path)? {
        Found::Root(slot) => return Ok(slot),
        Found::Nothing => no_index(path),
        Found::Unfinished(_) => unfinished(path),
    };
    match writer(device)? {
        Some(holder) => Err(Error::Locked {
            path: path.into(),
            holder,
        }),
        None => Err(error),
    }
}

fn writer(device: &Arc<dyn Device>) -> Result<Option<String>> {
    device.readers().map_or(Ok(None), Readers::writer)
}

/// Fails unless the root `newer` comes behind `older`, or is it.
fn check_goes_on(older: &RootSlot, newer: &RootSlot) -> Result<()> {
    let goes_on = newer.identity == older.identity
        && newer.generation >= older.generation
        && (newer == older || newer.history.includes(&older.history, older.generation));
    if goes_on {
        Ok(())
    } else {
        Err(Error::invalid(
            "expected a newer state of the index that was opened, found another index or an older state: open it again",
        ))
    }
}
