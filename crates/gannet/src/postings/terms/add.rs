//! New postings come to the dictionary: to the levels of recent ones, and from there to their
//! lists.

use super::TermDictionary;
use super::change::DELTA_LEVELS;
use super::delta::{DeltaLevel, LevelLimits};
use super::join::{Join, Joining, NewPostings};
use super::leaving::{Compacting, Passing};
use super::lists::ListTrees;
use crate::base::Result;
use crate::btree::TreeView;
use crate::cache::FramePool;
use crate::postings::codec::fragment::Fragment;

/// A change of at least so many terms, and of one of so many of the dictionary, goes to the lists
/// at once: it changes most leaves anyway.
const MANY: u64 = 4096;
const MANY_OF: u64 = 2;

/// The number of flushes that share the cost of the last level among them.
const SHARED_BY: u64 = 3;

/// Fewer nodes than this are not worth the work of joining.
const NODES_MIN: u64 = 16;

/// The number of terms that join their lists together in a pass, at least and for each node that is
/// to be written: so a small flush joins hardly more than its share, and in a large one few leaves
/// are written twice. And at most, as when all are to join.
const JOINED_MIN: usize = 256;
const JOINED_PER_NODE: usize = 8;
const JOINED_MAX: usize = 4096;

/// Returns true if so many new terms go to the lists at once, of which there are so many entries.
pub fn terms_join_at_once(terms: u64, lists: u64) -> bool {
    terms >= MANY && terms * MANY_OF >= lists
}

impl TermDictionary {
    /// Adds new postings to the terms `keys` (sorted, distinct), behind all that they have.
    ///
    /// An error stops the dictionary for good.
    pub fn add(
        &mut self,
        pool: &FramePool,
        keys: &[&[u8]],
        new: &dyn NewPostings,
        join: &Join<'_>,
    ) -> Result<()> {
        if keys.is_empty() {
            // What is there may wait. A flush of deletions alone must not need the space for it,
            // since a full device is freed by deletions and a vacuum.
            return Ok(());
        }
        let TermDictionary { lists, recent } = self;
        let terms = keys.len() as u64;
        let all = terms_join_at_once(terms, lists.sum(TreeView::entries));
        let into = if all {
            DELTA_LEVELS - 1
        } else {
            recent.level_to_write()
        };
        let limit = if all { 0 } else { usize::MAX };
        let room = LevelLimits::new(into, limit, lists);
        let mut joining = Joining {
            lists,
            pool,
            new,
            join,
        };
        if into == 0 && terms < recent.levels[0].leaves() {
            let mut outgrown = Some(recent.keep(keys, room, pool, new)?);
            joining.take(&mut outgrown, |_| false)?;
        } else {
            let mut compacting = Compacting::new(recent, into, keys, room, pool, new)?;
            joining.take(&mut compacting, |_| false)?;
        }
        if all {
            return recent.clear();
        }
        if into + 1 == DELTA_LEVELS {
            // What compacts into the last level has done enough.
            recent.pass.owed += recent.levels[into].nodes();
        } else {
            self.go_on(pool, join)?
        }
        self.recent.widen(pool)
    }

    /// Has delta postings join their lists: all of them where they take at most so many nodes, or
    /// else about as many as have so many nodes of lists written. Tells whether there are more.
    pub fn settle(&mut self, pool: &FramePool, nodes: u64, join: &Join<'_>) -> Result<bool> {
        let TermDictionary { lists, recent } = self;
        if recent.levels.iter().map(DeltaLevel::nodes).sum::<u64>() > nodes {
            self.join_next(pool, nodes, JOINED_MAX, join)?;
            return Ok(self.recent.levels.iter().any(|level| level.terms() > 0));
        }
        let mut joining = Joining {
            lists,
            pool,
            new: &nothing_new,
            join,
        };
        // They are all removed together.
        let mut lapping = Passing::new(recent, &[], JOINED_MAX, pool)?.removing(false);
        joining.take(&mut lapping, |_| false)?;
        recent.clear()?;
        Ok(false)
    }

    /// Has the next delta postings join their lists, for a share of what is owed.
    fn go_on(&mut self, pool: &FramePool, join: &Join<'_>) -> Result<()> {
        let share = self.recent.pass.owed / SHARED_BY;
        if share < NODES_MIN {
            return Ok(());
        }
        let at_once = (JOINED_PER_NODE * share as usize).clamp(JOINED_MIN, JOINED_MAX);
        let written = self.join_next(pool, share, at_once, join)?;
        let pass = &mut self.recent.pass;
        pass.owed = pass.owed.saturating_sub(share.max(written));
        Ok(())
    }

    /// Has the next delta postings join their lists, so many terms at once, until so many nodes of
    /// lists are written. Gives how many were.
    fn join_next(
        &mut self,
        pool: &FramePool,
        nodes: u64,
        at_once: usize,
        join: &Join<'_>,
    ) -> Result<u64> {
        let TermDictionary { lists, recent } = self;
        let from = std::mem::take(&mut recent.pass.next);
        let mut lapping = Passing::new(recent, &from, at_once, pool)?;
        let before = lists.sum(TreeView::appended);
        let written = |lists: &ListTrees| lists.sum(TreeView::appended) - before;
        let mut joining = Joining {
            lists,
            pool,
            new: &nothing_new,
            join,
        };
        let last = joining.take(&mut lapping, |lists| written(lists) >= nodes)?;
        if let Some(mut last) = last {
            // The least key behind it.
            last.push(0);
            recent.pass.next = last;
        }
        Ok(written(lists))
    }
}

/// Of no term.
fn nothing_new(_: Vec<usize>) -> Vec<Fragment> {
    Vec::new()
}
