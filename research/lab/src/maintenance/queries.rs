//! What is asked of lists: a mix of long and of short ones, as in the paper, alone and in pairs.
//!
//! A list is long if in the end more than a share of all documents has its term. Of a hundred
//! queries seventy ask for a long list. Long lists are drawn evenly; of short ones first a decade
//! of lengths and then a list of it, so that each length is asked for.

use std::sync::Arc;

use gannet::lab::Norm;

use super::coding::Postings;
use super::flush::{Stream, TermNumber};
use crate::random::Random;

/// Documents with a score at most: what a query gives back.
pub const TOP: usize = 10;

/// The best documents of a query, the best first.
pub type Top = Vec<(u32, f32)>;

/// What a query of two terms found: how many documents have both, and the best of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Both {
    /// Documents with both.
    pub count: u64,
    /// The best.
    pub top: Top,
}

/// Of a hundred queries so many ask for a long list.
const LONG_PERCENT: usize = 70;

/// BM25 as the engine has it.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Lists to ask for.
pub struct Mix {
    long: Vec<TermNumber>,
    /// By decades of lengths.
    short: Vec<Vec<TermNumber>>,
}

impl Mix {
    /// The lists of a stream that are wanted; long ones have more than one of `long_share`
    /// documents.
    pub fn new(stream: &Stream, long_share: u32, is_wanted: impl Fn(TermNumber) -> bool) -> Mix {
        let long_from = stream.documents() / long_share.max(1);
        let mut mix = Mix {
            long: Vec::new(),
            short: vec![Vec::new(); 10],
        };
        let terms = (0..).zip(&stream.frequencies);
        for (term, frequency) in terms.filter(|(term, _)| is_wanted(*term)) {
            match frequency {
                0 => {}
                frequency if *frequency > long_from => mix.long.push(term),
                frequency => mix.short[frequency.ilog10() as usize].push(term),
            }
        }
        // One posting is no list.
        mix.short.remove(0);
        mix.short.retain(|decade| !decade.is_empty());
        mix
    }

    /// Lists of each kind.
    pub fn counts(&self) -> [usize; 2] {
        [self.long.len(), self.short.iter().map(Vec::len).sum()]
    }

    /// The next list to ask for; none if there are none at all.
    pub fn draw(&self, random: &mut Random) -> Option<TermNumber> {
        let is_long = random.below(100) < LONG_PERCENT;
        let lists = if is_long && !self.long.is_empty() || self.short.is_empty() {
            &self.long
        } else {
            &self.short[random.below(self.short.len())]
        };
        (!lists.is_empty()).then(|| lists[random.below(lists.len())])
    }

    /// So many pairs of lists that differ.
    pub fn pairs(&self, count: usize, random: &mut Random) -> Vec<[TermNumber; 2]> {
        let mut pairs = Vec::with_capacity(count);
        while pairs.len() < count
            && let (Some(one), Some(other)) = (self.draw(random), self.draw(random))
        {
            if one != other {
                pairs.push([one, other]);
            } else if self.counts().iter().sum::<usize>() < 2 {
                break;
            }
        }
        pairs
    }
}

/// What ranking needs to know of documents.
#[derive(Clone)]
pub struct Scoring {
    /// For each document what its length adds to a frequency.
    lengths: Arc<Vec<f32>>,
}

impl Scoring {
    /// For documents of which the lengths are known as norms.
    pub fn of_norms(norms: &[u8]) -> Scoring {
        let lengths = norms.iter().map(|norm| Norm::length(*norm));
        Scoring::new(&lengths.collect::<Vec<_>>())
    }

    /// For documents of these lengths.
    pub fn new(lengths: &[u32]) -> Scoring {
        let sum: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        let average = (sum as f32 / lengths.len().max(1) as f32).max(1.0);
        let of = |length: &u32| K1 * (1.0 - B + B * *length as f32 / average);
        Scoring {
            lengths: Arc::new(lengths.iter().map(of).collect()),
        }
    }

    /// What a term in so many documents weighs.
    pub fn weight(&self, documents: usize) -> f32 {
        let (all, with) = (self.lengths.len() as f32, documents as f32);
        (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
    }

    /// What a term adds to the score of a document.
    pub fn part(&self, weight: f32, doc: u32, frequency: u32) -> f32 {
        let length = self.lengths.get(doc as usize).copied().unwrap_or(K1);
        weight * frequency as f32 / (frequency as f32 + length)
    }

    /// Goes through the shorter of two lists and looks its documents up in the longer, farther and
    /// farther ahead.
    pub fn both(&self, lists: &[Postings; 2]) -> Both {
        let (mut short, mut long) = (&lists[0], &lists[1]);
        if short.docs.len() > long.docs.len() {
            std::mem::swap(&mut short, &mut long);
        }
        let weights = [short, long].map(|list| self.weight(list.docs.len()));
        let (mut both, mut at) = (Both::default(), 0);
        for (doc, frequency) in short.docs.iter().zip(&short.frequencies) {
            at = gallop(&long.docs, at, *doc);
            if long.docs.get(at) == Some(doc) {
                both.count += 1;
                let score = self.part(weights[0], *doc, *frequency)
                    + self.part(weights[1], *doc, long.frequencies[at]);
                keep(&mut both.top, *doc, score);
            }
        }
        both
    }
}

/// Keeps a document if it is among the best; of equal scores the earlier one is better.
pub fn keep(top: &mut Top, doc: u32, score: f32) {
    if top.len() == TOP && top[TOP - 1].1 >= score {
        return;
    }
    let at = top.partition_point(|(_, other)| *other >= score);
    top.insert(at, (doc, score));
    top.truncate(TOP);
}

/// The first place from `at` on of a document that is not below another.
fn gallop(docs: &[u32], at: usize, doc: u32) -> usize {
    let (mut from, mut step) = (at, 1);
    while docs.get(from + step).is_some_and(|other| *other < doc) {
        (from, step) = (from + step, 2 * step);
    }
    let to = docs.len().min(from + step + 1);
    from + docs[from.min(to)..to].partition_point(|other| *other < doc)
}
