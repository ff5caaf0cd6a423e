//! Leases of readers in other processes: what they keep from being removed, and when they are taken
//! away.
//!
//! A lease counts as a snapshot of its root does in this process (see `state`): the zones that
//! later roots gave up stay, within the same bounds. Order matters: a root is written, the leases
//! are looked at, those that hold back too much are taken away, and only then zones are removed.
//! Limits what snapshots and leases may hold back together.

use std::time::{Duration, Instant, SystemTime};

use crate::base::Result;
use crate::device::{Device, LeaseSeen};
use crate::index::state::{Published, RetentionLimits, Shared};

/// Bytes on flash that snapshots and leases may keep from being reused, however small the index.
const HELD_BYTES: u64 = 64 << 20;

/// The interval of looks for other processes that have let go.
const LOOK: Duration = Duration::from_millis(200);

/// The factor of [`Limits::visible_after`](super::Limits::visible_after) within which the lease of
/// a recent reader came or went.
const OF_LATE: u32 = 6;

/// The leases that counted when they were last looked at, and when each was first seen.
#[derive(Default)]
pub(crate) struct Leases {
    seen: Vec<(LeaseSeen, Instant)>,
    /// The time at which a lease last came or went, by the clock of the file system.
    changed: Option<SystemTime>,
    /// The time at which that was last seen to change.
    moved: Option<Instant>,
}

impl Leases {
    /// Looks for the leases that count.
    pub(crate) fn look(&mut self, device: &dyn Device) -> Result<()> {
        let seen = match device.readers() {
            Some(readers) => readers.leases()?,
            None => Vec::new(),
        };
        let known = std::mem::take(&mut self.seen);
        let since = |lease: &LeaseSeen| known.iter().find(|(known, _)| known == lease);
        let seen = seen.into_iter().map(|lease| {
            let since = since(&lease).map_or_else(Instant::now, |(_, since)| *since);
            (lease, since)
        });
        self.seen = seen.collect();
        Ok(())
    }

    /// Takes the leases of the past as known, for a writer that has just opened the index.
    pub(crate) fn begin(device: &dyn Device) -> Leases {
        Leases {
            changed: device.readers().and_then(|readers| readers.changed()),
            ..Leases::default()
        }
    }

    /// Looks whether somebody reads or has read of late: a command that searches holds its lease
    /// for so short that looking for leases alone misses it.
    pub(crate) fn are_read(&mut self, device: &dyn Device, visible_after: Duration) -> bool {
        let changed = device.readers().and_then(|readers| readers.changed());
        if changed != self.changed {
            (self.changed, self.moved) = (changed, Some(Instant::now()));
        }
        let of_late = |moved: Instant| moved.elapsed() < visible_after * OF_LATE;
        let is_marked = self.moved.is_some_and(of_late);
        // Whoever does not see the leases now, looks again.
        is_marked || self.look(device).is_ok() && self.oldest().is_some()
    }

    /// The oldest root that is read.
    pub(crate) fn oldest(&self) -> Option<u64> {
        let generations = self.seen.iter().map(|(lease, _)| lease.generation);
        generations.min()
    }

    /// Removes the zones that neither the durable root nor any reader can reach.
    pub(crate) fn remove_zones(&mut self, shared: &Shared) -> Result<()> {
        let published = &shared.published;
        if !published.has_retired() {
            return Ok(());
        }
        let retention = retention(shared);
        published.enforce_limits(retention);
        let device = shared.store.device();
        if self.look(&**device).is_err() {
            // Who reads is not known now, so all stays until it is.
            return Ok(());
        }
        self.enforce_limits(&**device, published, retention);
        let free = published.take_unreachable(self.oldest());
        shared.store.remove_zones(&free)
    }

    /// Returns the time until zones may have to be removed that wait for readers, if nothing
    /// happens before. Readers in other processes can only be looked for.
    pub(super) fn next_removal(&self, shared: &Shared) -> Option<Duration> {
        let published = &shared.published;
        match (published.has_retired(), self.oldest()) {
            (false, _) => None,
            (true, Some(_)) => Some(LOOK),
            (true, None) => published.next_loss(retention(shared)),
        }
    }

    /// Takes those away that hold back more than they may.
    fn enforce_limits(
        &mut self,
        device: &dyn Device,
        published: &Published,
        retention: RetentionLimits,
    ) {
        self.expire(device, |lease, age| {
            retention.is_lost(published.retired_after(lease.generation), age)
        });
    }

    /// Takes some away. One that cannot be taken away counts on.
    fn expire(&mut self, device: &dyn Device, is_lost: impl Fn(&LeaseSeen, Duration) -> bool) {
        let Some(readers) = device.readers() else {
            return;
        };
        self.seen.retain(|(lease, since)| {
            !is_lost(lease, since.elapsed()) || readers.expire(lease).is_err()
        });
    }
}

/// Returns the limits of what readers may hold back.
fn retention(shared: &Shared) -> RetentionLimits {
    let limits = &shared.options.limits;
    let eighth = shared.store.zones().allocated_bytes() / 8;
    RetentionLimits {
        bytes: limits.snapshot_bytes.unwrap_or(eighth.max(HELD_BYTES)),
        age: limits.snapshot_age,
    }
}

/// Takes all leases of roots before `generation` away, for whoever removes what only these name.
pub(crate) fn expire_before(device: &dyn Device, generation: u64) -> Result<()> {
    let Some(readers) = device.readers() else {
        return Ok(());
    };
    let leases = readers.leases()?.into_iter();
    let mut older = leases.filter(|lease| lease.generation < generation);
    older.try_for_each(|lease| readers.expire(&lease))
}
