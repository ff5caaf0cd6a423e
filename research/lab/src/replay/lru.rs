//! Takes each page, and gives up the one that was used last the longest ago.

use super::ranking::Ranking;
use super::trace::Page;

/// The order of use.
#[derive(Debug, Default)]
pub struct LastUse(u64);

impl Ranking for LastUse {
    fn offer(&mut self, page: Page, _least: Option<u64>) -> Option<u64> {
        Some(self.read(page))
    }

    fn read(&mut self, _page: Page) -> u64 {
        self.0 += 1;
        self.0
    }
}
