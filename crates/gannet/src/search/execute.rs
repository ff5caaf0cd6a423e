//! A query as a state machine: look up its terms, rank, fetch the best documents, explain.
//!
//! A step computes with the pages that are there and stops when it needs others (see `cache::pages`), so that
//! one driver carries many queries forward together. What each phase read is kept for the plan report.
//!
//! Invariants:
//! 1. Phases only go forward; a step after the last does nothing.
//! 2. Memory that grows with the query (candidates, cursors, hits) is reserved before it is used.

use std::time::Duration;

use super::build::{BuildOptions, Built, build};
use super::candidates::Candidates;
use super::expand::FUZZY_MAX;
use super::explain::explain;
use super::fields;
use super::lists::{OpenLists, OpenTerm};
use super::lookup::Lookup;
use super::marks::Marker;
use super::options::SearchOptions;
use super::plan::{Node, Plan, plan};
use super::query::Query;
use super::rank::{Progress, RankOptions, Ranker};
use super::results::{CutExpansion, Hit, PlanReport, PlanStep, SearchResults, TermReport};
use super::view::SearchView;
use crate::analysis::{FieldId, split_term_key};
use crate::base::{Budget, Reservation, Result};
use crate::cache::{IoCounts, Pages, Step};
use crate::documents::{Document, stored_many};

/// Bytes of candidates that a query works on at most.
const CANDIDATE_BYTES: usize = 512 << 10;

/// Of the memory that is free a query takes one part of so many for its candidates, so that many can go on at once.
const CANDIDATE_SHARE: usize = 8;

/// Candidates of a batch, at least and at most.
const CANDIDATES: (usize, usize) = (64, 8192);

/// What a cursor takes, with the block it has decoded.
const CURSOR_BYTES: usize = 4 << 10;

/// A query being carried out.
pub struct QueryRun<'q> {
    view: &'q SearchView,
    options: &'q SearchOptions,
    budget: &'q Budget,
    pages_per_round: usize,
    node: Node,
    lists: OpenLists,
    phase: Phase,
    results: SearchResults,
    report: PlanReport,
    scratch: Reservation,
    seen: IoCounts,
    started: Duration,
}

enum Phase {
    LookUp(Lookup),
    Rank(Box<Ranker>),
    Fetch {
        done: usize,
    },
    Explain {
        done: usize,
        built: Option<Box<Built>>,
    },
    Done,
}

impl<'q> QueryRun<'q> {
    /// Will carry out `query` on a snapshot. `pages_per_round` bounds what it asks for at once.
    pub fn new(
        query: &Query,
        view: &'q SearchView,
        options: &'q SearchOptions,
        budget: &'q Budget,
        pages_per_round: usize,
    ) -> Result<QueryRun<'q>> {
        options.check()?;
        for name in &options.highlight {
            fields::check_name(name, &view.schema)?;
        }
        let Plan {
            root,
            terms,
            patterns,
            ids,
        } = plan(query, &view.schema)?;
        let hits = options.k.min(view.below as usize) * size_of::<Hit>();
        Ok(QueryRun {
            scratch: budget.reserve("a query", hits)?,
            started: options.now(),
            node: root,
            lists: OpenLists::default(),
            phase: Phase::LookUp(Lookup::new(terms, patterns, ids, pages_per_round)),
            results: SearchResults::default(),
            report: PlanReport::default(),
            seen: IoCounts::default(),
            budget,
            view,
            options,
            pages_per_round,
        })
    }

    /// Works until the answer is complete.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        loop {
            self.options.check_interrupt()?;
            match &mut self.phase {
                Phase::LookUp(lookup) => {
                    lookup.step(self.view, pages)?;
                    self.end_look_up(pages)?;
                }
                Phase::Rank(ranker) => {
                    if ranker.step(pages)? == Progress::Done {
                        self.end_rank(pages);
                    }
                }
                Phase::Fetch { .. } => self.fetch(pages)?,
                Phase::Explain { .. } => self.explain(pages)?,
                Phase::Done => return Ok(()),
            }
        }
    }

    /// The answer, once [`QueryRun::step`] came to its end.
    pub fn finish(mut self) -> SearchResults {
        self.results.took = self.options.now().saturating_sub(self.started);
        if self.options.explain {
            self.results.plan = Some(self.report);
        }
        self.results
    }

    fn end_phase(&mut self, name: &'static str, pages: &Pages<'_>) {
        let io = pages.counts().since(self.seen);
        self.seen = pages.counts();
        self.results.io = pages.counts();
        if self.options.explain {
            self.report.steps.push(PlanStep { name, io });
        }
    }

    fn end_look_up(&mut self, pages: &Pages<'_>) -> Result<()> {
        let Phase::LookUp(lookup) = std::mem::replace(&mut self.phase, Phase::Done) else {
            return Ok(());
        };
        self.lists = lookup.finish(self.view)?;
        self.results.cut_expansions = self.report_cut();
        self.end_phase("look up terms", pages);
        if self.options.explain {
            self.report.terms = self.report_terms()?;
        }
        let built = self.build(false)?;
        let options = self.rank_options(&built)?;
        let tables = &self.view.tables;
        let ranker = Ranker::new(built.root, built.score, tables, options);
        self.phase = Phase::Rank(Box::new(ranker));
        Ok(())
    }

    fn build(&self, notes: bool) -> Result<Built> {
        let filters = self.options.techniques.filters;
        let options = BuildOptions { filters, notes };
        build(&self.node, &self.lists, self.view, self.budget, options)
    }

    fn rank_options(&mut self, built: &Built) -> Result<RankOptions> {
        let (leaves, fields) = (built.score.leaves().len(), built.score.fields().len());
        let each = Candidates::bytes_each(leaves, fields);
        let free = self.budget.total().saturating_sub(self.budget.used());
        let bytes = CANDIDATE_BYTES.min(free / CANDIDATE_SHARE);
        let candidates = (bytes / each).clamp(CANDIDATES.0, CANDIDATES.1);
        let expanded: usize = self
            .lists
            .patterns
            .iter()
            .map(|(_, terms)| terms.len())
            .sum();
        let cursors = leaves + self.lists.terms.len() + expanded;
        let bytes = self.scratch.bytes() + candidates * each + cursors * CURSOR_BYTES;
        self.scratch.grow_to(bytes)?;
        Ok(RankOptions {
            k: self.options.k,
            prune: self.options.techniques.pruning,
            count: self.options.count,
            fetch: self.options.needs_documents() && self.options.techniques.documents,
            candidates,
            below: self.view.below,
            meets_dead: built.has_all || self.view.dead_documents > 0,
        })
    }

    fn report_cut(&self) -> Vec<CutExpansion> {
        let cut = self.lists.cut.iter().map(|(field, pattern)| CutExpansion {
            field: self.name_of(*field),
            pattern: pattern.clone(),
            searched: FUZZY_MAX,
        });
        cut.collect()
    }

    fn name_of(&self, field: FieldId) -> String {
        let field = self.view.schema.field(field);
        field.map_or(String::new(), |field| field.name.clone())
    }

    fn report_terms(&self) -> Result<Vec<TermReport>> {
        let named = self.lists.terms.iter().flatten();
        let expanded = self.lists.patterns.iter().flat_map(|(_, terms)| terms);
        let report = |open: &OpenTerm| {
            let (field, term) = split_term_key(&open.key)?;
            Ok(TermReport {
                field: self.name_of(field),
                term: String::from_utf8_lossy(term).into_owned(),
                document_frequency: open.list.document_frequency(),
                chunks_in_list: open.chunks_in_list,
                pages_in_list: open.pages_in_list,
            })
        };
        named.chain(expanded).map(report).collect()
    }

    fn end_rank(&mut self, pages: &Pages<'_>) {
        let Phase::Rank(ranker) = std::mem::replace(&mut self.phase, Phase::Done) else {
            return;
        };
        let (total, is_exact) = ranker.total();
        self.results.total = total;
        self.results.total_is_exact = is_exact && self.results.cut_expansions.is_empty();
        (self.report.windows_searched, self.report.windows_skipped) = ranker.windows();
        let hits = ranker.into_top().into_iter().map(|scored| Hit {
            doc: scored.doc,
            score: scored.score,
            ..Hit::default()
        });
        self.results.hits = hits.collect();
        self.end_phase("match and rank", pages);
        self.phase = Phase::Fetch { done: 0 };
    }

    /// Reads the documents of the hits, as many at once as a round may read, or one after the other.
    fn fetch(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let Phase::Fetch { done } = &mut self.phase else {
            return Ok(());
        };
        if self.options.needs_documents() {
            let together = match self.options.techniques.documents {
                true => self.pages_per_round,
                false => 1,
            };
            while let Some(rest) = self.results.hits.get_mut(*done..).filter(|r| !r.is_empty()) {
                let count = rest.len().min(together);
                let docs: Vec<_> = rest[..count].iter().map(|hit| hit.doc).collect();
                let (tables, dictionaries) = (&self.view.tables, &self.view.dictionaries);
                let documents = stored_many(&docs, tables, dictionaries, pages)?;
                let bytes: usize = documents.iter().map(|document| document.source.len()).sum();
                self.scratch.grow_to(self.scratch.bytes() + bytes)?;
                for (hit, document) in rest.iter_mut().zip(documents) {
                    hit.id = document.id;
                    hit.source = Some(document.source);
                }
                *done += count;
            }
        }
        self.make_snippets()?;
        self.end_phase("fetch documents", pages);
        self.phase = Phase::Explain {
            done: 0,
            built: None,
        };
        Ok(())
    }

    /// Makes the snippets of all hits. Fields of an index without any have none.
    fn make_snippets(&mut self) -> Result<()> {
        let mut markers = Vec::new();
        for name in &self.options.highlight {
            if let Some(field) = self.view.schema.named(name) {
                let options = self.options.snippets.clone();
                markers.push(Marker::new(field, &self.node, &self.lists, options)?);
            }
        }
        if markers.is_empty() {
            return Ok(());
        }
        for hit in &mut self.results.hits {
            if let Some(source) = &hit.source {
                let document = Document::parse_as(None, source)?;
                let made = markers.iter_mut().map(|marker| marker.mark(&document));
                hit.snippets = made.collect();
            }
            if !self.options.fetch {
                hit.source = None;
            }
        }
        Ok(())
    }

    fn explain(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        while self.options.explain {
            let Phase::Explain { done, built } = &self.phase else {
                return Ok(());
            };
            let done = *done;
            let Some(hit) = self.results.hits.get(done) else {
                break;
            };
            if built.is_none() {
                let built = Some(Box::new(self.build(true)?));
                self.phase = Phase::Explain { done, built };
                continue;
            }
            let doc = hit.doc;
            let Phase::Explain {
                built: Some(built), ..
            } = &mut self.phase
            else {
                return Ok(());
            };
            let explanation = explain(built, doc, self.view, pages)?;
            self.results.hits[done].explanation = explanation.map(Box::new);
            let done = done + 1;
            self.phase = Phase::Explain { done, built: None };
        }
        if self.options.explain {
            self.end_phase("explain scores", pages);
        }
        self.phase = Phase::Done;
        Ok(())
    }
}
