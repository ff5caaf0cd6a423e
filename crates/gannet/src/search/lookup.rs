//! The first rounds of a query: the terms it names are looked up and its patterns expanded, all together.

use std::collections::VecDeque;

use super::expand::{Expanded, Expansion};
use super::lists::{OpenLists, OpenTerm};
use super::matcher::for_all;
use super::plan::{PlannedPattern, PlannedTerm};
use super::view::SearchView;
use crate::base::{Budget, DocId, Reservation, Result};
use crate::cache::{Pages, Step, gather};
use crate::postings::{RECENT_LEVELS, TermList};

/// A term's entry and its recent postings on each level may stand in a leaf each, which are held until all of a round are found.
const PAGES_PER_KEY: usize = 1 + RECENT_LEVELS;

struct PatternLookup {
    fuzzy: bool,
    written: String,
    expansion: Expansion,
}

/// Look-ups and expansions of one query under way.
pub struct Lookup {
    waiting: VecDeque<Vec<u8>>,
    found: Vec<Option<OpenTerm>>,
    expansions: Vec<PatternLookup>,
    ids: Vec<String>,
    documents: Vec<Option<DocId>>,
    keys_per_round: usize,
    /// Of what was found.
    memory: Reservation,
}

impl Lookup {
    /// Will look up terms and IDs and expand patterns, with at most so many pages at once.
    pub fn new(
        terms: Vec<PlannedTerm>,
        patterns: Vec<PlannedPattern>,
        ids: Vec<String>,
        pages_per_round: usize,
        budget: &Budget,
    ) -> Result<Lookup> {
        let expansions = patterns.into_iter().map(|planned| {
            Ok(PatternLookup {
                fuzzy: planned.pattern.is_fuzzy(),
                written: planned.written,
                expansion: Expansion::new(planned.field, planned.pattern, budget)?,
            })
        });
        Ok(Lookup {
            waiting: terms.into_iter().map(|term| term.key).collect(),
            found: Vec::new(),
            expansions: expansions.collect::<Result<_>>()?,
            ids,
            documents: Vec::new(),
            keys_per_round: (pages_per_round / PAGES_PER_KEY).max(1),
            memory: budget.reserve("the lists of a query", 0)?,
        })
    }

    /// Works until all is found.
    pub fn step(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        let terms = self.look_up(view, pages);
        let ids = self.look_up_ids(view, pages);
        for_all(&mut self.expansions, |one| one.expansion.step(view, pages))
            .and(ids)
            .and(terms)
    }

    fn look_up_ids(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        while self.documents.len() < self.ids.len() {
            let open = &self.ids[self.documents.len()..];
            let some = open.iter().take(self.keys_per_round);
            let some: Vec<&str> = some.map(String::as_str).collect();
            let found = gather(&some, |id| view.ids.document(id, view.below, pages))?;
            self.documents.extend(found);
        }
        Ok(())
    }

    /// The lists that were found.
    pub fn finish(mut self, view: &SearchView) -> Result<OpenLists> {
        let mut lists = OpenLists {
            terms: self.found,
            ids: self.documents,
            ..OpenLists::default()
        };
        for one in self.expansions {
            if one.expansion.is_cut() {
                lists.cut.push((one.expansion.field(), one.written));
            }
            let mut terms = Vec::new();
            for expanded in one.expansion.into_terms() {
                terms.extend(open(expanded, view, &mut self.memory)?);
            }
            lists.patterns.push((one.fuzzy, terms));
        }
        lists.memory = Some(self.memory);
        Ok(lists)
    }

    fn look_up(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        while !self.waiting.is_empty() {
            let count = self.keys_per_round.min(self.waiting.len());
            let keys = self.waiting.iter().take(count).map(Vec::as_slice);
            let keys: Vec<&[u8]> = keys.collect();
            let entries = view.terms.lookup_all(&keys, pages)?;
            for (key, entry) in self.waiting.drain(..count).zip(entries) {
                let term = Expanded {
                    key,
                    postings: entry.decode()?,
                    similarity: 1.0,
                };
                self.found.push(open(term, view, &mut self.memory)?);
            }
        }
        Ok(())
    }
}

/// Joins what the dictionary and the memory buffer have of a term.
fn open(term: Expanded, view: &SearchView, reserved: &mut Reservation) -> Result<Option<OpenTerm>> {
    let before = reserved.bytes();
    reserved.grow_to(before + view.buffer.term_bytes(&term.key))?;
    let memory = view.buffer.term(&term.key, view.below)?;
    if term.postings.is_none() && memory.is_none() {
        return Ok(None);
    }
    let postings = term.postings.unwrap_or_default();
    // A chunk may lie in two runs.
    let pages = postings.entry.spans().map(|run| run.page_count() as u64);
    let (chunks, pages) = (postings.entry.chunks.len() as u64, pages.sum());
    let list = TermList::new(postings, memory);
    let held = size_of::<OpenTerm>() + term.key.len() + list.memory_bytes();
    reserved.grow_to(before + held)?;
    let exists = list.document_frequency() > 0;
    Ok(exists.then_some(OpenTerm {
        key: term.key,
        list,
        similarity: term.similarity,
        chunks_in_list: chunks,
        pages_in_list: pages,
    }))
}
