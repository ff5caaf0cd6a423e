//! The documents of one block of the leading list that can still enter.
//!
//! They are kept in columns, and each step drops those that it rules out: the filter by the scores
//! of the leading word, then one list after the other. The few that are left get exact scores.

use std::ops::Range;

use super::list::WordList;
use super::pass::{Other, Pass};
use crate::base::{DocId, END, Error};
use crate::cache::{Pages, Step, Stop};
use crate::documents::{LiveCursor, NormCursor};
use crate::postings::BLOCK;
use crate::search::matching::intersect::{NOWHERE, locate};
use crate::search::matching::matcher::{BLOCK_STEPS, Role};
use crate::search::scoring::term_scorer::TermScorer;
use crate::search::scoring::top::Top;

/// Documents in ascending order, with the frequency of each word of the query in a column.
pub(super) struct Survivors {
    docs: [DocId; BLOCK],
    length: usize,
    /// The place of each in the block of the leading list, from where that stands.
    places: [u8; BLOCK],
    /// In each field.
    norms: Vec<[u8; BLOCK]>,
    /// The product of frequency and norm of the leading word, with which its score ascends, where
    /// they were filtered by it.
    products: [f32; BLOCK],
    is_filtered: bool,
    /// The frequencies of the leading word.
    leading: [u32; BLOCK],
    /// Set once norms and these frequencies are there.
    is_complete: bool,
    /// The rounded sums of the scores of the words that were asked.
    sums: [f32; BLOCK],
    /// Of each other word that was asked; 0 where it does not occur.
    frequencies: Vec<[u32; BLOCK]>,
}

impl Survivors {
    /// None yet, of a query of so many words in so many fields.
    pub(super) fn new(words: usize, fields: usize) -> Survivors {
        Survivors {
            docs: [0; BLOCK],
            length: 0,
            places: [0; BLOCK],
            norms: vec![[0; BLOCK]; fields],
            products: [0.0; BLOCK],
            is_filtered: false,
            leading: [0; BLOCK],
            is_complete: false,
            sums: [0.0; BLOCK],
            frequencies: vec![[0; BLOCK]; words],
        }
    }

    /// Bytes that the columns of so many words and fields take.
    pub(super) fn memory_bytes(words: usize, fields: usize) -> usize {
        words * size_of::<[u32; BLOCK]>() + fields * BLOCK
    }

    /// Returns the number of documents.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Takes the first `count` documents of the block that a list stands in.
    pub(super) fn take(&mut self, count: usize, list: &WordList) {
        let docs = &list.cursor.block_docs()[..count];
        self.length = count;
        (self.is_complete, self.is_filtered) = (false, false);
        self.docs[..count].copy_from_slice(docs);
        for (at, place) in self.places[..count].iter_mut().enumerate() {
            *place = at as u8;
        }
    }

    /// Takes those of the first `count` documents of the block that a list stands in which score
    /// above `floor` or may do so.
    pub(super) fn take_above(
        &mut self,
        count: usize,
        floor: f32,
        list: &mut WordList,
        norms: &mut [NormCursor],
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let norms = &mut norms[list.field];
        let (scorer, docs, frequencies) = list.block_to(count);
        // The product with which the score ascends is compared: that takes no division.
        let least = scorer.least_product(floor);
        let (mut kept, mut at) = (0, 0);
        while let Some(first) = docs.get(at) {
            let held = norms.norms_from(*first, pages)?;
            let in_page = |doc: &DocId| ((doc - first) as usize) < held.len();
            let rest = &docs[at..];
            let count = match rest.last() {
                Some(last) if in_page(last) => rest.len(),
                _ => rest.partition_point(in_page),
            };
            let postings = rest[..count].iter().zip(&frequencies[at..]);
            for (place, (doc, frequency)) in (at..).zip(postings) {
                let norm = held[(doc - first) as usize];
                let product = scorer.product(*frequency as f32, norm);
                // Written in any case: a branch could not be predicted.
                self.places[kept % BLOCK] = place as u8;
                self.products[kept % BLOCK] = product;
                kept += usize::from(product > least);
            }
            if count == 0 {
                return Err(no_norm());
            }
            at += count;
        }
        self.length = kept;
        (self.is_complete, self.is_filtered) = (false, true);
        for (doc, place) in self.docs.iter_mut().zip(&self.places[..kept]) {
            *doc = docs[*place as usize];
        }
        Ok(())
    }

    /// Asks the list of another word for all documents, and drops those that `role` rules out, and
    /// of those without an optional word those whose product is not above `least`. `asked` are the
    /// words that were asked before.
    pub(super) fn ask(
        &mut self,
        other: Other,
        least: f32,
        asked: &[Other],
        list: &mut WordList,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let (mut at, mut kept) = (0, 0);
        let mut places = [NOWHERE; BLOCK];
        while at < self.length {
            pages.count_steps(BLOCK_STEPS)?;
            let found = list.cursor.advance(self.docs[at], pages)?;
            let block = list.cursor.block_docs();
            let end = match block.last() {
                Some(last) if found != END => {
                    let rest = &self.docs[at..self.length];
                    at + rest.partition_point(|doc| doc <= last)
                }
                _ => self.length,
            };
            let docs = &self.docs[at..end];
            let hits = locate(docs, block, &mut places[..docs.len()]);
            let all = u128::MAX >> (BLOCK - docs.len());
            let mut stay = match other.role {
                Role::Required if other.before > 0 => {
                    hits | self.found(at..end, &asked[asked.len() - other.before..])
                }
                Role::Required => hits,
                Role::Excluded => all & !hits,
                Role::Optional if self.is_filtered => hits | self.above(at..end, least),
                Role::Optional => all,
            };
            let frequencies = match hits {
                0 => &[],
                _ if !other.scores() => &[],
                _ => list.cursor.block().1,
            };
            while stay != 0 {
                let from = stay.trailing_zeros() as usize;
                stay &= stay - 1;
                self.shift(at + from, kept, asked);
                let frequency = frequencies.get(places[from] as usize);
                self.frequencies[other.word][kept] = frequency.copied().unwrap_or(0);
                kept += 1;
            }
            at = end;
        }
        self.length = kept;
        Ok(())
    }

    /// A bit for each of the documents at these places that has one of some words.
    fn found(&self, places: Range<usize>, words: &[Other]) -> u128 {
        let has = |at: usize| {
            let mut words = words.iter();
            words.any(|other| self.frequencies[other.word][at] > 0)
        };
        let each = places.enumerate();
        each.fold(0, |found, (bit, at)| found | u128::from(has(at)) << bit)
    }

    /// A bit for each of the documents at these places whose product is above `least`.
    #[inline]
    fn above(&self, places: Range<usize>, least: f32) -> u128 {
        let products = &self.products[places];
        let bits = |half: &[f32]| {
            let each = half.iter().enumerate();
            each.fold(0u64, |bits, (at, product)| {
                bits | u64::from(*product > least) << at
            })
        };
        let (low, high) = products.split_at(products.len().min(64));
        u128::from(bits(high)) << 64 | u128::from(bits(low))
    }

    /// Takes the scores of the leading word as the sums.
    pub(super) fn begin_sums(
        &mut self,
        list: &mut WordList,
        norms: &mut [NormCursor],
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        self.complete(list, norms, pages)?;
        let postings = self.leading.iter().zip(&self.norms[list.field]);
        let sums = self.sums[..self.length].iter_mut();
        for (sum, (frequency, norm)) in sums.zip(postings) {
            *sum = list.scorer.score(*frequency as f32, *norm);
        }
        Ok(())
    }

    /// Adds the scores of a word that was asked to the sums, also where it is not the best of its
    /// clause: the sums only bound.
    pub(super) fn add(&mut self, word: usize, list: &WordList) {
        let postings = self.frequencies[word].iter().zip(&self.norms[list.field]);
        let sums = self.sums[..self.length].iter_mut();
        for (sum, (frequency, norm)) in sums.zip(postings) {
            *sum += list.scorer.score(*frequency as f32, *norm);
        }
    }

    /// Drops the documents whose sums are not above `least`.
    pub(super) fn keep_above(&mut self, least: f32, asked: &[Other]) {
        let mut kept = 0;
        for at in 0..self.length {
            self.shift(at, kept, asked);
            kept += usize::from(self.sums[at] > least);
        }
        self.length = kept;
    }

    /// Drops deleted documents.
    pub(super) fn keep_live(
        &mut self,
        live: &mut LiveCursor,
        asked: &[Other],
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let (mut at, mut stay) = (0, [false; BLOCK]);
        while at < self.length {
            let mut places = stay[at..].iter_mut();
            let take = |is_live| places.next().map_or((), |place| *place = is_live);
            at += live.live(&self.docs[at..self.length], pages, take)?;
        }
        let mut kept = 0;
        for (at, stays) in stay[..self.length].iter().enumerate() {
            self.shift(at, kept, asked);
            kept += usize::from(*stays);
        }
        self.length = kept;
        Ok(())
    }

    /// Scores the documents and offers them: of each clause the best word counts.
    pub(super) fn offer(
        &mut self,
        pass: &Pass,
        lists: &mut [WordList],
        norms: &mut [NormCursor],
        top: &mut Top,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        self.complete(&mut lists[pass.leader], norms, pages)?;
        for at in 0..self.length {
            let (mut sum, mut best, mut clause) = (0.0, 0.0, 0);
            for word in &pass.scored {
                let frequency = if *word == pass.leader {
                    self.leading[at]
                } else {
                    self.frequencies[*word][at]
                };
                if frequency == 0 {
                    continue;
                }
                let list = &lists[*word];
                if list.clause != clause {
                    sum += f64::from(best);
                    (best, clause) = (0.0, list.clause);
                }
                let norm = self.norms[list.field][at];
                best = f32::max(best, list.scorer.score(frequency as f32, norm));
            }
            top.offer(self.docs[at], (sum + f64::from(best)) as f32);
        }
        Ok(())
    }

    /// Reads the norms, and takes the frequencies of the leading word.
    fn complete(
        &mut self,
        list: &mut WordList,
        norms: &mut [NormCursor],
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if self.length == 0 || self.is_complete {
            return Ok(());
        }
        let (_, leading) = list.cursor.block();
        let column = self.leading.iter_mut();
        for (frequency, place) in column.zip(&self.places[..self.length]) {
            *frequency = leading[*place as usize];
        }
        let docs = &self.docs[..self.length];
        for (norms, column) in norms.iter_mut().zip(&mut self.norms) {
            read_norms(docs, norms, column, pages)?;
        }
        self.is_complete = true;
        Ok(())
    }

    /// Moves a document to an earlier place, with what `asked` words have of it.
    #[inline]
    fn shift(&mut self, from: usize, to: usize, asked: &[Other]) {
        self.docs[to] = self.docs[from];
        self.places[to] = self.places[from];
        for norms in &mut self.norms {
            norms[to] = norms[from];
        }
        self.products[to] = self.products[from];
        self.leading[to] = self.leading[from];
        self.sums[to] = self.sums[from];
        for other in asked {
            let column = &mut self.frequencies[other.word];
            column[to] = column[from];
        }
    }
}

/// Reads the norms of ascending documents into a column.
fn read_norms(
    docs: &[DocId],
    norms: &mut NormCursor,
    column: &mut [u8; BLOCK],
    pages: &mut Pages<'_>,
) -> Step<()> {
    let mut at = 0;
    while let Some(first) = docs.get(at) {
        let held = norms.norms_from(*first, pages)?;
        let rest = docs[at..].iter().zip(&mut column[at..]);
        let begin = at;
        for (doc, norm) in rest {
            let Some(found) = held.get((doc - first) as usize) else {
                break;
            };
            *norm = *found;
            at += 1;
        }
        if at == begin {
            return Err(no_norm());
        }
    }
    Ok(())
}

/// The error of a page of norms that lacks the document it was read for.
#[cold]
fn no_norm() -> Stop {
    Error::internal("a page of norms has no norm").into()
}
