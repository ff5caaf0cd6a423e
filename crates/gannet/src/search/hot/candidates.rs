//! Postings of the list that leads, while the other lists are asked for their documents.

use super::groups::GROUP;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::LiveCursor;
use crate::search::matching::matcher::Role;
use crate::search::words::Other;

/// Candidates that are looked at together.
pub const CANDIDATES: usize = 128;

/// The place of a document without the word.
pub const NOWHERE: u32 = u32::MAX;

/// The bits of a group, all of which are set.
const ALL: u32 = (1 << GROUP) - 1;

/// Documents in ascending order, with the place that each has in the list of each word.
pub struct HotCandidates {
    docs: [DocId; CANDIDATES],
    /// The upper bound of the scores of the clauses that were asked, and of the last of these.
    sums: [f32; CANDIDATES],
    own: [f32; CANDIDATES],
    length: usize,
    /// The places in the list that leads, and their steps.
    places: [u32; CANDIDATES],
    steps: [u8; CANDIDATES],
    /// Of each other word.
    others: Vec<[u32; CANDIDATES]>,
}

/// The places of documents in a list, and their steps.
pub struct FoundPlaces {
    pub places: [u32; CANDIDATES],
    pub steps: [u8; CANDIDATES],
}

impl Default for FoundPlaces {
    fn default() -> FoundPlaces {
        FoundPlaces {
            places: [NOWHERE; CANDIDATES],
            steps: [0; CANDIDATES],
        }
    }
}

impl HotCandidates {
    /// None yet, of a query of so many words.
    pub fn new(words: usize) -> HotCandidates {
        HotCandidates {
            docs: [0; CANDIDATES],
            sums: [0.0; CANDIDATES],
            own: [0.0; CANDIDATES],
            length: 0,
            places: [0; CANDIDATES],
            steps: [0; CANDIDATES],
            others: vec![[0; CANDIDATES]; words],
        }
    }

    /// Bytes that the columns of so many words take.
    pub fn memory_bytes(words: usize) -> usize {
        size_of::<HotCandidates>() + words * size_of::<[u32; CANDIDATES]>()
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn docs(&self) -> &[DocId] {
        &self.docs[..self.length]
    }

    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Adds those of a group of places from `place` on that have a bit.
    #[inline]
    pub fn push(&mut self, place: u32, mut bits: u32, steps: &[u8; GROUP]) {
        if bits == ALL {
            self.push_all(place, steps);
            return;
        }
        while bits != 0 {
            let at = bits.trailing_zeros();
            let to = self.length % CANDIDATES;
            self.places[to] = place + at;
            self.steps[to] = steps[at as usize % GROUP];
            self.length += 1;
            bits &= bits - 1;
        }
    }

    /// Adds a whole group.
    fn push_all(&mut self, place: u32, steps: &[u8; GROUP]) {
        let begin = self.length.min(CANDIDATES - GROUP);
        let places = self.places[begin..].iter_mut();
        places
            .zip(place..)
            .take(GROUP)
            .for_each(|(to, place)| *to = place);
        self.steps[begin..begin + GROUP].copy_from_slice(steps);
        self.length = begin + GROUP;
    }

    /// Takes the documents of all places.
    #[inline]
    pub fn name(&mut self, doc: impl Fn(u32) -> DocId) {
        let places = self.places[..self.length].iter();
        for (place, to) in places.zip(&mut self.docs) {
            *to = doc(*place);
        }
    }

    /// Drops documents from `until` on. Tells if there were any.
    pub fn cut(&mut self, until: DocId) -> bool {
        let kept = self.docs().partition_point(|doc| *doc < until);
        let before = std::mem::replace(&mut self.length, kept);
        kept < before
    }

    /// Takes the bounds of the leading word, of which a step is worth so much.
    pub fn begin_sums(&mut self, worth: f32) {
        let steps = self.steps[..self.length].iter();
        for (step, sum) in steps.zip(&mut self.sums) {
            *sum = f32::from(*step) * worth;
        }
        self.own = self.sums;
    }

    /// The place of a candidate in the leading list.
    pub fn leading(&self, at: usize) -> u32 {
        self.places[at]
    }

    /// The place of a candidate in the list of another word that was asked, or [`NOWHERE`].
    pub fn place(&self, word: usize, at: usize) -> u32 {
        self.others[word][at]
    }

    /// Takes what the list of another word has of all documents: those with a bit in `hits` have
    /// places and steps, each worth so much. Drops those that the role of the word rules out, and
    /// those whose bound is not above `least` then. `asked` are those that were asked before.
    pub fn take_found(
        &mut self,
        other: Other,
        found: &FoundPlaces,
        hits: u128,
        worth: f32,
        least: f32,
        asked: &[Other],
    ) {
        let (length, mut kept, mut stays) = (self.length, 0, 0);
        let all = all_of(length);
        let is_next = other.before > 0 || !other.scores();
        let clause = &asked[asked.len() - other.before.min(asked.len())..];
        let mut left = match other.role {
            Role::Required if other.before > 0 => hits | self.found(clause),
            Role::Required => hits,
            Role::Excluded => all & !hits,
            Role::Optional => all,
        };
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let bound = f32::from(found.steps[at]) * worth;
            // Of a clause the best word counts.
            let own = if is_next { self.own[at] } else { 0.0 };
            let sum = self.sums[at] + (bound - own).max(0.0);
            // Written in any case: a branch could not be predicted.
            (self.docs[kept], self.sums[kept]) = (self.docs[at], sum);
            self.own[kept] = bound.max(own);
            self.places[kept] = self.places[at];
            self.others[other.word][kept] = found.places[at];
            kept += usize::from(sum > least);
            stays |= u128::from(sum > least) << at;
        }
        self.length = kept;
        self.keep_places(stays, asked);
    }

    /// A bit for each that has one of some words.
    fn found(&self, words: &[Other]) -> u128 {
        let has = |at: usize| {
            let mut places = words.iter().map(|other| self.others[other.word][at]);
            places.any(|place| place != NOWHERE)
        };
        (0..self.length).fold(0, |found, at| found | u128::from(has(at)) << at)
    }

    /// Drops those whose bound is not above `least`. `asked` are the words that were asked.
    pub fn keep_above(&mut self, least: f32, asked: &[Other]) {
        let sums = self.sums[..self.length].iter().enumerate();
        let stays = sums.fold(0, |stays, (at, sum)| stays | u128::from(*sum > least) << at);
        self.keep(stays, asked);
    }

    /// Drops deleted documents. `asked` are the words that were asked.
    pub fn keep_live(
        &mut self,
        live: &mut LiveCursor,
        asked: &[Other],
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        // From here on sums are not asked for.
        let (mut at, mut told, mut stays) = (0, 0, 0u128);
        while at < self.length {
            let take = |is_live| {
                stays |= u128::from(is_live) << (told % CANDIDATES);
                told += 1;
            };
            at += live.live(&self.docs[at..self.length], pages, take)?;
        }
        self.keep(stays, asked);
        Ok(())
    }

    /// Drops those without a bit, with what `asked` words have of them.
    fn keep(&mut self, stays: u128, asked: &[Other]) {
        keep(stays, &mut self.docs);
        keep(stays, &mut self.places);
        self.keep_places(stays, asked);
        self.length = stays.count_ones() as usize;
    }

    /// Drops the places of those without a bit in the lists of words that were asked.
    fn keep_places(&mut self, stays: u128, asked: &[Other]) {
        for other in asked.iter().filter(|other| other.scores()) {
            keep(stays, &mut self.others[other.word]);
        }
    }
}

/// A bit for each of so many.
fn all_of(length: usize) -> u128 {
    match length {
        0 => 0,
        length => u128::MAX >> (CANDIDATES - length),
    }
}

/// Drops what has no bit out of a column.
fn keep(mut stays: u128, column: &mut [u32; CANDIDATES]) {
    let mut kept = 0;
    while stays != 0 {
        column[kept] = column[stays.trailing_zeros() as usize];
        kept += 1;
        stays &= stays - 1;
    }
}
