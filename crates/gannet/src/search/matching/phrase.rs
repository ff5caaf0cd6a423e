//! Documents in which words stand side by side, or nearly so.
//!
//! It is found in two phases, as Lucene does. The conjunction of the words is the approximation.
//! [`PhraseCheck`] verifies what passes it: it reads positions, those of many candidates in one
//! batch, by cursors of its own that never touch other documents. [`PhraseMatcher`] does both.
//! The ranking may do the second itself, only for what can come among the best: the rarest word,
//! or its tokens that the phrase filter lets pass, are the most that an exact phrase can occur.
//!
//! If a word's phrase filter names a commoner neighbour exactly, the filter is asked at each of the
//! word's tokens, and the neighbour's list is not read at all.
//!
//! Of a long phrase only the rarest words give candidates; that a document has the others shows
//! when their positions are read.
//!
//! Invariants:
//! 1. What is left in `ahead` has the words that give candidates and was not yet checked.
//! 2. `frequency` is that of the phrase in `doc`.

use super::ahead::{Ahead, Batch};
use super::any_word::AnyWord;
use super::matcher::{Matcher, PagePrefetch, ScoreBounds, for_all};
use super::matches::DocRange;
use super::positions::{Occurrences, PhraseTerm};
use super::tokens::TokenRoom;
use crate::base::{Budget, DocId, END, Result};
use crate::cache::{Pages, Step, Stop};
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
    /// The index of its word among the distinct words.
    pub word: usize,
    /// Its fingerprint in the filters of others; 0 if none is asked.
    pub fingerprint: u16,
    /// The neighbours that its filter proves at each of its tokens, in place of their own
    /// positions.
    pub proves: Neighbours,
    /// Its list.
    pub list: &'a TermList,
}

/// The last word of a phrase where it may be any of several terms.
pub struct LastWord<'a> {
    /// Its place in the phrase.
    pub place: u32,
    /// The lists of the terms, at least one.
    pub lists: Vec<&'a TermList>,
}

/// Tells whether a candidate has a phrase, and how often.
pub struct PhraseCheck {
    terms: Vec<PhraseTerm>,
    /// The last word, where it may be any of several terms.
    last: Option<AnyWord>,
    /// The lists of the distinct words, for their positions between the neighbours that they have
    /// to prove.
    cursors: Vec<(TermCursor, Neighbours)>,
    /// The positions of the distinct words in the document that is checked.
    positions: Vec<Vec<u32>>,
    room: TokenRoom,
    slop: u32,
    scored: Option<(LeafId, Leaf)>,
}

impl PhraseCheck {
    /// The phrase in which `words` (at least one) and any term of `last` stand within `slop`, each
    /// word between the neighbours that it proves. Positions take their memory from `budget`.
    pub fn new(
        words: &[PhraseWord<'_>],
        last: Option<&LastWord<'_>>,
        slop: u32,
        scored: Option<(LeafId, Leaf)>,
        budget: &Budget,
    ) -> Result<PhraseCheck> {
        let mut distinct: Vec<&PhraseWord<'_>> = words.iter().collect();
        distinct.sort_by_key(|word| word.word);
        distinct.dedup_by_key(|word| word.word);
        let terms = words.iter().map(|word| PhraseTerm {
            place: word.place,
            word: distinct.partition_point(|other| other.word < word.word),
        });
        let any = last.map(|last| PhraseTerm {
            place: last.place,
            word: distinct.len(),
        });
        let count = distinct.len() + usize::from(last.is_some());
        let cursors = distinct
            .iter()
            .map(|word| (word.list.cursor(), word.proves));
        Ok(PhraseCheck {
            terms: terms.chain(any).collect(),
            last: last.map(|last| AnyWord::new(last.lists.iter().copied())),
            positions: vec![Vec::new(); count],
            room: TokenRoom::new(count, budget)?,
            cursors: cursors.collect(),
            slop,
            scored,
        })
    }

    /// Returns true if the frequency of the approximation bounds that of the phrase. One with slop
    /// may pair a word with two others.
    pub fn is_bounded(&self) -> bool {
        self.slop == 0
    }

    /// The frequency of the phrase in a candidate.
    pub fn frequency(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<f32> {
        if !self.may_end(doc, pages)? {
            return Ok(0.0);
        }
        let each = self.cursors.iter_mut().zip(&mut self.positions);
        let mut has_all = true;
        let read = for_all(each.enumerate(), |(word, ((cursor, proves), positions))| {
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
        });
        read.and(self.read_last(doc, pages))?;
        if !has_all {
            return Ok(0.0);
        }
        let phrase = Occurrences {
            terms: &self.terms,
            positions: &self.positions,
            overlap: self.last.is_some(),
        };
        Ok(phrase.frequency(self.slop, pages.steps())?)
    }

    /// Reports whether a candidate has any term that the last word may be.
    fn may_end(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        let last = self.last.as_mut();
        last.map_or(Ok(true), |last| last.is_in(doc, pages))
    }

    /// Reads where the last word is in a candidate that has it, if it may be any of several terms.
    fn read_last(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<()> {
        let word = self.cursors.len();
        match &mut self.last {
            None => Ok(()),
            Some(last) => {
                let positions = &mut self.positions[word];
                last.positions(doc, &mut self.room, word, pages, positions)
            }
        }
    }

    /// Notes the pages that tell where the words stand in these documents.
    pub fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        let words = for_all(&mut self.cursors, |(cursor, proves)| {
            let positions = cursor.prefetch_positions(docs, pages);
            if let Err(error @ Stop::Failed(_)) = positions {
                return Err(error);
            }
            if *proves != Neighbours::default() {
                cursor.prefetch_filters_of(docs, *proves, pages)?;
            }
            positions
        });
        let last = self.last.as_mut();
        words.and(last.map_or(Ok(()), |last| last.prefetch(docs, pages)))
    }
}

/// Matches the documents that have a phrase.
pub struct PhraseMatcher {
    approximation: Box<dyn Matcher>,
    check: PhraseCheck,
    ahead: Ahead,
    doc: DocId,
    frequency: f32,
}

impl PhraseMatcher {
    /// Matches the documents of `approximation` that pass `check`.
    pub fn new(approximation: Box<dyn Matcher>, check: PhraseCheck) -> PhraseMatcher {
        PhraseMatcher {
            approximation,
            check,
            ahead: Ahead::new(0, BATCH),
            doc: 0,
            frequency: 0.0,
        }
    }

    /// The frequency of the phrase in a candidate. Notes the pages of all candidates that are left
    /// if it is not at hand.
    fn check_ahead(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<f32> {
        let checked = self.check.frequency(doc, pages);
        if let Err(Stop::Pages) = checked {
            self.check.prefetch(self.ahead.rest(), pages)?;
            self.ahead.waited();
        }
        checked
    }
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
                let source = self.approximation.as_mut();
                let behind = DocRange {
                    first: target,
                    last: END - 1,
                };
                self.ahead.gather(source, behind, pages)?;
            }
        }
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        if let Some((leaf, _)) = &self.check.scored {
            frequencies[*leaf] = self.frequency;
        }
    }

    fn buffer_bytes(&self) -> usize {
        self.approximation.buffer_bytes() + self.ahead.buffer_bytes(0)
    }

    fn cost(&self) -> u64 {
        self.approximation.cost()
    }
}

impl ScoreBounds for PhraseMatcher {
    fn page_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        self.approximation.page_end(target, pages)
    }

    fn bound_within(
        &mut self,
        range: DocRange,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        match &self.check.scored {
            Some((leaf, how)) if !self.check.is_bounded() => scores[*leaf] = how.most(),
            _ => self.approximation.bound_within(range, pages, scores)?,
        }
        Ok(())
    }
}

impl PagePrefetch for PhraseMatcher {
    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        self.approximation.open(whole, pages)
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.approximation.prefetch(docs, pages)
    }

    fn prefetch_within(&mut self, range: DocRange, pages: &mut Pages<'_>) -> Step<()> {
        self.approximation.prefetch_within(range, pages)
    }

    fn docs_pages(&self) -> u64 {
        self.approximation.docs_pages()
    }
}
