//! The table of policies: what triggers a task, how much one step does, what it may use.
//!
//! Invariant: no task takes memory or space that a flush of accepted documents needs. Memory is the
//! flush's own part of the budget, and a bit for each document while a vacuum sweeps. Space is
//! claimed before it is written (see `room`). Zones that readers hold stay within
//! `RetentionLimits`, whatever the task.

use super::condition::Condition;
use super::task::{CleaningPolicy, MaintenanceTask, Occasion, VacuumPolicy};
use crate::index::owners::MOVED_BYTES_MAX;

/// A row of the table.
pub(crate) struct Policy {
    pub(crate) occasion: Occasion,
    /// The trigger of the task.
    pub(crate) is_due: fn(&Condition<'_>) -> bool,
    /// The task, the bounds of a step, and the part of the free space that it may take.
    pub(crate) task: MaintenanceTask,
}

/// A slice that somebody waits for, in a call or while nobody writes.
pub(crate) const VACUUM: MaintenanceTask = MaintenanceTask::Vacuum(VacuumPolicy {
    slice_bytes: 32 << 20,
    room_one_of: 4,
    tells: true,
});

/// A slice beside writing.
const VACUUM_BESIDE: MaintenanceTask = MaintenanceTask::Vacuum(VacuumPolicy {
    slice_bytes: 1 << 20,
    room_one_of: 4,
    tells: false,
});

/// The policy of a requested cleaning: for a byte that comes back nine are moved at most.
const THOROUGH: CleaningPolicy = CleaningPolicy {
    live_share: 0.9,
    one_of: 512,
    joins: true,
    merges_ids: true,
    leaves_open: true,
    room_one_of: 4,
};

/// A step that somebody asks for.
pub(crate) const CLEAN: MaintenanceTask = MaintenanceTask::Clean(THOROUGH);

/// While nobody writes: what is moved frees a third of it at least. Runs of IDs stay, since with
/// their filters several are nearly as good as one.
const AT_REST: CleaningPolicy = CleaningPolicy {
    live_share: 0.75,
    one_of: 64,
    merges_ids: false,
    leaves_open: false,
    ..THOROUGH
};

/// While a vacuum is under way and there is little space: its next slice goes where this gives
/// space back.
const FOR_SPACE: CleaningPolicy = CleaningPolicy {
    joins: false,
    merges_ids: false,
    leaves_open: false,
    ..THOROUGH
};

/// While documents come, space that is dead is likely to be joined by more. A larger share moves
/// more bytes and saves less space (`docs/experiments/writing.md`).
const BESIDE_WRITING: CleaningPolicy = CleaningPolicy {
    live_share: 0.3,
    joins: false,
    ..AT_REST
};

/// The same where much of the index is dead, as after many deletions or very many flushes: then
/// what is moved frees two thirds more.
const BESIDE_WASTE: CleaningPolicy = CleaningPolicy {
    live_share: 0.6,
    ..BESIDE_WRITING
};

/// Free space that writing the index anew needs, in bytes for each that lives: once for what is
/// written, and as much for what comes to be dead on the way.
pub(crate) const REBUILD_SPACE: u64 = 2;

/// The rows of an occasion are asked in this order.
#[rustfmt::skip]
pub(crate) static POLICIES: [Policy; 16] = [
    row(Occasion::Request, |now| now.is_dead(100), VACUUM),
    row(Occasion::Request, |now| now.has_many_deltas() || now.is_gain(THOROUGH, 64), CLEAN),

    // A row is done, step by step, before the next is asked.
    row(Occasion::Idle, |now| now.is_dead(16), VACUUM),
    row(Occasion::Idle, |now| now.has_many_deltas() || now.has_victims(AT_REST), MaintenanceTask::Clean(AT_REST)),

    row(Occasion::Readers, |now| now.shared.published.has_retired(), MaintenanceTask::RemoveZones),
    row(Occasion::Readers, |now| now.is_unseen, MaintenanceTask::Flush),

    // A sweep goes on in each flush. Of vacuum and of cleaning the first row that is due counts.
    row(Occasion::Flush, |now| now.is_sweeping || now.dead >= 1024 && now.is_dead(4), VACUUM_BESIDE),
    row(Occasion::Flush, |now| now.is_sweeping && now.has_little_room(), MaintenanceTask::Clean(FOR_SPACE)),
    row(Occasion::Flush, |now| now.has_little_room() || now.is_wasteful(), MaintenanceTask::Clean(BESIDE_WASTE)),
    row(Occasion::Flush, |_| true, MaintenanceTask::Clean(BESIDE_WRITING)),
    row(Occasion::Flush, |now| now.do_deltas_take_room(), MaintenanceTask::MergeDeltas),

    row(Occasion::FlushEnd, |_| true, MaintenanceTask::RemoveZones),
    row(Occasion::Write, |now| now.is_wasteful() && now.room() >= MOVED_BYTES_MAX && now.has_victims(BESIDE_WASTE), MaintenanceTask::Flush),

    row(Occasion::FullDevice, |_| true, MaintenanceTask::RemoveZones),
    row(Occasion::FullDevice, |_| true, MaintenanceTask::EndFlush),
    // The more the buffers hold, the higher the estimate is above what a flush writes.
    row(Occasion::FullDevice, |now| now.may_flush_make_space(), MaintenanceTask::Checkpoint),
];

const fn row(
    occasion: Occasion,
    is_due: fn(&Condition<'_>) -> bool,
    task: MaintenanceTask,
) -> Policy {
    Policy {
        occasion,
        is_due,
        task,
    }
}

/// The rows of an occasion, each to be asked when its turn comes.
pub(crate) fn rows(occasion: Occasion) -> impl Iterator<Item = &'static Policy> {
    POLICIES.iter().filter(move |row| row.occasion == occasion)
}

/// The tasks of an occasion that are due.
pub(crate) fn due<'c>(
    occasion: Occasion,
    now: &'c Condition<'_>,
) -> impl Iterator<Item = MaintenanceTask> + 'c {
    let due = rows(occasion).filter(|row| (row.is_due)(now));
    due.map(|row| row.task)
}
