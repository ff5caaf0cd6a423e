//! Belady's policy, which knows all requests beforehand.
//!
//! Belady, "A study of replacement algorithms for a virtual-storage computer", 1966: give up what
//! is used again last. A page that is used again later than all others does not enter. No cache of
//! so many pages has more hits; the rounds that it saves are not the most that could be.

use std::collections::HashMap;

use super::misses::Misses;
use super::moment::Moment;
use super::ranking::Ranking;
use super::trace::Page;

/// The order of the next use.
#[derive(Debug)]
pub struct NextUse {
    /// The misses of each page, by their numbers.
    uses: HashMap<Page, Vec<usize>>,
    moment: Moment,
}

impl NextUse {
    /// For what frames leave over.
    pub fn new(misses: &Misses, moment: Moment) -> NextUse {
        let mut uses: HashMap<Page, Vec<usize>> = HashMap::new();
        for (number, page) in misses.pages.iter().enumerate() {
            uses.entry(*page).or_default().push(number);
        }
        NextUse { uses, moment }
    }

    /// More for what is used sooner, 0 for what is never used.
    fn worth(&self, page: Page, from: usize) -> u64 {
        let uses = self.uses.get(&page).map_or(&[][..], |uses| &uses[..]);
        let next = uses.partition_point(|number| *number < from);
        uses.get(next).map_or(0, |number| u64::MAX - *number as u64)
    }
}

impl Ranking for NextUse {
    fn offer(&mut self, page: Page, least: Option<u64>) -> Option<u64> {
        let worth = self.worth(page, self.moment.misses());
        (worth > least.unwrap_or_default()).then_some(worth)
    }

    fn read(&mut self, page: Page) -> u64 {
        // The use that is served now is among those that come: its number is not known.
        let now = self.moment.misses();
        let uses = self.uses.get(&page).map_or(&[][..], |uses| &uses[..]);
        let next = uses.partition_point(|number| *number < now) + 1;
        uses.get(next).map_or(0, |number| u64::MAX - *number as u64)
    }
}
