//! Documents of a query that is made of whole sets, such as all documents and ranges of values:
//! they are collected 64 at a time, where no scores are wanted.

use super::{QueryRun, RunGoal, RunPhase, SetsRun};
use crate::base::{DocId, Result};
use crate::cache::{Pages, Step, Stop};
use crate::search::lists::OpenLists;
use crate::search::matching::doc_set::{BLOCK_WORDS, MemberBits};
use crate::search::plan::PlanNode;
use crate::search::scoring::top::Top;

impl QueryRun<'_> {
    /// Begins to collect documents by their sets, if the query is made of sets alone. Tells whether
    /// it is.
    pub(super) fn begin_sets(&mut self) -> Result<bool> {
        let counts = self.collects() || self.options.count && self.goal == RunGoal::Answer;
        let is_whole = self.is_unranked() && self.is_whole();
        if !counts || !is_whole || members(&self.node, &self.lists, 0).is_none() {
            return Ok(false);
        }
        let all = if self.collects() {
            self.collecting()?.take_all()
        } else {
            None
        };
        self.phase = RunPhase::Sets(Box::new(SetsRun {
            all,
            live: self.view.tables.live_cursor(true),
            next: 0,
            end: (self.view.below as usize).div_ceil(64),
            total: 0,
        }));
        Ok(true)
    }

    /// Returns true if neither scores nor the best by score are wanted.
    fn is_unranked(&self) -> bool {
        if self.goal == RunGoal::Documents {
            return true;
        }
        !self.options.needs_all_scores() && (!self.options.is_by_score() || self.ranked() == 0)
    }

    /// Collects all documents.
    pub(super) fn collect_sets(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let RunPhase::Sets(run) = &mut self.phase else {
            return Ok(());
        };
        while run.next < run.end {
            let number = run.next / BLOCK_WORDS;
            let end = run.end.min((number + 1) * BLOCK_WORDS);
            pages.count_steps(end - run.next)?;
            let block = members(&self.node, &self.lists, number);
            let block = block.unwrap_or([0; BLOCK_WORDS]);
            for at in run.next..end {
                let mut word = block[at % BLOCK_WORDS];
                if word != 0 {
                    word &= run.live_word(at, pages)?;
                }
                if let Some(all) = &mut run.all {
                    all.docs.set_word(at, word);
                }
                run.total += u64::from(word.count_ones());
                run.next = at + 1;
            }
        }
        self.end_sets(pages)?;
        Ok(())
    }

    fn end_sets(&mut self, pages: &Pages<'_>) -> Result<()> {
        let RunPhase::Sets(run) = std::mem::replace(&mut self.phase, RunPhase::Done) else {
            return Ok(());
        };
        let top = match run.all {
            Some(all) => Top::collecting(0, *all),
            None => Top::new(0),
        };
        self.end_ranking(top, run.total, true, pages)
    }
}

impl SetsRun {
    /// The live ones of 64 documents. Where a page is missing, those behind it are read along.
    fn live_word(&mut self, at: usize, pages: &mut Pages<'_>) -> Step<u64> {
        let word = self.live.word(at, pages);
        if matches!(word, Err(Stop::Pages)) {
            let (first, last) = (at * 64, self.end * 64 - 1);
            let last = last.min(DocId::MAX as usize);
            self.live
                .prefetch_within(first as DocId, last as DocId, pages)?;
        }
        word
    }
}

fn members(node: &PlanNode, lists: &OpenLists, block: usize) -> Option<MemberBits> {
    node.as_kind(|kind| kind.members(lists, block))
}
