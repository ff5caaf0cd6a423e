//! Decides which pages the flash tier takes, and which it gives up for them.
//!
//! A tier is written region by region. While regions are free, the tier fills them in turn. Then it
//! asks its policy which one is overwritten. A policy only decides: where pages are, and what is on
//! its way, the tier knows (`flash`).
//!
//! A policy has a file of its own, and its memory is that of a tier of so many pages. Policies that
//! no index uses are in `research/lab`, where traces of requests are replayed through all of them.

mod second_sighting;

pub use second_sighting::SecondSighting;

use crate::base::PageAddress;

/// The order in which pages enter and leave a flash tier.
pub trait TierPolicy: std::fmt::Debug + Send {
    /// Returns true if a page is to enter that leaves memory and is not in the tier. `is_full` is
    /// set once all regions have pages.
    fn admits(&mut self, page: PageAddress, is_full: bool) -> bool;

    /// Notes that a region has these pages from now on.
    fn fill(&mut self, region: u32, pages: &[PageAddress]);

    /// Notes that a page of a region was read.
    fn count_read(&mut self, region: u32, page: PageAddress);

    /// Chooses the region that is overwritten next. All have pages.
    fn choose(&mut self) -> u32;
}
