//! The memory budget of an index for which none is given.

use crate::device::{MemoryLimit, memory_limit};

/// The least memory that an index works with: 16 MiB.
pub const MEMORY_MIN: usize = 16 << 20;

/// The most memory that an index is given when nothing is said: 512 MiB.
pub const MEMORY_DEFAULT: usize = 512 << 20;

/// Memory of a process beside the budget for its code, its threads and what its allocator keeps: a
/// budget that leaves less of what the process may have may end with its being killed.
pub const MEMORY_BESIDE: usize = 48 << 20;

/// Returns the memory that an index is given when nothing is said: 512 MiB, or less where this
/// process may have little. It is at most half of what the machine has or the memory group (cgroup)
/// of the process allows, as that of a container does, and leaves [`MEMORY_BESIDE`] of it. It is
/// never less than [`MEMORY_MIN`].
pub fn default_memory() -> usize {
    within(memory_limit())
}

fn within(limit: Option<MemoryLimit>) -> usize {
    let limit = limit.map_or(u64::MAX, |limit| limit.bytes);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let most = (limit / 2).min(limit.saturating_sub(MEMORY_BESIDE));
    most.clamp(MEMORY_MIN, MEMORY_DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_leaves_room_for_the_process() {
        let mib = |bytes: usize| bytes >> 20;
        for (limit, expected) in [
            (8, 16),
            (64, 16),
            (80, 32),
            (96, 48),
            (128, 64),
            (256, 128),
            (1024, 512),
            (65536, 512),
        ] {
            let limit = MemoryLimit {
                bytes: limit << 20,
                is_of_group: true,
            };
            assert_eq!(mib(within(Some(limit))), expected, "{limit:?}");
        }
        assert_eq!(within(None), MEMORY_DEFAULT);
    }
}
