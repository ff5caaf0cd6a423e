//! Which windows a batch takes, and what is read ahead for them.

use super::{Progress, Ranker, Stage};
use crate::base::{DocId, PAGE_PAYLOAD};
use crate::cache::{Pages, Step, Stop};
use crate::search::matcher::for_all;
use crate::search::windows::{Clause, Pruning, Window};

/// Windows of a batch at most.
const WINDOWS_MAX: usize = 64;

/// Windows that are read first when there are more than [`WINDOWS_MAX`].
const WINDOWS_FIRST: usize = 8;

/// How many times longer than the essential clauses' lists another may be for its pages to be read with theirs:
/// then so many candidates fall to a page that some are sure to be looked up in it.
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

    /// Opens all lists in one round, and reads with the heads what will be read whatever they say: where there are
    /// few windows, all of them, since there is no threshold yet.
    fn open_lists(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let sought = self.root.sought();
        let clauses = &mut self.root.clauses;
        let windows: u64 = clauses[..sought]
            .iter()
            .map(|c| c.matcher.docs_pages())
            .sum();
        let whole = windows <= WINDOWS_MAX as u64;
        let opened = for_all(
            clauses.iter_mut().enumerate(),
            |(clause, Clause { matcher, .. })| matcher.open(whole && clause < sought, pages),
        );
        if let (Err(Stop::Pages), true) = (&opened, whole) {
            let documents = clauses[..sought].iter().map(|c| c.matcher.cost_min()).sum();
            self.prefetch_dense(0, self.options.below.saturating_sub(1), documents, pages)?;
        }
        opened
    }

    /// Chooses the windows of the next batch, reading ahead where nothing was read yet.
    pub(super) fn plan(&mut self, pages: &mut Pages<'_>) -> Step<Progress> {
        self.windows.clear();
        if self.root.clauses.is_empty() {
            return Ok(Progress::Done);
        }
        while self.windows.is_empty() {
            if self.next >= self.options.below {
                return Ok(Progress::Done);
            }
            if self.next >= self.read_to {
                self.read_ahead(pages)?;
            }
            self.choose(pages)?;
        }
        self.candidates.clear();
        let from = self.windows[0].first;
        self.stage = Stage::Gather { window: 0, from };
        Ok(Progress::More)
    }

    /// Reads what the next windows need, all in one round where the round has room.
    fn read_ahead(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let most = self.windows_to_read(pages)?;
        let (mut from, mut count) = (self.next, 0);
        while count < most && from < self.options.below && pages.has_room() {
            let window = self.window(from, pages)?;
            from = window.last.saturating_add(1);
            if window.matters() {
                self.prefetch(&window, pages)?;
                count += 1;
            }
        }
        if pages.has_wanted() {
            return Err(Stop::Pages);
        }
        self.read_to = from;
        Ok(())
    }

    /// All windows if there are few; of many at first some, that a threshold is found before the rest is read.
    fn windows_to_read(&mut self, pages: &mut Pages<'_>) -> Step<usize> {
        if self.next > 0 || !self.options.prune {
            return Ok(WINDOWS_MAX);
        }
        let (mut from, mut count) = (0, 0);
        while count <= WINDOWS_MAX && from < self.options.below {
            from = self.window(from, pages)?.last.saturating_add(1);
            count += 1;
        }
        match count > WINDOWS_MAX {
            true => Ok(WINDOWS_FIRST),
            false => Ok(WINDOWS_MAX),
        }
    }

    /// Takes the windows that were read ahead and still matter, as long as no cursor has to go back.
    fn choose(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let (mut from, mut skipped) = (self.next, 0);
        let end = self.read_to.min(self.options.below);
        while self.windows.len() < WINDOWS_MAX && from < end {
            let window = self.window(from, pages)?;
            let back = self.windows.last().is_some_and(|w| window.goes_back(w));
            if window.matters() && back {
                break;
            }
            from = window.last.saturating_add(1);
            match window.matters() {
                true => self.windows.push(window),
                false => skipped += 1,
            }
        }
        self.total_is_exact &= skipped == 0;
        self.seen.1 += skipped;
        self.seen.0 += self.windows.len() as u64;
        if self.windows.is_empty() {
            self.next = from;
        }
        Ok(())
    }

    fn window(&mut self, from: DocId, pages: &mut Pages<'_>) -> Step<Window> {
        let pruning = Pruning {
            top: self.options.prune.then_some(&self.top),
            tie: self.root.tie as f64,
        };
        let (lists, scratch) = (&self.lists, &mut self.scratch);
        self.root.window(from, lists, pruning, scratch, pages)
    }

    /// Notes what a window needs for sure: docs pages of its essential clauses, and norms where most pages of
    /// them have a candidate.
    fn prefetch(&mut self, window: &Window, pages: &mut Pages<'_>) -> Step<()> {
        let last = window.last.min(self.options.below.saturating_sub(1));
        let clauses = self.root.clauses.iter_mut().zip(&window.essential);
        let mut documents = 0;
        for_all(
            clauses.filter(|(_, essential)| **essential),
            |(clause, _)| {
                documents += clause.matcher.cost_min();
                clause.matcher.prefetch_within(window.first, last, pages)
            },
        )?;
        let later = self.root.clauses.iter_mut().zip(&window.essential);
        let later = later.filter(|(_, essential)| !**essential);
        let dense = later.filter(|(clause, _)| clause.matcher.cost() <= documents * DENSE);
        for_all(dense, |(clause, _)| {
            clause.matcher.prefetch_within(window.first, last, pages)
        })?;
        self.prefetch_dense(window.first, last, documents, pages)
    }

    /// Notes what the tables have of documents if most pages of theirs have one of `documents` candidates.
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
