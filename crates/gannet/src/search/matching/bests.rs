//! The best scores that the blocks of a docs page may have, by the impacts of its directory.

use crate::base::Result;
use crate::postings::BlocksAhead;
use crate::search::scoring::formula::Leaf;
use crate::search::scoring::term_scorer::TermScorer;

/// The best score that each block of a page may have, computed once for a page.
#[derive(Default)]
pub struct Bests {
    page_serial: Option<u64>,
    all: Vec<f32>,
}

impl Bests {
    /// The best scores of `blocks`.
    #[inline]
    pub fn of(&mut self, blocks: BlocksAhead<'_>, how: &Leaf) -> Result<&[f32]> {
        if self.page_serial != Some(blocks.page_serial) {
            self.all.clear();
            for block in 0..blocks.all() {
                self.all.push(match how {
                    Leaf::Ranked { scorer, .. } => {
                        let mut most = 0f32;
                        blocks.each_pair(block, |pair| {
                            most = most.max(scorer.product(pair.frequency as f32, pair.norm));
                        })?;
                        scorer.of_product(most)
                    }
                    Leaf::Constant(score) => *score,
                });
            }
            self.page_serial = Some(blocks.page_serial);
        }
        Ok(&self.all[blocks.first()..])
    }
}
