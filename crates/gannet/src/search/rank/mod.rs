//! The best documents of a query, found batch by batch with as few pages as the bounds allow.
//!
//! Pages are read ahead for many windows (see `windows`) in one round: for all of them where they
//! are few, for some at first where they are many, so that a threshold is there before the rest is
//! asked for. A batch is as many windows as its candidates have room for; each window that was read
//! ahead is judged anew, when its turn comes, by the threshold that earlier batches raised. So
//! batches are small in memory and grow only after one that waited for pages. Within a batch,
//! essential clauses find candidates; then norms and deletions of all candidates are read together;
//! then the other clauses, best bound first, are asked only for candidates that could still enter.
//! Dynamic pruning never changes the answer: scores are computed by the one formula, bounds get
//! slack for rounding, and ties go to the document met first.
//!
//! Invariants:
//! 1. Every document from the first of interest to `next` was scored, is among the candidates, or
//!    cannot enter.
//! 2. In a batch, a clause that is not essential in a window is not essential in later ones, so
//!    that each cursor only moves forward.
//! 3. Each stage can be called again after a stop; it then goes on or does the same again.

pub(crate) mod candidates;
pub(crate) mod score;
pub(crate) mod windows;

mod complete;
mod confirm;
mod direct;
mod enrich;
mod gather;
mod offer;
mod plan;
mod union;

use std::collections::VecDeque;
use std::ops::Range;

use self::candidates::Candidates;
use self::direct::Direct;
use self::score::Score;
use self::union::UnionRange;
use self::windows::{Pruning, Root, Window};
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::documents::{DocumentTables, LiveCursor, NormCursor};
use crate::search::scoring::formula::{Formula, LeafId};
use crate::search::scoring::top::{Scored, Top};

/// Windows of a batch at most.
pub(super) const WINDOWS_MAX: usize = 64;

/// Candidates of the first batch: few, for the next batches are pruned by what it finds.
const BATCH_FIRST: usize = 256;

/// How many times more after a batch that waited for pages.
const BATCH_GROWTH: usize = 4;

/// How the search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankProgress {
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
    /// The first document that is looked at.
    pub from: DocId,
    /// Whether documents that cannot enter may be passed over.
    pub prune: bool,
    /// Whether the total must be exact: then they may only where it is known without them.
    pub count: bool,
    /// Whether the documents will be fetched.
    pub fetch: bool,
    /// Candidates that a batch may hold, and bytes that each takes.
    pub candidates: usize,
    pub candidate_bytes: usize,
    /// One past the last doc ID of the snapshot.
    pub below: DocId,
    /// Whether documents may be found that are deleted.
    pub meets_dead: bool,
}

impl RankOptions {
    /// Bytes that what several clauses find in a range may take.
    fn union_bytes(&self) -> usize {
        self.candidates * self.candidate_bytes
    }

    /// Bytes that ranking takes, matchers apart.
    pub fn memory_bytes(&self, clauses: usize, leaves: usize) -> usize {
        // Buffers double as they grow. Beside the candidates stands what was found last.
        let candidates = 2 * 2 * self.candidates * self.candidate_bytes;
        let found = if clauses > 1 {
            2 * self.union_bytes()
        } else {
            0
        };
        let windows = WINDOWS_MAX * (size_of::<Window>() + clauses * Window::CLAUSE_BYTES);
        let rows = ROWS * (leaves + clauses) * size_of::<f64>();
        let top = 2 * 2 * self.k.min(self.below as usize) * size_of::<Scored>();
        candidates + found + windows + rows + top + UnionRange::bytes_beside(self.count, clauses)
    }
}

/// Numbers that are kept of each leaf and clause, about.
const ROWS: usize = 16;

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
    /// The leaves of each clause.
    leaves: Vec<Range<LeafId>>,
    stage: Stage,
    /// Windows that were read ahead, in order.
    ahead: VecDeque<Window>,
    /// Whether all windows are few enough to be read ahead at once.
    few_windows: bool,
    /// Windows of the batch.
    windows: Vec<Window>,
    candidates: Candidates,
    /// Candidates of the next batch.
    batch: usize,
    /// Whether the present batch waited for pages.
    waited: bool,
    union: UnionRange,
    /// Whether the query is one leaf whose documents are offered as they are found.
    is_one_leaf: bool,
    /// Whether other documents are, as far as their scores are at hand.
    is_direct: bool,
    /// What was found last; made when it is first needed.
    direct: Option<Box<Direct>>,
    /// Whether candidates must be confirmed, and which are being confirmed.
    approximate: bool,
    chosen: Vec<usize>,
    scratch: Vec<f32>,
    /// The norms of one candidate.
    row_norms: Vec<u8>,
    next: DocId,
    /// The first document whose window was not read ahead.
    read_to: DocId,
    total: u64,
    total_is_exact: bool,
    /// The total, if it is known without a look at the documents.
    known_total: Option<u64>,
    /// Windows searched and skipped.
    seen: (u64, u64),
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Open,
    Plan,
    Gather,
    Enrich {
        done: usize,
    },
    Complete {
        order: usize,
        checked: usize,
    },
    Offer,
    /// In place of the offer: how many of the chosen candidates were confirmed, and whether none
    /// come after them.
    Confirm {
        done: usize,
        last: bool,
    },
}

impl Ranker {
    /// Ranks the documents of `root`, whose leaves are `score`'s.
    pub fn new(root: Root, score: Score, tables: &DocumentTables, options: RankOptions) -> Ranker {
        let (leaves, fields) = (score.leaves().len(), score.fields().len());
        let live = tables.live_cursor(options.meets_dead);
        let known_total = match root.clauses.as_slice() {
            [only] if options.from == 0 && live.all_live(options.below) => only.matcher.documents(),
            _ => None,
        };
        let leaves_out = options.prune;
        let options = RankOptions {
            prune: options.prune && (!options.count || known_total.is_some()),
            ..options
        };
        let mut ranker = Ranker {
            tables: tables.clone(),
            live,
            norms: score
                .fields()
                .iter()
                .map(|f| tables.norm_cursor(*f))
                .collect(),
            top: Top::new(options.k),
            lists: Vec::new(),
            order: Vec::new(),
            leaves: root.clauses.iter().map(|c| c.formula.leaves()).collect(),
            stage: Stage::Open,
            ahead: VecDeque::new(),
            few_windows: true,
            windows: Vec::new(),
            candidates: Candidates::new(leaves, fields),
            batch: BATCH_FIRST.min(options.candidates),
            waited: false,
            union: UnionRange::new(options.count, options.union_bytes()),
            is_one_leaf: false,
            is_direct: false,
            direct: None,
            approximate: root
                .clauses
                .first()
                .is_some_and(|first| first.check.is_some()),
            chosen: Vec::new(),
            scratch: vec![0.0; leaves],
            row_norms: Vec::new(),
            next: options.from,
            read_to: options.from,
            total: 0,
            total_is_exact: true,
            known_total,
            seen: (0, 0),
            formula: root.formula(),
            root,
            score,
            options,
        };
        ranker.is_direct = leaves_out && ranker.can_be_direct();
        if let ([only], true, true) = (
            ranker.root.clauses.as_slice(),
            ranker.is_direct,
            ranker.options.prune,
        ) {
            ranker.is_one_leaf = only.formula.is_leaf();
        }
        if let (true, [field]) = (
            ranker.is_one_leaf || ranker.approximate,
            ranker.score.fields(),
        ) && let Some(list) = ranker.root.clauses[0].matcher.list()
        {
            list.score().prefilter(ranker.tables.norm_cursor(*field));
        }
        ranker
    }

    /// Works up to the end of a batch.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<RankProgress> {
        let step = self.go_on(pages);
        self.waited |= matches!(step, Err(Stop::Pages));
        step
    }

    fn go_on(&mut self, pages: &mut Pages<'_>) -> Step<RankProgress> {
        loop {
            match self.stage {
                Stage::Open => self.open(pages)?,
                Stage::Plan => {
                    if self.plan(pages)? == RankProgress::Done {
                        return Ok(RankProgress::Done);
                    }
                }
                Stage::Gather => self.gather(pages)?,
                Stage::Enrich { .. } => self.enrich(pages)?,
                Stage::Complete { .. } => self.complete(pages)?,
                Stage::Offer if self.approximate => self.begin_confirming(),
                Stage::Offer => {
                    self.offer();
                    return Ok(RankProgress::More);
                }
                Stage::Confirm { .. } => {
                    self.confirm(pages)?;
                    return Ok(RankProgress::More);
                }
            }
        }
    }

    /// Live documents that matched, and whether that is all of them.
    pub fn total(&self) -> (u64, bool) {
        match self.known_total {
            Some(total) => (total, true),
            None => (self.total, self.total_is_exact),
        }
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

    /// Makes scores of the frequencies that the clauses gave which found candidates, and adds them
    /// up.
    fn score_known(&mut self) {
        for (clause, leaves) in self.leaves.iter().enumerate() {
            if self.windows.iter().any(|window| window.essential[clause]) {
                for leaf in leaves.clone() {
                    self.score.score_column(leaf, &mut self.candidates);
                }
                self.candidates.add_all(&self.root.clauses[clause].formula);
            }
        }
    }

    /// Offers the candidates. Scores are added up in the order of the formula only where that can
    /// matter.
    fn offer(&mut self) {
        for at in 0..self.candidates.len() {
            // They are counted: also where none may be passed over, the sum need not be made for
            // all.
            let pruning = Pruning {
                top: Some(&self.top),
                tie: self.root.tie as f64,
            };
            if !pruning.excludes(self.candidates.known(at)) {
                let matches = &mut self.candidates.matches;
                let doc = matches.docs()[at];
                self.top.offer(doc, self.formula.value(matches.row(at)));
            }
        }
        self.end_batch();
    }

    fn end_batch(&mut self) {
        if std::mem::take(&mut self.waited) {
            self.batch = (self.batch * BATCH_GROWTH).min(self.options.candidates);
        }
        self.stage = Stage::Plan;
    }
}
