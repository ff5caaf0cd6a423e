//! The file of a tier, and how large it may be.

use super::header::REGION_PAGES;
use crate::base::PAGE_SIZE;
use crate::device::FileId;

pub(super) const TIER: FileId = FileId::Tier;

/// The smallest tier: 8 MiB.
pub const TIER_BYTES_MIN: u64 = 8 << 20;

/// The largest: places in it have 32 bits, of which one value stands for none.
pub(super) const TIER_BYTES_MAX: u64 = 8 << 40;

/// Regions of a tier of so many bytes.
pub(super) fn region_count(bytes: u64) -> usize {
    (bytes.clamp(TIER_BYTES_MIN, TIER_BYTES_MAX) / (REGION_PAGES * PAGE_SIZE) as u64) as usize
}
