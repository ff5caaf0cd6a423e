//! A group of queries carried forward together: one batch of reads serves all of them in each
//! round.
//!
//! Even queries of which each reads one page at a time then form batches, which costs the processor
//! less per read and keeps the device busy.

use std::borrow::Borrow;

use super::execute::{QueryRun, RunGoal};
use super::lookup::RunResources;
use super::offload::ListOffload;
use crate::base::{Budget, Error, ForegroundLoad, MemoryPermit, Result};
use crate::cache::{FramePool, Pages, Reading, Stop, fetch_round};
use crate::search::hot::HotLists;
use crate::search::lists::KnownPatterns;
use crate::search::options::SearchOptions;
use crate::search::query::Query;
use crate::search::results::SearchResults;
use crate::search::statistics::QueryStatistics;
use crate::search::view::SearchView;

/// The most queries that go forward together.
pub const GROUP_MAX: usize = 32;

/// Frames that a query of a group may hold; a pool with fewer for each carries fewer at once.
const FRAMES_PER_QUERY: usize = 64;

/// Pages that a query asks for in one round, at least and at most.
const PAGES_PER_ROUND: (usize, usize) = (4, 1024);

/// Carries out queries over one frame pool.
#[derive(Clone, Copy)]
pub struct QueryGroup<'a> {
    pool: &'a FramePool,
    budget: &'a Budget,
    traffic: Option<&'a ForegroundLoad>,
    known: Option<&'a KnownPatterns>,
    hot: Option<&'a HotLists>,
    offload: Option<&'a dyn ListOffload>,
    width: usize,
}

impl<'a> QueryGroup<'a> {
    /// A group that carries up to `width` queries at once, fewer if the pool is too small for that.
    pub fn new(pool: &'a FramePool, budget: &'a Budget, width: usize) -> QueryGroup<'a> {
        let most = (pool.capacity() / FRAMES_PER_QUERY).clamp(1, GROUP_MAX);
        QueryGroup {
            pool,
            budget,
            traffic: None,
            known: None,
            hot: None,
            offload: None,
            width: width.clamp(1, most),
        }
    }

    /// Has those that yield to this traffic go on while a query waits for them to end.
    pub fn in_traffic(self, traffic: &'a ForegroundLoad) -> QueryGroup<'a> {
        QueryGroup {
            traffic: Some(traffic),
            ..self
        }
    }

    /// Takes the documents of patterns from `known` where it has them, and keeps them there.
    pub fn knowing(self, known: Option<&'a KnownPatterns>) -> QueryGroup<'a> {
        QueryGroup { known, ..self }
    }

    /// Takes lists from `hot` where it has them, and keeps them there.
    pub fn with_hot_lists(self, hot: &'a HotLists) -> QueryGroup<'a> {
        QueryGroup {
            hot: Some(hot),
            ..self
        }
    }

    /// Lets `offload` read lists where it finds that worth it.
    pub fn offloading(self, offload: Option<&'a dyn ListOffload>) -> QueryGroup<'a> {
        QueryGroup { offload, ..self }
    }

    /// Carries out all of `queries` on one snapshot. The answers come in the queries' order; one
    /// that fails does not disturb the others.
    pub fn search<Q: Borrow<Query>>(
        &self,
        queries: &[Q],
        view: &SearchView,
        options: &SearchOptions,
    ) -> Vec<Result<SearchResults>> {
        if let Some(hot) = self.hot {
            hot.yield_memory();
        }
        let groups = queries.chunks(self.width);
        let answers = groups.flat_map(|group| {
            let permit = match self.budget.permit(options) {
                Ok(permit) => permit,
                Err(error) => return vec![Err(error); group.len()],
            };
            let answers = self.search_together(group, view, options, false);
            drop(permit);
            let both = answers.into_iter().zip(group);
            let answers = both.map(|(answer, query)| {
                self.again_alone(answer, options, || {
                    let query: [&Query; 1] = [query.borrow()];
                    let again = self.search_together(&query, view, options, true).pop();
                    again.unwrap_or_else(|| Err(stuck()))
                })
            });
            answers.collect()
        });
        answers.collect()
    }

    /// The statistics that the scores of a query need.
    pub fn statistics(
        &self,
        query: &Query,
        view: &SearchView,
        options: &SearchOptions,
    ) -> Result<QueryStatistics> {
        let count = |alone| {
            let goal = RunGoal::Statistics;
            let members = self.carry(&[query], view, options, alone, goal).pop();
            members.map_or_else(|| Err(stuck()), GroupMember::into_statistics)
        };
        let permit = self.budget.permit(options)?;
        let counted = count(false);
        drop(permit);
        self.again_alone(counted, options, || count(true))
    }

    /// Asks again what found too little memory beside other queries, once none of them has any.
    fn again_alone<T>(
        &self,
        done: Result<T>,
        options: &SearchOptions,
        again: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if !matches!(done, Err(Error::Memory { .. })) {
            return done;
        }
        let _permit = self.permit_alone(options)?;
        again()
    }

    /// Waits until no other query has memory.
    fn permit_alone(&self, options: &SearchOptions) -> Result<MemoryPermit<'_>> {
        let _waits = self.traffic.map(ForegroundLoad::wait);
        self.budget.permit_alone(options)
    }

    /// Pages that one of so many queries may ask for in a round.
    fn pages_per_round(&self, queries: usize) -> usize {
        let share = self.pool.capacity() / queries / 16;
        share.clamp(PAGES_PER_ROUND.0, PAGES_PER_ROUND.1)
    }

    fn search_together<Q: Borrow<Query>>(
        &self,
        queries: &[Q],
        view: &SearchView,
        options: &SearchOptions,
        alone: bool,
    ) -> Vec<Result<SearchResults>> {
        let members = self.carry(queries, view, options, alone, RunGoal::Answer);
        members.into_iter().map(GroupMember::into_results).collect()
    }

    /// Carries queries to their ends.
    fn carry<'q, Q: Borrow<Query>>(
        &self,
        queries: &[Q],
        view: &'q SearchView,
        options: &'q SearchOptions,
        alone: bool,
        goal: RunGoal,
    ) -> Vec<GroupMember<'q>>
    where
        'a: 'q,
    {
        let count = queries.len();
        let members = queries.iter().map(|query| {
            let query = query.borrow();
            self.member(query, count, view, options, alone, goal)
        });
        let mut members: Vec<GroupMember<'_>> = members.collect();
        while let Err(error) = self.round(&mut members) {
            give_up_or_part(&mut members, self.pool, &error);
        }
        members
    }

    fn member<'q>(
        &self,
        query: &Query,
        queries: usize,
        view: &'q SearchView,
        options: &'q SearchOptions,
        alone: bool,
        goal: RunGoal,
    ) -> GroupMember<'q>
    where
        'a: 'q,
    {
        let resources = RunResources {
            pages_per_round: self.pages_per_round(queries),
            alone,
            known: self.known,
            hot: self.hot,
            offload: self.offload,
        };
        let run = QueryRun::new(query, view, options, self.budget, resources, goal);
        GroupMember {
            run: run.map(Box::new),
            is_complete: false,
            pages: Pages::sharing(self.pool, queries)
                .reading(Reading {
                    ahead: options.techniques.prefetch,
                    in_batches: options.techniques.batches,
                    listed: options.list_pages,
                })
                .until(options),
        }
    }

    /// Carries all members to their ends, round by round.
    fn round(&self, members: &mut [GroupMember<'_>]) -> Result<()> {
        loop {
            members.iter_mut().for_each(GroupMember::step);
            let waiting = members.iter_mut().filter(|member| member.is_waiting());
            let mut waiting: Vec<&mut Pages<'_>> = waiting.map(|m| &mut m.pages).collect();
            if waiting.is_empty() {
                return Ok(());
            }
            fetch_round(self.pool, &mut waiting)?;
        }
    }
}

struct GroupMember<'q> {
    run: Result<Box<QueryRun<'q>>>,
    is_complete: bool,
    pages: Pages<'q>,
}

impl GroupMember<'_> {
    fn is_waiting(&self) -> bool {
        self.run.is_ok() && !self.is_complete
    }

    fn step(&mut self) {
        let (Ok(run), false) = (&mut self.run, self.is_complete) else {
            return;
        };
        match run.step(&mut self.pages) {
            Ok(()) => self.is_complete = true,
            Err(Stop::Pages) if self.pages.has_wanted() => {}
            Err(Stop::Pages) => self.run = Err(stuck()),
            Err(Stop::Failed(error)) => self.run = Err(error),
        }
    }

    /// Goes on without the others after a round failed with `error`.
    fn finish_alone(&mut self, pool: &FramePool, error: &Error) {
        while self.is_waiting() {
            if !self.pages.has_wanted() {
                self.run = Err(error.clone());
                return;
            }
            match fetch_round(pool, &mut [&mut self.pages]) {
                Ok(()) => self.step(),
                Err(error) => self.run = Err(error),
            }
        }
    }

    fn into_statistics(self) -> Result<QueryStatistics> {
        let run = self.run?;
        if self.is_complete {
            Ok(run.into_statistics())
        } else {
            Err(stuck())
        }
    }

    fn into_results(self) -> Result<SearchResults> {
        let run = self.run?;
        if self.is_complete {
            let (pages, requests) = self.pages.into_lists();
            Ok(SearchResults {
                pages,
                requests,
                ..run.finish()
            })
        } else {
            Err(stuck())
        }
    }
}

/// Decides on the queries whose round failed. The failed read names one page of many queries: each
/// tries alone, so that the others go on. A query that was alone has tried: behind a network, to
/// read again would take as long again.
fn give_up_or_part(members: &mut [GroupMember<'_>], pool: &FramePool, error: &Error) {
    let waiting = members.iter_mut().filter(|member| member.is_waiting());
    match waiting.collect::<Vec<_>>().as_mut_slice() {
        [member] => member.run = Err(error.clone()),
        members => members
            .iter_mut()
            .for_each(|member| member.finish_alone(pool, error)),
    }
}

fn stuck() -> Error {
    Error::internal("a query stopped for pages without naming any")
}
