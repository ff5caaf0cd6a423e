//! The tasks of maintenance, with the bounds of one step.

/// The occasions on which the scheduler is asked for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Occasion {
    /// Somebody calls for a task. A row that is due says that the task is worth it.
    Request,
    /// Nobody has written for a while.
    Idle,
    /// Readers hold zones, or have not been shown for too long what was written.
    Readers,
    /// A flush is at the end of the postings that it brings.
    Flush,
    /// A flush has ended with a root.
    FlushEnd,
    /// A write comes before the buffers are full. Asked at the end of each flush.
    Write,
    /// A write finds too little space.
    FullDevice,
}

/// A task that an occasion leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MaintenanceTask {
    /// The next slice of what deleted documents have left.
    Vacuum(VacuumPolicy),
    /// A step of cleaning.
    Clean(CleaningPolicy),
    /// Delta postings join their lists, beside any cleaning.
    MergeDeltas,
    /// Zones that no reader needs are removed.
    RemoveZones,
    /// A flush begins beside writing.
    Flush,
    /// The flush under way is ended.
    EndFlush,
    /// Everything written so far is flushed at once.
    Checkpoint,
}

/// A slice of vacuum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VacuumPolicy {
    /// Bytes of lists that it reads at least.
    pub(crate) slice_bytes: u64,
    /// It may take one byte of so many that are free. The rest is for cleaning, which gives space
    /// back.
    pub(crate) room_one_of: u64,
    /// Set if a waiting caller is told that there is too little memory or space.
    pub(crate) tells: bool,
}

/// A step of cleaning, and when it is worth what it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CleaningPolicy {
    /// A zone is a victim when less than this share of it lives.
    pub(crate) live_share: f64,
    /// Cleaning begins when it gives back one byte of so many of the index: each begins with a
    /// sweep over what may refer to the victims.
    pub(crate) one_of: u64,
    /// Set if small chunks of lists are joined too, and delta postings merged into their lists.
    pub(crate) joins: bool,
    /// Set if the runs of external IDs are merged into one.
    pub(crate) merges_ids: bool,
    /// Set if open zones of which less than half lives are left, so that they are emptied as well.
    pub(crate) leaves_open: bool,
    /// The part of the free space that a step over nodes, chunks or tables may take. Most is left
    /// for documents, of which a zone is the cheapest to empty.
    pub(crate) room_one_of: u64,
}

impl MaintenanceTask {
    pub(crate) fn vacuum(self) -> Option<VacuumPolicy> {
        match self {
            MaintenanceTask::Vacuum(policy) => Some(policy),
            _ => None,
        }
    }

    pub(crate) fn cleaning(self) -> Option<CleaningPolicy> {
        match self {
            MaintenanceTask::Clean(policy) => Some(policy),
            _ => None,
        }
    }
}

impl CleaningPolicy {
    /// Of two, that of which more is worth it.
    pub(crate) fn or_less(self, other: CleaningPolicy) -> CleaningPolicy {
        if self.live_share > other.live_share {
            self
        } else {
            other
        }
    }
}
