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
pub(crate) mod options;
pub(crate) mod root;
pub(crate) mod score;

mod batch;
mod complete;
mod confirm;
mod core;
mod direct;
mod gather;
mod pruning;
mod read_ahead;
mod sums;
mod tables;
mod union;
mod windows;

use self::batch::RankBatch;
use self::candidates::Candidates;
use self::complete::Completion;
use self::confirm::confirm;
use self::core::{RankCore, Total};
use self::gather::Gatherer;
use self::options::RankOptions;
use self::read_ahead::{ReadAhead, WINDOWS_MAX};
use self::root::Root;
use self::score::Score;
use self::tables::CandidateTables;
use self::union::UnionRange;
use self::windows::Window;
use crate::cache::{Pages, Step, Stop};
use crate::documents::DocumentTables;
use crate::search::scoring::top::{Scored, Top};

/// The state of the ranking after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankProgress {
    /// A batch was done; there may be more.
    More,
    /// All documents were seen or ruled out.
    Done,
}

impl RankOptions {
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

/// A query being ranked. Each step of a batch has its state in a file of its own.
pub struct Ranker {
    core: RankCore,
    ahead: ReadAhead,
    batch: RankBatch,
    gathering: Gatherer,
    completion: Completion,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Open,
    Plan,
    Gather,
    /// The number of candidates whose norms and deletions are known.
    Enrich(usize),
    Complete,
    /// The number of candidates that were confirmed, if they are approximations.
    Offer(usize),
}

impl Ranker {
    /// Ranks the documents of `root`, whose leaves are `score`'s.
    pub fn new(root: Root, score: Score, tables: &DocumentTables, options: RankOptions) -> Ranker {
        Ranker::offering(Top::new(options.k), root, score, tables, options)
    }

    /// The same where documents are offered to `top`.
    pub fn offering(
        top: Top,
        root: Root,
        score: Score,
        tables: &DocumentTables,
        options: RankOptions,
    ) -> Ranker {
        let (leaves, fields) = (score.leaves().len(), score.fields().len());
        let mut core = RankCore {
            formula: root.formula(),
            tables: CandidateTables::new(tables, &score, options.meets_dead),
            top,
            total: Total {
                found: 0,
                is_exact: true,
                known: None,
            },
            next: options.from,
            scratch: vec![0.0; leaves],
            root,
            score,
            options,
        };
        core.total.known = match core.root.clauses.as_slice() {
            [only] if options.is_whole && core.all_live() => only.matcher.documents(),
            _ => None,
        };
        core.options.prune &= !options.count || core.total.known.is_some();
        let gathering = Gatherer::new(&core, options.prune);
        let mut ranker = Ranker {
            ahead: ReadAhead::new(options.from),
            batch: RankBatch::new(Candidates::new(leaves, fields), options.candidates),
            gathering,
            completion: Completion::default(),
            stage: Stage::Open,
            core,
        };
        ranker.prefilter(tables);
        ranker
    }

    /// Counts documents that were found before, which may not be all that match.
    pub fn having_found(mut self, found: u64, is_exact: bool) -> Ranker {
        self.core.total.found += found;
        self.core.total.is_exact &= is_exact;
        self
    }

    /// Lets the list of a query that is one leaf leave documents out by their own scores.
    fn prefilter(&mut self, tables: &DocumentTables) {
        let is_one_leaf = self.gathering.is_one_leaf() || self.core.is_approximate();
        if let (true, [field]) = (is_one_leaf, self.core.score.fields())
            && let Some(list) = self.core.root.clauses[0].matcher.list()
        {
            list.score().prefilter(tables.norm_cursor(*field));
        }
    }

    /// Works up to the end of a batch.
    pub fn step(&mut self, pages: &mut Pages<'_>) -> Step<RankProgress> {
        let step = self.go_on(pages);
        self.batch.waited |= matches!(step, Err(Stop::Pages));
        step
    }

    fn go_on(&mut self, pages: &mut Pages<'_>) -> Step<RankProgress> {
        let Ranker {
            core,
            ahead,
            batch,
            gathering,
            completion,
            stage,
        } = self;
        loop {
            *stage = match stage {
                Stage::Open => {
                    completion.order = ahead.open(core, pages)?;
                    Stage::Plan
                }
                Stage::Plan => {
                    if let Some(unfinished) = batch.begin(core) {
                        ahead.windows.push_front(unfinished);
                    }
                    if core.root.clauses.is_empty() || !ahead.fill(core, pages)? {
                        return Ok(RankProgress::Done);
                    }
                    Stage::Gather
                }
                Stage::Gather => {
                    gathering.run(core, ahead, batch, pages)?;
                    Stage::Enrich(0)
                }
                Stage::Enrich(done) => {
                    batch.enrich(core, done, pages)?;
                    completion.begin();
                    Stage::Complete
                }
                Stage::Complete => {
                    completion.run(core, batch, pages)?;
                    Stage::Offer(0)
                }
                Stage::Offer(confirmed) => {
                    if core.is_approximate() {
                        confirm(core, batch, confirmed, pages)?;
                    } else {
                        batch.offer(core);
                    }
                    batch.end();
                    *stage = Stage::Plan;
                    return Ok(RankProgress::More);
                }
            }
        }
    }

    /// Live documents that matched, and whether that is all of them.
    pub fn total(&self) -> (u64, bool) {
        let Total {
            found,
            is_exact,
            known,
        } = self.core.total;
        known.map_or((found, is_exact), |known| (known, true))
    }

    /// Windows that were searched, and that were skipped.
    pub fn windows(&self) -> (u64, u64) {
        self.ahead.seen
    }

    /// The best documents.
    pub fn into_top(self) -> Top {
        self.core.top
    }
}
