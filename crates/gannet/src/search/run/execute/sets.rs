//! Documents of a query that is made of whole sets, such as all documents and ranges of values:
//! they are collected 64 at a time, where no scores are wanted.

use super::{QueryRun, RunGoal, RunPhase, SetsRun};
use crate::base::{DocId, Result};
use crate::cache::{Pages, Step};
use crate::search::lists::OpenLists;
use crate::search::plan::PlanNode;
use crate::search::scoring::top::Top;

/// Words of documents whose deletions are read at once.
const WORDS_AT_ONCE: usize = 1024;

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
        !self.options.sorts_scores() && (!self.options.is_by_score() || self.ranked() == 0)
    }

    /// Collects all documents.
    pub(super) fn collect_sets(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let RunPhase::Sets(run) = &mut self.phase else {
            return Ok(());
        };
        while run.next < run.end {
            let end = run.end.min(run.next + WORDS_AT_ONCE);
            let (first, last) = (run.next * 64, end * 64 - 1);
            run.live
                .prefetch_within(first as DocId, last as DocId, pages)?;
            pages.count_steps(end - run.next)?;
            for at in run.next..end {
                let members = members(&self.node, &self.lists, at).unwrap_or_default();
                let word = members & run.live.word(at, pages)?;
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

fn members(node: &PlanNode, lists: &OpenLists, at: usize) -> Option<u64> {
    node.as_kind(|kind| kind.members(lists, at))
}
