//! Hashes of page addresses, for tables that keep no addresses.

use crate::base::PageAddress;

/// The hash of a page's address. Each bit depends on all bits of the address.
pub fn hash(address: PageAddress) -> u64 {
    mix((address.zone as u64) << 32 | address.page as u64)
}

/// The high half of a hash as a number below `below`.
pub fn scale(hash: u64, below: usize) -> usize {
    ((hash >> 32) as usize * below) >> 32
}

/// The finalizer of SplitMix64 (Steele et al., OOPSLA 2014): each bit of the result depends on all
/// bits. A hash of a hash is independent of it.
pub fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
