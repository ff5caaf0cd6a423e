//! The documents of several clauses in one range of documents, found clause by clause.
//!
//! Each clause gives all it has in the range in one go, so that its loop calls no other through a
//! table; a bitmap over the range then puts the documents in order. Ranges are long where the lists
//! are sparse, and begin where a clause has a document. A clause that is not essential in a range
//! by the bounds of its blocks is only asked for the documents that the others have there. Where
//! all documents are counted, nothing is skipped. Scores are then added up in a table first (see
//! `sums`), and only documents whose sums are enough are put in order. Source of the idea: windows
//! of documents scored clause by clause into an array, with an essential part in each, as in
//! Lucene's bulk scorers (Grand et al.).

use super::pruning::{KnownScore, Pruning};
use super::root::Clause;
use super::sums::{SumScorer, UnionSums};
use super::windows::Window;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::search::matching::matcher::{Role, for_all};
use crate::search::matching::matches::{DocRange, Filtering, Matches};
use crate::search::scoring::formula::{Formula, LeafId};

/// Documents of a range at most.
const RANGE: usize = 1 << 17;

/// Postings of each clause in a range, about: those of a block, so that its bounds are close.
pub(super) const POSTINGS: usize = 128;

/// Words of a bitmap.
const WORDS: usize = RANGE / 64;

/// A range being worked on.
#[derive(Default)]
pub(super) struct UnionRange {
    is_counted: bool,
    /// Bytes that what is found in a range may take.
    bytes_max: usize,
    from: DocId,
    to: DocId,
    parts: Vec<ClausePart>,
    /// The clauses of the range, as many of `parts` as there are; none between ranges.
    active: usize,
    judged: bool,
    /// Set once the documents of the range were given out.
    given: bool,
    /// Made when the first range needs them: many queries have one clause.
    bitmap: Option<Box<Bitmap>>,
    sums: UnionSums,
}

/// The matches of one clause so far.
#[derive(Default)]
struct ClausePart {
    clause: usize,
    /// About how many documents it has in all.
    cost: u64,
    /// The upper bound of its score in the range.
    bound: f64,
    /// Set if it is only asked for the documents that others found.
    is_asked: bool,
    next: DocId,
    matches: Matches,
    filtering: Filtering,
    /// The places of those that can enter.
    kept: Vec<u32>,
}

/// The documents of a range, one bit each.
struct Bitmap {
    words: [u64; WORDS],
    /// Documents before each word that is not 0.
    before: [u32; WORDS],
    /// One bit for each word that is not 0.
    marks: [u64; WORDS / 64],
}

impl UnionRange {
    /// Returns true between ranges.
    pub(super) fn is_idle(&self) -> bool {
        self.active == 0
    }

    /// Returns true if [`UnionRange::judge`] did its work for the range.
    pub(super) fn is_judged(&self) -> bool {
        self.judged
    }

    /// A union of which all documents are counted, or not, that finds no more at once than fits
    /// into so many bytes.
    pub(super) fn new(is_counted: bool, bytes_max: usize) -> UnionRange {
        UnionRange {
            is_counted,
            bytes_max,
            ..UnionRange::default()
        }
    }

    /// Begins the union at the start of `range`. It ends with it or before: where the window's
    /// essential clauses have about a block of postings each, and not more than `most` together, of
    /// `below` documents.
    pub(super) fn begin(
        &mut self,
        clauses: &[Clause],
        window: &Window,
        range: DocRange,
        most: usize,
        below: DocId,
    ) {
        let (from, last) = (range.first, range.last);
        let mut cost = 1;
        for clause in (0..clauses.len()).filter(|clause| window.essential[*clause]) {
            if self.active == self.parts.len() {
                self.parts.push(ClausePart::default());
            }
            let part = &mut self.parts[self.active];
            (part.clause, part.next) = (clause, from);
            (part.bound, part.is_asked) = (window.bounds[clause], false);
            part.filtering = Filtering::default();
            part.matches.begin(clauses[clause].leaves.clone());
            part.cost = clauses[clause].matcher.cost();
            cost += part.cost;
            self.active += 1;
        }
        self.let_go();
        let last = if self.is_counted {
            last.min(from.saturating_add(UnionSums::RANGE as DocId - 1))
        } else {
            last
        };
        let to = self.range_end(from, last, most, cost, below);
        (self.from, self.to) = (from, self.as_far_as_it_fits(from, to));
    }

    /// Returns the end of a range in which the clauses have about a block of postings each, and
    /// together no more documents than `most`.
    fn range_end(&self, from: DocId, last: DocId, most: usize, cost: u64, below: DocId) -> DocId {
        let postings = self.active * POSTINGS;
        let to = stretch(from, last, postings.min(most), cost, below);
        if postings <= most {
            return to;
        }
        // A range has no more documents than it is long. Shorter ones would make a query of many
        // words go through all of its clauses every few documents.
        let length = most.clamp(1, RANGE) as DocId;
        to.max(last.min(from.saturating_add(length - 1)))
    }

    /// Lets go of buffers that parts of earlier ranges have left, where they are large.
    fn let_go(&mut self) {
        let held = self.parts.iter().map(|part| part.matches.capacity_bytes());
        if held.sum::<usize>() > self.bytes_max {
            let parts = self.parts.iter_mut();
            parts.for_each(|part| part.matches.shrink());
        }
    }

    /// The end of a range from `from` to `to` or before, in which what is found fits into memory
    /// even if all lists have their documents there.
    fn as_far_as_it_fits(&self, from: DocId, to: DocId) -> DocId {
        let mut length = u64::from(to - from) + 1;
        while length > 1 && self.bytes_of(length) > self.bytes_max as u64 {
            length /= 2;
        }
        from + (length - 1) as DocId
    }

    /// Bytes that a range of so many documents takes at most.
    fn bytes_of(&self, length: u64) -> u64 {
        let (mut postings, mut bytes, mut leaves) = (0, 0, 0);
        for part in &self.parts[..self.active] {
            let own = part.matches.leaves().len();
            let found = part.cost.min(length);
            bytes += found * (size_of::<u32>() + Matches::bytes_per_document(own)) as u64;
            (postings, leaves) = (postings + found, leaves + own);
        }
        bytes + postings.min(length) * Matches::bytes_per_document(leaves) as u64
    }

    /// Bytes that a union of so many clauses takes beside what it finds.
    pub(super) fn bytes_beside(is_counted: bool, clauses: usize) -> usize {
        let sums = if is_counted { UnionSums::BYTES } else { 0 };
        match clauses {
            0 | 1 => 0,
            _ => size_of::<Bitmap>() + sums + clauses * 2 * size_of::<ClausePart>(),
        }
    }

    /// Finds clauses that cannot lift a document of the range over the threshold together with
    /// `rest`, by the bounds of blocks: these need not find documents in it. Tells whether there
    /// are any. Called again after a stop.
    pub(super) fn judge(
        &mut self,
        clauses: &mut [Clause],
        rest: KnownScore,
        pruning: Pruning,
        scores: &mut [f32],
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let range = DocRange {
            first: self.from,
            last: self.to,
        };
        let parts = &mut self.parts[..self.active];
        for_all(parts.iter_mut(), |part| {
            let Clause {
                matcher, formula, ..
            } = &mut clauses[part.clause];
            if matcher.bound_near(range, true, pages, scores)? {
                part.bound = formula.value(scores) as f64;
            }
            Ok(())
        })?;
        parts.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound));
        let mut known = rest;
        for part in parts.iter_mut() {
            known.add(part.bound);
            part.is_asked = pruning.excludes(known);
            if !part.is_asked {
                break;
            }
        }
        self.judged = true;
        Ok(parts.iter().any(|part| part.is_asked))
    }

    /// Adds the documents of the range to `out`, which is empty, but for those that cannot enter by
    /// their sums where all are counted. Tells how many these are. Called again after a stop.
    pub(super) fn gather(
        &mut self,
        clauses: &mut [Clause],
        out: &mut Matches,
        scorer: Option<SumScorer<'_>>,
        pages: &mut Pages<'_>,
    ) -> Step<usize> {
        if self.given {
            return Ok(0);
        }
        let to = self.to;
        let parts = &mut self.parts[..self.active];
        for_all(parts.iter_mut().filter(|part| !part.is_asked), |part| {
            let clause = &mut clauses[part.clause];
            clause.skip_below(-1.0);
            while part.next <= to {
                let rest = DocRange {
                    first: part.next,
                    last: to,
                };
                let out = &mut part.matches;
                part.next = clause.matcher.gather(rest, usize::MAX, out, pages)?;
            }
            Ok(())
        })?;
        self.given = true;
        let mut finders = parts.iter_mut().filter(|part| !part.is_asked);
        if let (Some(only), None) = (finders.next(), finders.next()) {
            out.append(&only.matches, 0..only.matches.len());
            only.matches.clear();
            return Ok(0);
        }
        let scorer = scorer.filter(|_| self.is_counted);
        let found = scorer.and_then(|scorer| self.keep_best(clauses, scorer, pages));
        self.give(out);
        Ok(found.map_or(0, |found| found - out.len()))
    }

    /// The clauses that were not asked yet for the documents found, and their bounds.
    pub(super) fn to_be_asked(&self) -> impl Iterator<Item = (usize, f64)> {
        let parts = self.parts[..self.active].iter();
        parts
            .filter(|part| part.is_asked)
            .map(|part| (part.clause, part.bound))
    }

    /// Upper bounds of clauses in the range, as far as they are closer than those of the window.
    pub(super) fn bounds(&self) -> impl Iterator<Item = (usize, f64)> {
        let parts = self.parts[..self.active].iter();
        parts.map(|part| (part.clause, part.bound))
    }

    /// Asks these clauses. Called again after a stop.
    pub(super) fn ask(
        &mut self,
        clauses: &mut [Clause],
        found: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let parts = self.parts[..self.active].iter_mut();
        for_all(parts.filter(|part| part.is_asked), |part| {
            let matcher = &mut clauses[part.clause].matcher;
            matcher.filter(Role::Optional, found, &mut part.filtering, pages)
        })
    }

    /// Ends the range, and gives the next document that any of its clauses may have.
    pub(super) fn end(&mut self, clauses: &[Clause]) -> DocId {
        // What was only asked may stand anywhere.
        let stands = |part: &ClausePart| {
            if part.is_asked {
                0
            } else {
                clauses[part.clause].matcher.doc()
            }
        };
        let next = self.parts[..self.active].iter().map(stands).min();
        let next = next.unwrap_or(0).max(self.to.saturating_add(1));
        (self.active, self.judged, self.given) = (0, false, false);
        next
    }

    /// Drops documents that cannot enter by the sums of their scores. Tells how many there were;
    /// nothing if the sums cannot be told.
    fn keep_best(
        &mut self,
        clauses: &[Clause],
        mut scorer: SumScorer<'_>,
        pages: &mut Pages<'_>,
    ) -> Option<usize> {
        let least = scorer.least()?;
        let (sums, parts) = (&mut self.sums, &mut self.parts[..self.active]);
        sums.begin((self.to - self.from) as usize + 1);
        let mut found = Some(0);
        for part in parts.iter() {
            let added = leaf_of(clauses, part.clause).and_then(|leaf| {
                let (docs, frequencies) = (part.matches.docs(), part.matches.column(leaf));
                sums.add(leaf, docs, frequencies, &mut scorer, pages)
            });
            found = found.zip(added).map(|(found, added)| found + added);
        }
        if found.is_some() {
            for part in parts.iter_mut() {
                sums.above(part.matches.docs(), least, &mut part.kept);
            }
        }
        for part in parts.iter_mut() {
            sums.clear(part.matches.docs());
            if found.is_some() {
                part.matches.keep(&part.kept);
            }
        }
        found
    }

    fn give(&mut self, out: &mut Matches) {
        let parts = &mut self.parts[..self.active];
        let bitmap = self.bitmap.get_or_insert_default();
        for part in parts.iter() {
            bitmap.set_all(self.from, part.matches.docs());
        }
        out.extend_blank(|docs| bitmap.give(self.from, docs));
        for part in parts {
            for leaf in part.matches.leaves() {
                let found = part.matches.docs().iter().zip(part.matches.column(leaf));
                let column = out.column_mut(leaf);
                for (doc, frequency) in found {
                    column[bitmap.rank(doc - self.from)] = *frequency;
                }
            }
            part.matches.clear();
        }
        bitmap.clear();
    }
}

/// The leaf that a clause is, if it is one.
fn leaf_of(clauses: &[Clause], clause: usize) -> Option<LeafId> {
    match clauses[clause].formula {
        Formula::Leaf(leaf) => Some(leaf),
        _ => None,
    }
}

/// The end of a stretch from `from` on, at `last` or before: so long that of `cost` postings in
/// `below` documents about `postings` fall into it.
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

    /// Counts the documents before the one at `at`.
    fn rank(&self, at: DocId) -> usize {
        let at = at as usize % RANGE;
        let below = self.words[at / 64] & ((1 << (at % 64)) - 1);
        (self.before[at / 64] + below.count_ones()) as usize
    }

    /// Gives out the documents in order, and counts them for [`Bitmap::rank`].
    fn give(&mut self, from: DocId, out: &mut Vec<DocId>) {
        let first = out.len();
        for (at, mark) in self.marks.iter().enumerate() {
            for bit in Ones(*mark) {
                let at = at * 64 + bit as usize;
                self.before[at] = (out.len() - first) as u32;
                let base = from + (at * 64) as DocId;
                for bit in Ones(self.words[at]) {
                    out.push(base + bit);
                }
            }
        }
    }

    fn clear(&mut self) {
        for (at, mark) in self.marks.iter_mut().enumerate() {
            for bit in Ones(std::mem::take(mark)) {
                self.words[at * 64 + bit as usize] = 0;
            }
        }
    }
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
}
