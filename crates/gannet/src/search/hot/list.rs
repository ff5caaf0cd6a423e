//! One list, decoded: which documents have the word, how often, and a byte for each that bounds its
//! score.
//!
//! A posting has a *place*. Where the word is in less than a quarter of the documents, places are
//! those in a column of documents, with a directory of where each stretch of them begins. Where it
//! is in more, the place is the document itself: then no search is needed, and a bit for each
//! document tells how many postings come before.
//!
//! The byte of a posting is its *step*: the share that its score has of the most that the word can
//! give, in steps of one size, rounded up. It is never 0, so 0 says that there is no posting.

use std::ops::Range;

use super::candidates::{CANDIDATES, FoundPlaces, HotCandidates, NOWHERE};
use super::groups::{GROUP, WINDOW, above, equal};
use crate::base::{DocId, END};
use crate::cache::SpareBytes;
use crate::search::matching::intersect::each_common;

/// Places whose greatest step is kept.
const RUN: usize = 64;

/// A list is kept by documents if one in so many has the word.
const DENSE: usize = 4;

/// Postings of a stretch of the directory, about.
const STRETCH: usize = 4;

/// The number of best postings whose shares are kept, at most, and of a list of which one in so
/// many is.
const BEST: usize = 128;
const BEST_ONE_OF: usize = 8;

/// The other list is merged with documents if it has fewer than so many postings for each among
/// them; else each is looked up.
const MERGED: usize = 4;

/// One posting in so many, and so many more, may have a frequency of more than a byte.
const LONG_ONE_OF: usize = 16;

/// Bounds what rounding takes from the share of a score, or adds to it.
pub const ROUNDING: f32 = 1e-6;

/// A list, decoded.
pub struct HotList {
    /// All documents below this are in it.
    pub until: DocId,
    /// Tells the states of the index that it was made from.
    pub origin: Origin,
    /// The share of the most that a step stands for.
    step: f32,
    places: ListPlaces,
    /// The step of each place, up to a whole run.
    steps: Vec<u8>,
    /// The greatest step of each run of places.
    greatest: Vec<u8>,
    /// The frequency of each posting; 255 for those in `long`.
    frequencies: Vec<u8>,
    /// The number of a posting and its frequency, where that takes more than a byte.
    long: Vec<(u32, u32)>,
    /// The shares of the best postings, best first.
    best: Vec<f32>,
    memory: SpareBytes,
}

enum ListPlaces {
    Sparse {
        /// The documents, and a window of [`END`].
        docs: Vec<DocId>,
        /// The number of bits of a document within its stretch.
        shift: u32,
        /// The place at which each stretch of documents begins; one more at the end.
        begins: Vec<u32>,
    },
    Dense {
        /// A bit for each document.
        bits: Vec<u64>,
        /// The postings before each 64 documents.
        before: Vec<u32>,
    },
}

/// The postings of a list that is being made.
pub struct DecodedPostings {
    pub docs: Vec<DocId>,
    /// The step of each, and the share of the most that a step stands for.
    pub steps: Vec<u8>,
    pub step: f32,
    pub frequencies: Vec<u8>,
    pub long: Vec<(u32, u32)>,
}

/// The states of the index that a list was made from.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The newest of them. Earlier states may have postings that a vacuum has removed since.
    pub state: u64,
    /// The number of documents that were deleted by then, if the list has none of these.
    pub deleted: Option<u64>,
    /// The mean length of the field in the first.
    pub mean_length: f32,
}

impl Origin {
    /// The origin of what was begun from this one and went on from another.
    pub fn joined(self, other: Origin) -> Origin {
        Origin {
            state: self.state.max(other.state),
            deleted: self.deleted.filter(|_| self.deleted == other.deleted),
            mean_length: self.mean_length,
        }
    }
}

/// The greatest shares of the postings of a list that is being made.
pub struct BestShares {
    shares: Vec<f32>,
    count: usize,
}

impl BestShares {
    /// None yet, of a list of about so many postings.
    pub fn new(postings: usize) -> BestShares {
        let count = BEST.min(postings / BEST_ONE_OF);
        BestShares {
            shares: Vec::with_capacity(2 * count),
            count,
        }
    }

    /// Takes the share of one more.
    #[inline]
    pub fn take(&mut self, share: f32) {
        if self.shares.len() == 2 * self.count {
            if self.count == 0 {
                return;
            }
            let last = self.count - 1;
            self.shares
                .select_nth_unstable_by(last, |a, b| b.total_cmp(a));
            self.shares.truncate(self.count);
        }
        self.shares.push(share);
    }

    /// Gives them, the greatest first.
    pub fn into_sorted(mut self) -> Vec<f32> {
        self.shares.sort_unstable_by(|a, b| b.total_cmp(a));
        self.shares.truncate(self.count);
        self.shares.shrink_to_fit();
        self.shares
    }
}

impl HotList {
    /// Bytes that a list of so many postings takes at most while it is made, and behind that.
    pub fn bytes(postings: usize, until: DocId) -> usize {
        let until = until as usize;
        let columns = postings * (size_of::<DocId>() + 2) + 8 * HotList::long_max(postings);
        let places = if is_dense(postings, until) {
            until + until.div_ceil(64) * (size_of::<u64>() + size_of::<u32>())
        } else {
            (2 * postings / STRETCH + 2) * size_of::<u32>()
        };
        let runs = 2 * RUN + (postings.max(until / DENSE) / RUN + 2) * DENSE;
        size_of::<HotList>() + columns + places + runs + (3 * BEST + WINDOW) * 4
    }

    /// Postings of so many whose frequencies may take more than a byte.
    pub fn long_max(postings: usize) -> usize {
        postings / LONG_ONE_OF + LONG_ONE_OF
    }

    /// The list of postings below `until`. `best` are the shares of the best of them.
    pub fn new(
        postings: DecodedPostings,
        until: DocId,
        best: Vec<f32>,
        origin: Origin,
        memory: SpareBytes,
    ) -> HotList {
        let DecodedPostings {
            mut docs,
            mut steps,
            step,
            mut frequencies,
            mut long,
        } = postings;
        let places = if is_dense(docs.len(), until as usize) {
            let mut all = vec![0; (until as usize).next_multiple_of(RUN)];
            for (doc, step) in docs.iter().zip(&steps) {
                all[*doc as usize] = *step;
            }
            steps = all;
            ListPlaces::dense(&docs, until)
        } else {
            docs.extend([END; WINDOW]);
            docs.shrink_to_fit();
            steps.resize(steps.len().next_multiple_of(RUN), 0);
            steps.shrink_to_fit();
            ListPlaces::sparse(docs, until)
        };
        frequencies.shrink_to_fit();
        long.shrink_to_fit();
        let greatest = steps.chunks_exact(RUN).map(|run| run.iter().copied().max());
        let mut list = HotList {
            until,
            origin,
            step,
            places,
            greatest: greatest.map(Option::unwrap_or_default).collect(),
            steps,
            frequencies,
            long,
            best,
            memory,
        };
        list.memory.shrink_to(list.held());
        list
    }

    /// Bytes that it takes.
    fn held(&self) -> usize {
        let places = match &self.places {
            ListPlaces::Sparse { docs, begins, .. } => 4 * (docs.capacity() + begins.capacity()),
            ListPlaces::Dense { bits, before } => 8 * bits.capacity() + 4 * before.capacity(),
        };
        let steps = self.steps.capacity() + self.greatest.capacity();
        let frequencies = self.frequencies.capacity() + 8 * self.long.capacity();
        let best = 4 * self.best.capacity();
        size_of::<HotList>() + places + steps + frequencies + best
    }

    /// Returns the number of postings.
    pub fn postings(&self) -> usize {
        self.frequencies.len()
    }

    /// The share of the most that a step stands for.
    pub fn step(&self) -> f32 {
        self.step
    }

    /// The share of the most that at least `k` postings have, rounding allowed for; 0 if none is
    /// known.
    pub fn share_of_best(&self, k: usize) -> f32 {
        let share = k.checked_sub(1).and_then(|at| self.best.get(at));
        share.map_or(0.0, |share| (share - 2.0 * ROUNDING).max(0.0))
    }

    /// The step of the worst of the best postings that are known; 0 if none is.
    pub fn step_of_best(&self) -> u8 {
        let worst = self.best.last().copied();
        (worst.unwrap_or_default() / self.step) as u8
    }

    /// Takes postings from a place on whose steps are above `least`, but not above `greatest`,
    /// until there are `most` or few fewer. Gives the place to go on from; nothing at the end.
    pub fn take_above(
        &self,
        least: u8,
        greatest: u8,
        from: usize,
        most: usize,
        candidates: &mut HotCandidates,
    ) -> Option<usize> {
        let (mut at, most) = (from, most.max(GROUP));
        candidates.clear();
        while let Some(group) = self.steps.get(at..).and_then(|rest| rest.first_chunk()) {
            if at % RUN == 0 && self.greatest[at / RUN] <= least {
                at += RUN;
                continue;
            }
            if candidates.length() + GROUP > most {
                self.name(candidates);
                return Some(at);
            }
            let bits = above(group, least) & !above(group, greatest);
            candidates.push(at as u32, bits, group);
            at += GROUP;
        }
        self.name(candidates);
        None
    }

    /// Tells candidates, which have places, their documents.
    fn name(&self, candidates: &mut HotCandidates) {
        match &self.places {
            ListPlaces::Sparse { docs, .. } => candidates.name(|place| docs[place as usize]),
            ListPlaces::Dense { .. } => candidates.name(|place| place),
        }
    }

    /// Writes the places of documents and their steps: [`NOWHERE`] and 0 of those without the word.
    /// Gives a bit for each that has it.
    pub fn find_all(&self, docs: &[DocId], found: &mut FoundPlaces) -> u128 {
        let FoundPlaces { places, steps } = found;
        let docs = &docs[..docs.len().min(CANDIDATES)];
        let mut hits = 0;
        match &self.places {
            ListPlaces::Sparse {
                docs: all,
                shift,
                begins,
            } => {
                places.fill(NOWHERE);
                steps.fill(0);
                let mut take = |at: usize, place: usize| {
                    places[at] = place as u32;
                    steps[at] = self.steps[place];
                    hits |= 1 << at;
                };
                let within = stretches(docs, *shift, begins);
                if docs.len() * MERGED > within.len() {
                    let begin = within.start;
                    each_common(docs, &all[within], |at, place| take(at, begin + place));
                } else {
                    for (at, doc) in docs.iter().enumerate() {
                        let place = find(*doc, all, *shift, begins);
                        if place != NOWHERE {
                            take(at, place as usize);
                        }
                    }
                }
            }
            ListPlaces::Dense { .. } => {
                steps.fill(0);
                for (doc, (place, step)) in docs.iter().zip(places.iter_mut().zip(&mut *steps)) {
                    *step = self.steps.get(*doc as usize).copied().unwrap_or_default();
                    // All bits where there is none: a branch could not be predicted.
                    *place = *doc | u32::from(*step == 0).wrapping_neg();
                }
                for (at, group) in steps.as_chunks::<GROUP>().0.iter().enumerate() {
                    hits |= u128::from(above(group, 0)) << (at * GROUP);
                }
            }
        }
        hits
    }

    /// Returns the frequency of a posting.
    #[inline]
    pub fn frequency(&self, place: u32) -> u32 {
        let ordinal = match &self.places {
            ListPlaces::Sparse { .. } => place as usize,
            ListPlaces::Dense { bits, before } => {
                let word = place as usize / 64;
                let below = bits[word] & ((1 << (place % 64)) - 1);
                (before[word] + below.count_ones()) as usize
            }
        };
        frequency_of(ordinal, self.frequencies[ordinal], &self.long)
    }

    /// The documents, if it is sparse.
    pub fn docs(&self) -> Option<&[DocId]> {
        match &self.places {
            ListPlaces::Sparse { docs, .. } => Some(&docs[..self.postings()]),
            ListPlaces::Dense { .. } => None,
        }
    }

    /// A bit for each document, if it is dense.
    pub fn bits(&self) -> Option<&[u64]> {
        match &self.places {
            ListPlaces::Sparse { .. } => None,
            ListPlaces::Dense { bits, .. } => Some(bits),
        }
    }
}

impl ListPlaces {
    fn sparse(docs: Vec<DocId>, until: DocId) -> ListPlaces {
        let postings = docs.len() - WINDOW;
        let stretches = (postings / STRETCH).max(1) as u32;
        let shift = (until / stretches).max(1).ilog2();
        let mut begins = Vec::with_capacity((until >> shift) as usize + 2);
        for (place, doc) in docs[..postings].iter().enumerate() {
            let stretch = (doc >> shift) as usize;
            if begins.len() <= stretch {
                begins.resize(stretch + 1, place as u32);
            }
        }
        begins.resize((until >> shift) as usize + 2, postings as u32);
        ListPlaces::Sparse {
            docs,
            shift,
            begins,
        }
    }

    fn dense(docs: &[DocId], until: DocId) -> ListPlaces {
        let mut bits = vec![0u64; (until as usize).div_ceil(64)];
        for doc in docs {
            bits[*doc as usize / 64] |= 1 << (doc % 64);
        }
        let mut sum = 0;
        let before = bits.iter().map(|word| {
            sum += word.count_ones();
            sum - word.count_ones()
        });
        let before = before.collect();
        ListPlaces::Dense { bits, before }
    }
}

fn is_dense(postings: usize, until: usize) -> bool {
    postings * DENSE > until
}

/// Returns the frequency of a posting by its number.
#[inline]
fn frequency_of(ordinal: usize, byte: u8, long: &[(u32, u32)]) -> u32 {
    if byte < u8::MAX {
        return u32::from(byte);
    }
    let found = long.binary_search_by_key(&(ordinal as u32), |(one, _)| *one);
    found.map_or(u32::from(byte), |at| long[at].1)
}

/// The places of the stretches that ascending documents lie in.
fn stretches(docs: &[DocId], shift: u32, begins: &[u32]) -> Range<usize> {
    let (Some(first), Some(last)) = (docs.first(), docs.last()) else {
        return 0..0;
    };
    let begin = begins.get((first >> shift) as usize).copied();
    let end = begins
        .get((last >> shift) as usize + 1)
        .or(begins.last())
        .copied();
    let end = end.unwrap_or_default() as usize;
    begin.map_or(end, |begin| begin as usize)..end
}

/// The place of a document in a column of them, or [`NOWHERE`].
#[inline]
fn find(doc: DocId, docs: &[DocId], shift: u32, begins: &[u32]) -> u32 {
    let stretch = (doc >> shift) as usize;
    let Some([begin, end]) = begins.get(stretch..).and_then(|rest| rest.first_chunk()) else {
        return NOWHERE;
    };
    let equal_from = |at: usize| {
        let window = docs.get(at..).and_then(|rest| rest.first_chunk());
        window.map_or(0, |window| equal(doc, window))
    };
    // Hardly a stretch has more than a window; whether it has any cannot be predicted.
    let (mut at, end) = (*begin as usize, *end as usize);
    let mut found = equal_from(at);
    while at + WINDOW < end && found == 0 {
        at += WINDOW;
        found = equal_from(at);
    }
    let place = at as u32 + found.trailing_zeros() / 2;
    if found == 0 { NOWHERE } else { place }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::cache::SpareMemory;
    use crate::device::PagePool;
    use crate::search::scoring::bm25::{Bm25, NormCache};
    use crate::search::scoring::scorer::Scorer;
    use crate::search::scoring::term_scorer::TermScorer;

    /// A list with one document in about `gap`, and the frequency of each.
    fn list(until: DocId, gap: u32) -> (HotList, BTreeMap<DocId, u32>, Scorer) {
        let frequency = |doc: DocId| match doc % 97 {
            0 => 255 + doc % 3,
            rest => 1 + rest % 5,
        };
        let docs = (0..until).filter(|doc| doc.wrapping_mul(0x9e37_79b9) % gap == 0);
        let docs: BTreeMap<DocId, u32> = docs.map(|doc| (doc, frequency(doc))).collect();
        let scorer = Scorer::Bm25(Bm25::new(2.5, 1.0, NormCache::new(30.0)));
        let step = 1.0 / 255.0;
        let mut postings = DecodedPostings {
            docs: docs.keys().copied().collect(),
            steps: Vec::new(),
            step,
            frequencies: Vec::new(),
            long: Vec::new(),
        };
        let mut best = BestShares::new(docs.len());
        for (at, (doc, frequency)) in docs.iter().enumerate() {
            let score = scorer.score(*frequency as f32, (doc % 60) as u8);
            let share = score / scorer.most() + ROUNDING;
            best.take(share);
            postings.steps.push((share / step).ceil() as u8);
            postings.frequencies.push((*frequency).min(255) as u8);
            if *frequency >= 255 {
                postings.long.push((at as u32, *frequency));
            }
        }
        let memory = std::sync::Arc::new(SpareMemory::new(PagePool::new(8192)));
        let most = HotList::bytes(docs.len(), until);
        let memory = memory.take(most).unwrap();
        let origin = Origin {
            state: 0,
            deleted: None,
            mean_length: 30.0,
        };
        let list = HotList::new(postings, until, best.into_sorted(), origin, memory);
        assert!(list.held() <= most, "{until} {gap}: {} {most}", list.held());
        (list, docs, scorer)
    }

    #[test]
    fn every_document_is_found_with_its_frequency_and_a_bound() {
        for (until, gap) in [
            (1, 1),
            (100, 1),
            (1000, 2),
            (5000, 3),
            (70_000, 7),
            (9000, 900),
        ] {
            let (list, docs, scorer) = list(until, gap);
            let all: Vec<DocId> = (0..until).collect();
            let (mut places, mut steps) = (Vec::new(), Vec::new());
            for (some, one_of) in all.chunks(CANDIDATES).zip([1, 2, 50].iter().cycle()) {
                let mut found = FoundPlaces::default();
                // Those that are left out are looked up one by one.
                let few: Vec<DocId> = some.iter().step_by(*one_of).copied().collect();
                list.find_all(&few, &mut found);
                let places_of_few = found.places;
                list.find_all(some, &mut found);
                for (at, place) in places_of_few[..few.len()].iter().enumerate() {
                    assert_eq!(*place, found.places[at * one_of]);
                }
                places.extend_from_slice(&found.places[..some.len()]);
                steps.extend_from_slice(&found.steps[..some.len()]);
            }
            for (doc, (place, step)) in all.iter().zip(places.iter().zip(&steps)) {
                let Some(frequency) = docs.get(doc) else {
                    assert_eq!((*place, *step), (NOWHERE, 0));
                    continue;
                };
                assert_eq!(list.frequency(*place), *frequency);
                let score = scorer.score(*frequency as f32, (doc % 60) as u8);
                let bound = |step: u8| f32::from(step) * list.step() * scorer.most();
                assert!(score <= bound(*step) * (1.0 + 1e-6), "{score}");
                assert!(*step < 3 || score > bound(step - 2), "{score}");
            }
            let mut candidates = HotCandidates::new(1);
            for least in [0, 1, 100, 200, 254] {
                let (mut next, mut taken) = (Some(0), Vec::new());
                while let Some(from) = next {
                    next = list.take_above(least, 200, from, 40, &mut candidates);
                    taken.extend_from_slice(candidates.docs());
                }
                let is_between = |doc: &&DocId| (least + 1..=200).contains(&steps[**doc as usize]);
                let between: Vec<DocId> = all.iter().filter(is_between).copied().collect();
                assert_eq!(taken, between);
            }
            let (best, share) = (list.step_of_best(), list.share_of_best(10));
            let above = steps.iter().filter(|step| **step >= best).count();
            let is_better = |step: &&u8| f32::from(**step) * list.step() > share;
            let better = steps.iter().filter(is_better).count();
            assert!(share == 0.0 || better >= 10);
            assert!(above >= list.best.len());
        }
    }
}
