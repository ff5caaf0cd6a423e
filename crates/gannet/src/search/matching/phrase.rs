//! Documents in which words stand side by side, or nearly so.
//!
//! The conjunction of the words comes first. Positions are read only for documents that pass it,
//! those of many candidates in one batch, by cursors of their own that never touch other documents.
//! The ranking may take what passes it as an approximation and confirm only what can come among the
//! best: the rarest word, or its tokens that the phrase filter lets pass, are the most that an
//! exact phrase can occur.
//!
//! Where a word's phrase filter names a commoner neighbour exactly, the filter is asked at each of
//! the word's tokens, and the neighbour's list is not read at all.
//!
//! Of a long phrase only the rarest words give candidates; that a document has the others shows
//! when their positions are read.
//!
//! Invariants:
//! 1. What is left in `ahead` has the words that give candidates and was not yet checked.
//! 2. `frequency` is that of the phrase in `doc`.

use super::ahead::{Ahead, Batch};
use super::conjunction::Conjunction;
use super::matcher::{Matcher, for_all, gather};
use super::matches::Matches;
use super::positions::{Occurrences, PhraseTerm};
use super::scored::best_within;
use super::tokens::TokenRoom;
use crate::base::{Budget, DocId, END, Result};
use crate::cache::{Pages, Step, Stop};
use crate::documents::NormCursor;
use crate::postings::{Neighbours, TermCursor, TermList};
use crate::search::scoring::formula::{Leaf, LeafId};

/// Candidates whose positions are asked for at once.
const BATCH: Batch = Batch {
    first: 256,
    growth: 16,
    most: 16_384,
};

/// One word of a phrase.
#[derive(Clone, Copy)]
pub struct PhraseWord<'a> {
    /// Its place in the phrase.
    pub place: u32,
    /// Which of the distinct words it is.
    pub word: usize,
    /// What stands for it in the filters of others; 0 if none is asked.
    pub fingerprint: u16,
    /// The neighbours that its filter proves at each of its tokens, in place of their own
    /// positions.
    pub proves: Neighbours,
    /// Its list.
    pub list: &'a TermList,
}

/// Matches the documents that have a phrase.
pub struct PhraseMatcher {
    candidates: Conjunction,
    /// Whether the candidates are given out as they are.
    approximate: bool,
    terms: Vec<PhraseTerm>,
    /// The lists of the distinct words, for their positions between the neighbours that they have
    /// to prove.
    cursors: Vec<(TermCursor, Neighbours)>,
    heads: TermCursor,
    /// The positions of the distinct words in the document that is checked.
    positions: Vec<Vec<u32>>,
    room: TokenRoom,
    slop: u32,
    scored: Option<(LeafId, Leaf)>,
    ahead: Ahead,
    doc: DocId,
    frequency: f32,
}

impl PhraseMatcher {
    /// The documents in which `words` (at least one) stand within `slop`, each between the
    /// neighbours that it proves; `candidates` gives those that have the rarest of them. Positions
    /// take their memory from `budget`.
    pub fn new(
        words: &[PhraseWord<'_>],
        candidates: Conjunction,
        slop: u32,
        scored: Option<(LeafId, Leaf)>,
        budget: &Budget,
    ) -> Result<Option<PhraseMatcher>> {
        let mut distinct: Vec<&PhraseWord<'_>> = words.iter().collect();
        distinct.sort_by_key(|word| word.word);
        distinct.dedup_by_key(|word| word.word);
        let by_documents = |word: &&&PhraseWord<'_>| word.list.document_frequency();
        let Some(rarest) = distinct.iter().min_by_key(by_documents) else {
            return Ok(None);
        };
        let terms = words.iter().map(|word| PhraseTerm {
            place: word.place,
            word: distinct.partition_point(|other| other.word < word.word),
        });
        let cursors = distinct
            .iter()
            .map(|word| (word.list.cursor(), word.proves));
        Ok(Some(PhraseMatcher {
            candidates,
            approximate: false,
            terms: terms.collect(),
            heads: rarest.list.cursor(),
            positions: vec![Vec::new(); distinct.len()],
            room: TokenRoom::new(distinct.len(), budget)?,
            cursors: cursors.collect(),
            slop,
            scored,
            ahead: Ahead::new(0, BATCH),
            doc: 0,
            frequency: 0.0,
        }))
    }

    /// The frequency of the phrase in a candidate.
    fn check(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<f32> {
        let each = self.cursors.iter_mut().zip(&mut self.positions);
        let mut has_all = true;
        for_all(each.enumerate(), |(word, ((cursor, proves), positions))| {
            if cursor.advance(doc, pages)? != doc {
                has_all = false;
                return Ok(());
            }
            let mut tokens = cursor.frequency() as usize;
            if *proves != Neighbours::default() {
                tokens = tokens.max(cursor.tokens_to_look_at());
            }
            self.room.reserve(word, tokens)?;
            pages.count_steps(tokens)?;
            cursor.positions_between(*proves, pages, positions)
        })?;
        if !has_all {
            return Ok(0.0);
        }
        let phrase = Occurrences {
            terms: &self.terms,
            positions: &self.positions,
        };
        Ok(phrase.frequency(self.slop, pages.steps())?)
    }

    /// The same; notes the pages of all candidates that are left if there is none at hand.
    fn check_ahead(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<f32> {
        let checked = self.check(doc, pages);
        if let Err(Stop::Pages) = checked {
            prefetch_tokens(&mut self.cursors, self.ahead.rest(), pages)?;
            self.ahead.waited();
        }
        checked
    }
}

/// Notes the pages that tell where the words of a phrase stand in these documents.
fn prefetch_tokens(
    cursors: &mut [(TermCursor, Neighbours)],
    docs: &[DocId],
    pages: &mut Pages<'_>,
) -> Step<()> {
    for_all(cursors, |(cursor, proves)| {
        let positions = cursor.prefetch_positions(docs, pages);
        if let Err(error @ Stop::Failed(_)) = positions {
            return Err(error);
        }
        if *proves != Neighbours::default() {
            cursor.prefetch_filters_of(docs, *proves, pages)?;
        }
        positions
    })
}

impl Matcher for PhraseMatcher {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        if self.frequency > 0.0 && self.doc >= target {
            return Ok(self.doc);
        }
        loop {
            if let Some(doc) = self.ahead.skip_to(target) {
                let frequency = self.check_ahead(doc, pages)?;
                self.ahead.pass(1);
                if frequency > 0.0 {
                    (self.doc, self.frequency) = (doc, frequency);
                    return Ok(doc);
                }
            } else if self.ahead.is_last() {
                self.doc = END;
                return Ok(END);
            } else {
                self.ahead
                    .gather(&mut self.candidates, target, END - 1, pages)?;
            }
        }
    }

    fn be_approximate(&mut self) -> bool {
        self.approximate = self.slop == 0;
        self.approximate
    }

    fn leading_leaf(&self) -> Option<LeafId> {
        let leaf = self.scored.as_ref().map(|(leaf, _)| *leaf);
        leaf.filter(|_| self.approximate)
    }

    /// By how often its rarest word occurs.
    fn skip_below(&mut self, floor: f32) -> bool {
        self.approximate && self.candidates.skip_below(floor)
    }

    fn prefilter(&mut self, norms: NormCursor) {
        self.candidates.prefilter(norms);
    }

    fn gather(
        &mut self,
        from: DocId,
        to: DocId,
        limit: usize,
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        match self.approximate {
            true => self.candidates.gather(from, to, limit, out, pages),
            false => gather(self, from, to, limit, out, pages),
        }
    }

    fn begin_confirming(&mut self) {
        self.cursors
            .iter_mut()
            .for_each(|(cursor, _)| cursor.rewind());
    }

    fn confirm(&mut self, doc: DocId, row: &mut [f32], pages: &mut Pages<'_>) -> Step<()> {
        self.frequency = self.check(doc, pages)?;
        self.collect(row);
        Ok(())
    }

    fn prefetch_confirming(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        prefetch_tokens(&mut self.cursors, docs, pages)
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        if let Some((leaf, _)) = &self.scored {
            frequencies[*leaf] = self.frequency;
        }
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.candidates.prefetch(docs, pages)
    }

    fn prefetch_within(&mut self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        self.candidates.prefetch_within(first, last, pages)
    }

    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        self.candidates.open(whole, pages)
    }

    fn docs_pages(&self) -> u64 {
        self.candidates.docs_pages()
    }

    fn bound(&mut self, target: DocId, pages: &mut Pages<'_>, scores: &mut [f32]) -> Step<DocId> {
        let last = self.heads.bound(target, pages)?.last;
        self.bound_within(target, last, pages, scores)?;
        Ok(last)
    }

    fn bound_within(
        &mut self,
        from: DocId,
        to: DocId,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        let Some((leaf, how)) = &self.scored else {
            return Ok(());
        };
        // An exact phrase occurs at most as often as the rarest of its words; one with slop may
        // pair a word with two others.
        scores[*leaf] = match self.slop {
            0 => best_within(&mut self.heads, how, from, to, pages)?,
            _ => how.most(),
        };
        Ok(())
    }

    fn buffer_bytes(&self) -> usize {
        self.candidates.buffer_bytes() + self.ahead.buffer_bytes(0)
    }

    fn cost(&self) -> u64 {
        self.candidates.cost()
    }
}
