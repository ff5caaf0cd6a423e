//! GDSF (Cherkasova, 1998): frequency times cost, above a clock that rises with what is given up.
//!
//! On pages of one size and one cost it is frequency with ageing. With the cost of rounds a
//! request for a page costs the share of its round: one that is missed alone saves a whole round,
//! one that is missed among many saves little. The frequencies of pages that are not there are
//! known too, so a page enters only if it is worth more than the one that is given up. Without a
//! clock nothing ages.

use super::moment::Moment;
use super::ranking::Ranking;
use super::trace::Page;

/// Cost of one page beside its share of a round, which has the cost 1.
const PAGE_COST: f64 = 0.05;

/// The order.
#[derive(Debug)]
pub struct GreedyDual {
    clock: f64,
    /// The cost of all requests for each page so far.
    costs: Vec<f64>,
    settings: GreedyDualSettings,
    moment: Moment,
}

/// The order, and what enters.
#[derive(Clone, Copy, Debug)]
pub struct GreedyDualSettings {
    /// Set if a page costs its share of a round; else all cost the same.
    pub by_rounds: bool,
    /// Set if pages age.
    pub ages: bool,
    /// Requests from which a page enters.
    pub least: f64,
}

impl GreedyDual {
    /// For a trace of so many pages.
    pub fn new(pages: usize, settings: GreedyDualSettings, moment: Moment) -> GreedyDual {
        GreedyDual {
            clock: 0.0,
            costs: vec![0.0; pages],
            settings,
            moment,
        }
    }
}

impl Ranking for GreedyDual {
    fn offer(&mut self, page: Page, least: Option<u64>) -> Option<u64> {
        let first = self.costs[page as usize] == 0.0;
        let worth = self.read(page);
        let enters =
            least.is_none_or(|least| least < worth) && !(first && self.settings.least > 1.0);
        enters.then_some(worth)
    }

    fn read(&mut self, page: Page) -> u64 {
        let cost = if self.settings.by_rounds {
            PAGE_COST + 1.0 / self.moment.together() as f64
        } else {
            1.0
        };
        let costs = &mut self.costs[page as usize];
        *costs += cost;
        // The order of positive numbers is that of their bits.
        (self.clock + *costs).to_bits()
    }

    fn give_up(&mut self, _page: Page, worth: u64) {
        if self.settings.ages {
            self.clock = self.clock.max(f64::from_bits(worth));
        }
    }
}
