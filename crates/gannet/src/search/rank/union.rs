//! The documents of several clauses in one range of documents, found clause by clause.
//!
//! Each clause gives all it has in the range in one go, so that its loop calls no other through a table; a
//! bitmap over the range then puts the documents in order. Ranges are long where the lists are sparse, and
//! begin where a clause has a document. Source of the idea: windows of documents scored clause by clause, as
//! in Lucene's bulk scorers (Grand et al.).

use std::ops::Range;

use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::formula::LeafId;
use crate::search::matcher::for_all;
use crate::search::matches::Matches;
use crate::search::windows::Clause;

/// Documents of a range at most.
const RANGE: usize = 8192;

/// Words of a bitmap.
const WORDS: usize = RANGE / 64;

/// A range being worked on.
#[derive(Default)]
pub(super) struct Union {
    from: DocId,
    to: DocId,
    parts: Vec<Part>,
    /// The clauses of the range, as many of `parts` as there are; none between ranges.
    active: usize,
    bitmap: Box<Bitmap>,
}

/// What one clause has given so far.
#[derive(Default)]
struct Part {
    clause: usize,
    next: DocId,
    matches: Matches,
}

/// Which documents of a range are in.
struct Bitmap {
    words: [u64; WORDS],
    /// Documents before each word that is not 0.
    before: [u32; WORDS],
    /// Which words are not 0.
    marks: [u64; WORDS / 64],
}

impl Union {
    /// Whether no range is being worked on.
    pub(super) fn is_idle(&self) -> bool {
        self.active == 0
    }

    /// Begins a range at `from` that ends at `last` or before: where the essential clauses have about so many
    /// postings that `room` is their number times that of all documents.
    pub(super) fn begin(
        &mut self,
        clauses: &[Clause],
        essential: &[bool],
        (from, last): (DocId, DocId),
        room: u64,
    ) {
        let mut postings = 1;
        for clause in (0..clauses.len()).filter(|clause| essential[*clause]) {
            if self.active == self.parts.len() {
                self.parts.push(Part::default());
            }
            let part = &mut self.parts[self.active];
            (part.clause, part.next) = (clause, from);
            self.active += 1;
            postings += clauses[clause].matcher.cost();
        }
        let length = (room / postings).clamp(1, RANGE as u64) as DocId;
        (self.from, self.to) = (from, last.min(from.saturating_add(length - 1)));
    }

    /// Adds the documents of the range to `out`, and gives the next that any of its clauses may have. Called
    /// again after a stop. `leaves` are those of each clause.
    pub(super) fn gather(
        &mut self,
        clauses: &mut [Clause],
        leaves: &[Range<LeafId>],
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let to = self.to;
        for_all(&mut self.parts[..self.active], |part| {
            part.matches.widen(out.width());
            let matcher = &mut clauses[part.clause].matcher;
            matcher.skip_below(-1.0);
            while part.next <= to {
                part.next = matcher.gather(part.next, to, usize::MAX, &mut part.matches, pages)?;
            }
            Ok(())
        })?;
        self.give(leaves, out);
        let parts = self.parts[..self.active].iter();
        let next = parts.map(|part| clauses[part.clause].matcher.doc()).min();
        self.active = 0;
        Ok(next.unwrap_or(0).max(to.saturating_add(1)))
    }

    fn give(&mut self, leaves: &[Range<LeafId>], out: &mut Matches) {
        let parts = &mut self.parts[..self.active];
        for part in parts.iter() {
            self.bitmap.set_all(self.from, part.matches.docs());
        }
        let first = out.len();
        out.extend_blank(self.bitmap.docs(self.from));
        for part in parts {
            let leaves = leaves[part.clause].clone();
            for (at, doc) in part.matches.docs().iter().enumerate() {
                let row = out.row_mut(first + self.bitmap.rank(doc - self.from));
                row[leaves.clone()].copy_from_slice(&part.matches.row(at)[leaves.clone()]);
            }
            part.matches.clear();
        }
        self.bitmap.clear();
    }
}

impl Default for Bitmap {
    fn default() -> Bitmap {
        Bitmap {
            words: [0; WORDS],
            before: [0; WORDS],
            marks: [0; WORDS / 64],
        }
    }
}

impl Bitmap {
    fn set_all(&mut self, from: DocId, docs: &[DocId]) {
        for doc in docs {
            let at = (doc - from) as usize % RANGE;
            self.words[at / 64] |= 1 << (at % 64);
            self.marks[at / 4096] |= 1 << (at / 64 % 64);
        }
    }

    /// How many documents are before the one at `at`.
    fn rank(&self, at: DocId) -> usize {
        let at = at as usize % RANGE;
        let below = self.words[at / 64] & ((1 << (at % 64)) - 1);
        (self.before[at / 64] + below.count_ones()) as usize
    }

    /// The documents in order, counted for [`Bitmap::rank`].
    fn docs(&mut self, from: DocId) -> impl Iterator<Item = DocId> {
        let (words, before) = (&self.words, &mut self.before);
        let marked = set_words(&self.marks);
        let mut count = 0;
        marked.flat_map(move |at| {
            before[at] = count;
            count += words[at].count_ones();
            let first = from + (at * 64) as DocId;
            ones(words[at]).map(move |bit| first + bit)
        })
    }

    fn clear(&mut self) {
        set_words(&self.marks).for_each(|at| self.words[at] = 0);
        self.marks.fill(0);
    }
}

/// The words that are marked, ascending.
fn set_words(marks: &[u64]) -> impl Iterator<Item = usize> {
    let marks = marks.iter().enumerate();
    marks.flat_map(|(at, mark)| ones(*mark).map(move |bit| at * 64 + bit as usize))
}

/// The places of the ones in a word, ascending.
fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}
