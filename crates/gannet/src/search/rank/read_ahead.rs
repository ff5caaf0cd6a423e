//! Chooses the windows of a batch, and reads pages ahead for them.
//!
//! Pages are read ahead for many windows in one round: for all of them where they are few, for some
//! at first where they are many, so that a threshold is there before the rest is asked for. Each
//! window is judged anew, when its turn comes, by the threshold that earlier batches raised.

use std::collections::VecDeque;

use super::batch::RankBatch;
use super::core::RankCore;
use super::root::Clause;
use super::windows::Window;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::search::matching::matcher::for_all;
use crate::search::matching::matches::DocRange;

/// Windows of a batch at most.
pub(super) const WINDOWS_MAX: usize = 64;

/// Windows that are read first when there are more than [`WINDOWS_MAX`].
const WINDOWS_FIRST: usize = 8;

/// A list's pages are read with those of the essential clauses if it is at most so many times
/// longer than their lists. Up to that, each page is sure to have some candidate.
const DENSE: u64 = 8;

/// Windows that were read ahead.
pub(super) struct ReadAhead {
    /// Bounds of the clauses over their whole lists.
    lists: Vec<f64>,
    /// The windows, in order.
    pub(super) windows: VecDeque<Window>,
    /// Set if all windows are few enough to be read ahead at once.
    are_few: bool,
    /// The first document whose window was not read ahead.
    read_to: DocId,
    /// Windows that were searched, and that were skipped.
    pub(super) seen: (u64, u64),
}

impl ReadAhead {
    /// Nothing yet, from a document on.
    pub(super) fn new(from: DocId) -> ReadAhead {
        ReadAhead {
            lists: Vec::new(),
            windows: VecDeque::new(),
            are_few: true,
            read_to: from,
            seen: (0, 0),
        }
    }

    /// Opens the lists and takes the bounds of each. Gives the clauses, that with the best bound
    /// first.
    pub(super) fn open(&mut self, core: &mut RankCore, pages: &mut Pages<'_>) -> Step<Vec<usize>> {
        self.open_lists(core, pages)?;
        self.lists = core.root.list_bounds(core.scratch.len(), pages)?;
        let lists = &self.lists;
        let mut order: Vec<usize> = (0..lists.len()).collect();
        order.sort_by(|a, b| lists[*b].total_cmp(&lists[*a]));
        Ok(order)
    }

    /// Opens all lists in one round, and reads with the heads what will be read whatever they say:
    /// where there are few windows, all of them, since there is no threshold yet.
    fn open_lists(&mut self, core: &mut RankCore, pages: &mut Pages<'_>) -> Step<()> {
        let sought = core.root.sought();
        let clauses = &mut core.root.clauses;
        let windows = clauses[..sought].iter().map(|c| c.matcher.docs_pages());
        self.are_few = windows.sum::<u64>() <= WINDOWS_MAX as u64;
        let whole = pages.reads_ahead() && self.are_few;
        let opened = for_all(clauses.iter_mut().enumerate(), |(at, clause)| {
            clause.matcher.open(whole && at < sought, pages)
        });
        if let (Err(Stop::Pages), true) = (&opened, whole) {
            let documents = clauses[..sought].iter().map(|c| c.matcher.cost_min()).sum();
            let (from, below) = (core.options.from, core.options.below);
            let range = DocRange {
                first: from,
                last: below.saturating_sub(1),
            };
            core.tables.prefetch_dense(range, documents, below, pages)?;
        }
        opened
    }

    /// Sees to it that there are windows. Tells whether there are any.
    pub(super) fn fill(&mut self, core: &mut RankCore, pages: &mut Pages<'_>) -> Step<bool> {
        while self.windows.is_empty() {
            pages.count_steps(1)?;
            if core.next >= core.options.below {
                return Ok(false);
            }
            self.read(core, pages)?;
        }
        Ok(true)
    }

    /// Reads what the next windows need, all in one round where the round has room: of many windows
    /// at first some, that a threshold is found before the rest is read.
    fn read(&mut self, core: &mut RankCore, pages: &mut Pages<'_>) -> Step<()> {
        let below = core.options.below;
        let first = core.next == core.options.from && core.options.prune && !self.are_few;
        let most = if first { WINDOWS_FIRST } else { WINDOWS_MAX };
        self.windows.clear();
        let (lists, pruning) = (&self.lists, core.pruning());
        let mut leading = vec![true; lists.len()];
        core.root.partition(lists, pruning, &mut leading);
        let (mut from, mut skipped) = (core.next, 0);
        while self.windows.len() < most && from < below && pages.has_room() {
            pages.count_steps(leading.len())?;
            let (root, scores) = (&mut core.root, &mut core.scratch);
            let window = root.window(from, lists, &leading, pruning, scores, pages)?;
            from = window.last.saturating_add(1);
            if window.matters() {
                if pages.reads_ahead() {
                    prefetch(core, &window, pages)?;
                }
                self.windows.push_back(window);
            } else {
                skipped += 1;
            }
        }
        if pages.has_wanted() {
            return Err(Stop::Pages);
        }
        self.read_to = from;
        self.note_skipped(core, skipped);
        if self.windows.is_empty() {
            core.next = from;
        }
        Ok(())
    }

    /// Moves the next window that still matters into the batch, if no cursor has to go back for it.
    /// Tells whether it did.
    pub(super) fn take(&mut self, core: &mut RankCore, batch: &mut RankBatch) -> bool {
        while let Some(mut window) = self.windows.pop_front() {
            let pruning = core.pruning();
            core.root
                .partition(&window.bounds, pruning, &mut window.essential);
            if !window.matters() {
                self.note_skipped(core, 1);
                continue;
            }
            if batch.windows.last().is_some_and(|w| window.goes_back(w)) {
                self.windows.push_front(window);
                return false;
            }
            core.next = core.next.max(window.first);
            self.seen.0 += 1;
            batch.windows.push(window);
            return true;
        }
        core.next = core.next.max(self.read_to);
        false
    }

    fn note_skipped(&mut self, core: &mut RankCore, windows: u64) {
        core.total.is_exact &= windows == 0;
        self.seen.1 += windows;
    }
}

/// Notes what a window needs for sure: docs pages of its essential clauses, and norms where most
/// pages of them have a candidate.
fn prefetch(core: &mut RankCore, window: &Window, pages: &mut Pages<'_>) -> Step<()> {
    let below = core.options.below;
    let range = DocRange {
        first: window.first,
        last: window.last.min(below.saturating_sub(1)),
    };
    let of =
        |clause: &mut Clause, pages: &mut Pages<'_>| clause.matcher.prefetch_within(range, pages);
    let mut documents = 0;
    let clauses = core.root.clauses.iter_mut().zip(&window.essential);
    for_all(
        clauses.filter(|(_, essential)| **essential),
        |(clause, _)| {
            documents += clause.matcher.cost_min();
            of(clause, pages)
        },
    )?;
    let later = core.root.clauses.iter_mut().zip(&window.essential);
    let later = later.filter(|(_, essential)| !**essential);
    let dense = later.filter(|(clause, _)| clause.matcher.cost() <= documents * DENSE);
    for_all(dense, |(clause, _)| of(clause, pages))?;
    core.tables.prefetch_dense(range, documents, below, pages)
}
