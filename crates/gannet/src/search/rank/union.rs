//! The documents of several clauses in one range of documents, found clause by clause.
//!
//! Each clause gives all it has in the range in one go, so that its loop calls no other through a table; a
//! bitmap over the range then puts the documents in order. Source of the idea: windows of documents scored
//! clause by clause, as in Lucene's bulk scorers (Grand et al.).

use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::candidates::Candidates;
use crate::search::matcher::for_all;
use crate::search::matches::Matches;
use crate::search::windows::Clause;

/// Documents of a range.
const RANGE: usize = 1024;

/// Clauses times leaves at most: what is held for a range stays below 200 KiB.
const WIDTH_MAX: usize = 32;

/// A range being worked on.
#[derive(Default)]
pub(super) struct Union {
    parts: Vec<Part>,
}

/// What one clause has given so far.
struct Part {
    clause: usize,
    next: DocId,
    matches: Matches,
}

/// Which documents of a range are in.
struct Bitmap {
    from: DocId,
    words: [u64; RANGE / 64],
    /// Documents before each word.
    before: [u32; RANGE / 64],
}

impl Union {
    /// Whether so many clauses of a query with so many leaves are worth it.
    pub(super) fn fits(clauses: usize, leaves: usize) -> bool {
        clauses * leaves <= WIDTH_MAX
    }

    /// Adds the documents of the essential clauses from `from` on, up to `last` or the end of a range, to the
    /// candidates; gives the first document not looked at. Called again with the same arguments after a stop.
    pub(super) fn gather(
        &mut self,
        clauses: &mut [Clause],
        essential: &[bool],
        (from, last): (DocId, DocId),
        window: u32,
        candidates: &mut Candidates,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let to = last.min(from.saturating_add(RANGE as DocId - 1));
        if self.parts.is_empty() {
            self.begin(essential, from, candidates.leaves());
        }
        for_all(&mut self.parts, |part| {
            let matcher = &mut clauses[part.clause].matcher;
            matcher.skip_below(-1.0);
            while part.next <= to {
                part.next = matcher.gather(part.next, to, RANGE, &mut part.matches, pages)?;
            }
            Ok(())
        })?;
        self.give(from, window, candidates);
        self.parts.clear();
        Ok(to.saturating_add(1))
    }

    fn begin(&mut self, essential: &[bool], from: DocId, leaves: usize) {
        let chosen = essential.iter().enumerate().filter(|(_, chosen)| **chosen);
        self.parts.extend(chosen.map(|(clause, _)| Part {
            clause,
            next: from,
            matches: Matches::new(leaves),
        }));
    }

    fn give(&self, from: DocId, window: u32, candidates: &mut Candidates) {
        let mut bitmap = Bitmap::new(from);
        for part in &self.parts {
            bitmap.set_all(part.matches.docs());
        }
        bitmap.count();
        let first = candidates.len();
        candidates.extend(bitmap.docs(), window);
        for part in &self.parts {
            for (at, doc) in part.matches.docs().iter().enumerate() {
                let row = candidates.matches.row_mut(first + bitmap.rank(*doc));
                for (sum, frequency) in row.iter_mut().zip(part.matches.row(at)) {
                    *sum += frequency;
                }
            }
        }
    }
}

impl Bitmap {
    fn new(from: DocId) -> Bitmap {
        Bitmap {
            from,
            words: [0; RANGE / 64],
            before: [0; RANGE / 64],
        }
    }

    fn set_all(&mut self, docs: &[DocId]) {
        for doc in docs {
            let at = (doc - self.from) as usize;
            self.words[at / 64] |= 1 << (at % 64);
        }
    }

    fn count(&mut self) {
        let mut sum = 0;
        for (word, before) in self.words.iter().zip(&mut self.before) {
            *before = sum;
            sum += word.count_ones();
        }
    }

    /// How many documents are before `doc`.
    fn rank(&self, doc: DocId) -> usize {
        let at = (doc - self.from) as usize;
        let below = self.words[at / 64] & ((1 << (at % 64)) - 1);
        (self.before[at / 64] + below.count_ones()) as usize
    }

    fn docs(&self) -> impl Iterator<Item = DocId> {
        let words = self.words.iter().enumerate();
        words.flat_map(|(at, word)| {
            let first = self.from + (at * 64) as DocId;
            ones(*word).map(move |bit| first + bit)
        })
    }
}

/// The places of the ones in a word, ascending.
fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}
