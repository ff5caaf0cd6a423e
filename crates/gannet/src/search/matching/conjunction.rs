//! Documents that a leading matcher gives and that its followers confirm, rule out or add to.
//!
//! The cheapest required list leads and runs ahead: its next documents are gathered, then one
//! follower after the other is asked for all that are left, its pages noted in one batch. So a cold
//! intersection costs one round for each list and batch, not one for each candidate. Followers skip
//! by their heads, so pages without a candidate are never read. Source of the idea to drive by the
//! shortest list: Culpepper and Moffat, "Efficient Set Intersection for Inverted Indexing", 2010
//! (small versus small).
//!
//! Invariants:
//! 1. Unless it is filtering, what is left in `ahead` matches; `doc` is the first of it or [`END`].
//! 2. While filtering, nothing of `ahead` is given out.
//! 3. The score below which the leading list leaves documents out holds for the range that is asked
//!    for. So where candidates are gathered beyond, none are left out.

use super::ahead::{Ahead, Batch};
use super::matcher::{LeadingList, Matcher, PagePrefetch, Role, ScoreBounds, for_all};
use super::matches::{DocRange, Filtering, Matches};
use super::sets::nothing;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step, Stop};

/// Candidates gathered at once.
const BATCH: Batch = Batch {
    first: 512,
    growth: 4,
    most: 8192,
};

/// Bytes of candidates at most, where many leaves make each of them large.
const BATCH_BYTES: usize = 256 << 10;

/// A follower's list is read whole if it is at most so many times longer than the leader's. A page
/// has more postings than this, so that most pages have a candidate.
const DENSE: u64 = 512;

/// Matches a leader's documents as the followers decide.
pub struct Conjunction {
    leader: Box<dyn Matcher>,
    followers: Vec<Follower>,
    ahead: Ahead,
    /// Leaves that may occur in what it gives.
    leaves: usize,
    documents: u64,
    /// The follower that is being asked, and how far it is.
    filtering: Option<(usize, Filtering)>,
    doc: DocId,
}

/// The candidates that are gathered of a leader with so many documents, each with the frequencies
/// of so many leaves.
fn batch(leaves: usize, cost: u64) -> Batch {
    let room = BATCH_BYTES / Matches::bytes_per_document(leaves);
    let most = BATCH.most.min(room).min(cost as usize).max(64);
    Batch {
        first: BATCH.first.min(most),
        most,
        ..BATCH
    }
}

struct Follower {
    role: Role,
    matcher: Box<dyn Matcher>,
}

impl Conjunction {
    /// The intersection of `required` (at least one), less `excluded`, with `optional` beside.
    ///
    /// `width` is the number of the query's leaves, `leaves` of those that these may have,
    /// `documents` of all documents.
    pub fn new(
        mut required: Vec<Box<dyn Matcher>>,
        excluded: Vec<Box<dyn Matcher>>,
        optional: Vec<Box<dyn Matcher>>,
        width: usize,
        leaves: usize,
        documents: u64,
    ) -> Conjunction {
        required.sort_by_key(|matcher| matcher.cost());
        let mut required = required.into_iter();
        let leader = required.next().unwrap_or_else(|| Box::new(nothing()));
        let with = |role| move |matcher| Follower { role, matcher };
        let followers = required.map(with(Role::Required));
        let followers = followers.chain(excluded.into_iter().map(with(Role::Excluded)));
        let followers = followers.chain(optional.into_iter().map(with(Role::Optional)));
        Conjunction {
            ahead: Ahead::new(width, batch(leaves, leader.cost())),
            leader,
            followers: followers.collect(),
            leaves,
            documents,
            filtering: None,
            doc: 0,
        }
    }

    /// Gathers the next candidates of a range, unless some are being filtered, and filters them.
    fn refill(&mut self, range: DocRange, pages: &mut Pages<'_>) -> Step<()> {
        if self.filtering.is_none() {
            let leader = self.leader.as_mut();
            if !self.ahead.keeps_to_ends()
                && let Some(list) = leader.list()
            {
                list.score().skip_below(-1.0);
            }
            self.ahead.gather(leader, range, pages)?;
            self.filtering = Some((0, Filtering::default()));
        }
        self.filter_ahead(pages)
    }

    fn filter_ahead(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let Some((follower, state)) = &mut self.filtering else {
            return Ok(());
        };
        while let Some(Follower { role, matcher }) = self.followers.get_mut(*follower) {
            let checked = matcher.filter(*role, &mut self.ahead.found, state, pages);
            if let Err(Stop::Pages) = checked {
                matcher.prefetch(&self.ahead.found.docs()[state.checked..], pages)?;
                self.ahead.waited();
            }
            checked?;
            self.ahead.found.truncate(state.kept);
            (*follower, *state) = (*follower + 1, Filtering::default());
        }
        self.filtering = None;
        Ok(())
    }
}

impl Matcher for Conjunction {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        loop {
            if self.filtering.is_none() {
                let found = self.ahead.skip_to(target);
                if let Some(doc) = found.or(self.ahead.is_last().then_some(END)) {
                    self.doc = doc;
                    return Ok(doc);
                }
            }
            let behind = DocRange {
                first: target,
                last: END - 1,
            };
            self.refill(behind, pages)?;
        }
    }

    /// Looks at no candidate behind the range as long as that costs no round.
    fn gather(
        &mut self,
        range: DocRange,
        limit: usize,
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let (before, mut next) = (out.len(), range.first);
        let to = range.last;
        loop {
            if self.filtering.is_none() {
                let given = out.len();
                self.ahead.skip_to(next);
                self.ahead.give(to, limit - given, out);
                if let Some(doc) = out.docs()[given..].last() {
                    next = doc.saturating_add(1);
                }
                if out.len() >= limit {
                    return Ok(next);
                }
                if !self.ahead.rest().is_empty() || self.ahead.is_beyond(to) {
                    return Ok(to.saturating_add(1));
                }
            }
            let rest = DocRange {
                first: next,
                last: to,
            };
            match self.refill(rest, pages) {
                Err(Stop::Pages) if out.len() > before => return Ok(next),
                other => other?,
            }
        }
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        let row = self.ahead.found.row(self.ahead.at());
        for (to, from) in frequencies.iter_mut().zip(row) {
            *to = if *from > 0.0 { *from } else { *to };
        }
    }

    fn buffer_bytes(&self) -> usize {
        let followers = self.followers.iter().map(|f| f.matcher.buffer_bytes());
        let own = self.ahead.buffer_bytes(self.leaves);
        own + self.leader.buffer_bytes() + followers.sum::<usize>()
    }

    fn cost(&self) -> u64 {
        self.leader.cost()
    }

    /// The number to expect if the lists are independent of each other.
    fn cost_min(&self) -> u64 {
        let mut least = self.leader.cost_min() as f64;
        for follower in self.followers.iter().filter(|f| f.role == Role::Required) {
            least *= follower.matcher.cost_min() as f64 / self.documents.max(1) as f64;
        }
        least as u64
    }

    fn list(&mut self) -> Option<&mut dyn LeadingList> {
        self.leader.list()
    }
}

impl ScoreBounds for Conjunction {
    fn page_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        self.leader.page_end(target, pages)
    }

    fn bound_within(
        &mut self,
        range: DocRange,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        self.leader.bound_within(range, pages, scores)?;
        for_all(self.scored_followers(), |follower| {
            follower.bound_within(range, pages, scores)
        })
    }

    fn block_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        self.leader.block_end(target, pages)
    }

    fn bound_near(
        &mut self,
        range: DocRange,
        leads: bool,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<bool> {
        if !self.leader.bound_near(range, leads, pages, scores)? {
            return Ok(false);
        }
        for_all(self.scored_followers(), |follower| {
            if follower.bound_near(range, false, pages, scores)? {
                Ok(())
            } else {
                follower.bound_within(range, pages, scores)
            }
        })?;
        Ok(true)
    }
}

impl PagePrefetch for Conjunction {
    /// Opens each matcher once, those first whose pages are all read: what is opened twice on every
    /// level of a nested query is opened 2^levels times.
    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        pages.count_steps(1 + self.followers.len())?;
        let most = self.dense_cost();
        let followers = self.followers.iter_mut().map(|f| &mut f.matcher);
        let (dense, sparse): (Vec<_>, Vec<_>) = followers.partition(|one| one.cost() <= most);
        let read_whole = std::iter::once(&mut self.leader).chain(dense);
        let opened = read_whole.map(|matcher| (matcher, whole));
        let opened = opened.chain(sparse.into_iter().map(|matcher| (matcher, false)));
        for_all(opened, |(matcher, whole)| matcher.open(whole, pages))
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.leader.prefetch(docs, pages)
    }

    fn prefetch_within(&mut self, range: DocRange, pages: &mut Pages<'_>) -> Step<()> {
        for_all(self.read_whole(), |matcher| {
            matcher.prefetch_within(range, pages)
        })
    }

    fn docs_pages(&self) -> u64 {
        self.leader.docs_pages()
    }
}

impl Conjunction {
    /// The longest list of a follower that is dense beside the leader.
    fn dense_cost(&self) -> u64 {
        self.leader.cost().saturating_mul(DENSE)
    }

    /// The leader, and the followers whose lists are dense beside it.
    fn read_whole(&mut self) -> impl Iterator<Item = &mut Box<dyn Matcher>> {
        let most = self.dense_cost();
        let followers = self.followers.iter_mut().map(|f| &mut f.matcher);
        let dense = followers.filter(move |matcher| matcher.cost() <= most);
        std::iter::once(&mut self.leader).chain(dense)
    }

    /// The followers that may add to a score.
    fn scored_followers(&mut self) -> impl Iterator<Item = &mut Box<dyn Matcher>> {
        let followers = self.followers.iter_mut();
        let scored = followers.filter(|follower| follower.role != Role::Excluded);
        scored.map(|follower| &mut follower.matcher)
    }
}
