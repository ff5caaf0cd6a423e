//! The documents of several clauses in one range of documents, found clause by clause.
//!
//! Each clause gives all it has in the range in one go, so that its loop calls no other through a table; a
//! bitmap over the range then puts the documents in order. Ranges are long where the lists are sparse, and
//! begin where a clause has a document. A clause that is not essential in a range by the bounds of its blocks is
//! only asked for the documents that the others have there. Source of the idea: windows of documents scored
//! clause by clause, with an essential part in each, as in Lucene's bulk scorers (Grand et al.).

use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::matcher::{Filtering, Role, for_all};
use crate::search::matches::Matches;
use crate::search::windows::{Clause, Known, Pruning, Window};

/// Documents of a range at most.
const RANGE: usize = 32768;

/// Postings of each clause in a range, about: those of a block, so that its bounds are close.
pub(super) const POSTINGS: usize = 128;

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
    judged: bool,
    /// Where the documents of the range begin among the candidates, once they are there.
    given: Option<usize>,
    /// Made when the first range needs it: many queries have one clause.
    bitmap: Option<Box<Bitmap>>,
}

/// What one clause has given so far.
#[derive(Default)]
struct Part {
    clause: usize,
    /// What its score in the range may be at most.
    bound: f64,
    /// Whether it is only asked for the documents that others found.
    is_asked: bool,
    next: DocId,
    matches: Matches,
    filtering: Filtering,
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

    /// Whether [`Union::judge`] did its work for the range.
    pub(super) fn is_judged(&self) -> bool {
        self.judged
    }

    /// Begins a range at `from` that ends at `last` or before: where the window's essential clauses have about a
    /// block of postings each, and not more than `most` together, of `below` documents.
    pub(super) fn begin(
        &mut self,
        clauses: &[Clause],
        window: &Window,
        (from, last): (DocId, DocId),
        most: usize,
        below: DocId,
    ) {
        let mut cost = 1;
        for clause in (0..clauses.len()).filter(|clause| window.essential[*clause]) {
            if self.active == self.parts.len() {
                self.parts.push(Part::default());
            }
            let part = &mut self.parts[self.active];
            (part.clause, part.next) = (clause, from);
            (part.bound, part.is_asked) = (window.bounds[clause], false);
            part.matches.begin(clauses[clause].formula.leaves());
            self.active += 1;
            cost += clauses[clause].matcher.cost();
        }
        let postings = (self.active * POSTINGS).min(most);
        (self.from, self.to) = (from, stretch(from, last, postings, cost, below));
    }

    /// Finds clauses that cannot lift a document of the range over the threshold together with `rest`, by the
    /// bounds of blocks: these need not find documents in it. Tells whether there is any. Called again after a stop.
    pub(super) fn judge(
        &mut self,
        clauses: &mut [Clause],
        mut rest: Known,
        pruning: Pruning<'_>,
        scores: &mut [f32],
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let (from, to) = (self.from, self.to);
        let parts = &mut self.parts[..self.active];
        for_all(parts.iter_mut(), |part| {
            let Clause { matcher, formula } = &mut clauses[part.clause];
            if matcher.bound_near((from, to), true, pages, scores)? {
                part.bound = formula.value(scores) as f64;
            }
            Ok(())
        })?;
        parts.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound));
        for part in parts.iter_mut() {
            rest.add(part.bound);
            part.is_asked = pruning.excludes(rest);
            if !part.is_asked {
                break;
            }
        }
        self.judged = true;
        Ok(self.parts[..self.active].iter().any(|part| part.is_asked))
    }

    /// Adds the documents of the range to `out`, and gives the next that any of its clauses may have. Called
    /// again after a stop.
    pub(super) fn gather(
        &mut self,
        clauses: &mut [Clause],
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let to = self.to;
        let parts = &mut self.parts[..self.active];
        for_all(parts.iter_mut().filter(|part| !part.is_asked), |part| {
            let matcher = &mut clauses[part.clause].matcher;
            matcher.skip_below(-1.0);
            while part.next <= to {
                part.next = matcher.gather(part.next, to, usize::MAX, &mut part.matches, pages)?;
            }
            Ok(())
        })?;
        if self.given.is_none() {
            self.given = Some(out.len());
            self.give(out);
        }
        let parts = &mut self.parts[..self.active];
        for_all(parts.iter_mut().filter(|part| part.is_asked), |part| {
            let matcher = &mut clauses[part.clause].matcher;
            matcher.filter(Role::Optional, out, &mut part.filtering, pages)
        })?;
        // What was only asked may stand anywhere.
        let stands = |part: &Part| match part.is_asked {
            true => 0,
            false => clauses[part.clause].matcher.doc(),
        };
        let next = parts.iter().map(stands).min().unwrap_or(0);
        let next = next.max(to.saturating_add(1));
        (self.active, self.judged, self.given) = (0, false, None);
        Ok(next)
    }

    fn give(&mut self, out: &mut Matches) {
        let parts = &mut self.parts[..self.active];
        let bitmap = self.bitmap.get_or_insert_default();
        for part in parts.iter() {
            bitmap.set_all(self.from, part.matches.docs());
        }
        let first = out.len();
        out.extend_blank(|docs| bitmap.give(self.from, docs));
        for part in parts {
            part.filtering = Filtering {
                kept: first,
                checked: first,
            };
            for leaf in part.matches.leaves() {
                let found = part.matches.docs().iter().zip(part.matches.column(leaf));
                let column = &mut out.column_mut(leaf)[first..];
                for (doc, frequency) in found {
                    column[bitmap.rank(doc - self.from)] = *frequency;
                }
            }
            part.matches.clear();
        }
        bitmap.clear();
    }
}

/// The end of a stretch from `from` on, at `last` or before: so long that of `cost` postings in `below` documents
/// about `postings` fall into it.
pub(super) fn stretch(from: DocId, last: DocId, postings: usize, cost: u64, below: DocId) -> DocId {
    let length = below as u64 * postings as u64 / cost.max(1);
    let length = length.clamp(1, RANGE as u64) as DocId;
    last.min(from.saturating_add(length - 1))
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

    /// Gives out the documents in order, and counts them for [`Bitmap::rank`].
    fn give(&mut self, from: DocId, out: &mut Vec<DocId>) {
        let first = out.len();
        for at in set_words(&self.marks) {
            self.before[at] = (out.len() - first) as u32;
            let base = from + (at * 64) as DocId;
            out.extend(Ones(self.words[at]).map(|bit| base + bit));
        }
    }

    fn clear(&mut self) {
        set_words(&self.marks).for_each(|at| self.words[at] = 0);
        self.marks.fill(0);
    }
}

/// The words that are marked, ascending.
fn set_words(marks: &[u64]) -> impl Iterator<Item = usize> {
    let marks = marks.iter().enumerate();
    marks.flat_map(|(at, mark)| Ones(*mark).map(move |bit| at * 64 + bit as usize))
}

/// The places of the ones in a word, ascending.
struct Ones(u64);

impl Iterator for Ones {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(bit)
    }

    /// Exactly, so that a vector makes room once.
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}
