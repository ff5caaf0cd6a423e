//! The first rounds of a query: the terms it names are looked up and its patterns expanded, all
//! together.

use std::collections::VecDeque;
use std::sync::Arc;

use super::expand::{Expanded, Expander, Expansion, ExpansionLimits, PAGES_PER_KEY};
use super::given::{GivenStatistics, MostSimilar};
use super::offload::ListOffload;
use crate::base::{Budget, DocId, Reservation, Result};
use crate::cache::{Pages, Step, gather};
use crate::postings::{Reach, TermList};
use crate::search::hot::{HotEntry, HotLists};
use crate::search::lists::{KnownPatterns, OpenLists, OpenPattern, OpenTerm, PartialExpansion};
use crate::search::matching::matcher::for_all;
use crate::search::plan::{PlannedPattern, PlannedTerm, WantedTerms};
use crate::search::view::SearchView;

/// The resources that a query has beside others.
#[derive(Clone, Copy)]
pub struct RunResources<'q> {
    /// Pages that it asks for at once.
    pub pages_per_round: usize,
    /// Set if no other query has memory that it could wait for.
    pub alone: bool,
    /// The documents of its patterns that are known from before.
    pub known: Option<&'q KnownPatterns>,
    /// Lists that are asked for often.
    pub hot: Option<&'q HotLists>,
    /// The device that may read lists in its place.
    pub offload: Option<&'q dyn ListOffload>,
}

/// Look-ups and expansions of one query under way.
pub struct Lookup<'q> {
    known: Option<&'q KnownPatterns>,
    waiting: VecDeque<Vec<u8>>,
    found: Vec<Option<OpenTerm>>,
    expansions: Vec<Expander>,
    ids: Vec<String>,
    documents: Vec<Option<DocId>>,
    keys_per_round: usize,
    /// The part of each list that the query reads.
    reach: Reach,
    /// Lists that are asked for often, and the entry of each term among them.
    hot: Option<&'q HotLists>,
    entries: Vec<Arc<HotEntry>>,
    /// Of what was found.
    memory: Reservation,
}

impl<'q> Lookup<'q> {
    /// Will look up terms and IDs and expand patterns, with as many pages at once as the resources
    /// allow.
    pub fn new(
        terms: Vec<PlannedTerm>,
        patterns: Vec<PlannedPattern>,
        ids: Vec<String>,
        resources: RunResources<'q>,
        reach: Reach,
        budget: &Budget,
    ) -> Result<Lookup<'q>> {
        let known = resources.known;
        let limits = ExpansionLimits {
            pages_per_round: resources.pages_per_round,
            budget: budget.clone(),
        };
        let expansions = patterns.into_iter().map(|planned| {
            let known = known.filter(|_| planned.wanted == WantedTerms::All);
            let known = known.and_then(|known| known.find(planned.field, &planned.written));
            let expander = Expander::new(planned, limits.clone())?;
            Ok(expander.knowing(known))
        });
        Ok(Lookup {
            known,
            waiting: terms.into_iter().map(|term| term.key).collect(),
            found: Vec::new(),
            expansions: expansions.collect::<Result<_>>()?,
            ids,
            documents: Vec::new(),
            hot: resources.hot.filter(|_| reach == Reach::Docs),
            entries: Vec::new(),
            reach,
            keys_per_round: (resources.pages_per_round / PAGES_PER_KEY).max(1),
            memory: budget.reserve("the lists of a query", 0)?,
        })
    }

    /// Works until all is found.
    pub fn step(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        let terms = self.look_up(view, pages);
        let ids = self.look_up_ids(view, pages);
        for_all(&mut self.expansions, |one| one.step(view, pages))
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

    /// The lists that were found. A fuzzy term, and one that ends a phrase, stands for those terms
    /// only that `given` has of it.
    pub fn finish(
        mut self,
        view: &SearchView,
        given: Option<&GivenStatistics>,
    ) -> Result<OpenLists> {
        let mut lists = OpenLists {
            terms: self.found,
            ids: self.documents,
            ..OpenLists::default()
        };
        lists.unmatched = unmatched(&self.expansions);
        lists.notes = unmatched_stems(&self.expansions, view);
        for (slot, one) in self.expansions.into_iter().enumerate() {
            let wanted = one.wanted();
            let similar = given.and_then(|given| given.similar(slot, one.pattern(), wanted));
            if similar
                .as_ref()
                .map_or(one.is_cut(), |similar| similar.is_cut)
            {
                lists.cut.push(PartialExpansion {
                    field: one.field(),
                    written: one.written().to_owned(),
                    is_fuzzy: one.is_fuzzy(),
                });
            }
            let mut pattern = OpenPattern {
                is_fuzzy: one.is_fuzzy(),
                pattern: Arc::clone(one.pattern()),
                terms: Vec::new(),
                documents: None,
                most: similar.as_ref().and_then(MostSimilar::most_documents),
                each: None,
            };
            match one.finish() {
                Expansion::Documents(documents) => {
                    self.known.iter().for_each(|known| known.keep(&documents));
                    pattern.documents = Some(documents);
                }
                Expansion::Terms(terms) => {
                    for term in terms {
                        let given = similar.as_ref().map(|all| all.frequency(&term.key));
                        if given == Some(None) {
                            continue;
                        }
                        let term = open(term, view, self.reach, &mut self.memory)?;
                        pattern.terms.extend(term.map(|term| OpenTerm {
                            frequency: given.flatten().unwrap_or(term.frequency),
                            ..term
                        }));
                    }
                }
            }
            if matches!(wanted, WantedTerms::First(_)) {
                let own = || pattern.terms.iter().map(|term| term.frequency).collect();
                let each = similar.map_or_else(own, MostSimilar::into_frequencies);
                let bytes = self.memory.bytes() + each.len() * size_of::<u64>();
                self.memory.grow_to(bytes)?;
                pattern.each = Some(each);
            }
            lists.patterns.push(pattern);
        }
        lists.memory = Some(self.memory);
        Ok(lists)
    }

    /// The entry of each term among the hot lists, unless there are none.
    pub fn take_entries(&mut self) -> Vec<Arc<HotEntry>> {
        std::mem::take(&mut self.entries)
    }

    /// Takes the terms as they were found before in the same state, if all were.
    fn take_known(&mut self, view: &SearchView) -> Result<()> {
        let Some(hot) = self.hot else {
            return Ok(());
        };
        if self.entries.is_empty() && self.found.is_empty() {
            let entries = hot.enter(self.waiting.iter(), view.renumbered);
            self.entries = entries.unwrap_or_default();
            let known = self.entries.iter().map(|entry| entry.known(view.state));
            let known = known.collect::<Option<Vec<OpenTerm>>>();
            if let Some(known) = known.filter(|known| known.len() == self.waiting.len()) {
                let bytes = known.iter().map(OpenTerm::memory_bytes);
                self.memory.grow_to(bytes.sum())?;
                self.waiting.clear();
                self.found = known.into_iter().map(Some).collect();
            }
        }
        Ok(())
    }

    /// Keeps the terms in mind.
    fn keep(&self, view: &SearchView) {
        let terms = self.found.iter().zip(&self.entries);
        for (term, entry) in terms.filter_map(|(term, entry)| Some((term.as_ref()?, entry))) {
            if let Some(hot) = self.hot {
                entry.keep(term, view.state, hot);
            }
        }
    }

    fn look_up(&mut self, view: &SearchView, pages: &mut Pages<'_>) -> Step<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.take_known(view)?;
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
                self.found
                    .push(open(term, view, self.reach, &mut self.memory)?);
            }
            if self.waiting.is_empty() {
                self.keep(view);
            }
        }
        Ok(())
    }
}

/// Patterns without a term in any field. A fuzzy term and a date are words: that none is like it is
/// no more than that it is not there.
fn unmatched(expansions: &[Expander]) -> Vec<String> {
    let unmatched = unmatched_clauses(expansions);
    unmatched
        .map(|fields| fields[0].written().to_owned())
        .collect()
}

/// The same by field.
fn unmatched_clauses(expansions: &[Expander]) -> impl Iterator<Item = &[Expander]> {
    // Those of one clause in all its fields stand side by side.
    let clauses = expansions.chunk_by(|one, next| one.written() == next.written());
    clauses.filter(|fields| {
        let mut fields = fields.iter();
        !fields.any(|one| one.may_be_empty() || one.has_terms())
    })
}

/// Says of patterns without a term that a field has only stems, of which fewer letters may be
/// right.
fn unmatched_stems(expansions: &[Expander], view: &SearchView) -> Vec<String> {
    let sentence = |fields: &[Expander]| {
        let stemming = fields.iter().find(|one| one.stems())?;
        let field = view.schema.field(stemming.field())?;
        let (name, written) = (&field.name, stemming.written());
        Some(format!(
            "no word fits {written}: {name} keeps words without their endings, so a shorter beginning \
             may find more"
        ))
    };
    let mut sentences: Vec<String> = unmatched_clauses(expansions).filter_map(sentence).collect();
    sentences.dedup();
    sentences
}

/// Joins what the dictionary and the memory buffer have of a term.
fn open(
    term: Expanded,
    view: &SearchView,
    reach: Reach,
    reserved: &mut Reservation,
) -> Result<Option<OpenTerm>> {
    let before = reserved.bytes();
    let mut reserve = |more: usize| reserved.grow_to(reserved.bytes() + more);
    let memory = (view.buffer).term(&term.key, view.below, reach, &mut reserve)?;
    if term.postings.is_none() && memory.is_empty() {
        return Ok(None);
    }
    let postings = term.postings.unwrap_or_default();
    // A chunk may lie in two runs.
    let pages = postings.entry.spans().map(|run| run.page_count() as u64);
    let (chunks, pages) = (postings.entry.chunks.len() as u64, pages.sum());
    let list = TermList::new(postings, memory);
    let term = OpenTerm {
        key: term.key,
        frequency: list.document_frequency(),
        list,
        similarity: term.similarity,
        chunks_in_list: chunks,
        pages_in_list: pages,
    };
    reserved.grow_to(before + term.memory_bytes())?;
    Ok((term.frequency > 0).then_some(term))
}
