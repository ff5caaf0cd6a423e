//! Which windows a batch takes, and what is read ahead for them.

use super::WINDOWS_MAX;
use super::windows::{Clause, Pruning, Window};
use super::{RankProgress, Ranker, Stage};
use crate::base::{DocId, PAGE_PAYLOAD};
use crate::cache::{Pages, Step, Stop};
use crate::search::matching::matcher::for_all;

/// Windows that are read first when there are more than [`WINDOWS_MAX`].
const WINDOWS_FIRST: usize = 8;

/// How many times longer than the essential clauses' lists another may be for its pages to be read
/// with theirs: then so many candidates fall to a page that some are sure to be looked up in it.
const DENSE: u64 = 8;

impl Ranker {
    pub(super) fn open(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        self.open_lists(pages)?;
        self.lists = self.root.list_bounds(self.scratch.len(), pages)?;
        let lists = &self.lists;
        self.order = (0..lists.len()).collect();
        self.order.sort_by(|a, b| lists[*b].total_cmp(&lists[*a]));
        self.stage = Stage::Plan;
        Ok(())
    }

    /// Opens all lists in one round, and reads with the heads what will be read whatever they say:
    /// where there are few windows, all of them, since there is no threshold yet.
    fn open_lists(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let sought = self.root.sought();
        let clauses = &mut self.root.clauses;
        let windows: u64 = clauses[..sought]
            .iter()
            .map(|c| c.matcher.docs_pages())
            .sum();
        self.few_windows = windows <= WINDOWS_MAX as u64;
        let whole = pages.reads_ahead() && self.few_windows;
        let opened = for_all(
            clauses.iter_mut().enumerate(),
            |(clause, Clause { matcher, .. })| matcher.open(whole && clause < sought, pages),
        );
        if let (Err(Stop::Pages), true) = (&opened, whole) {
            let documents = clauses[..sought].iter().map(|c| c.matcher.cost_min()).sum();
            let from = self.options.from;
            self.prefetch_dense(from, self.options.below.saturating_sub(1), documents, pages)?;
        }
        opened
    }

    /// Begins the next batch, reading windows ahead if there are none.
    pub(super) fn plan(&mut self, pages: &mut Pages<'_>) -> Step<RankProgress> {
        if self.root.clauses.is_empty() {
            return Ok(RankProgress::Done);
        }
        if self.is_unfinished()
            && let Some(window) = self.windows.pop()
        {
            self.ahead.push_front(window);
        }
        self.windows.clear();
        self.candidates.clear();
        while self.ahead.is_empty() {
            pages.count_steps(1)?;
            if self.next >= self.options.below {
                return Ok(RankProgress::Done);
            }
            self.read_ahead(pages)?;
        }
        self.stage = Stage::Gather;
        Ok(RankProgress::More)
    }

    /// Reads what the next windows need, all in one round where the round has room: of many windows
    /// at first some, that a threshold is found before the rest is read.
    fn read_ahead(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let first = self.next == self.options.from && self.options.prune && !self.few_windows;
        let most = if first { WINDOWS_FIRST } else { WINDOWS_MAX };
        self.ahead.clear();
        let mut leading = vec![true; self.lists.len()];
        let (root, pruning) = (&self.root, self.pruning());
        root.partition(&self.lists, pruning, &mut leading);
        let (mut from, mut skipped) = (self.next, 0);
        while self.ahead.len() < most && from < self.options.below && pages.has_room() {
            pages.count_steps(leading.len())?;
            let window = self.window(from, &leading, pages)?;
            from = window.last.saturating_add(1);
            match window.matters() {
                true => {
                    if pages.reads_ahead() {
                        self.prefetch(&window, pages)?;
                    }
                    self.ahead.push_back(window);
                }
                false => skipped += 1,
            }
        }
        if pages.has_wanted() {
            return Err(Stop::Pages);
        }
        self.read_to = from;
        self.note_skipped(skipped);
        if self.ahead.is_empty() {
            self.next = from;
        }
        Ok(())
    }

    /// Takes the next window that was read ahead and still matters into the batch, if no cursor has
    /// to go back for it.
    pub(super) fn take_window(&mut self) -> bool {
        while let Some(mut window) = self.ahead.pop_front() {
            let (root, pruning) = (&self.root, self.pruning());
            root.partition(&window.bounds, pruning, &mut window.essential);
            if !window.matters() {
                self.note_skipped(1);
                continue;
            }
            if self.windows.last().is_some_and(|w| window.goes_back(w)) {
                self.ahead.push_front(window);
                return false;
            }
            self.next = self.next.max(window.first);
            self.seen.0 += 1;
            self.windows.push(window);
            return true;
        }
        self.next = self.next.max(self.read_to);
        false
    }

    /// Whether the last window of the batch has documents that were not looked at.
    pub(super) fn is_unfinished(&self) -> bool {
        let more = |window: &Window| self.next <= window.last && self.next < self.options.below;
        self.windows.last().is_some_and(more)
    }

    fn note_skipped(&mut self, windows: u64) {
        self.total_is_exact &= windows == 0;
        self.seen.1 += windows;
    }

    fn window(&mut self, from: DocId, leading: &[bool], pages: &mut Pages<'_>) -> Step<Window> {
        let pruning = Pruning {
            top: self.options.prune.then_some(&self.top),
            tie: self.root.tie as f64,
        };
        let (lists, scratch) = (&self.lists, &mut self.scratch);
        self.root
            .window(from, lists, leading, pruning, scratch, pages)
    }

    /// Notes what a window needs for sure: docs pages of its essential clauses, and norms where
    /// most pages of them have a candidate.
    fn prefetch(&mut self, window: &Window, pages: &mut Pages<'_>) -> Step<()> {
        let last = window.last.min(self.options.below.saturating_sub(1));
        let clauses = self.root.clauses.iter_mut().zip(&window.essential);
        let mut documents = 0;
        for_all(
            clauses.filter(|(_, essential)| **essential),
            |(clause, _)| {
                documents += clause.matcher.cost_min();
                clause.matcher.prefetch_within((window.first, last), pages)
            },
        )?;
        let later = self.root.clauses.iter_mut().zip(&window.essential);
        let later = later.filter(|(_, essential)| !**essential);
        let dense = later.filter(|(clause, _)| clause.matcher.cost() <= documents * DENSE);
        for_all(dense, |(clause, _)| {
            clause.matcher.prefetch_within((window.first, last), pages)
        })?;
        self.prefetch_dense(window.first, last, documents, pages)
    }

    /// Notes what the tables have of documents if most pages of theirs have one of `documents`
    /// candidates.
    fn prefetch_dense(
        &self,
        first: DocId,
        last: DocId,
        documents: u64,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if documents * (PAGE_PAYLOAD as u64) < self.options.below as u64 {
            return Ok(());
        }
        self.live.prefetch_within(first, last, pages)?;
        let mut norms = self.norms.iter();
        norms.try_for_each(|norms| norms.prefetch_within(first, last, pages))
    }
}
