//! Decides which pages the flash tier takes, and which it gives up for them.
//!
//! A tier is written region by region. While regions are free, the tier fills them. Then it asks
//! its policy which region comes next, and which of its pages are overwritten. A policy only
//! decides: where pages are, and what is on its way, the tier knows (`flash`).
//!
//! A policy has a file of its own, and its memory is that of a tier of so many pages. Policies that
//! no index uses are in `research/lab`, where traces of requests are replayed through all of them.

mod round_shares;
mod worth;

pub use round_shares::RoundShares;

use crate::base::PageAddress;

/// The order in which pages enter and leave a flash tier. The methods with a body are for policies
/// that know less: of the requests for pages, of single pages, or of what was before a restart.
pub trait TierPolicy: std::fmt::Debug + Send {
    /// Notes that a query asked for a page that memory lacks, in a round of so many of them, it
    /// included. The tier may have it or not.
    fn count_request(&mut self, page: PageAddress, round: usize) {
        let _ = (page, round);
    }

    /// Returns true if a page is to enter that leaves memory and is not in the tier. `is_full` is
    /// set once all regions have pages.
    fn admits(&mut self, page: PageAddress, is_full: bool) -> bool;

    /// Notes that a region has these pages from now on.
    fn fill(&mut self, region: u32, pages: &[PageAddress]);

    /// Chooses the region that is written to next. All have pages.
    fn choose(&mut self) -> u32;

    /// Chooses those of the pages of that region which are overwritten, by their numbers in
    /// ascending order: one at least and `most` at most.
    fn give_up(&mut self, pages: &[PageAddress], most: usize) -> Vec<usize> {
        (0..pages.len().min(most)).collect()
    }

    /// Returns a note of the worth of a page, which stands in the region that has the page.
    fn note(&self, page: PageAddress) -> u8 {
        let _ = page;
        0
    }

    /// Takes in the note of a page that a region has.
    fn learn(&mut self, page: PageAddress, note: u8) {
        let _ = (page, note);
    }
}
