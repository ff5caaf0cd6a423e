//! An order of documents in which those that share terms are near each other: distances in lists
//! get smaller, and whole stretches of a list can be left out of a search.
//!
//! Source: Dhulipala, Kabiljo, Karrer, Ottaviano, Pupyrev and Shalita, Compressing Graphs and
//! Indexes with Recursive Graph Bisection (2016). The documents are halved; documents change sides
//! in pairs as long as that lowers what the distances in all lists are expected to take in bits;
//! then each half is halved likewise. A change asks for more the more rounds have gone by, so that
//! no pair changes sides for ever (Mackenzie, Petri and Moffat, 2021).

use std::thread;

use super::forward::ForwardIndex;
use crate::base::DocId;

/// Rounds of exchanges between two halves, at most.
const ROUNDS: usize = 20;

/// Documents that are not halved any more: they keep the order in which they came.
const HALVED_MIN: usize = 32;

/// The least number of documents that is worth a thread.
const THREAD_MIN: usize = 4096;

/// Bytes of memory that ordering takes for each document, without the forward index: the order, and
/// a gain with the number of its document while two halves are compared, twice as vectors grow.
pub(crate) const BYTES_PER_DOCUMENT: usize = 4 + 16;

/// Bytes of memory for each term and thread.
pub(crate) const BYTES_PER_TERM: usize = size_of::<Term>() + 4;

/// How many documents of each half have a term, and what one less of them there and one more here
/// gains, in bits.
#[derive(Clone, Copy, Default)]
struct Term {
    left: u32,
    right: u32,
    to_right: f32,
    to_left: f32,
}

/// What one thread needs.
struct Bisection<'a> {
    documents: &'a ForwardIndex,
    terms: Vec<Term>,
    /// The terms that the documents being halved have.
    met: Vec<u32>,
}

/// The documents of the forward index in an order that puts alike ones together, found by so many
/// threads. The order does not depend on how many they are.
pub(crate) fn alike_together(documents: &ForwardIndex, threads: usize) -> Vec<DocId> {
    let mut order: Vec<DocId> = (0..documents.len() as DocId).collect();
    Bisection::new(documents).halve(&mut order, threads.max(1));
    order
}

impl<'a> Bisection<'a> {
    fn new(documents: &'a ForwardIndex) -> Bisection<'a> {
        Bisection {
            documents,
            terms: vec![Term::default(); documents.terms()],
            met: Vec::new(),
        }
    }

    fn halve(&mut self, order: &mut [DocId], threads: usize) {
        if order.len() <= HALVED_MIN {
            order.sort_unstable();
            return;
        }
        self.exchange(order);
        let (left, right) = order.split_at_mut(order.len() / 2);
        if threads < 2 || left.len() < THREAD_MIN {
            self.halve(left, 1);
            return self.halve(right, 1);
        }
        let documents = self.documents;
        thread::scope(|scope| {
            scope.spawn(|| Bisection::new(documents).halve(right, threads / 2));
            self.halve(left, threads - threads / 2);
        });
    }

    /// Has documents of the two halves change sides until no pair gains by it.
    fn exchange(&mut self, order: &mut [DocId]) {
        let (left, right) = order.split_at_mut(order.len() / 2);
        self.count(left, right);
        for round in 0..ROUNDS {
            self.weigh_terms(left.len(), right.len());
            let leaving = self.by_gain(left, |term| term.to_right);
            let coming = self.by_gain(right, |term| term.to_left);
            let pairs = leaving.iter().zip(&coming);
            let gaining = pairs.take_while(|(one, other)| one.0 + other.0 > round as f32);
            let exchanged = gaining.count();
            for (place, (one, other)) in leaving.iter().zip(&coming).enumerate() {
                let (one, other) = match place < exchanged {
                    true => (other.1, one.1),
                    false => (one.1, other.1),
                };
                (left[place], right[place]) = (one, other);
            }
            // With an odd number of documents the right half has one more.
            if let Some((_, doc)) = coming.get(leaving.len()) {
                right[leaving.len()] = *doc;
            }
            if exchanged == 0 {
                break;
            }
            left[..exchanged]
                .iter()
                .for_each(|doc| self.moved(*doc, true));
            right[..exchanged]
                .iter()
                .for_each(|doc| self.moved(*doc, false));
        }
        for term in self.met.drain(..) {
            self.terms[term as usize] = Term::default();
        }
    }

    fn count(&mut self, left: &[DocId], right: &[DocId]) {
        let (terms, met) = (&mut self.terms, &mut self.met);
        for (docs, is_left) in [(left, true), (right, false)] {
            for term in docs.iter().flat_map(|doc| self.documents.terms_of(*doc)) {
                let counts = &mut terms[term as usize];
                if counts.left + counts.right == 0 {
                    met.push(term);
                }
                match is_left {
                    true => counts.left += 1,
                    false => counts.right += 1,
                }
            }
        }
    }

    /// Notes that a document came to the left half from the right, or the other way round.
    fn moved(&mut self, doc: DocId, to_left: bool) {
        for term in self.documents.terms_of(doc) {
            let counts = &mut self.terms[term as usize];
            let (more, less) = match to_left {
                true => (&mut counts.left, &mut counts.right),
                false => (&mut counts.right, &mut counts.left),
            };
            *more += 1;
            *less -= 1;
        }
    }

    fn weigh_terms(&mut self, left: usize, right: usize) {
        let (log_left, log_right) = ((left as f32).log2(), (right as f32).log2());
        // About the bits of the distances between `count` documents that are spread over the half.
        let bits = |count: u32, log: f32| count as f32 * (log - ((count + 1) as f32).log2());
        for term in &self.met {
            let term = &mut self.terms[*term as usize];
            let both = |left: u32, right: u32| bits(left, log_left) + bits(right, log_right);
            let now = both(term.left, term.right);
            if let Some(fewer) = term.left.checked_sub(1) {
                term.to_right = now - both(fewer, term.right + 1);
            }
            if let Some(fewer) = term.right.checked_sub(1) {
                term.to_left = now - both(term.left + 1, fewer);
            }
        }
    }

    /// What each document gains by going to the other side, the most first.
    fn by_gain(&self, docs: &[DocId], gain: impl Fn(&Term) -> f32) -> Vec<(f32, DocId)> {
        let of_doc = |doc: DocId| -> f32 {
            let terms = self.documents.terms_of(doc);
            terms.map(|term| gain(&self.terms[term as usize])).sum()
        };
        let mut gains: Vec<(f32, DocId)> = docs.iter().map(|doc| (of_doc(*doc), *doc)).collect();
        gains.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        gains
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of 16 subjects, each with words of its own, in turn; all have some words besides.
    fn documents(count: u32) -> ForwardIndex {
        let terms = |doc: u32| {
            let subject = doc % 16;
            let random =
                |salt: u32| (doc ^ salt.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b) >> 16;
            let own = (0..6).map(move |salt| subject * 20 + random(salt) % 20);
            let common = (6..10).map(move |salt| 320 + random(salt) % 50);
            let mut terms: Vec<u32> = own.chain(common).collect();
            terms.sort_unstable();
            terms.dedup();
            terms
        };
        let mut counted = ForwardIndex::count(count as usize);
        for term in 0..370 {
            (0..count)
                .filter(|doc| terms(*doc).contains(&term))
                .for_each(|doc| counted.add(doc, term));
        }
        let mut forward = counted.fill();
        for term in 0..370 {
            (0..count)
                .filter(|doc| terms(*doc).contains(&term))
                .for_each(|doc| forward.add(doc, term));
        }
        forward.finish()
    }

    #[test]
    fn documents_of_one_subject_come_together() {
        let count = 1003;
        let order = alike_together(&documents(count), 1);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..count).collect::<Vec<_>>(), "each document once");
        let same = |pair: &&[DocId]| pair[0] % 16 == pair[1] % 16;
        let neighbours = order.windows(2).filter(same).count();
        assert!(
            neighbours > 800,
            "{neighbours} neighbours of one subject, as they came none"
        );
    }

    #[test]
    fn the_order_does_not_depend_on_threads() {
        let documents = documents(20_000);
        assert_eq!(alike_together(&documents, 1), alike_together(&documents, 3));
    }

    #[test]
    fn few_documents_keep_their_order() {
        for count in 0..=HALVED_MIN as u32 {
            let order = alike_together(&documents(count), 2);
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
