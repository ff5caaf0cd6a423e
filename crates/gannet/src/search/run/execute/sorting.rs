//! Hits in the order of values, and aggregations: all documents that match are collected, then
//! counted and put in order.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Collected, QueryRun, RunGoal, RunPhase};
use crate::base::{Error, Result};
use crate::cache::{Pages, Step};
use crate::search::options::SearchOptions;
use crate::search::query::Query;
use crate::search::results::Hit;
use crate::search::scoring::top::{AllDocs, Scored, Top};
use crate::search::values::{AggregateRun, SortRun, SortTask};

/// Returns true if all documents that match are collected.
fn collects(options: &SearchOptions, goal: RunGoal) -> bool {
    match goal {
        RunGoal::Documents => true,
        RunGoal::Statistics => false,
        RunGoal::Answer => {
            let is_ranked = options.is_by_score() && options.min_score.is_none();
            !is_ranked || options.aggregations.is_some()
        }
    }
}

impl<'q> QueryRun<'q> {
    /// The query whose documents are found: without scores where nobody wants them.
    pub(super) fn asked<'a>(
        query: &'a Query,
        options: &SearchOptions,
        goal: RunGoal,
    ) -> Cow<'a, Query> {
        let ranks = options.is_by_score() && (options.ranked() > 0 || !collects(options, goal));
        if goal != RunGoal::Documents && (ranks || options.needs_all_scores()) {
            return Cow::Borrowed(query);
        }
        Cow::Owned(Query::Bool {
            must: Vec::new(),
            should: Vec::new(),
            must_not: Vec::new(),
            filter: vec![query.clone()],
            minimum_should_match: 0,
        })
    }

    /// Returns true if all documents that match are collected.
    pub(super) fn collects(&self) -> bool {
        collects(self.options, self.goal)
    }

    /// Makes the room in which all documents that match are collected.
    pub(super) fn collecting(&mut self) -> Result<Top> {
        let is_answer = self.goal == RunGoal::Answer;
        let scored = is_answer && self.options.needs_all_scores();
        let least = self.options.min_score.filter(|_| is_answer);
        let below = self.view.below;
        let bytes = AllDocs::bytes(below, scored);
        let what = "the documents that a query finds";
        self.collected = Some(self.budget.reserve(what, bytes)?);
        let by_score = is_answer && self.options.is_by_score();
        let k = if by_score { self.ranked() } else { 0 };
        let all = AllDocs::new(below, scored).of_at_least(least.unwrap_or(f32::NEG_INFINITY));
        Ok(Top::collecting(k, all))
    }

    /// Goes on with all documents that match: they are counted, put in order, or all that is asked.
    pub(super) fn end_collecting(&mut self, all: Box<AllDocs>, top: Top) -> Result<()> {
        if self.goal == RunGoal::Documents {
            self.found = Some(all);
            self.phase = RunPhase::Done;
            return Ok(());
        }
        if self.options.min_score.is_some() {
            self.results.total = all.docs.count();
        }
        let Some(request) = &self.options.aggregations else {
            return self.begin_order(all, top);
        };
        let of_others = |name: &str| self.options.allows_field(name);
        let aggregate = AggregateRun::new(request, all, self.view, &of_others, self.budget)?;
        self.phase = RunPhase::Aggregate(Box::new(Collected {
            aggregate,
            ranked: top.into_sorted(),
            nested: None,
            filters: 0,
        }));
        Ok(())
    }

    /// Computes aggregations.
    pub(super) fn aggregate(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let RunPhase::Aggregate(collected) = &mut self.phase else {
            return Ok(());
        };
        let filters = match &self.options.aggregations {
            Some(request) => request.filters.as_slice(),
            None => &[],
        };
        loop {
            if let Some(nested) = &mut collected.nested {
                nested.go_on(pages)?;
                let found = collected.nested.take().and_then(|nested| nested.found);
                let found = found.ok_or_else(|| Error::internal("a filter found nothing"))?;
                if collected.filters < filters.len() {
                    collected.filters += 1;
                    collected.aggregate.give_filter(*found);
                } else {
                    collected.aggregate.give_live(found);
                }
                continue;
            }
            let asked = match filters.get(collected.filters) {
                Some(filter) => filter,
                None => {
                    collected.aggregate.step(pages)?;
                    if !collected.aggregate.wants_live() {
                        break;
                    }
                    &Query::MatchAll
                }
            };
            let goal = RunGoal::Documents;
            let (view, options, resources) = (self.view, self.options, self.resources);
            let nested = QueryRun::new(asked, view, options, self.budget, resources, goal)?;
            collected.nested = Some(Box::new(nested));
        }
        self.end_aggregate(pages)?;
        Ok(())
    }

    fn end_aggregate(&mut self, pages: &Pages<'_>) -> Result<()> {
        let RunPhase::Aggregate(collected) = std::mem::replace(&mut self.phase, RunPhase::Done)
        else {
            return Ok(());
        };
        self.end_phase("aggregate values", pages);
        let (state, all) = collected.aggregate.finish()?;
        self.results.aggregations = Some(Arc::new(state));
        if !self.options.is_by_score() {
            return self.begin_sort(all);
        }
        self.take_ranked(collected.ranked)
    }

    /// Goes on to put documents in order, of which the best by score are known.
    fn begin_order(&mut self, all: Box<AllDocs>, top: Top) -> Result<()> {
        if !self.options.is_by_score() {
            return self.begin_sort(all);
        }
        drop(all);
        self.take_ranked(top.into_sorted())
    }

    /// Goes on with the best documents by score.
    fn take_ranked(&mut self, ranked: Vec<Scored>) -> Result<()> {
        self.collected = None;
        if self.orders_ties() {
            self.order_ties(ranked)
        } else {
            self.take_hits(&ranked)
        }
    }

    /// Goes on to put all documents in order.
    pub(super) fn begin_sort(&mut self, all: Box<AllDocs>) -> Result<()> {
        let options = self.options;
        let task = SortTask {
            all,
            wanted: options.ranked(),
            keys: options.keys(),
            after: options.after.as_deref(),
            collapse: options.collapse.as_deref(),
            fetch: self.fetcher(false),
        };
        let elsewhere = |name: &str| options.allows_field(name);
        let sort = SortRun::new(task, self.view, &elsewhere, self.budget)?;
        self.phase = RunPhase::Sort(Box::new(sort));
        Ok(())
    }

    /// Takes the hits in their order, and begins to fetch them.
    pub(super) fn end_sort(&mut self, pages: &Pages<'_>) -> Result<()> {
        let RunPhase::Sort(sort) = std::mem::replace(&mut self.phase, RunPhase::Done) else {
            return Ok(());
        };
        self.end_phase("order by values", pages);
        let sorted = sort.finish().into_iter().skip(self.options.skip);
        let is_by_values = !self.options.sort.is_empty();
        let hits = sorted.map(|hit| Hit {
            doc: hit.doc,
            score: hit.score,
            sort: if is_by_values { hit.values } else { Vec::new() },
            group: hit.group,
            ..Hit::default()
        });
        self.results.hits = hits.collect();
        self.collected = None;
        let values = self.results.hits.iter().map(Hit::sort_bytes).sum::<usize>();
        self.kept.grow_to(self.kept.bytes() + values)?;
        self.phase = self.fetching()?;
        Ok(())
    }
}
