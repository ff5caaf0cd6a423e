//! The best documents of a query, found batch by batch with as few pages as the bounds allow.
//!
//! Pages are read ahead for many windows (see `windows`) in one round: for all of them where they are few, for
//! some at first where they are many, so that a threshold is there before the rest is asked for. A batch is as
//! many windows as its candidates have room for; what later batches need of what was read ahead is judged
//! anew by the threshold that earlier ones raised. Within a batch, essential clauses find candidates;
//! then norms and deletions of all candidates are read together; then the other clauses, best bound first,
//! are asked only for candidates that could still enter. Dynamic pruning never changes the answer: scores are
//! computed by the one formula, bounds get slack for rounding, and ties go to the document met first.
//!
//! Invariants:
//! 1. Every document below `next` was scored or cannot enter.
//! 2. In a batch, a clause that is not essential in a window is not essential in later ones, so that each
//!    cursor only moves forward.
//! 3. Each stage can be called again after a stop; it then goes on or does the same again.

mod complete;
mod union;

use self::union::Union;
use crate::base::{DocId, END, PAGE_PAYLOAD};
use crate::cache::{Pages, Step, Stop};
use crate::documents::{DocumentTables, LiveCursor, NormCursor};
use crate::search::candidates::Candidates;
use crate::search::formula::Formula;
use crate::search::matcher::for_all;
use crate::search::score::Score;
use crate::search::top::{Scored, Top};
use crate::search::windows::{Clause, Pruning, Root, Window};

/// Candidates of the first batch: few, for the next batches are pruned by what it finds. Each batch may be twice
/// as large as the one before.
const BATCH_FIRST: usize = 256;

/// Windows of a batch at most.
const WINDOWS_MAX: usize = 64;

/// Windows that are read first when there are more than [`WINDOWS_MAX`].
const WINDOWS_FIRST: usize = 8;

/// How many times longer than the essential clauses' lists another may be for its pages to be read with theirs:
/// then so many candidates fall to a page that some are sure to be looked up in it.
const DENSE: u64 = 8;

/// How the search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A batch was done; there may be more.
    More,
    /// All documents were seen or ruled out.
    Done,
}

/// What the ranking is to do.
#[derive(Clone, Copy, Debug)]
pub struct RankOptions {
    /// How many documents are wanted.
    pub k: usize,
    /// Whether documents that cannot enter may be passed over.
    pub prune: bool,
    /// Whether the documents will be fetched.
    pub fetch: bool,
    /// Candidates that a batch may hold.
    pub candidates: usize,
    /// One past the last doc ID of the snapshot.
    pub below: DocId,
}

/// A query being ranked.
pub struct Ranker {
    root: Root,
    formula: Formula,
    score: Score,
    options: RankOptions,
    tables: DocumentTables,
    live: LiveCursor,
    norms: Vec<NormCursor>,
    top: Top,
    lists: Vec<f64>,
    order: Vec<usize>,
    stage: Stage,
    windows: Vec<Window>,
    candidates: Candidates,
    /// Candidates of the next batch.
    batch: usize,
    union: Union,
    scratch: Vec<f32>,
    /// The scores of the candidates of a query of one term.
    scores: Vec<f32>,
    next: DocId,
    /// The first document whose window was not read ahead.
    read_to: DocId,
    total: u64,
    total_is_exact: bool,
    /// Windows searched and skipped.
    seen: (u64, u64),
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Open,
    Plan,
    Gather { window: usize, from: DocId },
    Enrich { done: usize },
    Complete { order: usize, checked: usize },
    Offer,
}

impl Ranker {
    /// Ranks the documents of `root`, whose leaves are `score`'s.
    pub fn new(root: Root, score: Score, tables: &DocumentTables, options: RankOptions) -> Ranker {
        let (leaves, fields) = (score.leaves().len(), score.fields().len());
        Ranker {
            tables: tables.clone(),
            live: tables.live_cursor(),
            norms: score
                .fields()
                .iter()
                .map(|f| tables.norm_cursor(*f))
                .collect(),
            top: Top::new(options.k),
            lists: Vec::new(),
            order: Vec::new(),
            stage: Stage::Open,
            windows: Vec::new(),
            candidates: Candidates::new(leaves, fields),
            batch: BATCH_FIRST.min(options.candidates),
            union: Union::default(),
            scratch: vec![0.0; leaves],
            scores: Vec::new(),
            next: 0,
            read_to: 0,
            total: 0,
            total_is_exact: true,
            seen: (0, 0),
            formula: root.formula(),
            root,
            score,
            options,
        }
    }

    /// Works up to the end of a batch.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<Progress> {
        loop {
            match self.stage {
                Stage::Open => self.open(pages)?,
                Stage::Plan => {
                    if self.plan(pages)? == Progress::Done {
                        return Ok(Progress::Done);
                    }
                }
                Stage::Gather { .. } => self.gather(pages)?,
                Stage::Enrich { .. } => self.enrich(pages)?,
                Stage::Complete { .. } => self.complete(pages)?,
                Stage::Offer => {
                    self.offer();
                    return Ok(Progress::More);
                }
            }
        }
    }

    /// Live documents that matched, and whether that is all of them.
    pub fn total(&self) -> (u64, bool) {
        (self.total, self.total_is_exact)
    }

    /// Windows that were searched, and that were skipped.
    pub fn windows(&self) -> (u64, u64) {
        self.seen
    }

    /// The best documents.
    pub fn into_top(self) -> Vec<Scored> {
        self.top.into_sorted()
    }

    fn pruning(&self) -> Pruning<'_> {
        Pruning {
            top: self.options.prune.then_some(&self.top),
            tie: self.root.tie as f64,
        }
    }

    fn open(&mut self, pages: &mut Pages<'_>) -> Step<()> {
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
    fn plan(&mut self, pages: &mut Pages<'_>) -> Step<Progress> {
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

    /// Finds the documents that essential clauses match, in all windows or until enough were found.
    fn gather(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let Stage::Gather {
            mut window,
            mut from,
        } = self.stage
        else {
            return Ok(());
        };
        while window < self.windows.len() && self.candidates.len() < self.batch {
            self.stage = Stage::Gather { window, from };
            let last = self.windows[window].last.min(self.options.below - 1);
            if let Some(clause) = self.windows[window].only_essential() {
                from = self.gather_from(clause, window, from, last, pages)?;
                if from > last {
                    (window, from) = self.after(window);
                }
                continue;
            }
            if self.is_union(window) {
                from = self.gather_union(window, from, last, pages)?;
                if from > last {
                    (window, from) = self.after(window);
                }
                continue;
            }
            let doc = self.next_candidate(window, from, pages)?;
            if doc <= last {
                self.take(doc, window);
                from = doc + 1;
            } else {
                (window, from) = self.after(window);
            }
        }
        self.next = from;
        self.stage = Stage::Enrich { done: 0 };
        Ok(())
    }

    /// Takes what one clause matches.
    fn gather_from(
        &mut self,
        clause: usize,
        window: usize,
        from: DocId,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let floor = self.windows[window].floor(clause, self.pruning());
        let limit = self.batch;
        let Clause { matcher, formula } = &mut self.root.clauses[clause];
        let skips = matches!(formula, Formula::Leaf(_)) && matcher.skip_below(floor);
        let gathered = self.candidates.gather(window as u32, |matches| {
            matcher.gather(from, last, limit, matches, pages)
        });
        self.total_is_exact &= !skips;
        gathered
    }

    /// Whether the essential clauses of a window are few enough to be taken one after the other.
    fn is_union(&self, window: usize) -> bool {
        let essential = &self.windows[window].essential;
        let count = essential.iter().filter(|essential| **essential).count();
        Union::fits(count, self.scratch.len())
    }

    /// Takes what several clauses match, up to the end of the window or of a range.
    fn gather_union(
        &mut self,
        window: usize,
        from: DocId,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let essential = &self.windows[window].essential;
        let clauses = &mut self.root.clauses;
        let candidates = &mut self.candidates;
        self.union.gather(
            clauses,
            essential,
            (from, last),
            window as u32,
            candidates,
            pages,
        )
    }

    /// The next window, and where it begins.
    fn after(&self, window: usize) -> (usize, DocId) {
        let end = self.windows[window].last.saturating_add(1);
        let next = self.windows.get(window + 1);
        (window + 1, next.map_or(end, |next| next.first))
    }

    fn next_candidate(&mut self, window: usize, from: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let essential = &self.windows[window].essential;
        let clauses = self.root.clauses.iter_mut().zip(essential);
        let mut least = END;
        for_all(
            clauses.filter(|(_, essential)| **essential),
            |(clause, _)| {
                least = least.min(clause.matcher.advance(from, pages)?);
                Ok(())
            },
        )?;
        Ok(least)
    }

    fn take(&mut self, doc: DocId, window: usize) {
        let row = self.candidates.push(doc, window as u32);
        let clauses = self.root.clauses.iter_mut();
        for (clause, essential) in clauses.zip(&self.windows[window].essential) {
            if *essential && clause.matcher.doc() == doc {
                clause.matcher.collect(row);
            }
        }
    }

    /// Reads the norms of all candidates and drops those that are deleted.
    fn enrich(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let Stage::Enrich { mut done } = self.stage else {
            return Ok(());
        };
        self.prefetch_tables(&self.candidates.matches.docs()[done..], pages)?;
        self.prefetch_addresses(pages)?;
        while done < self.candidates.len() {
            self.stage = Stage::Enrich { done };
            done = self.enrich_some(done, pages)?;
        }
        if !self.live.all_live(self.options.below) {
            self.candidates.drop_dead();
        }
        self.total += self.candidates.len() as u64;
        self.note_known();
        self.complete_next(0);
        Ok(())
    }

    /// Notes norms and deletions of documents.
    fn prefetch_tables(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.live.prefetch(docs, pages)?;
        let mut norms = self.norms.iter();
        norms.try_for_each(|norms| norms.prefetch(docs, pages))
    }

    /// Notes where the candidates are stored if a round comes anyway and all of them will be among the best.
    fn prefetch_addresses(&self, pages: &mut Pages<'_>) -> Step<()> {
        let all = self.next >= self.options.below && self.total == 0;
        if self.options.fetch
            && all
            && self.candidates.len() <= self.options.k
            && pages.has_wanted()
        {
            self.tables
                .prefetch_addresses(self.candidates.matches.docs(), pages)?;
        }
        Ok(())
    }

    /// Reads norms and deletions of candidates from `from` on, as far as the pages at hand go, field by field;
    /// gives the first candidate that is left.
    fn enrich_some(&mut self, from: usize, pages: &mut Pages<'_>) -> Step<usize> {
        let mut end = self.candidates.len();
        let fields = self.norms.len();
        let (docs, norms) = self.candidates.docs_and_norms();
        for (field, cursor) in self.norms.iter_mut().enumerate() {
            let mut column = norms[from * fields + field..].chunks_mut(fields);
            let set = |_, norm| column.next().map_or((), |row| row[0] = norm);
            end = from + cursor.norms(&docs[from..end], pages, set)?;
        }
        if !self.live.all_live(self.options.below) {
            end = self.enrich_live(from, end, pages)?;
        }
        Ok(end)
    }

    fn enrich_live(&mut self, from: usize, end: usize, pages: &mut Pages<'_>) -> Step<usize> {
        for at in from..end {
            let doc = self.candidates.matches.docs()[at];
            match self.live.is_live(doc, pages) {
                Ok(is_live) => self.candidates.set_live(at, is_live),
                Err(Stop::Pages) if at > from => return Ok(at),
                Err(stop) => return Err(stop),
            }
        }
        Ok(end)
    }

    /// Whether any window leaves clauses for later.
    fn leaves_rest(&self) -> bool {
        let essential = |window: &Window| window.essential.iter().all(|essential| *essential);
        !self.windows.iter().all(essential)
    }

    /// Adds up what essential clauses give each candidate.
    fn note_known(&mut self) {
        if !self.leaves_rest() {
            return;
        }
        self.total_is_exact &= self.root.driven;
        for at in 0..self.candidates.len() {
            self.score_leaves(at);
            let window = self.candidates.window(at);
            for (clause, essential) in self
                .root
                .clauses
                .iter()
                .zip(&self.windows[window].essential)
            {
                if *essential {
                    let score = clause.formula.evaluate(&self.scratch);
                    self.candidates.add_known(at, score as f64);
                }
            }
        }
    }

    fn score_leaves(&mut self, at: usize) {
        let row = self.candidates.matches.row(at);
        let norms = self.candidates.norms(at);
        self.score.score(row, norms, &mut self.scratch);
    }

    fn offer(&mut self) {
        match (self.formula.only_leaf(), self.score.only_ranked()) {
            (Some(_), Some(_)) => self.offer_leaf(),
            _ => self.offer_all(),
        }
        self.batch = (self.batch * 2).min(self.options.candidates);
        self.stage = Stage::Plan;
    }

    /// As [`Ranker::offer_all`], for queries of one term: whole columns at a time.
    fn offer_leaf(&mut self) {
        let Some(bm25) = self.score.only_ranked() else {
            return;
        };
        let (matches, norms) = (&self.candidates.matches, self.candidates.all_norms());
        bm25.score_all(matches.rows(), norms, &mut self.scores);
        for (doc, score) in matches.docs().iter().zip(&self.scores) {
            self.top.offer(*doc, *score);
        }
    }

    fn offer_all(&mut self) {
        for at in 0..self.candidates.len() {
            self.score_leaves(at);
            let score = self.formula.evaluate(&self.scratch);
            self.top.offer(self.candidates.matches.docs()[at], score);
        }
    }
}
