//! The run of a query over its words.

use super::bounds::{OthersAdd, PassBounds};
use super::list::WordList;
use super::pass::{FIRST, FIRSTS, Other, Pass, WordClause};
use super::survivors::Survivors;
use crate::analysis::FieldId;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
use crate::documents::{LiveCursor, NormCursor};
use crate::search::matching::matcher::{BLOCK_STEPS, Role};
use crate::search::matching::matches::DocRange;
use crate::search::scoring::term_scorer::TermScorer;
use crate::search::scoring::top::{Scored, Top, excludes, least_sum};

/// A query of plain words.
pub struct WordsRun {
    /// Its lists, in the order of the words in the query.
    lists: Vec<WordList>,
    /// The norms of each field.
    norms: Vec<NormCursor>,
    /// Tells live documents, unless all are.
    live: Option<LiveCursor>,
    passes: Vec<Pass>,
    /// The pass that goes on, and the first document that it did not look at.
    pass: usize,
    next: DocId,
    /// The documents that are looked at.
    range: DocRange,
    survivors: Survivors,
    /// The bounds of what the other words of the pass add in a block.
    bounds: PassBounds,
    /// The number of times that few documents were looked at, for a threshold.
    firsts: usize,
    /// The last document of the page of the leading list whose bound was looked at.
    page_end: Option<DocId>,
    found: WordsFound,
    /// The best documents before the range, how many were found there, and whether that is exact.
    before: (Vec<Scored>, u64, bool),
}

/// The best documents of a run, and how many matched.
pub struct WordsFound {
    /// The best documents.
    pub top: Top,
    /// The number of documents that were found to match.
    pub found: u64,
    /// Set if these are all.
    pub is_exact: bool,
}

impl WordsRun {
    /// Finds the best `k` documents of a range for a query of these clauses. `norms` gives those of
    /// a field.
    pub fn new(
        mut lists: Vec<WordList>,
        clauses: &[WordClause],
        norms: impl Fn(FieldId) -> NormCursor,
        live: Option<LiveCursor>,
        range: DocRange,
        k: usize,
    ) -> WordsRun {
        let frequency = |word: usize| lists[word].cursor.document_frequency();
        let passes = Pass::of(clauses, frequency);
        for (at, clause) in clauses.iter().enumerate() {
            let its = lists[clause.words.clone()].iter_mut();
            its.for_each(|list| list.clause = at);
        }
        // Those of words that only exclude are not needed.
        let mut fields: Vec<FieldId> = Vec::new();
        let scoring = clauses
            .iter()
            .filter(|clause| clause.role != Role::Excluded);
        for list in scoring.flat_map(|clause| clause.words.clone()) {
            let list = &mut lists[list];
            let at = fields.iter().position(|field| *field == list.field_id);
            list.field = at.unwrap_or(fields.len());
            if at.is_none() {
                fields.push(list.field_id);
            }
        }
        WordsRun {
            survivors: Survivors::new(lists.len(), fields.len()),
            lists,
            norms: fields.into_iter().map(norms).collect(),
            live,
            passes,
            pass: 0,
            next: range.first,
            range,
            bounds: PassBounds::default(),
            firsts: 0,
            page_end: None,
            found: WordsFound {
                top: Top::new(k),
                found: 0,
                is_exact: true,
            },
            before: (Vec::new(), 0, true),
        }
    }

    /// Goes on behind what was found in the documents before the range.
    pub fn behind(mut self, found: WordsFound) -> WordsRun {
        if self.passes.len() > 1 {
            self.before = (found.top.best().collect(), found.found, found.is_exact);
        }
        self.found = found;
        self
    }

    /// Bytes that it takes for so many words, cursors and bests of blocks apart.
    pub fn memory_bytes(words: usize) -> usize {
        let passes = words * (size_of::<Pass>() + words * size_of::<(Other, usize, f64)>());
        words * size_of::<WordList>()
            + size_of::<WordsRun>()
            + Survivors::memory_bytes(words, words)
            + words * size_of::<NormCursor>()
            + passes
    }

    /// Bytes that the best `k` documents take.
    pub fn top_bytes(k: usize) -> usize {
        // The heap doubles as it grows, beside the old one.
        2 * 2 * k * size_of::<Scored>()
    }

    /// Works to the end, or until a page is missing.
    pub fn run(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        for list in &mut self.lists {
            list.open(pages)?;
        }
        while self.pass < self.passes.len() {
            if !self.is_worth_a_pass()? {
                // The words of later passes are some of these.
                self.found.is_exact = false;
                break;
            }
            self.go_through(pages)?;
            self.pass += 1;
            if self.pass < self.passes.len() {
                self.lists.iter_mut().for_each(|list| list.cursor.rewind());
                (self.next, self.page_end) = (self.range.first, None);
            }
        }
        Ok(())
    }

    /// Returns true if a document of the present pass can enter, by the bounds of whole lists.
    fn is_worth_a_pass(&mut self) -> Step<bool> {
        let pass = &self.passes[self.pass];
        let others = self.bounds.take(pass, |word| Ok(self.lists[word].most))?;
        let most = others.with(self.lists[pass.leader].most);
        Ok(!excludes(self.threshold(), most))
    }

    /// Gives all that was found, once the run came to its end.
    pub fn into_found(self) -> WordsFound {
        self.found
    }

    /// Gives what was found before a page was missing, and the first document that was not looked
    /// at.
    pub fn into_part(self) -> (WordsFound, DocId) {
        if self.passes.len() == 1 {
            return (self.found, self.next);
        }
        // Documents of all passes lie side by side; they are looked for anew.
        let mut top = self.found.top.anew();
        let (best, found, is_exact) = self.before;
        let best = best.iter();
        best.for_each(|scored| top.offer(scored.doc, scored.score));
        let found = WordsFound {
            top,
            found,
            is_exact,
        };
        (found, self.range.first)
    }

    /// The score that must be exceeded in the present pass.
    fn threshold(&self) -> f32 {
        let threshold = self.found.top.threshold();
        if self.passes[self.pass].goes_back {
            threshold.next_down()
        } else {
            threshold
        }
    }

    /// Goes through the documents of the leading list.
    fn go_through(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        let pass = &self.passes[self.pass];
        let leader = pass.leader;
        let whole = self.bounds.take(pass, |word| Ok(self.lists[word].most))?;
        while self.next <= self.range.last {
            pages.count_steps(BLOCK_STEPS)?;
            let threshold = self.threshold();
            let is_worth = |best: f32| !excludes(threshold, whole.with(best));
            if self.passes_page(is_worth, pages)? {
                continue;
            }
            let Some(block) = self.lists[leader].block(self.next, is_worth, pages)? else {
                break;
            };
            self.found.is_exact &= block.first == self.next;
            self.next = block.first;
            let range = DocRange {
                first: block.first,
                last: block.last.min(self.range.last),
            };
            if range.first <= range.last {
                self.next = self.search(range, block.best, pages)?;
            }
        }
        Ok(())
    }

    /// Passes over the page of the leading list if nothing in it is worth a look.
    fn passes_page(&mut self, is_worth: impl Fn(f32) -> bool, pages: &mut Pages<'_>) -> Step<bool> {
        if self.page_end.is_some_and(|end| self.next <= end) {
            return Ok(false);
        }
        let leader = self.passes[self.pass].leader;
        let page = self.lists[leader].page(self.next, pages)?;
        self.page_end = Some(page.last);
        let has_ended = page.last == END;
        if !has_ended && is_worth(page.best) {
            return Ok(false);
        }
        self.found.is_exact &= has_ended;
        self.next = page.last.saturating_add(1);
        Ok(true)
    }

    /// Searches a block of the leading list, whose word adds at most `best`. Gives the first
    /// document that it did not look at.
    fn search(&mut self, range: DocRange, best: f32, pages: &mut Pages<'_>) -> Step<DocId> {
        let threshold = self.threshold();
        let pass = &self.passes[self.pass];
        let lists = &mut self.lists;
        let bound = |word: usize| lists[word].bound_within(range);
        let others = self.bounds.take(pass, bound)?;
        if excludes(threshold, others.with(best)) {
            self.found.is_exact = false;
            return Ok(range.last + 1);
        }
        let next = self.take_block(range, threshold, others, pages)?;
        self.ask_others(threshold, pages)?;
        let WordsFound { top, found, .. } = &mut self.found;
        let pass = &self.passes[self.pass];
        let survivors = &mut self.survivors;
        if let Some(live) = &mut self.live {
            survivors.keep_live(live, &pass.others, pages)?;
        }
        survivors.offer(pass, &mut self.lists, &mut self.norms, top, pages)?;
        *found += survivors.length() as u64;
        Ok(next)
    }

    /// Takes the documents of a block that can enter if others add at most so much. Gives the first
    /// document that it did not look at.
    fn take_block(
        &mut self,
        range: DocRange,
        threshold: f32,
        others: OthersAdd,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let pass = &self.passes[self.pass];
        let list = &mut self.lists[pass.leader];
        list.cursor.advance(range.first, pages)?;
        let mut docs = list.docs_to(range.last);
        if threshold == f32::NEG_INFINITY && pass.requires_none() && self.firsts < FIRSTS {
            // A threshold is near, and leaves out most of the others.
            self.firsts += 1;
            docs = &docs[..docs.len().min(FIRST)];
        }
        let count = docs.len();
        let next = match docs.last() {
            Some(last) if count < list.docs_to(range.last).len() => last + 1,
            _ => range.last + 1,
        };
        let floor = least_sum(threshold, others.rest);
        if floor >= 0.0 && excludes(threshold, others.own + others.rest) {
            let survivors = &mut self.survivors;
            survivors.take_above(count, floor, list, &mut self.norms, pages)?;
            self.found.is_exact &= survivors.length() == count;
        } else {
            self.survivors.take(count, list);
        }
        Ok(next)
    }

    /// Asks the other words of the pass. Drops in between what can no longer enter.
    fn ask_others(&mut self, threshold: f32, pages: &mut Pages<'_>) -> Step<()> {
        let pass = &self.passes[self.pass];
        let survivors = &mut self.survivors;
        let mut summed = None;
        for (at, other) in pass.others.iter().enumerate() {
            if survivors.length() == 0 {
                break;
            }
            let asked = &pass.others[..at];
            let has_scored = asked.last().is_some_and(|other| other.scores());
            let least = least_sum(threshold, self.bounds.from(at));
            if has_scored && least >= 0.0 {
                let from = match summed {
                    Some(from) => from,
                    None => {
                        let leading = &mut self.lists[pass.leader];
                        survivors.begin_sums(leading, &mut self.norms, pages)?;
                        0
                    }
                };
                let scored = asked[from..].iter().filter(|other| other.scores());
                scored.for_each(|other| survivors.add(other.word, &self.lists[other.word]));
                summed = Some(at);
                let before = survivors.length();
                survivors.keep_above(least, asked);
                self.found.is_exact &= survivors.length() == before;
            }
            // A document without this word has no more than the leading one and what follows.
            let rest = self.bounds.from(at + 1);
            let least = if has_scored {
                f32::NEG_INFINITY
            } else {
                let floor = least_sum(threshold, rest);
                self.lists[pass.leader].scorer.least_product(floor)
            };
            let (list, before) = (&mut self.lists[other.word], survivors.length());
            survivors.ask(*other, least, asked, list, pages)?;
            // What lacks an optional word matches too.
            self.found.is_exact &= other.role != Role::Optional || survivors.length() == before;
        }
        Ok(())
    }
}
