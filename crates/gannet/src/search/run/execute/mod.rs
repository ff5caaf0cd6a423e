//! A query as a state machine: look up its terms, rank, fetch the best documents, explain.
//!
//! A step computes with the pages that are there and stops when it needs others (see
//! `cache::pages`), so that one driver carries many queries forward together. What each phase read
//! is kept for the plan report.
//!
//! Invariants:
//! 1. Phases only go forward; a step after the last does nothing.
//! 2. Memory that grows with the query or the data (candidates, cursors, hits, documents) is
//!    reserved before it is used, and stays reserved as long as the results are there.

mod order;
mod report;
mod sets;
mod sorting;
mod words;

use std::sync::Arc;
use std::time::Duration;

use super::given::{GivenStatistics, NeededStatistics};
use super::lookup::Lookup;
use super::lookup::RunResources;
use super::offload::{OffloadQuery, Offloaded, offload};
use super::ties::TieOrder;
use crate::analysis::Field;
use crate::base::{Budget, DocId, Error, Interrupt, Reservation, Result};
use crate::cache::{IoCounts, Pages, Step, Stop};
use crate::documents::{Fetch, LiveCursor};
use crate::postings::Reach;
use crate::search::build::{BuildOptions, Built, build, cursor_bytes};
use crate::search::hot::HotEntry;
use crate::search::lists::OpenLists;
use crate::search::options::SearchOptions;
use crate::search::plan::{Allowance, Plan, PlanNode, plan};
use crate::search::query::Query;
use crate::search::query::fields;
use crate::search::rank::candidates::Candidates;
use crate::search::rank::options::RankOptions;
use crate::search::rank::{RankProgress, Ranker};
use crate::search::results::explain::{explain, explanation_bytes};
use crate::search::results::hits::HitFilling;
use crate::search::results::marks::{Marker, marker_bytes};
use crate::search::results::{Hit, PlanReport, PlanStep, SearchResults};
use crate::search::scoring::bm25::Statistics;
use crate::search::scoring::explanation::Explanation;
use crate::search::scoring::top::{AllDocs, Scored, Top};
use crate::search::statistics::QueryStatistics;
use crate::search::values::{AggregateRun, SortRun};
use crate::search::view::SearchView;
use crate::search::words::WordsRun;

/// Bytes of candidates that a query works on at most.
const CANDIDATE_BYTES: usize = 512 << 10;

/// Bytes of candidates for each scored word of a query of very many. Each batch goes through all
/// words, so the time of a query grows with the square of their number where batches do not grow
/// with it.
const CANDIDATE_BYTES_A_LEAF: usize = 4 << 10;

/// Of the memory that is free a query takes one part of so many for its candidates, so that many
/// can go on at once.
const CANDIDATE_SHARE: usize = 32;

/// Candidates of a batch, at least and at most.
const CANDIDATES: (usize, usize) = (64, 8192);

/// A query being carried out.
pub struct QueryRun<'q> {
    view: &'q SearchView,
    options: &'q SearchOptions,
    budget: &'q Budget,
    resources: RunResources<'q>,
    node: PlanNode,
    lists: OpenLists,
    /// Of each term among the hot lists.
    hot_entries: Vec<Arc<HotEntry>>,
    /// The statistics to score with in place of those of the index.
    given: Option<GivenStatistics>,
    /// The statistics to count, if they are all that is asked.
    needed: Option<NeededStatistics>,
    counted: QueryStatistics,
    /// The best documents without those of the last score, which are looked for.
    best: Vec<Scored>,
    phase: RunPhase<'q>,
    results: SearchResults,
    report: PlanReport,
    /// Memory of the plan, of the phase, and of what is given back.
    _planned: Reservation,
    working: Reservation,
    /// Of lists that a device has read.
    offloaded: Option<Reservation>,
    /// Set if these have only the best documents.
    only_best: bool,
    /// Memory of all documents that match, while these are collected.
    collected: Option<Reservation>,
    /// These documents, if they are all that is asked.
    found: Option<Box<AllDocs>>,
    goal: RunGoal,
    kept: Reservation,
    seen: IoCounts,
    started: Duration,
}

/// The goal of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunGoal {
    /// Its answer.
    Answer,
    /// The statistics that its scores need.
    Statistics,
    /// All documents that match.
    Documents,
}

enum RunPhase<'q> {
    LookUp(Lookup<'q>),
    Words(Box<WordsRun>),
    Rank(Box<Ranker>),
    Sets(Box<SetsRun>),
    Order(Box<TieOrder<'q>>),
    Aggregate(Box<Collected<'q>>),
    Sort(Box<SortRun<'q>>),
    Fetch {
        done: usize,
        fetch: Fetch<'q>,
        filling: HitFilling<'q>,
    },
    Explain {
        done: usize,
        built: Option<Box<Built>>,
    },
    Done,
}

/// The documents that a query finds, once they are collected.
struct Collected<'q> {
    /// Aggregations, until these end.
    aggregate: AggregateRun,
    /// The best documents by score, if hits are in that order.
    ranked: Vec<Scored>,
    /// The query of a filter, or all documents, being looked for.
    nested: Option<Box<QueryRun<'q>>>,
    /// Filters whose documents are found.
    filters: usize,
}

/// The documents of a query that is made of sets, being collected.
struct SetsRun {
    /// Nothing where they are only counted.
    all: Option<Box<AllDocs>>,
    live: LiveCursor,
    /// The word that comes next, of those before `end`.
    next: usize,
    end: usize,
    total: u64,
}

impl RunPhase<'_> {
    /// Names the phase for people.
    fn name(&self) -> &'static str {
        match self {
            RunPhase::LookUp(_) => "looking up its terms",
            RunPhase::Words(_) | RunPhase::Rank(_) | RunPhase::Sets(_) => {
                "matching and ranking documents"
            }
            RunPhase::Order(_) => "ordering documents of the same score",
            RunPhase::Aggregate(_) => "aggregating values",
            RunPhase::Sort(_) => "ordering documents by values",
            RunPhase::Fetch { .. } => "fetching documents",
            RunPhase::Explain { .. } => "explaining scores",
            RunPhase::Done => "ending",
        }
    }
}

impl<'q> QueryRun<'q> {
    /// Will carry out `query` on a snapshot.
    pub fn new(
        query: &Query,
        view: &'q SearchView,
        options: &'q SearchOptions,
        budget: &'q Budget,
        resources: RunResources<'q>,
        goal: RunGoal,
    ) -> Result<QueryRun<'q>> {
        options.check_limits()?;
        for name in &options.highlight {
            if !options.allows_field(name) {
                fields::check_name(name, &view.schema)?;
            }
        }
        let elsewhere = |name: &str| options.allows_field(name);
        let allowance = Allowance::new(budget, options)?;
        let query = QueryRun::asked(query, options, goal);
        let columns = view.columns.columns();
        let plan = plan(&query, &view.schema, columns, &elsewhere, allowance)?;
        let needed = || NeededStatistics::of(&query, &plan, &view.schema);
        let given = options
            .statistics
            .as_ref()
            .filter(|_| goal == RunGoal::Answer);
        let given = given.map(|given| GivenStatistics::new(given, needed()?, &view.schema, budget));
        let given = given.transpose()?;
        let needed = (goal == RunGoal::Statistics).then(needed).transpose()?;
        let Plan {
            root,
            is_dropped,
            terms,
            patterns,
            ids,
            notes,
            memory,
        } = plan;
        let reach = if root.has_phrases() {
            Reach::Positions
        } else {
            Reach::Docs
        };
        let takes_hot = options.techniques.hot && !options.list_pages;
        let hot = resources.hot.filter(|_| takes_hot);
        let resources = RunResources { hot, ..resources };
        let lookup = Lookup::new(terms, patterns, ids, resources, reach, budget)?;
        let hits = options.k.min(view.below as usize) * size_of::<Hit>();
        Ok(QueryRun {
            _planned: memory,
            working: budget.reserve("a query", 0)?,
            offloaded: None,
            only_best: false,
            collected: None,
            found: None,
            goal,
            kept: budget.reserve("the hits of a query", hits)?,
            started: options.now(),
            node: root,
            lists: OpenLists::default(),
            hot_entries: Vec::new(),
            given,
            needed,
            counted: QueryStatistics::default(),
            best: Vec::new(),
            phase: RunPhase::LookUp(lookup),
            results: SearchResults {
                has_no_terms: is_dropped,
                notes,
                ..SearchResults::default()
            },
            report: PlanReport::default(),
            seen: IoCounts::default(),
            budget,
            view,
            options,
            resources,
        })
    }

    /// Works until the answer is complete.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let stepped = self.go_on(pages);
        stepped.map_err(|stop| match stop {
            Stop::Failed(Error::Timeout { after, limit, .. }) => Stop::Failed(Error::Timeout {
                doing: self.phase.name().to_owned(),
                after,
                limit,
            }),
            other => other,
        })
    }

    fn go_on(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        self.options.check()?;
        loop {
            match &mut self.phase {
                RunPhase::LookUp(lookup) => {
                    lookup.step(self.view, pages)?;
                    self.end_look_up(pages)?;
                }
                RunPhase::Words(words) => match pages.peek(|pages| words.run(pages)) {
                    Err(Stop::Pages) => self.rank_on()?,
                    done => {
                        done?;
                        self.end_words(pages)?;
                    }
                },
                RunPhase::Rank(ranker) => {
                    if ranker.step(pages)? == RankProgress::Done {
                        self.end_rank(pages)?;
                    }
                }
                RunPhase::Sets(_) => self.collect_sets(pages)?,
                RunPhase::Order(order) => {
                    order.step(pages)?;
                    self.end_order(pages)?;
                }
                RunPhase::Aggregate(_) => self.aggregate(pages)?,
                RunPhase::Sort(sort) => {
                    sort.step(pages)?;
                    self.end_sort(pages)?;
                }
                RunPhase::Fetch { .. } => self.fetch(pages)?,
                RunPhase::Explain { .. } => self.explain(pages)?,
                RunPhase::Done => return Ok(()),
            }
        }
    }

    /// The answer, once [`QueryRun::step`] came to its end.
    pub fn finish(mut self) -> SearchResults {
        self.results.took = self.options.now().saturating_sub(self.started);
        self.results.memory = Some(Arc::new(self.kept));
        if self.options.explain {
            self.results.plan = Some(self.report);
        }
        self.results
    }

    /// The statistics, once [`QueryRun::step`] came to its end, where these were wanted.
    pub fn into_statistics(self) -> QueryStatistics {
        self.counted
    }

    /// The statistics that scores are made with.
    fn statistics(&self) -> &Statistics {
        let given = self.given.as_ref();
        given.map_or(&self.view.statistics, |given| &given.statistics)
    }

    fn end_phase(&mut self, name: &'static str, pages: &Pages<'_>) {
        let io = pages.counts().since(self.seen);
        self.seen = pages.counts();
        self.results.io = pages.counts();
        if self.options.explain {
            self.report.steps.push(PlanStep { name, io });
        }
    }

    fn end_look_up(&mut self, pages: &mut Pages<'_>) -> Result<()> {
        let RunPhase::LookUp(mut lookup) = std::mem::replace(&mut self.phase, RunPhase::Done)
        else {
            return Ok(());
        };
        self.hot_entries = lookup.take_entries();
        self.lists = lookup.finish(self.view, self.given.as_ref())?;
        if let Some(needed) = &self.needed {
            self.kept.grow_to(needed.bytes(&self.lists))?;
            self.counted = needed.count(&self.lists, self.view)?;
            return Ok(());
        }
        if let Some(given) = &self.given {
            given.apply(&mut self.lists);
        }
        self.results.cut_expansions = self.report_cut();
        self.results.unmatched_patterns = std::mem::take(&mut self.lists.unmatched);
        self.results.notes.append(&mut self.lists.notes);
        self.end_phase("look up terms", pages);
        if self.options.explain {
            self.report.terms = self.report_terms()?;
            self.report.patterns = self.report_patterns()?;
        }
        if !self.collects() {
            self.offload(pages);
        }
        if self.begin_sets()? {
            return Ok(());
        }
        if self.collects() || !self.begin_words(pages)? {
            self.phase = RunPhase::Rank(Box::new(self.ranker(None)?));
        }
        Ok(())
    }

    /// The number of documents that are ranked.
    fn ranked(&self) -> usize {
        // One more tells whether the last score goes on behind the page.
        self.options.ranked() + usize::from(self.orders_ties())
    }

    /// One past the last document that is looked at.
    fn below(&self) -> DocId {
        self.view.below.min(self.options.below)
    }

    /// Returns true if all documents of the snapshot are looked at.
    fn is_whole(&self) -> bool {
        self.options.from == 0 && self.options.below >= self.view.below
    }

    /// Has lists read by a device, if there is one and it is worth it.
    fn offload(&mut self, pages: &Pages<'_>) {
        let Some(device) = self.resources.offload else {
            return;
        };
        let given = self.given.as_ref();
        let statistics = given.map_or(&self.view.statistics, |given| &given.statistics);
        let query = OffloadQuery {
            node: &self.node,
            view: self.view,
            statistics,
            options: self.options,
        };
        let Offloaded {
            report,
            only_best,
            memory,
        } = offload(device, query, &mut self.lists, self.budget, pages);
        self.only_best = only_best;
        self.offloaded = memory;
        if self.options.explain {
            self.report.offload = Some(report);
        }
    }

    /// Builds what is run. Its cursors are reserved for as long as the phase lasts.
    fn build(&mut self, notes: bool) -> Result<Built> {
        self.working
            .grow_to(cursor_bytes(&self.node, &self.lists))?;
        let filters = self.options.techniques.filters;
        let options = BuildOptions {
            filters,
            notes,
            is_given: self.given.is_some(),
            two_phases: self.options.techniques.pruning
                && !self.options.count
                && !self.collects()
                && !notes,
        };
        let (lists, statistics) = (&self.lists, self.statistics());
        let built = build(
            &self.node,
            lists,
            self.view,
            statistics,
            self.budget,
            options,
        )?;
        let clauses = built.root.clauses.iter();
        let buffers = clauses.map(|clause| clause.matcher.buffer_bytes());
        let bytes = self.working.bytes() + buffers.sum::<usize>();
        self.working.grow_to(bytes)?;
        Ok(built)
    }

    fn rank_options(&mut self, built: &Built) -> Result<RankOptions> {
        let (leaves, fields) = (built.score.leaves().len(), built.score.fields().len());
        let each = Candidates::bytes_each(leaves, fields);
        let free = self.budget.total().saturating_sub(self.budget.used());
        let wanted = CANDIDATE_BYTES.max(leaves * CANDIDATE_BYTES_A_LEAF);
        let bytes = wanted.min(free / CANDIDATE_SHARE);
        let options = RankOptions {
            k: self.ranked(),
            from: self.options.from,
            prune: self.options.techniques.pruning && !self.collects(),
            count: self.options.count || self.collects(),
            // Documents that are skipped are not read.
            fetch: self.options.needs_documents()
                && self.options.techniques.documents
                && self.options.skip == 0
                && !self.collects(),
            candidates: (bytes / each).clamp(CANDIDATES.0, CANDIDATES.1),
            candidate_bytes: each,
            below: self.below(),
            is_whole: self.is_whole(),
            meets_dead: built.has_all || self.view.dead_documents > 0,
        };
        let ranking = options.memory_bytes(built.root.clauses.len(), leaves);
        self.working.grow_to(self.working.bytes() + ranking)?;
        Ok(options)
    }

    fn end_rank(&mut self, pages: &Pages<'_>) -> Result<()> {
        let RunPhase::Rank(ranker) = std::mem::replace(&mut self.phase, RunPhase::Done) else {
            return Ok(());
        };
        let (total, is_exact) = ranker.total();
        let (searched, skipped) = ranker.windows();
        self.report.windows_searched += searched;
        self.report.windows_skipped += skipped;
        self.end_ranking(ranker.into_top(), total, is_exact, pages)
    }

    /// Goes on with the best documents, out of a total that may be exact.
    fn end_ranking(
        &mut self,
        mut top: Top,
        total: u64,
        is_exact: bool,
        pages: &Pages<'_>,
    ) -> Result<()> {
        self.working.grow_to(0)?;
        if top.is_of_one_score() {
            self.end_phase("find equal scores", pages);
            return self.order_tied(top.into_tied());
        }
        self.results.total = total;
        let is_exact = is_exact && !self.only_best;
        self.results.total_is_exact = is_exact && self.results.cut_expansions.is_empty();
        self.end_phase("match and rank", pages);
        if let Some(all) = top.take_all() {
            return self.end_collecting(all, top);
        }
        let ranked = top.into_sorted();
        if self.orders_ties() {
            self.order_ties(ranked)
        } else {
            self.take_hits(&ranked)
        }
    }

    /// Takes the hits out of the best documents, and begins to fetch them.
    fn take_hits(&mut self, best: &[Scored]) -> Result<()> {
        let hits = best.iter().skip(self.options.skip).map(|scored| Hit {
            doc: scored.doc,
            score: scored.score,
            ..Hit::default()
        });
        self.results.hits = hits.collect();
        self.phase = self.fetching()?;
        Ok(())
    }

    /// Makes the reader of documents, or only of their IDs. It reads as many at once as a round may
    /// read, or one after the other.
    fn fetcher(&self, sources: bool) -> Fetch<'q> {
        let room = if self.options.techniques.documents {
            self.resources.pages_per_round
        } else {
            1
        };
        let view = self.view;
        let (tables, dictionaries) = (&view.tables, &view.dictionaries);
        Fetch::new(tables, dictionaries, self.budget, room, sources)
    }

    /// Reads the documents of the hits.
    fn fetching(&mut self) -> Result<RunPhase<'q>> {
        Ok(RunPhase::Fetch {
            done: 0,
            fetch: self.fetcher(self.options.needs_sources()),
            filling: HitFilling {
                sources: self.options.fetch && self.options.sources,
                markers: self.markers()?,
                snippets: &self.options.snippets,
                budget: self.budget,
                alone: self.resources.alone,
            },
        })
    }

    /// Makes the makers of snippets for the fields that were asked for. Fields that do not exist
    /// have none.
    fn markers(&mut self) -> Result<Vec<Marker>> {
        let names = self.options.highlight.iter();
        let fields: Vec<_> = names
            .filter_map(|name| self.view.schema.named(name))
            .collect();
        if !fields.is_empty() {
            let bytes = marker_bytes(&fields, &self.node, &self.lists);
            self.working.grow_to(bytes)?;
        }
        let marker = |field: &&Field| {
            let options = self.options.snippets.clone();
            let schema = &self.view.schema;
            Marker::new(field, schema, &self.node, &self.lists, options)
        };
        fields.iter().map(marker).collect()
    }

    fn fetch(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let RunPhase::Fetch {
            done,
            fetch,
            filling,
        } = &mut self.phase
        else {
            return Ok(());
        };
        while self.options.needs_documents()
            && let Some(rest) = self.results.hits.get_mut(*done..).filter(|r| !r.is_empty())
        {
            self.options.check()?;
            *done += filling.fill(rest, fetch, &mut self.kept, pages)?;
        }
        self.working.grow_to(0)?;
        self.end_phase("fetch documents", pages);
        self.phase = RunPhase::Explain {
            done: 0,
            built: None,
        };
        Ok(())
    }

    fn explain(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while self.options.explain {
            let RunPhase::Explain { done, built } = &self.phase else {
                return Ok(());
            };
            let done = *done;
            let Some(hit) = self.results.hits.get(done) else {
                break;
            };
            self.options.check()?;
            if built.is_none() {
                let most = explanation_bytes(&self.node, &self.lists);
                self.kept.grow_to(self.kept.bytes() + most)?;
                let built = Some(Box::new(self.build(true)?));
                self.phase = RunPhase::Explain { done, built };
                continue;
            }
            let doc = hit.doc;
            let RunPhase::Explain {
                built: Some(built), ..
            } = &mut self.phase
            else {
                return Ok(());
            };
            let explanation = explain(built, doc, self.view, pages)?;
            let bytes = explanation.as_ref().map_or(0, Explanation::memory_bytes);
            let spare = explanation_bytes(&self.node, &self.lists).saturating_sub(bytes);
            self.kept.grow_to(self.kept.bytes() - spare)?;
            self.results.hits[done].explanation = explanation.map(Box::new);
            let done = done + 1;
            self.phase = RunPhase::Explain { done, built: None };
        }
        if self.options.explain {
            self.end_phase("explain scores", pages);
        }
        self.phase = RunPhase::Done;
        Ok(())
    }
}
